//! Paints the screen of `review`: the list, the selected call with its risk first, and what can be done about it.

use doorward_engine::Clearance;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use super::model::{Model, Sight};
use crate::grants::show::{self, Line, Tone};
use crate::grants::{Pending, to_type};
use crate::screen::visible;

/// From this width on the list stands beside the call.
const BESIDE: u16 = 110;

/// The list is so wide then.
const LIST: u16 = 44;

/// Less than this shows nothing that could be judged.
const LEAST: (u16, u16) = (24, 8);

const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Paints everything; says what of the selected call is to be seen.
pub fn screen(buffer: &mut Buffer, area: Rect, model: &Model) -> Sight {
    let too_small = Sight { id: model.selected.clone(), is_too_small: true, ..Sight::default() };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!("{} wait. make the window larger; q leaves", model.calls.len());
        for (y, line) in (area.y..area.bottom()).zip(show::prose(&text, usize::from(area.width))) {
            put(buffer, area.x, y, area.width, &line, Style::new());
        }
        return too_small;
    }
    title(buffer, area, model);
    let foot = foot(model, area.width);
    let foot_height = u16::try_from(foot.len()).unwrap_or(1).min(area.height / 2);
    let middle = Rect { y: area.y + 1, height: area.height - 1 - foot_height, ..area };
    // The last rows are what is typed and the keys: these stay.
    let hidden = foot.len().saturating_sub(usize::from(foot_height));
    for (y, (text, style)) in (middle.bottom()..area.bottom()).zip(foot.iter().skip(hidden)) {
        put(buffer, area.x, y, area.width, text, *style);
    }
    if model.calls.is_empty() {
        put(buffer, middle.x, middle.y, middle.width, "nothing waits for an answer; new calls appear here", FAINT);
        return Sight::default();
    }
    let (list, detail) = split(middle, model.calls.len());
    calls(buffer, list, model);
    if list.height == detail.height {
        (list.y..list.bottom()).for_each(|y| put(buffer, list.right(), y, 1, "│", FAINT));
    }
    match model.call() {
        Some(call) => pane(buffer, detail, model, call),
        None => too_small,
    }
}

/// The list and the call: side by side, or one above the other.
fn split(area: Rect, calls: usize) -> (Rect, Rect) {
    if area.width >= BESIDE {
        let list = Rect { width: LIST, ..area };
        return (list, Rect { x: area.x + LIST + 2, width: area.width - LIST - 2, ..area });
    }
    let rows = u16::try_from(calls).unwrap_or(u16::MAX).min((area.height / 4).max(1));
    let list = Rect { height: rows, ..area };
    let rule = u16::from(area.height > rows + 3);
    (list, Rect { y: area.y + rows + rule, height: area.height - rows - rule, ..area })
}

fn title(buffer: &mut Buffer, area: Rect, model: &Model) {
    let waiting = match model.calls.len() {
        1 => "1 call waits".to_owned(),
        count => format!("{count} calls wait"),
    };
    put(buffer, area.x, area.y, area.width, &format!("doorward review · {waiting}"), STRONG);
}

fn calls(buffer: &mut Buffer, area: Rect, model: &Model) {
    let chosen = model.calls.iter().position(|call| Some(&call.id) == model.selected.as_ref()).unwrap_or_default();
    let rows = usize::from(area.height);
    let first = chosen.saturating_sub(rows.saturating_sub(1));
    for (y, (place, call)) in (area.y..area.bottom()).zip(model.calls.iter().enumerate().skip(first)) {
        let mark = if place == chosen { ">" } else { " " };
        let step = model.countdown(call).map(|left| format!(" {left}s left")).unwrap_or_default();
        let text = format!(
            "{mark}{} {:<4} {:>3}{step} {} {}",
            call.id,
            call.needs().to_string(),
            show::age(call, model.now_ms),
            visible(&call.agent),
            show::start(call, usize::from(area.width))
        );
        let colour = painted(Tone::Risk(call.needs()));
        put(buffer, area.x, y, area.width, &text, if place == chosen { colour.patch(CHOSEN) } else { colour });
    }
}

fn pane(buffer: &mut Buffer, area: Rect, model: &Model, call: &Pending) -> Sight {
    let lines = show::lines(call, usize::from(area.width));
    let is_cut = lines.len() > usize::from(area.height);
    // The last row says that there is more.
    let height = usize::from(area.height).saturating_sub(usize::from(is_cut));
    let scroll = model.scroll.min(lines.len().saturating_sub(height));
    for (y, Line { tone, text }) in (area.y..).zip(lines.iter().skip(scroll).take(height)) {
        put(buffer, area.x, y, area.width, text, painted(*tone));
    }
    if is_cut {
        let below = lines.len().saturating_sub(scroll + height);
        let text = match below {
            0 => "── end ── b goes back".to_owned(),
            1 => "── 1 more line: space ──".to_owned(),
            _ => format!("── {below} more lines: space ──"),
        };
        put(buffer, area.x, area.bottom().saturating_sub(1), area.width, &text, STRONG);
    }
    Sight { id: Some(call.id.clone()), height, lines: lines.len(), is_too_small: height == 0 }
}

