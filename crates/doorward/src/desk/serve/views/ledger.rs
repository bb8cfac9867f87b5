//! The record: search, filters, one entry with its proof.

use doorward_ledger::{DecisionBody, Filter, Kind, Record, Row};
use doorward_pages::{Content, Table, Text, escaped};
use doorward_vocabulary::Verdict;
use serde_json::{Value, json};

use super::super::exchange::{Answer, Ask, Refusal};
use super::super::room::Room;
use super::{encoded, html, next, older, page, start, verdict_word};
use crate::desk::screen::effect_line;
use crate::machine::clock;
use crate::memory::decisions;

const ROWS: u32 = 50;

/// Longer values are cut on the page; the JSON has them whole.
const VALUE: usize = 20_000;

pub(in super::super) fn records(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let (rows, next) = found(room, ask)?;
    let header = vec!["entry", "time", "what", "agent", "tool", "text", "rule"];
    let table = Content::Table(Table { header, rows: rows.iter().map(row).collect(), folded: None });
    let body = if rows.is_empty() { Content::Paragraph("No entry fits.".into()) } else { table };
    let fields: Vec<(&str, &str)> = FIELDS.iter().map(|name| (*name, ask.text(name).unwrap_or_default())).collect();
    let query: String = fields.iter().map(|(name, value)| format!("{name}={}&", encoded(value))).collect();
    let export = format!(
        "<p><a href=\"/api/v1/records?{query}limit=1000\" data-download=\"doorward-records.json\">Download up to 1,000 of these as JSON</a>; \
         <code>doorward audit export</code> writes all of them.</p>\n"
    );
    let list = page("Ledger", &[]) + &form(ask) + &doorward_pages::rendered(&body, "entries");
    Ok(html(list + &older("/ledger", &fields, next) + &export))
}

const FIELDS: [&str; 5] = ["text", "verdict", "kind", "agent", "session"];

fn form(ask: &Ask) -> String {
    let value = |name: &str| escaped(ask.text(name).unwrap_or_default());
    let field = |name: &str, label: &str| {
        format!("<label>{label}<input name=\"{name}\" value=\"{}\" autocomplete=\"off\"></label>", value(name))
    };
    let choice = |name: &str, label: &str, words: &[&str]| {
        let chosen = ask.text(name).unwrap_or_default();
        let option = |word: &str| {
            let mark = if word == chosen { " selected" } else { "" };
            format!("<option value=\"{word}\"{mark}>{}</option>", if word.is_empty() { "any" } else { word })
        };
        format!(
            "<label>{label}<select name=\"{name}\">{}</select></label>",
            words.iter().copied().map(option).collect::<String>()
        )
    };
    let kinds: Vec<&str> = std::iter::once("").chain(Kind::ALL.iter().map(|kind| kind.word())).collect();
    format!(
        "<form data-filter role=\"search\">{}{}{}{}<button>Search</button></form>\n",
        field("text", "Text"),
        choice("verdict", "Verdict", &["", "approve", "confirm", "block"]),
        choice("kind", "Kind", &kinds),
        field("agent", "Agent")
    )
}

fn row(of: &Row) -> Vec<Text> {
    let word = of
        .verdict
        .as_deref()
        .map_or_else(|| Text::plain(format!("{} {}", of.kind, of.step.as_deref().unwrap_or_default())), verdict_word);
    vec![
        Text::link(format!("/ledger/{}", of.sequence), of.sequence.to_string()),
        Text::plain(clock::moment(of.time_ms)),
        word,
        Text::plain(of.agent.clone().unwrap_or_default()),
        Text::plain(of.tool.clone().unwrap_or_default()),
        Text::code(start(of.text.as_deref().or(of.decision.as_deref()).unwrap_or_default())),
        Text::plain(of.rule.clone().unwrap_or_default()),
    ]
}

pub(in super::super) fn records_json(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let (rows, next) = found(room, ask)?;
    Answer::json(&json!({ "records": rows, "next": next }))
}

fn found(room: &Room, ask: &Ask) -> Result<(Vec<Row>, Option<u64>), Refusal> {
    let limit = ask.limit(ROWS)?;
    let word = |name: &str| ask.text(name).map(str::to_owned);
    let filter = Filter {
        kind: ask.text("kind").map(kind).transpose()?,
        verdict: ask.text("verdict").map(verdict).transpose()?,
        agent: word("agent"),
        session: word("session"),
        project: word("project"),
        rule: word("rule"),
        text: word("text"),
        since_ms: ask.number("since_ms")?,
        until_ms: ask.number("until_ms")?,
        before: ask.number("before")?,
        limit: Some(limit),
        ..Filter::default()
    };
    let (_, index) = room.record()?;
    let rows = index.list(&filter).map_err(anyhow::Error::from)?;
    let next = next(&rows, limit);
    Ok((rows, next))
}

