//! Questions the agent itself can't ask the user: the call waits for an answer from elsewhere.

use std::time::{Duration, Instant};

use super::deadline;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::memory::grants::Status;
use crate::memory::grants::store::GrantStore;
use crate::policy::config::WAIT_SECONDS;

/// Polling interval.
// Short enough that an answer seems immediate, long enough that a minute of waiting costs nothing.
const LOOK: Duration = Duration::from_millis(150);

/// Who can answer a question, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    /// The agent asks the user.
    Here,
    /// The session seems unattended; the agent asks anyway, and refuses on its own if no one answers.
    Perhaps,
    /// The agent's own classifier answers, as the user chose for soft questions.
    Classifier,
    /// The user may be there, but the agent can't ask before a call.
    Elsewhere,
    /// The session is unattended.
    NoOne,
}

/// The result of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitResult {
    /// The user approved the call.
    Yes,
    /// The user refused it.
    No,
    /// No answer.
    Nothing,
}

/// How a refusal starts if it is a question that could not be asked.
// Clients show the refusal to the model; it must read as an open question, not as a verdict on the command.
pub(super) const NEEDED: &str = "doorward needs your approval because";

/// How long a call may wait: as configured, and well within the time its agent waits for us. If that time is unknown, waiting
/// could end with the agent running the call. By default, a call does not wait silently for someone who is not there.
pub(super) fn time(wanted: Option<u32>, patience: Option<Duration>, is_watched: impl FnOnce() -> bool) -> Duration {
    let wanted = match wanted {
        Some(seconds) => seconds,
        None if is_watched() => WAIT_SECONDS,
        None => 0,
    };
    let wanted = Duration::from_secs(u64::from(wanted));
    // Unknown patience means zero: a client that gives up first runs the call (decision 0013).
    patience.map_or(Duration::ZERO, |patience| wanted.min(deadline::room_in(patience)))
}

/// Waits for the user's answer to the pending call of this decision.
pub(super) fn wait(dirs: &Dirs, decision: &str, time: Duration) -> WaitResult {
    wait_while(dirs, decision, time, || true)
}

/// The same while the call is still wanted.
pub(super) fn wait_while(
    dirs: &Dirs,
    decision: &str,
    time: Duration,
    mut is_wanted: impl FnMut() -> bool,
) -> WaitResult {
    let Ok(store) = GrantStore::open_at(dirs) else { return WaitResult::Nothing };
    let Some(waits) = store.open_calls().into_iter().find(|pending| pending.decision == decision) else {
        return WaitResult::Nothing;
    };
    deadline::prolong(time);
    let until_ms = now_ms().saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    // Only for display: how much time is left.
    let _ = store.change(&waits.id, |pending| pending.waits_until_ms = Some(until_ms));
    let end = Instant::now() + time;
    while Instant::now() < end && is_wanted() {
        match store.pending(&waits.id).ok().flatten().map(|pending| pending.status) {
            Some(Status::Open) => std::thread::sleep(LOOK),
            Some(Status::Approved) => return WaitResult::Yes,
            Some(Status::Refused) => return WaitResult::No,
            // An identical call used the approval, or it expired.
            Some(Status::Used | Status::Answered) | None => return WaitResult::Nothing,
        }
    }
    WaitResult::Nothing
}

#[cfg(test)]
mod tests {
    use super::super::{Invocation, Surroundings, answer, answer_within};
    use super::*;
    use crate::desk::grants::answer::ApprovedBy;
    use crate::desk::grants::answer::{approve as say_yes, refuse as say_no};
    use crate::hook::agents::Reply;
    use crate::machine::agent::Agent;
    use crate::machine::record::Ledger;

    const MINUTE: Option<Duration> = Some(Duration::from_secs(60));

    struct TestHome(tempfile::TempDir);

    impl TestHome {
        fn new(config: &str) -> TestHome {
            let room = TestHome(tempfile::tempdir().unwrap());
            for name in ["project/.git", "home/.config/doorward"] {
                std::fs::create_dir_all(room.0.path().join(name)).unwrap();
            }
            std::fs::write(room.0.path().join("home/.config/doorward/config.toml"), config).unwrap();
            crate::machine::record::begin(&room.dirs()).unwrap();
            room
        }

