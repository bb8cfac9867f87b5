//! What the state files hold: denials, taint, boundaries and rates of a session, what it created, overrides of a pattern.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::alert;
use crate::state::State;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// The override rate looks back so many days.
// The same month as the alert on overrides.
const MONTH: u64 = 30;
/// Questions that may still be answered; older ones are forgotten.
// An agent asks about one call at a time, parallel ones about a few. A forgotten question is asked again.
const OPEN: usize = 16;
/// Hosts that a session may have been allowed; the others ask again.
// Kept with every session and read on every call; losing one only asks once more.
const CONTACTS: usize = 256;
/// Orders that end boundaries, and addresses, of one session; later ones are not kept, which only asks more.
// A person types a few of each in a day. The state file is read and written on every call.
const SAID: usize = 64;
/// Files that count as the session's own; older ones are forgotten, which only asks more.
// A long session writes some hundreds. The state file is read and written on every call.
const FILES: usize = 512;

/// What one session has been up to. Nothing here lowers a risk, but for an approval, which ends a row of denials,
/// and a person's yes or reset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// When it was first seen.
    pub began_ms: u64,
    denials: u32,
    denials_in_a_row: u32,
    decisions: u64,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    taint: BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    boundaries: BTreeSet<String>,
    /// The orders of the user that end a boundary for what they name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    released: BTreeMap<String, BTreeSet<String>>,
    /// Addresses that the user typed.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    addresses: BTreeSet<String>,
    burst: Bucket,
    minute: Window,
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    open: VecDeque<(String, String)>,
    /// Requests of the open questions that a yes covers for the rest of the session.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    asking: VecDeque<(String, Vec<String>)>,
    /// Requests that a person let pass since a secret was read.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    contacts: BTreeSet<String>,
    /// Tracked files that were deleted or edited in place unasked.
    #[serde(skip_serializing_if = "is_zero")]
    restorable: u32,
    /// A call was let pass that may give the agent a prompt which nobody types.
    #[serde(skip_serializing_if = "is_false")]
    prompts: bool,
    /// When the last calls were blocked; loses nothing but an early alert.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    blocks: VecDeque<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl State for SessionState {
    const NAME: &'static str = "session";
}

impl SessionState {
    /// A call was denied by the classifier.
    pub fn note_denial(&mut self) {
        self.decisions = self.decisions.saturating_add(1);
        self.denials = self.denials.saturating_add(1);
        self.denials_in_a_row = self.denials_in_a_row.saturating_add(1);
    }

    /// A call was blocked just now; says whether that makes a spike. The next one takes as many blocks again.
    pub fn note_block(&mut self, now_ms: u64) -> bool {
        self.blocks.push_back(now_ms);
        self.blocks.retain(|at| *at <= now_ms && now_ms - at <= alert::SPIKE_MS);
        let is_spike = self.blocks.len() >= alert::SPIKE_BLOCKS;
        if is_spike {
            self.blocks.clear();
        }
        is_spike
    }

    /// A call was approved.
    pub fn note_approval(&mut self) {
        self.decisions = self.decisions.saturating_add(1);
        self.denials_in_a_row = 0;
    }

    /// A call was put to a person; that ends no row, but the answer may. Without a pattern a yes is no override.
    pub fn note_question(&mut self, decision: &str, pattern: &str) {
        self.decisions = self.decisions.saturating_add(1);
        self.open.push_back((decision.to_owned(), pattern.to_owned()));
        while self.open.len() > OPEN {
            self.open.pop_front();
        }
    }

    /// A call was refused until somebody answers, or left to the agent's classifier: no person was asked yet.
    pub fn note_deferral(&mut self) {
        self.decisions = self.decisions.saturating_add(1);
    }

    /// The call that was put to a person makes these requests.
    pub fn note_contacts(&mut self, decision: &str, contacts: Vec<String>) {
        if contacts.is_empty() {
            return;
        }
        self.asking.push_back((decision.to_owned(), contacts));
        while self.asking.len() > OPEN {
            self.asking.pop_front();
        }
    }

    /// A person let these requests pass.
    pub fn allow_contacts(&mut self, contacts: Vec<String>) {
        self.contacts.extend(contacts);
        while self.contacts.len() > CONTACTS {
            self.contacts.pop_first();
        }
    }

    /// A call was let run by a person's grant, which sets the counters back like any other yes.
    pub fn note_grant(&mut self) {
        self.decisions = self.decisions.saturating_add(1);
        self.reset();
    }

