//! What is shown and what a key means, without a terminal: the part of `review` that decides.
//!
//! A key belongs to the call that was on the screen when it was pressed. So a call must have been shown for a while, and
//! to its end, before a key can let it run.

use doorward_engine::Clearance;

use super::offer::{OfferKind, ShownOffer};
use crate::desk::grants::answer::{APART_MS, to_type};
use crate::memory::grants::{Pending, QueueRow};

/// How long a call must be on screen before a key counts for it.
// A key pressed while the screen changes was meant for the call before. Human reaction takes about this long.
pub(super) const SHOWN_MS: u64 = 300;

/// The same for a call that moved under the cursor by itself.
// The user did not select this call, so a person first has to notice that the selection moved (decision 0030).
pub(super) const CAME_MS: u64 = 1500;

/// After this long without a key, the selection moves to a waiting call.
// Moving earlier would take the call away from under someone who is still reading it.
const IDLE_MS: u64 = 5000;

/// A key with a meaning here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Character(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Leave,
}

/// What the user decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Approve {
        id: String,
        typed: Option<String>,
        why: Option<String>,
    },
    /// This call, and those folded into its line.
    Refuse {
        ids: Vec<String>,
    },
    /// Find out what it would take; nothing is changed yet.
    Prepare {
        id: String,
        wish: OfferKind,
    },
    Accept(ShownOffer),
    Leave,
}

/// Which part of the selected call was visible on the last draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VisiblePart {
    pub id: Option<String>,
    /// Lines of the call that fit on the screen at once.
    pub height: usize,
    /// All its lines.
    pub lines: usize,
    /// Nothing of it fits.
    pub is_too_small: bool,
}

/// What is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextInput {
    pub text: String,
    pub of: InputField,
}

/// Which line it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InputField {
    /// What the call acts on.
    Target { id: String },
    /// The target has been typed already; this is the reason.
    Why { id: String, target: String },
    /// The word that accepts an offer.
    Offered(ShownOffer),
    /// Which calls are listed.
    Filter,
}

/// Everything on the screen.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// The calls that are listed.
    pub rows: Vec<QueueRow>,
    /// All, listed or not.
    all: Vec<QueueRow>,
    pub filter: String,
    pub selected: Option<String>,
    pub scroll: usize,
    pub typing: Option<TextInput>,
    pub message: String,
    pub explains: bool,
    /// The keys are shown instead of a call.
    pub helps: bool,
    pub now_ms: u64,
    pub(super) sight: VisiblePart,
    /// Since when the selected call has been on screen as it is.
    shown_ms: Option<u64>,
    /// It was scrolled to its end.
    read_to_end: bool,
    /// It moved under the cursor without a key.
    came: bool,
    touched_ms: u64,
}

impl Model {
    pub(super) fn row(&self) -> Option<&QueueRow> {
        let selected = self.selected.as_deref()?;
        self.rows.iter().find(|row| row.pending.id == selected)
    }

    pub(super) fn call(&self) -> Option<&Pending> {
        self.row().map(|row| &row.pending)
    }

    /// How many agents are waiting, and how many calls are over.
    pub(super) fn counts(&self) -> (usize, usize) {
        let living = self.all.iter().filter(|row| row.state.is_living()).count();
        (living, self.all.len() - living)
    }

    /// Updates the calls. The selection follows its call wherever it moves; only after a while without a key does it move from
    /// a call that is over to one that is waiting.
    pub(super) fn take(&mut self, rows: Vec<QueueRow>, now_ms: u64) {
        self.now_ms = now_ms;
        self.all = rows;
        self.list();
        let is_gone = |id: &String| self.all.iter().all(|row| row.pending.id != *id);
        let about = self.typing.as_ref().and_then(TextInput::about);
        if about.is_some_and(is_gone) {
            self.typing = None;
            self.message = "that call is no longer waiting; not approved".to_owned();
        }
        self.turn_to_the_living();
    }

    /// Applies the filter; the selected call stays selected if it is still listed.
    fn list(&mut self) {
        let before = self.call().map(face);
        let place = self.place();
        let wanted = self.filter.to_lowercase();
        let is_wanted = |row: &&QueueRow| {
            let call = &row.pending;
            [&call.call, &call.agent, &call.cwd, &call.tool, &call.id]
                .iter()
                .any(|text| text.to_lowercase().contains(&wanted))
        };
        self.rows = self.all.iter().filter(is_wanted).cloned().collect();
        if self.call().is_none() {
            let next = self.rows.get(place).or(self.rows.last());
            self.selected = next.map(|row| row.pending.id.clone());
        }
        if self.call().map(face) != before {
            self.unread();
        }
    }

