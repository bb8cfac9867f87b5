//! A call that waits for an answer, as a card.

use serde::Serialize;

use crate::escape::{escaped, escaped_lines};

/// A waiting call: what it is, what it would do, and what an answer is bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Card {
    /// What a person types to name it.
    pub id: String,
    /// The word for its state: waiting, prompt, refused or approved.
    pub state: &'static str,
    /// The state in a sentence.
    pub heading: &'static str,
    /// How long the agent still waits.
    pub seconds_left: Option<u64>,
    /// Who wants to run it.
    pub agent: String,
    /// The name of its project, or of its directory.
    pub place: String,
    /// The tool.
    pub tool: String,
    /// How often it was proposed.
    pub times: u32,
    /// The clearance it needs, in one word.
    pub needs: &'static str,
    /// What a person has to do to let it run.
    pub way: String,
    /// Why it waits.
    pub sentence: String,
    /// The call itself, without line breaks.
    pub call: String,
    /// Everything there is to know about it, the risk first.
    pub lines: Vec<CardLine>,
    /// One key may approve it.
    pub can_approve: bool,
    /// Calls like it may always be allowed.
    pub can_always: bool,
    /// It belongs to a project that is not trusted.
    pub can_trust: bool,
    /// What a signed answer names.
    pub bound: Bound,
}

/// A line of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardLine {
    /// How it looks.
    pub kind: LineKind,
    /// What it says.
    pub text: String,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineKind {
    /// As text.
    Plain,
    /// As a heading.
    Heading,
    /// As small print.
    Faint,
    /// As the risk.
    Risk,
    /// As a line that goes.
    Removed,
    /// As a line that comes.
    Added,
}

/// What exactly an answer is about. A browser compares it with what it is asked to sign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bound {
    /// The decision in the record.
    pub decision: String,
    /// Hash of agent, session, tool, input and directory.
    pub call: String,
    /// The directory.
    pub cwd: String,
    /// Hash of what was understood.
    pub effects: String,
    /// Hash of the files it names, as they are.
    pub operands: String,
    /// Hash of the rules it was judged by.
    pub policy: String,
}

/// The queue: cards in order, and how many more there are.
#[must_use]
pub fn queue(cards: &[Card], more: usize) -> String {
    if cards.is_empty() {
        return "<p class=\"empty\">Nothing is waiting for you.</p>\n".to_owned();
    }
    let mut page = String::new();
    let mut heading = "";
    for card in cards {
        if card.heading != heading {
            heading = card.heading;
            page.push_str(&format!("<h2 class=\"state\">{}</h2>\n", escaped(&capital(heading))));
        }
        put(&mut page, card);
    }
    if more > 0 {
        page.push_str(&format!("<p><button type=\"button\" data-more>Show more: {more} are not shown</button></p>\n"));
    }
    page
}

/// One call by itself, opened.
#[must_use]
pub fn single(card: &Card) -> String {
    let mut page = String::new();
    put(&mut page, card);
    page.replacen("<details>", "<details open>", 1)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn put(page: &mut String, card: &Card) {
    let Bound { decision, call, cwd, effects, operands, policy } = &card.bound;
    let id = escaped(&card.id);
    page.push_str(&format!(
        "<article class=\"card {}\" id=\"call-{id}\" tabindex=\"0\" data-id=\"{id}\"",
        escaped(card.needs)
    ));
    let bound = [
        ("decision", decision),
        ("call", call),
        ("cwd", cwd),
        ("effects", effects),
        ("operands", operands),
        ("policy", policy),
    ];
    for (name, value) in bound {
        page.push_str(&format!(" data-{name}=\"{}\"", escaped_exactly(value)));
    }
    if card.can_approve {
        page.push_str(" data-approve");
    }
    let times = if card.times > 1 { format!(" <small>{} times</small>", card.times) } else { String::new() };
    page.push_str(&format!(
        ">\n<header><b>{}</b> in <b>{}</b>{times}{}<a class=\"id\" href=\"/queue/{id}\">{id}</a></header>\n",
        escaped(&card.agent),
        escaped(&card.place),
        countdown(card)
    ));
    page.push_str(&format!(
        "<p class=\"sentence\">{}</p>\n<pre class=\"call\">{}</pre>\n",
        escaped(&card.sentence),
        escaped_lines(&card.call)
    ));
    put_lines(page, &card.lines);
    put_buttons(page, card);
    page.push_str("</article>\n");
}

fn countdown(card: &Card) -> String {
    let Some(seconds) = card.seconds_left else { return String::new() };
    format!(" <span class=\"left\" data-left=\"{seconds}\">{seconds} s left</span>")
}

fn put_lines(page: &mut String, lines: &[CardLine]) {
    page.push_str("<details><summary>What it would do</summary>\n<div class=\"lines\">");
    for line in lines {
        let class = match line.kind {
            LineKind::Plain => "",
            LineKind::Heading => "heading",
            LineKind::Faint => "faint",
            LineKind::Risk => "risk",
            LineKind::Removed => "removed",
            LineKind::Added => "added",
        };
        page.push_str(&format!("<div class=\"{class}\">{}</div>", escaped_lines(&line.text)));
    }
    page.push_str("</div></details>\n");
}

fn put_buttons(page: &mut String, card: &Card) {
    page.push_str("<footer>");
    let button = |verdict: &str, words: &str, key: &str| {
        format!("<button type=\"button\" data-verdict=\"{verdict}\"{key}>{words}</button>")
    };
    if card.can_approve {
        page.push_str(&button("approve", "Approve once <kbd>y</kbd>", " class=\"yes\""));
    }
    page.push_str(&button("refuse", "Refuse <kbd>n</kbd>", ""));
    if card.can_trust {
        page.push_str(&button("trust", "Trust this project…", ""));
    }
    if card.can_always {
        page.push_str(&button("always", "Always allow…", ""));
    }
    page.push_str(&format!("<p class=\"way\">{}</p></footer>\n", escaped(&card.way)));
}

/// For values that a script compares: nothing is made visible, only what would end the attribute is replaced.
fn escaped_exactly(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\n', "&#10;")
        .replace('\r', "&#13;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "\"><img src=x onerror=alert(1)>\u{202e}\u{1b}[2J";

    #[test]
    fn nothing_that_an_agent_chose_is_markup() {
        let text = HOSTILE.to_owned();
        let bound = Bound { cwd: text.clone(), call: text.clone(), ..Bound::default() };
        let lines = vec![CardLine { kind: LineKind::Added, text: text.clone() }];
        let card = Card {
            id: text.clone(),
            agent: text.clone(),
            place: text.clone(),
            tool: text.clone(),
            sentence: text.clone(),
            way: text.clone(),
            call: text,
            lines,
            bound,
            can_approve: true,
            ..Card::default()
        };
        let page = queue(&[card], 0);
        assert!(!page.contains("<img"), "{page}");
        assert!(!page.contains("onerror=alert(1)>\u{202e}</"), "{page}");
        assert_eq!(page.matches("<article").count(), 1);
    }

    #[test]
    fn an_empty_queue_says_so_and_a_long_one_says_how_much_is_left() {
        assert!(queue(&[], 0).contains("Nothing is waiting"));
        let card = Card { heading: "waiting for your answer", ..Card::default() };
        assert!(queue(&[card], 450).contains("450 are not shown"));
    }
}
