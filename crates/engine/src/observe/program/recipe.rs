//! Code that lives in files: project recipes, scripts, binaries, looked up and weighed by where they come from.

use doorward_code::Language;
use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation};

use super::Invocation;
use super::console::{console, console_of};
use super::file_trust::{FileRun, How, decides, executes_file, is_changed, was_there};
use super::forwarded_args::asks_to_destroy;
use super::grammar::says_itself;
use super::inner::inner_command;
use super::invocation::{Known, Start};
use super::invoke::invoke;
use super::provenance::is_built;
use super::written::{Written, read_as};
use crate::foreign_settings;
use crate::knowledge::schema::Facet;
use crate::observe::code::{Source, code_beside};
use crate::observe::field::Field;
use crate::observe::program::file_trust::fetched_here;
use crate::observe::recipes::arrived::{foreign_code, foreign_place, foreign_run, unread_arrivals};
use crate::observe::recipes::sources::{changed_code, changed_imports, changed_mentions, may_run, sources};
use crate::observe::recipes::trusted::{look_through, look_through_file};
use crate::observe::recipes::unread::{names_stores, unread_sources};
use crate::observe::recipes::{follow, follow_mentioned, follow_task, note_task};
use crate::observe::shell::runner::{Manner, Runner};
use crate::observe::shell::state::State;
use crate::path;
use crate::world::{Content, Tracking, World};

/// Words that ask a script to destroy something.
// Project scripts name their tasks freely; with one of these words they say themselves that data is lost.
const DESTROYING: &[&str] = &[
    "flush", "drop", "drop-db", "drop_db", "purge", "destroy", "wipe", "truncate", "nuke", "reset-db", "db:drop",
    "db:reset", "teardown",
];

/// Longer scripts are not looked through.
// Scripts are written by hand. A longer file is a bundle, which reading would not explain.
const SCRIPT_LIMIT: usize = 256 * 1024;

/// A command that runs a recipe of the project: delegated if the project is trusted and the recipe unchanged.
pub(crate) fn recipe(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let runs_project = [Mark::Test, Mark::Build, Mark::Lint, Mark::RunsProject, Mark::InstallDeclared];
    if !invocation.does.iter().any(|does| does.operation == Operation::Execute && does.marks.has_any(&runs_project)) {
        return;
    }
    note_task(runner.out, invocation, state);
    let mut marks = Marks::default();
    let deciding = self::deciding(runner.out.world, invocation, state);
    if let Some(changed) = follow(runner, &deciding, invocation, state) {
        marks.add(Mark::ChangedRecipe);
        runner.out.lower(
            Degree::Opaque,
            format!(
                "`{changed}` has changed since you trusted the project, and it decides what `{}` runs",
                invocation.by.name
            ),
        );
    } else {
        follow_mentioned(runner, invocation, state);
    }
    unread_sources(runner.out, invocation, state);
    unread_arrivals(runner, invocation, state);
    if let Some(place) = foreign_run(runner.out.world, invocation, state) {
        marks.add(Mark::ChangedRecipe);
        runner.out.lower(Degree::Opaque, foreign_code(runner.out.world, &place, &invocation.by.name));
    }
    if let Some(place) = fetched_here(invocation.cwd.as_deref(), state) {
        marks.add(Mark::ChangedRecipe);
        runner
            .out
            .lower(Degree::Opaque, format!("`{}` runs code in `{place}`, which this call fetched", invocation.by.name));
    }
    let inside = match (&invocation.cwd, runner.out.world.project()) {
        (Some(cwd), Some(project)) => path::under(cwd, project),
        (Some(_) | None, Some(_) | None) => false,
    };
    if !runner.out.world.project_trusted() {
        marks.add(Mark::UntrustedProject);
        runner
            .out
            .lower(Degree::Opaque, format!("`{}` runs code of a project that isn't trusted yet", invocation.by.name));
    } else if !inside {
        marks.add(Mark::OutsideProject);
        runner.out.lower(Degree::Opaque, format!("`{}` runs code outside the project", invocation.by.name));
    }
    if marks.is_empty() {
        runner.out.lower(Degree::Delegated, format!("`{}` runs a recipe of the project", invocation.by.name));
        look_through(runner, invocation, state);
    } else if let (true, Some(task)) = (deciding.is_empty(), crate::observe::recipes::task_of(invocation)) {
        // It asks anyway; what it would do may be worse than that.
        follow_task(runner, task, invocation, state);
    }
    for does in &mut invocation.does {
        does.marks.union(marks);
    }
}

/// The files that decide what runs and that changed since the project was trusted.
fn deciding(world: &dyn World, invocation: &Invocation, state: &State<'_>) -> Vec<String> {
    let patterns: Vec<&str> =
        invocation.args.chain.iter().flat_map(|entry| entry.delegates.iter().map(|pattern| &**pattern)).collect();
    let Some(project) = world.project() else { return Vec::new() };
    let changed = world.changed_files();
    let mut deciding: Vec<String> = changed
        .iter()
        .map(String::as_str)
        .chain(state.written.keys().map(String::as_str))
        .filter(|file| path::under(file, project))
        .filter(|file| {
            patterns.iter().any(|pattern| decides(pattern, file))
                || runs_on_load(world, file)
                || loads_from_elsewhere(world, file, project, state)
        })
        .map(str::to_owned)
        .collect();
    deciding.sort();
    deciding.dedup();
    deciding
}

