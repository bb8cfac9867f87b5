//! Sessions, and the calls of one as a timeline.

use doorward_ledger::{Filter, Kind, Row, SessionSummary};
use doorward_pages::{Content, Table, Text, TimelineCall, Tone};
use serde_json::json;

use super::super::exchange::{Answer, Ask, Refusal};
use super::super::room::Room;
use super::{encoded, html, next, older, page, start};
use crate::machine::clock;

const SESSIONS: u32 = 50;
const CALLS: u32 = 100;

pub(in super::super) fn sessions(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let (_, index) = room.record()?;
    let found = index.sessions(ask.number("before")?, ask.limit(SESSIONS)?).map_err(anyhow::Error::from)?;
    let header = vec!["last call", "agent", "project", "calls", "approved", "asked", "blocked"];
    let rows = found.sessions.iter().map(row).collect();
    let table = Content::Table(Table { header, rows, folded: None });
    let body =
        if found.sessions.is_empty() { Content::Paragraph("No agent has made a call yet.".into()) } else { table };
    Ok(html(page("Sessions", &[("", body)]) + &older("/sessions", &[], found.next)))
}

fn row(of: &SessionSummary) -> Vec<Text> {
    let project = of.project.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or("–");
    vec![
        Text::link(format!("/sessions/{}", encoded(&of.session)), clock::moment(of.last_ms)),
        Text::plain(of.agent.clone().unwrap_or_default()),
        Text::plain(project),
        Text::figure(of.decisions),
        Text::figure(of.approved),
        Text::figure(of.confirmed),
        Text::figure(of.blocked),
    ]
}

pub(in super::super) fn sessions_json(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let (_, index) = room.record()?;
    Answer::json(&index.sessions(ask.number("before")?, ask.limit(SESSIONS)?).map_err(anyhow::Error::from)?)
}

pub(in super::super) fn calls(room: &Room, ask: &Ask, session: &str) -> Result<Answer, Refusal> {
    let (rows, next) = found(room, ask, session)?;
    if rows.is_empty() {
        return Err(Refusal::not_found());
    }
    let timeline = Content::Timeline(rows.iter().map(moment).collect());
    let path = format!("/sessions/{}", encoded(session));
    Ok(html(
        page("Session", &[("", Content::Paragraph(Text::code(session))), ("", timeline)]) + &older(&path, &[], next),
    ))
}

pub(in super::super) fn calls_json(room: &Room, ask: &Ask, session: &str) -> Result<Answer, Refusal> {
    let (rows, next) = found(room, ask, session)?;
    Answer::json(&json!({ "calls": rows, "next": next }))
}

fn found(room: &Room, ask: &Ask, session: &str) -> Result<(Vec<Row>, Option<u64>), Refusal> {
    let (_, index) = room.record()?;
    let limit = ask.limit(CALLS)?;
    let filter = Filter {
        kind: Some(Kind::Decision),
        session: Some(session.to_owned()),
        before: ask.number("before")?,
        limit: Some(limit),
        ..Filter::default()
    };
    let rows = index.list(&filter).map_err(anyhow::Error::from)?;
    let next = next(&rows, limit);
    Ok((rows, next))
}

fn moment(row: &Row) -> TimelineCall {
    let (tone, word) = match row.verdict.as_deref() {
        Some("approve") => (Tone::Approve, "approved"),
        Some("block") => (Tone::Block, "blocked"),
        Some(_) | None => (Tone::Confirm, "asked"),
    };
    TimelineCall {
        time: clock::moment(row.time_ms),
        tone,
        word,
        agent: row.agent.clone().unwrap_or_default(),
        tool: row.tool.clone().unwrap_or_default(),
        call: Text::link(format!("/ledger/{}", row.sequence), start(row.text.as_deref().unwrap_or("–"))),
        why: row.rule.as_deref().map_or_else(Text::default, |rule| Text::plain(format!("rule {rule}"))),
    }
}