/// What was said last, what it takes, and the keys.
fn foot(model: &Model, width: u16) -> Vec<(String, Style)> {
    let width = usize::from(width);
    let mut rows: Vec<(String, Style)> = Vec::new();
    let mut add = |text: &str, style: Style| {
        rows.extend(show::prose(text, width).into_iter().map(|line| (line, style)));
    };
    if !model.message.is_empty() {
        add(&model.message, STRONG);
    }
    let call = model.call();
    if let Some(typing) = &model.typing {
        let target = call.map(to_type).unwrap_or_default();
        match &typing.target {
            None => {
                add(&format!("a key is not enough. type `{target}` and Enter to let it run once; Esc leaves"), STRONG)
            }
            Some(_) => add("why? the record keeps it; Enter approves, Esc leaves", STRONG),
        }
        // What was typed is shown as it is, spaces included.
        let typed = show::wrapped(&format!("> {}▏", typing.text), width.saturating_sub(1));
        rows.extend(typed.into_iter().map(|line| (line, Style::new())));
        return rows;
    }
    if let Some(call) = call {
        add(&way(model, call), painted(Tone::Risk(call.needs())));
    }
    let keys = match call.map(Pending::needs) {
        None => "q leaves",
        Some(Clearance::Soft | Clearance::Firm) => "y approve once · n refuse · ↑↓ choose · space more · q leave",
        Some(Clearance::Hard | Clearance::Dual) => "y type it · n refuse · ↑↓ choose · space more · q leave",
    };
    add(keys, FAINT);
    rows
}

/// What it takes, and why a key is not enough where it is not.
fn way(model: &Model, call: &Pending) -> String {
    match (call.needs(), model.countdown(call)) {
        (Clearance::Dual, Some(left)) => format!("one of two steps is made; the second can be made in {left} s"),
        (Clearance::Dual, None) if call.first_step_ms.is_some() => {
            format!("one of two steps is made: now type `{}` again", to_type(call))
        }
        (Clearance::Soft | Clearance::Firm | Clearance::Hard | Clearance::Dual, _) => show::way(call),
    }
}

fn painted(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Heading => STRONG,
        Tone::Faint => FAINT,
        Tone::Risk(Clearance::Soft) | Tone::Added => Style::new().fg(Color::Green),
        Tone::Risk(Clearance::Firm) => Style::new().fg(Color::Yellow),
        Tone::Risk(Clearance::Hard | Clearance::Dual) | Tone::Removed => Style::new().fg(Color::Red),
    }
}

fn put(buffer: &mut Buffer, x: u16, y: u16, width: u16, text: &str, style: Style) {
    let _end = buffer.set_stringn(x, y, text, usize::from(width), style);
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_engine::Verdict;

    fn model(calls: usize, needs: Clearance) -> Model {
        let call = |number: usize| Pending {
            id: format!("bcdfg{number}"),
            tool: "bash".into(),
            call: format!("echo {}\u{202e} && rm -rf {} END", "x".repeat(200), "漢".repeat(30)),
            verdict: Some(Verdict::Confirm),
            needs: Some(needs),
            target: "/srv/data".into(),
            reasons: vec!["it deletes what nobody can bring back".into()],
            agent: "claude".into(),
            ..Pending::default()
        };
        let mut model = Model::default();
        model.take((0..calls).map(call).collect(), 1000);
        model
    }

    fn painted_at(width: u16, height: u16, model: &Model) -> (String, Sight) {
        let area = Rect { x: 0, y: 0, width, height };
        let mut buffer = Buffer::empty(area);
        let sight = screen(&mut buffer, area, model);
        let row = |y: u16| {
            let cell = |x: u16| buffer.cell((x, y)).map(|cell| cell.symbol().to_owned()).unwrap_or_default();
            (0..width).map(cell).collect::<String>().trim_end().to_owned()
        };
        ((0..height).map(row).collect::<Vec<String>>().join("\n"), sight)
    }

    #[test]
    fn every_size_paints_and_the_whole_call_can_be_read_at_every_size_that_counts() {
        for width in 1..=140 {
            for height in [1, 2, 5, 8, 12, 24, 50] {
                let mut model = model(5, Clearance::Hard);
                let (_, sight) = painted_at(width, height, &model);
                assert_eq!(sight.is_too_small, width < LEAST.0 || height < LEAST.1, "{width}x{height}");
                let mut read = String::new();
                while !sight.is_too_small && model.scroll < sight.lines {
                    read.push_str(&painted_at(width, height, &model).0);
                    model.scroll += sight.height;
                }
                let count = |sign: char| read.matches(sign).count();
                assert!(sight.is_too_small || (count('x') >= 200 && count('漢') >= 30), "{width}x{height}\n{read}");
                assert!(!read.contains('\u{202e}'));
            }
        }
    }

    #[test]
    fn the_risk_comes_first_and_the_way_is_said() {
        for (width, height) in [(40, 16), (80, 24), (120, 30)] {
            let (text, _) = painted_at(width, height, &model(2, Clearance::Dual));
            let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("`{part}` at {width}:\n{text}"));
            assert!(place("CONFIRM, dual") < place("it deletes"), "{text}");
            assert!(place("2 calls wait") < place("bcdfg0") && place("a key is not") > place("it deletes"), "{text}");
        }
    }

    #[test]
    fn a_list_that_is_too_long_follows_the_selection() {
        let mut model = model(40, Clearance::Soft);
        for _ in 0..30 {
            let _ = model.press(super::super::model::Key::Down, 0);
        }
        let (text, _) = painted_at(60, 20, &model);
        assert!(text.contains(">bcdfg30"), "{text}");
    }
}
