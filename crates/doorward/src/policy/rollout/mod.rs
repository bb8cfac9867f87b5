//! Rolling out agents, rules and thresholds in stages: what a stage is, its state on disk, and what a session gets.

pub mod assign;
pub mod set;
pub mod stage;
pub mod state;
pub mod trial;

pub use assign::Assigned;
pub use stage::{Share, Stage};
pub use state::Rollout;
