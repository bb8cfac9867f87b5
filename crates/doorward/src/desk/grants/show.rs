//! A pending call on the screen: the risk first, then the whole call, wrapped, with nothing hidden in it.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use doorward_engine::{Clearance, Effect};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::desk::grants::answer::to_type;
use crate::desk::screen::{DiffLine, differing, effect_line};
use crate::machine::visible;
use crate::memory::grants::pending::{FileEdit, Pending};
use crate::memory::grants::queue::{CallState, QueueRow};
use crate::memory::wording::sentence;

const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();

/// Where lines are broken.
// A call is read word by word here, and the eye loses the line beyond a hundred columns.
const WIDTH: usize = 96;

/// Below this width, a list leaves out who asks and where.
const NARROW: usize = 60;

/// From this width on, the call and its reason share a line however long the call is.
const SHARED: usize = 70;

/// What happens to lost files if you approve here.
const UNDOABLE: &str = "before it runs, doorward snapshots what it would lose, if that fits; the answer says so, and `doorward undo` restores it";

/// What a line is, which decides its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Heading,
    Faint,
    /// The risk.
    Risk(Clearance),
    Removed,
    Added,
}

/// One line on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StyledLine {
    pub tone: Tone,
    pub text: String,
}

/// Breaks text at the width, in columns of a terminal, and marks where it did.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    visible(text).lines().flat_map(|line| broken(line, width.max(2))).collect()
}

/// Wraps our own text at spaces.
pub(crate) fn prose(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in visible(text).split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => *line = format!("{line} {word}"),
            // A word too long for a line is broken like a call.
            Some(_) | None => lines.extend(broken(word, width.saturating_sub(1).max(2))),
        }
    }
    lines
}

fn broken(line: &str, width: usize) -> Vec<String> {
    let (mut lines, mut current, mut columns) = (Vec::new(), String::new(), 0);
    for character in line.chars() {
        let wide = character.width().unwrap_or_default();
        if columns + wide > width {
            lines.push(format!("{current}↩"));
            (current, columns) = (String::new(), 0);
        }
        current.push(character);
        columns += wide;
    }
    lines.push(current);
    lines
}

/// The color for the clearance it needs.
pub(crate) fn style(needs: Clearance) -> Style {
    let colour = match needs {
        Clearance::Soft => AnsiColor::Green,
        Clearance::Firm => AnsiColor::Yellow,
        Clearance::Hard | Clearance::Dual => AnsiColor::Red,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}

/// The clearance it needs, in one word for a list.
const fn takes(needs: Clearance) -> &'static str {
    match needs {
        Clearance::Soft | Clearance::Firm => "key",
        Clearance::Hard => "typed",
        Clearance::Dual => "twice",
    }
}

/// The list, each kind below its heading.
pub(crate) fn list(out: &mut dyn Write, rows: &[QueueRow], now_ms: u64) -> io::Result<()> {
    let width = crate::desk::screen::width();
    let mut above = None;
    for row in rows {
        let heading = row.state.heading();
        if above.replace(heading) != Some(heading) {
            writeln!(out, "{FAINT}{heading}{FAINT:#}")?;
        }
        let style = style(row.pending.needs());
        let (head, tail) = parts(row, now_ms, width.saturating_sub(2));
        writeln!(out, "  {STRONG}{}{STRONG:#} {style}{head}{style:#}{tail}", row.pending.id)?;
    }
    Ok(())
}

/// One line of a list, at most `width` wide: the id, how long it has waited and what it needs; then who asks for what.
pub(crate) fn parts(row: &QueueRow, now_ms: u64, width: usize) -> (String, String) {
    let call = &row.pending;
    let when = match row.state {
        CallState::Waits(seconds) => format!("{seconds}s left"),
        CallState::Prompt | CallState::Refused | CallState::Approved => format!("{} ago", age(call, now_ms)),
    };
    let head = format!("{when:>9} {:<5}", takes(call.needs()));
    let times = if row.times > 1 { format!("×{} ", row.times) } else { String::new() };
    let place = std::path::Path::new(&call.cwd).file_name().and_then(|name| name.to_str()).unwrap_or("/");
    let tail = match width {
        ..NARROW => format!(" {times}"),
        _ => format!(" {:<6} {} {times}", visible(&call.agent), visible(place)),
    };
    let room = width.saturating_sub(call.id.width() + 1 + head.width() + tail.width());
    // The directory is already shown.
    let near = |text: String| if call.cwd.len() > 1 { text.replace(&format!("{}/", call.cwd), "") } else { text };
    let told = Some(&call.told).filter(|told| !told.is_empty());
    let reason = told.or(call.reasons.first()).map(|reason| near(visible(reason).replace('\n', " ")));
    (head, format!("{tail}{}", with_reason(&near(start(call)), reason, room)))
}

