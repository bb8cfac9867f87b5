//! A plain value that looks like a path elsewhere, an address or code never passes unseen, whatever flag it is given to.

use doorward_engine::knowledge::schema::{Entry, Role, Takes};
use doorward_engine::{Mark, Mode, Policy, ToolCall, Verdict, example, judge, observe};
use doorward_knowledge::sources;

/// One of each kind: a start-up file of the user, a path elsewhere, an unlisted address, code.
const VALUES: [&str; 4] = ["~/.bashrc", "/srv/other/x", "https://unlisted.example/x", "$(id)"];

/// The program as far as this flag: `git log --since=VALUE`.
fn calls(entry: &Entry) -> Vec<String> {
    let is_plain = |takes| matches!(takes, Takes::Value(Role::Data) | Takes::Glued(Role::Data));
    let flags = entry.flags.all();
    let long = flags.iter().filter(|flag| is_plain(flag.takes) && flag.name.starts_with("--"));
    // An address to listen at is judged as that.
    let long = long.filter(|flag| !flag.changes.marks.has(Mark::Listens));
    long.flat_map(|flag| VALUES.map(|value| format!("{} '{}={value}'", entry.key, flag.name))).collect()
}

#[test]
fn no_plain_value_leads_elsewhere_unseen() {
    let policy = Policy { mode: Mode::Auto, ..Policy::built_in() };
    let world = example::world();
    let files = sources::read().unwrap_or_else(|complaints| panic!("{complaints}")).programs;
    let calls: Vec<String> = files.iter().flat_map(|(_, file)| &file.entries).flat_map(calls).collect();
    assert!(calls.len() > 20_000, "only {} calls", calls.len());
    let approves = |call: &&String| {
        let facts = observe(&ToolCall::bash(call.as_str(), example::CWD), &world);
        judge(&facts, &policy).verdict == Verdict::AutoApprove
    };
    let approved: Vec<&String> = calls.iter().filter(approves).collect();
    let shown: Vec<&str> = approved.iter().take(400).map(|call| call.as_str()).collect();
    assert!(approved.is_empty(), "{} of {} calls are approved:\n{}", approved.len(), calls.len(), shown.join("\n"));
}
