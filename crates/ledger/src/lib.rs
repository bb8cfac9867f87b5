//! The tamper-evident record of every decision.
