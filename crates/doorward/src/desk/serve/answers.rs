//! Answers from a paired device: what it is asked to sign, what is checked when the signature comes back, what is recorded.

use doorward_engine::Clearance;
use doorward_ledger::{DeviceBody, DeviceStep, Filter, Kind, Row};
use serde::Deserialize;
use serde_json::json;

use super::cards;
use super::driven;
use super::exchange::{Answer, Ask, Refusal};
use super::room::{Room, locked};
use super::signature::{ANSWER, AnswerStatement, AnswerVerdict, entry, is_signed};
use super::store::Device;
use super::tokens::NONCE;
use crate::desk::grants::answer::{self, ApprovalStep, ApprovedBy};
use crate::desk::review::offer::{self, OfferKind};
use crate::machine::clock::now_ms;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::grants::Pending;
use crate::memory::grants::store::GrantStore;

/// What a person wants to answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    verdict: AnswerVerdict,
    #[serde(default)]
    word: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signed {
    statement: String,
    signature: String,
}

/// What trusting the project, or always allowing the call, would change; and the word that confirms it.
pub(super) fn offer(room: &Room, ask: &Ask, id: &str) -> Result<Answer, Refusal> {
    let wish: Wish = ask.json()?;
    own_device(room, ask)?;
    let kind = kind(wish.verdict).ok_or_else(|| Refusal::new(400, "only `trust` and `always` have a second step"))?;
    let shown = offer::prepare(&room.dirs, id, kind).map_err(|error| conflict(&error))?;
    Answer::json(&json!({ "lines": shown.lines, "word": shown.word }))
}

/// The text to sign for an answer.
pub(super) fn challenge(room: &Room, ask: &Ask, id: &str) -> Result<Answer, Refusal> {
    let wish: Wish = ask.json()?;
    let device = own_device(room, ask)?;
    let pending = waiting(room, id, wish.verdict)?;
    let nonce = locked(&room.nonces).issue()?;
    let statement = AnswerStatement {
        device: device.id,
        origin: ask.origin.clone(),
        verdict: wish.verdict,
        word: wish.word,
        expires_ms: now_ms().saturating_add(u64::try_from(NONCE.as_millis()).unwrap_or_default()),
        nonce,
        ..about(&pending)
    };
    let statement = serde_json::to_string(&statement).map_err(|error| Refusal::new(500, error.to_string()))?;
    Answer::json(&json!({ "statement": statement }))
}

/// Carries out a signed answer.
pub(super) fn accept(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let Signed { statement, signature } = ask.json()?;
    let device = own_device(room, ask)?;
    let said: AnswerStatement =
        serde_json::from_str(&statement).map_err(|_| Refusal::new(400, "the statement can't be read"))?;
    if !is_signed(&device.algorithm, &device.key, &statement, &signature) {
        return Err(Refusal::new(403, "the signature is not this device's"));
    }
    if !is_on_record(room, &device)? {
        return Err(Refusal::new(403, "this device's pairing is not on record; pair it again"));
    }
    // One answer at a time: of two tabs that answer the same call, the second finds it answered.
    let _turn = locked(&room.answering);
    // Used up before anything else is looked at, so the same answer never arrives twice.
    if !locked(&room.nonces).take(&said.nonce) || !is_current(said.expires_ms) {
        return Err(Refusal::new(409, "this answer was given before or came too late; answer again"));
    }
    let pending = waiting(room, &said.id, said.verdict)?;
    let meant = AnswerStatement {
        device: device.id.clone(),
        origin: ask.origin.clone(),
        verdict: said.verdict,
        word: said.word.clone(),
        expires_ms: said.expires_ms,
        nonce: said.nonce.clone(),
        ..about(&pending)
    };
    if said != meant {
        return Err(Refusal::new(409, "this call changed since it was shown; look again"));
    }
    if said.verdict != AnswerVerdict::Refuse && ask.is_local {
        driven::check(room)?;
    }
    let mut ledger = Ledger::open(&room.dirs);
    let body = DeviceBody {
        decision: Some(pending.decision.clone()),
        statement: Some(statement),
        signature: Some(signature),
        ..entry(DeviceStep::Answered, &device)
    };
    // INVARIANT: the signed answer is durable before anything follows from it. If the server ends here, there is no grant.
    let _receipt = ledger.append(LogEntry::new(&body)?)?;
    let message = carry_out(room, &mut ledger, &said, &device).map_err(|error| conflict(&error))?;
    Answer::json(&json!({ "message": message }))
}

