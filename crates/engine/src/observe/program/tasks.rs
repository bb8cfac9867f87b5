//! Tasks of frameworks and build tools: what their names say, code given inline, and sources that are not the project's.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility, Scope, Sensitivity};

use super::Invocation;
use super::builds::{cmake_sources, dotnet_words, foreign_sources, installs};
use super::console::code_given;
use super::findings::Findings;
use super::grammar::reads_environment;
use super::named_tasks::{deployment, destroys_data};
use crate::knowledge::schema::{Check, Does, Facet};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::path;
use crate::world::{Content, Kind, World};

/// Longer manifests are not looked through.
// See the other limits: a manifest is a few kilobytes.
const MANIFEST_LIMIT: usize = 256 * 1024;

/// What the words of a build tool say beyond its tables.
pub(super) fn tasks(out: &Observer<'_>, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let Some(first) = invocation.args.chain.first() else { return Findings::default() };
    let (facets, check, console) = (first.facets, first.check, first.console);
    if facets.has(Facet::DatabaseTasks) {
        database_tasks(facets.has(Facet::CamelTasks), invocation);
    }
    if invocation.args.is(Facet::TidiesImports) && changes_sources(out.world, state) {
        invocation.does.iter_mut().for_each(|does| does.marks.remove(Mark::InstallDeclared));
    }
    let mut found = check.map(|check| checked(check, out, invocation, state)).unwrap_or_default();
    if let Some(console) = console {
        found.run_console(console, all_words(invocation));
    }
    found
}

/// This session changed files of the project, so what they import may be new.
fn changes_sources(world: &dyn World, state: &State<'_>) -> bool {
    let is_inside = |path: &String| world.project().is_some_and(|project| path::under(path, project));
    world.changed_files().iter().any(is_inside) || state.written.keys().any(is_inside)
}

/// What only Rust can look at.
fn checked(check: Check, out: &Observer<'_>, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let (world, operands) = (out.world, invocation.args.operands.clone());
    match check {
        Check::ScalaCommands => return sbt_code(invocation),
        Check::Flakes => return nix_sources(world, invocation, state),
        Check::ProjectReferences if invocation.args.has_any(&["-b", "--build"]) => {
            return foreign_sources(world, &operands, invocation, state);
        }
        Check::ExternCrates => return extern_crates(world, invocation, state),
        Check::RunModule => return runs_module(invocation),
        Check::SourceDirectory => {
            return foreign_sources(world, operands.get(..1).unwrap_or_default(), invocation, state);
        }
        Check::Cmake => return cmake_sources(world, invocation, state),
        Check::BuildDirectories if ["setup", "configure"].iter().any(|sub| invocation.by.name.contains(sub)) => {
            return foreign_sources(world, &operands, invocation, state);
        }
        Check::Msbuild => return dotnet_words(world, invocation, state),
        Check::ContainerSettings => return composed(world, invocation),
        Check::TemplateDirectory => return template_directory(invocation),
        Check::CargoRun => return cargo_runs_guard(out, invocation),
        Check::ContainedRun => typed_token(invocation),
        Check::InstallTarget => installs(&operands, invocation),
        Check::JqFlag => filtered_environment(invocation),
        Check::ProjectReferences | Check::BuildDirectories => {}
    }
    Findings::default()
}

/// `rustc --extern NAME=PATH`.
fn extern_crates(world: &dyn World, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let crates = invocation.args.given.iter().filter(|given| given.name == "--extern");
    let places: Vec<Field> = crates
        .filter_map(|given| given.value.as_ref())
        .filter_map(|value| value.text.split_once('=').map(|(_, path)| value.with_text(path)))
        .collect();
    foreign_sources(world, &places, invocation, state)
}

/// `mktemp -p DIRECTORY a/b.XXXX`.
fn template_directory(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let odd = |field: &Field| field.exact().is_none_or(|text| text.contains('/'));
    if invocation.args.has_any(&["-p", "--tmpdir", "-t"]) && invocation.args.operands.iter().any(odd) {
        let name = &invocation.by.name;
        found.doubt(Degree::Unknown, format!("where `{name}` creates a template with a directory in it"));
    }
    found
}

