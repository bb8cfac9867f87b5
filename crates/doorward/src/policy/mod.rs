//! What counts here: configuration, trust, the client's own rules and what is rolled out. Looks down at the machine only.

pub mod approved_config;
pub mod client_rules;
pub mod config;
pub mod from_history;
pub mod load;
pub mod rollout;
pub mod session_policy;
pub mod snapshot_limits;
pub mod trust;
pub mod user_files;