/// Settings that make some tool load code from outside the project, whichever tool that is.
fn loads_from_elsewhere(world: &dyn World, file: &str, project: &str, state: &State<'_>) -> bool {
    if !foreign_settings::is_data(file) {
        return false;
    }
    let text = match state.written.get(file) {
        Some(written) => written.content.clone(),
        None => match world.content(file, SCRIPT_LIMIT) {
            Content::Text(text) => Some(text),
            Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted => None,
        },
    };
    text.is_some_and(|text| foreign_settings::loads_from_elsewhere(file, &text, project))
}

/// A changed file that decides what a script of the project runs: what its program file names, or what tools load.
fn changed_beside(runner: &mut Runner<'_, '_>, file: &str, state: &mut State<'_>) -> Option<String> {
    let project = runner.out.world.project()?;
    let entry = runner.out.knowledge.entry(path::name(file));
    let patterns = entry.map(|entry| entry.delegates).unwrap_or_default();
    let decides_it = |changed: &&String| {
        patterns.iter().any(|pattern| decides(pattern, changed))
            || runs_on_load(runner.out.world, changed)
            || changed.contains("/wrapper/")
    };
    let changed = runner.out.world.changed_files();
    let unread = changed
        .iter()
        .filter(|changed| path::under(changed, project))
        .filter(decides_it)
        .find(|changed| !patterns.is_empty() || may_run(runner.out.world, file, changed, state))
        .map(|changed| path::name(changed).to_owned());
    if unread.is_none() {
        changed_imports(runner, file, state);
        changed_mentions(runner, file, state);
    }
    unread
}

/// Tools load such a file by themselves, whatever they are told to run.
fn runs_on_load(world: &dyn World, file: &str) -> bool {
    crate::place::classify(file, world).marks.has(Mark::RunsOnLoad)
}

/// A program that lies in the project.
pub(crate) fn project_program(runner: &mut Runner<'_, '_>, run: &FileRun<'_>, words: &[Field], state: &mut State<'_>) {
    let FileRun { file, by, .. } = *run;
    let is_built = is_built(runner.out, file, state);
    if !is_built && is_changed(runner.out.world, file, state) {
        return run_file(runner, run, Mark::SessionFile, state);
    }
    if foreign_place(runner.out.world, file, state).is_some() {
        return run_file(runner, run, Mark::OutsideProject, state);
    }
    if let Some(place) = fetched_here(Some(file), state) {
        runner.out.lower(Degree::Opaque, format!("`{}` is in `{place}`, which this call fetched", path::name(file)));
        return executes_file(runner.out, file, by, Marks::default().with(Mark::ChangedRecipe));
    }
    // What a build made loads no recipe; the build itself was judged with the recipe as it is.
    if let Some(changed) = changed_beside(runner, file, state).filter(|_| !is_built) {
        runner.out.lower(
            Degree::Opaque,
            format!(
                "`{changed}` has changed since you trusted the project, and it decides what `{}` runs",
                path::name(file)
            ),
        );
        // What the script plainly does through the changed file still counts (project-work-210).
        look_through_file(runner, run, state);
        return executes_file(runner.out, file, by, Marks::default().with(Mark::ChangedRecipe));
    }
    let tracking = runner.out.world.tracking(file);
    let mut marks = Marks::default().with(Mark::ProjectBinary).with(Mark::RunsProject);
    let name = path::name(file).to_ascii_lowercase();
    if ["deploy", "publish", "release", "rollout"].iter().any(|word| name.contains(word)) {
        marks.add(Mark::Deploy);
    }
    let handed = words.iter().map(|word| word.text.as_str());
    if words.iter().any(|word| word.exact().is_some_and(|text| DESTROYING.contains(&text)))
        || asks_to_destroy(path::name(file), handed)
    {
        marks.add(Mark::Destroys);
    }
    let itself = words.first().filter(|word| path::name(&word.text) == path::name(file));
    let rest = words.get(usize::from(itself.is_some())..).unwrap_or_default();
    if path::name(file) == "manage.py" {
        let changed = changed_code(runner.out.world, state);
        sources(runner, Language::Python, &changed, by, state);
    }
    if console(runner, console_of(path::name(file)), rest, state, by) {
        marks.add(Mark::Destroys);
    }
    wrapped_tool(runner, run, rest, state);
    names_stores(runner.out, by, state);
    match tracking {
        _ if is_built => {
            let changed = changed_code(runner.out.world, state);
            for language in [Language::Python, Language::JavaScript] {
                sources(runner, language, &changed, by, state);
            }
            runner.out.lower(Degree::Delegated, format!("`{}`, built from the project", path::name(file)));
        }
        Tracking::Clean | Tracking::Rebuildable | Tracking::Outside if is_of_trusted(runner.out.world, file, state) => {
            runner.out.lower(Degree::Delegated, format!("`{}` of the project", path::name(file)));
            look_through_file(runner, run, state);
        }
        Tracking::Clean | Tracking::Rebuildable => {
            marks.add(Mark::UntrustedProject);
            runner.out.lower(Degree::Opaque, format!("`{}` of a project that isn't trusted yet", path::name(file)));
        }
        Tracking::Modified | Tracking::Untracked | Tracking::Ignored | Tracking::Outside | Tracking::Unknown => {
            return run_file(runner, run, Mark::ProjectBinary, state);
        }
    }
    executes_file(runner.out, file, by, marks);
}

