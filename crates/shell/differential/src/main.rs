//! Who accepts which generated program: this parser, shuck-parser, brush-parser and `bash -n`, which only parses.
//!
//! `cargo run --release -- SEED COUNT` prints one line for each pattern of answers, with short examples: first for the
//! programs of `list.rs`, then for generated ones.

mod list;
#[path = "../../tests/it/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use doorward_shell::{Dialect, parse};
use shuck_parser::parser::{ParseStatus, Parser};
use support::Generator;

const TIMEOUT: Duration = Duration::from_secs(2);

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let (seed, count) = (arguments.next().unwrap_or(1), arguments.next().unwrap_or(1_000_u64));
    let brush = std::env::current_exe().expect("the path of this program").with_file_name("brush");
    println!("written by hand");
    compare(list::PROGRAMS.iter().map(ToString::to_string), &brush);
    println!("generated, seed {seed}");
    let mut generator = Generator::new(seed);
    compare((0..count).map(|_| generator.program()), &brush);
}

fn compare(programs: impl Iterator<Item = String>, brush: &Path) {
    let mut patterns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for program in programs.filter(|program| !program.contains('\0')) {
        patterns.entry(pattern(&program, brush)).or_default().push(program);
    }
    for (pattern, mut programs) in patterns {
        programs.sort_by_key(String::len);
        println!("{:6}  {pattern}", programs.len());
        for program in programs.iter().take(4) {
            println!("          {program:?}");
        }
    }
}

fn pattern(program: &str, brush: &Path) -> String {
    let error = parse(program, Dialect::Bash).error;
    let ours = error.map_or("accepts".to_owned(), |error| format!("refuses ({error})"));
    let text = program.to_owned();
    let shuck = thread::spawn(move || Parser::new(&text).parse().status == ParseStatus::Clean).join();
    let shuck = shuck.map_or("panics", |accepted| if accepted { "accepts" } else { "refuses" });
    let brush = run(Command::new(brush), program);
    let mut bash = Command::new("/bin/bash");
    bash.args(["-n", "-O", "extglob"]).env_clear();
    format!("bash {} | ours {ours} | shuck {shuck} | brush {brush}", run(bash, program))
}

/// What a child process says about the program on its standard input.
fn run(mut command: Command, program: &str) -> &'static str {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return "missing" };
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(program.as_bytes());
    }
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return "accepts",
            Ok(Some(status)) if status.code().is_none() => return "crashes",
            Ok(Some(_)) => return "refuses",
            Ok(None) | Err(_) if started.elapsed() > TIMEOUT => {
                let _ = child.kill();
                let _ = child.wait();
                return "hangs";
            }
            Ok(None) | Err(_) => thread::sleep(Duration::from_micros(300)),
        }
    }
}
