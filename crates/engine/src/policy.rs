//! What `judge` judges by: mode, rules, permission patterns and thresholds, under one version.

use doorward_vocabulary::{Mode, Operation};

use crate::knowledge::rule::Rule;
use crate::layer2::Scorer;

mod built_in {
    //! Written by the build from `thresholds.toml`.
    include!(concat!(env!("OUT_DIR"), "/thresholds.rs"));
}

/// Confidence below which layer 2 asks instead of guessing, and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    pub confidence: f64,
    pub irreversible: f64,
    /// For each operation, at least so much; raised by risk control.
    pub by_operation: [f64; Operation::ALL.len()],
    pub reads_per_minute: u32,
    pub read_burst: u32,
    pub denials_in_a_row: u32,
    pub denials: u32,
    /// A call may lose so many files for good, and so many bytes of them.
    pub bulk_files: u32,
    pub bulk_bytes: u64,
    /// One read may hand over so many bytes.
    pub read_bytes: u64,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        built_in::THRESHOLDS
    }
}

impl Thresholds {
    /// How sure layer 2 has to be that an effect is wanted.
    pub fn wanted(&self, operation: Option<Operation>, is_irreversible: bool) -> f64 {
        let floor = if is_irreversible { self.irreversible } else { self.confidence };
        let raised = operation.and_then(|operation| self.by_operation.get(operation as usize));
        raised.copied().unwrap_or(floor).max(floor)
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
    /// What layer 2 weighs with.
    pub scorer: Scorer,
    /// One name for all of the above.
    pub version: String,
}

impl Policy {
    /// One name for what is built in: rules, programs, tools, scorer and thresholds. Another build that changes any of it has
    /// another name.
    pub const KNOWLEDGE: &'static str = built_in::KNOWLEDGE;

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
            scorer: Scorer::BuiltIn,
        }
    }
}
