//! The queue: what waits for an answer.

use doorward_pages::{queue as rendered_queue, single};
use serde_json::json;

use super::super::cards;
use super::super::exchange::{Answer, Ask, Refusal};
use super::super::room::Room;
use super::html;
use crate::memory::grants::Pending;
use crate::memory::grants::store::GrantStore;

/// Cards on one page; more are shown on demand.
const CARDS: u32 = 50;

pub(in super::super) fn queue(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let rows = cards::rows(&GrantStore::open_at(&room.dirs)?);
    let limit = ask.limit(CARDS)? as usize;
    let shown: Vec<_> = rows.iter().take(limit).map(cards::card).collect();
    let count = match rows.len() {
        0 => String::new(),
        count => format!(" <small>{count}</small>"),
    };
    Ok(html(format!("<h1>Queue{count}</h1>\n{}", rendered_queue(&shown, rows.len().saturating_sub(limit)))))
}

/// Cursor: the id of the last call of the page before.
pub(in super::super) fn queue_json(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let rows = cards::rows(&GrantStore::open_at(&room.dirs)?);
    let limit = ask.limit(CARDS)? as usize;
    let skipped = match ask.text("after") {
        None => 0,
        Some(after) => rows.iter().position(|row| row.pending.id == after).map_or(rows.len(), |at| at + 1),
    };
    let page: Vec<_> = rows.iter().skip(skipped).take(limit).map(cards::card).collect();
    let next = page.last().filter(|_| skipped + limit < rows.len()).map(|card| card.id.clone());
    Answer::json(&json!({ "calls": page, "next": next }))
}

pub(in super::super) fn call(room: &Room, id: &str) -> Result<Answer, Refusal> {
    let pending = find(room, id)?;
    Ok(html(format!("<h1>Call {}</h1>\n{}", doorward_pages::escaped(id), single(&cards::one(&pending)))))
}

pub(in super::super) fn call_json(room: &Room, id: &str) -> Result<Answer, Refusal> {
    Answer::json(&cards::one(&find(room, id)?))
}

fn find(room: &Room, id: &str) -> Result<Pending, Refusal> {
    GrantStore::open_at(&room.dirs)?.pending(id)?.ok_or_else(Refusal::not_found)
}
