//! What is known about a program stands in its own file: the engine names none of them, outside the grammars.

use std::collections::{BTreeMap, BTreeSet};

use doorward_engine::knowledge;

use super::blank::literals;
use super::{Source, files, none};

const ENGINE: &str = "crates/engine/src/";

/// What to do about a name.
const ADVICE: &str =
    "say it in the program's own file: a facet, or a key with values (crates/knowledge/programs/README.md)";

/// Words that look like names of programs and are something else.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Homonyms {
    /// By file, below the sources of the engine.
    file: BTreeMap<String, Words>,
    /// Files that still name programs, with how many times. A count only shrinks.
    #[serde(default)]
    known: BTreeMap<String, usize>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// What the words are instead.
    are: String,
    words: String,
}

fn homonyms() -> Homonyms {
    toml::from_str(include_str!("homonyms.toml")).unwrap()
}

/// The text up to its tests.
fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests {").and_then(|end| text.get(..end)).unwrap_or(text)
}

fn is_grammar_or_test(name: &str) -> bool {
    name.contains("/grammar/") || name.contains("/tests") || name.ends_with("tests.rs")
}

/// Literals in a file that are names of programs, with their lines.
fn named(file: &Source, programs: &BTreeSet<&str>) -> Vec<(usize, String)> {
    literals(without_tests(&file.text)).into_iter().filter(|(_, text)| programs.contains(text.as_str())).collect()
}

/// Names in every file of the engine that is no grammar, by its path below the sources.
fn all_named() -> BTreeMap<String, Vec<(usize, String)>> {
    let knowledge = knowledge::built_in();
    let programs: BTreeSet<&str> = knowledge.keys().filter(|key| !key.contains(' ')).collect();
    files(&[".rs"])
        .into_iter()
        .filter(|file| file.name.starts_with(ENGINE) && !is_grammar_or_test(&file.name))
        .map(|file| (file.name.trim_start_matches(ENGINE).to_owned(), named(&file, &programs)))
        .collect()
}

#[test]
fn the_engine_names_no_program() {
    let homonyms = homonyms();
    let is_homonym = |file: &str, text: &str| {
        homonyms.file.get(file).is_some_and(|list| list.words.split_whitespace().any(|word| word == text))
    };
    let mut new = Vec::new();
    for (file, mut found) in all_named() {
        found.retain(|(_, text)| !is_homonym(&file, text));
        let known = homonyms.known.get(&file).copied().unwrap_or_default();
        if found.len() > known {
            new.extend(found.iter().map(|(line, text)| format!("{ENGINE}{file}:{line}: `{text}`")));
        }
    }
    none(&new, &format!("names of programs in Rust; {ADVICE}; what only looks like one goes into homonyms.toml"));
}

#[test]
fn the_list_of_homonyms_holds_nothing_that_is_gone() {
    let (homonyms, named) = (homonyms(), all_named());
    let mut gone = Vec::new();
    for (file, list) in &homonyms.file {
        let there: BTreeSet<&str> = named.get(file).into_iter().flatten().map(|(_, text)| text.as_str()).collect();
        let missing = list.words.split_whitespace().filter(|word| !there.contains(word));
        gone.extend(missing.map(|word| format!("{file}: `{word}`")));
        if list.are.is_empty() {
            gone.push(format!("{file}: no reason"));
        }
    }
    for (file, count) in &homonyms.known {
        let there = named.get(file).map_or(0, Vec::len);
        if there < *count {
            gone.push(format!("{file}: {there} names are left of {count}"));
        }
    }
    none(&gone, "homonyms.toml names what is not there; shorten it");
}
