//! Tasks in files of data: Taskfile, mise.toml, tox.ini, pyproject.toml, package.json, deno.json, composer.json.

use std::collections::BTreeSet;

use toml::Value as Toml;

use super::yaml::{self, Yaml};
use super::{Step, ini};
use crate::knowledge::schema::TaskFile;

/// Stands for a text that is not worked out: a variable that nothing sets.
// As in justfiles: an unset variable is doubted by the shell reader.
const NOT_KNOWN: &str = "${TASK_VALUE}";

/// What `task NAME` runs.
pub(super) fn taskfile(text: &str, wanted: &[String]) -> Option<Vec<Step>> {
    let file = yaml::read(text)?;
    let known = ["version", "tasks", "silent", "output", "vars", "env", "dotenv", "interval", "run", "method"];
    // Included files and other shells are not followed.
    if !file.members().iter().all(|(key, _)| known.contains(&key.as_str())) {
        return None;
    }
    let mut steps = Vec::new();
    let prelude = exports(file.get("env"))?;
    for (_, value) in file.get("vars").map(Yaml::members).unwrap_or_default() {
        if let Some(command) = value.get("sh") {
            steps.push(Step::Shell(command.text()?.to_owned()));
        }
    }
    let mut waiting: Vec<String> = wanted.iter().filter(|word| !word.contains('=')).cloned().collect();
    if waiting.is_empty() {
        waiting.push("default".into());
    }
    let mut done = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if !done.insert(name.clone()) || done.len() > 500 {
            continue;
        }
        let task = file.get("tasks")?.get(&name)?;
        waiting.extend(one_task(task, &file, &prelude, &mut steps)?);
    }
    Some(steps)
}

/// Keys of a task that change neither who runs it nor where.
// Keys of Taskfiles and mise that describe or order. `shell` and `dotenv` change who runs the commands and with what.
const PLAIN: &[&str] = &[
    "desc",
    "summary",
    "cmds",
    "cmd",
    "deps",
    "sources",
    "generates",
    "silent",
    "vars",
    "env",
    "aliases",
    "dir",
    "internal",
    "status",
    "preconditions",
    "interactive",
    "ignore_error",
    "run",
    "method",
    "label",
    "requires",
    "prompt",
];

/// Adds the commands of one task; yields the tasks that it needs.
fn one_task(task: &Yaml, file: &Yaml, prelude: &str, steps: &mut Vec<Step>) -> Option<Vec<String>> {
    let mut needs = Vec::new();
    let prelude = format!("{prelude}{}", exports(task.get("env"))?);
    let put_in = |text: &str| {
        placed(text, |name| {
            let name = name.trim_start_matches('.');
            let own = task.get("vars").and_then(|vars| vars.get(name));
            own.or_else(|| file.get("vars")?.get(name)).and_then(Yaml::text).map(str::to_owned)
        })
    };
    let command = |text: &str, steps: &mut Vec<Step>| {
        steps.push(Step::Shell(format!("{prelude}{}", put_in(text)?)));
        Some(())
    };
    match task {
        Yaml::Text(text) => command(text, steps)?,
        Yaml::List(_) => {}
        Yaml::Map(members) => {
            let dir = task.get("dir").and_then(Yaml::text);
            if !members.iter().all(|(key, _)| PLAIN.contains(&key.as_str())) || dir.is_some_and(|dir| dir != ".") {
                return None;
            }
        }
    }
    let list = |key: &str| task.get(key).map(Yaml::list).unwrap_or_default();
    for value in list("cmds")
        .iter()
        .chain(task.get("cmd"))
        .chain(list("status"))
        .chain(list("preconditions"))
        .chain(list_of(task))
    {
        match value {
            Yaml::Text(text) => command(text, steps)?,
            Yaml::Map(_) => {
                if let Some(other) = value.get("task") {
                    needs.push(other.text()?.to_owned());
                }
                for key in ["cmd", "defer", "sh"] {
                    match value.get(key) {
                        Some(Yaml::Text(text)) => command(text, steps)?,
                        Some(Yaml::Map(_) | Yaml::List(_)) => return None,
                        None => {}
                    }
                }
            }
            Yaml::List(_) => return None,
        }
    }
    for value in list("deps") {
        let name = value.text().or_else(|| value.get("task").and_then(Yaml::text))?;
        needs.push(name.to_owned());
    }
    for (_, value) in task.get("vars").map(Yaml::members).unwrap_or_default() {
        if let Some(code) = value.get("sh") {
            command(code.text()?, steps)?;
        }
    }
    Some(needs)
}

