//! Script files that a program is told to run or load: judged by their text, or by where they come from.

use doorward_code::Language;
use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::Invocation;
use super::builds::builds_directory;
use super::console::{console_input, console_of};
use super::provenance::is_built;
use super::recipe::{project_program, run_file};
use crate::knowledge::schema::{Check, Role};
use crate::observe::code;
use crate::observe::field::{Field, positional};
use crate::observe::paths::carried::{carried_file, note_carried_run};
use crate::observe::program::file_trust::{
    FileRun, How, decides, executes_file, is_changed, is_own_setting, not_as_trusted, was_there,
};
use crate::observe::recipes::arrived::{foreign_place, has_arrived, holds_arrivals};
use crate::observe::recipes::sources::{changed_imports, one_source};
use crate::observe::shell::grammar::Builtin;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;
use crate::world::{Kind, Tracking, World};

/// A value that names a file with code in it.
pub(crate) fn script_file(
    runner: &mut Runner<'_, '_>,
    field: &Field,
    role: Role,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let by = invocation.by.clone();
    let sources = Builtin::named(&by.name).is_some_and(Builtin::sources);
    let words = invocation.args.operands.get(1..).unwrap_or_default();
    let outer = state.positional.clone();
    if !sources || !words.is_empty() {
        state.positional = positional(words);
    }
    run_script(runner, field, role, invocation, state);
    state.positional = outer;
}

fn run_script(
    runner: &mut Runner<'_, '_>,
    field: &Field,
    role: Role,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let by = invocation.by.clone();
    if let Some(Stream { text, .. }) = &field.process {
        let stream = Stream { text: text.clone(), ..Stream::unknown(field.origin) };
        runner.run_stream(&stream, state, &by);
        return;
    }
    if matches!(field.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
        let input = invocation.input.clone();
        runner.run_stream(&input, state, &by);
        return;
    }
    // `tests/test_a.py::test_b` names a test inside a file.
    let file = field.exact().map(|text| text.split("::").next().unwrap_or(text));
    let absolute = match (file, invocation.cwd.as_deref()) {
        (Some(text), _) if text.starts_with('/') => Some(text.to_owned()),
        (Some(text), Some(cwd)) => Some(path::join(cwd, text)),
        (Some(_) | None, Some(_) | None) => None,
    };
    if field.text.contains("://") || (field.text.contains('@') && !field.text.starts_with(['/', '.'])) {
        runner.out.lower(Degree::Opaque, format!("`{}`, fetched and run by `{}`", field.shown(), by.name));
        runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::RemoteCode));
        return;
    }
    let Some(absolute) = absolute else {
        runner.out.lower(Degree::Opaque, format!("which file `{}` runs", by.name));
        runner.out.unknown(Operation::Execute, &by, Marks::default());
        return;
    };
    note_carried_run(runner.out, &absolute);
    let absolute =
        carried_file(runner.out, &absolute).filter(|_| !state.written.contains_key(&absolute)).unwrap_or(absolute);
    if role == Role::Script && builds_directory(runner.out, &absolute, invocation, state) {
        return;
    }
    let resolved = path::resolve(&absolute, runner.out.world, path::Follow::Last);
    if resolved.lost {
        runner.out.lower(Degree::Opaque, format!("where the links of `{absolute}` end"));
    }
    // A file may be called like this, but where none is known to be it is more likely code that was taken for a name.
    let is_there =
        runner.out.world.look(&resolved.real).kind == Kind::File || state.written.contains_key(&resolved.real);
    if !is_there && file.is_some_and(|text| text.contains(|sign: char| " (){};\"'$`|<>!\n".contains(sign))) {
        runner.out.lower(Degree::Opaque, format!("whether `{}` is a file or code", field.shown()));
        runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::InlineCode));
        return;
    }
    let real = loaded_as(runner.out.world, resolved.real, role, state);
    run_found(runner, &real, role, invocation, state);
}

