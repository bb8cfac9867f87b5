//! Text to command tree for POSIX shells: linear, bounded, fail-closed. Knows nothing of risk.
#![forbid(unsafe_code)]

mod ast;

pub use ast::*;
