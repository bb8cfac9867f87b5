//! An answer that is a refusal: a status, one word for programs, one sentence for people.

use axum::http::StatusCode;
use serde::Serialize;

use crate::store::ingest::Failure;
use crate::store::pool::sentence;

/// Why a request is refused.
#[derive(Debug, Serialize)]
pub(crate) struct Refused {
    #[serde(skip)]
    pub status: StatusCode,
    pub code: &'static str,
    pub error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// The hub's key, where whoever asks may not know it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<String>,
}

impl Refused {
    pub(crate) fn new(status: StatusCode, code: &'static str, error: impl Into<String>) -> Self {
        Self { status, code, error: error.into(), sequence: None, hub: None }
    }
}

impl From<tokio_postgres::Error> for Refused {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", sentence(&error))
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        use doorward_ledger::Refusal;
        let refusal = match failure {
            Failure::Database(error) => return error.into(),
            Failure::Revoked => {
                return Self::new(
                    StatusCode::FORBIDDEN,
                    "revoked",
                    "this edge was revoked; its records are not taken any more",
                );
            }
            Failure::Damaged(what) => {
                let error = format!("what the hub knows of this edge can't be read: {what}");
                return Self::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", error);
            }
            Failure::Refused(refusal) => refusal,
        };
        let (code, sequence) = match &refusal {
            Refusal::Fork { sequence } => ("fork", Some(*sequence)),
            Refusal::Ahead { expected, .. } => ("ahead", Some(*expected)),
            Refusal::Unreadable { sequence, .. }
            | Refusal::Chain { sequence }
            | Refusal::Body { sequence }
            | Refusal::Missing { sequence } => ("forged", Some(*sequence)),
            Refusal::Malformed(_) | Refusal::Signature | Refusal::Key | Refusal::Checkpoint(_) => ("forged", None),
        };
        Self { sequence, ..Self::new(StatusCode::CONFLICT, code, refusal.to_string()) }
    }
}
