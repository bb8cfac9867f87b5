//! The state of one session: read while a call is judged, raised before the answer is given.
//!
//! If the state is damaged, forged, or missing although the log knows the session, it is rebuilt from the log, and doorward
//! asks about the call that found it so.

mod built;
mod concurrent;
mod shared;
mod spoken;

use std::cell::{OnceCell, RefCell};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use doorward_engine::{
    Effect, Facts, History, Mark, Mode, Operation, Target, Thresholds, Verdict, contacts, left_by, may_prompt,
    restorable,
};
use doorward_ledger::{
    AlertBody, AlertKind, CreatedState, Limit, Log, LogError, PatternState, SessionState, StateError, StateKey, States,
};

use crate::machine::clock::{milliseconds, now_ms};
use crate::machine::file_digests::{self, FileDigests};
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::machine::world::temporary;
use crate::memory::alerts::new_alert;
use crate::memory::builds::Builds;
use crate::memory::call_ids::CallNames;
use crate::memory::evaluation::{Decided, Evaluation};
use crate::memory::in_flight::InFlight;

pub(crate) use spoken::bound;

/// File system clocks lag by a few milliseconds.
const SLACK_MS: u64 = 20;

/// The session of `setup`'s trial call, which no one should answer.
// `setup` proves the hook by a call that must be denied; it raises no alert and fills no queue.
pub(crate) const TRIAL: &str = "doorward-setup";

/// One session of an agent.
#[derive(Debug)]
pub(crate) struct Session {
    id: String,
    /// Why no state can be read at all, if so.
    states: Result<States, String>,
    log: PathBuf,
    now_ms: u64,
    limit: Limit,
    known: OnceCell<KnownState>,
    created: OnceCell<CreatedState>,
    builds: OnceCell<Builds>,
    /// The alerts a call triggered.
    alerts: RefCell<Vec<AlertBody>>,
}

/// The known state of the session, and how it was found.
#[derive(Debug)]
struct KnownState {
    state: SessionState,
    found: StateSource,
}

#[derive(Debug, PartialEq)]
enum StateSource {
    Kept,
    /// Nothing was ever recorded about it.
    New,
    /// Rebuilt from the log, for this reason.
    Rebuilt(String),
}

impl KnownState {
    /// The log does not say which calls may have scheduled a prompt, so any may have.
    fn rebuilt(mut state: SessionState, why: String) -> KnownState {
        state.note_prompts();
        KnownState { state, found: StateSource::Rebuilt(why) }
    }
}

impl Session {
    pub(crate) fn open(dirs: &Dirs, id: &str) -> Session {
        let states = key(&dirs.state()).map(|key| States::at(&dirs.state().join("sessions"), key));
        Session { states, ..Session::without_states(dirs, id) }
    }

    fn without_states(dirs: &Dirs, id: &str) -> Session {
        let thresholds = Thresholds::default();
        Session {
            id: id.to_owned(),
            states: Err(String::new()),
            log: record::directory(dirs),
            now_ms: now_ms(),
            limit: Limit { per_minute: thresholds.reads_per_minute, burst: thresholds.read_burst },
            known: OnceCell::new(),
            created: OnceCell::new(),
            builds: OnceCell::new(),
            alerts: RefCell::default(),
        }
    }

