//! What people are told about everyday and dangerous calls: `docs/generated/reasons.md` has every text, to be read aloud.

use std::path::Path;

use doorward_engine::{DescribedWorld, Description, Facts, Policy, ToolCall, Verdict, judge, observe, tool_from_json};
use serde_json::{Value, json};

use super::{Explanation, MessageParts, PROMPT, REFUSAL, explain};
use crate::hook::grant_check::{way_around, way_to_yes};
use crate::hook::recorded::Draft;
use crate::memory::snapshots::UndoNote;

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
    let (verdict, start, telling) = telling(line);
    let reason = telling.after(start);
    let speech = MessageParts { reason, wanted: telling.way.into_iter().collect(), ..MessageParts::default() };
    (verdict, if verdict == Verdict::AutoApprove { String::new() } else { speech.fitted(PROMPT) })
}

fn telling(line: &str) -> (Verdict, &'static str, Explanation) {
    telling_in(line, |_| ())
}

/// The same in a world that is a little different.
fn telling_in(line: &str, change: fn(&mut Description)) -> (Verdict, &'static str, Explanation) {
    let facts = facts_in(line, change);
    let judgement = judge(&facts, &Policy::built_in());
    let start = match judgement.verdict {
        Verdict::AutoApprove => "doorward approves:",
        Verdict::Confirm => "doorward asks because",
        Verdict::Block => "doorward blocks this because",
    };
    (judgement.verdict, start, explain(&judgement, &facts))
}

fn facts_in(line: &str, change: fn(&mut Description)) -> Facts {
    let row: Value = match line.starts_with("{\"tool\"") {
        true => serde_json::from_str(line).unwrap(),
        false => json!({ "tool": "bash", "input": { "command": line } }),
    };
    let text = std::fs::read_to_string(root().join("corpus/world.json")).unwrap();
    let mut world: Description = serde_json::from_str(&text).unwrap();
    world.trusted = row["trusted"].as_bool();
    change(&mut world);
    let cwd = world.project.clone().unwrap();
    let call = ToolCall::new(tool_from_json(row["tool"].as_str().unwrap(), &row["input"]), cwd.clone());
    observe(&call, &DescribedWorld::new(world, &cwd))
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
        (text.chars().count() > PROMPT, "longer than the prompt shows"),
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
                    The calls are in `crates/doorward/src/hook/wording/calls.txt`.\n\n| call | verdict | text |\n|---|---|---|\n"
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
        ("history -c", "clears the shell history", "flag"),
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
        ("git clean -fdx", "are not in git", "stash"),
        ("mkfs.ext4 /dev/sda1", "formats", "ordinary file"),
        ("rm -rf /", "blocks this because it deletes the root", "because this"),
    ];
    for (call, has, lacks) in cases {
        let (_, text) = told(call);
        assert!(text.contains(has) && !text.contains(lacks), "{call}: {text}");
    }
}

/// A world in which so many calls were denied just before this one.
fn told_after_denials(line: &str) -> String {
    let (_, start, telling) = telling_in(line, |world| world.denials_in_a_row = 5);
    MessageParts { reason: telling.after(start), wanted: telling.way.into_iter().collect(), ..MessageParts::default() }
        .fitted(PROMPT)
}

#[test]
fn the_breaker_never_hides_what_is_wrong_with_the_call() {
    let cases = [
        ("git push", "pushes commits to a remote"),
        ("npm install left-pad", "installs a package"),
        ("rm -rf /", "deletes the root"),
        ("python3 -m http.server", "opens a port"),
        ("$X", "cannot tell"),
    ];
    for (call, reason) in cases {
        let text = told_after_denials(call);
        assert!(text.contains(reason) && !text.contains("denied"), "{call}: {text}");
    }
    // Where nothing is wrong with the call itself, the breaker is the reason, and doubts that follow from it are not.
    for call in ["ls", "make test", "touch x", "git commit -m x"] {
        let expected = "doorward asks because 5 calls were denied in a row. `doorward reset` resets the count.";
        assert_eq!(told_after_denials(call), expected, "{call}");
    }
}

