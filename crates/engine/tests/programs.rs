//! Every example of every program file has exactly the effects that the file says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

use std::collections::BTreeSet;
use std::path::Path;

use doorward_engine::knowledge::file::File;
use doorward_engine::knowledge::program::{self, Example};
use doorward_engine::{Effect, Target, ToolCall, example, observe};

/// A path as program files write it: relative to the project, or from the home directory.
fn shown(target: &Target) -> String {
    let text = target.shown();
    match target {
        Target::Path(path) | Target::Program(path) if path == example::CWD => ".".to_owned(),
        Target::Path(path) | Target::Program(path) => match path.strip_prefix("/home/dev/project/") {
            Some(inner) => inner.to_owned(),
            None => match path.strip_prefix("/home/dev/") {
                Some(inner) => format!("~/{inner}"),
                None => text.to_owned(),
            },
        },
        Target::Host(_) | Target::Resource(_) | Target::Unknown => text.to_owned(),
    }
}

/// `write out.txt +truncates`: operation, target, and marks that must be there.
fn agrees(expected: &str, effect: &Effect) -> bool {
    let (words, marks): (Vec<&str>, Vec<&str>) = expected.split_whitespace().partition(|word| !word.starts_with('+'));
    let wanted = words.join(" ");
    let operation = effect.operation.as_str();
    let target = shown(&effect.target);
    let named = wanted
        .strip_prefix(operation)
        .is_some_and(|name| matches!(effect.target, Target::Resource(_)) && target.ends_with(name));
    let same = wanted == format!("{operation} {target}") || wanted == format!("{operation} {}", effect.by) || named;
    same && marks.iter().all(|mark| effect.marks.iter().any(|found| format!("+{found}") == **mark))
}

fn check(example: &Example) -> Result<(), String> {
    let facts = observe(&ToolCall::bash(&example.call, example::CWD), &example::world());
    let written: BTreeSet<String> = facts
        .effects
        .iter()
        .map(|effect| {
            let marks: Vec<String> = effect.marks.iter().map(|mark| format!("+{mark}")).collect();
            format!("{} {} {}", effect.operation, shown(&effect.target), marks.join(" "))
        })
        .collect();
    for expected in &example.effects {
        if !facts.effects.iter().any(|effect| agrees(expected, effect)) {
            return Err(format!("`{}` lacks `{expected}`; it has {written:?}", example.call));
        }
    }
    let known =
        |effect: &&Effect| example.coverage != "unknown" || !effect.marks.has(doorward_engine::Mark::UnknownProgram);
    for effect in facts.effects.iter().filter(known) {
        if !example.effects.iter().any(|expected| agrees(expected, effect)) {
            return Err(format!(
                "`{}` has `{} {}` unasked; expected {:?}",
                example.call,
                effect.operation,
                shown(&effect.target),
                example.effects
            ));
        }
    }
    let coverage = facts.coverage.degree.as_str();
    let understood = |word: &str| matches!(word, "full" | "delegated");
    let fits = coverage == example.coverage || (understood(&example.coverage) && understood(coverage));
    if !fits {
        return Err(format!(
            "`{}` is {coverage} ({:?}), expected {}",
            example.call, facts.coverage.because, example.coverage
        ));
    }
    Ok(())
}

#[test]
fn every_example_of_a_program_file_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = program::read(File { name: &name, text: &text }).unwrap();
        for example in &file.examples {
            count += 1;
            if let Err(message) = check(example) {
                wrong.push(format!("programs/{name}:{}: {message}", example.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} examples disagree:\n{}", wrong.len(), wrong.join("\n"));
}
