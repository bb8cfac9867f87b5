//! After a call was judged: a grant that fits exactly clears what it may, once; what stays open is put down for a person.

use anyhow::Result;
use doorward_engine::{Clearance, Judgement, Mode, ToolCall, Verdict};
use doorward_ledger::{AnswerBody, By, GrantBody, GrantStep, Reply};

use crate::hook::recorded::Draft;
use crate::hook::settle::Settled;
use crate::machine::paths::Dirs;
use crate::machine::record::{Entry, Recorder};
use crate::machine::visible;
use crate::memory::evaluation::{Decided, Evaluation};
use crate::memory::grants::binding::{Bound, Subject, exact_call, policy};
use crate::memory::grants::pending::{Pending, Status, needed};
use crate::memory::grants::repeat::{Repeat, Shape, USES};
use crate::memory::grants::store::{Desk, Grant, LASTS_MS};
use crate::memory::session::TRIAL;
use crate::memory::snapshots::Note;
use crate::memory::wording::{PROMPT, REFUSAL, Speech};
use crate::policy::load::Loaded;

/// A judged call, and what is needed to look for a grant for it.
#[derive(Debug)]
pub(crate) struct GrantCheck<'a> {
    pub dirs: &'a Dirs,
    pub call: &'a ToolCall,
    pub mode: Mode,
    pub loaded: &'a Loaded,
    pub project: Option<&'a str>,
    /// What secrets are redacted with.
    pub key: [u8; 16],
}

/// A call that a person has let run.
#[derive(Debug)]
pub(crate) struct Cleared {
    used: GrantBody,
    answer: AnswerBody,
    text: String,
}

/// What a look at the grants found.
#[derive(Debug)]
pub(crate) enum Found {
    /// No grant, or none that fits; if there is one, why it does not.
    Nothing(Option<String>),
    Cleared(Box<Cleared>),
    /// One whose time has run out.
    Expired(Box<GrantBody>),
}

impl Cleared {
    fn record(&self, ledger: &mut dyn Recorder) -> Result<()> {
        let _receipt = ledger.append(Entry::new(&self.answer)?)?;
        let _receipt = ledger.append(Entry::new(&self.used)?)?;
        Ok(())
    }
}

impl Found {
    pub(crate) fn is_cleared(&self) -> bool {
        matches!(self, Found::Cleared(_))
    }

    /// INVARIANT: durable before the call is let run.
    pub(crate) fn record(&self, ledger: &mut dyn Recorder) -> Result<()> {
        match self {
            Found::Nothing(_) => Ok(()),
            Found::Cleared(cleared) => cleared.record(ledger),
            Found::Expired(body) => ledger.append(Entry::new(body.as_ref())?).map(|_receipt| ()),
        }
    }
}

