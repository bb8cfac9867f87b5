//! Programs that run tasks which are written down in files.

use super::{Files, Step, justfile, make_goals, makefile, tasks};
use crate::knowledge::schema::Grammar;
use crate::observe::program::Invocation;

/// A program that runs tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Make,
    Just,
    Taskfile,
    Mise,
    Package,
    Deno,
    Composer,
    Tox,
    Poe,
    Pdm,
    Hatch,
    Rye,
    Compose,
}

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
    let (first, last) = (chain.first()?, chain.last()?);
    let sub = last.key.split(' ').next_back().unwrap_or_default();
    let runs_script = last.grammar == Some(Grammar::PackageScript) && sub != "npx";
    match &*first.key {
        _ if first.grammar == Some(Grammar::Make) => Some(Task::Make),
        "just" => Some(Task::Just),
        "task" | "go-task" => Some(Task::Taskfile),
        "mise" | "rtx" if matches!(sub, "run" | "r") => Some(Task::Mise),
        "npm" | "pnpm" | "yarn" | "bun" if runs_script || named_script(sub).is_some() => Some(Task::Package),
        "deno" if sub == "task" => Some(Task::Deno),
        "composer" if matches!(sub, "run-script" | "run") => Some(Task::Composer),
        "tox" => Some(Task::Tox),
        "poe" => Some(Task::Poe),
        "pdm" if sub == "run" => Some(Task::Pdm),
        "hatch" if sub == "run" => Some(Task::Hatch),
        "rye" if sub == "run" => Some(Task::Rye),
        "docker-compose" | "podman-compose" => Some(Task::Compose),
        "docker" | "podman" if last.key.contains(" compose") => Some(Task::Compose),
        _ => None,
    }
}

/// Scripts of the manifest that an installation runs by itself.
pub(super) fn lifecycle(invocation: &Invocation) -> &'static [&'static str] {
    let chain = &invocation.args.chain;
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else { return &[] };
    let installs = match last.key.split(' ').next_back().unwrap_or_default() {
        "install" | "i" | "ci" | "add" | "clean-install" | "rebuild" => true,
        // `yarn` alone installs.
        "yarn" => invocation.args.operands.is_empty(),
        _ => false,
    };
    let runs = installs && !invocation.args.has_any(&["--ignore-scripts", "-g", "--global"]);
    match &*first.key {
        "npm" | "pnpm" | "yarn" | "bun" if runs => &["install", "prepare"],
        _ => &[],
    }
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

/// A file in which tasks are written, for whatever runner.
pub(super) fn is_task_file(name: &str) -> bool {
    !runners_of(name).is_empty()
}

/// The programs that run the tasks of a file.
pub(super) fn runners_of(name: &str) -> &'static [&'static str] {
    match name {
        _ if MAKEFILES.contains(&name) || name.ends_with(".mk") => &["make", "gmake", "MAKE"],
        _ if JUSTFILES.contains(&name) || name.ends_with(".just") => &["just"],
        _ if TASKFILES.contains(&name) => &["task"],
        _ if MISE.contains(&name) => &["mise"],
        _ if COMPOSE.contains(&name) => &["docker-compose", "compose"],
        "package.json" => &["npm", "yarn", "pnpm", "bun", "npx"],
        "tox.ini" => &["tox"],
        "deno.json" | "deno.jsonc" => &["deno"],
        "composer.json" => &["composer"],
        _ => &[],
    }
}

impl Task {
    /// The tasks of this runner are written in a file of that name.
    pub(crate) fn is_written_in(self, name: &str) -> bool {
        match self {
            Task::Make => MAKEFILES.contains(&name) || name.ends_with(".mk") || name.starts_with("Makefile."),
            Task::Just => JUSTFILES.contains(&name) || name.ends_with(".just"),
            Task::Taskfile => TASKFILES.contains(&name),
            Task::Mise => MISE.contains(&name),
            Task::Package => name == "package.json",
            Task::Deno => matches!(name, "deno.json" | "deno.jsonc"),
            Task::Composer => name == "composer.json",
            Task::Tox => name == "tox.ini",
            Task::Poe | Task::Pdm | Task::Hatch | Task::Rye => name == "pyproject.toml",
            Task::Compose => COMPOSE.contains(&name),
        }
    }

    pub(crate) fn is_compose(self) -> bool {
        self == Task::Compose
    }

    fn file(self, invocation: &Invocation, files: &Files<'_>) -> Option<String> {
        let flags: &[&str] = match self {
            Task::Make => &["-f", "--file", "--makefile"],
            Task::Just => &["-f", "--justfile"],
            Task::Taskfile => &["-t", "--taskfile"],
            Task::Tox => &["-c", "--conf"],
            Task::Mise
            | Task::Package
            | Task::Deno
            | Task::Composer
            | Task::Poe
            | Task::Pdm
            | Task::Hatch
            | Task::Rye
            | Task::Compose => &[],
        };
        if let Some(given) = flags.iter().find_map(|flag| invocation.args.value(flag)) {
            return given.exact().map(str::to_owned);
        }
        let names: &[&str] = match self {
            Task::Make => MAKEFILES,
            Task::Just => JUSTFILES,
            Task::Taskfile => TASKFILES,
            Task::Mise => MISE,
            Task::Package => &["package.json"],
            Task::Deno => &["deno.json", "deno.jsonc"],
            Task::Composer => &["composer.json"],
            Task::Tox => &["tox.ini"],
            Task::Poe | Task::Pdm | Task::Hatch | Task::Rye => &["pyproject.toml"],
            Task::Compose => COMPOSE,
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
        let steps = match self {
            Task::Make => {
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
            Task::Just | Task::Taskfile if words.iter().any(|word| word.contains('=')) => return None,
            Task::Just => justfile::steps(&text, &words, files)?,
            Task::Taskfile => tasks::taskfile(&text, &words)?,
            Task::Mise => behind(tasks::mise(&text, &words)?, words.get(1..)?),
            Task::Package | Task::Composer => {
                found(tasks::scripts(&text, "scripts", &script()?, given(invocation, &words))?)?
            }
            Task::Deno => found(tasks::scripts(&text, "tasks", &script()?, given(invocation, &words))?)?,
            Task::Tox => tasks::tox(&text, &words)?,
            Task::Poe => behind(tasks::pyproject(&text, "poe", words.first()?)?, words.get(1..)?),
            Task::Pdm => behind(tasks::pyproject(&text, "pdm", words.first()?)?, words.get(1..)?),
            Task::Hatch => behind(tasks::pyproject(&text, "hatch", words.first()?)?, words.get(1..)?),
            Task::Rye => behind(tasks::pyproject(&text, "rye", words.first()?)?, words.get(1..)?),
            Task::Compose => Vec::new(),
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
