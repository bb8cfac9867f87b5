//! How well a call was understood.

use doorward_vocabulary::Degree;
use serde::{Deserialize, Serialize};

/// How well a call was understood, with the first reason for the worst degree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    pub degree: Degree,
    /// What was not understood, as a phrase: "the flag `--frob` of `git log`".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

/// More reasons than a person reads.
// The first reason is usually the cause of the rest, and the whole sentence has to fit into a prompt.
const REASONS: usize = 4;

impl Coverage {
    pub fn full() -> Coverage {
        Coverage { degree: Degree::Full, because: Vec::new() }
    }

    /// Lowers the coverage to `degree` if it is worse than what was known, and keeps the reason.
    pub fn lower(&mut self, degree: Degree, because: impl Into<String>) {
        if degree > self.degree {
            self.because.clear();
            self.degree = degree;
        }
        let because = because.into();
        if degree == self.degree && self.because.len() < REASONS && !self.because.contains(&because) {
            self.because.push(because);
        }
    }

    /// Takes over whatever is worse in the other.
    pub fn join(&mut self, other: Coverage) {
        if other.degree > self.degree {
            *self = other;
        } else if other.degree == self.degree {
            for because in other.because {
                self.lower(other.degree, because);
            }
        }
    }

    pub fn is_partial(&self) -> bool {
        self.degree >= Degree::Unknown
    }
}
