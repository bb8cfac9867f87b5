//! The house rules that no compiler checks: sizes, headers, purity, paths that exist.

mod blank;
mod floors;
mod names;
mod walks;

use std::path::{Path, PathBuf};

use blank::blank;

/// Lines of a file without its tests.
const FILE: usize = 500;

/// Lines of a function.
const FUNCTION: usize = 80;

/// Crates that know nothing of the machine they run on.
const PURE: &[&str] =
    &["crates/vocabulary/src", "crates/shell/src", "crates/code/src", "crates/knowledge/src", "crates/engine/src"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A file of the project, with its path from the top.
struct Source {
    name: String,
    text: String,
}

/// All files with one of the endings, except what is built.
fn files(endings: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !matches!(name.as_str(), "target" | ".git" | "node_modules" | "artifacts" | "corpus.fuzz") {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                // What is not text is not ours to read.
                found.extend(std::fs::read_to_string(&path).ok().map(|text| Source { name, text }));
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Tables of test rows may be long.
fn is_test(name: &str) -> bool {
    name.contains("/tests/") || name.ends_with("tests.rs")
}

/// A line of a table: a string, a tuple, an alternative of a pattern. Data is as long as it is.
fn is_row(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('"')
        || line.starts_with("(\"")
        || line.starts_with("| \"")
        || line.starts_with("(Mark::")
        || line.starts_with("b'")
        || line.starts_with("| b\"")
        || line.starts_with("b\"")
}

fn none(complaints: &[String], what: &str) {
    assert!(complaints.is_empty(), "{what}:\n  {}", complaints.join("\n  "));
}

#[test]
fn every_source_file_says_what_it_is() {
    let silent: Vec<String> =
        files(&[".rs"]).into_iter().filter(|file| !file.text.starts_with("//! ")).map(|file| file.name).collect();
    none(&silent, "files that do not begin with `//! `");
}

#[test]
fn files_are_short() {
    let length = |text: &str| {
        text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).filter(|line| !is_row(line)).count()
    };
    let long: Vec<String> = files(&[".rs"])
        .iter()
        .filter(|file| !is_test(&file.name))
        .map(|file| (length(&file.text), &file.name))
        .filter(|(lines, _)| *lines > FILE)
        .map(|(lines, name)| format!("{name}: {lines} lines"))
        .collect();
    none(&long, &format!("files of more than {FILE} lines"));
}

#[test]
fn functions_are_short() {
    let mut long = Vec::new();
    for file in files(&[".rs"]).into_iter().filter(|file| !is_test(&file.name)) {
        for (name, line, lines) in functions(&blank(&file.text)) {
            if lines > FUNCTION {
                long.push(format!("{}:{line}: `{name}` has {lines} lines", file.name));
            }
        }
    }
    none(&long, &format!("functions of more than {FUNCTION} lines"));
}

/// Name, first line and number of lines of each function.
fn functions(source: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((before, after)) = line.split_once("fn ") else { continue };
        let is_item = before.split_whitespace().all(|word| {
            word.starts_with("pub") || matches!(word, "const" | "async" | "unsafe" | "extern" | "crate)" | "super)")
        });
        let name: String =
            after.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect();
        if is_item && !name.is_empty() {
            found.push((name, at + 1, body_length(&lines[at..])));
        }
    }
    found
}

/// Lines until the braces that open here are closed again.
fn body_length(lines: &[&str]) -> usize {
    let (mut depth, mut opened, mut count) = (0i32, false, 0);
    for line in lines {
        let row = line.trim_start();
        count += usize::from(
            !row.starts_with('(') && !row.starts_with('|') && !row.starts_with('"') && !row.starts_with("b'"),
        );
        for character in line.chars() {
            match character {
                '{' => (depth, opened) = (depth + 1, true),
                '}' => depth -= 1,
                ';' if !opened && depth == 0 => return count,
                _ => {}
            }
        }
        if opened && depth <= 0 {
            return count;
        }
    }
    lines.len()
}

#[test]
fn there_is_one_configuration_of_clippy() {
    let names: Vec<String> = files(&["clippy.toml"]).into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["clippy.toml"], "a second one inside a crate silently replaces the first");
}

#[test]
fn the_pure_crates_deny_the_machine() {
    let deny = "#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]";
    for name in PURE {
        let text = std::fs::read_to_string(root().join(name).join("lib.rs")).unwrap();
        assert!(
            text.lines().any(|line| line == deny),
            "{name}/lib.rs must ask the world through the trait `World` only"
        );
    }
}

#[test]
fn dependencies_point_one_way() {
    let allowed: &[(&str, &[&str])] = &[
        ("vocabulary", &[]),
        ("shell", &[]),
        ("code", &[]),
        ("knowledge", &["vocabulary"]),
        ("engine", &["vocabulary", "knowledge", "shell", "code"]),
        ("ledger", &["vocabulary"]),
        ("team", &["ledger"]),
        ("hub", &["vocabulary", "ledger", "team"]),
        ("doorward", &["vocabulary", "ledger", "engine", "shell", "code", "team"]),
    ];
    let mut wrong = Vec::new();
    for (name, below) in allowed {
        let manifest = std::fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap_or_default();
        for (other, _) in allowed.iter().filter(|(other, _)| other != name && !below.contains(other)) {
            if manifest.contains(&format!("path = \"../{other}\"")) {
                wrong.push(format!("crates/{name} depends on crates/{other}"));
            }
        }
    }
    none(
        &wrong,
        "dependencies point one way: doorward to engine and ledger, engine to knowledge, shell and code, all to vocabulary",
    );
}

#[test]
fn paths_named_in_documents_exist() {
    let mut missing = Vec::new();
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "README.md"] {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        for path in text.split('`').skip(1).step_by(2).filter(|word| is_path(word)) {
            if !root().join(path).exists() {
                missing.push(format!("{document}: `{path}`"));
            }
        }
    }
    none(&missing, "paths in documents that lead nowhere");
}

/// Written like a path of this project: a slash, no spaces, patterns or places outside.
fn is_path(word: &str) -> bool {
    let plain = word.chars().all(|character| character.is_ascii_alphanumeric() || "/._-".contains(character));
    plain && word.contains('/') && !word.starts_with(['/', '-', '.']) && !word.ends_with("/x")
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here, or this file would complain about itself.
    let (later, machine) = (concat!("TO", "DO"), concat!("/wo", "rk/"));
    let mut found = Vec::new();
    for file in files(&[".rs", ".md", ".toml", ".jsonl", ".json", ".snap", ".sh", "test", "run"]) {
        for (line, number) in file.text.lines().zip(1..) {
            if file.name.ends_with(".rs") && line.contains(&format!("// {later}")) {
                found.push(format!("{}:{number}: {later}", file.name));
            }
            if line.contains(machine) {
                found.push(format!("{}:{number}: a path of one machine", file.name));
            }
        }
    }
    none(&found, "left behind");
}
