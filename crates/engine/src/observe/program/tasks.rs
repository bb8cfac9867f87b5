//! Tasks of frameworks and build tools: what their names say, code given inline, and sources that are not the project's.

use doorward_code::Language;
use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility, Scope, Sensitivity};

use super::Invocation;
use super::builds::{cmake_sources, dotnet_words, foreign_sources, installs};
use super::grammar::reads_environment;
use super::inner::inner_command;
use super::invoke::invoke;
use super::named_tasks::{deployment, destroys_data};
use crate::effect::{Effect, Target};
use crate::knowledge::schema::Does;
use crate::observe::code;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;
use crate::world::{Content, Kind};

/// Tasks of frameworks whose words are code or name a state of the database.
const SPECIAL: &[&str] = &["shell", "shell_plus", "dbshell", "migrate", "runner", "r", "tinker"];

/// Longer manifests are not looked through.
const MANIFEST_LIMIT: usize = 256 * 1024;

/// What the words of a build tool say beyond its tables.
pub(crate) fn tasks(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let Some(program) = invocation.args.chain.first().map(|entry| entry.key.to_string()) else { return };
    match program.as_str() {
        "rake" | "rails" | "artisan" => named_tasks(false, invocation),
        "gradle" | "mvn" => named_tasks(true, invocation),
        "sbt" => sbt_code(runner.out, invocation),
        "nix" => nix_sources(runner, invocation, state),
        "tsc" if invocation.args.has_any(&["-b", "--build"]) => {
            foreign_sources(runner.out, &invocation.args.operands.clone(), invocation, state);
        }
        "rustc" | "rustdoc" => {
            let crates = invocation.args.given.iter().filter(|given| given.name == "--extern");
            let places: Vec<Field> = crates
                .filter_map(|given| given.value.as_ref())
                .filter_map(|value| value.text.split_once('=').map(|(_, path)| value.with_text(path)))
                .collect();
            foreign_sources(runner.out, &places, invocation, state);
        }
        "uv" => runs_module(runner, invocation, state),
        "sphinx-build" => {
            let source = invocation.args.operands.first().cloned();
            foreign_sources(runner.out, source.as_slice(), invocation, state);
        }
        "cmake" => cmake_sources(runner.out, invocation, state),
        "ninja" => installs(&invocation.args.operands.clone(), invocation),
        "meson" => {
            let places = invocation.args.operands.clone();
            if invocation.by.name.contains("setup") || invocation.by.name.contains("configure") {
                foreign_sources(runner.out, &places, invocation, state);
            }
        }
        "dotnet" => dotnet_words(runner.out, invocation, state),
        "gh" => {
            let filters = invocation.args.given.iter().filter(|given| matches!(given.name.as_str(), "-q" | "--jq"));
            if filters.filter_map(|given| given.value.as_ref()).any(|filter| reads_environment(&filter.text)) {
                let mut does = Does::usual(Operation::Read);
                does.marks.add(Mark::EnvironmentDump);
                invocation.does.push(does);
            }
        }
        "docker" | "docker-compose" | "podman" => composed(runner.out, invocation),
        "mktemp" => {
            let odd = |field: &Field| field.exact().is_none_or(|text| text.contains('/'));
            if invocation.args.has_any(&["-p", "--tmpdir", "-t"]) && invocation.args.operands.iter().any(odd) {
                runner.out.lower(Degree::Unknown, "where `mktemp` puts a template with a directory");
            }
        }
        "cargo" => cargo_runs_guard(runner, invocation, state),
        _ => {}
    }
    if matches!(program.as_str(), "rails" | "artisan" | "rake") {
        let words = all_words(invocation);
        console(runner, &program, &words, state, &invocation.by.clone());
        console_input(runner.out, &program, &words, &invocation.input, &invocation.by);
    }
}

/// `uv run -m module`.
fn runs_module(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let module = ["-m", "--module"].iter().find_map(|flag| invocation.args.value(flag)).cloned();
    if let Some(module) = module.filter(|_| invocation.by.name == "uv run") {
        let word = |text: &str| Field::literal(text, doorward_shell::Span::default());
        let mut words = vec![word("python"), word("-m"), module];
        words.extend(invocation.args.operands.iter().cloned());
        inner_command(runner, words, invocation, state);
    }
}