    /// The session, read-only: nothing is created, and only reading methods may be called.
    pub(crate) fn read_only(dirs: &Dirs, id: &str) -> Session {
        // `check` must leave no trace, so it doesn't create a key; without one no state can be authentic.
        let path = dirs.state().join("state.key");
        let key = match StateKey::load(&path) {
            Err(_) if path.symlink_metadata().is_err() => Ok(StateKey::passing()),
            found => found.map_err(|error| format!("the session state can't be read: {error}")),
        };
        let states = key.map(|key| States::at(&dirs.state().join("sessions"), key));
        Session { states, ..Session::without_states(dirs, id) }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// When it started; `None` if it starts now.
    pub(crate) fn began_ms(&self) -> Option<u64> {
        Some(self.known().state.began_ms).filter(|began| *began > 0)
    }

    /// A hook has run in this session. Looks only at its state, never at the record.
    pub(crate) fn is_known(&self) -> bool {
        self.states.as_ref().is_ok_and(|states| matches!(states.find::<SessionState>(&self.id), Ok(Some(_))))
    }

    /// Takes the alerts triggered since the last time; they are recorded after the decision.
    pub(crate) fn take_alerts(&self) -> Vec<AlertBody> {
        self.alerts.take()
    }

    /// What happened before.
    pub(crate) fn history(&self) -> History {
        let KnownState { state, found } = self.known();
        let (reads_last_minute, reads_last_seconds) = state.reads(self.limit, self.now_ms);
        History {
            taint: state.taints().map(str::to_owned).collect(),
            answered: state.contacts().map(str::to_owned).collect(),
            reads_last_minute,
            reads_last_seconds,
            denials_in_a_row: state.denials_in_a_row(),
            denials: state.denials(),
            restorable: state.restorable(),
            boundaries: state.boundaries().map(str::to_owned).collect(),
            released: state.released().map(|(said, order)| (said.to_owned(), order.to_owned())).collect(),
            addresses: state.addresses().map(str::to_owned).collect(),
            consented: self.last_message().map(|spoken| spoken.consented).unwrap_or_default().into_iter().collect(),
            doubt: match found {
                StateSource::Kept | StateSource::New => None,
                StateSource::Rebuilt(why) => {
                    Some(format!("the state of this session had to be rebuilt from the record: {why}"))
                }
            },
        }
    }

    /// The override rate of a pattern, for the record; `None` if no override is known. Damaged state says nothing.
    pub(crate) fn observed_overrides(&self, pattern: &str) -> Option<f64> {
        let (overridden, decided) = self.month(pattern)?;
        // Counts of an older version lack approvals, so there may seem to be more overrides than decisions.
        (overridden > 0).then(|| overridden as f64 / decided.max(overridden) as f64)
    }

    /// Overrides and decisions of a pattern in 30 days; `None` if nothing is known.
    pub(crate) fn month(&self, pattern: &str) -> Option<(u64, u64)> {
        Some(self.pattern(pattern)?.month(self.now_ms))
    }

    /// Overrides of a pattern in the last days.
    pub(crate) fn overrides(&self, pattern: &str, days: u64) -> u64 {
        self.pattern(pattern).map(|state| state.overrides(self.now_ms, days)).unwrap_or_default()
    }

    fn pattern(&self, pattern: &str) -> Option<PatternState> {
        self.states.as_ref().ok()?.find::<PatternState>(pattern).ok()?
    }

    /// The file was created by this session and is still that file.
    pub(crate) fn created(&self, path: &str, metadata: &Metadata) -> bool {
        let began = self.known().state.began_ms;
        let born = metadata.created().or_else(|_| metadata.modified()).map(milliseconds).unwrap_or_default();
        // Most files are older than the session, so there is nothing to read.
        // A file older than the session can't be its own, whatever the list says.
        if !metadata.is_file() || began == 0 || born.saturating_add(SLACK_MS) < began {
            return false;
        }
        self.when_created(path).is_some_and(|when| born.saturating_add(SLACK_MS) >= when)
    }

    /// When the session was let create the path.
    pub(crate) fn when_created(&self, path: &str) -> Option<u64> {
        let created = self.created.get_or_init(|| {
            let found = self.states.as_ref().ok().and_then(|states| states.load::<CreatedState>(&self.id).ok());
            found.unwrap_or_default()
        });
        created.when(path)
    }

    /// Notes a judged call. This comes before the record: if that fails, the session is left riskier, not safer.
    pub(crate) fn note(&self, id: &str, decided: &Decided) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        let KnownState { state, found } = self.known();
        if let StateSource::Rebuilt(_) = found {
            // Rebuilt state goes to disk before this call's is added, or the next call would rebuild it again.
            states.replace(&self.id, state)?;
        }
        let facts = &decided.evaluation.facts;
        states.update(&self.id, |state: &mut SessionState| self.apply(state, id, decided))?;
        if decided.may_run() {
            self.note_files(states, facts)?;
            self.note_changes(states, id, decided);
            self.note_builds(states, id, facts);
            self.note_left(states, id, facts)?;
            self.note_consent(states, decided)?;
        }
        // A yes that the mode or the user's own rule demanded says nothing about doorward's judgement.
        let is_override = decided.granted && may_be_overridden(decided);
        self.note_pattern(states, &facts.pattern, |state, now_ms| {
            state.count_decision(now_ms);
            if is_override {
                state.count_override(now_ms);
            }
        });
        Ok(())
    }

