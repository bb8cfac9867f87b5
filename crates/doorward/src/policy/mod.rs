//! The policy: configuration, trust, the clients' own rules and rollouts. Depends only on `machine`.

pub(crate) mod approved_config;
pub(crate) mod client_rules;
pub(crate) mod config;
pub(crate) mod from_history;
pub(crate) mod load;
pub(crate) mod rollout;
pub(crate) mod session_policy;
pub(crate) mod snapshot_limits;
pub(crate) mod team_policy;
pub(crate) mod trust;
pub(crate) mod user_files;
