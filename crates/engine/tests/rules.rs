//! Every rule fires on its firing examples and is silent on its silent ones.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

use std::path::Path;

use doorward_engine::Verdict;
use doorward_engine::knowledge::check;
use doorward_engine::knowledge::file::File;
use doorward_engine::knowledge::rule::{self, RuleFile};

fn files() -> Vec<(String, RuleFile)> {
    let mut files = Vec::new();
    for (folder, verdict) in [("allow", Verdict::AutoApprove), ("confirm", Verdict::Confirm), ("block", Verdict::Block)]
    {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules").join(folder);
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let id = path.file_stem().unwrap().to_string_lossy().into_owned();
            let name = format!("rules/{folder}/{id}.toml");
            let file = rule::read(File { name: &name, text: &text }, &id, verdict)
                .unwrap_or_else(|complaint| panic!("{complaint}"));
            files.push((name, file));
        }
    }
    files
}

#[test]
fn every_rule_fires_and_keeps_silent_as_its_examples_say() {
    let wrong: Vec<String> = files()
        .iter()
        .flat_map(|(name, file)| check::rule(name, file, &[]))
        .map(|complaint| complaint.to_string())
        .collect();
    assert!(wrong.is_empty(), "{} examples disagree:\n{}", wrong.len(), wrong.join("\n"));
}
