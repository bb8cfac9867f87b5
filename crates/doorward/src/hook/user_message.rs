//! The user's latest message: stored when it arrives, used only once it is proven to come from the user.

use std::path::Path;

use anyhow::Result;
use doorward_engine::{boundaries, redact};
use doorward_ledger::SpokenState;
use serde_json::Value;

use crate::hook::agents::{Proof, ProposedCall, UserMessage};
use crate::machine::checked_read;
use crate::machine::key;
use crate::memory::session::Session;

/// Longer messages are not stored: a part might say the opposite of the whole.
const LONGEST: usize = 64 << 10;

/// How much of the end of a transcript is searched.
// The latest message stands near the end, behind at most the tool results of one turn.
const TAIL: u64 = 512 << 10;

/// Transcripts lag a little; after this many calls no proof will come.
// Searching costs a read of the transcript's end per call; without a bound every call of an SDK session would pay it.
const SEARCHES: u32 = 16;

/// Stores the message, without secrets.
pub(crate) fn keep(session: &Session, said: &UserMessage, key: &[u8; 16]) -> Result<()> {
    // Stored empty rather than not at all, so that an older message does not count in its place.
    let words = if said.words.len() > LONGEST { String::new() } else { redact(&said.words, key).into_owned() };
    let is_unproved = match said.proof {
        Proof::Event => false,
        Proof::Transcript => true,
    };
    let spoken = SpokenState { words, turn: said.turn.clone(), is_unproved, ..SpokenState::default() };
    session.store_message(&spoken)?;
    if !is_unproved {
        hear(session, &spoken);
    }
    Ok(())
}

/// Keeps for the session what a proven message orders and names.
fn hear(session: &Session, spoken: &SpokenState) {
    // If this fails, the next call tries again; what is not kept only asks more.
    if session.hear(&spoken.words).is_ok() {
        let _ = session.change_message(spoken, |kept| kept.is_heard = true);
    }
}

/// The boundaries stated in the message, without secrets. They only tighten, so no proof of origin is needed.
pub(crate) fn limits(said: &UserMessage, key: &[u8; 16]) -> Vec<String> {
    boundaries(&redact(&said.words, key))
}

/// The message that counts for a call.
pub(crate) fn words(session: &Session, proposed: &ProposedCall, state: &Path) -> Option<String> {
    let mut spoken = session.last_message().filter(|spoken| !spoken.words.is_empty())?;
    if !spoken.is_unproved {
        if !spoken.is_heard {
            hear(session, &spoken);
        }
        return Some(spoken.words);
    }
    if spoken.searches >= SEARCHES {
        return None;
    }
    let key = &key::redaction(state);
    let transcript = proposed.transcript.as_deref()?;
    let tail = checked_read::end_of(transcript, TAIL).unwrap_or_default();
    let is_proved = tail.lines().any(|line| is_proof(line, &spoken, key));
    spoken.is_unproved = !(is_proved || only_a_person_prompts(session, proposed, Path::new(transcript)));
    spoken.searches += 1;
    // If this can't be stored, the proof is searched for again.
    let _ = session.change_message(&spoken, |kept| {
        (kept.is_unproved, kept.searches) = (spoken.is_unproved, spoken.searches);
    });
    if !spoken.is_unproved {
        hear(session, &spoken);
    }
    (!spoken.is_unproved).then_some(spoken.words)
}

/// Claude Code keeps no transcript here, and nothing but its prompt line can have sent the message.
// Transcripts can be switched off, and consent would never count then. What else sends prompts is told apart without one:
// notifications come in angle brackets, programs start the client under another entry point, schedules are kept in a file,
// and the tools that wake the agent up are noted when they are called (decision 0044).
fn only_a_person_prompts(session: &Session, proposed: &ProposedCall, transcript: &Path) -> bool {
    let is_absent =
        |path: &Path| path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    let schedule = |directory: &Path| directory.join(".claude/scheduled_tasks.json");
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let settings = std::env::var_os("CLAUDE_CONFIG_DIR").map(std::path::PathBuf::from);
    let own = settings.map(|directory| directory.join("scheduled_tasks.json"));
    let places = Path::new(&proposed.call.cwd).ancestors().chain(home.as_deref());
    std::env::var_os("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry == "cli")
        && is_absent(transcript)
        && !session.may_prompt_itself()
        && places.map(schedule).chain(own).all(|file| is_absent(&file))
}

/// The same, read-only: without the agent's transcript no proof is searched for.
pub(crate) fn proved(session: &Session) -> Option<String> {
    session.last_message().filter(|spoken| !spoken.is_unproved && !spoken.words.is_empty()).map(|spoken| spoken.words)
}

/// The transcript line that proves the user typed exactly this in this turn.
fn is_proof(line: &str, spoken: &SpokenState, key: &[u8; 16]) -> bool {
    // Parsing half a megabyte of JSON per call would show; most lines are tool results.
    if !line.contains("\"human\"") {
        return false;
    }
    let Ok(entry) = crate::machine::json::parse(line.as_bytes()) else { return false };
    let text = |path: &str| entry.pointer(path).and_then(Value::as_str);
    text("/type") == Some("user")
        && text("/origin/kind") == Some("human")
        // In a sidechain the agent itself writes the prompts.
        && entry.get("isSidechain") != Some(&Value::Bool(true))
        // An old yes to the same words must not prove today's message.
        && text("/promptId") == spoken.turn.as_deref()
        && spoken.turn.is_some()
        && text("/message/content").is_some_and(|content| redact(content, key) == spoken.words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_line_about_a_person_and_these_words_proves_them() {
        let spoken = SpokenState {
            words: "push it".into(),
            turn: Some("p1".into()),
            is_unproved: true,
            ..SpokenState::default()
        };
        let line = json!({"type": "user", "promptId": "p1", "isSidechain": false, "origin": {"kind": "human"},
            "message": {"role": "user", "content": "push it"}});
        assert!(is_proof(&line.to_string(), &spoken, &[0; 16]));
        for (path, other) in [
            ("/type", json!("assistant")),
            ("/promptId", json!("p2")),
            ("/isSidechain", json!(true)),
            ("/origin/kind", json!("task-notification")),
            ("/message/content", json!("push it all")),
            ("/message/content", json!([{"type": "tool_result", "content": "push it"}])),
        ] {
            let mut changed = line.clone();
            *changed.pointer_mut(path).unwrap() = other;
            assert!(!is_proof(&changed.to_string(), &spoken, &[0; 16]), "{changed}");
        }
        assert!(!is_proof("\"human\"", &spoken, &[0; 16]));
    }
}
