//! Calls of a session that may run and whose end has not been reported yet: what they write, and what they run.
//!
//! Agents make several calls at once, and each is judged before any of them runs. If one call writes a script that another
//! one runs, the other must not be approved for the old content, whichever is judged first.

use std::collections::VecDeque;
use std::path::Path;

use doorward_engine::{Effect, Facts, LeftRun, Operation, Target};
use doorward_ledger::State;
use serde::{Deserialize, Serialize};

/// How many calls are remembered; if an agent makes more at once, the oldest are dropped.
// Dropping the oldest loses a conflict at worst with a call that began hundreds of calls ago.
const CALLS: usize = 256;

/// Maximum number of files of one call; more count as everything.
// A call that writes more has a tree as its target, and comparing each path with each would be quadratic.
const PATHS: usize = 64;

/// Maximum number of files executed by background processes; beyond that the oldest are dropped.
// Each of them is judged again when a call changes a file, so the list has to end somewhere.
const LEFT: usize = 1024;

/// Maximum number of calls whose files are checked when they end.
const WATCHED: usize = 64;

/// How long a call may be in flight if its agent reports ends.
// An end can get lost (a crash, an interrupt); after two minutes a stuck entry must not cause questions.
const REPORTED_MS: u64 = 120 * 1000;

/// The same for a call started in the background, whatever its agent reports.
// No agent says when a background command ends (decision 0033), so half an hour stands for it.
const BACKGROUND_MS: u64 = 30 * 60 * 1000;

/// The same for an agent that has never reported an end.
// Without reports every call would count as running; ten seconds cover calls made at the same moment.
const UNREPORTED_MS: u64 = 10 * 1000;

/// The calls of one session that may still be running.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct InFlight {
    calls: VecDeque<Footprint>,
    /// The agent reports when calls end.
    reports: bool,
    /// Calls, with the files to check when they end.
    watched: VecDeque<(String, Vec<String>)>,
    /// What background processes of earlier calls run.
    left: VecDeque<Background>,
}

/// A file run by a background process of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Background {
    id: String,
    since_ms: u64,
    run: LeftRun,
}

/// What one call writes and runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Footprint {
    id: String,
    writes: Vec<String>,
    runs: Vec<String>,
    /// The files that decide what runs in its project; a call that has started has already read them.
    #[serde(default)]
    recipes: Vec<String>,
    /// What it keeps running: a later change to it is judged by what it then does.
    #[serde(default)]
    left: Vec<String>,
    since_ms: u64,
    /// The user was asked about it and has not answered yet.
    #[serde(default)]
    is_asked: bool,
    /// It continues after its agent reported its end.
    #[serde(default)]
    is_background: bool,
    /// It changes files, beyond the output of a server left running in the background.
    #[serde(default)]
    stirs: bool,
}

impl State for InFlight {
    const NAME: &'static str = "under-way";
}

impl Footprint {
    /// The footprint of a call; `recipes` decide what runs in its project. `None` if it can't conflict with anything.
    pub(crate) fn of(id: &str, facts: &Facts, recipes: impl FnOnce() -> Vec<String>) -> Option<Footprint> {
        let effects = &facts.effects;
        let mut runs = paths(effects, |effect| effect.operation == Operation::Execute || is_input(facts, effect));
        if facts.built.is_some() {
            // What is built from a file is run from it.
            runs.extend(paths(effects, |effect| effect.operation == Operation::Read));
        }
        let left: Vec<String> = facts.left.iter().map(|run| run.file.clone()).collect();
        // What keeps running is checked against later writes by what it would then do, not by its name.
        runs.retain(|run| !left.contains(run));
        let writes = paths(effects, changes);
        let is_run = effects.iter().any(|effect| effect.operation == Operation::Execute);
        // Listing them reads the project's root, so only for calls that run something.
        let recipes = if is_run { recipes() } else { Vec::new() };
        let has_any = [&writes, &runs, &recipes, &left].iter().any(|paths| !paths.is_empty());
        let (id, is_background, stirs) = (id.to_owned(), facts.lingers, stirs(effects));
        let rest = Footprint { is_background, stirs, ..Footprint::default() };
        has_any.then_some(Footprint { id, writes, runs, recipes, left, ..rest })
    }