    fn turn_to_the_living(&mut self) {
        let is_idle = self.typing.is_none() && !self.helps && self.now_ms.saturating_sub(self.touched_ms) >= IDLE_MS;
        if !is_idle || self.row().is_none_or(|row| row.state.is_living()) {
            return;
        }
        if let Some(row) = self.rows.first().filter(|row| row.state.is_living()) {
            self.selected = Some(row.pending.id.clone());
            self.unread();
            self.came = true;
        }
    }

    /// What the screen has just shown.
    pub(super) fn note_visible(&mut self, sight: VisiblePart, clock_ms: u64) {
        if sight.id != self.selected || sight.is_too_small {
            self.shown_ms = None;
        } else {
            self.shown_ms.get_or_insert(clock_ms);
            self.scroll = self.scroll.min(sight.lines.saturating_sub(sight.height));
            self.read_to_end |= self.scroll + sight.height >= sight.lines;
        }
        self.sight = sight;
    }

    pub(super) fn set_message(&mut self, message: String) {
        self.message = message;
    }

    /// The offer is ready and needs a typed word.
    pub(super) fn offered(&mut self, offer: ShownOffer) {
        (self.scroll, self.message) = (0, String::new());
        self.typing = Some(TextInput { text: String::new(), of: InputField::Offered(offer) });
    }

    /// Pasted text is not a decision.
    pub(super) fn pasted(&mut self) -> Option<Action> {
        self.message = "pasted text does not count; type it".to_owned();
        None
    }

    pub(super) fn press(&mut self, key: Key, clock_ms: u64) -> Option<Action> {
        self.touched_ms = self.now_ms;
        if key == Key::Leave {
            return Some(Action::Leave);
        }
        if let Some(typing) = self.typing.take() {
            return self.types(typing, key);
        }
        if std::mem::take(&mut self.helps) {
            return None;
        }
        self.message.clear();
        match key {
            Key::Character('q') => return Some(Action::Leave),
            Key::Character('y') => return self.yes(clock_ms),
            Key::Character('n') => return self.no(clock_ms),
            Key::Character('t') => return self.wish(OfferKind::Trust, clock_ms),
            Key::Character('a') => return self.wish(OfferKind::Always, clock_ms),
            Key::Character('e') => self.explain(),
            Key::Character('?') => self.helps = true,
            Key::Character('/') => self.typing = Some(TextInput { text: self.filter.clone(), of: InputField::Filter }),
            Key::Up | Key::Character('k') => self.select(-1),
            Key::Down | Key::Character('j') => self.select(1),
            Key::PageDown | Key::Character(' ') => self.scroll += self.sight.height.max(1),
            Key::PageUp | Key::Character('b') => self.scroll = self.scroll.saturating_sub(self.sight.height.max(1)),
            Key::Home | Key::Character('g') => self.scroll = 0,
            Key::End | Key::Character('G') => self.scroll = self.sight.lines,
            Key::Escape => self.filtered(String::new()),
            Key::Character(_) | Key::Enter | Key::Backspace | Key::Leave => {}
        }
        None
    }

    /// How long until the second of two steps is possible, if the first was done.
    pub(super) fn countdown(&self, call: &Pending) -> Option<u64> {
        let passed = self.now_ms.checked_sub(call.first_step_ms?)?;
        APART_MS.checked_sub(passed).filter(|left| *left > 0).map(|left| left.div_ceil(1000))
    }

    /// Why no key counts for the selected call yet.
    fn too_soon(&self, clock_ms: u64) -> Option<String> {
        if self.sight.is_too_small {
            return Some("the window is too small to show the call; make it larger".to_owned());
        }
        let wanted = if self.came { CAME_MS } else { SHOWN_MS };
        let is_shown = self.shown_ms.is_some_and(|since| clock_ms.saturating_sub(since) >= wanted);
        (!is_shown).then(|| "that key came too soon to be meant for this call; look at it and press again".to_owned())
    }

    /// The call that a key applies to, or why it applies to none yet.
    fn meant(&mut self, clock_ms: u64) -> Option<QueueRow> {
        let row = self.row()?.clone();
        match self.too_soon(clock_ms) {
            Some(why) => {
                self.message = why;
                None
            }
            None => Some(row),
        }
    }

