//! Signing in: with a start link's code, or with the key of a paired device; and how a device asks to be paired.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::exchange::{Answer, Ask, Refusal};
use super::room::{Room, locked};
use super::signature::is_signed;
use super::store::{Device, bytes_of};
use super::tokens::Visitor;
use crate::machine::clock::now_ms;

/// Longer names don't fit a line of the terminal that decides about them.
const NAME: usize = 60;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    code: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Who {
    device: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signed {
    statement: String,
    signature: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    code: String,
    statement: String,
    signature: String,
}

/// What a device signs to be signed in.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoginStatement {
    doorward: String,
    origin: String,
    device: String,
    nonce: String,
}

/// What a device signs to be paired: it has the key that it names.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairStatement {
    doorward: String,
    origin: String,
    key: String,
    algorithm: String,
    name: String,
}

/// A start link: good once, on this machine, and only for looking.
pub(super) fn start(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let Start { code } = ask.json()?;
    if !ask.is_local {
        return Err(Refusal::new(403, "a start link works only on the machine that printed it"));
    }
    if !room.store()?.use_start(&code) {
        return Err(Refusal::new(403, "this link was used or has expired"));
    }
    issue(room, None)
}

/// What a device has to sign.
pub(super) fn login_challenge(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let Who { device } = ask.json()?;
    // The same answer for every device, known or not: only a signature tells.
    let statement = LoginStatement {
        doorward: "login 1".to_owned(),
        origin: ask.origin.clone(),
        device: device.chars().take(64).collect(),
        nonce: locked(&room.nonces).issue()?,
    };
    Answer::json(&json!({ "statement": text(&statement)? }))
}

/// Signs a device in.
pub(super) fn login(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let Signed { statement, signature } = ask.json()?;
    let refused = || Refusal::new(403, "this device is not paired");
    let said: LoginStatement = serde_json::from_str(&statement).map_err(|_| refused())?;
    let is_fresh = locked(&room.nonces).take(&said.nonce);
    let device = room.device(&said.device).ok_or_else(refused)?;
    let is_meant = is_fresh && said.doorward == "login 1" && said.origin == ask.origin;
    if !is_meant || !is_signed(&device.algorithm, &device.key, &statement, &signature) {
        return Err(refused());
    }
    issue(room, Some(device.id))
}

fn issue(room: &Room, device: Option<String>) -> Result<Answer, Refusal> {
    let token = locked(&room.tokens).issue(Visitor { device })?;
    Answer::json(&json!({ "token": token }))
}

/// A device shows the code and its key. The person at the terminal decides.
pub(super) fn pair(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let Claim { code, statement, signature } = ask.json()?;
    let said: PairStatement =
        serde_json::from_str(&statement).map_err(|_| Refusal::new(400, "the statement can't be read"))?;
    let is_meant = said.doorward == "pair 1" && said.origin == ask.origin;
    if !is_meant || !is_signed(&said.algorithm, &said.key, &statement, &signature) {
        return Err(Refusal::new(403, "the signature does not fit the key"));
    }
    let name = doorward_pages::visible(said.name.trim()).replace('\n', " ");
    if name.is_empty() || name.chars().count() > NAME {
        return Err(Refusal::new(400, format!("a name has between 1 and {NAME} letters")));
    }
    let id = Device::id_of(&bytes_of(&said.key).unwrap_or_default());
    let store = room.store()?;
    // A key that was revoked stays revoked, whatever its browser calls itself now.
    if store.device(&id).is_some() {
        return Err(Refusal::new(409, "this key was paired before; pair again with a new one"));
    }
    let device = Device { id, name, algorithm: said.algorithm, key: said.key, paired_ms: now_ms(), revoked_ms: None };
    store.claim(&code, &device).map_err(|why| Refusal::new(403, why))?;
    Answer::json(&json!({ "device": device.id, "words": device.words() }))
}

/// Whether the terminal has decided.
pub(super) fn pair_state(room: &Room, ask: &Ask) -> Result<Answer, Refusal> {
    let Who { device } = ask.json()?;
    let store = room.store()?;
    let waits = store.pairing().is_some_and(|pairing| {
        !pairing.is_refused && pairing.until_ms >= now_ms() && pairing.claim.is_some_and(|claim| claim.id == device)
    });
    let state = match store.good_device(&device) {
        Some(_) => "paired",
        None if waits => "waiting",
        None => "refused",
    };
    Answer::json(&json!({ "state": state }))
}

fn text(statement: &impl Serialize) -> Result<String, Refusal> {
    serde_json::to_string(statement).map_err(|error| Refusal::new(500, error.to_string()))
}