    /// The footprint of a call the user is asked about: it runs later, but its writes may still interfere. An approved call
    /// already runs.
    pub(crate) fn asked(id: &str, facts: &Facts, is_answered: bool) -> Option<Footprint> {
        let writes = paths(&facts.effects, changes);
        let (is_asked, is_background, stirs) = (!is_answered, facts.lingers, stirs(&facts.effects));
        let rest = Footprint { is_asked, is_background, stirs, ..Footprint::default() };
        (!writes.is_empty()).then(|| Footprint { id: id.to_owned(), writes, ..rest })
    }

    /// The agent itself starts the call in the background: all of it continues, whatever it writes.
    pub(crate) fn started_apart(self, is_apart: bool) -> Footprint {
        let stirs = self.stirs || (is_apart && !self.writes.is_empty());
        Footprint { stirs, ..self }
    }

    /// It may still be running.
    fn lasts(&self, now_ms: u64, reported: bool) -> bool {
        let most = if self.is_background { BACKGROUND_MS } else { usual_ms(reported) };
        // Setting the clock back ends nothing.
        now_ms.saturating_sub(self.since_ms) < most
    }

    /// By then it has read the files it starts from.
    fn forget_read_recipes(&mut self, now_ms: u64, reported: bool) {
        if now_ms.saturating_sub(self.since_ms) >= usual_ms(reported) {
            self.recipes.clear();
        }
    }

    /// A file that one of the two writes and the other runs; this one started first.
    fn conflict_with(&self, other: &Footprint) -> Option<String> {
        let meet = |writing: &Footprint, running: &[&Vec<String>]| {
            let is_written = |run: &&String| writing.writes.iter().any(|written| Path::new(run).starts_with(written));
            running.iter().flat_map(|files| files.iter()).find(is_written).cloned()
        };
        // What this one left running is not in doubt: the other is judged by its effect on that.
        meet(self, &[&other.runs, &other.recipes, &other.left]).or_else(|| meet(other, &[&self.runs, &self.recipes]))
    }
}

impl InFlight {
    /// Starts a call, unless it conflicts with another: then returns the file in doubt.
    pub(crate) fn begin(&mut self, call: Footprint, now_ms: u64) -> Option<String> {
        let reports = self.reports;
        // After a yes the same call begins a second time; it must not conflict with itself.
        self.calls.retain(|known| known.lasts(now_ms, reports) && known.id != call.id);
        self.calls.iter_mut().for_each(|known| known.forget_read_recipes(now_ms, reports));
        if let Some(file) = self.calls.iter().find_map(|known| known.conflict_with(&call)) {
            return Some(file);
        }
        self.add(call, now_ms);
        None
    }

    /// Notes a call that may start, whatever it conflicts with.
    pub(crate) fn add(&mut self, call: Footprint, now_ms: u64) {
        self.calls.push_back(Footprint { since_ms: now_ms, ..call });
        while self.calls.len() > CALLS {
            self.calls.pop_front();
        }
    }

    /// The call was refused or not answered in time: it never runs.
    pub(crate) fn withdraw(&mut self, id: &str) {
        self.calls.retain(|call| call.id != id);
        self.left.retain(|left| left.id != id);
    }

    /// Notes what an approved call leaves running.
    pub(crate) fn leave(&mut self, id: &str, runs: &[LeftRun], now_ms: u64) {
        self.left.retain(|left| left.id != id && left.lasts(now_ms));
        let new = runs.iter().map(|run| Background { id: id.to_owned(), since_ms: now_ms, run: run.clone() });
        self.left.extend(new);
        while self.left.len() > LEFT {
            self.left.pop_front();
        }
    }

    /// Background processes of earlier calls that may still be running.
    pub(crate) fn background_runs(&self, now_ms: u64) -> Vec<LeftRun> {
        self.left.iter().filter(|left| left.lasts(now_ms)).map(|left| left.run.clone()).collect()
    }

    /// The user speaks to the agent again, so none of its questions is open: whatever was asked about has run or never will.
    pub(crate) fn withdraw_asked(&mut self) {
        self.calls.retain(|call| !call.is_asked);
    }

    /// A call that changes or runs something may still be running. A background server that is only known to write its output
    /// does not count.
    pub(crate) fn is_busy(&self, now_ms: u64) -> bool {
        self.is_busy_beside("", now_ms)
    }

