//! The chapters of `spec/` hold, row by row.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::Home;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn chapters() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(root().join("spec")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md") && !path.ends_with("README.md"));
    paths.sort();
    paths
}

#[test]
fn every_row_of_every_chapter_holds() {
    let home = Home::new();
    let paths: Vec<String> = chapters().iter().map(|path| path.to_str().unwrap().to_owned()).collect();
    let arguments: Vec<&str> = std::iter::once("test").chain(paths.iter().map(String::as_str)).collect();
    let ran = home.run(&arguments, b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn every_chapter_is_listed() {
    let contents = std::fs::read_to_string(root().join("spec/README.md")).unwrap();
    for path in chapters() {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(contents.contains(&format!("({name})")), "spec/README.md does not list {name}");
    }
}

/// `at least block`, `confirm`.
fn agrees(expected: &str, verdict: &str) -> bool {
    let order = ["approve", "confirm", "block"];
    let place = |word: &str| order.iter().position(|known| *known == word).unwrap_or_else(|| panic!("`{word}`"));
    match expected.strip_prefix("at least ") {
        Some(least) => place(verdict) >= place(least),
        None => expected == verdict,
    }
}

/// The rows of tables with the columns `under`, `request`, `result`.
fn conditional_rows(text: &str) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    let mut is_table = false;
    for line in text.lines() {
        let cells: Vec<String> = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
        match <[String; 3]>::try_from(cells) {
            Ok([under, request, result]) if is_table && under.starts_with('`') => {
                rows.push([under.trim_matches('`').into(), request.trim_matches('`').into(), result]);
            }
            Ok([under, ..]) => is_table = under == "under",
            Err(_) => is_table = is_table && line.starts_with("|--"),
        }
    }
    rows
}

#[test]
fn modes_and_configuration_change_verdicts_as_the_chapter_says() {
    let home = Home::new();
    let text = std::fs::read_to_string(root().join("spec/modes.md")).unwrap();
    let rows = conditional_rows(&text);
    assert!(rows.len() > 20, "{} rows", rows.len());
    let world: Value = serde_json::from_slice(&std::fs::read(root().join("corpus/world.json")).unwrap()).unwrap();
    let mut input = String::new();
    for ([under, request, _], id) in rows.iter().zip(0..) {
        let mut line: Value = serde_json::from_str(under).unwrap_or_else(|error| panic!("{under}: {error}"));
        line["id"] = json!(id);
        line["tool"] = json!("bash");
        line["input"] = json!({ "command": request });
        line["world"] = world.clone();
        input.push_str(&format!("{line}\n"));
    }
    let answers = home.run(&["check", "--jsonl", "-"], input.as_bytes()).lines();
    let mut wrong = Vec::new();
    for ([under, request, expected], answer) in rows.iter().zip(&answers) {
        let verdict = answer["verdict"].as_str().unwrap();
        if !agrees(expected, verdict) {
            wrong.push(format!("`{request}` under {under} is {verdict}, not {expected}: {}", answer["reasons"]));
        }
    }
    assert_eq!(answers.len(), rows.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
