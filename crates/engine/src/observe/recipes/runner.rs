//! Programs that run tasks which are written down in files.

use super::{Files, Step, justfile, make_goals, makefile, tasks};
use crate::knowledge::packed::Packed;
use crate::knowledge::schema::{Facet, Grammar, Role, TaskFile};
use crate::observe::program::Invocation;

/// A program that runs tasks, by where they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task(TaskFile);

// In make's own order: a new `GNUmakefile` takes the place of the trusted `Makefile`.
const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
// just accepts any case; these are the spellings that people commit.
const JUSTFILES: &[&str] = &["justfile", "Justfile", ".justfile"];
// In Task's own order.
const TASKFILES: &[&str] = &["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml"];
// mise merges both.
const MISE: &[&str] = &["mise.toml", ".mise.toml"];
// In compose's own order.
const COMPOSE: &[&str] = &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];

/// The task runner that a command is.
pub(crate) fn of(invocation: &Invocation) -> Option<Task> {
    let chain = &invocation.args.chain;
    let last = chain.last()?;
    let written = chain.iter().rev().find_map(|entry| entry.tasks)?;
    let runs = match written {
        // Their other subcommands make and look at what the file describes.
        TaskFile::Make | TaskFile::Tox | TaskFile::Compose => true,
        TaskFile::Package => {
            let sub = last.key.split(' ').next_back().unwrap_or_default();
            // `npx` runs a program.
            let takes_command = last.operands.first().is_some_and(|operand| operand.role == Role::Command);
            (last.grammar == Some(Grammar::PackageScript) && !takes_command) || named_script(sub).is_some()
        }
        TaskFile::Just
        | TaskFile::Taskfile
        | TaskFile::Mise
        | TaskFile::Deno
        | TaskFile::Composer
        | TaskFile::Poe
        | TaskFile::Pdm
        | TaskFile::Hatch
        | TaskFile::Rye => {
            chain.iter().any(|entry| entry.facets.has(Facet::RunsTasks) || entry.facets.has(Facet::RunsTask))
        }
    };
    runs.then_some(Task(written))
}

/// Scripts of the manifest that an installation runs by itself.
pub(super) fn lifecycle(invocation: &Invocation) -> &'static [&'static str] {
    let chain = &invocation.args.chain;
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else { return &[] };
    let installs = match last.key.split(' ').next_back().unwrap_or_default() {
        "install" | "i" | "ci" | "add" | "clean-install" | "rebuild" => true,
        // `yarn` alone installs.
        _ => chain.len() == 1 && invocation.args.operands.is_empty(),
    };
    let runs = installs && !invocation.args.has_any(&["--ignore-scripts", "-g", "--global"]);
    if runs && first.tasks == Some(TaskFile::Package) { &["install", "prepare"] } else { &[] }
}

/// `npm test` runs the script of that name.
fn named_script(sub: &str) -> Option<&'static str> {
    match sub {
        "test" | "t" | "tst" => Some("test"),
        "start" => Some("start"),
        "stop" => Some("stop"),
        "restart" => Some("restart"),
        _ => None,
    }
}

/// Where tasks are written that a file of this name holds. Manifests of Python hold settings of many tools, and are not meant.
fn written_in(name: &str) -> Option<TaskFile> {
    match name {
        _ if MAKEFILES.contains(&name) || name.ends_with(".mk") => Some(TaskFile::Make),
        _ if JUSTFILES.contains(&name) || name.ends_with(".just") => Some(TaskFile::Just),
        _ if TASKFILES.contains(&name) => Some(TaskFile::Taskfile),
        _ if MISE.contains(&name) => Some(TaskFile::Mise),
        _ if COMPOSE.contains(&name) => Some(TaskFile::Compose),
        "package.json" => Some(TaskFile::Package),
        "tox.ini" => Some(TaskFile::Tox),
        "deno.json" | "deno.jsonc" => Some(TaskFile::Deno),
        "composer.json" => Some(TaskFile::Composer),
        _ => None,
    }
}

/// A file in which tasks are written, for whatever runner.
pub(super) fn is_task_file(name: &str) -> bool {
    written_in(name).is_some()
}

/// The word is a program that runs the tasks of a file of this name.
pub(super) fn is_run_by(name: &str, word: &str, knowledge: &Packed) -> bool {
    written_in(name).is_some_and(|written| {
        knowledge.tasks(word) == Some(written)
            // `$(MAKE)`, `docker compose`.
            || matches!((written, word), (TaskFile::Make, "MAKE") | (TaskFile::Compose, "compose"))
    })
}

impl Task {
    /// The tasks of this runner are written in a file of that name.
    pub(crate) fn is_written_in(self, name: &str) -> bool {
        match self.0 {
            TaskFile::Make => MAKEFILES.contains(&name) || name.ends_with(".mk") || name.starts_with("Makefile."),
            TaskFile::Poe | TaskFile::Pdm | TaskFile::Hatch | TaskFile::Rye => name == "pyproject.toml",
            other @ (TaskFile::Just
            | TaskFile::Taskfile
            | TaskFile::Mise
            | TaskFile::Package
            | TaskFile::Deno
            | TaskFile::Composer
            | TaskFile::Tox
            | TaskFile::Compose) => written_in(name) == Some(other),
        }
    }

    pub(crate) fn is_compose(self) -> bool {
        self.0 == TaskFile::Compose
    }

    /// The task is a script of a `package.json`.
    pub(crate) fn is_package_script(self) -> bool {
        self.0 == TaskFile::Package
    }

