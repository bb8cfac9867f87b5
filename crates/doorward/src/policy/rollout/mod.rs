//! Rolling out agents, rules and thresholds in stages: what a stage is, its state on disk, and what a session gets.

pub(crate) mod assign;
pub(crate) mod set;
pub(crate) mod stage;
pub(crate) mod state;
pub(crate) mod trial;

pub(crate) use assign::Assigned;
pub(crate) use stage::{RolloutStage, Share};
pub(crate) use state::Rollout;
