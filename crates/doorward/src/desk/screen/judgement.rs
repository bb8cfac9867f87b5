//! A judgement on the screen: verdict, reasons, and the part of the command each reason points at.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use doorward_engine::{Effect, Judgement, Opinion, Part, Source, Verdict};

use super::understood;
use crate::machine::visible;
use crate::memory::evaluation::Evaluation;

const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();

/// The most of a line shown around a part.
const WIDTH: usize = 160;

pub(crate) fn verdict_style(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::AutoApprove => AnsiColor::Green,
        Verdict::Confirm => AnsiColor::Yellow,
        Verdict::Block => AnsiColor::Red,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}

/// The verdict with the reasons that decided it.
pub(crate) fn judgement(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    let judged = &evaluation.judgement;
    headline(out, judged)?;
    for opinion in judged.reasons_to_read() {
        reason(out, opinion, &evaluation.facts.subject, judged.verdict)?;
    }
    if let Some(clearance) = judged.cleared_by {
        writeln!(out, "{FAINT}needs {}{FAINT:#}", clearance.what())?;
    }
    Ok(())
}

/// Everything that led to the verdict, and what would change it.
pub(crate) fn explanation(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    let (facts, judged) = (&evaluation.facts, &evaluation.judgement);
    understood::understood(out, facts)?;
    heading(out, "effects")?;
    for effect in &facts.effects {
        writeln!(out, "  {}", effect_line(effect))?;
    }
    for flow in &facts.flows {
        understood::flow(out, facts, flow)?;
    }
    heading(out, "opinions, strictest first")?;
    for opinion in &judged.opinions {
        writeln!(out, "  {}", opinion_line(opinion))?;
    }
    for opinion in &judged.shadow {
        writeln!(out, "  in shadow: {}", opinion_line(opinion))?;
    }
    heading(out, "what would change it")?;
    writeln!(out, "  {}", flip(judged))?;
    if evaluation.if_copied == Some(Verdict::AutoApprove) {
        writeln!(
            out,
            "  in mode `auto` the hook first snapshots what it would lose, if that fits, and then approves it"
        )?;
    }
    writeln!(
        out,
        "{FAINT}pattern {} · policy {} · {} µs{FAINT:#}",
        visible(&facts.pattern),
        judged.policy,
        evaluation.took.as_micros()
    )
}

fn headline(out: &mut dyn Write, judged: &Judgement) -> io::Result<()> {
    let style = verdict_style(judged.verdict);
    let word = match judged.verdict {
        Verdict::AutoApprove => "APPROVE",
        Verdict::Confirm => "CONFIRM",
        Verdict::Block => "BLOCK",
    };
    write!(out, "{style}{word}{style:#} {FAINT}by {}", judged.settled_by)?;
    if let Some(rule) = &judged.rule {
        write!(out, ", rule {rule}")?;
    }
    // Layer 2's confidence says nothing about a rule's verdict.
    if let Some(confidence) = judged.confidence.filter(|_| judged.settled_by == Source::Score) {
        write!(out, ", confidence {:.2}", confidence.get())?;
    }
    writeln!(out, "{FAINT:#}")
}

fn reason(out: &mut dyn Write, opinion: &Opinion, subject: &str, verdict: Verdict) -> io::Result<()> {
    writeln!(out, "  {}", visible(&opinion.because))?;
    if let Some(part) = opinion.part {
        underline(out, subject, part, verdict)?;
    }
    match &opinion.instead {
        Some(instead) if !instead.is_empty() => writeln!(out, "    instead: {}", visible(instead)),
        Some(_) | None => Ok(()),
    }
}

/// The line of the command that the part begins in, with carets below the part.
fn underline(out: &mut dyn Write, subject: &str, part: Part, verdict: Verdict) -> io::Result<()> {
    let Some((before, inside, after)) = around(subject, part) else { return Ok(()) };
    let (before, inside, after) = (visible(before), visible(inside), visible(after));
    let style = verdict_style(verdict);
    writeln!(out, "    {before}{inside}{after}")?;
    let (gap, carets) = (before.chars().count(), inside.chars().count().max(1));
    writeln!(out, "    {}{style}{}{style:#}", " ".repeat(gap), "^".repeat(carets))
}

