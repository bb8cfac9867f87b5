//! The contained run: which questions it may answer, what it found, and whether the promise held.

mod call;
mod eligible;
mod promise;
mod run;

pub(crate) use call::inner;
pub use call::{quoted, text};
pub(crate) use eligible::answer;
pub use eligible::{Obstacle, obstacles};
pub use promise::unpromised;
pub(crate) use run::opinion;
pub use run::{Contained, Deed, DeedKind};