/// `gh … --jq env`: the filter reads the environment.
fn filtered_environment(invocation: &mut Invocation) {
    let mut filters = invocation.args.given.iter().filter(|given| matches!(given.name.as_str(), "-q" | "--jq"));
    if filters.any(|given| given.value.as_ref().is_some_and(|filter| reads_environment(&filter.text))) {
        let mut does = Does::usual(Operation::Read);
        does.marks.add(Mark::EnvironmentDump);
        invocation.does.push(does);
    }
}

/// `doorward run TOKEN`: only the hook that made a token puts it into a call, and such a call is not judged again. Whoever
/// types one took it from somewhere or guesses.
fn typed_token(invocation: &mut Invocation) {
    let args = &invocation.args;
    let is_behind_dashes = args.ended && args.ended_at == 0;
    if invocation.by.name == "doorward run" && !args.operands.is_empty() && !is_behind_dashes {
        let mut does = Does::usual(Operation::Mutate);
        does.marks.add(Mark::PersonOnly);
        invocation.does.push(does);
    }
}

/// `uv run -m module`.
fn runs_module(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let module = ["-m", "--module"].iter().find_map(|flag| invocation.args.value(flag)).cloned();
    if let Some(module) = module.filter(|_| invocation.by.name == "uv run") {
        let word = |text: &str| Field::literal(text, doorward_shell::Span::default());
        let mut words = vec![word("python"), word("-m"), module];
        words.extend(invocation.args.operands.iter().cloned());
        found.run(words);
    }
    found
}

/// Tasks whose names say what becomes of the data of an application.
fn database_tasks(camel: bool, invocation: &mut Invocation) {
    let names: Vec<String> = invocation.args.operands.iter().filter_map(Field::exact).map(str::to_owned).collect();
    if names.iter().any(|name| destroys_data(name, camel)) {
        invocation.does.push(outside(Operation::Mutate, Mark::Database, Mark::Destroys));
    }
    // The tables look at the first task only.
    let published = invocation.does.iter().any(|does| does.marks.has_any(&[Mark::Publish, Mark::Deploy]));
    if let Some(mark) = names.iter().find_map(|name| deployment(name)).filter(|_| camel && !published) {
        invocation.does.push(outside(Operation::Network, mark, mark));
    }
}

/// `sbt 'eval …'`, `sbt 'set …'`: Scala that is run while the build is read.
fn sbt_code(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let is_code = |field: &Field| {
        field.exact().is_none_or(|text| {
            let first = text.trim_start().split([' ', '\t']).next().unwrap_or_default();
            matches!(first, "eval" | "set" | "console" | "consoleProject" | "apply" | "!" | "addPluginSbtFile")
                || first.starts_with("addPluginSbtFile=")
                || text.contains(";eval")
                || text.contains("; eval")
                || text.contains(";set")
                || text.contains("; set")
        })
    };
    if let Some(code) = invocation.args.operands.iter().find(|field| is_code(field)) {
        found.doubt(Degree::Opaque, code_given(&code.shown(), &invocation.by.name));
        found.unknown(Operation::Execute, Marks::default().with(Mark::InlineCode));
    }
    found
}

/// A flake that is neither the project's nor one of nixpkgs is code from elsewhere.
fn nix_sources(world: &dyn World, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let mut found = Findings::default();
    let Some(sub) = invocation.by.name.split(' ').nth(1).map(str::to_owned) else { return found };
    if !matches!(sub.as_str(), "run" | "develop" | "build" | "shell" | "flake" | "eval" | "fmt") {
        return found;
    }
    let operands = invocation.args.operands.clone();
    let named: &[Field] = match sub.as_str() {
        "run" | "fmt" => operands.get(..1.min(operands.len())).unwrap_or_default(),
        _ => &operands,
    };
    for field in named.iter().filter(|_| sub != "fmt") {
        let text = field.exact().unwrap_or("://");
        let source = text.split(['#', '?']).next().unwrap_or(text);
        let source = source.strip_prefix("path:").unwrap_or(source);
        if matches!(source, "" | "." | "nixpkgs" | "flake:nixpkgs") {
            continue;
        }
        if (source.starts_with(['.', '/'])) && !source.contains(':') {
            found.extend(foreign_sources(world, &[field.with_text(source)], invocation, state));
            continue;
        }
        found.doubt(Degree::Opaque, format!("`{}`, fetched and run by `{}`", field.shown(), invocation.by.name));
        found.unknown(Operation::Execute, Marks::default().with(Mark::RemoteCode));
    }
    let program = operands.first().and_then(Field::exact).and_then(|text| text.strip_prefix("nixpkgs#"));
    if let Some(program) = program.filter(|_| sub == "run") {
        let mut words = vec![Field::literal(program, doorward_shell::Span::default())];
        let mut rest = operands.iter().skip(1).peekable();
        if rest.peek().is_some_and(|word| word.text == "--") {
            rest.next();
        }
        words.extend(rest.cloned());
        found.run(words);
    }
    found
}

