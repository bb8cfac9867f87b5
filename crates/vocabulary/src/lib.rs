//! The words that engine, ledger and edge share, as types. No logic, no input or output.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
#![forbid(unsafe_code)]

mod coverage;
mod effect;
mod flow;
mod id;
mod marks;
mod mode;
mod verdict;
mod words;

pub use coverage::Degree;
pub use effect::{Operation, Reach, Reversibility, Scope, Sensitivity};
pub use flow::FlowKind;
pub use id::{CallId, PatternId, SessionId};
pub use marks::{Mark, Marks};
pub use mode::Mode;
pub use verdict::{Clearance, Source, Verdict};

#[doc(hidden)]
pub use serde;
