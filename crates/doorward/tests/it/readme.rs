//! What README.md says to type can be typed, and prints what README.md shows.

use std::path::{Path, PathBuf};

use doorward_engine::Policy;

use crate::support::{Home, feed, program};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

/// The bodies of all fenced blocks in a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            if name == language {
                found.push(body.join("\n"));
            }
        }
    }
    found
}

/// The words of a command as README.md writes them: single quotes, and a comment at the end.
fn words(line: &str) -> Vec<String> {
    let line = line.split_once("  #").map_or(line, |(command, _)| command);
    let mut words = Vec::new();
    for (piece, is_quoted) in line.split('\'').zip([false, true].into_iter().cycle()) {
        if is_quoted {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// What the program is called with, if the line calls it at all.
fn arguments(line: &str) -> Option<Vec<String>> {
    let words = words(line);
    let parts: Vec<&str> = words.iter().map(String::as_str).collect();
    let rest = match parts.as_slice() {
        ["doorward", rest @ ..] | ["cargo", "run", "--release", "--", rest @ ..] => rest,
        ["cargo", "install", "--path", path] => {
            assert!(root().join(path).join("Cargo.toml").exists(), "{line}");
            return None;
        }
        _ => panic!("README.md tells to type something that is not tested: {line}"),
    };
    let mut rest: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
    // Where a person is asked, the test says yes.
    if rest.first().is_some_and(|first| first == "setup") && !rest.iter().any(|word| word == "--dry-run") {
        rest.push("--yes".into());
    }
    Some(rest)
}

fn run(home: &Home, arguments: &[String]) -> crate::support::Ran {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    feed(home.command(&arguments).current_dir(root()), b"")
}

#[test]
fn what_is_to_be_typed_works() {
    let home = Home::new();
    let mut count = 0;
    for line in blocks(&readme(), "sh").iter().flat_map(|block| block.lines()) {
        let Some(arguments) = arguments(line) else { continue };
        let ran = run(&home, &arguments);
        let is_fine = match arguments[0].as_str() {
            // `check` answers with its exit code: approve, confirm or block.
            "check" => matches!(ran.code, 0 | 10 | 20),
            // In a fresh home no call has run yet.
            "undo" => ran.stderr.contains("there are no snapshots yet"),
            // A machine without a box says what is missing.
            "run" => matches!(ran.code, 0 | 1) && ran.stdout.contains(" box"),
            _ => ran.code == 0,
        };
        assert!(is_fine, "{line}: {} {}{}", ran.code, ran.stdout, ran.stderr);
        count += 1;
    }
    assert!(count >= 8, "{count} commands");
}

#[test]
fn what_is_shown_is_what_is_printed() {
    let home = Home::new();
    for block in blocks(&readme(), "console") {
        let (command, shown) = block.split_once('\n').unwrap();
        let ran = run(&home, &arguments(command.strip_prefix("$ ").unwrap()).unwrap());
        assert_eq!(ran.stdout.trim_end(), shown, "{command}");
    }
}

/// The lines of text in the picture, without markup, colours and indentation.
fn drawn() -> Vec<String> {
    let picture = std::fs::read_to_string(root().join("docs/picture/demo.svg")).unwrap();
    let mut lines = Vec::new();
    for row in picture.lines().filter(|line| line.starts_with("<text")) {
        let pieces: Vec<&str> = row.split('<').filter_map(|tag| tag.split_once('>')).map(|(_, text)| text).collect();
        let text = pieces.join(" ").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        lines.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    lines
}

#[test]
fn the_picture_names_the_verdicts() {
    assert!(readme().contains("](docs/picture/demo.svg)"), "README.md shows no picture");
    let drawn = drawn();
    for verdict in ["approve", "confirm", "block"] {
        assert!(drawn.iter().any(|line| line.starts_with(&format!("{verdict} "))), "{verdict}: {drawn:#?}");
    }
}

#[test]
fn the_picture_shows_what_the_demonstration_prints() {
    let ran = run(&Home::new(), &["demo".to_owned()]);
    let printed = ran.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let printed: Vec<String> = printed.filter(|line| !line.is_empty()).map(|line| without_duration(&line)).collect();
    assert_eq!(drawn().get(1..).unwrap(), printed, "docs/picture/render.py target/debug/doorward draws it again");
}

/// `17 calls in 196 ms: …` without the time, which is another in every run.
fn without_duration(line: &str) -> String {
    match line.split_once(" calls in ").and_then(|(before, rest)| Some((before, rest.split_once(':')?.1))) {
        Some((before, after)) => format!("{before} calls:{after}"),
        None => line.to_owned(),
    }
}

#[test]
fn as_many_calls_are_labelled_as_it_says() {
    assert!(readme().contains("more than\n2,200 calls in [`corpus/`]"), "the number that is counted here");
    let files = std::fs::read_dir(root().join("corpus")).unwrap().map(|entry| entry.unwrap().path());
    let texts =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).map(std::fs::read_to_string);
    let rows = texts.flat_map(|text| text.unwrap().lines().map(str::to_owned).collect::<Vec<_>>());
    let rows = rows.map(|row| serde_json::from_str::<serde_json::Value>(&row).unwrap());
    let count = rows.filter(|row| row.pointer("/expect/min").is_some()).count();
    assert!(count > 2200, "{count} calls that a person should see first");
}

#[test]
fn the_quick_start_has_five_lines() {
    assert_eq!(blocks(&readme(), "sh")[0].lines().count(), 5);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut missing = Vec::new();
    for folder in ["", "spec", "docs/decisions", "corpus"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|ending| ending != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
                let target = link.split_once('#').map_or(link, |(target, _)| target);
                if !target.contains("://") && !path.parent().unwrap().join(target).exists() {
                    missing.push(format!("{}: {link}", path.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn advice_names_commands_that_exist() {
    let help = String::from_utf8(std::process::Command::new(program()).arg("--help").output().unwrap().stdout).unwrap();
    let exists = |name: &str| help.lines().any(|line| line.trim_start().starts_with(&format!("{name} ")));
    let mut wrong = Vec::new();
    for rule in &Policy::built_in().rules {
        for (_, rest) in rule.instead.match_indices("doorward ").map(|(at, _)| rule.instead.split_at(at + 9)) {
            let name: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
            if !exists(&name) {
                wrong.push(format!("{}: `{}`", rule.id, rule.instead));
            }
        }
    }
    assert!(wrong.is_empty(), "advice that nobody can follow: {wrong:#?}");
}
