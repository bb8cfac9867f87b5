//! Recipes that were written or changed since the project was trusted: what a command runs of them, judged as what it is.

pub(super) mod arrived;
mod compose;
pub(super) mod files;
mod ini;
mod json;
mod justfile;
mod make_goals;
mod make_text;
mod makefile;
mod runner;
mod settings;
pub(super) mod sources;
mod tasks;
pub(super) mod trusted;
pub(super) mod unread;
mod yaml;

pub(super) use compose::{stays_in_project as compose_stays_in_project, stays_inside as compose_stays_inside};
pub(super) use files::Files;
pub(super) use runner::of as task_of;
pub(super) use settings::usual_package;

use std::collections::BTreeMap;
use std::rc::Rc;

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use crate::observe::code::{self, Source, code, code_beside};
use crate::observe::program::Invocation;
use crate::observe::program::grammar::says_itself;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::runner::{Manner, Runner};
use crate::observe::shell::state::{State, WrittenFile};
use crate::path;
use crate::world::{Shell, World};
use runner::Task;
use sources::{changed_code, changed_script, sources};

/// One thing that a recipe does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A line that a shell runs.
    Shell(String),
    /// A file of its own, whose first line says who runs it.
    File(String),
    /// A package that is installed first.
    Package(String),
}

/// A task that was looked up, so that its file is not read again.
#[derive(Debug)]
pub(super) struct TaskLookup {
    /// Its steps and the size of what was read for them.
    steps: Option<(Vec<Step>, usize)>,
    /// What the call had written by then.
    written: Rc<BTreeMap<String, WrittenFile>>,
}

impl TaskLookup {
    /// Nothing was written since, so the file says the same.
    fn is_current(&self, state: &State<'_>) -> bool {
        Rc::ptr_eq(&self.written, &state.written)
    }
}

/// Recipes inside recipes deeper than this are not followed.
// `make` in `npm` in `make`: each level adds to the depth of the shell reader below it, which ends at 40.
const NESTING: u32 = 34;

/// Follows every changed file that decides what runs; yields the first one that cannot be followed.
pub(super) fn follow(
    runner: &mut Runner<'_, '_>,
    deciding: &[String],
    invocation: &mut Invocation,
    state: &mut State<'_>,
) -> Option<String> {
    let task = runner::of(invocation);
    let mut waiting = false;
    for file in deciding {
        match one_file(runner, file, task, invocation, state) {
            Followed::Yes => {}
            Followed::ByTask => waiting = true,
            Followed::No => return Some(path::name(file).to_owned()),
        }
    }
    if waiting && !follow_task(runner, task?, invocation, state) {
        return deciding.first().map(|file| path::name(file).to_owned());
    }
    None
}

/// Runs the steps of the task that the command names, as far as they can be said.
pub(super) fn follow_task(
    runner: &mut Runner<'_, '_>,
    task: Task,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) -> bool {
    let Some(cwd) = invocation.cwd.clone() else { return false };
    if runner.depth > NESTING {
        return false;
    }
    let lookup = invocation.task.take().filter(|lookup| lookup.is_current(state));
    let found = match lookup {
        Some(lookup) => lookup.steps,
        None => task.steps(invocation, &Files { world: runner.out.world, state, directory: &cwd }),
    };
    let Some((steps, size)) = found else { return false };
    if !runner.out.spend(8 + u32::try_from(size / 32 + steps.len()).unwrap_or(u32::MAX)) {
        return false;
    }
    let mut inner: State<'_> = state.clone();
    inner.cwd = Some(cwd.as_str().into());
    inner.functions = Default::default();
    runner.depth += 3;
    let all = steps.iter().all(|step| self::step(runner, step, invocation, &mut inner));
    runner.depth -= 3;
    state.written = inner.written;
    state.git = inner.git;
    all
}

/// The file in which the task of a command is written is run like a script.
pub(super) fn note_task(out: &mut Observer<'_>, invocation: &Invocation, state: &State<'_>) {
    let (Some(task), Some(cwd)) = (runner::of(invocation), invocation.cwd.as_deref()) else { return };
    let files = Files { world: out.world, state, directory: cwd };
    if let Some(file) = task.path(invocation, &files) {
        out.note_run(&file);
    }
}

/// The command names a task that is written down. What was found is kept for whoever follows it.
pub(super) fn is_written_down(world: &dyn World, invocation: &mut Invocation, state: &State<'_>) -> bool {
    let (Some(task), Some(cwd)) = (runner::of(invocation), invocation.cwd.as_deref()) else { return false };
    if let Some(lookup) = invocation.task.as_ref().filter(|lookup| lookup.is_current(state)) {
        return lookup.steps.is_some();
    }
    let steps = task.steps(invocation, &Files { world, state, directory: cwd });
    let is_found = steps.is_some();
    invocation.task = Some(TaskLookup { steps, written: Rc::clone(&state.written) });
    is_found
}