fn named_tasks(camel: bool, invocation: &mut Invocation) {
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
fn sbt_code(out: &mut Observer<'_>, invocation: &Invocation) {
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
        inline_code(out, &code.shown(), &invocation.by.clone());
    }
}

fn inline_code(out: &mut Observer<'_>, what: &str, by: &By) {
    out.lower(Degree::Opaque, format!("the code `{what}` given to `{}`", by.name));
    out.unknown(Operation::Execute, by, Marks::default().with(Mark::InlineCode));
}

/// The command line of a framework: `manage.py`, `artisan`, `bin/rails`, `bin/console`.
///
/// Tells whether its task destroys data.
pub(crate) fn console(
    runner: &mut Runner<'_, '_>,
    program: &str,
    words: &[Field],
    state: &mut State<'_>,
    by: &By,
) -> bool {
    let is_special = |word: &Field| SPECIAL.contains(&word.text.as_str());
    let first = words.iter().position(|word| !word.text.starts_with('-'));
    // A word before it may be the value of a flag.
    let at = words.iter().position(is_special).or(first);
    let (task, rest) = match at {
        Some(at) => (
            words.get(at).and_then(Field::exact).unwrap_or_default(),
            words.get(at.saturating_add(1)..).unwrap_or_default(),
        ),
        None => ("", words),
    };
    match (program, task) {
        ("manage.py" | "django-admin", "shell" | "shell_plus") => django_shell(runner, rest, state, by),
        ("manage.py", "dbshell") if !rest.is_empty() => inline_code(runner.out, "dbshell", by),
        ("manage.py", "migrate") => return rest.iter().any(|word| word.text == "zero"),
        ("rails", "runner" | "r") => {
            if let Some(code) = rest.iter().find(|word| !is_ruby_file(word)) {
                inline_code(runner.out, &code.shown(), by);
            }
        }
        ("artisan", "tinker") if rest.iter().any(|word| word.dynamic || word.text.starts_with("--e")) => {
            inline_code(runner.out, "tinker", by);
        }
        ("console", "dbal:run-sql" | "doctrine:query:sql" | "doctrine:query:dql") => inline_code(runner.out, task, by),
        ("rake" | "rails", _) if words.iter().any(|word| matches!(word.text.as_str(), "-e" | "-p" | "-E")) => {
            if program == "rake" {
                inline_code(runner.out, "-e", by);
            }
        }
        (_, _) => {}
    }
    let shows = |word: &Field| {
        let mut parts = word.text.split(':');
        matches!(parts.next(), Some("credentials" | "encrypted" | "secrets"))
            && matches!(parts.next(), Some("show" | "edit" | "fetch" | "diff"))
    };
    if matches!(program, "rails" | "rake") && words.iter().any(shows) {
        let mut effect = Effect::new(Operation::Read, Target::Resource(format!("{program} {task}")));
        effect.sensitivity = Sensitivity::Credential;
        effect.marks = Marks::default().with(Mark::SecretReturning);
        effect.by.clone_from(&by.name);
        effect.part = by.part;
        runner.out.effect(effect);
    }
    let mut names = words.iter().filter(|word| !word.text.starts_with('-')).take(2);
    names.any(|word| destroys_data(&word.text, false))
}

/// What arrives at the console of a framework is run line by line.
pub(crate) fn console_input(out: &mut Observer<'_>, program: &str, words: &[Field], input: &Stream, by: &By) {
    const CONSOLES: &[&str] = &["shell", "shell_plus", "dbshell", "console", "c", "dbconsole", "db", "tinker"];
    let is_framework = matches!(program, "manage.py" | "rails" | "artisan");
    let opens = words.iter().find(|word| CONSOLES.contains(&word.text.as_str()));
    if let Some(console) = opens.filter(|_| is_framework && *input != Stream::empty()) {
        inline_code(out, &console.shown(), by);
    }
}

