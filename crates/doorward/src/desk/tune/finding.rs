//! What a review found: each finding is a drift to act on.

use std::collections::BTreeMap;
use std::io::Write;
use std::rc::Rc;

use doorward_ledger::Reply;
use doorward_vocabulary::Verdict;
use serde::Serialize;

use super::history::DecidedCall;
use crate::machine::visible;

/// Maximum share of approvals that may be regretted.
// The promise of `auto`: at most one approval in a hundred that someone wishes had been asked about.
pub(super) const REGRET: f64 = 0.01;

/// Fewer regrets than this may be chance.
// One or two regrets among a hundred approvals happen by chance at an acceptable rate.
pub(super) const MISHAPS: u64 = 3;

/// A question answered with yes at least this often is unnecessary.
// Leaves room for the slip of a finger; a question that stops one in ten still earns its place.
pub(super) const ALWAYS: f64 = 0.9;

/// Minimum number of answers before a rule is called too strict.
// With fewer, a rule that is right half of the time can look like this by chance.
pub(super) const ANSWERS: u64 = 20;

/// This many blocks in one session …
// The same numbers as the spike that raises an alert, so that a review and an alert tell one story.
const BLOCKS: usize = 5;

/// … within this time are an attack or a loop.
const BURST_MS: u64 = 10 * 60 * 1000;

/// Minimum number of a user's answers before they are compared with those of others.
// Below this, individual differences in the kind of work dominate.
const COMPARED: u64 = 50;

/// A user overrides too much if they say no in less than this share of the cases in which others would have …
const SPARING: f64 = 0.5;

/// … and chance would explain that less than once in ten thousand times.
// Accusing someone of clicking through is serious, and every user is tested every week.
const DEVIATIONS: f64 = 4.0;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Drift {
    /// A rule asks, and the answer is nearly always yes.
    TooStrict,
    /// Approvals are regretted too often.
    TooLax,
    /// One session was blocked again and again.
    Attack,
    /// One user overrides far more than others.
    Abuse,
}

impl Drift {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Drift::TooStrict => "too strict",
            Drift::TooLax => "too lax",
            Drift::Attack => "burst of blocks",
            Drift::Abuse => "overrides",
        }
    }
}

/// One drift.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Finding {
    pub drift: Drift,
    /// The rule, category, session or user.
    pub about: String,
    pub text: String,
}

impl Finding {
    pub(super) fn new(drift: Drift, about: &str, text: String) -> Finding {
        Finding { drift, about: about.to_owned(), text }
    }
}

/// Sessions that were blocked again and again within minutes.
pub(super) fn bursts<'p>(past: impl Iterator<Item = &'p DecidedCall>) -> Vec<Finding> {
    let mut blocks: BTreeMap<&Rc<str>, Vec<u64>> = BTreeMap::new();
    for one in past.filter(|one| one.verdict == Verdict::Block && !one.session.is_empty()) {
        blocks.entry(&one.session).or_default().push(one.time_ms);
    }
    let found = blocks.into_iter().filter_map(|(session, mut times)| {
        times.sort_unstable();
        let is_burst = |window: &[u64]| matches!(window, [first, .., last] if last - first <= BURST_MS);
        times.windows(BLOCKS).any(is_burst).then(|| {
            let text = format!(
                "{} calls were blocked, {BLOCKS} of them within ten minutes; `doorward audit list --session {session} \
                 --verdict block` shows them",
                times.len()
            );
            Finding::new(Drift::Attack, session, text)
        })
    });
    found.collect()
}

/// How much one user overrode, and how much others would have.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct UserRate {
    pub user: String,
    pub answered: u64,
    pub let_run: u64,
    /// How many others would have overridden, had they been asked the same.
    pub expected: f64,
    pub is_excessive: bool,
}

/// The number of answers of each user, and of yeses among them.
type ByUser<'p> = BTreeMap<&'p Rc<str>, (u64, u64)>;

