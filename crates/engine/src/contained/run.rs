//! What a contained run did, as it stands in the facts.

use std::collections::BTreeMap;

use doorward_vocabulary::{Clearance, Source};
use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::verdict::Opinion;

/// One change that a command made in its box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// Absolute, and the same inside the box and outside.
    pub path: String,
    pub kind: DeedKind,
}

/// What was done to the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeedKind {
    /// `None`: the content is no text, or too long to be read.
    Written(Option<String>),
    Deleted,
    DirectoryMade,
    DirectoryRemoved,
    /// Removed with everything in it and made again.
    DirectoryReplaced,
    /// The mode bits it has now.
    Mode(u32),
    /// A symbolic link, and where it leads.
    Linked(String),
    /// A second name of a file that has other names.
    HardLinked,
    /// An extended attribute was set or removed.
    Attribute,
    /// A device, a pipe or a socket.
    Special,
}

/// How a contained run went, beside its deeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contained {
    /// As a shell gives it: 128 and the signal where one ended it.
    pub exit: i32,
    pub took_ms: u64,
    /// The most memory that was seen at one time, in KiB.
    pub peak_kib: u64,
    /// System calls that the box refused or counted, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, u32>,
    /// Everything it changed, as one hash: what was put in place later is exactly this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deeds: Option<String>,
    /// The call of an agent that the run took the place of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// It tried to reach other machines or services of this one, which a box has none of.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wanted_network: bool,
    /// It was ended because it took too long or too much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_off: Option<String>,
}

/// What went differently from how it would have gone outside the box makes its deeds no answer.
pub(crate) fn opinion(facts: &Facts) -> Option<Opinion> {
    let contained = facts.contained.as_ref()?;
    let because = if let Some(limit) = &contained.cut_off {
        format!("the contained run was ended early: {limit}")
    } else if contained.wanted_network {
        "it tried to use the network, which a contained run doesn't have".to_owned()
    } else {
        return None;
    };
    Some(Opinion::confirm(Source::Coverage, Clearance::Firm, because))
}