/// What runs with the trust in its project: what git tracks or a build makes, or what lay in a directory without git.
fn is_of_trusted(world: &dyn World, file: &str, state: &State<'_>) -> bool {
    world.project_trusted() && (world.tracking(file) != Tracking::Outside || was_there(world, file, state))
}

/// `./gradlew`, `node_modules/.bin/prisma`: a tool that lies in the project is read by its own table as well.
fn wrapped_tool(runner: &mut Runner<'_, '_>, run: &FileRun<'_>, words: &[Field], state: &mut State<'_>) {
    let file = run.file;
    let name = path::name(file);
    // Here package managers link programs of dependencies under the program's own name, so what doorward knows of it
    // applies.
    const PLACES: &[&str] = &["/node_modules/.bin/", "/vendor/bin/", "/.venv/bin/", "/venv/bin/"];
    let wraps =
        runner.out.knowledge.facets(name).has(Facet::LiesInProject) || PLACES.iter().any(|place| file.contains(place));
    // A file of the project may have the name of any program, but hardly that of one that works on projects.
    let is_own = path::name(path::parent(file)) == "bin";
    let task = words.first().map(|word| format!("{name} {}", word.text)).unwrap_or_default();
    let works_on_projects =
        [name, &task].iter().filter_map(|key| runner.out.knowledge.entry(key)).any(|entry| !entry.delegates.is_empty());
    let entry = runner.out.knowledge.entry(name);
    if let Some(entry) = entry.filter(|_| wraps || (is_own && works_on_projects)) {
        let start = Start { words, input: run.input.clone(), part: run.by.part };
        invoke(runner, Known { entry, name: name.to_owned() }, start, state);
    }
}

/// A file of uncertain origin is run: looked through if it is a shell script, otherwise not understood.
pub(crate) fn run_file(runner: &mut Runner<'_, '_>, run: &FileRun<'_>, mark: Mark, state: &mut State<'_>) {
    let FileRun { file, by, .. } = *run;
    let marks = Marks::default().with(mark);
    if let Some(written) = state.written.get(file).cloned() {
        if written.origin.download {
            runner.out.flow(FlowKind::DownloadToExecute, by.part, by.part);
        }
        match written.content.filter(|_| !written.origin.download) {
            Some(text) => file_text(runner, run, &text, state),
            None => runner.out.lower(Degree::Opaque, format!("what `{}` contains now", path::name(file))),
        }
        return executes_file(runner.out, file, by, marks.with(Mark::SessionFile));
    }
    match runner.out.world.content(file, SCRIPT_LIMIT) {
        Content::Text(text) => {
            file_text(runner, run, &text, state);
            executes_file(runner.out, file, by, marks);
        }
        Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted => {
            let is_built = runner.out.world.tracking(file) == Tracking::Rebuildable;
            let instead = if is_built {
                ", which was rebuilt: run it through its build tool instead"
            } else if mark == Mark::ChangedBinary {
                ", which changed since you listed it: run `doorward trust tools` to list it again"
            } else {
                ""
            };
            runner.out.lower(Degree::Opaque, format!("what `{}` does{instead}", path::name(file)));
            executes_file(runner.out, file, by, marks);
        }
    }
}

/// The content of a file, in the language in which it is run.
pub(crate) fn file_text(runner: &mut Runner<'_, '_>, run: &FileRun<'_>, text: &str, state: &mut State<'_>) {
    let FileRun { file, by, .. } = *run;
    let written = match run.how {
        How::Itself => says_itself(text),
        How::Read => read_as(runner.out.knowledge, file, &by.name, state.shell()),
    };
    match written {
        Some(Written::Shell(shell)) => {
            runner.text_of(shell, text, state, run.input.clone(), by.part);
        }
        Some(Written::In(language)) => {
            let beside = path::parent(file).to_owned();
            let manner = runner.manner;
            if manner == Manner::Strict {
                runner.manner = Manner::Script;
            }
            code_beside(runner, &Source { text, language: Some(language), by }, Some(beside), state);
            runner.manner = manner;
        }
        None => runner.out.lower(Degree::Opaque, format!("what `{}` does", path::name(file))),
    }
}

/// A value that names a program to run.
pub(crate) fn executes(runner: &mut Runner<'_, '_>, field: &Field, invocation: &mut Invocation, state: &mut State<'_>) {
    inner_command(runner, vec![field.clone()], invocation, state);
}
