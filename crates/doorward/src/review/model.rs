//! What is shown and what a key means, without a terminal: the part of `review` that decides.
//!
//! A key belongs to the call that was on the screen when it was pressed. So a call must have been shown for a while, and
//! to its end, before a key can let it run.

use doorward_engine::Clearance;

use crate::grants::{APART_MS, Pending, to_type};

/// So long a call must be on the screen before a key counts for it.
pub const SHOWN_MS: u64 = 300;

/// A key, as far as it means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
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

/// What the person decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Approve { id: String, typed: Option<String>, why: Option<String> },
    Refuse { id: String },
    Leave,
}

/// What of the selected call was to be seen when the screen was painted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
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
pub struct Typing {
    pub id: String,
    pub text: String,
    /// The target has been typed already; this is the reason.
    pub target: Option<String>,
}

/// Everything on the screen.
#[derive(Debug, Default)]
pub struct Model {
    pub calls: Vec<Pending>,
    pub selected: Option<String>,
    pub scroll: usize,
    pub typing: Option<Typing>,
    pub message: String,
    pub now_ms: u64,
    sight: Sight,
    /// Since when the selected call is on the screen as it is.
    shown_ms: Option<u64>,
    /// It was scrolled to its end.
    read_to_end: bool,
}

impl Model {
    pub fn call(&self) -> Option<&Pending> {
        let selected = self.selected.as_deref()?;
        self.calls.iter().find(|call| call.id == selected)
    }

    /// The calls as they are now. The selection stays with its call, wherever that moves.
    pub fn take(&mut self, calls: Vec<Pending>, now_ms: u64) {
        self.now_ms = now_ms;
        let before = self.call().map(face);
        let place = self.calls.iter().position(|call| Some(&call.id) == self.selected.as_ref()).unwrap_or_default();
        self.calls = calls;
        if self.call().is_none() {
            let next = self.calls.get(place).or(self.calls.last());
            self.selected = next.map(|call| call.id.clone());
        }
        if self.call().map(face) != before {
            self.unread();
        }
        let is_gone = |typing: &Typing| self.calls.iter().all(|call| call.id != typing.id);
        if self.typing.as_ref().is_some_and(is_gone) {
            self.typing = None;
            self.message = "that call does not wait any more: nothing was approved".to_owned();
        }
    }

    /// What the screen has just shown.
    pub fn seen(&mut self, sight: Sight, clock_ms: u64) {
        if sight.id != self.selected || sight.is_too_small {
            self.shown_ms = None;
        } else {
            self.shown_ms.get_or_insert(clock_ms);
            self.scroll = self.scroll.min(sight.lines.saturating_sub(sight.height));
            self.read_to_end |= self.scroll + sight.height >= sight.lines;
        }
        self.sight = sight;
    }

    pub fn told(&mut self, message: String) {
        self.message = message;
    }

    /// Pasted text is nobody's decision.
    pub fn pasted(&mut self) -> Option<Deed> {
        self.message = "pasted text does not count: type it".to_owned();
        None
    }

    pub fn press(&mut self, key: Key, clock_ms: u64) -> Option<Deed> {
        if key == Key::Leave {
            return Some(Deed::Leave);
        }
        if let Some(typing) = self.typing.take() {
            return self.types(typing, key);
        }
        self.message.clear();
        match key {
            Key::Character('q') => return Some(Deed::Leave),
            Key::Character('y') => return self.yes(clock_ms),
            Key::Character('n') => return self.no(clock_ms),
            Key::Up | Key::Character('k') => self.select(-1),
            Key::Down | Key::Character('j') => self.select(1),
            Key::PageDown | Key::Character(' ') => self.scroll += self.sight.height.max(1),
            Key::PageUp | Key::Character('b') => self.scroll = self.scroll.saturating_sub(self.sight.height.max(1)),
            Key::Home | Key::Character('g') => self.scroll = 0,
            Key::End | Key::Character('G') => self.scroll = self.sight.lines,
            Key::Character(_) | Key::Enter | Key::Escape | Key::Backspace | Key::Leave => {}
        }
        None
    }

