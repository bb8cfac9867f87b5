//! What people are told about everyday and dangerous calls: `docs/generated/reasons.md` has every text, to be read aloud.

use std::path::Path;

use doorward_engine::{DescribedWorld, Description, Policy, ToolCall, Verdict, judge, observe, tool_from_json};
use serde_json::{Value, json};

use super::{ROOM, tell};

/// One call per line: a shell command, or a tool and its input as JSON.
const CALLS: &str = include_str!("calls.txt");

/// Words of the engine that no prompt may hold.
const INTERNAL: &[&str] = &[
    "mutate",
    "irreversible",
    "reaches",
    "scope",
    "opaque",
    "matrix",
    "layer",
    "coverage",
    "confidence",
    "operands",
    "not understood",
    "something unknown",
    "nothing-changes",
    "clearance",
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// What the client shows, and for what verdict.
fn told(line: &str) -> (Verdict, String) {
    let row: Value = match line.starts_with("{\"tool\"") {
        true => serde_json::from_str(line).unwrap(),
        false => json!({ "tool": "bash", "input": { "command": line } }),
    };
    let text = std::fs::read_to_string(root().join("corpus/world.json")).unwrap();
    let mut world: Description = serde_json::from_str(&text).unwrap();
    world.trusted = row["trusted"].as_bool();
    let cwd = world.project.clone().unwrap();
    let call = ToolCall::new(tool_from_json(row["tool"].as_str().unwrap(), &row["input"]), cwd.clone());
    let facts = observe(&call, &DescribedWorld::new(world, &cwd));
    let judgement = judge(&facts, &Policy::built_in());
    let text = match judgement.verdict {
        Verdict::AutoApprove => String::new(),
        Verdict::Confirm => tell(&judgement, &facts).after("doorward asks because"),
        Verdict::Block => tell(&judgement, &facts).after("doorward blocks this because"),
    };
    (judgement.verdict, text)
}

fn rows() -> Vec<(&'static str, Verdict, String)> {
    let row = |line| {
        let (verdict, text) = told(line);
        (line, verdict, text)
    };
    CALLS.lines().map(row).collect()
}

/// What is wrong with a text, by the rules that every text keeps.
fn faults(verdict: Verdict, text: &str) -> Vec<&'static str> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect();
    let plain = format!(" {} ", words.join(" "));
    let is_internal = INTERNAL.iter().any(|word| plain.contains(&format!(" {word} ")));
    let ends = text.matches(". ").count() + usize::from(text.ends_with('.'));
    let depth = |letter: char| match letter {
        '(' => 1,
        ')' => -1,
        _ => 0,
    };
    let nested = text.chars().scan(0, |sum, letter| {
        *sum += depth(letter);
        Some(*sum)
    });
    let checks = [
        (text.chars().count() > ROOM, "longer than the prompt shows"),
        (text.contains(';'), "a chain"),
        (is_internal, "an internal word"),
        (!(1..=2).contains(&ends) || !text.ends_with('.'), "not one or two sentences"),
        (verdict == Verdict::Block && (text.contains('%') || plain.contains(" sure ")), "how sure, in a block"),
        (nested.max() > Some(1), "brackets in brackets"),
        (text.contains("because this this") || text.contains("blocks this because this"), "`this` twice"),
        (lower.matches("instead").count() > 1, "`instead` twice"),
        (text.contains("  ") || text.contains("``") || text.contains("()"), "a hole"),
    ];
    checks.iter().filter(|(is_wrong, _)| *is_wrong).map(|(_, fault)| *fault).collect()
}

