//! Every rule fires on its firing examples and is silent on its silent ones.

use std::path::Path;

use doorward_engine::Verdict;
use doorward_engine::examples_check as check;
use doorward_engine::knowledge::file::File;
use doorward_engine::knowledge::rule::{self, RuleExample, RuleFile};
use doorward_engine::{DescribedWorld, Judgement, Policy, ToolCall, example, judge, observe, tool_from_json};

fn files() -> Vec<(String, RuleFile)> {
    let mut files = Vec::new();
    for (folder, verdict) in [("allow", Verdict::AutoApprove), ("confirm", Verdict::Confirm), ("block", Verdict::Block)]
    {
        let directory = Path::new(doorward_knowledge::sources::FOLDER).join("rules").join(folder);
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

fn judged(example: &RuleExample) -> Judgement {
    let value: serde_json::Value = serde_json::from_str(&example.call).unwrap();
    let tool = tool_from_json(value["tool"].as_str().unwrap(), &value["input"]);
    let world = match value.get("world") {
        Some(world) => DescribedWorld::new(serde_json::from_value(world.clone()).unwrap(), example::CWD),
        None => example::world(),
    };
    let facts = observe(&ToolCall::new(tool, example::CWD), &world);
    let strict = value.get("strict").is_some_and(|strict| strict == true);
    judge(&facts, &Policy { strict, ..Policy::built_in() })
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

/// Advice that leaves the matter to the user, or asks for less than any call: there is nothing to judge.
const NOT_A_CALL: &[&str] = &["the user", "leave ", "smaller steps"];

#[test]
fn no_rule_advises_what_is_denied() {
    let mut wrong = Vec::new();
    for (name, file) in files().into_iter().filter(|(_, file)| file.rule.verdict != Verdict::AutoApprove) {
        let is_call = !NOT_A_CALL.iter().any(|words| file.rule.instead.contains(words));
        if is_call && file.ways.is_empty() {
            wrong.push(format!("{name}: `{}` names a way, and `ways` shows none", file.rule.instead));
        }
        for way in &file.ways {
            let judgement = judged(way);
            let fired = judgement.opinions.iter().any(|opinion| opinion.rule.as_deref() == Some(&file.rule.id));
            if judgement.verdict == Verdict::Block || fired {
                wrong.push(format!("{name}:{}: the way out is denied itself: {}", way.line, way.call));
            }
        }
    }
    assert!(wrong.is_empty(), "{} rules advise badly:\n{}", wrong.len(), wrong.join("\n"));
}