    /// A call ran. If it had been put to a person, that person said yes: the counters are set back, and the pattern of
    /// the call is returned.
    pub fn note_run(&mut self, decision: &str) -> Option<String> {
        let at = self.open.iter().position(|(open, _)| open == decision)?;
        let (_, pattern) = self.open.remove(at)?;
        if let Some((_, contacts)) =
            self.asking.iter().position(|(asking, _)| asking == decision).and_then(|at| self.asking.remove(at))
        {
            self.allow_contacts(contacts);
        }
        self.reset();
        Some(pattern)
    }

    /// A question about a call has its answer, so that its running says nothing more. No counter changes.
    pub fn close(&mut self, decision: &str) {
        self.open.retain(|(open, _)| open != decision);
        self.asking.retain(|(asking, _)| asking != decision);
    }

    /// The calls that were put to a person and never ran, which are closed with this.
    pub fn close_all(&mut self) -> Vec<String> {
        self.open.drain(..).map(|(decision, _)| decision).collect()
    }

    /// Something was touched that makes later calls riskier.
    pub fn taint(&mut self, what: &str) {
        self.taint.insert(what.to_owned());
    }

    /// The user said not to do something. What ended it before ends it no more.
    pub fn add_boundary(&mut self, what: &str) {
        self.released.remove(what);
        self.boundaries.insert(what.to_owned());
    }

    /// The user ordered something that a boundary ruled out.
    pub fn release(&mut self, boundary: &str, order: &str) {
        let is_full = self.released.values().map(BTreeSet::len).sum::<usize>() >= SAID;
        if self.boundaries.contains(boundary) && !is_full {
            self.released.entry(boundary.to_owned()).or_default().insert(order.to_owned());
        }
    }

    /// The user typed an address.
    pub fn add_address(&mut self, address: &str) {
        if self.addresses.len() < SAID {
            self.addresses.insert(address.to_owned());
        }
    }

    /// A person set the counters back; taint and boundaries stay.
    pub fn reset(&mut self) {
        (self.denials, self.denials_in_a_row) = (0, 0);
    }

    /// Counts a read that was let pass.
    pub fn count_read(&mut self, limit: Limit, now_ms: u64) {
        self.burst.hit(limit, now_ms);
        self.minute.hit(now_ms);
    }

    /// From now on a prompt may come from something else than a person.
    pub fn note_prompts(&mut self) {
        self.prompts = true;
    }

    /// Whether it may.
    #[must_use]
    pub const fn prompts(&self) -> bool {
        self.prompts
    }

    /// Tracked files were deleted or edited in place unasked.
    pub fn count_restorable(&mut self, files: usize) {
        self.restorable = self.restorable.saturating_add(u32::try_from(files).unwrap_or(u32::MAX));
    }

    /// How many of them there were.
    #[must_use]
    pub fn restorable(&self) -> u32 {
        self.restorable
    }

    /// Reads of the last minute, and how many of them the allowed pace has not worn off yet.
    #[must_use]
    pub fn reads(&self, limit: Limit, now_ms: u64) -> (u32, u32) {
        (self.minute.count(now_ms), self.burst.level(limit, now_ms))
    }

    /// Denials so far.
    #[must_use]
    pub const fn denials(&self) -> u32 {
        self.denials
    }

    /// Denials since the last approval.
    #[must_use]
    pub const fn denials_in_a_row(&self) -> u32 {
        self.denials_in_a_row
    }

    /// Decisions so far.
    #[must_use]
    pub const fn decisions(&self) -> u64 {
        self.decisions
    }

    /// Whether something was touched.
    #[must_use]
    pub fn is_tainted(&self, what: &str) -> bool {
        self.taint.contains(what)
    }

    /// All that was touched.
    pub fn taints(&self) -> impl Iterator<Item = &str> {
        self.taint.iter().map(String::as_str)
    }

    /// The requests that a person let pass since a secret was read.
    pub fn contacts(&self) -> impl Iterator<Item = &str> {
        self.contacts.iter().map(String::as_str)
    }

    /// All that the user said not to do.
    pub fn boundaries(&self) -> impl Iterator<Item = &str> {
        self.boundaries.iter().map(String::as_str)
    }

    /// The boundaries that orders ended, with each of the orders.
    pub fn released(&self) -> impl Iterator<Item = (&str, &str)> {
        self.released.iter().flat_map(|(said, orders)| orders.iter().map(|order| (said.as_str(), order.as_str())))
    }

    /// The addresses that the user typed.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.addresses.iter().map(String::as_str)
    }
}

