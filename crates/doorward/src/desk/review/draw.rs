//! Draws the screen of `review`: the list, the selected call with its risk first, and the possible answers.

use doorward_engine::Clearance;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

use super::keys;
use super::model::{InputField, Model, TextInput, VisiblePart};
use super::offer::{OfferKind, ShownOffer};
use crate::desk::grants::answer::to_type;
use crate::desk::grants::show;
use crate::desk::grants::show::{Detail, Tone};
use crate::machine::visible;
use crate::memory::grants::{CallState, Pending};

/// A smaller window shows too little to judge.
// Keys don't count in a smaller window: whoever approves must have been able to see the call.
const LEAST: (u16, u16) = (24, 8);

const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Draws everything; returns which part of the selected call is visible.
pub(super) fn screen(buffer: &mut Buffer, area: Rect, model: &Model) -> VisiblePart {
    let too_small = VisiblePart { id: model.selected.clone(), is_too_small: true, ..VisiblePart::default() };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!("{} waiting. Make the window larger; q quits", model.counts().0);
        for (y, line) in (area.y..area.bottom()).zip(show::prose(&text, usize::from(area.width))) {
            draw_text(buffer, area.x, y, area.width, &line, Style::new());
        }
        return too_small;
    }
    draw_text(buffer, area.x, area.y, area.width, &title(model, usize::from(area.width)), STRONG);
    let foot = foot(model, area.width);
    let foot_height = u16::try_from(foot.len()).unwrap_or(1).min(area.height / 2);
    let middle = Rect { y: area.y + 1, height: area.height - 1 - foot_height, ..area };
    // The last rows, input and keys, always stay.
    let hidden = foot.len().saturating_sub(usize::from(foot_height));
    for (y, (text, style)) in (middle.bottom()..area.bottom()).zip(foot.iter().skip(hidden)) {
        draw_text(buffer, area.x, y, area.width, text, *style);
    }
    if model.helps {
        help(buffer, middle);
        return VisiblePart::default();
    }
    if model.rows.is_empty() {
        draw_text(buffer, middle.x, middle.y, middle.width, nothing(model), FAINT);
        return VisiblePart::default();
    }
    let listed = list_lines(model, area.width);
    let (lines, is_call) = pane_lines(model, area.width);
    let (list, detail) = split(middle, listed.len(), lines.len());
    calls(buffer, list, &listed);
    let sight = pane(buffer, detail, model, &lines);
    match model.call() {
        Some(call) if is_call => VisiblePart { id: Some(call.id.clone()), ..sight },
        // An offer covers the call, so no key counts for the call meanwhile.
        Some(_) => VisiblePart::default(),
        None => too_small,
    }
}

/// What is shown below the list, and whether it is the selected call itself.
fn pane_lines(model: &Model, width: u16) -> (Vec<show::StyledLine>, bool) {
    let depth = if model.explains { Detail::Explained } else { Detail::Usual };
    match (model.call(), &model.typing) {
        (Some(_), Some(TextInput { of: InputField::Offered(offer), .. })) => (offer_lines(offer, width), false),
        (Some(call), _) => (show::lines(call, usize::from(width), depth), true),
        (None, _) => (Vec::new(), false),
    }
}

/// The list above, the call below: both use the full width, and the list gets a third of the rows, or what a short call
/// leaves.
fn split(area: Rect, listed: usize, lines: usize) -> (Rect, Rect) {
    let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let spare = area.height.saturating_sub(rows(lines).saturating_add(1));
    let rows = rows(listed).min((area.height / 3).max(spare).max(1));
    let list = Rect { height: rows, ..area };
    let rule = u16::from(area.height > rows + 3);
    (list, Rect { y: area.y + rows + rule, height: area.height - rows - rule, ..area })
}

fn title(model: &Model, width: usize) -> String {
    let (living, over) = model.counts();
    let waiting = match living {
        0 => "no calls waiting".to_owned(),
        1 => "1 call waiting".to_owned(),
        count => format!("{count} calls waiting"),
    };
    let over = if over > 0 { format!(" · {over} refused or answered") } else { String::new() };
    let filter = if model.filter.is_empty() { String::new() } else { format!(" · only `{}`", visible(&model.filter)) };
    let whole = format!("doorward review · {waiting}{over}{filter}");
    // The numbers matter more than the name.
    if whole.width() <= width { whole } else { show::cut(&format!("{waiting}{over}{filter}"), width) }
}

