//! The policy: configuration, trust, the clients' own rules and rollouts. Depends only on `machine`.

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