    /// The current content of files, as recorded.
    pub(crate) fn digests(&self, paths: &[String]) -> FileDigests {
        self.states.as_ref().map(|states| file_digests::digests(paths, states.key())).unwrap_or_default()
    }

    /// A name for a call whose agent gives it none, kept until it ends.
    pub(crate) fn give_name(&self, fingerprint: &str) -> String {
        // The name starts with the fingerprint, so that transcripts can be compared with the record.
        let start = fingerprint.get(..crate::memory::call_ids::FINGERPRINT).unwrap_or_default();
        let id = format!("{start}-{}", crate::memory::call_ids::own_name());
        if let Ok(states) = &self.states {
            // If this fails, the record only lacks the end of the call.
            let _ = states.update(&self.id, |names: &mut CallNames| names.add(fingerprint, &id));
        }
        id
    }

    /// Another fingerprint of a call that has a name: its client will report it as something else.
    pub(crate) fn also_called(&self, fingerprint: &str, id: &str) {
        if let Ok(states) = &self.states {
            // If this fails, the record only lacks the end of the call.
            let _ = states.update(&self.id, |names: &mut CallNames| names.add(fingerprint, id));
        }
    }

    /// The name of the last identical call that has not ended.
    pub(crate) fn take_name(&self, fingerprint: &str) -> Option<String> {
        self.states.as_ref().ok()?.update(&self.id, |names: &mut CallNames| names.take(fingerprint)).ok().flatten()
    }

