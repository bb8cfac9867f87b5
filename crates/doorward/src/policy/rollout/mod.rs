//! Agents, rules and thresholds are let go in stages: what a stage is, what is kept of it, and what a session gets.

pub mod assign;
pub mod set;
pub mod stage;
pub mod state;
pub mod trial;

pub use assign::Assigned;
pub use stage::{Share, Stage};
pub use state::Rollout;
