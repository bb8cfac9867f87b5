//! What doorward remembers from call to call: sessions, questions and grants, copies, calls in flight.

pub mod arrivals;
pub mod call_ids;
pub mod evaluation;
pub mod grants;
pub mod in_flight;
pub mod session;
pub mod snapshots;
pub mod world;
