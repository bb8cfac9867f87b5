//! Recipes that were written or changed since the project was trusted: what a command runs of them, judged as what it is.

mod arrived;
mod compose;
pub mod files;
mod ini;
mod json;
mod justfile;
mod make_goals;
mod make_text;
mod makefile;
mod runner;
mod settings;
mod sources;
mod tasks;
mod trusted;
mod unread;
mod yaml;

pub use compose::{stays_in_project as compose_stays_in_project, stays_inside as compose_stays_inside};
pub use files::Files;
pub use settings::usual_package;

use crate::observe::code::{self, Manner};
use crate::observe::program::Invocation;
use crate::observe::program::written::says_itself;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::path;
use crate::world::Shell;
use doorward_vocabulary::{Degree, Mark, Marks, Operation};
use runner::Task;
pub use runner::of as task_of;

/// One thing that a recipe does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A line that a shell runs.
    Shell(String),
    /// A file of its own, whose first line says who runs it.
    File(String),
    /// A package that is installed first.
    Package(String),
}

/// Recipes inside recipes deeper than this are not followed.
const NESTING: u32 = 34;

impl Runner<'_, '_> {
    /// Follows every changed file that decides what runs; yields the first one that cannot be followed.
    pub fn follow(
        &mut self,
        deciding: &[String],
        invocation: &mut Invocation,
        state: &mut State<'_>,
    ) -> Option<String> {
        let task = runner::of(invocation);
        let mut waiting = false;
        for file in deciding {
            match self.one_file(file, task, invocation, state) {
                Followed::Yes => {}
                Followed::ByTask => waiting = true,
                Followed::No => return Some(path::name(file).to_owned()),
            }
        }
        if waiting && !self.follow_task(task?, invocation, state) {
            return deciding.first().map(|file| path::name(file).to_owned());
        }
        None
    }

    /// Runs the steps of the task that the command names, as far as they can be said.
    pub fn follow_task(&mut self, task: Task, invocation: &mut Invocation, state: &mut State<'_>) -> bool {
        let Some(cwd) = invocation.cwd.clone() else { return false };
        if self.depth > NESTING {
            return false;
        }
        let found = {
            let files = Files { world: self.out.world, state, directory: &cwd };
            task.steps(invocation, &files)
        };
        let Some((steps, size)) = found else { return false };
        if !self.out.spend(8 + u32::try_from(size / 32 + steps.len()).unwrap_or(u32::MAX)) {
            return false;
        }
        let mut inner: State<'_> = state.clone();
        inner.cwd = Some(cwd.as_str().into());
        inner.functions = Default::default();
        self.depth += 3;
        let all = steps.iter().all(|step| self.step(step, invocation, &mut inner));
        self.depth -= 3;
        state.written = inner.written;
        state.git = inner.git;
        all
    }

    /// The file in which the task of a command is written is run like a script.
    pub fn note_task(&mut self, invocation: &Invocation, state: &State<'_>) {
        let (Some(task), Some(cwd)) = (runner::of(invocation), invocation.cwd.as_deref()) else { return };
        let files = Files { world: self.out.world, state, directory: cwd };
        if let Some(file) = task.path(invocation, &files) {
            self.out.note_run(&file);
        }
    }

    /// The command names a task that is written down.
    pub fn is_written_down(&self, invocation: &Invocation, state: &State<'_>) -> bool {
        let (Some(task), Some(cwd)) = (runner::of(invocation), invocation.cwd.as_deref()) else { return false };
        let files = Files { world: self.out.world, state, directory: cwd };
        task.steps(invocation, &files).is_some()
    }

    pub(super) fn step(&mut self, step: &Step, invocation: &Invocation, state: &mut State<'_>) -> bool {
        let part = invocation.by.part;
        match step {
            Step::Shell(text) => {
                self.subshell_text(text, state, invocation.input.clone(), part);
                true
            }
            Step::File(text) => match says_itself(text) {
                Some(crate::observe::program::written::Written::Shell(shell)) => {
                    self.text_of(shell, text, state, invocation.input.clone(), part);
                    true
                }
                Some(crate::observe::program::written::Written::In(language)) => {
                    self.code(text, Some(language), state, &invocation.by);
                    true
                }
                None => false,
            },
            Step::Package(name) => settings::usual_package(name),
        }
    }

