//! Grants for a judged call: one that fits exactly clears it, once. A call that stays open is added to the queue.

use anyhow::Result;
use doorward_engine::{Clearance, Judgement, Mode, ToolCall, Verdict};
use doorward_ledger::{AnswerBody, By, GrantBody, GrantStep, Reply};

use crate::hook::contained::Rehearsal;
use crate::hook::recorded::Draft;
use crate::hook::settle::Settled;
use crate::machine::paths::Dirs;
use crate::machine::record::{LogEntry, Recorder};
use crate::machine::visible;
use crate::memory::evaluation::{Decided, Evaluation};
use crate::memory::grants::binding::{Binding, GrantSubject, exact_call, policy};
use crate::memory::grants::pending::{Pending, Status, needed};
use crate::memory::grants::repeat::{CallShape, SessionGrant, USES};
use crate::memory::grants::store::{Grant, GrantStore, LASTS_MS};
use crate::memory::session::TRIAL;
use crate::memory::snapshots::UndoNote;
use crate::memory::wording::{MessageParts, PROMPT, REFUSAL};
use crate::policy::load::Loaded;

/// A judged call, and what it takes to find a grant for it.
#[derive(Debug)]
pub(crate) struct GrantCheck<'a> {
    pub dirs: &'a Dirs,
    pub call: &'a ToolCall,
    pub mode: Mode,
    pub loaded: &'a Loaded,
    pub project: Option<&'a str>,
    /// The key that secrets are redacted with.
    pub key: [u8; 16],
    /// What the call did when it was tried in a box.
    pub rehearsal: Option<&'a Rehearsal>,
}

/// A call that the user approved.
#[derive(Debug)]
pub(crate) struct ClearedCall {
    used: GrantBody,
    answer: AnswerBody,
    text: String,
}

/// The result of looking for a grant.
#[derive(Debug)]
pub(crate) enum GrantResult {
    /// No grant, or none that fits, with the reason.
    Nothing(Option<String>),
    Cleared(Box<ClearedCall>),
    /// One that expired.
    Expired(Box<GrantBody>),
}

impl ClearedCall {
    fn record(&self, ledger: &mut dyn Recorder) -> Result<()> {
        let _receipt = ledger.append(LogEntry::new(&self.answer)?)?;
        let _receipt = ledger.append(LogEntry::new(&self.used)?)?;
        Ok(())
    }
}

impl GrantResult {
    pub(crate) fn is_cleared(&self) -> bool {
        matches!(self, GrantResult::Cleared(_))
    }

    /// INVARIANT: durable before the call is let run.
    pub(crate) fn record(&self, ledger: &mut dyn Recorder) -> Result<()> {
        match self {
            GrantResult::Nothing(_) => Ok(()),
            GrantResult::Cleared(cleared) => cleared.record(ledger),
            GrantResult::Expired(body) => ledger.append(LogEntry::new(body.as_ref())?).map(|_receipt| ()),
        }
    }
}

