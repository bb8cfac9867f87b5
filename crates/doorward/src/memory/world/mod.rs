//! The machine as one call of a session sees it: disk and git, what the user trusts, and what the session has done so far.

#[cfg(test)]
mod against_oracles;
pub mod arrived;
pub mod dependents;
pub mod disk;
#[cfg(test)]
mod hostile;
pub mod program;
#[cfg(test)]
mod tests;
