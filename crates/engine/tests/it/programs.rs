//! Every example of every program file has exactly the effects that the file says, and every effect has an example.

use doorward_engine::examples_check as check;
use doorward_engine::knowledge::file::File;
use doorward_engine::knowledge::program::{self, ProgramFile};
use doorward_engine::knowledge::schema::{Facet, Flag, Role, Style, Takes, TaskFile};
use doorward_engine::{Degree, Operation, ToolCall, example, observe};
use doorward_knowledge::sources;

fn parsed() -> Vec<(String, ProgramFile)> {
    sources::read().unwrap_or_else(|complaints| panic!("{complaints}")).programs
}

#[test]
fn an_alias_is_another_name_of_the_same_program_and_stands_in_an_example() {
    let files = parsed();
    let names = |(name, file): &(String, ProgramFile)| {
        file.unproven_aliases().map(|alias| format!("{name}: `{alias}`")).collect::<Vec<_>>()
    };
    let unproven: Vec<String> = files.iter().flat_map(names).collect();
    assert!(unproven.is_empty(), "aliases without an example:\n{}", unproven.join("\n"));
}

#[test]
fn every_program_file_says_its_family() {
    let files = parsed();
    let without: Vec<&str> =
        files.iter().filter(|(_, file)| file.family.is_none()).map(|(name, _)| name.as_str()).collect();
    assert!(without.is_empty(), "files without a family:\n{}", without.join("\n"));
}

#[test]
fn every_example_of_a_program_file_holds() {
    let files = parsed();
    let wrong: Vec<String> = files
        .iter()
        .flat_map(|(name, file)| check::program(name, file, &[]))
        .map(|complaint| complaint.to_string())
        .collect();
    let count: usize = files.iter().map(|(_, file)| file.examples.len()).sum();
    assert!(wrong.is_empty(), "{} of {count} examples disagree:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_wrong_example_is_named_with_its_line_and_both_effects() {
    let text = "name = \"sort\"\nwhat = \"x\"\noperands = [\"read*\"]\n\n[[example]]\ncall = \"sort a.txt\"\neffects = [\"write b.txt\"]\n";
    let file =
        program::read(File { name: "programs/sort.toml", text }, &doorward_engine::knowledge::built_in()).unwrap();
    let complaints = check::program("programs/sort.toml", &file, &[]);
    let shown: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["programs/sort.toml:5: `sort a.txt` lacks `write b.txt`: it has [read a.txt], the file says [write b.txt]"]
    );
}

/// A value that makes the role of a flag show.
fn value_for(role: Role) -> &'static str {
    match role {
        Role::Url | Role::UrlUpload | Role::Address => "https://unlisted.example/x",
        Role::Host => "unlisted.example",
        Role::RemotePath | Role::RemoteInto => "unlisted.example:x",
        Role::CodeSh | Role::Line | Role::Shell | Role::Command => "sort -o firing.txt",
        Role::Execute => "./firing.sh",
        Role::CodeSql => "drop table t",
        Role::Mount => "/etc:/etc",
        Role::Env => "LD_PRELOAD=x",
        Role::Pid => "1",
        Role::Data
        | Role::Text
        | Role::Name
        | Role::Read
        | Role::Print
        | Role::ReadTree
        | Role::List
        | Role::Write
        | Role::Append
        | Role::Create
        | Role::Empty
        | Role::Edit
        | Role::Delete
        | Role::DeleteTree
        | Role::Move
        | Role::Into
        | Role::LinkSource
        | Role::Metadata
        | Role::MetadataTree
        | Role::Upload
        | Role::Script
        | Role::ScriptSh
        | Role::Config
        | Role::Code
        | Role::CodePython
        | Role::CodeJs
        | Role::Cwd
        | Role::Resource
        | Role::Package => "firing.txt",
    }
}

/// The words of a flag with a value, or `None` if the flag has no effect of its own.
fn words_of(flag: &Flag, style: Style) -> Option<String> {
    let role = match flag.takes {
        Takes::Nothing => Role::Data,
        Takes::Value(role) | Takes::Glued(role) => role,
    };
    let silent = role.is_plain() || matches!(role, Role::Resource | Role::Cwd | Role::List | Role::Env);
    if silent && !flag.changes.has_effect() {
        return None;
    }
    let value = match flag.changes.only.first() {
        Some(value) => value,
        // Formats and bindings that run something.
        None if flag.changes.opaque => "#(id)",
        None => value_for(role),
    };
    let name = &flag.name;
    Some(match flag.takes {
        Takes::Nothing => format!("'{name}'"),
        Takes::Value(_) => format!("'{name}' '{value}'"),
        Takes::Glued(_) if name.starts_with("--") || style == Style::SingleDash => format!("'{name}={value}'"),
        Takes::Glued(_) => format!("'{name}{value}'"),
    })
}

/// The call does more than read, or is not understood.
fn acts(call: &str) -> bool {
    let facts = observe(&ToolCall::bash(call, example::CWD), &example::world());
    facts.effects.iter().any(|effect| effect.operation != Operation::Read) || facts.coverage.degree > Degree::Delegated
}

/// What the engine makes of a call, as far as an effect could show.
fn outcome(call: &str) -> (Vec<String>, String) {
    let facts = observe(&ToolCall::bash(call, example::CWD), &example::world());
    let shown = |effect: &doorward_engine::Effect| format!("{effect:?}");
    let mut effects: Vec<String> = facts.effects.iter().map(shown).collect();
    effects.iter_mut().for_each(|effect| {
        // The place in the text differs between the calls that are compared.
        let end = effect.find("part:").unwrap_or(effect.len());
        effect.truncate(end);
    });
    (effects, format!("{:?} {:?}", facts.coverage, facts.flows))
}

