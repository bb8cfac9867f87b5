//! Pages and their data: each module makes one kind of page, as HTML for people and as JSON for programs.

mod charts;
mod health;
mod ledger;
mod policy;
mod queue;
mod sessions;

pub(super) use charts::Figures;
pub(super) use {
    charts::charts, charts::charts_json, health::health, health::health_json, ledger::record, ledger::record_json,
};
pub(super) use {
    ledger::records, ledger::records_json, policy::policy, policy::policy_json, queue::call, queue::call_json,
};
pub(super) use {
    queue::queue, queue::queue_json, sessions::calls, sessions::calls_json, sessions::sessions, sessions::sessions_json,
};

use doorward_ledger::Row;
use doorward_pages::{Content, Text, Tone, escaped, rendered};

use super::exchange::Answer;

/// A page with a title and blocks, each below a heading of its own.
fn page(title: &str, blocks: &[(&str, Content)]) -> String {
    let mut html = format!("<h1>{}</h1>\n", escaped(title));
    for (heading, content) in blocks {
        if !heading.is_empty() {
            html.push_str(&format!("<h2>{}</h2>\n", escaped(heading)));
        }
        html.push_str(&rendered(content, if heading.is_empty() { title } else { heading }));
    }
    html
}

fn html(text: String) -> Answer {
    Answer::html(text)
}

/// A link to the next page, behind a list.
fn older(path: &str, fields: &[(&str, &str)], next: Option<u64>) -> String {
    let Some(next) = next else { return String::new() };
    let mut query = String::new();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        query.push_str(&format!("{name}={}&", encoded(value)));
    }
    format!(
        "<p class=\"more\"><a href=\"{path}?{query}before={next}\" rel=\"next\">Older</a> <a href=\"{path}\">Latest</a></p>\n"
    )
}

/// Text for one part of an address.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn verdict_word(verdict: &str) -> Text {
    match verdict {
        "approve" => Text::word(Tone::Approve, "approved"),
        "confirm" => Text::word(Tone::Confirm, "asked"),
        "block" => Text::word(Tone::Block, "blocked"),
        other => Text::plain(other),
    }
}

/// How much of a call a line shows.
const SHOWN: usize = 160;

/// The start of a call.
fn start(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let cut: String = first.chars().take(SHOWN).collect();
    let more = if cut.len() < text.trim_end().len() { " …" } else { "" };
    format!("{cut}{more}")
}

/// The entry that the next page comes before; none if this was the last.
fn next(rows: &[Row], limit: u32) -> Option<u64> {
    rows.last().filter(|row| rows.len() as u64 == u64::from(limit) && row.sequence > 1).map(|row| row.sequence)
}
