//! A pending call as a person reads it: the risk first, then the whole call, wrapped, with nothing hidden in it.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use doorward_engine::Clearance;

use super::answer::to_type;
use super::pending::Pending;
use crate::screen::{effect_line, visible};

const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();

/// Where lines are broken.
const WIDTH: usize = 96;

/// What one line of a list shows of a call.
const SHOWN: usize = 60;

/// What a yes given here is worth.
const UNDOABLE: &str =
    "what it loses is copied before it runs, if it fits: the answer says so, and `doorward undo` brings it back";

/// Breaks text at the width and marks where it did.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in visible(text).lines() {
        let characters: Vec<char> = line.chars().collect();
        if characters.is_empty() {
            lines.push(String::new());
        }
        let pieces = characters.chunks(width.max(1));
        let last = pieces.len().saturating_sub(1);
        for (at, piece) in pieces.enumerate() {
            let text: String = piece.iter().collect();
            lines.push(if at < last { format!("{text}↩") } else { text });
        }
    }
    lines
}

/// The colour of what it takes.
pub fn style(needs: Clearance) -> Style {
    let colour = match needs {
        Clearance::Soft => AnsiColor::Green,
        Clearance::Firm => AnsiColor::Yellow,
        Clearance::Hard | Clearance::Dual => AnsiColor::Red,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}

/// One line: id, what it takes, age, agent, the start of the call.
pub fn line(out: &mut dyn Write, pending: &Pending, now_ms: u64) -> io::Result<()> {
    let style = style(pending.needs());
    writeln!(
        out,
        "{STRONG}{}{STRONG:#}  {style}{:<4}{style:#}  {FAINT}{:>4}{FAINT:#}  {} {}",
        pending.id,
        pending.needs(),
        age(pending, now_ms),
        visible(&pending.agent),
        start(pending, SHOWN)
    )
}

/// The start of the call on one line.
pub fn start(pending: &Pending, width: usize) -> String {
    let shown = visible(&pending.call).replace('\n', " ⏎ ");
    let cut: String = shown.chars().take(width).collect();
    let more = if cut.len() < shown.len() { "…" } else { "" };
    format!("{}: {cut}{more}", visible(&pending.tool))
}

/// How long ago it was asked.
pub fn age(pending: &Pending, now_ms: u64) -> String {
    let seconds = now_ms.saturating_sub(pending.asked_ms) / 1000;
    match seconds {
        0..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m", seconds / 60),
        _ => format!("{}h", seconds / 3600),
    }
}

/// Everything about it.
pub fn full(out: &mut dyn Write, pending: &Pending) -> io::Result<()> {
    let needs = style(pending.needs());
    let verdict = pending.verdict.map_or("confirm", doorward_engine::Verdict::as_str).to_uppercase();
    writeln!(out, "{needs}{verdict}{needs:#}, cleared by {needs}{}{needs:#}", pending.needs().what())?;
    for reason in &pending.reasons {
        paragraph(out, "  ", reason)?;
    }
    for gap in &pending.not_understood {
        paragraph(out, "  not understood: ", gap)?;
    }
    heading(out, "it would")?;
    for effect in &pending.effects {
        paragraph(out, "  ", &effect_line(effect))?;
    }
    if pending.effects.iter().any(|effect| doorward_engine::snapshot::lost(effect).is_some()) {
        paragraph(out, "  ", UNDOABLE)?;
    }
    heading(out, &format!("the call ({}), in {}", visible(&pending.tool), visible(&pending.cwd)))?;
    paragraph(out, "  ", &pending.call)?;
    if !pending.input.is_empty() && pending.input != pending.call {
        paragraph(out, "  ", &pending.input)?;
    }
    for change in &pending.changes {
        write!(out, "  {} ", visible(&change.what))?;
        crate::screen::change(out, Path::new(visible(&change.path).as_ref()), &change.old, &change.new)?;
    }
    let session = if pending.session.is_empty() { "" } else { ", session " };
    writeln!(
        out,
        "{FAINT}{}{session}{}, pattern {}{FAINT:#}",
        visible(&pending.agent),
        visible(&pending.session),
        visible(&pending.pattern)
    )
}

/// What has to be done to let it run.
pub fn way(pending: &Pending) -> String {
    match pending.needs() {
        Clearance::Soft | Clearance::Firm => "one yes lets it run once".to_owned(),
        Clearance::Hard => format!("a key is not enough: type `{}`", to_type(pending)),
        Clearance::Dual => {
            format!("a key is not enough: type `{}` twice, at least 30 seconds apart", to_type(pending))
        }
    }
}

fn heading(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "{STRONG}{text}{STRONG:#}")
}

fn paragraph(out: &mut dyn Write, before: &str, text: &str) -> io::Result<()> {
    wrapped(text, WIDTH).iter().try_for_each(|line| writeln!(out, "{before}{line}"))
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
        assert_eq!(text.matches('x').count(), 300 + "explicit".matches('x').count(), "{text}");
        assert!(way(&pending).contains("type `/home/me\\u{200b}`"));
    }
}
