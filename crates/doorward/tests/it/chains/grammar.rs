//! The lists that chains are made of: `grammar.txt`, `skeletons.txt`, `contents.txt`, and the verbs that git itself names.

use std::collections::BTreeMap;
use std::process::Command;

use super::chance::Chance;

/// A name in a list may stand for another list; deeper than this nothing is nested.
const DEPTH: usize = 6;

/// Where `git help -a` goes on with formats and concepts.
const NO_COMMANDS: &str = "User-facing";

#[derive(Debug)]
pub(super) struct Grammar {
    lists: BTreeMap<String, Vec<String>>,
    contents: BTreeMap<String, String>,
    pub skeletons: Vec<Vec<String>>,
    pub verbs: Vec<String>,
}

impl Grammar {
    /// `words` has the names of objects in the template, a pair on each line.
    pub(super) fn load(words: &str) -> Grammar {
        let mut lists = lists(include_str!("grammar.txt"));
        for (name, value) in words.lines().filter_map(|line| line.split_once(' ')) {
            lists.insert(name.to_owned(), vec![value.to_owned()]);
        }
        let verbs = verbs();
        lists.insert("verb".to_owned(), verbs.clone());
        Grammar { lists, contents: contents(), skeletons: skeletons(), verbs }
    }

    /// Lists alone.
    pub(super) fn of(text: &str) -> Grammar {
        Grammar { lists: lists(text), contents: BTreeMap::new(), skeletons: Vec::new(), verbs: Vec::new() }
    }

    pub(super) fn list(&self, name: &str) -> &[String] {
        self.lists.get(name).unwrap_or_else(|| panic!("grammar.txt has no list `{name}`"))
    }

    /// The calls of a verb of git.
    pub(super) fn calls(&self, verb: &str) -> Vec<String> {
        let own = self.lists.get(&format!("git {verb}"));
        own.cloned().unwrap_or_else(|| self.list("any verb").iter().map(|call| call.replace("«verb»", verb)).collect())
    }

    pub(super) fn content(&self, name: &str) -> &str {
        self.contents.get(name).unwrap_or_else(|| panic!("contents.txt has no `{name}`"))
    }

    /// The text with an alternative for each name in it.
    pub(super) fn fill(&self, text: &str, chance: &mut Chance) -> String {
        let mut text = text.to_owned();
        for _ in 0..DEPTH {
            let mut filled = String::new();
            let mut rest = text.as_str();
            while let Some((before, after)) = rest.split_once('«') {
                let (name, after) = after.split_once('»').unwrap_or_else(|| panic!("`{text}` lacks a »"));
                filled.push_str(before);
                filled.push_str(chance.pick(self.list(name)).as_str());
                rest = after;
            }
            filled.push_str(rest);
            if filled == text {
                break;
            }
            text = filled;
        }
        text
    }
}

fn lists(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => current = name.to_owned(),
            None => lists.entry(current.clone()).or_default().push(line.to_owned()),
        }
    }
    lists
}

fn contents() -> BTreeMap<String, String> {
    let blocks = include_str!("contents.txt").split("=== ").skip(1);
    let pair = |block: &str| block.split_once('\n').map(|(name, text)| (name.to_owned(), text.to_owned()));
    blocks.filter_map(pair).collect()
}

fn skeletons() -> Vec<Vec<String>> {
    let blocks = include_str!("skeletons.txt").split("\n\n").skip(1);
    blocks.map(|block| block.lines().map(str::to_owned).collect()).collect()
}

/// Every command of `git help -a`.
fn verbs() -> Vec<String> {
    let output = Command::new("git").args(["help", "-a"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let commands = text.split(NO_COMMANDS).next().unwrap_or_default().lines();
    let verbs: Vec<String> =
        commands.filter_map(|line| line.strip_prefix("   ")?.split_whitespace().next().map(str::to_owned)).collect();
    assert!(verbs.len() > 120, "`git help -a` names only {} commands", verbs.len());
    verbs
}

/// The verbs of git that a call names.
pub(super) fn verbs_in(call: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = call.split(|letter: char| letter.is_whitespace() || "();|&'\"`".contains(letter)).peekable();
    while let Some(word) = words.next() {
        if word == "scalar" {
            found.push(word.to_owned());
        }
        if word != "git" {
            continue;
        }
        while let Some(flag) = words.next_if(|word| word.starts_with('-')) {
            if matches!(flag, "-C" | "-c") {
                words.next();
            }
        }
        found.extend(
            words.next().filter(|verb| verb.starts_with(|letter: char| letter.is_ascii_lowercase())).map(str::to_owned),
        );
    }
    found
}
