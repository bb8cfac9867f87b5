//! What a person was told of waiting calls and standing alerts, so that each is told once.

use std::collections::BTreeMap;

use doorward_ledger::State;
use serde::{Deserialize, Serialize};

/// When somebody was last told, and who could not be reached since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    pub told_ms: u64,
    pub failing: Vec<String>,
}

impl State for Told {
    const NAME: &'static str = "told";
}

/// What was told of the alerts that stand, and when the record was last verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pushed {
    pub alerts: BTreeMap<String, Delivery>,
    pub verified_ms: u64,
    pub verifying_ms: u64,
}

impl State for Pushed {
    const NAME: &'static str = "pushed";
}

/// What became of one alert.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delivery {
    pub kind: String,
    /// The ways in which it was told.
    pub told: Vec<String>,
    /// The ways in which it could not be, and why.
    pub failed: BTreeMap<String, String>,
    /// When it last stood.
    pub stood_ms: u64,
    /// A person has seen it since it was told.
    pub is_seen: bool,
}
