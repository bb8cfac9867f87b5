//! The box: runs a command where it can do no harm, reports what it did, then commits or discards it.
//!
//! Start at `cell.rs`: `Cell::run` takes a `Plan` and returns a `Run`. `launch.rs` forks, `mounts.rs` and `walls.rs` build
//! the box around the child, `init.rs` is its first process, `relay.rs` watches it from outside. Afterwards `layers.rs`
//! compares the upper layers with the tree below, and `commit.rs` puts the difference in place, or nothing of it.
//! Nothing here knows policy: who calls decides what may be committed.

mod apply;
mod cell;
mod codec;
mod commit;
mod deeds;
mod digest;
mod init;
mod journal;
mod launch;
mod layers;
mod limits;
mod missing;
mod mounts;
mod plan;
mod recover;
mod relay;
mod report;
mod run;
mod stage;
mod stamp;
mod steps;
mod sys;
mod tree;
mod walls;
mod wanted;

#[cfg(test)]
mod commit_tests;

pub use cell::{Abilities, Cell, SecondWall};
pub use commit::{Committed, Refused, Treatment};
pub use deeds::{Deed, DeedKind, Deeds};
pub use digest::Digest;
pub use limits::{Limits, Spoiled};
pub use missing::Missing;
pub use plan::{Command, Input, Output, Plan, PlanError};
pub use recover::{Recovered, recover};
pub use report::Usage;
pub use run::{Run, RunError};
pub use stamp::{Kind, Stamp};
