//! The `doorward` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // The hook runs before every call of an agent: it answers before the command line parser is even set up.
    if arguments.next().is_some_and(|first| first == "hook") {
        return doorward::hook(arguments);
    }
    doorward::command_line()
}