    fn yes(&mut self, clock_ms: u64) -> Option<Action> {
        let call = self.meant(clock_ms)?.pending;
        if !self.read_to_end {
            self.message = "this call continues below; read it to its end (space) before you approve".to_owned();
            return None;
        }
        match (call.needs(), self.countdown(&call)) {
            (Clearance::Soft | Clearance::Firm, _) => {
                return Some(Action::Approve { id: call.id, typed: None, why: None });
            }
            (Clearance::Dual, Some(left)) => {
                self.message = format!("you can do the second step in {left} s");
            }
            (Clearance::Hard | Clearance::Dual, _) => {
                self.typing = Some(TextInput { text: String::new(), of: InputField::Target { id: call.id } });
            }
        }
        None
    }

    fn no(&mut self, clock_ms: u64) -> Option<Action> {
        Some(Action::Refuse { ids: self.meant(clock_ms)?.ids() })
    }

    fn wish(&mut self, wish: OfferKind, clock_ms: u64) -> Option<Action> {
        Some(Action::Prepare { id: self.meant(clock_ms)?.pending.id, wish })
    }

    fn explain(&mut self) {
        self.explains = !self.explains;
        // The call now has a different length and must be read to its end again.
        self.unread();
    }

    fn types(&mut self, mut typing: TextInput, key: Key) -> Option<Action> {
        match key {
            Key::Character(character) => typing.text.push(character),
            Key::Backspace => drop(typing.text.pop()),
            Key::Escape => {
                self.give_up(&typing.of);
                return None;
            }
            Key::Enter => return self.entered(typing),
            Key::PageDown => self.scroll += self.sight.height.max(1),
            Key::PageUp => self.scroll = self.scroll.saturating_sub(self.sight.height.max(1)),
            Key::Up | Key::Down | Key::Home | Key::End | Key::Leave => {}
        }
        if typing.of == InputField::Filter {
            self.filtered(typing.text.clone());
        }
        self.typing = Some(typing);
        None
    }

    fn give_up(&mut self, line: &InputField) {
        match line {
            InputField::Filter => self.filtered(String::new()),
            InputField::Offered(_) => self.message = "nothing was changed".to_owned(),
            InputField::Target { .. } | InputField::Why { .. } => self.message = "not approved".to_owned(),
        }
    }

    /// A line was typed: for an override first the target, then, if it is the last step, the reason.
    fn entered(&mut self, typing: TextInput) -> Option<Action> {
        let TextInput { text, of } = typing;
        match of {
            InputField::Filter => {
                self.filtered(text);
                None
            }
            InputField::Offered(offer) if text.trim() == offer.word => Some(Action::Accept(offer)),
            InputField::Offered(offer) => {
                self.message = format!("that is not `{}`; nothing was changed", offer.word);
                None
            }
            InputField::Target { id } => self.target_entered(id, text),
            InputField::Why { .. } if text.trim().is_empty() => {
                self.message = "this kind of override needs a reason; not approved".to_owned();
                None
            }
            InputField::Why { id, target } => Some(Action::Approve { id, typed: Some(target), why: Some(text) }),
        }
    }

    fn target_entered(&mut self, id: String, text: String) -> Option<Action> {
        let call = self.all.iter().map(|row| &row.pending).find(|call| call.id == id)?;
        if text.trim() != to_type(call) {
            self.message = format!("that is not `{}`; not approved", to_type(call));
            return None;
        }
        let is_first_of_two = call.needs() == Clearance::Dual && call.first_step_ms.is_none();
        if is_first_of_two {
            return Some(Action::Approve { id, typed: Some(text), why: None });
        }
        self.typing = Some(TextInput { text: String::new(), of: InputField::Why { id, target: text } });
        None
    }

    fn filtered(&mut self, filter: String) {
        self.filter = filter;
        self.list();
    }

    fn place(&self) -> usize {
        self.rows.iter().position(|row| Some(&row.pending.id) == self.selected.as_ref()).unwrap_or_default()
    }

    fn select(&mut self, step: isize) {
        let wanted = self.place().saturating_add_signed(step).min(self.rows.len().saturating_sub(1));
        let next = self.rows.get(wanted).map(|row| row.pending.id.clone());
        if next != self.selected {
            self.selected = next;
            self.unread();
        }
    }

    pub(super) fn unread(&mut self) {
        (self.scroll, self.shown_ms, self.read_to_end, self.came) = (0, None, false, false);
    }
}

impl TextInput {
    /// The call that it is about.
    fn about(&self) -> Option<&String> {
        match &self.of {
            InputField::Target { id } | InputField::Why { id, .. } => Some(id),
            // The project stays the same, whatever happens to the call.
            InputField::Offered(_) | InputField::Filter => None,
        }
    }
}

/// What the decision is based on: if any of it changes, the call has to be read again.
fn face(call: &Pending) -> (String, String, Option<Clearance>, Vec<String>) {
    (call.id.clone(), call.call.clone(), call.needs, call.reasons.clone())
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