    /// The same, this call aside.
    pub(crate) fn is_busy_beside(&self, id: &str, now_ms: u64) -> bool {
        let is_at_work = |call: &&Footprint| call.id != id && !(call.is_asked || call.is_background && !call.stirs);
        self.calls.iter().filter(is_at_work).any(|call| call.lasts(now_ms, self.reports))
    }

    /// The files of a call to check when it ends, whoever approved it.
    pub(crate) fn watch(&mut self, id: &str, paths: Vec<String>) {
        // An approved call is judged a second time.
        self.watched.retain(|(known, _)| known != id);
        self.watched.push_back((id.to_owned(), paths));
        while self.watched.len() > WATCHED {
            self.watched.pop_front();
        }
    }

    /// The agent reports the end of a call; returns its files to check.
    pub(crate) fn end(&mut self, id: &str) -> Vec<String> {
        // From the first report on, a missing one means that the call still runs.
        self.reports = true;
        self.calls.retain(|call| call.id != id || call.is_background);
        self.calls.iter_mut().filter(|call| call.id == id).for_each(|call| call.recipes.clear());
        let at = self.watched.iter().position(|(watched, _)| watched == id);
        at.and_then(|at| self.watched.remove(at)).map(|(_, paths)| paths).unwrap_or_default()
    }
}

impl Background {
    fn lasts(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.since_ms) < BACKGROUND_MS
    }
}

/// How long a call may be in flight if it leaves nothing running.
const fn usual_ms(reported: bool) -> u64 {
    if reported { REPORTED_MS } else { UNREPORTED_MS }
}

const fn changes(effect: &Effect) -> bool {
    match effect.operation {
        Operation::Write | Operation::Delete | Operation::Mutate => true,
        Operation::Read | Operation::Execute | Operation::Network => false,
    }
}

fn stirs(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| changes(effect) && !effect.by.is_empty())
}

/// `sh < file`: what a shell gets by redirection may be what it runs.
fn is_input(facts: &Facts, effect: &Effect) -> bool {
    facts.tool == "bash" && effect.operation == Operation::Read && effect.by.is_empty()
}