        fn dirs(&self) -> Dirs {
            Dirs::at(self.0.path().join("home").to_str().unwrap())
        }

        fn surroundings(&self) -> Surroundings {
            Surroundings::new(Agent::Codex, self.dirs())
        }

        fn call(&self, id: &str) -> Vec<u8> {
            let payload = serde_json::json!({
                "hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.0.path().join("project"),
                "tool_name": "Bash", "tool_input": { "command": "git push origin main" }, "tool_use_id": id,
            });
            payload.to_string().into_bytes()
        }

        /// The hook, while a person looks at what waits.
        fn meanwhile(&self, person: impl FnOnce(&GrantStore, &str) + Send) -> Reply {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..700 {
                        std::thread::sleep(Duration::from_millis(50));
                        let store = GrantStore::open_at(&self.dirs()).unwrap();
                        if let Some(waits) = store.open_calls().first() {
                            return person(&store, &waits.id);
                        }
                    }
                    panic!("nothing waits");
                });
                answer_within(
                    &self.call("c1"),
                    &self.surroundings(),
                    Invocation { patience: MINUTE, ..Invocation::default() },
                )
                .unwrap()
            })
        }
    }

    const AUTO: &str = "wait_seconds = 40\n[agents.codex]\nmode = \"auto\"\n";

    #[test]
    fn a_yes_lets_the_waiting_call_run_and_no_other() {
        let room = TestHome::new(AUTO);
        let reply = room.meanwhile(|store, id| {
            say_yes(store, &mut Ledger::open(&room.dirs()), id, ApprovedBy::Key, None).unwrap();
        });
        assert_eq!(reply, Reply::default(), "silence lets Codex run the call");
        let again = answer(&room.call("c2"), &room.surroundings()).unwrap();
        assert!(again.stdout.contains("deny"), "{}", again.stdout);
    }

    #[test]
    fn a_no_ends_the_wait() {
        let room = TestHome::new(AUTO);
        let reply = room.meanwhile(|store, id| say_no(store, &mut Ledger::open(&room.dirs()), id, None).unwrap());
        assert!(reply.stdout.contains("a person refused"), "{}", reply.stdout);
    }

    #[test]
    fn nobody_answers_and_the_yes_comes_for_the_next_attempt() {
        let room = TestHome::new(&AUTO.replace("40", "1"));
        let began = Instant::now();
        let reply = answer_within(
            &room.call("c1"),
            &room.surroundings(),
            Invocation { patience: MINUTE, ..Invocation::default() },
        )
        .unwrap();
        assert!(began.elapsed() >= Duration::from_secs(1));
        let store = GrantStore::open_at(&room.dirs()).unwrap();
        let id = store.open_calls()[0].id.clone();
        assert!(reply.stdout.contains(&format!("doorward approve {id}")), "{}", reply.stdout);
        say_yes(&store, &mut Ledger::open(&room.dirs()), &id, ApprovedBy::Key, None).unwrap();
        assert_eq!(answer(&room.call("c2"), &room.surroundings()).unwrap(), Reply::default());
    }

    #[test]
    fn a_call_waits_only_within_a_patience_that_is_known() {
        for (wanted, patience, time) in [
            (None, None, 0),
            (None, MINUTE, 45),
            (Some(0), MINUTE, 0),
            (Some(600), MINUTE, 47),
            (None, Some(Duration::from_secs(30)), 17),
            (None, Some(Duration::from_secs(5)), 0),
        ] {
            let watched = super::time(wanted, patience, || true);
            assert_eq!(watched, Duration::from_secs(time), "{wanted:?} {patience:?}");
            let alone = super::time(wanted, patience, || false);
            assert_eq!(alone, if wanted.is_some() { watched } else { Duration::ZERO }, "{wanted:?} {patience:?}");
        }
    }
}