/// The line around a part, cut into before, inside and after; `None` if the part does not fit the text.
fn around(subject: &str, part: Part) -> Option<(&str, &str, &str)> {
    let (start, end) = (part.start as usize, part.end as usize);
    let head = subject.get(..start)?;
    let whole = subject.get(start..end).filter(|inside| !inside.is_empty())?;
    let tail = subject.get(end..)?;
    let before = last_characters(head.rsplit('\n').next().unwrap_or(head), WIDTH / 2);
    let inside = first_characters(whole.split('\n').next().unwrap_or(whole), WIDTH);
    let after = if inside.len() < whole.len() {
        ""
    } else {
        first_characters(tail.split('\n').next().unwrap_or(tail), WIDTH / 2)
    };
    Some((before, inside, after))
}

/// As much of a text's first line as fits next to another.
pub(super) fn one_line(text: &str) -> &str {
    first_characters(text.split('\n').next().unwrap_or(text), WIDTH / 2)
}

fn first_characters(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

fn last_characters(text: &str, count: usize) -> &str {
    let skip = text.chars().count().saturating_sub(count);
    text.char_indices().nth(skip).and_then(|(at, _)| text.get(at..)).unwrap_or_default()
}

pub(super) fn heading(out: &mut dyn Write, title: &str) -> io::Result<()> {
    writeln!(out, "{STRONG}{title}{STRONG:#}")
}

/// One effect with everything that is known about it.
pub(crate) fn effect_line(effect: &Effect) -> String {
    let mut line = format!(
        "{} {} · scope {} · {} · reach {}",
        effect.operation,
        visible(effect.target.shown()),
        effect.scope,
        effect.reversibility,
        effect.reach
    );
    if effect.sensitivity != doorward_engine::Sensitivity::None {
        line.push_str(&format!(" · {}", effect.sensitivity));
    }
    line.extend(effect.dependents.map(|files| match files {
        1 => " · imported by 1 file".to_owned(),
        files => format!(" · imported by {files} files"),
    }));
    if !effect.by.is_empty() {
        line.push_str(&format!(" · by {}", visible(&effect.by)));
    }
    line
}

fn opinion_line(opinion: &Opinion) -> String {
    let mut line = format!("{} by {}", opinion.verdict, opinion.source);
    if let Some(rule) = &opinion.rule {
        line.push_str(&format!(" ({rule})"));
    }
    if let Some(clearance) = opinion.cleared_by {
        line.push_str(&format!(", {clearance}"));
    }
    format!("{line}: {}", visible(&opinion.because))
}

/// What the verdict would be without the stage that decided.
fn flip(judged: &Judgement) -> String {
    let others = judged
        .opinions
        .iter()
        .filter(|opinion| opinion.verdict < judged.verdict)
        .max_by_key(|opinion| opinion.strictness());
    let deciding = judged.reasons().count();
    match (judged.verdict, others) {
        (Verdict::AutoApprove, _) => "any stricter opinion".to_owned(),
        (_, Some(next)) => format!(
            "without the {deciding} deciding opinion(s) it would be {}: {}",
            next.verdict,
            visible(&next.because)
        ),
        (_, None) => {
            format!("all {deciding} deciding opinion(s) would have to go, and nothing else supports an approval")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_is_underlined_within_its_line() {
        let text = "git status\nrm -rf ~; ls";
        let part = Part { start: 11, end: 19 };
        assert_eq!(around(text, part), Some(("", "rm -rf ~", "; ls")));
        let mut out = Vec::new();
        underline(&mut out, text, part, Verdict::Block).unwrap();
        let plain = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
        assert_eq!(plain, "    rm -rf ~; ls\n    ^^^^^^^^\n");
    }

    #[test]
    fn a_part_that_does_not_fit_the_text_is_left_out() {
        assert_eq!(around("é", Part { start: 1, end: 2 }), None);
        assert_eq!(around("abc", Part { start: 2, end: 9 }), None);
    }
}
