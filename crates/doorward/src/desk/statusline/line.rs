//! The line itself: what is wrong first, then the mode and the figures of the day.

use super::guarded::Guard;
use super::{Figures, Format};
use crate::machine::visible;
use crate::memory::tally::Tally;

/// How loud a part is.
#[derive(Clone, Copy)]
enum Tone {
    Plain,
    Notice,
    Alarm,
}

/// The line in the form that the program wants.
pub(super) fn of(figures: &Figures, format: Format) -> String {
    if format == Format::Json {
        return figures.to_json().to_string();
    }
    let painted = parts(figures).into_iter().map(|(tone, text)| paint(format, tone, &text));
    format!("doorward {}", painted.collect::<Vec<String>>().join(" · "))
}

fn parts(figures: &Figures) -> Vec<(Tone, String)> {
    let mut parts = Vec::new();
    match &figures.guard {
        Guard::Open(why) => parts.push((Tone::Alarm, format!("UNGUARDED: {why}"))),
        Guard::Weak(why) => parts.push((Tone::Notice, why.clone())),
        Guard::Closed => {}
    }
    parts.extend(modes(&figures.modes).map(|modes| (Tone::Plain, modes)));
    let Tally { silent, asked, blocked } = figures.today;
    parts.push((Tone::Plain, format!("today {silent} silent, {asked} asked, {blocked} blocked")));
    if figures.waiting > 0 {
        parts.push((Tone::Notice, format!("{} waiting: doorward review", figures.waiting)));
    }
    parts
}

/// `auto`, or each agent's own if they differ.
fn modes(modes: &[(String, String)]) -> Option<String> {
    let (_, first) = modes.first()?;
    if modes.iter().all(|(_, mode)| mode == first) {
        return Some(first.clone());
    }
    Some(modes.iter().map(|(name, mode)| format!("{name} {mode}")).collect::<Vec<String>>().join(", "))
}

fn paint(format: Format, tone: Tone, text: &str) -> String {
    let text = visible(text).to_string();
    match (format, tone) {
        (Format::Claude, Tone::Alarm) => format!("\x1b[1;31m{text}\x1b[0m"),
        (Format::Claude, Tone::Notice) => format!("\x1b[33m{text}\x1b[0m"),
        // In tmux `#` begins a style or a command.
        (Format::Tmux, Tone::Alarm) => format!("#[fg=red,bold]{}#[default]", text.replace('#', "##")),
        (Format::Tmux, Tone::Notice) => format!("#[fg=yellow]{}#[default]", text.replace('#', "##")),
        (Format::Tmux, Tone::Plain) => text.replace('#', "##"),
        (Format::Claude | Format::Plain | Format::Json, _) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(guard: Guard, waiting: usize) -> Figures {
        let modes = vec![("claude".to_owned(), "auto".to_owned())];
        Figures { modes, today: Tally { silent: 214, asked: 3, blocked: 1 }, waiting, guard }
    }

    #[test]
    fn a_quiet_day_is_one_plain_line() {
        let line = of(&figures(Guard::Closed, 0), Format::Claude);
        assert_eq!(line, "doorward auto · today 214 silent, 3 asked, 1 blocked");
    }

    #[test]
    fn what_is_wrong_comes_first_and_nothing_in_it_steers_the_terminal() {
        let why = "#(rm x) \x1b]0;x\x07 hooks off";
        let shown = of(&figures(Guard::Open(why.into()), 2), Format::Claude);
        assert!(shown.starts_with("doorward \x1b[1;31mUNGUARDED: "), "{shown:?}");
        assert!(shown.contains("2 waiting: doorward review") && !shown.contains("\x1b]0"), "{shown:?}");
        let shown = of(&figures(Guard::Weak(why.into()), 0), Format::Tmux);
        assert!(shown.contains("##(rm x)") && !shown.contains('\x1b'), "{shown:?}");
    }

    #[test]
    fn agents_in_different_modes_are_told_apart() {
        let mut both = figures(Guard::Closed, 0);
        both.modes.push(("codex".into(), "shadow".into()));
        assert!(of(&both, Format::Plain).starts_with("doorward claude auto, codex shadow · "));
    }
}