impl GrantCheck<'_> {
    /// The final answer: a grant lets the call run, and a refusal says how to get one.
    pub(crate) fn answer(
        &self,
        settled: Settled,
        found: &GrantResult,
        decided: &Decided,
        about: (&str, UndoNote),
    ) -> Draft {
        let (Settled { draft: decision, advice: instead }, (id, note)) = (settled, about);
        let evaluation = &decided.evaluation;
        let decision = match found {
            GrantResult::Cleared(cleared) => Draft::Allow(visible(&cleared.text).into_owned()),
            GrantResult::Nothing(_) | GrantResult::Expired(_) => decision,
        };
        let note = note.words(&decision);
        if let Draft::Allow(reason) = decision {
            return Draft::Allow(MessageParts { reason, needed: note, ..MessageParts::default() }.fitted(PROMPT));
        }
        if decision == Draft::Silent {
            return decision;
        }
        let hint = crate::hook::offer_hint::hint(self.dirs, self.loaded, decided, self.project);
        let way = self.add_pending(evaluation, (id, matches!(decision, Draft::Ask(_))), hint.as_deref());
        let why = match found {
            GrantResult::Nothing(why) => why.clone(),
            GrantResult::Cleared(_) => None,
            GrantResult::Expired(_) => Some("a person's yes to this call was older than ten minutes".to_owned()),
        };
        let shown = |text: Option<String>| text.map(|text| visible(&text).into_owned());
        let [why, hint, way] = [why, hint, way].map(shown);
        let tried = self.rehearsal.map(|rehearsal| rehearsal.said.clone());
        let behind = |parts: [Option<String>; 4]| parts.into_iter().flatten().collect();
        match decision {
            // A question that can't be asked starts with the command that answers it: clients cut long texts at the end.
            Draft::Deny(reason) if evaluation.judgement.verdict < Verdict::Block => {
                let wanted = behind([why, note, hint, instead]);
                Draft::Deny(MessageParts { first: way, reason, needed: tried, wanted }.fitted(REFUSAL))
            }
            Draft::Deny(reason) => {
                let wanted = behind([why, instead, note, hint]);
                Draft::Deny(MessageParts { reason, needed: way, wanted, ..MessageParts::default() }.fitted(REFUSAL))
            }
            Draft::Ask(reason) => {
                let wanted = behind([why, hint, instead, None]);
                // What it did says more than what it might lose.
                let needed = tried.or(note);
                Draft::Ask(MessageParts { reason, needed, wanted, ..MessageParts::default() }.fitted(PROMPT))
            }
            decision @ (Draft::Allow(_) | Draft::Silent) => decision,
        }
    }

    /// The call is not simply approved, so grants and questions apply.
    fn is_shut(&self, evaluation: &Evaluation) -> bool {
        evaluation.counts_as(self.mode).is_some_and(|verdict| verdict > Verdict::AutoApprove)
    }

    /// Finds a grant and uses it up.
    pub(crate) fn redeem(&self, evaluation: &Evaluation, decision: &str) -> GrantResult {
        let state = self.dirs.state();
        // Two lookups spare most calls the reading of a key and two directories.
        let any = state.join("grants").exists() || state.join("pending").exists();
        if !any || !self.is_shut(evaluation) {
            return GrantResult::Nothing(None);
        }
        let Ok(store) = GrantStore::open_at(self.dirs) else { return GrantResult::Nothing(None) };
        match self.redeem_one(&store, evaluation, decision) {
            GrantResult::Nothing(why) => match self.redeem_repeat(&store, evaluation, decision) {
                Some(cleared) => GrantResult::Cleared(Box::new(cleared)),
                None => GrantResult::Nothing(why),
            },
            found @ (GrantResult::Cleared(_) | GrantResult::Expired(_)) => found,
        }
    }

    fn redeem_one(&self, store: &GrantStore, evaluation: &Evaluation, decision: &str) -> GrantResult {
        let Some(call) = exact_call(self.call) else { return GrantResult::Nothing(None) };
        let look = store.grants.look::<Grant>(&call);
        let Ok(Some(seen)) = look else {
            return GrantResult::Nothing(look.err().map(|error| format!("a grant can't be used: {error}")));
        };
        if !seen.is_current(store.now_ms) {
            // Taken as well, so that exactly one process records that it expired.
            return match store.grants.take::<Grant>(&call) {
                Ok(Some(old)) if old.grant == seen.grant => {
                    GrantResult::Expired(Box::new(self.body(GrantStep::Expired, &old, decision)))
                }
                Ok(_) | Err(_) => GrantResult::Nothing(None),
            };
        }
        let Some(bound) = Binding::of(self.subject(evaluation)) else { return GrantResult::Nothing(None) };
        if let Err(why) = fits(store, &seen, evaluation, &bound) {
            return GrantResult::Nothing(Some(format!("a person's yes to this call does not count: {why}")));
        }
        // INVARIANT: taking it is atomic, so from here on no other process can use it, even if this one dies.
        // Checked again after taking: between the look and now another one may have been stored.
        match store.grants.take::<Grant>(&call) {
            Ok(Some(grant)) if grant == seen => {}
            Ok(_) | Err(_) => return GrantResult::Nothing(Some("the grant was used up by another call".to_owned())),
        }
        // If this fails, the call stays listed as approved until it is forgotten after a day.
        let _ = store.change(&seen.pending, |pending| pending.status = Status::Used);
        let text = format!("doorward lets it run: a person approved exactly this call ({})", seen.pending);
        GrantResult::Cleared(Box::new(ClearedCall {
            used: self.body(GrantStep::Used, &seen, decision),
            answer: answer(decision, seen.why.as_deref()),
            text,
        }))
    }

    /// There is a grant for this call. It is not used up: `check` only looks.
    pub(crate) fn has_grant(&self, evaluation: &Evaluation) -> bool {
        if !self.dirs.state().join("grants.key").exists() || !self.is_shut(evaluation) {
            return false;
        }
        let Ok(store) = GrantStore::open_at(self.dirs) else { return false };
        let is_exact = || {
            let seen = store.grants.look::<Grant>(&exact_call(self.call)?).ok()??;
            let bound = Binding::of(self.subject(evaluation))?;
            Some(seen.is_current(store.now_ms) && fits(&store, &seen, evaluation, &bound).is_ok())
        };
        is_exact() == Some(true) || self.fitting_repeat(&store, evaluation).is_some()
    }

    /// The session grant that covers the call, if there is one.
    fn fitting_repeat(&self, store: &GrantStore, evaluation: &Evaluation) -> Option<SessionGrant> {
        let facts = &evaluation.facts;
        let shape = CallShape::of(facts, &evaluation.judgement).filter(|_| !self.loaded.config.strict)?;
        let name = SessionGrant::name(&self.call.agent, (&self.call.session, &self.call.subagent), &facts.pattern);
        let seen = store.repeat(&name).filter(|repeat| repeat.is_current(store.now_ms))?;
        let is_same = Some(&seen.policy) == policy(self.subject(evaluation)).as_ref() && seen.shape.covers(&shape);
        // The state file could be an old copy put back; the log knows how often it was used.
        let trail = store.trail(&seen.grant).ok()?;
        (is_same && trail.stored && !trail.ended && trail.used < USES).then_some(seen)
    }

    fn redeem_repeat(&self, store: &GrantStore, evaluation: &Evaluation, decision: &str) -> Option<ClearedCall> {
        let seen = self.fitting_repeat(store, evaluation)?;
        let used = store.use_repeat(&seen.own_name(), &seen.grant)?;
        let left = USES.saturating_sub(used.uses);
        Some(ClearedCall {
            used: GrantBody {
                step: GrantStep::Used,
                grant: Some(used.grant),
                of: used.pattern.into(),
                decision: Some(decision.into()),
                session: Some(used.session),
                expires_ms: Some(used.stored_ms.saturating_add(crate::memory::grants::repeat::LASTS_MS)),
                user: crate::machine::user(),
                why: used.why.clone(),
                clears: Some(Clearance::Soft.to_string()),
            },
            answer: answer(decision, used.why.as_deref()),
            text: format!("doorward lets it run: a person approved calls like this in this session, {left} more"),
        })
    }

    /// Adds the call to the queue; returns the sentence that says how to answer it.
    ///
    /// If the agent asks in its own prompt, the user is looking at it already, so a notification is sent only if configured.
    fn add_pending(
        &self,
        evaluation: &Evaluation,
        (decision, is_asked_there): (&str, bool),
        hint: Option<&str>,
    ) -> Option<String> {
        // The trial call of `setup` must be denied, so it does not belong in the queue.
        if !self.is_shut(evaluation) || self.call.session.starts_with(TRIAL) {
            return None;
        }
        let subject = self.subject(evaluation);
        let pending = Pending::new(subject, Binding::of(subject)?, decision, &self.key)?;
        let mut pending = Pending { in_prompt: is_asked_there, ..pending };
        pending.reasons.extend(hint.map(str::to_owned));
        if let Some(rehearsal) = self.rehearsal {
            pending.reasons.push(rehearsal.said.clone());
            pending.changes.clone_from(&rehearsal.changes);
        }
        let (id, is_new) = GrantStore::open_at(self.dirs).and_then(|store| store.add(pending)).ok()?;
        if is_new && (!is_asked_there || self.loaded.config.notify.is_wanted()) {
            crate::hook::notifier::start_for_call(&self.loaded.config.notify, &id);
        }
        let is_block = evaluation.judgement.verdict == Verdict::Block;
        Some(if is_block { way_around(&id) } else { way_to_yes(&id) })
    }

    pub(crate) fn subject<'a>(&'a self, evaluation: &'a Evaluation) -> GrantSubject<'a> {
        GrantSubject {
            call: self.call,
            evaluation,
            mode: self.mode,
            loaded: self.loaded,
            project: self.project,
            home: self.dirs.home(),
        }
    }

    fn body(&self, step: GrantStep, grant: &Grant, decision: &str) -> GrantBody {
        GrantBody {
            step,
            grant: Some(grant.grant.clone()),
            of: grant.bound.call.clone(),
            decision: Some(decision.into()),
            session: Some(self.call.session.clone()),
            expires_ms: Some(grant.stored_ms.saturating_add(LASTS_MS)),
            user: crate::machine::user(),
            why: grant.why.clone(),
            clears: Some(grant.clears.to_string()),
        }
    }
}