/// The call, and its reason where there is room: even a long call leaves part of a wide line for the reason.
fn with_reason(call: &str, reason: Option<String>, room: usize) -> String {
    let (Some(reason), true) = (reason, room >= SHARED || call.width() + 12 <= room) else { return cut(call, room) };
    let left = room.saturating_sub(reason.width() + 3).max(room * 3 / 5);
    cut(&format!("{} · {reason}", cut(call, left)), room)
}

/// As much of the text as fits, with a mark where it was cut.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let (mut kept, mut columns) = (String::new(), 0);
    for character in text.chars() {
        let wide = character.width().unwrap_or_default();
        if columns + wide + 1 > room {
            break;
        }
        kept.push(character);
        columns += wide;
    }
    format!("{kept}…")
}

/// The start of the call on one line.
fn start(pending: &Pending) -> String {
    let call = visible(&pending.call).replace('\n', " ⏎ ");
    if pending.tool == "bash" { call } else { format!("{}: {call}", visible(&pending.tool)) }
}

/// How long ago it was asked.
pub(crate) fn age(pending: &Pending, now_ms: u64) -> String {
    let seconds = now_ms.saturating_sub(pending.asked_ms) / 1000;
    match seconds {
        0..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m", seconds / 60),
        _ => format!("{}h", seconds / 3600),
    }
}

/// How much of a call is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What you need to decide.
    Usual,
    /// Also how doorward classifies each effect, and where the call comes from.
    Explained,
}

/// Everything about it.
pub(crate) fn full(out: &mut dyn Write, pending: &Pending) -> io::Result<()> {
    lines(pending, WIDTH, Detail::Explained).iter().try_for_each(|line| {
        let style = match line.tone {
            Tone::Plain => Style::new(),
            Tone::Heading => STRONG,
            Tone::Faint => FAINT,
            Tone::Risk(needs) => style(needs),
            Tone::Removed => AnsiColor::Red.on_default(),
            Tone::Added => AnsiColor::Green.on_default(),
        };
        writeln!(out, "{style}{}{style:#}", line.text)
    })
}

/// Everything about it, line by line, each at most `width` wide plus the mark where it was broken.
pub(crate) fn lines(pending: &Pending, width: usize, depth: Detail) -> Vec<StyledLine> {
    let mut page = Page { lines: Vec::new(), width };
    let verdict = pending.verdict.map_or("confirm", doorward_engine::Verdict::as_str).to_uppercase();
    page.push(Tone::Risk(pending.needs()), "", &format!("{verdict}: needs {}", pending.needs().what()));
    let mut reasons =
        pending.reasons.iter().filter(|reason| depth == Detail::Explained || !is_only_explained(reason, pending));
    if !pending.told.is_empty() {
        page.push(Tone::Plain, "  ", &sentence(pending.told.clone()));
    } else if let Some(gravest) = reasons.next() {
        page.push(Tone::Plain, "  ", gravest);
    }
    page.push(Tone::Heading, "", &format!("the call ({}), in {}", pending.tool, pending.cwd));
    page.add(Tone::Plain, "  ", &pending.call);
    if !pending.input.is_empty() && pending.input != pending.call {
        page.add(Tone::Plain, "  ", &pending.input);
    }
    pending.changes.iter().for_each(|change| page.change(change));
    let effects = effects(pending, depth);
    if !effects.is_empty() {
        page.push(Tone::Heading, "", "what it would do");
        effects.iter().for_each(|effect| page.push(Tone::Plain, "  ", effect));
    }
    if pending.effects.iter().any(|effect| doorward_engine::snapshot::lost(effect).is_some()) {
        page.push(Tone::Plain, "  ", UNDOABLE);
    }
    let is_said = |gap: &&String| pending.reasons.iter().any(|reason| reason.contains(gap.as_str()));
    let gaps = pending.not_understood.iter().filter(|gap| !is_said(gap)).map(|gap| format!("not understood: {gap}"));
    let others: Vec<String> = reasons.cloned().chain(gaps).collect();
    if !others.is_empty() {
        page.push(Tone::Heading, "", "also");
        others.iter().for_each(|reason| page.push(Tone::Plain, "  ", reason));
    }
    if depth == Detail::Explained {
        page.push(Tone::Faint, "", &origin(pending));
    }
    page.lines
}