fn paths(effects: &[Effect], wanted: impl Fn(&Effect) -> bool) -> Vec<String> {
    let mut paths: Vec<String> = effects
        .iter()
        .filter(|effect| wanted(effect))
        .filter_map(|effect| match &effect.target {
            Target::Path(path) | Target::Program(path) if path.starts_with('/') => Some(path.clone()),
            Target::Path(_) | Target::Program(_) | Target::Host(_) | Target::Resource(_) | Target::Unknown => None,
        })
        .collect();
    // Effects of one loop come in a row, so neighbors are enough.
    paths.dedup();
    // Everything: it conflicts with any other call, which is right for a call that touches this much.
    if paths.len() > PATHS { vec!["/".to_owned()] } else { paths }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_background(footprint: Footprint) -> Footprint {
        Footprint { is_background: true, ..footprint }
    }

    fn footprint(id: &str, writes: &[&str], runs: &[&str]) -> Footprint {
        let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let stirs = !writes.is_empty();
        Footprint { id: id.to_owned(), writes: owned(writes), runs: owned(runs), stirs, ..Footprint::default() }
    }

    #[test]
    fn what_one_call_writes_another_does_not_run_in_either_order() {
        for (first, second, crosses) in [
            (footprint("a", &["/p/x.sh"], &[]), footprint("b", &[], &["/p/x.sh"]), true),
            (footprint("a", &[], &["/p/x.sh"]), footprint("b", &["/p/x.sh"], &[]), true),
            (footprint("a", &["/p/bin"], &[]), footprint("b", &[], &["/p/bin/x.sh"]), true),
            (footprint("a", &["/p/x.sh"], &[]), footprint("b", &[], &["/p/x.shy"]), false),
            (footprint("a", &["/p/x.sh"], &[]), footprint("b", &["/p/x.sh"], &[]), false),
            (footprint("a", &[], &["/p/x.sh"]), footprint("b", &[], &["/p/x.sh"]), false),
        ] {
            let mut state = InFlight::default();
            assert_eq!(state.begin(first.clone(), 1000), None);
            assert_eq!(state.begin(second.clone(), 1001).is_some(), crosses, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_call_is_under_way_until_its_end_is_reported_or_a_while_has_passed() {
        let run = || footprint("b", &[], &["/p/x.sh"]);
        let begun = || {
            let mut state = InFlight::default();
            assert_eq!(state.begin(footprint("a", &["/p/x.sh"], &[]), 1000), None);
            state
        };
        assert!(begun().begin(run(), 1000 + UNREPORTED_MS - 1).is_some());
        assert!(begun().begin(run(), 1000 + UNREPORTED_MS).is_none());
        let mut state = begun();
        assert!(state.end("other").is_empty());
        assert!(state.begin(run(), 1000 + UNREPORTED_MS).is_some());
        assert!(state.end("a").is_empty());
        assert!(state.begin(run(), 1001).is_none());
    }

    #[test]
    fn a_call_in_the_background_is_under_way_after_its_end_is_reported() {
        let mut state = InFlight::default();
        assert_eq!(state.begin(in_background(footprint("a", &["/p/x.sh"], &[])), 1000), None);
        assert!(state.end("a").is_empty());
        assert!(state.is_busy(1000 + REPORTED_MS) && !state.is_busy(1000 + BACKGROUND_MS));
        let run = || footprint("b", &[], &["/p/x.sh"]);
        assert!(state.clone().begin(run(), 1000 + REPORTED_MS).is_some());
        assert!(state.begin(run(), 1000 + BACKGROUND_MS).is_none());
        // One that is not known to write anything only keeps what it runs.
        let mut state = InFlight::default();
        assert_eq!(state.begin(in_background(footprint("server", &[], &["/p/serve.js"])), 1000), None);
        assert!(state.end("server").is_empty());
        assert!(!state.is_busy(2000));
        assert!(state.begin(footprint("c", &["/p/serve.js"], &[]), 2000).is_some());
    }

    #[test]
    fn a_call_that_is_asked_about_counts_even_where_it_comes_in_the_way() {
        let mut state = InFlight::default();
        assert_eq!(state.begin(footprint("a", &[], &["/p/x.sh"]), 1000), None);
        state.add(footprint("asked", &["/p/x.sh"], &[]), 1001);
        assert!(state.begin(footprint("b", &[], &["/p/x.sh"]), 1002).is_some());
        assert!(state.end("asked").is_empty());
        assert!(state.begin(footprint("b", &[], &["/p/x.sh"]), 1003).is_none());
    }

    #[test]
    fn a_refused_call_is_over_and_so_is_every_question_once_the_person_speaks_again() {
        let run = || footprint("b", &[], &["/p/x.sh"]);
        let asked = |id| Footprint { is_asked: true, ..footprint(id, &["/p/x.sh"], &[]) };
        let mut state = InFlight::default();
        state.add(asked("a"), 1000);
        assert!(state.clone().begin(run(), 1001).is_some());
        state.withdraw("other");
        assert!(state.clone().begin(run(), 1001).is_some());
        state.withdraw("a");
        assert!(state.begin(run(), 1001).is_none());
        let mut state = InFlight::default();
        state.add(asked("a"), 1000);
        state.add(footprint("running", &["/p/y.sh"], &[]), 1000);
        state.withdraw_asked();
        assert!(state.begin(run(), 1001).is_none());
        assert!(state.begin(footprint("c", &[], &["/p/y.sh"]), 1001).is_some(), "what runs is not over");
    }

    #[test]
    fn only_what_may_be_at_work_counts_as_busy() {
        let mut state = InFlight::default();
        assert!(!state.is_busy(1000));
        state.add(Footprint { is_asked: true, ..footprint("asked", &["/p/x"], &[]) }, 1000);
        assert!(!state.is_busy(1001));
        state.add(footprint("a", &["/p/x"], &[]), 1000);
        assert!(state.is_busy(1000 + UNREPORTED_MS - 1) && !state.is_busy(1000 + UNREPORTED_MS));
        assert!(state.end("a").is_empty());
        assert!(!state.is_busy(1001));
    }

    #[test]
    fn the_files_of_a_call_are_looked_at_once_when_it_has_ended() {
        let mut state = InFlight::default();
        for number in 0..=WATCHED {
            state.watch(&number.to_string(), vec![format!("/p/{number}")]);
        }
        state.watch("1", vec!["/p/1".to_owned()]);
        assert_eq!(state.end("0"), Vec::<String>::new(), "forgotten");
        assert_eq!(state.end("1"), ["/p/1"]);
        assert_eq!(state.end("1"), Vec::<String>::new());
    }
}
