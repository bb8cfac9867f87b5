//! Program files against the programs themselves: the list of differences, and the oracles that find them.

use std::path::Path;
use std::process::Command;

use doorward_engine::knowledge::program::ProgramFile;
use doorward_knowledge::sources;
use serde::Deserialize;

const LIST: &str = include_str!("../../../knowledge/disagreements.toml");
const MOST_USED: &str = include_str!("../../../knowledge/most-used.txt");
/// The figures of the list when they were last lowered. They are never raised to make a test pass.
const FLAGS: usize = 1661;
const EXAMPLES: usize = 25;

#[derive(Deserialize)]
struct List {
    flags: usize,
    examples: usize,
    #[serde(default)]
    flag: Vec<FlagRow>,
    #[serde(default)]
    example: Vec<ExampleRow>,
    #[serde(default)]
    unrun: Vec<Programs>,
    #[serde(default)]
    unchecked: Vec<Programs>,
}

#[derive(Deserialize)]
struct FlagRow {
    program: String,
    command: Option<String>,
    kind: String,
    flags: String,
    reason: String,
}

#[derive(Deserialize)]
struct ExampleRow {
    program: String,
    call: String,
    kind: String,
    what: String,
    reason: String,
}

#[derive(Deserialize)]
struct Programs {
    reason: String,
    programs: String,
}

fn list() -> List {
    toml::from_str(LIST).unwrap()
}

fn programs() -> Vec<(String, ProgramFile)> {
    let all = sources::read().unwrap_or_else(|complaints| panic!("{complaints}")).programs;
    let stem = |name: String| name.trim_start_matches("programs/").trim_end_matches(".toml").to_owned();
    all.into_iter().map(|(name, file)| (stem(name), file)).collect()
}

fn find<'p>(programs: &'p [(String, ProgramFile)], name: &str) -> Option<&'p ProgramFile> {
    programs.iter().find(|(known, _)| known == name).map(|(_, file)| file)
}

#[test]
fn every_difference_names_a_flag_or_an_example_that_exists() {
    let (list, programs) = (list(), programs());
    let mut wrong = Vec::new();
    for row in &list.flag {
        let command = row.command.as_ref().unwrap_or(&row.program);
        let entry =
            find(&programs, &row.program).and_then(|file| file.entries.iter().find(|entry| entry.key == *command));
        let known = |flag: &str| entry.is_some_and(|entry| entry.flags.find(flag).is_some());
        wrong.extend(row.flags.split_whitespace().filter(|flag| !known(flag)).map(|flag| format!("{command} {flag}")));
    }
    for row in &list.example {
        let file = find(&programs, &row.program);
        if !file.is_some_and(|file| file.examples.iter().any(|example| example.call == row.call)) {
            wrong.push(format!("{}: {}", row.program, row.call));
        }
    }
    let named = list.unrun.iter().chain(&list.unchecked).flat_map(|row| row.programs.split_whitespace());
    wrong.extend(named.filter(|name| find(&programs, name).is_none()).map(str::to_owned));
    assert!(wrong.is_empty(), "in the list of differences, but nowhere else:\n{}", wrong.join("\n"));
}

#[test]
fn the_list_of_differences_gives_reasons_and_only_shrinks() {
    let list = list();
    let flags: usize = list.flag.iter().map(|row| row.flags.split_whitespace().count()).sum();
    assert_eq!(
        (flags, list.example.len()),
        (list.flags, list.examples),
        "the figures at the top of the list are wrong"
    );
    assert!(flags <= FLAGS, "{flags} flags differ, {FLAGS} are allowed");
    assert!(list.example.len() <= EXAMPLES, "{} examples differ, {EXAMPLES} are allowed", list.example.len());
    let kinds = ["lacking", "value", "nothing", "optional"];
    assert!(list.flag.iter().all(|row| kinds.contains(&row.kind.as_str()) && !row.reason.is_empty()));
    assert!(list.example.iter().all(|row| !row.kind.is_empty() && !row.what.is_empty() && !row.reason.is_empty()));
    assert!(list.unrun.iter().chain(&list.unchecked).all(|row| !row.reason.is_empty()));
}

#[test]
fn the_most_used_programs_say_what_they_were_checked_against() {
    let (list, programs) = (list(), programs());
    let excepted =
        |name: &str| list.unchecked.iter().any(|row| row.programs.split_whitespace().any(|known| known == name));
    let is_checked = |name: &str| find(&programs, name).is_some_and(|file| file.checked.is_some());
    let wrong: Vec<&str> = MOST_USED.lines().filter(|name| !is_checked(name) && !excepted(name)).collect();
    assert!(wrong.is_empty(), "neither `checked` nor excepted with a reason: {}", wrong.join(" "));
    let done: Vec<&str> = MOST_USED.lines().filter(|name| is_checked(name) && excepted(name)).collect();
    assert!(done.is_empty(), "checked by now, yet still excepted: {}", done.join(" "));
}

/// Runs an oracle on the system that `DOORWARD_ORACLE_ROOT` names (`/` if it is not set).
fn oracle(which: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../knowledge/oracle");
    let root = std::env::var("DOORWARD_ORACLE_ROOT").unwrap_or_else(|_| "/".to_owned());
    let status = Command::new("python3").arg(folder).args([which, "--root", &root]).status();
    assert!(status.expect("python3 is missing").success(), "the {which} oracle found something, or lacks a tool");
}

#[test]
#[ignore = "needs bubblewrap, strace and several hundred installed programs; an hour"]
fn flags_take_what_the_programs_say_they_take() {
    oracle("flags");
}

#[test]
#[ignore = "needs bubblewrap, strace and several hundred installed programs; an hour"]
fn examples_do_in_the_box_what_they_state() {
    oracle("box");
}