    /// How long until the second of two steps can be made, if the first was made.
    pub fn countdown(&self, call: &Pending) -> Option<u64> {
        let passed = self.now_ms.checked_sub(call.first_step_ms?)?;
        APART_MS.checked_sub(passed).filter(|left| *left > 0).map(|left| left.div_ceil(1000))
    }

    /// Why no key counts for the selected call yet.
    fn too_soon(&self, clock_ms: u64) -> Option<String> {
        if self.sight.is_too_small {
            return Some("the window is too small to show the call: make it larger".to_owned());
        }
        let is_shown = self.shown_ms.is_some_and(|since| clock_ms.saturating_sub(since) >= SHOWN_MS);
        (!is_shown).then(|| "that key came too soon to be meant for this call: look at it and press again".to_owned())
    }

    fn yes(&mut self, clock_ms: u64) -> Option<Deed> {
        let call = self.call()?;
        let id = call.id.clone();
        let (needs, countdown) = (call.needs(), self.countdown(call));
        if let Some(why) = self.too_soon(clock_ms) {
            self.message = why;
            return None;
        }
        if !self.read_to_end {
            self.message = "there is more of this call below: read it to its end (space) before you approve".to_owned();
            return None;
        }
        match (needs, countdown) {
            (Clearance::Soft | Clearance::Firm, _) => return Some(Deed::Approve { id, typed: None, why: None }),
            (Clearance::Dual, Some(left)) => {
                self.message = format!("the second step can be made in {left} s");
            }
            (Clearance::Hard | Clearance::Dual, _) => {
                self.typing = Some(Typing { id, text: String::new(), target: None });
            }
        }
        None
    }

    fn no(&mut self, clock_ms: u64) -> Option<Deed> {
        let id = self.call()?.id.clone();
        if let Some(why) = self.too_soon(clock_ms) {
            self.message = why;
            return None;
        }
        Some(Deed::Refuse { id })
    }

    fn types(&mut self, mut typing: Typing, key: Key) -> Option<Deed> {
        match key {
            Key::Character(character) => typing.text.push(character),
            Key::Backspace => drop(typing.text.pop()),
            Key::Escape => {
                self.message = "nothing was approved".to_owned();
                return None;
            }
            Key::Enter => return self.entered(typing),
            Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End | Key::Leave => {}
        }
        self.typing = Some(typing);
        None
    }

    /// A line was typed: the target first, then, where the step is the last one, the reason.
    fn entered(&mut self, typing: Typing) -> Option<Deed> {
        let call = self.calls.iter().find(|call| call.id == typing.id)?;
        let Typing { id, text, target } = typing;
        let Some(target) = target else {
            if text.trim() != to_type(call) {
                self.message = format!("that is not `{}`: nothing was approved", to_type(call));
                return None;
            }
            let is_first_of_two = call.needs() == Clearance::Dual && call.first_step_ms.is_none();
            if is_first_of_two {
                return Some(Deed::Approve { id, typed: Some(text), why: None });
            }
            self.typing = Some(Typing { id, text: String::new(), target: Some(text) });
            return None;
        };
        if text.trim().is_empty() {
            self.message = "an override like this needs a reason: nothing was approved".to_owned();
            return None;
        }
        Some(Deed::Approve { id, typed: Some(target), why: Some(text) })
    }

    fn select(&mut self, step: isize) {
        let place = self.calls.iter().position(|call| Some(&call.id) == self.selected.as_ref()).unwrap_or_default();
        let wanted = place.saturating_add_signed(step).min(self.calls.len().saturating_sub(1));
        let next = self.calls.get(wanted).map(|call| call.id.clone());
        if next != self.selected {
            self.selected = next;
            self.unread();
        }
    }

    fn unread(&mut self) {
        (self.scroll, self.shown_ms, self.read_to_end) = (0, None, false);
    }
}

/// What a person goes by: if any of it changes, the call has to be looked at again.
fn face(call: &Pending) -> (String, String, Option<Clearance>, Vec<String>) {
    (call.id.clone(), call.call.clone(), call.needs, call.reasons.clone())
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
