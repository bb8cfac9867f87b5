//! The tamper-evident record of every decision.
//!
//! Start at `log.rs`: an entry is appended under a lock, synced, and only then acknowledged. `recover.rs` mends what a
//! crash leaves, `read.rs` walks over it. The log is the truth; everything else is made from it.

mod error;
mod event;
mod frame;
mod hash;
mod log;
mod read;
mod record;
mod recover;
mod segment;
mod storage;

pub use error::LogError;
pub use event::{FORMAT, Header, Keep, Kind};
pub use frame::{Flaw, MAX_BODY};
pub use hash::Hash;
pub use log::{Log, Receipt, SEGMENT_BYTES};
pub use read::{ReadError, Record, Records};
pub use record::{
    AlertBody, AnswerBody, Became, Body, By, CheckpointBody, DecisionBody, GapBody, GrantBody,
    GrantStep, Layer1, Layer2, ModeBody, OutcomeBody, PolicyBody, Reply, SessionBody, SessionStep,
    TombstoneBody, Verdict,
};
pub use storage::{Blob, Disk, DiskGuard, Storage};