/// How much each user overrides, compared with other users' answers to the same rules.
pub(super) fn users<'p>(past: impl Iterator<Item = &'p DecidedCall>) -> Vec<UserRate> {
    let mut asked: BTreeMap<&Rc<str>, ByUser<'p>> = BTreeMap::new();
    for one in past.filter(|one| one.is_answered()) {
        let (all, yes) = asked.entry(&one.rule).or_default().entry(&one.user).or_default();
        *all += 1;
        *yes += u64::from(one.answer == Some(Reply::Approved));
    }
    let mut rates: BTreeMap<&Rc<str>, (UserRate, f64)> = BTreeMap::new();
    for users in asked.values() {
        let (all, yes) = users.values().fold((0, 0), |sum, (all, yes)| (sum.0 + all, sum.1 + yes));
        for (user, (own, own_yes)) in users {
            let (rate, variance) = rates.entry(user).or_default();
            rate.answered += own;
            rate.let_run += own_yes;
            // A rule that only this user was asked about says nothing about others.
            let share = match all - own {
                0 => *own_yes as f64 / (*own).max(1) as f64,
                // One extra answer on either side, so that a rule with few answers is never certain.
                others => ((yes - own_yes) as f64 + 1.0) / (others as f64 + 2.0),
            };
            rate.expected += share * *own as f64;
            *variance += share * (1.0 - share) * *own as f64;
        }
    }
    let judged = |(user, (rate, variance)): (&Rc<str>, (UserRate, f64))| {
        let excess = rate.let_run as f64 - rate.expected;
        let is_excessive = rate.answered >= COMPARED
            && ((rate.answered - rate.let_run) as f64) < SPARING * (rate.answered as f64 - rate.expected)
            && excess > DEVIATIONS * variance.sqrt();
        UserRate { user: user.to_string(), is_excessive, ..rate }
    };
    rates.into_iter().map(judged).collect()
}

/// Who overrides how much, next to what others would have.
pub(super) fn print_users(out: &mut dyn Write, users: &[UserRate]) -> std::io::Result<()> {
    writeln!(out, "overrides by user")?;
    for UserRate { user, let_run, answered, expected, .. } in users {
        writeln!(
            out,
            "  {:<10}{let_run} of {answered} answers, others about {expected:.0}",
            visible(&crate::desk::screen::user(user))
        )?;
    }
    Ok(())
}

/// The users who override far more than others.
pub(super) fn abuses(users: &[UserRate]) -> Vec<Finding> {
    let found = users.iter().filter(|user| user.is_excessive);
    let finding = |user: &UserRate| {
        let text = format!(
            "overrode {} of {} calls, where others would have overridden about {:.0}; these answers don't count against any rule",
            user.let_run, user.answered, user.expected
        );
        Finding::new(Drift::Abuse, &user.user, text)
    };
    found.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(user: &str, verdict: Verdict, answer: Option<Reply>, time_ms: u64) -> DecidedCall {
        DecidedCall {
            time_ms,
            verdict,
            category: "write".into(),
            user: user.into(),
            session: user.into(),
            rule: "push".into(),
            answer,
            is_regretted: false,
            weighed: None,
        }
    }

    fn answers(user: &str, yes: usize, no: usize) -> Vec<DecidedCall> {
        let of = |reply| past(user, Verdict::Confirm, Some(reply), 0);
        (0..yes).map(|_| of(Reply::Approved)).chain((0..no).map(|_| of(Reply::Declined))).collect()
    }

    #[test]
    fn whoever_lets_far_more_run_than_others_is_named_and_nobody_else() {
        let excessive = |all: Vec<Vec<DecidedCall>>| {
            let all: Vec<DecidedCall> = all.into_iter().flatten().collect();
            abuses(&users(all.iter())).into_iter().map(|finding| finding.about).collect::<Vec<_>>()
        };
        assert_eq!(excessive(vec![answers("ada", 60, 40), answers("ben", 97, 3)]), ["ben"]);
        assert!(excessive(vec![answers("ada", 60, 40), answers("ben", 68, 32)]).is_empty(), "within chance");
        assert!(excessive(vec![answers("ada", 60, 40), answers("ben", 9, 0)]).is_empty(), "too few to say");
        assert!(excessive(vec![answers("ada", 100, 0)]).is_empty(), "there is nobody to compare with");
        assert!(excessive(vec![answers("ada", 99, 1), answers("ben", 100, 0)]).is_empty(), "everybody does it");
    }

    #[test]
    fn five_blocks_of_one_session_in_ten_minutes_are_a_burst() {
        let minutes =
            |step: u64| (0..5).map(|at| past("s", Verdict::Block, None, at * step * 60_000)).collect::<Vec<_>>();
        assert_eq!(bursts(minutes(2).iter()).len(), 1);
        assert!(bursts(minutes(3).iter()).is_empty());
        assert!(bursts(minutes(2).iter().take(4)).is_empty());
    }
}
