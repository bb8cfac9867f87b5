//! What doorward remembers from call to call: sessions, questions and grants, snapshots, calls in flight.

pub mod alerts;
pub mod arrivals;
pub mod call_ids;
pub mod decisions;
pub mod digest;
pub mod evaluation;
pub mod grants;
pub mod in_flight;
pub mod ledger_view;
pub mod notices;
pub mod rollout_evidence;
pub mod session;
pub mod snapshots;
pub mod wording;
pub mod world;
