//! Text to command tree for POSIX shells: linear, bounded, fail-closed. Knows nothing of risk.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
#![forbid(unsafe_code)]

mod arithmetic;
mod assign;
mod ast;
mod brace;
mod case;
mod command;
mod compound;
mod cursor;
mod dialect;
mod dollar;
mod error;
mod escape;
mod glob;
mod heredoc;
mod hidden;
mod lookalike;
mod names;
mod operand;
mod outline;
mod parameter;
mod parser;
mod parts;
mod print;
mod print_word;
mod quote;
mod redirect;
mod scan;
mod scripts;
mod simple;
mod statement;
mod substitution;
mod test_command;
mod walk;
mod word;

pub use ast::*;
pub use dialect::Dialect;
pub use error::{ErrorKind, Other, ParseError};
pub use hidden::{Hidden, HiddenKind, hidden};
pub use lookalike::lookalike;
pub use names::command_names;
pub use outline::{OutlineLine, outline};
pub use parser::{Parse, parse};
pub use print::print;
pub use walk::walk;