/// `manage.py shell -c CODE`.
fn django_shell(runner: &mut Runner<'_, '_>, rest: &[Field], state: &mut State<'_>, by: &By) {
    for (at, word) in rest.iter().enumerate() {
        let text = word.text.as_str();
        let glued = text.strip_prefix("--command=").or_else(|| text.strip_prefix("-c")).filter(|code| !code.is_empty());
        let code = match (text, glued) {
            (_, Some(code)) => Some(word.with_text(code)),
            ("-c" | "--command", None) => rest.get(at.saturating_add(1)).cloned(),
            (_, None) if text.starts_with("--c") || word.may_be_flag() => None,
            (_, None) => continue,
        };
        match code.as_ref().and_then(Field::known).filter(|_| !word.origin.download) {
            Some(code) => {
                code::code(runner, code, Some(Language::Python), state, by);
            }
            None => inline_code(runner.out, "-c", by),
        }
    }
}

/// A flake that is neither the project's nor one of nixpkgs is code from elsewhere.
fn nix_sources(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let Some(sub) = invocation.by.name.split(' ').nth(1).map(str::to_owned) else { return };
    if !matches!(sub.as_str(), "run" | "develop" | "build" | "shell" | "flake" | "eval" | "fmt") {
        return;
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
            foreign_sources(runner.out, &[field.with_text(source)], invocation, state);
            continue;
        }
        let by = invocation.by.clone();
        runner.out.lower(Degree::Opaque, format!("`{}`, fetched and run by `{}`", field.shown(), by.name));
        runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::RemoteCode));
    }
    let program = operands.first().and_then(Field::exact).and_then(|text| text.strip_prefix("nixpkgs#"));
    if let Some(program) = program.filter(|_| sub == "run") {
        let mut words = vec![Field::literal(program, doorward_shell::Span::default())];
        let mut rest = operands.iter().skip(1).peekable();
        if rest.peek().is_some_and(|word| word.text == "--") {
            rest.next();
        }
        words.extend(rest.cloned());
        inner_command(runner, words, invocation, state);
    }
}

/// `docker compose config` prints the settings with the values of `.env` in them, `docker inspect` those of a container.
fn composed(out: &mut Observer<'_>, invocation: &mut Invocation) {
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
    if shows
        && !invocation.args.has_any(&names_only)
        && file.is_none_or(|file| out.world.look(&file).kind == Kind::File)
    {
        let field = Field::literal(".env", doorward_shell::Span::default());
        out.touch(Touch::Read, &field, invocation.cwd.as_deref(), &invocation.by);
    }
}

/// `cargo run -- off` where the program is doorward itself.
fn cargo_runs_guard(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    if !matches!(invocation.by.name.as_str(), "cargo run" | "cargo r") {
        return;
    }
    let args = &invocation.args;
    let named: Vec<&Field> =
        ["--bin", "-p", "--package", "--example"].iter().filter_map(|flag| args.value(flag)).collect();
    let is_guard = if named.is_empty() {
        let manifest = invocation.cwd.as_deref().map(|cwd| path::join(cwd, "Cargo.toml"));
        match manifest.map(|manifest| runner.out.world.content(&manifest, MANIFEST_LIMIT)) {
            Some(Content::Text(text)) => text.contains("doorward"),
            Some(Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted)
            | None => is_for_a_person(runner.out, &args.operands),
        }
    } else {
        named.iter().any(|field| field.exact().is_none_or(|text| text.contains("doorward")))
    };
    let Some(entry) = runner.out.knowledge.entry("doorward").filter(|_| is_guard) else { return };
    let words = args.operands.clone();
    let by = By { name: "doorward".to_owned(), part: invocation.by.part };
    invoke(runner, entry, &words, state, invocation.input.clone(), by);
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

fn is_ruby_file(word: &Field) -> bool {
    word.exact().is_some_and(|text| {
        (text.ends_with(".rb") && !text.contains([' ', '(', ';'])) || (text.starts_with('-') && text != "-")
    })
}