/// A task that is nothing but a list of commands.
fn list_of(task: &Yaml) -> &[Yaml] {
    task.list()
}

fn exports(env: Option<&Yaml>) -> Option<String> {
    let mut prelude = String::new();
    for (name, value) in env.map(Yaml::members).unwrap_or_default() {
        prelude.push_str(&format!("export {name}='{}'\n", value.text()?.replace('\'', "")));
    }
    Some(prelude)
}

/// `{{.NAME}}` with its value put in.
fn placed(text: &str, value_of: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (inner, after) = after.split_once("}}")?;
        out.push_str(before);
        out.push_str(&value_of(inner.trim().trim_matches('-').trim()).unwrap_or_else(|| NOT_KNOWN.to_owned()));
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// What `mise run NAME` runs.
pub(super) fn mise(text: &str, wanted: &[String]) -> Option<Vec<Step>> {
    let file: Toml = toml::from_str(text).ok()?;
    // Tools are installed, and hooks run, before the task is.
    if !file.as_table()?.keys().all(|key| matches!(key.as_str(), "tasks" | "env" | "min_version")) {
        return None;
    }
    let prelude = toml_exports(file.get("env"))?;
    let mut waiting = vec![wanted.first()?.clone()];
    let mut done = BTreeSet::new();
    let mut steps = Vec::new();
    while let Some(name) = waiting.pop() {
        if !done.insert(name.clone()) {
            continue;
        }
        let task = file.get("tasks")?.get(&name)?;
        if ["dir", "file", "shell", "env"].iter().any(|key| task.get(key).is_some()) {
            return None;
        }
        let run = if task.is_str() || task.is_array() { task } else { task.get("run").unwrap_or(&Toml::Boolean(true)) };
        for line in texts(run)? {
            steps.push(Step::Shell(format!("{prelude}{line}")));
        }
        for key in ["depends", "depends_post", "wait_for"] {
            waiting.extend(task.get(key).map(texts).unwrap_or(Some(Vec::new()))?);
        }
    }
    Some(steps)
}

/// What `tox` runs, whatever the environment.
pub(super) fn tox(text: &str, given: &[String]) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for (section, values) in ini::read(text)? {
        if section == "tox" && values.iter().any(|(key, _)| key == "requires" || key == "provision_tox_env") {
            return None;
        }
        if !section.starts_with("testenv") {
            continue;
        }
        for (key, value) in values {
            let lines = value.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            match key.as_str() {
                "commands" | "commands_pre" | "commands_post" => {
                    for line in lines {
                        let line = line
                            .split_once(": ")
                            .filter(|(factor, _)| !factor.contains(' '))
                            .map_or(line, |(_, line)| line);
                        steps.push(Step::Shell(tox_text(line.trim_start_matches(['-', '!', ' ']), given)));
                    }
                }
                "deps" => steps.extend(lines.map(|line| Step::Package(line.to_owned()))),
                "setenv" | "set_env" => {
                    for line in lines {
                        let (name, value) = line.split_once('=')?;
                        steps.push(Step::Shell(format!("export {}='{}'", name.trim(), value.trim().replace('\'', ""))));
                    }
                }
                "install_command" | "list_dependencies_command" | "passenv_command" | "changedir" | "change_dir" => {
                    return None;
                }
                _ => {}
            }
        }
    }
    Some(steps)
}