impl UndoNote {
    /// What the answer adds about undoing the call. Only `doorward approve` makes a copy first.
    pub(crate) fn words(self, decision: &Draft) -> Option<String> {
        const GONE: &str = "what it deletes or overwrites cannot be brought back";
        const COPIED: &str = "what it deletes is then copied first, if it fits";
        match (self, decision) {
            (UndoNote::Nothing, _) | (UndoNote::Loses, Draft::Allow(_) | Draft::Silent) => None,
            (UndoNote::Loses, Draft::Deny(_)) => Some(COPIED.to_owned()),
            (UndoNote::Loses, Draft::Ask(_)) => Some(GONE.to_owned()),
            (UndoNote::Says(note), _) => Some(visible(&note).into_owned()),
        }
    }
}

/// How to override a block; `doorward approve` itself says what that takes.
pub(crate) fn way_around(id: &str) -> String {
    format!("`doorward approve {id}` overrides it")
}

/// How to approve a refused call.
pub(crate) fn way_to_yes(id: &str) -> String {
    format!("Run `doorward approve {id}` in a terminal, then retry")
}

/// A question that a reviewer or a rule may answer for the user.
pub(crate) fn is_soft(judgement: &Judgement) -> bool {
    judgement.verdict == Verdict::Confirm && needed(judgement) == Clearance::Soft
}

/// A question that one key or the agent's own prompt may answer; anything harder needs the explicit command.
pub(crate) fn is_for_one_key(judgement: &Judgement) -> bool {
    needed(judgement) <= Clearance::Firm
}

/// Fails with the reason if a grant does not fit the call.
fn fits(store: &GrantStore, grant: &Grant, evaluation: &Evaluation, bound: &Binding) -> Result<(), String> {
    if let Some(difference) = grant.bound.difference(bound) {
        return Err(difference);
    }
    if needed(&evaluation.judgement) > grant.clears {
        return Err("the call is riskier now than when it was approved".to_owned());
    }
    // A grant that only exists as a file was not made by `doorward approve`.
    let trail = store.trail(&grant.grant).map_err(|error| format!("the record can't be read: {error:#}"))?;
    match (trail.stored, trail.used, trail.ended) {
        (false, _, _) => Err("it is not on record".to_owned()),
        (true, 0, false) => Ok(()),
        (true, _, _) => Err("it was used before".to_owned()),
    }
}

fn answer(decision: &str, why: Option<&str>) -> AnswerBody {
    AnswerBody { decision: decision.into(), reply: Reply::Approved, by: By::Person, why: why.map(str::to_owned) }
}
