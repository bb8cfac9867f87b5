//! The plugin's hook where `doorward setup` installed hooks as well: each call is judged once.
//!
//! Settings only say that the other hook should run. Whether it does is another matter (a client can be started without the
//! user's settings), so the plugin's hook stands back only for a call that the other one has already put on record.

use std::time::{Duration, Instant};

use doorward_ledger::{DecisionBody, Kind, Log};
use serde_json::Value;

use super::Surroundings;
use super::agents::Event;
use crate::machine::agent_home::directory_of;
use crate::machine::checked_read;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::memory::session::Session;

/// How long to wait for the other hook's decision before judging the call here.
// Both start at the same moment and judging takes milliseconds; a machine under load gets a hundred times that.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Between two looks at the record.
const PAUSE: Duration = Duration::from_millis(5);

/// Decisions older than this are about other calls.
const RECENT_MS: u64 = 60_000;

/// The hook that `setup` installed has answered this event, or answers it.
pub(super) fn stands_back(event: &Event, surroundings: &Surroundings) -> bool {
    let dirs = &surroundings.dirs;
    if !has_hooks_of_setup(surroundings) {
        return false;
    }
    match event {
        Event::Proposed(proposed) => {
            let session = Session::open(dirs, &proposed.call.session);
            // A name that comes again is another call: the decision on record may be about the first, and may be our own.
            let is_judged = proposed
                .id
                .as_deref()
                .is_some_and(|id| session.is_first_sight(id) && is_judged_elsewhere(dirs, session.id(), id));
            if is_judged {
                session.note_shared();
            }
            is_judged
        }
        // Until the other hook was seen at work, both record: twice is better than not at all.
        Event::Outcome(outcome) => Session::open(dirs, &outcome.session).is_shared(),
        Event::Said(said) => Session::open(dirs, &said.session).is_shared(),
        Event::Session(event) => Session::open(dirs, &event.session).is_shared(),
        Event::Switched(_) | Event::Nothing => false,
    }
}

/// The user's settings run doorward before each call.
fn has_hooks_of_setup(surroundings: &Surroundings) -> bool {
    let file = directory_of(surroundings.agent, surroundings.dirs.home()).join("settings.json");
    let settings: Option<Value> =
        checked_read::start_of(file, 1 << 20).and_then(|text| serde_json::from_str(&text).ok());
    let groups = settings.as_ref().and_then(|settings| settings.pointer("/hooks/PreToolUse")).and_then(Value::as_array);
    let handlers = groups.into_iter().flatten().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    let ours = format!("doorward' hook {}", surroundings.agent.name());
    handlers.filter_map(|handler| handler.get("command")?.as_str()).any(|command| command.contains(&ours))
}

fn is_judged_elsewhere(dirs: &Dirs, session: &str, id: &str) -> bool {
    let started = Instant::now();
    loop {
        if is_recorded(dirs, session, id) {
            return true;
        }
        if started.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The record has a decision about the call. Whatever can't be read is none.
fn is_recorded(dirs: &Dirs, session: &str, id: &str) -> bool {
    let Ok(log) = Log::open(&record::directory(dirs)) else { return false };
    let Ok(records) = log.current_records() else { return false };
    let since = clock::now_ms().saturating_sub(RECENT_MS);
    let recent =
        records.flatten().filter(|record| record.header.kind == Kind::Decision && record.header.time_ms >= since);
    let bodies = recent.filter_map(|record| serde_json::from_slice::<DecisionBody>(&record.body?).ok());
    bodies.into_iter().any(|body| body.id.as_str() == id && body.session.as_deref() == Some(session))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::Invocation;
    use crate::hook::answer_within;
    use crate::machine::agent::Agent;
    use crate::machine::test_home::TestHome;
    use serde_json::json;

    fn call(id: &str) -> Vec<u8> {
        let payload = json!({ "session_id": "s", "tool_use_id": id, "hook_event_name": "PreToolUse", "cwd": "/tmp",
            "permission_mode": "default", "tool_name": "Bash", "tool_input": { "command": "rm -rf /" } });
        payload.to_string().into_bytes()
    }

    fn settings(home: &TestHome) {
        let folder = home.at("home/.claude");
        std::fs::create_dir_all(&folder).unwrap();
        let line = "'/opt/doorward' hook claude --timeout 60 || { echo 'doorward failed; call blocked' >&2; exit 2; }";
        let hooks = json!({ "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [{ "type": "command", "command": line }] }] } });
        std::fs::write(folder.join("settings.json"), hooks.to_string()).unwrap();
    }

    fn answer(home: &TestHome, id: &str, from_plugin: bool) -> String {
        let surroundings = Surroundings::new(Agent::Claude, home.dirs());
        answer_within(&call(id), &surroundings, Invocation { from_plugin, ..Invocation::default() }).unwrap().stdout
    }

    #[test]
    fn the_plugin_answers_alone_and_stands_back_only_for_a_call_that_is_on_record() {
        let home = TestHome::begun();
        assert!(answer(&home, "alone", true).contains("\"deny\""));
        settings(&home);
        assert!(answer(&home, "one", false).contains("\"deny\""));
        assert_eq!(answer(&home, "one", true), "", "the other hook has judged it");
        // Settings that name the other hook are no proof that it runs.
        assert!(answer(&home, "two", true).contains("\"deny\""));
        // Its own decision, or one about an earlier call of the name, is no reason to stand back.
        for id in ["two", "one"] {
            assert!(answer(&home, id, true).contains("\"deny\""), "{id}");
        }
    }
}
