//! The thresholds of layer 2 and the limits: what a file may say, and the floors none may go below.

use doorward_engine::{Operation, Thresholds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No file may go below these.
// The specification's numbers. They are what `auto` promises, so no file may promise less.
const FLOOR: f64 = 0.85;
const FLOOR_IRREVERSIBLE: f64 = 0.95;

/// Thresholds of layer 2 and limits; none can be set below its floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Numbers {
    /// Layer 2 asks below this confidence; at least 0.85.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The same for what can't be undone; at least 0.95.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<f64>,
    /// Reads per minute before doorward asks; at most 300.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_per_minute: Option<u32>,
    /// Reads within a few seconds before doorward asks; at most 60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_burst: Option<u32>,
    /// After this many denials in a row doorward asks about every call; at most 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denials_in_a_row: Option<u32>,
    /// After this many denials in a session doorward asks about every call; at most 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denials: Option<u32>,
    /// A call that would permanently delete more files is blocked; at most 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulk_files: Option<u32>,
    /// The same for their bytes; at most 20971520, which is 20 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulk_bytes: Option<u64>,
    /// Bytes one read may return before doorward asks; at most 10485760, which is 10 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// The confidence needed for one kind of operation, if higher.
    #[serde(skip_serializing_if = "ByOperation::is_empty")]
    pub by_operation: ByOperation,
}

/// One confidence for each operation; at least 0.85.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ByOperation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execute: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutate: Option<f64>,
}

impl ByOperation {
    pub(crate) fn get(&self, operation: Operation) -> Option<f64> {
        match operation {
            Operation::Read => self.read,
            Operation::Write => self.write,
            Operation::Execute => self.execute,
            Operation::Network => self.network,
            Operation::Delete => self.delete,
            Operation::Mutate => self.mutate,
        }
    }

    pub(crate) fn set(&mut self, operation: Operation, value: Option<f64>) {
        *match operation {
            Operation::Read => &mut self.read,
            Operation::Write => &mut self.write,
            Operation::Execute => &mut self.execute,
            Operation::Network => &mut self.network,
            Operation::Delete => &mut self.delete,
            Operation::Mutate => &mut self.mutate,
        } = value;
    }

    fn is_empty(&self) -> bool {
        *self == ByOperation::default()
    }

    /// Combines two sets, operation by operation.
    fn with(self, other: ByOperation, choose: impl Fn(Option<f64>, Option<f64>) -> Option<f64>) -> ByOperation {
        let mut both = ByOperation::default();
        for operation in Operation::ALL {
            both.set(*operation, choose(self.get(*operation), other.get(*operation)));
        }
        both
    }
}

impl From<Thresholds> for Numbers {
    fn from(thresholds: Thresholds) -> Numbers {
        let mut by_operation = ByOperation::default();
        for (operation, value) in Operation::ALL.iter().zip(thresholds.by_operation) {
            by_operation.set(*operation, Some(value));
        }
        Numbers {
            confidence: Some(thresholds.confidence),
            irreversible: Some(thresholds.irreversible),
            reads_per_minute: Some(thresholds.reads_per_minute),
            read_burst: Some(thresholds.read_burst),
            denials_in_a_row: Some(thresholds.denials_in_a_row),
            denials: Some(thresholds.denials),
            bulk_files: Some(thresholds.bulk_files),
            bulk_bytes: Some(thresholds.bulk_bytes),
            read_bytes: Some(thresholds.read_bytes),
            by_operation,
        }
    }
}

impl Numbers {
    /// Reads a file in the format of the built-in thresholds, where nothing may go below its floor.
    pub(crate) fn parse(text: &str) -> Result<Numbers, String> {
        let numbers: Numbers = toml::from_str(text).map_err(|error| error.to_string().trim_end().replace('\n', " "))?;
        let rows =
            [("confidence", numbers.confidence, FLOOR), ("irreversible", numbers.irreversible, FLOOR_IRREVERSIBLE)];
        let by =
            Operation::ALL.iter().map(|operation| (operation.as_str(), numbers.by_operation.get(*operation), FLOOR));
        for (name, value, floor) in rows.into_iter().chain(by) {
            if let Some(value) = value.filter(|value| !(floor..=1.0).contains(value)) {
                return Err(format!("`{name}` is {value}, but must be between {floor} and 1"));
            }
        }
        Ok(numbers)
    }

