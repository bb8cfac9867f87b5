//! What a language model answered about a call, as a fact.

use doorward_vocabulary::words;
use serde::{Deserialize, Serialize};

use crate::verdict::Confidence;

words! {
    /// How a reviewer answered.
    Answer {
        Allows = "allow" : "the call may run",
        Declines = "block" : "a person should decide",
        Unavailable = "unavailable" : "no answer that counts: missing, late, broken or malformed",
    }
}

/// One answer, checked by whoever asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Review {
    pub answer: Answer,
    /// `provider/model`.
    pub model: String,
    /// In the reviewer's words, or what went wrong.
    pub because: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
}