/// What came into the trusted project is new in it; the project is still the trusted one.
#[test]
fn the_trusted_project_is_never_said_to_be_another_one() {
    let cases = [
        (
            "git clone https://github.com/a/b . && make",
            "`make` runs code that git or an archive brought into `project`",
        ),
        ("touch t.rb; ruby t.rb", "`t.rb`, which was written in this session"),
        (
            "git clone https://github.com/a/b && cd b && make",
            "`make` runs code in `b`, which is not part of the project",
        ),
    ];
    for (call, doubt) in cases {
        let doubts = facts_in(call, |_| ()).coverage.because;
        assert!(doubts.iter().any(|said| said.starts_with(doubt)), "{call}: {doubts:?}");
        assert!(!doubts.iter().any(|said| said.contains("`project`, which is not part")), "{call}: {doubts:?}");
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

/// Whatever else is to be said: how to let it run, what can be brought back, an offer, a yes that does not count.
#[test]
fn nothing_that_is_added_makes_a_text_longer_than_the_prompt_shows() {
    let way = way_to_yes("w9mgwt");
    let hint = "You approved 12 of 14 such calls in 30 days: run `doorward rules accept 1a2b3c4d` to stop asking";
    let why = "a person's yes to this call does not count: the file `src/a.rs` has changed since then";
    let undone =
        format!("it could not be made undoable: `/home/me/{}` is a device, socket or pipe", "deep/".repeat(60));
    for (line, verdict, _) in rows().into_iter().filter(|(_, verdict, _)| *verdict != Verdict::AutoApprove) {
        let (_, start, telling) = telling(line);
        let denied = Draft::Deny(String::new());
        for note in [UndoNote::Nothing, UndoNote::Loses, UndoNote::Says(undone.clone())] {
            let [asking, refusing] = [&Draft::Ask(String::new()), &denied].map(|decision| note.clone().words(decision));
            let wanted: Vec<String> = [why, hint].map(str::to_owned).into_iter().chain(telling.way.clone()).collect();
            let reason = telling.after(start);
            let asked =
                MessageParts { first: None, reason: reason.clone(), needed: asking.clone(), wanted: wanted.clone() };
            let refused =
                MessageParts { first: Some(way.clone()), reason: reason.clone(), needed: None, wanted: wanted.clone() };
            let behind = wanted.iter().cloned().chain(refusing).collect();
            let blocked = MessageParts { first: None, reason, needed: Some(way_around("w9mgwt")), wanted: behind };
            let asked = asked.fitted(PROMPT);
            let [refused, blocked] = [refused, blocked].map(|speech| speech.fitted(REFUSAL));
            for (text, room) in [(&asked, PROMPT), (&refused, REFUSAL), (&blocked, REFUSAL)] {
                assert!(text.chars().count() <= room && text.ends_with('.'), "{line}, {verdict}: {text}");
            }
            assert!(refused.starts_with("Run `doorward approve w9mgwt` in a terminal, then retry. "));
            assert!(
                asked.starts_with(start) && blocked.contains("`doorward approve w9mgwt` overrides it."),
                "{blocked}"
            );
            assert!(asking.is_none_or(|note| asked.contains(note.get(1..25).unwrap())), "{asked}");
        }
    }
}

#[test]
fn what_matters_less_gives_way_and_nothing_else_does() {
    let say = |reason: usize, wanted: &[usize]| MessageParts {
        reason: "r".repeat(reason),
        wanted: wanted.iter().map(|length| "w".repeat(*length)).collect(),
        ..MessageParts::default()
    };
    // A full stop is added to each, and a space between them.
    assert_eq!(say(99, &[98]).fitted(PROMPT).len(), 200);
    assert_eq!(say(99, &[99]).fitted(PROMPT).len(), 100, "one too many");
    assert_eq!(say(99, &[99, 10]).fitted(PROMPT).len(), 112, "what comes after it may still fit");
    let long =
        MessageParts { first: Some("f".repeat(90)), needed: Some("n".repeat(300)), ..say(300, &[5]) }.fitted(PROMPT);
    assert!(long.chars().count() <= PROMPT && long.contains("r…") && long.contains("n…"), "{long}");
}