#[test]
fn every_text_is_a_sentence_that_a_person_understands() {
    let rows = rows();
    let told: Vec<_> = rows.iter().filter(|(_, verdict, _)| *verdict != Verdict::AutoApprove).collect();
    assert!(told.len() >= 120, "{} calls are asked about or blocked", told.len());
    let wrong: Vec<String> = told
        .iter()
        .filter(|(_, verdict, text)| !faults(*verdict, text).is_empty())
        .map(|(call, verdict, text)| format!("{call}\n    {text}\n    {:?}", faults(*verdict, text)))
        .collect();
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_of_reasons_is_up_to_date() {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut page = "<!-- generated: UPDATE=1 cargo test -p doorward --lib telling -->\n\n# What people are told\n\nEveryday and \
                    dangerous calls on the machine of `corpus/world.json`, in mode `auto`, and what the agent’s prompt shows. \
                    The calls are in `crates/doorward/src/telling/calls.txt`.\n\n| call | verdict | text |\n|---|---|---|\n"
        .to_owned();
    for (call, verdict, text) in rows() {
        page.push_str(&format!("| `{}` | {verdict} | {} |\n", cell(call), cell(&text)));
    }
    let path = root().join("docs/generated/reasons.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, page).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let first = page.lines().zip(committed.lines().chain(std::iter::repeat(""))).find(|(new, old)| new != old);
    assert!(page == committed, "docs/generated/reasons.md is out of date (UPDATE=1 writes it anew): {first:#?}");
}

/// A rule's sentence follows "this", and its advice follows "Instead:".
#[test]
fn the_sentences_of_all_rules_fit_what_stands_before_them() {
    let policy = Policy::built_in();
    assert!(policy.rules.len() > 90, "{}", policy.rules.len());
    for rule in policy.rules.iter().filter(|rule| rule.verdict != Verdict::AutoApprove) {
        let (what, instead) = (rule.what.as_ref(), rule.instead.as_ref());
        let verb = what.split([' ', ',']).next().unwrap_or_default();
        assert!(verb.ends_with('s') && verb.chars().all(char::is_lowercase), "{}: `this {what}`", rule.id);
        assert!(!what.contains([';', ':', '(']) && what.len() <= 90, "{}: {what}", rule.id);
        assert!(!instead.contains([';', '(']) && !instead.contains("instead"), "{}: {instead}", rule.id);
    }
}

#[test]
fn what_was_told_wrongly_once_is_told_right() {
    let cases = [
        ("docker build .", "build steps of a container image", "another machine"),
        ("docker compose up -d", "starts containers", "another machine"),
        ("docker exec -it web sh", "in a container", "another machine"),
        ("crontab -r", "deletes scheduled jobs", "run later"),
        ("atrm 3", "deletes scheduled jobs", "run later"),
        ("systemctl disable nginx", "keeps something from starting", "run later"),
        ("tar xzf a.tar.gz", "unpacks an archive", "edit tool"),
        ("tar -xf b.tar", "unpacks an archive", "edit tool"),
        ("unzip a.zip", "unpacks an archive", "makes a change"),
        ("ssh prod", "logs in to another machine (prod)", "bare address"),
        ("ssh build.example.com uptime", "runs a command on another machine (build.example.com)", "fetches"),
        ("code .", "opens an editor", "operands"),
        ("history -c", "clears the history", "flag"),
        ("mount /dev/sdb1 /mnt", "attaches a disk", "arguments"),
        (":(){ :|:& };:", "starts processes without end", "unknown"),
        ("nc -l 4444", "opens a port", "sends data"),
        ("psql -c 'DROP TABLE users'", "deletes data or tables", "not a file"),
        ("psql -c \"$SQL\"", "cannot see the SQL that `psql` would run", "deletes"),
        ("gh secret set X", "stores a secret", "draft"),
        ("npx cowsay hi", "downloads a package and runs it", "manifest"),
        ("curl \"$URL\"", "cannot tell which host is meant", "not on the list"),
        ("python3 -m http.server", "opens a port", "%"),
        ("xargs rm < list.txt", "cannot tell what arguments `rm` would get", "may be a flag"),
        ("git clean -fdx", "git does not keep", "stash"),
        ("mkfs.ext4 /dev/sda1", "formats", "ordinary file"),
        ("rm -rf /", "blocks this because it deletes the root", "because this"),
    ];
    for (call, has, lacks) in cases {
        let (_, text) = told(call);
        assert!(text.contains(has) && !text.contains(lacks), "{call}: {text}");
    }
}

#[test]
fn long_names_leave_room_for_the_reason() {
    let long = "x".repeat(400);
    for call in
        [format!("rm -rf ~/{long}"), format!("{long} --run"), format!("rm {long}"), format!("cat ~/.ssh/{long}")]
    {
        let (verdict, text) = told(&call);
        assert!(verdict != Verdict::AutoApprove && faults(verdict, &text).is_empty(), "{text}");
    }
}