    /// Notes a session that starts or is resumed.
    pub(crate) fn begin(&self) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        // Doubtful state is left alone: doorward asks about the next call.
        if self.known().found == StateSource::New {
            states.update(&self.id, |state: &mut SessionState| state.began_ms = self.now_ms)?;
        }
        Ok(())
    }

    /// Notes a call that ran; returns whether the user had to be asked first, and so said yes.
    pub(crate) fn note_ran(&self, id: &str) -> bool {
        // The next call finds and handles unreadable state.
        let Ok(states) = &self.states else { return false };
        if !matches!(states.find::<SessionState>(&self.id), Ok(Some(_))) {
            return false;
        }
        let run = |state: &mut SessionState| state.note_run(id);
        let Ok(Some(pattern)) = states.update(&self.id, run) else { return false };
        // Without a pattern the approval was not about calls like this one.
        if !pattern.is_empty() {
            self.note_pattern(states, &pattern, PatternState::count_override);
        }
        true
    }

    /// The user answered a question about a call, so the fact that it runs says nothing more.
    pub(crate) fn close_question(&self, id: &str) {
        if let Ok(states) = &self.states {
            // If this fails, the open question counts as one more answer; this one is recorded anyway.
            let _ = states.update(&self.id, |state: &mut SessionState| state.close(id));
        }
    }

    /// The calls that were asked about and had not run when the session ended.
    pub(crate) fn close_questions(&self) -> Vec<String> {
        match &self.states {
            Ok(states) if matches!(states.find::<SessionState>(&self.id), Ok(Some(_))) => {
                states.update(&self.id, SessionState::close_all).unwrap_or_default()
            }
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    /// What a tool answered holds a secret.
    pub(crate) fn saw_secret(&self) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        let taint = doorward_engine::Taint::SecretRead;
        Ok(states.update(&self.id, |state: &mut SessionState| state.taint(taint.as_str()))?)
    }

    /// There are denials that count towards the limit.
    pub(crate) fn has_denials(&self) -> bool {
        self.known().state.denials() > 0
    }

    /// Resets the counters; everything else stays.
    pub(crate) fn reset(&self) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        Ok(states.update(&self.id, SessionState::reset)?)
    }

    fn apply(&self, state: &mut SessionState, id: &str, decided: &Decided) {
        let mode = decided.mode;
        let Evaluation { facts, judgement, .. } = &decided.evaluation;
        if state.began_ms == 0 {
            state.began_ms = self.now_ms;
        }
        match (judgement.verdict, mode) {
            _ if decided.granted => {
                state.note_grant();
                state.allow_contacts(contacts(facts));
            }
            (Verdict::AutoApprove, _) => {
                state.note_approval();
                state.count_restorable(restorable(facts));
                if facts.effects.iter().any(|effect| effect.operation == Operation::Read) {
                    state.count_read(self.limit, self.now_ms);
                }
            }
            // The user is not asked here, so running is not an approval, and not running is not a refusal.
            (Verdict::Confirm, _) if decided.left_to.is_some() => state.note_deferral(),
            (Verdict::Confirm, _) => {
                state.note_question(id, if may_be_overridden(decided) { &facts.pattern } else { "" });
                state.note_contacts(id, contacts(facts));
            }
            // Shadow mode denies nothing.
            (Verdict::Block, Mode::Shadow | Mode::Off) => {}
            (Verdict::Block, Mode::Auto | Mode::ConfirmAll) => {
                state.note_denial();
                self.look_at_denials(state);
            }
        }
        leaves(decided).iter().for_each(|taint| state.taint(taint));
        if decided.may_run() && may_prompt(facts) {
            state.note_prompts();
        }
    }

    /// Only a denial can exceed the limit, so only denials are checked.
    fn look_at_denials(&self, state: &mut SessionState) {
        // The trial call of `doorward setup` is meant to be denied.
        if self.id.starts_with(TRIAL) {
            return;
        }
        let (row, all, limits) = (state.denials_in_a_row(), state.denials(), Thresholds::default());
        let mut alerts = self.alerts.borrow_mut();
        // Exactly at the limit, so that one run of denials raises one alert.
        if row == limits.denials_in_a_row || all == limits.denials {
            let text = format!("{row} calls in a row and {all} in all were denied");
            alerts.push(AlertBody {
                session: Some(self.id.clone().into()),
                ..new_alert(AlertKind::Breaker, &self.id, &text)
            });
        }
        if state.note_block(self.now_ms) {
            let text = "5 calls were blocked within 10 minutes";
            alerts.push(AlertBody {
                session: Some(self.id.clone().into()),
                ..new_alert(AlertKind::Spike, &self.id, text)
            });
        }
    }

    fn note_files(&self, states: &States, facts: &Facts) -> Result<()> {
        let touched = |wanted: Operation| {
            let path = move |effect: &'_ Effect| match &effect.target {
                Target::Path(path) if effect.operation == wanted => Some((path.clone(), effect.marks)),
                Target::Path(_) | Target::Host(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => None,
            };
            facts.effects.iter().filter_map(path)
        };
        // Only what the facts mark as created: overwriting a file doesn't make it the session's own.
        let created: Vec<String> =
            touched(Operation::Write).filter(|(_, marks)| marks.has(Mark::Creates)).map(|(path, _)| path).collect();
        // `mkdir -p` makes the directories above as well.
        let above: Vec<String> = created.iter().filter_map(|path| temporary::missing_above(path)).collect();
        let deleted: Vec<String> = touched(Operation::Delete).map(|(path, _)| path).collect();
        let had_any = || matches!(states.find::<CreatedState>(&self.id), Ok(Some(_)));
        if created.is_empty() && (deleted.is_empty() || !had_any()) {
            return Ok(());
        }
        let change = |state: &mut CreatedState| {
            deleted.iter().for_each(|path| state.note_removed(path));
            above.iter().chain(&created).for_each(|path| state.note_created(path, self.now_ms));
        };
        if states.update(&self.id, change).is_err() {
            // Forgetting which files are the session's own only leads to more questions.
            states.forget::<CreatedState>(&self.id);
        }
        Ok(())
    }

    /// Remembers which files to check when the call ends.
    fn note_changes(&self, states: &States, id: &str, decided: &Decided) {
        if !decided.before.is_empty() {
            let paths = decided.before.keys().cloned().collect();
            // If this fails, it only stays unknown whether the change was undone.
            let _ = states.update(&self.id, |state: &mut InFlight| state.watch(id, paths));
        }
    }

    /// What the call leaves running keeps running, whatever else happens to the call.
    fn note_left(&self, states: &States, id: &str, facts: &Facts) -> Result<()> {
        if !facts.left.is_empty() {
            states.update(&self.id, |state: &mut InFlight| state.leave(id, &facts.left, self.now_ms))?;
        }
        Ok(())
    }

    /// Failed counts are unknown and change no verdict.
    fn note_pattern(&self, states: &States, pattern: &str, change: impl Fn(&mut PatternState, u64)) {
        let change = |state: &mut PatternState| change(state, self.now_ms);
        if states.update(pattern, change).is_err() {
            states.forget::<PatternState>(pattern);
            let _ = states.update(pattern, change);
        }
    }

    fn known(&self) -> &KnownState {
        self.known.get_or_init(|| match &self.states {
            Ok(states) => match states.find(&self.id) {
                Ok(Some(state)) => KnownState { state, found: StateSource::Kept },
                Ok(None) => match (self.recalled(None), states.find(&self.id)) {
                    // Another call of the session wrote it while we read the log.
                    (KnownState { found: StateSource::Rebuilt(_), .. }, Ok(Some(state))) => {
                        KnownState { state, found: StateSource::Kept }
                    }
                    (recalled, _) => recalled,
                },
                Err(error) => self.recalled(Some(&error)),
            },
            Err(problem) => KnownState::rebuilt(SessionState::default(), problem.clone()),
        })
    }

    /// What the log says about a session whose state is missing or unusable.
    fn recalled(&self, why: Option<&StateError>) -> KnownState {
        let recorded = match Log::open(&self.log) {
            Ok(log) => log.session(&self.id).map_err(|error| error.to_string()),
            Err(LogError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        };
        match (recorded, why) {
            (Ok(None), None) => KnownState { state: SessionState::default(), found: StateSource::New },
            (Ok(Some(state)), None) => KnownState::rebuilt(state, "its state was missing".to_owned()),
            (Ok(state), Some(why)) => KnownState::rebuilt(state.unwrap_or_default(), why.to_string()),
            (Err(error), _) => KnownState::rebuilt(SessionState::default(), error),
        }
    }
}

/// What a call leaves behind for the rest of the session, as recorded.
pub(crate) fn leaves(decided: &Decided) -> Vec<String> {
    if !decided.may_run() {
        return Vec::new();
    }
    left_by(&decided.evaluation.facts).iter().map(|taint| taint.as_str().to_owned()).collect()
}

/// A yes to the call is an override: doorward itself stopped it, in mode `auto`.
fn may_be_overridden(decided: &Decided) -> bool {
    decided.mode == Mode::Auto && !decided.evaluation.is_approved() && decided.demanded.is_none()
}

fn key(state: &Path) -> Result<StateKey, String> {
    StateKey::load_or_create(&state.join("state.key"))
        .context("can't read the session state")
        .map_err(|error| format!("{error:#}"))
}
