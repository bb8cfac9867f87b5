//! What the tests over our own corpus share.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod chance;
pub(crate) mod corpus;
pub(crate) mod wrap;