/// Runs the file that a script's name leads to.
fn run_found(runner: &mut Runner<'_, '_>, real: &str, role: Role, invocation: &mut Invocation, state: &mut State<'_>) {
    let by = invocation.by.clone();
    if crate::place::classify(real, runner.out.world).sensitivity > doorward_vocabulary::Sensitivity::None {
        runner.out.touch_path(crate::observe::paths::touch::Touch::Read, real, &by, Marks::default());
    }
    let inside = runner.out.world.project().is_some_and(|project| path::under(real, project));
    let runs_project = invocation.does.iter().any(|does| does.operation == Operation::Execute);
    if inside && role == Role::Config && runs_project && is_own_setting(runner.out.world, real, state) {
        // It is a part of the recipe that the tool follows anyway.
        changed_imports(runner, real, state);
        return runner.out.lower(Degree::Delegated, format!("`{}` of the project", path::name(real)));
    }
    if inside && role == Role::Config && runs_project && is_own_directory(runner.out.world, real, invocation, state) {
        return runner.out.lower(Degree::Delegated, format!("`{}` of the project", path::name(real)));
    }
    if inside
        && role != Role::Config
        && let Some(language) = changed_test(runner.out.world, real, invocation, state)
    {
        // Whether the runner finds a test by itself or is given its name makes no difference to what the test does.
        one_source(runner, real, language, &by, state);
        return runner.out.lower(Degree::Delegated, format!("`{}` of the project", path::name(real)));
    }
    let input = Stream::unknown(Default::default());
    if is_built(runner.out, real, state) {
        let run = FileRun { file: real, input: &input, by: &by, how: How::Read };
        return project_program(runner, &run, &invocation.args.operands.clone(), state);
    }
    if inside {
        let words = invocation.args.operands.clone();
        let framework = console_of(path::name(real));
        console_input(runner.out, framework, words.get(1..).unwrap_or_default(), &invocation.input, &by);
        let run = FileRun { file: real, input: &input, by: &by, how: How::Read };
        project_script(runner, &run, &words, role, state);
    } else if role == Role::Config && runner.out.world.tracking(real) == Tracking::Outside {
        runner.out.lower(Degree::Opaque, format!("the configuration `{}` given to `{}`", path::name(real), by.name));
        executes_file(runner.out, real, &by, Marks::default().with(Mark::OutsideProject));
    } else {
        let run = FileRun { file: real, input: &input, by: &by, how: How::Read };
        run_file(runner, &run, Mark::OutsideProject, state);
    }
}

/// A test of the trusted project that was edited, given to a test runner by its name.
fn changed_test(world: &dyn World, file: &str, invocation: &Invocation, state: &State<'_>) -> Option<Language> {
    let is_test = invocation.does.iter().any(|does| does.marks.has(Mark::Test));
    let is_own = || {
        world.project_trusted()
            && is_changed(world, file, state)
            && !has_arrived(world, file, state)
            && foreign_place(world, file, state).is_none()
    };
    code::of_file(file).filter(|_| is_test && is_own())
}

/// `tsc -p packages/ui`: a directory of the project in which none of the files changed that say what the program does. Its own
/// age says nothing: it changes with every file that is saved in it.
fn is_own_directory(world: &dyn World, directory: &str, invocation: &Invocation, state: &State<'_>) -> bool {
    let patterns: Vec<&str> =
        invocation.args.chain.iter().flat_map(|entry| entry.delegates.iter().map(|pattern| &**pattern)).collect();
    let decides_there =
        |file: &String| path::parent(file) == directory && patterns.iter().any(|pattern| decides(pattern, file));
    // Other programs may run whatever lies in the directory.
    let only_reads = invocation.args.entry().is_some_and(|entry| entry.check == Some(Check::ProjectReferences));
    only_reads
        && world.project_trusted()
        && world.look(directory).kind == Kind::Directory
        && !world.changed_files().iter().chain(state.written.keys()).any(decides_there)
        && !state.written.contains_key(directory)
        && !holds_arrivals(world, directory, state)
        && foreign_place(world, directory, state).is_none()
}

/// `-r ./setup` loads `setup.js` or `setup.rb`: the file that was written or changed, if there is one.
fn loaded_as(world: &dyn World, file: String, role: Role, state: &State<'_>) -> String {
    // In the order in which Node, Ruby and Python complete the name of a module.
    const ENDINGS: &[&str] =
        &[".js", ".mjs", ".cjs", ".ts", ".mts", ".json", ".rb", ".py", "/index.js", "/index.ts", "/__init__.py"];
    if role != Role::Script || code::of_file(&file).is_some() || state.written.contains_key(&file) {
        return file;
    }
    let mut candidates = ENDINGS.iter().map(|ending| format!("{file}{ending}"));
    candidates.find(|candidate| is_changed(world, candidate, state)).unwrap_or(file)
}

fn project_script(runner: &mut Runner<'_, '_>, run: &FileRun<'_>, words: &[Field], role: Role, state: &mut State<'_>) {
    let real = run.file;
    let tracked =
        matches!(runner.out.world.tracking(real), Tracking::Clean | Tracking::Modified | Tracking::Rebuildable)
            || was_there(runner.out.world, real, state);
    if is_changed(runner.out.world, real, state) || !tracked {
        if role == Role::ScriptSh || real.ends_with(".sh") || code::of_file(real).is_some() {
            return run_file(runner, run, Mark::SessionFile, state);
        }
        runner.out.lower(
            Degree::Opaque,
            format!("`{}`, {}", path::name(real), not_as_trusted(runner.out.world, real, state)),
        );
        return executes_file(runner.out, real, run.by, Marks::default().with(Mark::SessionFile));
    }
    project_program(runner, run, words, state);
}