    /// The limits that are set, by name; each may only be lowered.
    pub(crate) fn limits(&self) -> [(&'static str, Option<u64>); 7] {
        [
            ("reads_per_minute", self.reads_per_minute.map(u64::from)),
            ("read_burst", self.read_burst.map(u64::from)),
            ("denials_in_a_row", self.denials_in_a_row.map(u64::from)),
            ("denials", self.denials.map(u64::from)),
            ("bulk_files", self.bulk_files.map(u64::from)),
            ("bulk_bytes", self.bulk_bytes),
            ("read_bytes", self.read_bytes),
        ]
    }

    /// The text of such a file.
    #[allow(dead_code, reason = "the tests read it back")]
    pub(crate) fn print(&self) -> String {
        let confidences = [("confidence", self.confidence), ("irreversible", self.irreversible)];
        let counts = self.limits();
        let mut lines: Vec<String> = Vec::new();
        lines.extend(confidences.iter().filter_map(|(name, value)| Some(format!("{name} = {:?}", (*value)?))));
        lines.extend(counts.iter().filter_map(|(name, value)| Some(format!("{name} = {}", (*value)?))));
        if !self.by_operation.is_empty() {
            lines.push("\n[by_operation]".to_owned());
            let set = |operation: &Operation| Some(format!("{operation} = {:?}", self.by_operation.get(*operation)?));
            lines.extend(Operation::ALL.iter().filter_map(set));
        }
        lines.join("\n") + "\n"
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let named = [("confidence", self.confidence), ("irreversible", self.irreversible)];
        let by = Operation::ALL.iter().map(|operation| (operation.as_str(), self.by_operation.get(*operation)));
        for (name, value) in named.into_iter().chain(by) {
            if value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
                return Err(format!("`thresholds.{name}` must be between 0 and 1"));
            }
        }
        Ok(())
    }

    /// These numbers where set, never beyond the floor that guards a verdict.
    pub(crate) fn over(&self, floor: Thresholds) -> Thresholds {
        let mut by_operation = floor.by_operation;
        for (operation, value) in Operation::ALL.iter().zip(&mut by_operation) {
            *value = self.by_operation.get(*operation).unwrap_or(*value).max(floor.confidence);
        }
        Thresholds {
            confidence: self.confidence.unwrap_or_default().max(floor.confidence),
            irreversible: self.irreversible.unwrap_or_default().max(floor.irreversible),
            by_operation,
            reads_per_minute: self.reads_per_minute.unwrap_or(u32::MAX).min(floor.reads_per_minute),
            read_burst: self.read_burst.unwrap_or(u32::MAX).min(floor.read_burst),
            denials_in_a_row: self.denials_in_a_row.unwrap_or(u32::MAX).min(floor.denials_in_a_row),
            denials: self.denials.unwrap_or(u32::MAX).min(floor.denials),
            bulk_files: self.bulk_files.unwrap_or(u32::MAX).min(floor.bulk_files),
            bulk_bytes: self.bulk_bytes.unwrap_or(u64::MAX).min(floor.bulk_bytes),
            read_bytes: self.read_bytes.unwrap_or(u64::MAX).min(floor.read_bytes),
        }
    }

    /// These, and the others where these are not set.
    pub(crate) fn or(self, other: Numbers) -> Numbers {
        Numbers {
            confidence: self.confidence.or(other.confidence),
            irreversible: self.irreversible.or(other.irreversible),
            reads_per_minute: self.reads_per_minute.or(other.reads_per_minute),
            read_burst: self.read_burst.or(other.read_burst),
            denials_in_a_row: self.denials_in_a_row.or(other.denials_in_a_row),
            denials: self.denials.or(other.denials),
            bulk_files: self.bulk_files.or(other.bulk_files),
            bulk_bytes: self.bulk_bytes.or(other.bulk_bytes),
            read_bytes: self.read_bytes.or(other.read_bytes),
            by_operation: self.by_operation.with(other.by_operation, Option::or),
        }
    }

