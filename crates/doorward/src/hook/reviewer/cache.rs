//! Answers to exactly the same request, and a reviewer's recent failures. One authenticated file.

use doorward_ledger::{Hash, State, StateKey, States};
use serde::{Deserialize, Serialize};

use super::breaker::Breaker;
use super::prompt::Prompt;
use super::reply::ReviewReply;
use crate::machine::paths::Dirs;

/// How long an answer is valid.
// As long as a grant lasts: an agent that retries within a turn gets the same answer, tomorrow's call a fresh one.
const LASTS_MS: u64 = 10 * 60 * 1000;

/// How many answers are kept.
// The file is read and authenticated as a whole for each soft question, so it has to stay small.
const ENTRIES: usize = 64;

/// The one file.
const WHOSE: &str = "reviewer";

/// The stored state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct CacheState {
    breaker: Breaker,
    answers: Vec<CachedAnswer>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CachedAnswer {
    key: String,
    at_ms: u64,
    reply: ReviewReply,
}

impl State for CacheState {
    const NAME: &'static str = "reviewer";
}

/// The file, if usable: without it every request is sent again.
pub(super) struct Cache {
    states: Option<States>,
    now_ms: u64,
}

impl Cache {
    pub(super) fn open(dirs: &Dirs, now_ms: u64) -> Cache {
        let key = StateKey::load_or_create(&dirs.state().join("reviewer.key")).ok();
        Cache { states: key.map(|key| States::at(&dirs.state().join("reviewer"), key)), now_ms }
    }

    pub(super) fn breaker(&self) -> Breaker {
        self.load().breaker
    }

    /// The answer to the same request, if it is not too old.
    pub(super) fn answer(&self, key: &str) -> Option<ReviewReply> {
        let is_good = |answer: &&CachedAnswer| {
            answer.key == key && self.now_ms.checked_sub(answer.at_ms).is_some_and(|age| age < LASTS_MS)
        };
        self.load().answers.iter().find(is_good).map(|answer| answer.reply.clone())
    }

    /// Notes a trial after the pause.
    pub(super) fn tries(&self) {
        self.change(|kept| kept.breaker.tries(self.now_ms));
    }

    /// Notes a failure.
    pub(super) fn failed(&self) {
        self.change(|kept| kept.breaker.failed(self.now_ms));
    }

    /// Stores an answer.
    pub(super) fn store(&self, key: &str, reply: &ReviewReply) {
        self.change(|kept| {
            kept.breaker.reset();
            let is_good =
                |answer: &CachedAnswer| answer.key != key && answer.at_ms.saturating_add(LASTS_MS) > self.now_ms;
            kept.answers.retain(is_good);
            kept.answers.push(CachedAnswer { key: key.to_owned(), at_ms: self.now_ms, reply: reply.clone() });
            let surplus = kept.answers.len().saturating_sub(ENTRIES);
            kept.answers.drain(..surplus);
        });
    }

    fn load(&self) -> CacheState {
        let Some(states) = &self.states else { return CacheState::default() };
        states.load(WHOSE).unwrap_or_else(|_| {
            // Damaged or forged state is ignored: everything is asked again.
            states.forget::<CacheState>(WHOSE);
            CacheState::default()
        })
    }

    fn change(&self, change: impl FnOnce(&mut CacheState)) {
        if let Some(states) = &self.states {
            // If this fails, the request is sent again.
            let _ = states.update(WHOSE, change);
        }
    }
}

/// What identifies a request: policy, model, action and context, whatever the nonce.
pub(super) fn key(model: &str, prompt: &Prompt) -> String {
    let message = prompt.message.replace(&prompt.nonce, "");
    let parts = [model, &prompt.system, &message];
    let text: String = parts.iter().map(|part| format!("{}:{part}", part.len())).collect();
    Hash::of(text.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::test_home::TestHome;

    fn reply(nonce: &str) -> ReviewReply {
        let text = serde_json::json!({
            "reason": "r", "tier": "none", "decision": "allow", "confidence": 0.9, "nonce": nonce,
        });
        super::super::reply::parse(&text.to_string(), nonce).unwrap()
    }

    #[test]
    fn an_answer_is_good_for_the_same_request_and_for_a_while() {
        let home = TestHome::begun();
        let dirs = home.dirs();
        let cache = Cache::open(&dirs, 1_000);
        cache.store("one", &reply("a"));
        assert!(cache.answer("one").is_some() && cache.answer("two").is_none());
        assert!(Cache::open(&dirs, 1_000 + LASTS_MS - 1).answer("one").is_some());
        assert!(Cache::open(&dirs, 1_000 + LASTS_MS).answer("one").is_none());
        assert!(Cache::open(&dirs, 999).answer("one").is_none(), "an answer from the future");
    }

    #[test]
    fn whatever_the_reviewer_was_shown_is_part_of_the_key_and_the_nonce_is_not() {
        let of = |model: &str, system: &str, message: &str, nonce: &str| {
            let message = format!("{message} {nonce}");
            key(model, &Prompt { system: system.into(), message, nonce: nonce.into() })
        };
        let first = of("m", "policy", "action", "aaaa");
        assert_eq!(first, of("m", "policy", "action", "bbbb"));
        for other in
            [of("n", "policy", "action", "aaaa"), of("m", "other", "action", "aaaa"), of("m", "policy", "act", "aaaa")]
        {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn a_forged_file_is_worth_nothing() {
        let home = TestHome::begun();
        let dirs = home.dirs();
        Cache::open(&dirs, 1).store("one", &reply("a"));
        let folder = dirs.state().join("reviewer");
        let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, String::from_utf8_lossy(&bytes).replace("one", "two")).unwrap();
        let cache = Cache::open(&dirs, 2);
        assert!(cache.answer("one").is_none() && cache.answer("two").is_none());
        cache.store("three", &reply("a"));
        assert!(cache.answer("three").is_some(), "it is begun anew");
    }
}
