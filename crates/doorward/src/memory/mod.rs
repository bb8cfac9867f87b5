//! What doorward remembers from call to call: sessions, questions and grants, snapshots, calls in flight.

pub(crate) mod alerts;
pub(crate) mod arrivals;
pub(crate) mod builds;
pub(crate) mod call_ids;
pub(crate) mod contained;
pub(crate) mod decisions;
pub(crate) mod digest;
pub(crate) mod evaluation;
pub(crate) mod grants;
pub(crate) mod handed_on;
pub(crate) mod in_flight;
pub(crate) mod ledger_view;
pub(crate) mod notices;
pub(crate) mod rollout_evidence;
pub(crate) mod session;
pub(crate) mod snapshots;
pub(crate) mod tally;
pub(crate) mod wording;
pub(crate) mod world;