fn nothing(model: &Model) -> &'static str {
    if model.filter.is_empty() {
        "no calls are waiting for you; new ones appear here"
    } else {
        "no call contains that text; Esc shows all"
    }
}

/// One line of the list.
struct ListLine {
    text: String,
    style: Style,
    is_chosen: bool,
}

fn list_lines(model: &Model, width: u16) -> Vec<ListLine> {
    let mut lines: Vec<ListLine> = Vec::new();
    let mut above = None;
    for row in &model.rows {
        let heading = row.state.heading();
        // Waiting calls need no heading: the seconds say it.
        let is_headed = !matches!(row.state, CallState::Waits(_));
        if above.replace(heading) != Some(heading) && is_headed {
            lines.push(ListLine { text: show::cut(heading, usize::from(width)), style: FAINT, is_chosen: false });
        }
        let is_chosen = Some(&row.pending.id) == model.selected.as_ref();
        let (head, tail) = show::parts(row, model.now_ms, usize::from(width).saturating_sub(1));
        let text = format!("{}{} {head}{tail}", if is_chosen { ">" } else { " " }, row.pending.id);
        let colour = painted(Tone::Risk(row.pending.needs()));
        let colour = if row.state.is_living() { colour } else { colour.patch(FAINT) };
        let style = if is_chosen { colour.patch(CHOSEN) } else { colour };
        lines.push(ListLine { text, style, is_chosen });
    }
    lines
}

fn calls(buffer: &mut Buffer, area: Rect, lines: &[ListLine]) {
    let chosen = lines.iter().position(|line| line.is_chosen).unwrap_or_default();
    let first = chosen.saturating_sub(usize::from(area.height).saturating_sub(1));
    for (y, line) in (area.y..area.bottom()).zip(lines.iter().skip(first)) {
        // The highlight of the selected call reaches the edge.
        let gap = usize::from(area.width).saturating_sub(line.text.width());
        let text = if line.is_chosen { format!("{}{}", line.text, " ".repeat(gap)) } else { line.text.clone() };
        draw_text(buffer, area.x, y, area.width, &text, line.style);
    }
}

fn pane(buffer: &mut Buffer, area: Rect, model: &Model, lines: &[show::StyledLine]) -> VisiblePart {
    let is_cut = lines.len() > usize::from(area.height);
    // The last row says there is more.
    let height = usize::from(area.height).saturating_sub(usize::from(is_cut));
    let scroll = model.scroll.min(lines.len().saturating_sub(height));
    for (y, show::StyledLine { tone, text }) in (area.y..).zip(lines.iter().skip(scroll).take(height)) {
        draw_text(buffer, area.x, y, area.width, text, painted(*tone));
    }
    if is_cut {
        let below = lines.len().saturating_sub(scroll + height);
        let text = match below {
            0 => "── end ── b goes back".to_owned(),
            1 => "── 1 more line: space ──".to_owned(),
            _ => format!("── {below} more lines: space ──"),
        };
        draw_text(buffer, area.x, area.bottom().saturating_sub(1), area.width, &text, STRONG);
    }
    VisiblePart { id: None, height, lines: lines.len(), is_too_small: height == 0 }
}

fn offer_lines(offer: &ShownOffer, width: u16) -> Vec<show::StyledLine> {
    let mut lines = Vec::new();
    for (number, text) in offer.lines.iter().enumerate() {
        let tone = if number == 0 { Tone::Heading } else { Tone::Plain };
        let before = if text.starts_with("  ") { "  " } else { "" };
        let broken = show::prose(text, usize::from(width).saturating_sub(before.len()));
        lines.extend(broken.into_iter().map(|line| show::StyledLine { tone, text: format!("{before}{line}") }));
    }
    lines
}

fn help(buffer: &mut Buffer, area: Rect) {
    let wide = keys::KEYS.iter().map(|(key, _)| key.width()).max().unwrap_or_default();
    let mut y = area.y;
    for (key, does) in keys::KEYS {
        for (number, line) in show::prose(does, usize::from(area.width).saturating_sub(wide + 2)).iter().enumerate() {
            let shown = if number == 0 { key } else { "" };
            let gap = " ".repeat(wide.saturating_sub(shown.width()) + 2);
            if y < area.bottom() {
                draw_text(buffer, area.x, y, area.width, &format!("{shown}{gap}{line}"), Style::new());
            }
            y = y.saturating_add(1);
        }
    }
}

