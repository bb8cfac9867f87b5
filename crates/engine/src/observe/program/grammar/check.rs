//! The one function through which the tests of grammars go.

use doorward_shell::{Dialect, parse};

use crate::described_world::{DescribedWorld, Description};
use crate::effect::Effect;
use crate::knowledge::file::File;
use crate::knowledge::packed::Packed;
use crate::knowledge::{pack, program};
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;

const HOME: &str = "/home/dev";
const PROJECT: &str = "/home/dev/project";

/// A command, its coverage, and its effects: `operation target +mark =reversibility`, with `; ` between them.
pub(crate) type Row = (&'static str, &'static str, &'static str);

/// Programs that print, read, write and delete, for commands inside commands.
const COMMON: &[&str] = &[
    "name = 'cat'\naliases = ['head', 'wc', 'ls', 'less']\nwhat = 'x'\noperands = ['read*']\n[flags]\nplain = '-l -n'",
    "name = 'grep'\nwhat = 'x'\noperands = ['data', 'read*']\n[flags]\nplain = '-l -n -r'",
    "name = 'echo'\nwhat = 'x'\ngrammar = 'echo'\noperands = ['data*']\n[flags]\nplain = '-n'",
    "name = 'rm'\nwhat = 'x'\noperands = ['delete*']\n[flags]\nplain = '-f'\n'-r' = 'operands=delete-tree'",
    "name = 'mv'\nwhat = 'x'\noperands = ['move*', 'into']",
    "name = 'sh'\naliases = ['bash']\nwhat = 'x'\ngrammar = 'shell'\nstops = true\noperands = ['data*']\n[flags]\nplain = '-c -s'",
    "name = 'xargs'\nwhat = 'x'\ngrammar = 'xargs'\nstops = true\noperands = ['command']\n[flags]\n'-I' = 'data'",
];

/// Checks rows in an ordinary, trusted, clean project.
pub(crate) fn check(programs: &[&str], rows: &[Row]) {
    check_in("{}", programs, rows);
}

/// Checks rows in a world that differs from the ordinary one.
pub(crate) fn check_in(world: &str, programs: &[&str], rows: &[Row]) {
    let knowledge = knowledge(programs);
    let mut wrong = Vec::new();
    for (command, coverage, effects) in rows {
        let world = world_of(world);
        let mut out = Observer::new(&world);
        out.knowledge = knowledge;
        let parsed = parse(command, Dialect::Bash);
        assert!(parsed.error.is_none(), "{command}: {:?}", parsed.error);
        Runner::new(&mut out).program(&parsed.script, &mut State::new(Some(PROJECT)), Stream::empty());
        let found = out.finish();
        let degree = found.coverage.degree.as_str();
        let mut left: Vec<&Effect> = found.effects.iter().collect();
        let mut missing = Vec::new();
        for wanted in effects.split("; ").filter(|wanted| !wanted.is_empty()) {
            match left.iter().position(|effect| matches(effect, wanted)) {
                Some(at) => drop(left.remove(at)),
                None => missing.push(wanted),
            }
        }
        if degree != *coverage || !missing.is_empty() || !left.is_empty() {
            let left: Vec<String> = left.iter().map(|effect| shown(effect)).collect();
            wrong.push(format!(
                "{command}\n  is {degree} {:?}, wanted {coverage}\n  missing {missing:?}\n  beyond {left:?}",
                found.coverage.because
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The flows of a command.
pub(crate) fn flows(programs: &[&str], command: &str) -> Vec<String> {
    let world = world_of("{}");
    let mut out = Observer::new(&world);
    out.knowledge = knowledge(programs);
    let parsed = parse(command, Dialect::Bash);
    Runner::new(&mut out).program(&parsed.script, &mut State::new(Some(PROJECT)), Stream::empty());
    out.finish().flows.iter().map(|flow| flow.kind.as_str().to_owned()).collect()
}

fn world_of(text: &str) -> DescribedWorld {
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
    let given = value.as_object_mut().unwrap();
    given.entry("home").or_insert(HOME.into());
    given.entry("project").or_insert(PROJECT.into());
    given.entry("git").or_insert(serde_json::json!({}));
    let description: Description = serde_json::from_value(value).unwrap();
    DescribedWorld::new(description, PROJECT)
}

fn knowledge(programs: &[&str]) -> Packed {
    let files: Vec<program::ProgramFile> = COMMON
        .iter()
        .chain(programs)
        .map(|text| {
            let text = format!("{text}\n[[example]]\ncall = 'x'\n");
            program::read(File { name: "test.toml", text: &text }, &crate::knowledge::built_in()).unwrap()
        })
        .collect();
    let mut entries = Vec::new();
    for file in &files {
        for name in &file.names {
            for entry in &file.entries {
                let rest = entry.key.split_once(' ').map_or(String::new(), |(_, rest)| format!(" {rest}"));
                entries.push((format!("{name}{rest}"), entry));
            }
        }
    }
    Packed::open(Box::leak(pack::pack(&entries, &[], &[], &[]).into_boxed_slice())).unwrap()
}

fn matches(effect: &Effect, wanted: &str) -> bool {
    let said = shown(effect);
    let mut wanted = wanted.split(' ').peekable();
    let mut head = Vec::new();
    while let Some(word) = wanted.next_if(|word| !word.starts_with(['+', '='])) {
        head.push(word);
    }
    let head = head.join(" ");
    said.split(" +").next().and_then(|start| start.split(" =").next()) == Some(&head)
        && wanted.all(|word| said.split(' ').any(|known| known == word))
}

fn shown(effect: &Effect) -> String {
    let target = effect.target.shown();
    let target = match target.strip_prefix(PROJECT) {
        Some("") => ".",
        Some(rest) => rest.trim_start_matches('/'),
        None => target,
    };
    let mut text = format!("{} {target} ={}", effect.operation, effect.reversibility);
    for mark in effect.marks.iter() {
        text.push_str(&format!(" +{mark}"));
    }
    text
}