/// The wording of the matrix and the risk model, and anything already said, appears only in the full explanation.
fn is_only_explained(reason: &str, pending: &Pending) -> bool {
    let is_weighed = pending.effects.iter().any(|effect| doorward_engine::described(effect) == reason);
    let what = reason.split_once(": ").or_else(|| reason.split_once("; "));
    let is_told = what.is_some_and(|(what, _)| pending.told.contains(what));
    !pending.told.is_empty() && (is_told || is_weighed || reason.contains("doorward is only "))
}

/// What the call would do, each thing once.
fn effects(pending: &Pending, depth: Detail) -> Vec<String> {
    let said = |effect: &Effect| match depth {
        Detail::Usual => format!("{} {}", effect.operation, effect.target.shown()),
        Detail::Explained => effect_line(effect),
    };
    let mut effects: Vec<String> = Vec::new();
    for effect in pending.effects.iter().map(said) {
        if !effects.contains(&effect) {
            effects.push(effect);
        }
    }
    effects
}

fn origin(pending: &Pending) -> String {
    let named = |what: &str, name: &str| if name.is_empty() { String::new() } else { format!(", {what} {name}") };
    let (session, subagent) = (named("session", &pending.session), named("subagent", &pending.subagent));
    format!("{}{session}{subagent}, decision {}, pattern {}", pending.agent, pending.decision, pending.pattern)
}

/// Lines of a certain width.
struct Page {
    lines: Vec<StyledLine>,
    width: usize,
}

impl Page {
    /// Our own text, wrapped at spaces.
    fn push(&mut self, tone: Tone, before: &str, text: &str) {
        let line = |text: String| StyledLine { tone, text: format!("{before}{text}") };
        self.lines.extend(prose(text, self.width.saturating_sub(before.len())).into_iter().map(line));
    }

    /// Foreign text, character by character.
    fn add(&mut self, tone: Tone, before: &str, text: &str) {
        // One column is reserved for the mark where a line was broken.
        let width = self.width.saturating_sub(before.len() + 1);
        let line = |text: String| StyledLine { tone, text: format!("{before}{text}") };
        self.lines.extend(wrapped(text, width).into_iter().map(line));
    }

    fn change(&mut self, change: &FileEdit) {
        let (first, differing) = differing(&change.old, &change.new);
        self.add(Tone::Plain, "  ", &format!("{} {}, line {first}:", change.what, change.path));
        for line in differing {
            match line {
                DiffLine::Removed(text) => self.add(Tone::Removed, "- ", text),
                DiffLine::Added(text) => self.add(Tone::Added, "+ ", text),
            }
        }
    }
}

/// What you have to do to let it run.
pub(crate) fn way(pending: &Pending) -> String {
    match pending.needs() {
        Clearance::Soft | Clearance::Firm => "one key lets it run once".to_owned(),
        Clearance::Hard => format!("one key is not enough: type `{}`", to_type(pending)),
        Clearance::Dual => {
            format!("one key is not enough: type `{}` twice, at least 30 seconds apart", to_type(pending))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_call_is_shown_whole_and_hides_nothing() {
        let pending = Pending {
            id: "bcd".into(),
            tool: "bash".into(),
            call: format!("echo {}\u{202e}\u{1b}[2K\nrm -rf ~", "x".repeat(300)),
            needs: Some(Clearance::Hard),
            target: "/home/me\u{200b}".into(),
            reasons: vec!["deletes the home directory".into()],
            ..Pending::default()
        };
        let mut out = Vec::new();
        full(&mut out, &pending).unwrap();
        let text = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
        assert!(text.find("deletes the home").unwrap() < text.find("echo").unwrap(), "the risk comes first");
        assert!(text.contains("\\u{202e}\\e[2K") && text.contains("  rm -rf ~\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH + 40), "{text}");
        assert_eq!(text.matches('x').count(), 300, "{text}");
        assert!(way(&pending).contains("type `/home/me\\u{200b}`"));
    }
}