/// The last message, what an approval takes, and the keys.
fn foot(model: &Model, width: u16) -> Vec<(String, Style)> {
    let width = usize::from(width);
    let mut rows: Vec<(String, Style)> = Vec::new();
    let mut add = |text: &str, style: Style| {
        rows.extend(show::prose(text, width).into_iter().map(|line| (line, style)));
    };
    if !model.message.is_empty() {
        add(&model.message, STRONG);
    }
    if let Some(typing) = &model.typing {
        add(&input_hint(model, typing), STRONG);
        // Typed text is shown verbatim, spaces included.
        let typed = show::wrapped(&format!("> {}▏", typing.text), width.saturating_sub(1));
        rows.extend(typed.into_iter().map(|line| (line, Style::new())));
        return rows;
    }
    if model.helps {
        add("any key goes back", FAINT);
        return rows;
    }
    if let Some(row) = model.row() {
        add(&way(model, &row.pending, row.state), painted(Tone::Risk(row.pending.needs())));
        add(keys::SHORT, FAINT);
    } else {
        add("? help · q leave", FAINT);
    }
    rows
}

/// The prompt for typing.
fn input_hint(model: &Model, typing: &TextInput) -> String {
    let target = model.call().map(to_type).unwrap_or_default();
    match &typing.of {
        InputField::Target { .. } => {
            format!("one key is not enough. Type `{target}` and Enter to let it run once; Esc cancels")
        }
        InputField::Why { .. } => "Why? (kept in the record) Enter approves, Esc cancels".to_owned(),
        InputField::Offered(ShownOffer { wish: OfferKind::Trust, word, .. }) => {
            format!("type `{word}` and Enter to trust this project; Esc cancels")
        }
        InputField::Offered(ShownOffer { wish: OfferKind::Always, word, .. }) => {
            format!("type `{word}` and Enter to always allow it; Esc cancels")
        }
        InputField::Filter => "show only calls that contain this; Enter keeps, Esc shows all".to_owned(),
    }
}

/// What an approval takes, and why a key is not enough if it is not.
fn way(model: &Model, call: &Pending, stand: CallState) -> String {
    match (call.needs(), model.countdown(call), stand) {
        (Clearance::Dual, Some(left), _) => format!("one of two steps done; you can do the second in {left} s"),
        (Clearance::Dual, None, _) if call.first_step_ms.is_some() => {
            format!("one of two steps done: now type `{}` again", to_type(call))
        }
        (_, _, CallState::Approved) => {
            "approved: it runs once when the agent retries; n withdraws the approval".to_owned()
        }
        (Clearance::Soft | Clearance::Firm, _, CallState::Prompt) => {
            format!("{} asks in its own prompt; an approval here counts when the agent retries", visible(&call.agent))
        }
        (Clearance::Soft | Clearance::Firm | Clearance::Hard | Clearance::Dual, _, _) => show::way(call),
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

fn draw_text(buffer: &mut Buffer, x: u16, y: u16, width: u16, text: &str, style: Style) {
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
            cwd: format!("/p/{number}"),
            in_prompt: true,
            call: format!("echo {}\u{202e} && rm -rf {} END", "x".repeat(200), "漢".repeat(30)),
            verdict: Some(Verdict::Confirm),
            needs: Some(needs),
            target: "/srv/data".into(),
            reasons: vec!["it deletes what nobody can bring back".into()],
            agent: "claude".into(),
            ..Pending::default()
        };
        let mut model = Model::default();
        model.take(crate::memory::grants::queue((0..calls).map(call).collect(), 1000), 1000);
        model
    }

    fn painted_at(width: u16, height: u16, model: &Model) -> (String, VisiblePart) {
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
        for (width, height) in [(40, 18), (80, 24), (140, 40)] {
            let (text, _) = painted_at(width, height, &model(2, Clearance::Dual));
            let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("`{part}` at {width}:\n{text}"));
            assert!(place("CONFIRM: needs") < place("  it deletes"), "{text}");
            assert!(
                place("2 calls waiting") < place("bcdfg0") && place("one key is not") > place("  it deletes"),
                "{text}"
            );
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
