//! What `judge` judges by: mode, rules, permission patterns and thresholds, under one version.

use crate::knowledge::rule::Rule;
use crate::words::words;

words! {
    /// How an agent is run.
    Mode {
        Auto = "auto" : "judge every call",
        Shadow = "shadow" : "record what would have been decided, leave the client's own flow",
        ConfirmAll = "confirm-all" : "approve nothing",
        Off = "off" : "the client's own flow",
    }
}

/// Confidence below which layer 2 asks instead of guessing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    pub confidence: f64,
    pub irreversible: f64,
    pub reads_per_minute: u32,
    pub read_burst: u32,
    pub denials_in_a_row: u32,
    pub denials: u32,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            confidence: 0.85,
            irreversible: 0.95,
            reads_per_minute: 300,
            read_burst: 60,
            denials_in_a_row: 3,
            denials: 20,
        }
    }
}

/// Everything that `judge` judges by.
#[derive(Clone, Debug)]
pub struct Policy {
    pub mode: Mode,
    pub rules: Vec<Rule>,
    pub permissions: crate::permissions::Permissions,
    pub thresholds: Thresholds,
    pub strict: bool,
    /// One name for all of the above.
    pub version: String,
}

impl Policy {
    /// The built-in rules in mode `auto`.
    pub fn built_in() -> Policy {
        let rules = crate::knowledge::built_in().rules().unwrap_or_default();
        Policy {
            mode: Mode::Auto,
            version: format!("{}+{}", env!("CARGO_PKG_VERSION"), rules.len()),
            rules,
            permissions: crate::permissions::Permissions::default(),
            thresholds: Thresholds::default(),
            strict: false,
        }
    }
}
