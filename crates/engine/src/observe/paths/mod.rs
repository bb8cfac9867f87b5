//! Paths: where they lead, what class of place that is, and what touching them does. Programs, shells and code stand above.

pub(super) mod absent;
pub(super) mod carried;
pub(super) mod dependents;
pub(super) mod expanded;
pub(super) mod file_effect;
pub(super) mod globs;
pub(super) mod links;
pub(super) mod location_marks;
pub(super) mod required;
pub(super) mod reversible;
pub(super) mod ruled;
pub(super) mod sweep;
pub(super) mod touch;
pub(super) mod tracked;
pub(super) mod trees;
pub(super) mod words;
