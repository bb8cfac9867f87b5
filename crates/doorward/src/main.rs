//! The `doorward` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let is_help = std::env::args_os().skip(2).any(|word| word == "--help" || word == "-h");
    // The hook runs before every call of an agent: it answers before the command line parser is even set up.
    let first = arguments.next();
    if first.as_ref().is_some_and(|first| first == "hook") && !is_help {
        return doorward::hook(arguments);
    }
    // A status line is drawn anew every few seconds.
    if first.is_some_and(|first| first == "statusline") && !is_help {
        return doorward::status_line(arguments);
    }
    doorward::command_line()
}