fn carry_out(room: &Room, ledger: &mut Ledger, said: &AnswerStatement, device: &Device) -> anyhow::Result<String> {
    let store = GrantStore::open_at(&room.dirs)?;
    let (id, why) = (said.id.as_str(), Some(format!("answered on `{}` ({})", device.name, device.id)));
    match said.verdict {
        AnswerVerdict::Refuse => answer::refuse(&store, ledger, id, why).map(|()| format!("Refused {id}.")),
        AnswerVerdict::Approve => Ok(match answer::approve(&store, ledger, id, ApprovedBy::Key, why)? {
            ApprovalStep::Granted => format!("Approved {id}: the same call can run once within the next ten minutes."),
            ApprovalStep::Committed(changes) => format!("Approved {id}: its changes are in place ({changes})."),
            ApprovalStep::FirstOfTwo(_) => anyhow::bail!("this call can only be approved at a terminal"),
        }),
        AnswerVerdict::Trust | AnswerVerdict::Always => {
            let Some(kind) = kind(said.verdict) else { anyhow::bail!("nothing to accept") };
            let shown = offer::prepare(&room.dirs, id, kind)?;
            if shown.word != said.word.trim() {
                anyhow::bail!("that is not `{}`; nothing was changed", shown.word);
            }
            offer::accept(&room.dirs, &shown)
        }
    }
}

const fn kind(verdict: AnswerVerdict) -> Option<OfferKind> {
    match verdict {
        AnswerVerdict::Trust => Some(OfferKind::Trust),
        AnswerVerdict::Always => Some(OfferKind::Always),
        AnswerVerdict::Approve | AnswerVerdict::Refuse => None,
    }
}

/// The statement's part that is about the call.
fn about(pending: &Pending) -> AnswerStatement {
    let bound = cards::bound(pending);
    AnswerStatement {
        doorward: ANSWER.to_owned(),
        id: pending.id.clone(),
        decision: bound.decision,
        call: bound.call,
        cwd: bound.cwd,
        effects: bound.effects,
        operands: bound.operands,
        policy: bound.policy,
        ..AnswerStatement::default()
    }
}

/// The call, if this kind of answer to it can be given here.
fn waiting(room: &Room, id: &str, verdict: AnswerVerdict) -> Result<Pending, Refusal> {
    let store = GrantStore::open_at(&room.dirs)?;
    if verdict == AnswerVerdict::Refuse {
        // What was approved can be taken back, too.
        return store.pending(id)?.ok_or_else(|| Refusal::new(404, "no call has this id"));
    }
    if store.pending(id)?.is_none() {
        return Err(Refusal::new(404, "no call has this id"));
    }
    let pending = answer::answerable(&store, id).map_err(|error| conflict(&error))?;
    if pending.needs() > Clearance::Firm {
        return Err(Refusal::new(
            409,
            format!("this call can only be approved in a terminal: `doorward approve {id}`"),
        ));
    }
    Ok(pending)
}

/// Whether a text to sign is still good. One from the future was made before the clock was set back.
fn is_current(expires_ms: u64) -> bool {
    let (now, lasts) = (now_ms(), u64::try_from(NONCE.as_millis()).unwrap_or_default());
    now <= expires_ms && expires_ms <= now.saturating_add(lasts + 2_000)
}

/// The paired device that asks. A start link can look, and nothing else.
fn own_device(room: &Room, ask: &Ask) -> Result<Device, Refusal> {
    let device = ask.visitor.as_ref().and_then(|visitor| visitor.device.as_deref());
    let Some(device) = device else {
        return Err(Refusal::new(403, "only a paired device can answer; run `doorward serve --pair`"));
    };
    room.device(device).ok_or_else(|| Refusal::new(403, "this device is not paired any more"))
}

/// A device that only exists as a file was not paired at a terminal.
fn is_on_record(room: &Room, device: &Device) -> Result<bool, Refusal> {
    let (view, index) = room.record()?;
    let rows = index.list(&Filter { kind: Some(Kind::Device), ..Filter::default() }).map_err(anyhow::Error::from)?;
    let is_about = |row: &&Row| row.by.as_deref() == Some(&device.id) && row.step.as_deref() != Some("answered");
    let Some(last) = rows.iter().find(is_about).filter(|row| row.step.as_deref() == Some("paired")) else {
        return Ok(false);
    };
    let record = view.log.record(last.sequence).map_err(anyhow::Error::from)?;
    let body: Option<DeviceBody> = record.and_then(|record| serde_json::from_slice(&record.body?).ok());
    Ok(body.is_some_and(|body| body.key == device.key && body.algorithm == device.algorithm))
}

fn conflict(error: &anyhow::Error) -> Refusal {
    Refusal::new(409, format!("{error:#}"))
}
