//! How much is snapshotted and how long it is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MEGABYTE: u64 = 1_000_000;

/// Snapshots of what a call deletes or overwrites, taken before it runs so that `doorward undo` can restore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Snapshots {
    /// `false` takes no snapshots, so doorward asks about every such call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// doorward asks about calls that change more files; default: 2,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// doorward asks about calls that change more megabytes; default: 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub megabytes: Option<u64>,
    /// Snapshots older than this many days may be removed; default: 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_days: Option<u64>,
    /// Maximum megabytes of all snapshots; default: 2,000. When full, doorward asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_megabytes: Option<u64>,
}

/// The effective numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub enabled: bool,
    pub files: u64,
    pub bytes: u64,
    pub keep_ms: u64,
    pub store_bytes: u64,
}

impl Snapshots {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            enabled: self.enabled.unwrap_or(true),
            files: self.files.unwrap_or(2_000),
            bytes: self.megabytes.unwrap_or(200).saturating_mul(MEGABYTE),
            keep_ms: self.keep_days.unwrap_or(30).saturating_mul(24 * 60 * 60 * 1000),
            store_bytes: self.store_megabytes.unwrap_or(2_000).saturating_mul(MEGABYTE),
        }
    }

    /// These, falling back to the others.
    #[must_use]
    pub(crate) fn or(self, other: Snapshots) -> Snapshots {
        Snapshots {
            enabled: self.enabled.or(other.enabled),
            files: self.files.or(other.files),
            megabytes: self.megabytes.or(other.megabytes),
            keep_days: self.keep_days.or(other.keep_days),
            store_megabytes: self.store_megabytes.or(other.store_megabytes),
        }
    }

    /// These, without anything that would approve more calls than the others.
    #[must_use]
    pub(crate) fn no_laxer_than(self, held: Snapshots) -> Snapshots {
        let (mine, theirs) = (self.limits(), held.limits());
        let lower = |own: Option<u64>, held: Option<u64>, is_laxer: bool| if is_laxer { held } else { own };
        Snapshots {
            enabled: if mine.enabled && !theirs.enabled { held.enabled } else { self.enabled },
            files: lower(self.files, held.files, mine.files > theirs.files),
            megabytes: lower(self.megabytes, held.megabytes, mine.bytes > theirs.bytes),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_a_session_no_more_is_copied_than_when_it_began() {
        let held = Snapshots { files: Some(10), enabled: Some(false), ..Snapshots::default() };
        let now = Snapshots { megabytes: Some(500), ..Snapshots::default() };
        let both = now.no_laxer_than(held).limits();
        assert_eq!((both.enabled, both.files, both.bytes), (false, 10, 200 * MEGABYTE));
        assert_eq!(held.no_laxer_than(held), held);
        let firmer = Snapshots { files: Some(5), ..held };
        assert_eq!(firmer.no_laxer_than(held).limits().files, 5);
    }
}
