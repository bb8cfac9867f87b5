//! Verdicts, the opinions they come from, and who may clear them.

use doorward_vocabulary::{Clearance, Source, Verdict};
use serde::{Deserialize, Serialize};

use crate::effect::Part;

/// What layer 2 calls it where the other stages ask or refuse.
// `asks_along` looks for these words in an opinion's text.
pub(crate) const OTHERS_ASK: &str = "other reasons to ask";

/// What one stage thinks of the call, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    pub verdict: Verdict,
    pub source: Source,
    /// A sentence that a person understands: lowercase, no full stop.
    pub because: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What else one could do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// Who may clear it. An approval needs no clearing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared_by: Option<Clearance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
}

impl Opinion {
    /// Asks a person.
    pub fn confirm(source: Source, cleared_by: Clearance, because: impl Into<String>) -> Opinion {
        Opinion::new(Verdict::Confirm, source, Some(cleared_by), because)
    }

    /// Refuses.
    pub fn block(source: Source, cleared_by: Clearance, because: impl Into<String>) -> Opinion {
        Opinion::new(Verdict::Block, source, Some(cleared_by), because)
    }

    /// Has nothing against it.
    pub(crate) fn approve(source: Source, because: impl Into<String>) -> Opinion {
        Opinion::new(Verdict::AutoApprove, source, None, because)
    }

    fn new(verdict: Verdict, source: Source, cleared_by: Option<Clearance>, because: impl Into<String>) -> Opinion {
        Opinion { verdict, source, because: because.into(), rule: None, instead: None, cleared_by, part: None }
    }

    #[must_use]
    pub fn at(mut self, part: Part) -> Opinion {
        self.part = Some(part);
        self
    }

    /// The order of strictness: verdict first, then how hard it is to clear.
    pub fn strictness(&self) -> (Verdict, Option<Clearance>) {
        (self.verdict, self.cleared_by)
    }

    /// Layer 2 is unsure because others ask, so that what they say is the reason.
    pub fn asks_along(&self) -> bool {
        self.source == Source::Score && self.because.contains(OTHERS_ASK)
    }
}

/// A probability that layer 2 is right, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(f64);

impl Confidence {
    /// As good as a coin.
    // For calls that layer 2 could not score: neither for nor against.
    pub const HALF: Confidence = Confidence(0.5);

    pub fn new(value: f64) -> Option<Confidence> {
        (0.0..=1.0).contains(&value).then_some(Confidence(value))
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Confidence {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Confidence, &'static str> {
        Confidence::new(value).ok_or("a confidence must be between 0 and 1")
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> f64 {
        confidence.0
    }
}

/// The probabilities of the three answers, by layer 2; the first is the score that is held against what is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    pub approve: f64,
    pub confirm: f64,
    pub block: f64,
}

/// The verdict with everything that led to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct Judgement {
    pub verdict: Verdict,
    /// Who may clear it, unless it is an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared_by: Option<Clearance>,
    /// The stage that decided.
    pub settled_by: Source,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// What layer 2 made of the effect that decided it, where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
    /// All opinions, strictest first.
    pub opinions: Vec<Opinion>,
    /// What a shadow rule would have said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadow: Vec<Opinion>,
    pub policy: String,
}

impl Judgement {
    /// The reasons of the deciding verdict, strictest first.
    pub fn reasons(&self) -> impl Iterator<Item = &Opinion> {
        self.opinions.iter().filter(|opinion| opinion.verdict == self.verdict)
    }

    /// The same as a person should read them: what is wrong with this very call comes before a limit of the session, which
    /// would otherwise hide it; a doubt that follows from the limit comes last.
    pub fn reasons_to_read(&self) -> impl Iterator<Item = &Opinion> {
        let is_limit = |opinion: &Opinion| opinion.source == Source::Limit;
        let mut reasons: Vec<&Opinion> = self.reasons().collect();
        if reasons.iter().any(|opinion| is_limit(opinion)) {
            reasons.sort_by_key(|opinion| (opinion.asks_along(), is_limit(opinion)));
        }
        reasons.into_iter()
    }
}