impl GrantCheck<'_> {
    /// What the agent is told in the end: a grant lets the call run; a refusal names the way to one.
    pub(crate) fn answer(&self, settled: Settled, found: &Found, decided: &Decided, about: (&str, Note)) -> Draft {
        let (Settled { draft: decision, way: instead }, (id, note)) = (settled, about);
        let considered = &decided.evaluation;
        let decision = match found {
            Found::Cleared(cleared) => Draft::Allow(visible(&cleared.text).into_owned()),
            Found::Nothing(_) | Found::Expired(_) => decision,
        };
        let note = note.words(&decision);
        if let Draft::Allow(reason) = decision {
            return Draft::Allow(Speech { reason, needed: note, ..Speech::default() }.fitted(PROMPT));
        }
        if decision == Draft::Silent {
            return decision;
        }
        let hint = crate::hook::offer_hint::hint(self.dirs, self.loaded, decided, self.project);
        let way = self.put_down(considered, (id, matches!(decision, Draft::Ask(_))), hint.as_deref());
        let why = match found {
            Found::Nothing(why) => why.clone(),
            Found::Cleared(_) => None,
            Found::Expired(_) => Some("a person's yes to this call was older than ten minutes".to_owned()),
        };
        let shown = |text: Option<String>| text.map(|text| visible(&text).into_owned());
        let [why, hint, way] = [why, hint, way].map(shown);
        let behind = |parts: [Option<String>; 4]| parts.into_iter().flatten().collect();
        match decision {
            // A question that nobody can be asked begins with what answers it: clients cut long texts at their end.
            Draft::Deny(reason) if considered.judgement.verdict < Verdict::Block => {
                let wanted = behind([why, note, hint, instead]);
                Draft::Deny(Speech { first: way, reason, needed: None, wanted }.fitted(REFUSAL))
            }
            Draft::Deny(reason) => {
                let wanted = behind([why, instead, note, hint]);
                Draft::Deny(Speech { reason, needed: way, wanted, ..Speech::default() }.fitted(REFUSAL))
            }
            Draft::Ask(reason) => {
                let wanted = behind([why, hint, instead, None]);
                Draft::Ask(Speech { reason, needed: note, wanted, ..Speech::default() }.fitted(PROMPT))
            }
            decision @ (Draft::Allow(_) | Draft::Silent) => decision,
        }
    }

    /// Whether this call is one that grants and questions are about at all.
    fn is_shut(&self, considered: &Evaluation) -> bool {
        considered.counts_as(self.mode).is_some_and(|verdict| verdict > Verdict::AutoApprove)
    }

    /// Looks for a grant and uses it up.
    pub(crate) fn redeem(&self, considered: &Evaluation, decision: &str) -> Found {
        let state = self.dirs.state();
        let any = state.join("grants").exists() || state.join("pending").exists();
        if !any || !self.is_shut(considered) {
            return Found::Nothing(None);
        }
        let Ok(desk) = Desk::of(self.dirs) else { return Found::Nothing(None) };
        match self.redeem_one(&desk, considered, decision) {
            Found::Nothing(why) => match self.redeem_repeat(&desk, considered, decision) {
                Some(cleared) => Found::Cleared(Box::new(cleared)),
                None => Found::Nothing(why),
            },
            found @ (Found::Cleared(_) | Found::Expired(_)) => found,
        }
    }

    fn redeem_one(&self, desk: &Desk, considered: &Evaluation, decision: &str) -> Found {
        let Some(call) = exact_call(self.call) else { return Found::Nothing(None) };
        let look = desk.grants.look::<Grant>(&call);
        let Ok(Some(seen)) = look else {
            return Found::Nothing(look.err().map(|error| format!("a grant cannot be used: {error}")));
        };
        if !seen.is_current(desk.now_ms) {
            return match desk.grants.take::<Grant>(&call) {
                Ok(Some(old)) if old.grant == seen.grant => {
                    Found::Expired(Box::new(self.body(GrantStep::Expired, &old, decision)))
                }
                Ok(_) | Err(_) => Found::Nothing(None),
            };
        }
        let Some(bound) = Bound::of(self.subject(considered)) else { return Found::Nothing(None) };
        if let Err(why) = fits(desk, &seen, considered, &bound) {
            return Found::Nothing(Some(format!("a person's yes to this call does not count: {why}")));
        }
        // INVARIANT: from here on nobody else can use it, whatever happens to this process.
        match desk.grants.take::<Grant>(&call) {
            Ok(Some(grant)) if grant == seen => {}
            Ok(_) | Err(_) => return Found::Nothing(Some("the grant was used up by another call".to_owned())),
        }
        // A leftover is a pending call that says it was approved and is forgotten after a day.
        let _ = desk.change(&seen.pending, |pending| pending.status = Status::Used);
        let text = format!("doorward lets it run: a person approved exactly this call ({})", seen.pending);
        Found::Cleared(Box::new(Cleared {
            used: self.body(GrantStep::Used, &seen, decision),
            answer: answer(decision, seen.why.as_deref()),
            text,
        }))
    }

    /// A person's yes waits for this call; it is left where it is, for whoever only looks.
    pub(crate) fn has_grant(&self, considered: &Evaluation) -> bool {
        if !self.dirs.state().join("grants.key").exists() || !self.is_shut(considered) {
            return false;
        }
        let Ok(desk) = Desk::of(self.dirs) else { return false };
        let is_exact = || {
            let seen = desk.grants.look::<Grant>(&exact_call(self.call)?).ok()??;
            let bound = Bound::of(self.subject(considered))?;
            Some(seen.is_current(desk.now_ms) && fits(&desk, &seen, considered, &bound).is_ok())
        };
        is_exact() == Some(true) || self.fitting_repeat(&desk, considered).is_some()
    }

    /// The session's grant that covers the call, if it has one.
    fn fitting_repeat(&self, desk: &Desk, considered: &Evaluation) -> Option<Repeat> {
        let facts = &considered.facts;
        let shape = Shape::of(facts, &considered.judgement).filter(|_| !self.loaded.config.strict)?;
        let name = Repeat::name(&self.call.agent, (&self.call.session, &self.call.subagent), &facts.pattern);
        let seen = desk.repeat(&name).filter(|repeat| repeat.is_current(desk.now_ms))?;
        let is_same = Some(&seen.policy) == policy(self.subject(considered)).as_ref() && seen.shape.covers(&shape);
        let trail = desk.trail(&seen.grant).ok()?;
        (is_same && trail.stored && !trail.ended && trail.used < USES).then_some(seen)
    }

    fn redeem_repeat(&self, desk: &Desk, considered: &Evaluation, decision: &str) -> Option<Cleared> {
        let seen = self.fitting_repeat(desk, considered)?;
        let used = desk.use_repeat(&seen.own_name(), &seen.grant)?;
        let left = USES.saturating_sub(used.uses);
        Some(Cleared {
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

    /// Puts the call down for a person; yields the words that name the way to an answer.
    ///
    /// Where the agent itself asks, whoever sits there sees it; a note on the desktop only tells them if they want it.
    fn put_down(
        &self,
        considered: &Evaluation,
        (decision, is_asked_there): (&str, bool),
        hint: Option<&str>,
    ) -> Option<String> {
        if !self.is_shut(considered) || self.call.session.starts_with(TRIAL) {
            return None;
        }
        let subject = self.subject(considered);
        let pending = Pending::new(subject, Bound::of(subject)?, decision, &self.key)?;
        let mut pending = Pending { in_prompt: is_asked_there, ..pending };
        pending.reasons.extend(hint.map(str::to_owned));
        let (id, is_new) = Desk::of(self.dirs).and_then(|desk| desk.put(pending)).ok()?;
        if is_new && (!is_asked_there || self.loaded.config.notify.is_wanted()) {
            crate::hook::notifier::start(&self.loaded.config.notify, &id);
        }
        let is_block = considered.judgement.verdict == Verdict::Block;
        Some(if is_block { way_around(&id) } else { way_to_yes(&id) })
    }

    fn subject<'a>(&'a self, considered: &'a Evaluation) -> Subject<'a> {
        Subject {
            call: self.call,
            considered,
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

impl Note {
    /// What is said behind this answer. Only a yes over `doorward approve` copies first.
    pub(crate) fn words(self, decision: &Draft) -> Option<String> {
        const GONE: &str = "what it deletes or overwrites cannot be brought back";
        const COPIED: &str = "what it deletes is then copied first, if it fits";
        match (self, decision) {
            (Note::Nothing, _) | (Note::Loses, Draft::Allow(_) | Draft::Silent) => None,
            (Note::Loses, Draft::Deny(_)) => Some(COPIED.to_owned()),
            (Note::Loses, Draft::Ask(_)) => Some(GONE.to_owned()),
            (Note::Says(note), _) => Some(visible(&note).into_owned()),
        }
    }
}

/// What lets a blocked call run; `doorward approve` itself says what it takes.
pub(crate) fn way_around(id: &str) -> String {
    format!("`doorward approve {id}` overrides it")
}

/// What a person types to let a refused call run.
pub(crate) fn way_to_yes(id: &str) -> String {
    format!("Run `doorward approve {id}` in a terminal, then retry")
}

/// A question that a reviewer or a rule may answer in the person's place.
pub(crate) fn is_soft(judgement: &Judgement) -> bool {
    judgement.verdict == Verdict::Confirm && needed(judgement) == Clearance::Soft
}

/// A question that one key or a native yes may answer; anything harder wants the explicit command.
pub(crate) fn is_for_one_key(judgement: &Judgement) -> bool {
    needed(judgement) <= Clearance::Firm
}

/// Why a grant does not fit the call, if it does not.
fn fits(desk: &Desk, grant: &Grant, considered: &Evaluation, bound: &Bound) -> Result<(), String> {
    if let Some(difference) = grant.bound.difference(bound) {
        return Err(difference);
    }
    if needed(&considered.judgement) > grant.clears {
        return Err("the call is riskier by now than what was approved".to_owned());
    }
    let trail = desk.trail(&grant.grant).map_err(|error| format!("the record cannot be asked: {error:#}"))?;
    match (trail.stored, trail.used, trail.ended) {
        (false, _, _) => Err("the record does not know it".to_owned()),
        (true, 0, false) => Ok(()),
        (true, _, _) => Err("it was used before".to_owned()),
    }
}

fn answer(decision: &str, why: Option<&str>) -> AnswerBody {
    AnswerBody { decision: decision.into(), reply: Reply::Approved, by: By::Person, why: why.map(str::to_owned) }
}
