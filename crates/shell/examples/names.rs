//! Prints what the parser makes of each of the NUL-separated programs on standard input, read as bash, or as the `sh` or
//! `zsh` that the first argument names.
//!
//! One line for each program: `ok` or the reason, a tab, and the command names, separated by NUL.
#![allow(clippy::print_stdout, reason = "an example talks to its standard output")]

use std::io::{self, Read, Write};

use doorward_shell::{Dialect, command_names, parse};

fn main() -> io::Result<()> {
    let dialect = match std::env::args().nth(1).as_deref() {
        Some("sh") => Dialect::Sh,
        Some("zsh") => Dialect::Zsh,
        Some(_) | None => Dialect::Bash,
    };
    let mut input = String::new();
    io::stdin().read_to_string(&mut input)?;
    let mut out = io::stdout().lock();
    for program in input.split('\0') {
        let parse = parse(program, dialect);
        let state = parse.error.map_or("ok".to_owned(), |error| format!("{error} {:?}", error.span));
        let names = command_names(&parse.script).join("\0").replace('\n', "\\n");
        writeln!(out, "{state}\t{names}")?;
    }
    Ok(())
}
