//! What the tests over our own corpus share.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod chance;
pub mod corpus;
pub mod wrap;
