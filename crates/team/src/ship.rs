//! Sends the log: from where the hub says it is, until nothing is left. Nothing is copied aside, so no disk fills up.

use doorward_ledger::{Hash, Log, ReadError, SHIPMENT_BYTES, ShipError, SigningKey, Storage};
use serde::{Deserialize, Serialize};

use crate::hub::{Failure, Hub, now_ms};

/// The last record that a hub holds of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its place; 0 if there is none yet.
    pub sequence: u64,
    /// Its hash.
    pub hash: Option<Hash>,
}

/// What shipping did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// How many records arrived now.
    pub records: u64,
    /// The last record that the hub holds.
    pub head: Head,
}

/// Why shipping stopped. Whatever was acknowledged before has arrived.
#[derive(Debug, thiserror::Error)]
pub enum ShipFailure {
    /// The hub.
    #[error(transparent)]
    Hub(#[from] Failure),
    /// The log.
    #[error(transparent)]
    Log(#[from] ShipError),
    /// Reading one record.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Two histories: the hub holds another record under the same number, or one that is gone here.
    #[error(
        "the hub holds another history of this log from record {sequence} on: the log was copied, replaced or cut off here. Nothing is overwritten; `doorward audit verify` checks the log, and a fresh enrolment starts a new history"
    )]
    Fork {
        /// The first record known to differ.
        sequence: u64,
    },
}

impl ShipFailure {
    /// Whether the same may work later.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        match self {
            Self::Hub(failure) => failure.is_passing(),
            Self::Log(_) | Self::Read(_) | Self::Fork { .. } => false,
        }
    }
}

/// Sends everything that the hub does not hold; `told` hears how far it is.
pub fn ship<S: Storage>(
    log: &Log<S>,
    checkpoint_key: &SigningKey,
    hub: &Hub,
    mut told: impl FnMut(Head),
) -> Result<Shipped, ShipFailure> {
    let mut head: Head = read(&hub.get("/v1/edge")?)?;
    same_history(log, head)?;
    let start = head.sequence;
    while let Some(shipment) = log.shipment(head.sequence, SHIPMENT_BYTES, (checkpoint_key, now_ms()))? {
        let reply = hub.post("/v1/shipments", &shipment.bytes).map_err(fork)?;
        let acknowledged: Head = read(&reply)?;
        if acknowledged.sequence != shipment.last {
            // Somebody else ships this log at the same time; both go on from what is held.
            same_history(log, acknowledged)?;
            if acknowledged.sequence <= head.sequence {
                let why = "it acknowledged nothing and gave no reason".to_owned();
                return Err(Failure::Busy(why).into());
            }
        }
        head = acknowledged;
        told(head);
    }
    Ok(Shipped { records: head.sequence.saturating_sub(start), head })
}

/// The hub's last record must be ours.
fn same_history<S: Storage>(log: &Log<S>, head: Head) -> Result<(), ShipFailure> {
    let Some(hash) = head.hash else { return Ok(()) };
    match log.record(head.sequence)? {
        Some(record) if record.hash == hash => Ok(()),
        Some(_) | None => Err(ShipFailure::Fork { sequence: head.sequence }),
    }
}

/// A fork that the hub noticed.
fn fork(failure: Failure) -> ShipFailure {
    match failure {
        Failure::Refused(said) if said.code == "fork" => {
            ShipFailure::Fork { sequence: said.sequence.unwrap_or_default() }
        }
        Failure::Refused(_)
        | Failure::Unreachable { .. }
        | Failure::Busy(_)
        | Failure::Untrusted { .. }
        | Failure::Unusable(_) => failure.into(),
    }
}

fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::Unusable(format!("the hub's answer can't be read: {error}")))
}
