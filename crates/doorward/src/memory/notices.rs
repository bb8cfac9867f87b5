//! Which notifications about waiting calls and open alerts were sent, so that each is sent once.

use std::collections::BTreeMap;

use doorward_ledger::State;
use serde::{Deserialize, Serialize};

/// When the last notification was sent, and which notifiers have failed since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LastNotice {
    pub told_ms: u64,
    pub failing: Vec<String>,
}

impl State for LastNotice {
    const NAME: &'static str = "told";
}

/// Which open alerts were delivered, and when the record was last verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PushedAlerts {
    pub alerts: BTreeMap<String, Delivery>,
    pub verified_ms: u64,
    pub verifying_ms: u64,
}

impl State for PushedAlerts {
    const NAME: &'static str = "pushed";
}

/// The delivery state of one alert.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Delivery {
    pub kind: String,
    /// The notifiers that delivered it.
    pub told: Vec<String>,
    /// The notifiers that failed, and why.
    pub failed: BTreeMap<String, String>,
    /// When it was last open.
    pub stood_ms: u64,
    /// The user has acknowledged it since it was delivered.
    pub is_seen: bool,
}
