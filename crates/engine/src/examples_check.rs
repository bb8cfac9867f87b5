//! Checks that program and rule files do what their examples say, on the machine of the examples.

use doorward_vocabulary::Mark;

use crate::call::{ToolCall, tool_from_json};
use crate::described_world::DescribedWorld;
use crate::effect::{Effect, Target};
use crate::example;
use crate::knowledge::file::Complaint;
use crate::knowledge::program::{Example, ProgramFile};
use crate::knowledge::rule::{Rule, RuleExample, RuleFile};
use crate::observe::observe;

/// What is wrong with the examples of a program file; `own` is the pack that it was put into, if it is not built in.
pub fn program(name: &str, file: &ProgramFile, own: &'static [u8]) -> Vec<Complaint> {
    let world = example::world().with_programs(own);
    let wrong = |example: &Example| {
        let message = disagreement(example, &world)?;
        Some(Complaint { file: name.to_owned(), line: example.line, message })
    };
    file.examples.iter().filter_map(wrong).collect()
}

/// What is wrong with the examples of a rule file.
pub fn rule(name: &str, file: &RuleFile, own: &'static [u8]) -> Vec<Complaint> {
    let check = |example: &RuleExample, wanted: bool| {
        let message = match fires(&file.rule, example, own) {
            Ok(fired) if fired == wanted => return None,
            Ok(true) => format!("fires on {}", example.call),
            Ok(false) => format!("does not fire on {}", example.call),
            Err(problem) => format!("{problem}: {}", example.call),
        };
        Some(Complaint { file: name.to_owned(), line: example.line, message })
    };
    let fires = file.fires.iter().filter_map(|example| check(example, true));
    fires.chain(file.silent.iter().filter_map(|example| check(example, false))).collect()
}

/// Why an example does not hold: the effects that it has and the ones that are written.
fn disagreement(example: &Example, world: &DescribedWorld) -> Option<String> {
    let facts = observe(&ToolCall::bash(&example.call, example::CWD), world);
    let has: Vec<String> = facts.effects.iter().map(written).collect();
    let both = || format!("it has [{}], the file says [{}]", has.join(", "), example.effects.join(", "));
    if let Some(lacking) =
        example.effects.iter().find(|expected| !facts.effects.iter().any(|effect| agrees(expected, effect)))
    {
        return Some(format!("`{}` lacks `{lacking}`: {}", example.call, both()));
    }
    let known = |effect: &&Effect| example.coverage != "unknown" || !effect.marks.has(Mark::UnknownProgram);
    let unasked = |effect: &&Effect| !example.effects.iter().any(|expected| agrees(expected, effect));
    if let Some(effect) = facts.effects.iter().filter(known).find(unasked) {
        return Some(format!("`{}` has `{}` unasked: {}", example.call, written(effect), both()));
    }
    let coverage = facts.coverage.degree.as_str();
    let understood = |word: &str| matches!(word, "full" | "delegated");
    let fits = coverage == example.coverage || (understood(&example.coverage) && understood(coverage));
    (!fits).then(|| {
        let because = facts.coverage.because.join("; ");
        format!("`{}` is {coverage} ({because}), the file says {}: {}", example.call, example.coverage, both())
    })
}

/// An effect as program files write it.
fn written(effect: &Effect) -> String {
    let mut text = format!("{} {}", effect.operation, shown(&effect.target));
    for mark in effect.marks.iter() {
        text.push_str(&format!(" +{mark}"));
    }
    text
}

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

/// Whether the rule fires on a call, whatever its stage.
fn fires(rule: &Rule, example: &RuleExample, own: &'static [u8]) -> Result<bool, String> {
    let value: serde_json::Value =
        serde_json::from_str(&example.call).map_err(|error| format!("the example is not a tool call ({error})"))?;
    let tool = value.get("tool").and_then(serde_json::Value::as_str).ok_or("the example names no tool")?;
    let tool = tool_from_json(tool, value.get("input").unwrap_or(&serde_json::Value::Null));
    let world = match value.get("world") {
        Some(world) => {
            let described = serde_json::from_value(world.clone()).map_err(|error| format!("its world: {error}"))?;
            DescribedWorld::new(described, example::CWD)
        }
        None => example::world(),
    };
    let is_strict = value.get("strict").is_some_and(|strict| strict == true);
    if rule.when.strict && !is_strict {
        return Ok(false);
    }
    let facts = observe(&ToolCall::new(tool, example::CWD), &world.with_programs(own));
    Ok(facts.effects.iter().any(|effect| crate::rules::holds(&rule.when, &facts, effect)))
}