fn tox_text(line: &str, given: &[String]) -> String {
    let given = super::runner::with_words("", given);
    let line = line
        .replace("{posargs}", &given)
        .replace("{toxinidir}", ".")
        .replace("{envname}", "env")
        .replace("{envpython}", "python");
    let mut out = String::new();
    let mut rest = line.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after.split_once('}') {
            Some((inner, after)) => {
                out.push_str(inner.strip_prefix("posargs:").filter(|_| given.is_empty()).unwrap_or(NOT_KNOWN));
                rest = after;
            }
            None => rest = after,
        }
    }
    out.push_str(rest);
    out
}

/// A task of `pyproject.toml` for one of the runners that keep theirs there.
pub(super) fn pyproject(text: &str, written: TaskFile, name: &str) -> Option<Vec<Step>> {
    let file: Toml = toml::from_str(text).ok()?;
    let own = file.get("tool")?.get(written.as_str())?;
    let at = |keys: &[&str]| keys.iter().try_fold(own, |value, key| value.get(key));
    let task = match written {
        TaskFile::Poe => at(&["tasks", name]),
        TaskFile::Hatch => {
            let (environment, name) = name.split_once(':').unwrap_or(("default", name));
            at(&["envs", environment, "scripts", name])
        }
        TaskFile::Pdm | TaskFile::Rye => at(&["scripts", name]),
        TaskFile::Make
        | TaskFile::Just
        | TaskFile::Taskfile
        | TaskFile::Mise
        | TaskFile::Package
        | TaskFile::Deno
        | TaskFile::Composer
        | TaskFile::Tox
        | TaskFile::Compose => None,
    }?;
    if ["env", "cwd", "working_dir", "executor", "use_exec", "script", "imports", "ref", "switch"]
        .iter()
        .any(|key| task.get(key).is_some())
    {
        return None;
    }
    let commands = if task.is_str() || task.is_array() {
        texts(task)?
    } else {
        let text = ["cmd", "shell", "chain", "all", "composite", "sequence"].iter().find_map(|key| task.get(key))?;
        texts(text)?
    };
    Some(commands.into_iter().map(Step::Shell).collect())
}

/// A script of a JSON manifest, with what runs before and after it.
pub(super) fn scripts(text: &str, table: &str, script: &str, given: &[String]) -> Option<Vec<Step>> {
    let file: serde_json::Value = serde_json::from_str(&super::json::plain(text)).ok()?;
    let scripts = file.get(table)?;
    let mut steps = Vec::new();
    for name in [format!("pre{script}"), script.to_owned(), format!("post{script}")] {
        match scripts.get(&name) {
            Some(serde_json::Value::String(code)) if name == script => {
                steps.push(Step::Shell(super::runner::with_words(code, given)));
            }
            Some(serde_json::Value::String(code)) => steps.push(Step::Shell(code.clone())),
            Some(serde_json::Value::Array(lines)) => {
                for line in lines {
                    steps.push(Step::Shell(line.as_str()?.to_owned()));
                }
            }
            Some(_) => return None,
            None => {}
        }
    }
    Some(steps)
}

fn toml_exports(env: Option<&Toml>) -> Option<String> {
    let mut prelude = String::new();
    for (name, value) in env.and_then(Toml::as_table).into_iter().flatten() {
        let value = match value {
            Toml::String(text) => text.clone(),
            Toml::Integer(number) => number.to_string(),
            Toml::Float(_) | Toml::Boolean(_) | Toml::Datetime(_) | Toml::Array(_) | Toml::Table(_) => return None,
        };
        prelude.push_str(&format!("export {name}='{}'\n", value.replace('\'', "")));
    }
    Some(prelude)
}

/// A text, or a list of texts.
fn texts(value: &Toml) -> Option<Vec<String>> {
    match value {
        Toml::String(text) => Some(vec![text.clone()]),
        Toml::Array(values) => values.iter().map(|value| value.as_str().map(str::to_owned)).collect(),
        Toml::Boolean(true) => Some(Vec::new()),
        Toml::Boolean(false) | Toml::Integer(_) | Toml::Float(_) | Toml::Datetime(_) | Toml::Table(_) => None,
    }
}