fn kind(word: &str) -> Result<Kind, Refusal> {
    Kind::ALL
        .into_iter()
        .find(|kind| kind.word() == word)
        .ok_or_else(|| Refusal::new(400, "`kind` is not a kind of entry"))
}

fn verdict(word: &str) -> Result<Verdict, Refusal> {
    let found = Verdict::ALL.iter().copied().find(|verdict| verdict.as_str() == word);
    found.ok_or_else(|| Refusal::new(400, "`verdict` must be approve, confirm or block"))
}

pub(in super::super) fn record(room: &Room, sequence: &str) -> Result<Answer, Refusal> {
    let (record, later) = one(room, sequence)?;
    let line = |name: &str, value: String| vec![Text::plain(name), Text::code(value)];
    let mut fields = vec![
        line("kind", record.header.kind.word().to_owned()),
        line("time", format!("{} UTC", clock::moment(record.header.time_ms))),
    ];
    let facts = understood(&record);
    if let Some(Value::Object(body)) = body(&record) {
        // What was understood has a list of its own, unless a later version wrote it in words that this one does not know.
        let shown = body.iter().filter(|(name, _)| facts.is_empty() || *name != "facts");
        fields.extend(shown.map(|(name, value)| line(name, worded(value))));
    }
    let proof = vec![
        line("hash", record.hash.to_string()),
        line("previous", record.header.previous.to_string()),
        line("checked by", format!("doorward audit verify, doorward audit show {}", record.header.sequence)),
    ];
    let table = |rows| Content::Table(Table { header: vec!["key", "value"], rows, folded: None });
    let later: Vec<Vec<Text>> = later.iter().map(row).collect();
    let mut blocks = vec![("", table(fields))];
    if !facts.is_empty() {
        blocks.push(("What was understood", Content::List(facts)));
    }
    if !later.is_empty() {
        let header = vec!["entry", "time", "what", "agent", "tool", "text", "rule"];
        blocks.push(("What happened next", Content::Table(Table { header, rows: later, folded: None })));
    }
    if let Some(id) = undoable(&record) {
        let text = format!("It was copied first. `doorward undo {id}` in a terminal brings back what it changed.");
        blocks.push(("Undo", Content::Paragraph(Text::sentence(&text))));
    }
    blocks.push(("Its place in the chain", table(proof)));
    Ok(html(page(&format!("Entry {}", record.header.sequence), &blocks)))
}

/// Coverage, commands and effects, in the words of `doorward audit show`.
fn understood(record: &Record) -> Vec<Text> {
    let body: Option<DecisionBody> = record.body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
    let Some(facts) = body.as_ref().and_then(decisions::facts) else { return Vec::new() };
    let coverage = format!("{}: {}", facts.coverage.degree, facts.coverage.degree.what());
    let mut lines = vec![Text::plain(coverage)];
    lines.extend(facts.coverage.because.iter().map(|because| Text::sentence(because)));
    lines.extend(facts.effects.iter().map(|effect| Text::code(effect_line(effect))));
    lines.extend(facts.flows.iter().map(|flow| Text::plain(format!("{}: {}", flow.kind, flow.kind.what()))));
    lines
}

pub(in super::super) fn record_json(room: &Room, sequence: &str) -> Result<Answer, Refusal> {
    let (record, later) = one(room, sequence)?;
    let line = record.to_line().map_err(|error| Refusal::new(503, error.to_string()))?;
    let record: Value = serde_json::from_str(&line).map_err(|error| Refusal::new(503, error.to_string()))?;
    Answer::json(&json!({ "record": record, "later": later }))
}

fn one(room: &Room, sequence: &str) -> Result<(Record, Vec<Row>), Refusal> {
    let sequence: u64 =
        sequence.parse().ok().filter(|number| *number <= i64::MAX as u64).ok_or_else(Refusal::not_found)?;
    let (view, index) = room.record()?;
    let record = view.log.record(sequence).map_err(anyhow::Error::from)?.ok_or_else(Refusal::not_found)?;
    let name = body(&record).and_then(|body| body.get("id").and_then(Value::as_str).map(str::to_owned));
    let later = match name {
        Some(name) => {
            let about = Filter { about: Some(name), oldest_first: true, limit: Some(200), ..Filter::default() };
            index.list(&about).map_err(anyhow::Error::from)?
        }
        None => Vec::new(),
    };
    Ok((record, later.into_iter().filter(|row| row.sequence != sequence).collect()))
}

fn body(record: &Record) -> Option<Value> {
    serde_json::from_slice(record.body.as_deref()?).ok()
}

fn undoable(record: &Record) -> Option<String> {
    body(record)?.get("snapshot")?.get("id")?.as_str().map(str::to_owned)
}

fn worded(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => serde_json::to_string(value).unwrap_or_default(),
    };
    if text.chars().count() <= VALUE { text } else { text.chars().take(VALUE).chain(" …".chars()).collect() }
}
