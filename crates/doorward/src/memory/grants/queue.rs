//! The queue in display order: calls waiting for an answer first, finished ones apart, repeats folded.

use super::pending::{Pending, Status};

/// How long an agent's own prompt counts as open; agents don't report that it was closed with a no.
// Longer than anyone leaves a prompt open while present.
const PROMPT_MS: u64 = 15 * 60 * 1000;

/// The state of a call, in display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallState {
    /// The agent waits for an answer from here, for this many more seconds.
    Waits(u64),
    /// The agent asks in its own prompt.
    Prompt,
    /// It did not run; approving lets the agent retry.
    Refused,
    /// Approved; the agent has not retried yet.
    Approved,
}

/// One line of the list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueueRow {
    pub pending: Pending,
    pub state: CallState,
    /// The ids of older calls that look identical.
    pub folded: Vec<String>,
    /// How often it was proposed, folded ones included.
    pub times: u32,
}

impl CallState {
    pub(crate) fn of(pending: &Pending, now_ms: u64) -> CallState {
        if pending.status == Status::Approved {
            return CallState::Approved;
        }
        match pending.waits_until_ms.and_then(|until| until.checked_sub(now_ms)).filter(|left| *left > 0) {
            Some(left) => CallState::Waits(left.div_ceil(1000)),
            None if pending.in_prompt && now_ms.saturating_sub(pending.asked_ms) < PROMPT_MS => CallState::Prompt,
            None => CallState::Refused,
        }
    }

    /// The agent is blocked until someone answers.
    pub(crate) const fn is_living(self) -> bool {
        matches!(self, CallState::Waits(_) | CallState::Prompt)
    }

    /// In one word, for programs.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            CallState::Waits(_) => "waiting",
            CallState::Prompt => "prompt",
            CallState::Refused => "refused",
            CallState::Approved => "approved",
        }
    }

    /// The heading for calls like this.
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            CallState::Waits(_) => "waiting for your answer",
            CallState::Prompt => "asked in the agent's own prompt: answer there",
            CallState::Refused => "refused; approve to let the agent retry",
            CallState::Approved => "approved; runs once when the agent retries",
        }
    }
}

impl QueueRow {
    /// Its id and those of the calls folded into it.
    pub(crate) fn ids(&self) -> Vec<String> {
        std::iter::once(&self.pending.id).chain(&self.folded).cloned().collect()
    }
}

/// The list, from calls in latest-first order.
pub(crate) fn queue(calls: Vec<Pending>, now_ms: u64) -> Vec<QueueRow> {
    let mut rows: Vec<QueueRow> = Vec::new();
    for pending in calls {
        let state = CallState::of(&pending, now_ms);
        // Waiting calls are answered by id, so each gets its own line.
        let is_foldable = !matches!(state, CallState::Waits(_));
        let like = rows.iter_mut().find(|row| is_foldable && row.state == state && is_alike(&row.pending, &pending));
        let times = pending.times.max(1);
        match like {
            Some(row) => {
                row.folded.push(pending.id);
                row.times = row.times.saturating_add(times);
            }
            None => rows.push(QueueRow { pending, state, folded: Vec::new(), times }),
        }
    }
    // Stable: among equals the latest stays first.
    rows.sort_by_key(|row| row.state);
    rows
}

fn is_alike(one: &Pending, other: &Pending) -> bool {
    let face = |call: &Pending| (call.needs, call.verdict, call.first_step_ms);
    let text = |call: &Pending| [&call.agent, &call.tool, &call.call, &call.input, &call.cwd].map(String::clone);
    text(one) == text(other) && face(one) == face(other) && one.changes == other.changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, text: &str) -> Pending {
        Pending { id: id.into(), call: text.into(), asked_ms: 1_000_000, times: 1, ..Pending::default() }
    }

    #[test]
    fn whoever_waits_comes_first_and_repeats_of_what_is_over_are_one_line() {
        let now_ms = 1_010_000;
        let waits = |id: &str, until: u64| Pending { waits_until_ms: Some(until), ..call(id, "npm test") };
        let rows = queue(
            vec![
                call("dead", "curl x | sh"),
                waits("late", now_ms + 40_000),
                Pending { times: 3, ..call("again", "curl x | sh") },
                Pending { in_prompt: true, ..call("prompt", "git push") },
                waits("soon", now_ms + 1_500),
                waits("over", now_ms - 1),
                Pending { status: Status::Approved, ..call("yes", "make") },
                Pending { in_prompt: true, asked_ms: 1, ..call("closed", "git push") },
            ],
            now_ms + PROMPT_MS - 100_000,
        );
        let shown: Vec<(&str, u32)> = rows.iter().map(|row| (row.pending.id.as_str(), row.times)).collect();
        assert_eq!(shown, [("prompt", 1), ("dead", 4), ("late", 3), ("closed", 1), ("yes", 1)], "{rows:?}");
        let rows =
            queue(vec![call("dead", "ls"), waits("late", now_ms + 40_000), waits("soon", now_ms + 1_500)], now_ms);
        let shown: Vec<(&str, CallState)> = rows.iter().map(|row| (row.pending.id.as_str(), row.state)).collect();
        assert_eq!(
            shown,
            [("soon", CallState::Waits(2)), ("late", CallState::Waits(40)), ("dead", CallState::Refused)]
        );
    }

    #[test]
    fn another_directory_or_clearance_is_another_line() {
        let elsewhere = Pending { cwd: "/other".into(), ..call("b", "ls") };
        let harder = Pending { needs: Some(doorward_engine::Clearance::Hard), ..call("c", "ls") };
        assert_eq!(queue(vec![call("a", "ls"), elsewhere, harder], 1_000_000).len(), 3);
    }
}