    /// These, with what risk control raised where nothing is set: otherwise any number would pass as equally strict. Limits don't
    /// need this, as none goes above the built-in one.
    pub(super) fn with_usual(self) -> Numbers {
        let usual = Numbers::from(Thresholds::default());
        Numbers {
            by_operation: self
                .by_operation
                .with(usual.by_operation, |mine, usual| mine.or(usual.filter(|v| *v > FLOOR))),
            ..self
        }
    }

    /// The stricter of the two, number by number; a limit that neither sets stays unset.
    pub(crate) fn tightened_by(self, other: Numbers) -> Numbers {
        let higher = |mine: Option<f64>, theirs: Option<f64>| match (mine, theirs) {
            (Some(mine), Some(theirs)) => Some(mine.max(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        Numbers {
            confidence: higher(self.confidence, other.confidence),
            irreversible: higher(self.irreversible, other.irreversible),
            reads_per_minute: lower(self.reads_per_minute, other.reads_per_minute),
            read_burst: lower(self.read_burst, other.read_burst),
            denials_in_a_row: lower(self.denials_in_a_row, other.denials_in_a_row),
            denials: lower(self.denials, other.denials),
            bulk_files: lower(self.bulk_files, other.bulk_files),
            bulk_bytes: lower(self.bulk_bytes, other.bulk_bytes),
            read_bytes: lower(self.read_bytes, other.read_bytes),
            by_operation: self.by_operation.with(other.by_operation, higher),
        }
    }
}

/// The lower of two limits, either of which may be unset.
fn lower<N: Ord>(one: Option<N>, other: Option<N>) -> Option<N> {
    one.into_iter().chain(other).min()
}

/// The stricter of two sets of thresholds, number by number.
pub(crate) fn stricter(one: Thresholds, other: Thresholds) -> Thresholds {
    let mut by_operation = one.by_operation;
    by_operation.iter_mut().zip(other.by_operation).for_each(|(mine, theirs)| *mine = mine.max(theirs));
    Thresholds {
        confidence: one.confidence.max(other.confidence),
        irreversible: one.irreversible.max(other.irreversible),
        by_operation,
        reads_per_minute: one.reads_per_minute.min(other.reads_per_minute),
        read_burst: one.read_burst.min(other.read_burst),
        denials_in_a_row: one.denials_in_a_row.min(other.denials_in_a_row),
        denials: one.denials.min(other.denials),
        bulk_files: one.bulk_files.min(other.bulk_files),
        bulk_bytes: one.bulk_bytes.min(other.bulk_bytes),
        read_bytes: one.read_bytes.min(other.read_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_thresholds_has_the_form_of_the_built_in_one_and_its_floors() {
        let built_in = include_str!("../../../../engine/thresholds.toml");
        assert_eq!(Numbers::parse(built_in).unwrap(), Numbers::from(Thresholds::default()));
        let printed = Numbers::from(Thresholds::default()).print();
        assert_eq!(Numbers::parse(&printed).unwrap(), Numbers::from(Thresholds::default()));
        for (text, wanted) in [
            ("confidence = 0.8", "`confidence` is 0.8, but must be between 0.85 and 1"),
            ("irreversible = 0.9", "`irreversible` is 0.9"),
            ("[by_operation]\ndelete = 0.5", "`delete` is 0.5"),
            ("[by_operation]\ndelete = 1.5", "`delete` is 1.5"),
            ("confidnce = 0.9", "unknown field"),
            ("= =", "TOML"),
        ] {
            let problem = Numbers::parse(text).unwrap_err();
            assert!(problem.contains(wanted), "{text}: {problem}");
        }
        let raised = Numbers::parse("[by_operation]\ndelete = 0.97").unwrap().over(Thresholds::default());
        assert_eq!(raised.wanted(Some(Operation::Delete), false), 0.97);
        assert_eq!(raised.wanted(Some(Operation::Read), false), 0.85);
    }
}