    fn file(self, invocation: &Invocation, files: &Files<'_>) -> Option<String> {
        let flags: &[&str] = match self.0 {
            TaskFile::Make => &["-f", "--file", "--makefile"],
            TaskFile::Just => &["-f", "--justfile"],
            TaskFile::Taskfile => &["-t", "--taskfile"],
            TaskFile::Tox => &["-c", "--conf"],
            TaskFile::Mise
            | TaskFile::Package
            | TaskFile::Deno
            | TaskFile::Composer
            | TaskFile::Poe
            | TaskFile::Pdm
            | TaskFile::Hatch
            | TaskFile::Rye
            | TaskFile::Compose => &[],
        };
        if let Some(given) = flags.iter().find_map(|flag| invocation.args.value(flag)) {
            return given.exact().map(str::to_owned);
        }
        let names: &[&str] = match self.0 {
            TaskFile::Make => MAKEFILES,
            TaskFile::Just => JUSTFILES,
            TaskFile::Taskfile => TASKFILES,
            TaskFile::Mise => MISE,
            TaskFile::Package => &["package.json"],
            TaskFile::Deno => &["deno.json", "deno.jsonc"],
            TaskFile::Composer => &["composer.json"],
            TaskFile::Tox => &["tox.ini"],
            TaskFile::Poe | TaskFile::Pdm | TaskFile::Hatch | TaskFile::Rye => &["pyproject.toml"],
            TaskFile::Compose => COMPOSE,
        };
        files.first(names).map(str::to_owned)
    }

    /// The file in which the tasks are written.
    pub(crate) fn path(self, invocation: &Invocation, files: &Files<'_>) -> Option<String> {
        Some(files.path(&self.file(invocation, files)?))
    }

    /// The text of the file in which the tasks are written.
    pub(crate) fn text(self, invocation: &Invocation, files: &Files<'_>) -> Option<String> {
        files.text(&self.file(invocation, files)?)
    }

    /// What the command runs, and how much had to be read for it.
    pub(crate) fn steps(self, invocation: &Invocation, files: &Files<'_>) -> Option<(Vec<Step>, usize)> {
        let file = self.file(invocation, files)?;
        let text = files.text(&file)?;
        let words = words(invocation)?;
        let script = || script_name(invocation, &words);
        let steps = match self.0 {
            TaskFile::Make => {
                let (given, goals): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| word.contains('='));
                let mut makefile = makefile::read(&file, &text, files)?;
                makefile.doubt(|name| files.is_set(name));
                given.iter().try_for_each(|word| makefile.override_with(word))?;
                if invocation.args.has_any(&["-e", "--environment-overrides", "--eval", "-E"]) {
                    return None;
                }
                make_goals::commands(&makefile, &goals)?.into_iter().map(Step::Shell).collect()
            }
            // Variables of the command line are not put in.
            TaskFile::Just | TaskFile::Taskfile if words.iter().any(|word| word.contains('=')) => return None,
            TaskFile::Just => justfile::steps(&text, &words, files)?,
            TaskFile::Taskfile => tasks::taskfile(&text, &words)?,
            TaskFile::Mise => behind(tasks::mise(&text, &words)?, words.get(1..)?),
            TaskFile::Package | TaskFile::Composer => {
                found(tasks::scripts(&text, "scripts", &script()?, given(invocation, &words))?)?
            }
            TaskFile::Deno => found(tasks::scripts(&text, "tasks", &script()?, given(invocation, &words))?)?,
            TaskFile::Tox => tasks::tox(&text, &words)?,
            TaskFile::Poe | TaskFile::Pdm | TaskFile::Hatch | TaskFile::Rye => {
                behind(tasks::pyproject(&text, self.0, words.first()?)?, words.get(1..)?)
            }
            TaskFile::Compose => Vec::new(),
        };
        Some((steps, text.len()))
    }
}

/// What is handed on to the script.
fn given<'w>(invocation: &Invocation, words: &'w [String]) -> &'w [String] {
    let last = invocation.args.chain.last();
    let named = last.is_some_and(|entry| {
        entry.grammar != Some(Grammar::PackageScript)
            && named_script(entry.key.split(' ').next_back().unwrap_or_default()).is_some()
    });
    words.get(usize::from(!named)..).unwrap_or_default()
}

/// Every command with the words behind it that may be put there.
fn behind(steps: Vec<Step>, words: &[String]) -> Vec<Step> {
    let add = |step: Step| match step {
        Step::Shell(text) => Step::Shell(with_words(&text, words)),
        Step::File(_) | Step::Package(_) => step,
    };
    if words.is_empty() { steps } else { steps.into_iter().map(add).collect() }
}

/// A command with more words behind it, quoted.
pub(super) fn with_words(text: &str, words: &[String]) -> String {
    let mut text = text.trim_end().to_owned();
    for word in words.iter().filter(|word| *word != "--") {
        text.push_str(&format!(" '{}'", word.replace('\'', "'\\''")));
    }
    text
}

/// A script that is not there is something else: a program of a package, most often.
fn found(steps: Vec<Step>) -> Option<Vec<Step>> {
    (!steps.is_empty()).then_some(steps)
}

/// The operands, if they are all known.
fn words(invocation: &Invocation) -> Option<Vec<String>> {
    invocation.args.operands.iter().map(|field| field.exact().map(str::to_owned)).collect()
}

fn script_name(invocation: &Invocation, words: &[String]) -> Option<String> {
    let chosen = ["-w", "--workspace", "-ws", "--workspaces", "--filter", "-r", "--recursive", "-F"];
    if invocation.args.has_any(&chosen) {
        return None;
    }
    let last = invocation.args.chain.last()?;
    let sub = last.key.split(' ').next_back().unwrap_or_default();
    match named_script(sub).filter(|_| last.grammar != Some(Grammar::PackageScript)) {
        Some(name) => Some(name.to_owned()),
        None => words.first().cloned(),
    }
}
