//! The tamper-evident record of every decision.
//!
//! Start at `log.rs`: an entry is appended under a lock, synced, and only then acknowledged. `recover.rs` mends what a
//! crash leaves, `read.rs` walks over it. The log is the truth; everything else is made from it.

mod alert;
mod checkpoint;
mod columns;
mod error;
mod event;
mod export;
mod finding;
mod frame;
mod grant;
mod hash;
mod index;
mod key;
mod log;
mod mac_files;
mod mac_json;
mod metrics;
mod overrides;
mod parquet;
mod private;
mod query;
mod read;
mod rebuild;
mod record;
mod recover;
mod regret;
mod report;
mod retain;
mod segment;
mod session;
mod sessions;
mod shipment;
mod state;
mod storage;
mod thrift;
mod totals;
mod verify;
mod waiting;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod index_tests;
#[cfg(test)]
mod shipment_tests;
#[cfg(test)]
mod sim;
#[cfg(test)]
mod tamper_tests;

pub use alert::{Alert, AlertKind, AlertState};
pub use checkpoint::{Checkpoint, Elsewhere, Leaf};
pub use columns::{Filter, Row};
pub use error::LogError;
pub use event::{FORMAT, Header, Keep, Kind};
pub use export::Format;
pub use finding::{Fault, Finding};
pub use frame::{Flaw, MAX_BODY};
pub use grant::{Grants, Trail};
pub use hash::Hash;
pub use index::{Fed, Index, IndexError};
pub use key::{CheckpointKey, PublicKey, SigningKey, StateKey};
pub use log::{Log, Receipt, SEGMENT_BYTES};
pub use mac_files::MacFiles;
pub use metrics::{Latency, Metrics, Share};
pub use overrides::Override;
pub use private::FileError;
pub use query::{CategoryStats, Stats};
pub use read::{ReadError, Record, Records};
pub use rebuild::Rebuilt;
pub use record::{
    AlertBody, AlertStep, AnswerBody, Became, Body, By, CheckpointBody, DecisionBody, DeviceBody, DeviceStep, GapBody,
    GrantBody, GrantStep, Layer1, Layer2, ModeBody, OutcomeBody, PolicyBody, Reply, SessionBody, SessionStep,
    SnapshotTaken, TombstoneBody,
};
pub use regret::{Regret, RuleOverrides};
pub use report::{Anchors, Progress, Report};
pub use retain::{Days, Retained};
pub use session::{CreatedState, Limit, PatternState, SessionState, SpokenState};
pub use sessions::{SessionPage, SessionSummary};
pub use shipment::{Arrived, Held, LONGEST_SHIPMENT, Refusal, SHIPMENT_BYTES, ShipError, Shipment};
pub use state::{State, StateError, States};
pub use storage::{Blob, Disk, DiskGuard, Storage};
pub use waiting::on_wait;