/// `docker compose config` prints the settings with the values of `.env` in them, `docker inspect` those of a container.
fn composed(world: &dyn World, invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let formats = ["-f", "--format"].iter().filter_map(|flag| invocation.args.value(flag));
    let mut words = formats.chain(&invocation.args.operands);
    if invocation.by.name.contains("inspect") && words.any(|word| word.text.contains(".Env")) {
        let mut does = Does::usual(Operation::Read);
        does.sensitivity = Sensitivity::Credential;
        does.marks.add(Mark::SecretReturning);
        invocation.does.push(does);
    }
    let shows = invocation.by.name.contains("compose")
        && (invocation.by.name.ends_with(" config") || invocation.by.name.ends_with(" convert"));
    let names_only = ["-q", "--quiet", "--services", "--volumes", "--images", "--profiles", "--networks"];
    let file = invocation.cwd.as_deref().map(|cwd| path::join(cwd, ".env"));
    if shows && !invocation.args.has_any(&names_only) && file.is_none_or(|file| world.look(&file).kind == Kind::File) {
        found.touch(Touch::Read, Field::literal(".env", doorward_shell::Span::default()));
    }
    found
}

/// `cargo run -- off` where the program is doorward itself.
fn cargo_runs_guard(out: &Observer<'_>, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    if !matches!(invocation.by.name.as_str(), "cargo run" | "cargo r") {
        return found;
    }
    let args = &invocation.args;
    let named: Vec<&Field> =
        ["--bin", "-p", "--package", "--example"].iter().filter_map(|flag| args.value(flag)).collect();
    let is_guard = if named.is_empty() {
        let manifest = invocation.cwd.as_deref().map(|cwd| path::join(cwd, "Cargo.toml"));
        match manifest.map(|manifest| out.world.content(&manifest, MANIFEST_LIMIT)) {
            Some(Content::Text(text)) => text.contains("doorward"),
            Some(Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted)
            | None => is_for_a_person(out, &args.operands),
        }
    } else {
        named.iter().any(|field| field.exact().is_none_or(|text| text.contains("doorward")))
    };
    if let Some(entry) = out.knowledge.entry("doorward").filter(|_| is_guard) {
        found.start_known(entry, "doorward", args.operands.clone());
    }
    found
}

/// The words would be a command of doorward that only a person may give.
fn is_for_a_person(out: &Observer<'_>, words: &[Field]) -> bool {
    let texts: Vec<&str> = words.iter().take(2).filter_map(Field::exact).collect();
    let knowledge = out.knowledge;
    let entry = (1..=texts.len())
        .rev()
        .filter_map(|count| texts.get(..count))
        .find_map(|texts| knowledge.entry(&format!("doorward {}", texts.join(" "))));
    entry.is_some_and(|entry| entry.does.iter().any(|does| does.marks.has(Mark::PersonOnly)))
}

/// Everything a program was given, flags included, as far as their order does not matter.
fn all_words(invocation: &Invocation) -> Vec<Field> {
    let subs = invocation.args.chain.iter().skip(1).filter_map(|entry| entry.key.rsplit(' ').next().map(str::to_owned));
    let mut words: Vec<Field> = subs.map(|sub| Field::literal(sub, doorward_shell::Span::default())).collect();
    words.extend(invocation.args.operands.iter().cloned());
    let flags =
        invocation.args.given.iter().map(|given| given.name.clone()).chain(invocation.args.unknown.iter().cloned());
    words.extend(flags.map(|flag| Field::literal(flag, doorward_shell::Span::default())));
    words
}

fn outside(operation: Operation, first: Mark, second: Mark) -> Does {
    let mut does = Does::usual(operation);
    does.scope = Scope::External;
    does.reach = Reach::Beyond;
    does.reversibility = Reversibility::Irreversible;
    does.marks = Marks::default().with(first).with(second);
    does
}
