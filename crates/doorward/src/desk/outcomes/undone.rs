//! Edits that were undone soon afterwards, by hand or at the user's request.
//!
//! The record has a file's content before and after a call. If the file soon has its old content back without a recorded
//! call, someone restored it by hand. A recorded call that restores it counts if the user spoke in between: agents undo
//! their own experiments, and that is not regret.

use std::collections::BTreeMap;

use doorward_vocabulary::CallId;

use crate::machine::file_digests::NOTHING;

/// A change that lasted longer was not undone, but changed again.
// Decision 0022: someone who dislikes an edit takes it back while looking at it, not after lunch.
pub(super) const SOON_MS: u64 = 15 * 60 * 1000;

/// How many changes of one file are remembered.
// A generator may rewrite one file thousands of times in a session; only its latest states can be undone.
const CHAIN: usize = 64;

/// What a recorded call did to a file.
#[derive(Clone, Debug)]
pub(super) struct RecordedChange {
    pub decision: CallId,
    pub turn: Option<String>,
    pub before: String,
    pub after: String,
    /// When the call ended.
    pub at_ms: u64,
}

/// A call whose change of a file was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UndoneChange {
    pub decision: CallId,
    pub path: String,
    /// The call that did it; `None` if it was done by hand.
    pub by: Option<String>,
    /// It happened between these times.
    pub from_ms: u64,
    pub to_ms: u64,
}

/// File changes that still exist as far as is known, oldest first.
#[derive(Debug, Default)]
pub(super) struct Changes(BTreeMap<String, Vec<RecordedChange>>);

impl Changes {
    /// A file had this content at this time.
    pub(super) fn held(&mut self, path: &str, state: &str, at_ms: u64) -> Vec<UndoneChange> {
        let Some(last) = self.0.get(path).and_then(|chain| chain.last()) else { return Vec::new() };
        let from_ms = last.at_ms;
        // Calls run in parallel: content seen before another call ended says nothing about that call.
        if last.after == state || at_ms < from_ms {
            return Vec::new();
        }
        let gone = self.gone_since(path, state);
        if at_ms - from_ms > SOON_MS { Vec::new() } else { undone(gone, path, None, (from_ms, at_ms)) }
    }

    /// A call changed a file.
    pub(super) fn changed(&mut self, path: &str, change: RecordedChange) -> Vec<UndoneChange> {
        let gone = self.gone_since(path, &change.after);
        let Some(last) = gone.last() else {
            let chain = self.0.entry(path.to_owned()).or_default();
            chain.push(change);
            if chain.len() > CHAIN {
                chain.remove(0);
            }
            return Vec::new();
        };
        let was_asked_for = matches!((&last.turn, &change.turn), (Some(then), Some(now)) if then != now);
        let (from_ms, to_ms) = (last.at_ms, change.at_ms);
        if !was_asked_for || to_ms.saturating_sub(from_ms) > SOON_MS {
            return Vec::new();
        }
        undone(gone, path, Some(change.decision.into()), (from_ms, to_ms))
    }

    /// The files whose last change may still be undone, and when it was made.
    pub(super) fn open(&self) -> Vec<(String, u64)> {
        self.0.iter().filter_map(|(path, chain)| Some((path.clone(), chain.last()?.at_ms))).collect()
    }

    /// Removes the changes that are gone because the file has its earlier content back.
    fn gone_since(&mut self, path: &str, state: &str) -> Vec<RecordedChange> {
        let Some(chain) = self.0.get_mut(path) else { return Vec::new() };
        let first = chain.iter().position(|change| change.before == state);
        first.map(|first| chain.split_off(first)).unwrap_or_default()
    }
}

/// A new file that is deleted again was often only temporary.
fn undone(
    gone: Vec<RecordedChange>,
    path: &str,
    by: Option<String>,
    (from_ms, to_ms): (u64, u64),
) -> Vec<UndoneChange> {
    let edits = gone.into_iter().filter(|change| change.before != NOTHING);
    edits
        .map(|change| UndoneChange { decision: change.decision, path: path.to_owned(), by: by.clone(), from_ms, to_ms })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(decision: &str, turn: &str, states: &str, at_ms: u64) -> RecordedChange {
        let (before, after) = states.split_once('>').unwrap();
        let turn = Some(turn.to_owned()).filter(|turn| !turn.is_empty());
        RecordedChange { decision: decision.into(), turn, before: before.into(), after: after.into(), at_ms }
    }

    /// Changes of one file, then what it held at a moment: the decisions that were undone.
    fn held(changes: &[(&str, &str, u64)], state: &str, at_ms: u64) -> Vec<CallId> {
        let mut all = Changes::default();
        for (decision, states, at_ms) in changes {
            assert_eq!(all.changed("/p/a", change(decision, "", states, *at_ms)), []);
        }
        all.held("/p/a", state, at_ms).into_iter().map(|undone| undone.decision).collect()
    }

    #[test]
    fn what_is_put_back_by_hand_soon_is_undone_with_all_that_followed() {
        for (changes, state, at_ms, expected) in [
            (&[("1", "A>B", 100)][..], "A", 200, &["1"][..]),
            (&[("1", "A>B", 100)], "B", 200, &[]),
            (&[("1", "A>B", 100)], "C", 200, &[]),
            (&[("1", "A>B", 100)], "A", 100 + SOON_MS + 1, &[]),
            (&[("1", "A>B", 100)], "A", 99, &[]),
            (&[("1", "A>B", 100), ("2", "B>C", 150)], "A", 200, &["1", "2"]),
            (&[("1", "A>B", 100), ("2", "B>C", 150)], "B", 200, &["2"]),
            (&[("1", "nothing>B", 100)], "nothing", 200, &[]),
            (&[("1", "nothing>B", 100), ("2", "B>C", 150)], "nothing", 200, &["2"]),
            (&[], "A", 200, &[]),
        ] {
            assert_eq!(held(changes, state, at_ms), expected, "{changes:?} {state} {at_ms}");
        }
    }

    #[test]
    fn what_a_call_puts_back_counts_if_a_person_spoke_in_between() {
        for (then, now, at_ms, expected) in [
            ("t1", "t2", 200, 1),
            ("t1", "t1", 200, 0),
            ("t1", "", 200, 0),
            ("", "t2", 200, 0),
            ("t1", "t2", 101 + SOON_MS, 0),
        ] {
            let mut all = Changes::default();
            assert_eq!(all.changed("/p/a", change("1", then, "A>B", 100)), []);
            let undone = all.changed("/p/a", change("2", now, "B>A", at_ms));
            assert_eq!(undone.len(), expected, "{then} {now} {at_ms}");
            assert!(all.open().iter().all(|(path, _)| path != "/p/a"), "neither is still there");
        }
    }
}
