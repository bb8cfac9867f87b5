//! The machine as one call of a session sees it: disk and git, what the user trusts, and what the session has done so far.

#[cfg(test)]
mod against_oracles;
pub(crate) mod arrived;
pub(crate) mod dependents;
pub(crate) mod disk;
#[cfg(test)]
mod hostile;
pub(crate) mod made;
pub(crate) mod program;
#[cfg(test)]
mod tests;