    /// One changed file: code of its own, settings, or what the command's task is written in.
    fn one_file(
        &mut self,
        file: &str,
        task: Option<Task>,
        invocation: &mut Invocation,
        state: &mut State<'_>,
    ) -> Followed {
        let name = path::name(file);
        let program = invocation.args.chain.first().map(|entry| entry.key.to_string()).unwrap_or_default();
        if let Some(task) = task.filter(|task| task.is_written_in(name)) {
            return if task.is_compose() && !self.compose_is_plain(file, state) {
                Followed::No
            } else {
                Followed::ByTask
            };
        }
        let own =
            invocation.args.chain.iter().any(|entry| {
                entry.delegates.iter().any(|pattern| crate::observe::program::recipe::decides(pattern, file))
            });
        if !own && runner::is_task_file(name) {
            return Followed::Yes;
        }
        let Some(text) = files::text(file, self.out.world, state) else { return Followed::No };
        if name == ".envrc" {
            let mut inner: State<'_> = state.clone();
            inner.cwd = Some(path::parent(file).into());
            // direnv has bash evaluate it.
            self.text_of(
                Shell::Bash,
                &settings::plain_shell(&text),
                &inner,
                invocation.input.clone(),
                invocation.by.part,
            );
            return Followed::Yes;
        }
        if code::of_file(file).is_some() && settings::is_code(name) {
            return self.recipe_code(file, &text, invocation, state);
        }
        if settings::are_plain(&program, name, &text) { Followed::Yes } else { Followed::No }
    }

    fn compose_is_plain(&self, file: &str, state: &State<'_>) -> bool {
        files::text(file, self.out.world, state).is_some_and(|text| compose::stays_inside(&text))
    }

    /// Code that a tool loads by itself: `conftest.py`, `vite.config.js`.
    fn recipe_code(&mut self, file: &str, text: &str, invocation: &mut Invocation, state: &mut State<'_>) -> Followed {
        if self.loading.iter().any(|known| known == file) {
            return Followed::Yes;
        }
        self.loading.push(file.to_owned());
        let before = std::mem::replace(&mut self.manner, Manner::Recipe);
        let beside = Some(path::parent(file).to_owned());
        self.code_beside(beside, text, code::of_file(file), state, &invocation.by);
        self.manner = before;
        self.loading.pop();
        Followed::Yes
    }

    /// Nothing that decides changed, but something that the recipe names or loads may have.
    pub fn follow_mentioned(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let changed = self.changed_code(state);
        if changed.is_empty() {
            return;
        }
        if let Some(language) = sources::loaded_by(invocation) {
            self.sources(language, &changed, &invocation.by, state);
        }
        let (Some(task), Some(cwd)) = (runner::of(invocation), invocation.cwd.clone()) else { return };
        let text = {
            let files = Files { world: self.out.world, state, directory: &cwd };
            task.text(invocation, &files)
        };
        let Some(text) = text else {
            // Whatever the script is, it runs code of the project.
            if task == Task::Package {
                self.sources(doorward_code::Language::JavaScript, &changed, &invocation.by, state);
            }
            return;
        };
        for language in sources::tested_in(&text) {
            self.sources(language, &changed, &invocation.by, state);
        }
        self.mentioned(&text, &changed, task, invocation, state);
    }

    fn mentioned(
        &mut self,
        text: &str,
        changed: &[String],
        task: Task,
        invocation: &mut Invocation,
        state: &mut State<'_>,
    ) {
        let words: std::collections::BTreeSet<&str> = sources::words(text).map(path::name).collect();
        for file in changed {
            let name = path::name(file);
            let runs_other = runner::runners_of(name).iter().any(|runner| words.contains(runner));
            if runs_other && !task.is_written_in(name) {
                if !self.follow_task(task, invocation, state) {
                    self.out.lower(Degree::Opaque, format!("`{name}`, which changed, and what of it is run"));
                    self.out.unknown(Operation::Execute, &invocation.by, Marks::default().with(Mark::ChangedRecipe));
                }
                return;
            }
            if words.contains(name) && !runner::is_task_file(name) {
                let by = invocation.by.clone();
                self.changed_script(file, state, &by);
            }
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
