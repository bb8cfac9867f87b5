//! Names for calls whose agent gives them none: the end of a call is matched with the last identical call.

use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

use doorward_ledger::State;
use serde::{Deserialize, Serialize};

/// How much of a call's fingerprint its recorded name starts with.
// Transcripts lack our ids, so this prefix is what `doorward reconcile` matches a past call by.
pub(crate) const FINGERPRINT: usize = 12;

/// How many calls are remembered; an end that comes later than that is not recorded.
// Agents run a few calls at once; an end that is matched this late would belong to another call.
const CALLS: usize = 256;

/// The fingerprints of a session's calls, and their recorded names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallNames {
    calls: VecDeque<(String, String)>,
}

impl State for CallNames {
    const NAME: &'static str = "names";
}

impl CallNames {
    pub(crate) fn add(&mut self, fingerprint: &str, id: &str) {
        self.calls.push_back((fingerprint.to_owned(), id.to_owned()));
        while self.calls.len() > CALLS {
            self.calls.pop_front();
        }
    }

    /// The last one: earlier ones were refused, or end with another report.
    pub(crate) fn take(&mut self, fingerprint: &str) -> Option<String> {
        // An agent that retries a refused call reports only the end of the one that ran.
        let at = self.calls.iter().rposition(|(known, _)| known == fingerprint)?;
        self.calls.remove(at).map(|(_, id)| id)
    }
}

/// A name for a call the agent did not name.
pub(crate) fn own_name() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_nanos(), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_belongs_to_the_last_call_like_it() {
        let mut names = CallNames::default();
        names.add("a", "refused");
        names.add("b", "other");
        names.add("a", "ran");
        assert_eq!(names.take("a").as_deref(), Some("ran"));
        assert_eq!(names.take("c"), None);
        assert_eq!(names.take("b").as_deref(), Some("other"));
    }
}
