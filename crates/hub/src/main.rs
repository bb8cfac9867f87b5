//! The `doorward-hub` command.
#![forbid(unsafe_code)]

mod api;
mod cli;
mod clock;
mod dev;
mod store;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
