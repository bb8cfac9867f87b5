//! Names that pass for others.
