//! Health: how far each agent is covered, what weakens that, open alerts, paired devices.

use doorward_pages::{Content, Table, Text};
use serde_json::{Value, json};

use super::super::exchange::{Answer, Refusal};
use super::super::room::Room;
use super::{html, page};
use crate::desk::doctor;
use crate::machine::clock;
use crate::memory::alerts;

pub(in super::super) fn health(room: &Room) -> Result<Answer, Refusal> {
    let (agents, defects) = doctor::findings(&room.dirs);
    let table = |header, rows| Content::Table(Table { header, rows, folded: None });
    let mut blocks = Vec::new();
    let covered: Vec<Vec<Text>> =
        agents.iter().map(|(agent, level)| vec![Text::plain(agent.name()), Text::plain(*level)]).collect();
    blocks.push(match covered.is_empty() {
        true => ("Agents", Content::Paragraph("No agent is set up. Run `doorward setup` in a terminal.".into())),
        false => ("Agents", table(vec!["agent", "coverage"], covered)),
    });
    let problem = |defect: &doctor::Defect| {
        let agent = defect.agent.map_or("all", |agent| agent.name());
        vec![Text::plain(agent), Text::sentence(&defect.what), Text::sentence(&defect.instead)]
    };
    blocks.push(match defects.is_empty() {
        true => ("Problems", Content::Paragraph("None found.".into())),
        false => ("Problems", table(vec!["agent", "problem", "what to do"], defects.iter().map(problem).collect())),
    });
    blocks.push(("Alerts", standing(room)?));
    blocks.push(("Devices", devices(room)?));
    Ok(html(page("Health", &blocks)))
}

fn standing(room: &Room) -> Result<Content, Refusal> {
    let Ok((_, index)) = room.record() else { return Ok(Content::Paragraph("Nothing was recorded yet.".into())) };
    let found = alerts::standing(&index, clock::now_ms())?;
    let line = |alert: &doorward_ledger::Alert| {
        Text::code(alert.kind.word()).and(Text::sentence(&format!(
            ": {} (last {})",
            alert.text,
            clock::moment(alert.last_ms)
        )))
    };
    Ok(match found.is_empty() {
        true => Content::Paragraph("None are open.".into()),
        false => Content::List(found.iter().map(line).collect()),
    })
}

fn devices(room: &Room) -> Result<Content, Refusal> {
    let found = room.store()?.devices();
    let row = |device: &super::super::store::Device| {
        let state = if device.revoked_ms.is_some() { "revoked" } else { "may answer" };
        vec![
            Text::plain(device.name.clone()),
            Text::code(device.id.clone()),
            Text::plain(clock::moment(device.paired_ms)),
            Text::plain(state),
        ]
    };
    Ok(match found.is_empty() {
        true => Content::Paragraph("None are paired. `doorward serve --pair` in a terminal pairs one.".into()),
        false => {
            let header = vec!["device", "id", "paired", "state"];
            Content::Table(Table { header, rows: found.iter().map(row).collect(), folded: None })
        }
    })
}

pub(in super::super) fn health_json(room: &Room) -> Result<Answer, Refusal> {
    let (agents, defects) = doctor::findings(&room.dirs);
    let agents: Vec<Value> =
        agents.iter().map(|(agent, level)| json!({ "agent": agent.name(), "coverage": level })).collect();
    let problem = |defect: &doctor::Defect| json!({ "kind": defect.kind, "agent": defect.agent.map(|agent| agent.name()), "what": defect.what, "instead": defect.instead });
    let defects: Vec<Value> = defects.iter().map(problem).collect();
    let alerts: Vec<Value> = match room.record() {
        Ok((_, index)) => alerts::standing(&index, clock::now_ms())?
            .iter()
            .map(|alert| json!({ "id": alert.id, "kind": alert.kind.word(), "text": alert.text, "last_ms": alert.last_ms }))
            .collect(),
        Err(_) => Vec::new(),
    };
    let devices = room.store()?.devices();
    Answer::json(&json!({ "agents": agents, "problems": defects, "alerts": alerts, "devices": devices }))
}