/// The user's own latest words in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpokenState {
    /// The words, without their secrets; empty if nobody said anything that could be kept.
    pub words: String,
    /// The agent's name for the turn that they began.
    pub turn: Option<String>,
    /// Nothing proves yet that a person said them.
    pub is_unproved: bool,
    /// How often a proof was looked for.
    pub searches: u32,
    /// What they order and name is kept for the session.
    pub is_heard: bool,
    /// How many calls each of their orders covered.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub consented: BTreeMap<String, u32>,
}

impl SpokenState {
    /// An order of these words covered a call.
    pub fn count_consent(&mut self, order: &str) {
        let calls = self.consented.entry(order.to_owned()).or_default();
        *calls = calls.saturating_add(1);
    }
}

impl State for SpokenState {
    const NAME: &'static str = "spoken";
}

/// The files that a session created, and when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreatedState {
    files: VecDeque<(String, u64)>,
}

impl State for CreatedState {
    const NAME: &'static str = "created";
}

impl CreatedState {
    /// A call that may create the file was let pass.
    pub fn note_created(&mut self, path: &str, now_ms: u64) {
        self.files.retain(|(known, _)| known != path);
        self.files.push_back((path.to_owned(), now_ms));
        while self.files.len() > FILES {
            self.files.pop_front();
        }
    }

    /// A call that may remove the file, or what lies below it, was let pass.
    pub fn note_removed(&mut self, path: &str) {
        let lies_below =
            |known: &str| known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.files.retain(|(known, _)| !lies_below(known));
    }

    /// When the session was let create the file.
    #[must_use]
    pub fn when(&self, path: &str) -> Option<u64> {
        self.files.iter().find(|(known, _)| known == path).map(|(_, when)| *when)
    }
}

/// So many calls a minute, and so many at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// In the long run.
    pub per_minute: u32,
    /// At once.
    pub burst: u32,
}

/// A bucket that leaks at the allowed rate. A clock set back leaks nothing; one set ahead empties it once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Bucket {
    thousandths: u64,
    at_ms: u64,
}

impl Bucket {
    fn hit(&mut self, limit: Limit, now_ms: u64) {
        let full = u64::from(limit.burst).saturating_mul(1000);
        self.thousandths = self.left(limit, now_ms).saturating_add(1000).min(full);
        self.at_ms = now_ms;
    }

    /// How much is in it, in whole calls.
    fn level(&self, limit: Limit, now_ms: u64) -> u32 {
        u32::try_from(self.left(limit, now_ms).div_ceil(1000)).unwrap_or(u32::MAX)
    }

    fn left(&self, limit: Limit, now_ms: u64) -> u64 {
        let passed = now_ms.saturating_sub(self.at_ms);
        self.thousandths.saturating_sub(passed.saturating_mul(u64::from(limit.per_minute)) / 60)
    }
}

/// Calls of the last minute, counted by stretches of ten seconds; a clock set back starts anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Window(VecDeque<(u64, u32)>);

impl Window {
    // Six counters instead of a list of times: the state has a fixed size however fast an agent reads.
    const STRETCH_MS: u64 = 10_000;
    const STRETCHES: u64 = 6;

    fn hit(&mut self, now_ms: u64) {
        let now = now_ms / Self::STRETCH_MS;
        // A clock that was set back leaves counters in the future, which would never age.
        self.0.retain(|(at, _)| *at <= now && *at + Self::STRETCHES >= now);
        match self.0.back_mut().filter(|(at, _)| *at == now) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => self.0.push_back((now, 1)),
        }
    }

    fn count(&self, now_ms: u64) -> u32 {
        let now = now_ms / Self::STRETCH_MS;
        let recent = self.0.iter().filter(|(at, _)| *at <= now && *at + Self::STRETCHES > now);
        recent.fold(0, |sum: u32, (_, count)| sum.saturating_add(*count))
    }
}

/// How often calls of one pattern were decided, and how often a person let run what doorward itself had stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatternState {
    /// Decisions and overrides by day.
    days: BTreeMap<u64, (u32, u32)>,
}

impl State for PatternState {
    const NAME: &'static str = "pattern";
}

impl PatternState {
    /// A call of this pattern was decided, whatever the verdict.
    pub fn count_decision(&mut self, now_ms: u64) {
        let (decisions, _) = self.day(now_ms);
        *decisions = decisions.saturating_add(1);
    }

    /// A person let one run that doorward itself had stopped.
    pub fn count_override(&mut self, now_ms: u64) {
        let (_, overrides) = self.day(now_ms);
        *overrides = overrides.saturating_add(1);
    }

    /// Overrides and decisions of the last thirty days.
    #[must_use]
    pub fn month(&self, now_ms: u64) -> (u64, u64) {
        self.since(now_ms, MONTH)
    }