pub(super) fn step(runner: &mut Runner<'_, '_>, step: &Step, invocation: &Invocation, state: &mut State<'_>) -> bool {
    let part = invocation.by.part;
    match step {
        Step::Shell(text) => {
            runner.subshell_text(text, state, invocation.input.clone(), part);
            true
        }
        Step::File(text) => match says_itself(text) {
            Some(crate::observe::program::written::Written::Shell(shell)) => {
                runner.text_of(shell, text, state, invocation.input.clone(), part);
                true
            }
            Some(crate::observe::program::written::Written::In(language)) => {
                code(runner, &Source { text, language: Some(language), by: &invocation.by }, state);
                true
            }
            None => false,
        },
        Step::Package(name) => settings::usual_package(name),
    }
}

/// One changed file: code of its own, settings, or what the command's task is written in.
fn one_file(
    runner: &mut Runner<'_, '_>,
    file: &str,
    task: Option<Task>,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) -> Followed {
    let name = path::name(file);
    if let Some(task) = task.filter(|task| task.is_written_in(name)) {
        return if task.is_compose() && !compose_is_plain(runner.out.world, file, state) {
            Followed::No
        } else {
            Followed::ByTask
        };
    }
    let own =
        invocation.args.chain.iter().any(|entry| {
            entry.delegates.iter().any(|pattern| crate::observe::program::file_trust::decides(pattern, file))
        });
    if !own && runner::is_task_file(name) {
        return Followed::Yes;
    }
    let Some(text) = files::text(file, runner.out.world, state) else { return Followed::No };
    if name == ".envrc" {
        let mut inner: State<'_> = state.clone();
        inner.cwd = Some(path::parent(file).into());
        // direnv has bash evaluate it.
        runner.text_of(
            Shell::Bash,
            &settings::plain_shell(&text),
            &inner,
            invocation.input.clone(),
            invocation.by.part,
        );
        return Followed::Yes;
    }
    if code::of_file(file).is_some() && settings::is_code(name) {
        return recipe_code(runner, file, &text, invocation, state);
    }
    let sections = invocation.args.chain.first().map(|entry| entry.sections.as_slice()).unwrap_or_default();
    if settings::are_plain(sections, name, &text) { Followed::Yes } else { Followed::No }
}

fn compose_is_plain(world: &dyn World, file: &str, state: &State<'_>) -> bool {
    files::text(file, world, state).is_some_and(|text| compose::stays_inside(&text))
}

/// Code that a tool loads by itself: `conftest.py`, `vite.config.js`.
fn recipe_code(
    runner: &mut Runner<'_, '_>,
    file: &str,
    text: &str,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) -> Followed {
    if runner.loading.iter().any(|known| known == file) {
        return Followed::Yes;
    }
    runner.loading.push(file.to_owned());
    let before = std::mem::replace(&mut runner.manner, Manner::Recipe);
    let beside = Some(path::parent(file).to_owned());
    let source = Source { text, language: code::of_file(file), by: &invocation.by };
    code_beside(runner, &source, beside, state);
    runner.manner = before;
    runner.loading.pop();
    Followed::Yes
}

/// Nothing that decides changed, but something that the recipe names or loads may have.
pub(super) fn follow_mentioned(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let changed = changed_code(runner.out.world, state);
    if changed.is_empty() {
        return;
    }
    if let Some(language) = sources::loaded_by(invocation) {
        sources(runner, language, &changed, &invocation.by, state);
    }
    let (Some(task), Some(cwd)) = (runner::of(invocation), invocation.cwd.clone()) else { return };
    let text = {
        let files = Files { world: runner.out.world, state, directory: &cwd };
        task.text(invocation, &files)
    };
    let Some(text) = text else {
        // Whatever the script is, it runs code of the project.
        if task.is_package_script() {
            sources(runner, doorward_code::Language::JavaScript, &changed, &invocation.by, state);
        }
        return;
    };
    for language in sources::tested_in(&text, &runner.out.knowledge) {
        sources(runner, language, &changed, &invocation.by, state);
    }
    mentioned(runner, &text, &changed, task, invocation, state);
}

fn mentioned(
    runner: &mut Runner<'_, '_>,
    text: &str,
    changed: &[String],
    task: Task,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let words: std::collections::BTreeSet<&str> = sources::words(text).map(path::name).collect();
    for file in changed {
        let name = path::name(file);
        let runs_other = words.iter().any(|word| runner::is_run_by(name, word, &runner.out.knowledge));
        if runs_other && !task.is_written_in(name) {
            if !follow_task(runner, task, invocation, state) {
                runner.out.lower(Degree::Opaque, format!("which part of `{name}` runs, because it changed"));
                runner.out.unknown(Operation::Execute, &invocation.by, Marks::default().with(Mark::ChangedRecipe));
            }
            return;
        }
        if words.contains(name) && !runner::is_task_file(name) {
            let by = invocation.by.clone();
            changed_script(runner, file, state, &by);
        }
    }
}

/// What came of one changed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    /// It was judged, or decides nothing here.
    Yes,
    /// The steps of the task are written in it.
    ByTask,
    No,
}
