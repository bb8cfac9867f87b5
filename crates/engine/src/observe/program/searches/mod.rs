//! What a search by `find` hits on this disk, and what other commands read out of its list.

pub(super) mod hits;
pub(super) mod listed;
pub(super) mod stats;
pub(super) mod words;