    /// Overrides of the last days.
    #[must_use]
    pub fn overrides(&self, now_ms: u64, days: u64) -> u64 {
        self.since(now_ms, days).0
    }

    /// Days that a clock set back puts into the future count as recent.
    fn since(&self, now_ms: u64, days: u64) -> (u64, u64) {
        let from = (now_ms / DAY_MS).saturating_sub(days);
        self.days.range(from..).fold((0, 0), |(overrides, decisions), (_, (decided, overridden))| {
            (overrides + u64::from(*overridden), decisions + u64::from(*decided))
        })
    }

    fn day(&mut self, now_ms: u64) -> &mut (u32, u32) {
        let today = now_ms / DAY_MS;
        // More days than anybody asks for; the oldest goes first.
        while self.days.len() > 2 * MONTH as usize && !self.days.contains_key(&today) {
            self.days.pop_first();
        }
        self.days.entry(today).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_denials_ends_with_an_approval_and_all_of_them_with_a_persons_yes() {
        let check = |story: &str, want: (u32, u32)| {
            let mut state = SessionState::default();
            for sign in story.chars() {
                match sign {
                    'd' => state.note_denial(),
                    'a' => state.note_approval(),
                    'q' => state.note_question("id", "pattern"),
                    'y' => assert_eq!(state.note_run("id").as_deref(), Some("pattern")),
                    'n' => assert_eq!(state.note_run("other"), None),
                    'r' => state.reset(),
                    other => panic!("{other}"),
                }
            }
            assert_eq!((state.denials_in_a_row(), state.denials()), want, "{story}");
        };
        check("", (0, 0));
        check("ddd", (3, 3));
        check("ddad", (1, 3));
        check("ddqdn", (3, 3));
        check("dddqyd", (1, 1));
        check(&"da".repeat(20), (0, 20));
        check("dddr", (0, 0));
    }

    #[test]
    fn a_rate_lets_a_burst_pass_and_then_its_pace_whatever_the_clock_does() {
        let limit = Limit { per_minute: 300, burst: 60 };
        let mut state = SessionState::default();
        let mut at = |now_ms: u64, calls: u32| {
            let passes = |state: &SessionState| {
                let (minute, burst) = state.reads(limit, now_ms);
                minute < limit.per_minute && burst < limit.burst
            };
            (0..calls).filter(|_| passes(&state).then(|| state.count_read(limit, now_ms)).is_some()).count()
        };
        assert_eq!(at(1_000_000, 100), 60);
        assert_eq!(at(1_001_000, 100), 5);
        assert_eq!(at(1_061_000, 100), 60);
        // Set back by years: nothing leaks, and nothing stays shut for years.
        assert_eq!(at(5, 10), 0);
        assert_eq!(at(60_005, 100), 0);
        assert_eq!(at(1_200_000, 100), 60);
    }

    #[test]
    fn the_newest_files_are_the_sessions_own() {
        let mut state = CreatedState::default();
        for number in 0..600 {
            state.note_created(&format!("/tmp/{number}"), number);
        }
        state.note_created("/tmp/599", 700);
        state.note_created("/tmp/d/x", 1);
        state.note_created("/tmp/dd", 1);
        state.note_removed("/tmp/d");
        assert_eq!((state.when("/tmp/d/x"), state.when("/tmp/dd")), (None, Some(1)));
        assert_eq!((state.when("/tmp/599"), state.when("/tmp/90"), state.when("/tmp/89")), (Some(700), Some(90), None));
    }

    #[test]
    fn a_boundary_that_is_stated_again_holds_again() {
        let mut state = SessionState::default();
        state.release("don't push", "push");
        assert_eq!(state.released().count(), 0);
        state.add_boundary("don't push");
        state.release("don't push", "push");
        assert_eq!(state.released().collect::<Vec<_>>(), [("don't push", "push")]);
        state.add_boundary("don't push");
        assert_eq!(state.released().count(), 0);
        (0..100).for_each(|number| state.release("don't push", &number.to_string()));
        assert_eq!(state.released().count(), SAID);
    }

    #[test]
    fn overrides_are_counted_over_thirty_days_and_survive_a_clock_set_back() {
        let mut state = PatternState::default();
        for day in 0..100 {
            state.count_decision(day * DAY_MS);
            state.count_decision(day * DAY_MS);
            state.count_override(day * DAY_MS);
        }
        assert_eq!(state.month(99 * DAY_MS), (31, 62));
        assert_eq!(state.overrides(99 * DAY_MS, 7), 8);
        assert!(state.days.len() <= 61);
        assert!(state.month(0).0 >= 31);
    }
}