/// Flags that only count together with others, or for what comes after the command.
const TOGETHER: &[&str] = &[
    "enable -d",
    "enable -n",
    "git merge-file -p",
    "git merge-file --stdout",
    "printf -v",
    "wait -p",
    "curl -J",
    "curl --remote-header-name",
    "sd -p",
    "sd --preview",
    "tree --fromfile",
    "tree --fromtabfile",
    "man -l",
    "man --local-file",
];

#[test]
fn every_flag_with_an_effect_fires() {
    let mut quiet = Vec::new();
    let mut count = 0;
    for (name, file) in parsed() {
        for entry in &file.entries {
            let style = entry.style.or(file.entries[0].style).unwrap_or(Style::Gnu);
            for flag in &entry.flags.all() {
                let Some(words) = words_of(flag, style) else { continue };
                let shown = format!("{} {}", entry.key, flag.name);
                if TOGETHER.contains(&shown.as_str()) {
                    continue;
                }
                count += 1;
                let fires = ["", " a.txt", " a.txt b.txt"].iter().any(|operands| {
                    let call = format!("{} {words}{operands}", entry.key);
                    acts(&call) || outcome(&call) != outcome(&format!("{}{operands}", entry.key))
                });
                if !fires {
                    quiet.push(format!("{name}: `{} {words}` has no effect", entry.key));
                }
            }
        }
    }
    assert!(quiet.is_empty(), "{} of {count} flags are quiet:\n{}", quiet.len(), quiet.join("\n"));
}

/// A program that says `like`, with the one that it is like and the facets that it takes off.
struct Kin {
    name: String,
    model: String,
    taken_off: Vec<String>,
}

fn kin() -> Vec<Kin> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(std::path::Path::new(sources::FOLDER).join("programs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let table: toml::Table = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let text = |key: &str| table.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        let (Some(name), Some(model)) = (text("name"), text("like")) else { continue };
        let facets = table.get("facets").and_then(toml::Value::as_array).into_iter().flatten();
        let taken_off = facets.filter_map(|facet| facet.as_str()?.strip_prefix('-').map(str::to_owned)).collect();
        found.push(Kin { name, model, taken_off });
    }
    found
}

#[test]
fn kin_keep_the_facets_of_their_model_unless_they_take_one_off() {
    let knowledge = doorward_engine::knowledge::built_in();
    let mut lost = Vec::new();
    let all = kin();
    assert!(all.len() > 100, "{} files say `like`", all.len());
    for Kin { name, model, taken_off } in all {
        let (own, base) = (knowledge.entry(&name).unwrap(), knowledge.entry(&model).unwrap());
        let is_lost = |facet: &&Facet| base.facets.has(**facet) && !own.facets.has(**facet);
        let missing = Facet::ALL.iter().filter(is_lost).filter(|facet| !taken_off.contains(&facet.to_string()));
        lost.extend(missing.map(|facet| format!("{name}, like {model}: `{facet}`")));
        if base.tasks.is_some() && own.tasks.is_none() {
            lost.push(format!("{name}, like {model}: `tasks`"));
        }
        if base.check.is_some() && own.check.is_none() {
            lost.push(format!("{name}, like {model}: `check`"));
        }
        for sub in base.subs.all() {
            let Some(own) = knowledge.entry(&format!("{name} {sub}")) else { continue };
            let base = knowledge.entry(&format!("{model} {sub}")).unwrap();
            let is_lost = |facet: &&Facet| base.facets.has(**facet) && !own.facets.has(**facet);
            lost.extend(
                Facet::ALL.iter().filter(is_lost).map(|facet| format!("{name} {sub}, like {model}: `{facet}`")),
            );
        }
    }
    assert!(lost.is_empty(), "facets that kin lost:\n{}", lost.join("\n"));
}

#[test]
fn only_kin_takes_a_facet_off() {
    let read = |text: &str| {
        let built_in = doorward_engine::knowledge::built_in();
        program::read(File { name: "programs/x.toml", text }, &built_in)
    };
    let tail = "what = \"x\"\noperands = []\ndoes = []\n[[example]]\ncall = \"x --version\"\neffects = []\n";
    let file = read(&format!("name = \"x\"\nlike = \"gcc\"\nfacets = [\"-toolchain\"]\n{tail}")).unwrap();
    assert!(!file.entries[0].facets.has(Facet::Toolchain) && file.entries[0].facets.has(Facet::ArgumentFiles));
    assert!(read(&format!("name = \"x\"\nfacets = [\"-toolchain\"]\n{tail}")).is_err());
    assert!(read(&format!("name = \"x\"\nlike = \"gcc\"\nfacets = [\"-tool\"]\n{tail}")).is_err());
}

#[test]
fn programs_that_run_named_tasks_say_so() {
    let knowledge = doorward_engine::knowledge::built_in();
    let names = |facet: Facet| knowledge.keys().filter(move |key| knowledge.facets(key).has(facet)).count();
    assert!(names(Facet::RunsTasks) >= 14 && names(Facet::RunsTask) >= 12);
    // Whoever runs the tasks of a file takes their names.
    let files = parsed();
    let silent = files.iter().flat_map(|(_, file)| &file.entries).filter(|entry| {
        let follows = matches!(entry.tasks, Some(TaskFile::Just | TaskFile::Taskfile | TaskFile::Poe));
        follows && !entry.facets.has(Facet::RunsTasks)
    });
    let silent: Vec<&str> = silent.map(|entry| &*entry.key).collect();
    assert!(silent.is_empty(), "follow tasks and don't say which words name them: {silent:?}");
}
