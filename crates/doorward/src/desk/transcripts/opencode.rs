//! OpenCode: a SQLite database, `~/.local/share/opencode/opencode.db`, opened read-only.

use std::path::Path;

use doorward_vocabulary::SessionId;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::Value;

use super::{CallList, PastCall, TranscriptCalls, text};
use crate::machine::agent::Agent;

const TOOLS: &str = "SELECT part.rowid, part.session_id, session.directory, part.time_created, part.data FROM part
    JOIN session ON session.id = part.session_id ORDER BY part.time_created, part.rowid";

/// One part of a message.
struct MessagePart {
    row: i64,
    session: SessionId,
    directory: String,
    time_ms: i64,
    data: String,
}

pub(super) fn read(path: &Path) -> TranscriptCalls {
    let mut found = TranscriptCalls::default();
    let mut calls = CallList::default();
    match parts(path) {
        Ok(parts) => {
            for part in parts {
                match part.map(|part| call(&part)) {
                    Ok(Some(Some(call))) => calls.add(call),
                    Ok(Some(None)) => {}
                    Ok(None) | Err(_) => found.malformed += 1,
                }
            }
        }
        Err(_) => found.malformed += 1,
    }
    found.calls = calls.calls;
    found
}

fn parts(path: &Path) -> rusqlite::Result<Vec<rusqlite::Result<MessagePart>>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    let mut statement = database.prepare(TOOLS)?;
    let read = |row: &Row<'_>| {
        Ok(MessagePart {
            row: row.get(0)?,
            session: row.get::<_, String>(1)?.into(),
            directory: row.get(2)?,
            time_ms: row.get(3)?,
            data: row.get(4)?,
        })
    };
    Ok(statement.query_map([], read)?.collect())
}

/// The call in a part, if it is one; `None` if it can't be read.
fn call(part: &MessagePart) -> Option<Option<PastCall>> {
    let data: Value = serde_json::from_str(&part.data).ok()?;
    if text(&data, "type")? != "tool" {
        return Some(None);
    }
    let state = data.get("state")?;
    Some(Some(PastCall {
        agent: Agent::Opencode,
        session: part.session.clone(),
        cwd: part.directory.clone(),
        tool: text(&data, "tool")?.to_owned(),
        input: state.get("input")?.clone(),
        id: Some(text(&data, "callID")?.to_owned()),
        time_ms: u64::try_from(part.time_ms).unwrap_or_default(),
        ran: text(state, "status") == Some("completed"),
        line: u64::try_from(part.row).unwrap_or_default(),
        said: None,
    }))
}
