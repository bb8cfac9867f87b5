//! Justfiles: which lines a recipe runs, with those it depends on.

use std::collections::{BTreeMap, BTreeSet};

use super::make_goals::is_plain_shell;
use super::{Files, Step};

/// More recipes or imported files than this are not followed.
// Imports can be circular in effect; the count ends what the reader does not see as a loop.
const LIMIT: usize = 2_000;

#[derive(Debug, Default)]
struct Justfile {
    recipes: Vec<Recipe>,
    aliases: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    /// Commands of backticks, which are run when the file is read.
    at_once: Vec<String>,
    exported: Vec<String>,
    imported: usize,
}

#[derive(Clone, Debug, Default)]
struct Recipe {
    name: String,
    parameters: Vec<(String, Option<String>)>,
    needs: Vec<String>,
    lines: Vec<String>,
}

/// What a recipe runs, given its arguments; `None` if that cannot be said.
pub(super) fn steps(text: &str, words: &[String], files: &Files<'_>) -> Option<Vec<Step>> {
    let mut justfile = Justfile::default();
    justfile.read(text, files)?;
    let first = justfile.recipes.iter().find(|recipe| !recipe.name.starts_with('_')).map(|recipe| recipe.name.clone());
    let mut steps: Vec<Step> = justfile.at_once.iter().cloned().map(Step::Shell).collect();
    let wanted: Vec<String> = words.iter().filter(|word| !word.contains('=')).cloned().collect();
    let (name, given) = match wanted.split_first() {
        Some((name, given)) => (name.clone(), given.to_vec()),
        None => (first?, Vec::new()),
    };
    let mut done = BTreeSet::new();
    justfile.run(&name, &given, &mut done, &mut steps)?;
    // `just build test` runs two recipes.
    for word in &given {
        if justfile.find(word).is_some() {
            justfile.run(word, &[], &mut done, &mut steps)?;
        }
    }
    Some(steps)
}

impl Justfile {
    fn read(&mut self, text: &str, files: &Files<'_>) -> Option<()> {
        let mut open = false;
        for line in text.lines() {
            if line.starts_with([' ', '\t']) && open {
                self.recipes.last_mut()?.lines.push(line.to_owned());
                continue;
            }
            if line.trim().is_empty() {
                if let Some(recipe) = self.recipes.last_mut().filter(|_| open) {
                    recipe.lines.push(String::new());
                }
                continue;
            }
            open = false;
            let line = line.trim();
            let word = line.split_whitespace().next().unwrap_or_default();
            match word {
                _ if line.starts_with('#') => {}
                _ if line.starts_with('[') => attribute(line)?,
                "set" => setting(line)?,
                "import" | "import?" => {
                    self.imported += 1;
                    let name = line.trim_start_matches(word).trim().trim_matches(['\'', '"']);
                    match files.text(name) {
                        Some(text) if self.imported < 20 => self.read(&text, files)?,
                        None if word == "import?" && files.is_absent(name) => {}
                        Some(_) | None => return None,
                    }
                }
                "mod" | "mod?" | "!include" => return None,
                "alias" => {
                    let (name, target) = line.trim_start_matches("alias").split_once(":=")?;
                    self.aliases.insert(name.trim().to_owned(), target.trim().to_owned());
                }
                _ if is_assignment(line) => self.assign(line)?,
                _ => {
                    self.head(line)?;
                    open = true;
                }
            }
            if self.recipes.len() > LIMIT {
                return None;
            }
        }
        Some(())
    }

    fn assign(&mut self, line: &str) -> Option<()> {
        let (name, value) = line.split_once(":=")?;
        let (name, exported) = match name.trim().strip_prefix("export ") {
            Some(name) => (name.trim(), true),
            None => (name.trim(), false),
        };
        let value = value.trim();
        if let Some(command) = value.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            self.at_once.push(command.trim_matches('`').to_owned());
            self.variables.insert(name.to_owned(), NOT_KNOWN.to_owned());
        } else {
            if value.contains('`') || value.contains("shell(") {
                return None;
            }
            self.variables.insert(name.to_owned(), quoted(value).unwrap_or(NOT_KNOWN).to_owned());
        }
        if exported {
            self.exported.push(name.to_owned());
        }
        Some(())
    }

    /// `@name parameter default='x' *rest: first (second 'x') && after`.
    fn head(&mut self, line: &str) -> Option<()> {
        let (before, after) = line.split_once(':')?;
        let mut words = before.trim_start_matches('@').split_whitespace();
        let name = words.next()?.to_owned();
        let mut parameters = Vec::new();
        for word in words {
            let word = word.trim_start_matches(['*', '+', '$']);
            match word.split_once('=') {
                Some((name, value)) => parameters.push((name.to_owned(), quoted(value).map(str::to_owned))),
                None => parameters.push((word.to_owned(), None)),
            }
        }
        let after = after.split(" #").next().unwrap_or(after);
        if after.contains(['`', '{']) {
            return None;
        }
        let needs = after.replace("&&", " ").replace(['(', ')'], " ");
        let needs = needs.split_whitespace().filter(|word| !word.starts_with(['\'', '"'])).map(str::to_owned).collect();
        self.recipes.push(Recipe { name, parameters, needs, lines: Vec::new() });
        Some(())
    }

    fn find(&self, name: &str) -> Option<&Recipe> {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        self.recipes.iter().rev().find(|recipe| recipe.name == name)
    }

    fn run(&self, name: &str, given: &[String], done: &mut BTreeSet<String>, steps: &mut Vec<Step>) -> Option<()> {
        if !done.insert(name.to_owned()) {
            return Some(());
        }
        let recipe = self.find(name)?.clone();
        for need in &recipe.needs {
            // Words in brackets may be arguments of the recipe before them.
            if self.find(need).is_some() {
                self.run(need, &[], done, steps)?;
            }
        }
        let value_of = |name: &str| -> Option<String> {
            match recipe.parameters.iter().position(|(known, _)| known == name) {
                Some(at) => given.get(at).cloned().or_else(|| recipe.parameters.get(at)?.1.clone()),
                None => self.variables.get(name).cloned(),
            }
        };
        let mut prelude = String::new();
        for name in &self.exported {
            prelude.push_str(&format!("export {name}=\"{}\"\n", self.variables.get(name)?));
        }
        let body: Vec<&str> = recipe.lines.iter().map(|line| line.trim_start()).collect();
        if body.first().is_some_and(|line| line.starts_with("#!")) {
            let text = interpolated(&dedented(&recipe.lines), &value_of)?;
            steps.push(Step::File(format!("{prelude}{text}").trim_start().to_owned()));
            return Some(());
        }
        for line in joined(&body) {
            let line = interpolated(line.trim_start_matches(['@', '-']), &value_of)?;
            if !line.trim().is_empty() {
                steps.push(Step::Shell(format!("{prelude}{line}")));
            }
        }
        Some(())
    }
}

/// Stands for a text that is not worked out: a variable that nothing sets.
// Written as a variable, the shell reader treats it like any value that only the run will know.
const NOT_KNOWN: &str = "${JUST_VALUE}";

/// Attributes that change neither who runs a recipe nor where.
fn attribute(line: &str) -> Option<()> {
    // Attributes that say who sees a recipe and when. `script` and `working-directory` change how it runs.
    const PLAIN: &[&str] = &[
        "private",
        "confirm",
        "group",
        "doc",
        "linux",
        "macos",
        "unix",
        "windows",
        "no-exit-message",
        "default",
        "parallel",
        "positional-arguments",
    ];
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let name = inner.split(['(', ':', ' ']).next()?;
    (PLAIN.contains(&name) && !inner.contains(',')).then_some(())
}

fn setting(line: &str) -> Option<()> {
    let (name, value) = line.trim_start_matches("set").split_once(":=").unwrap_or((line.trim_start_matches("set"), ""));
    match name.trim() {
        "shell" | "script-interpreter" => {
            let first = value.trim().trim_start_matches('[').split(',').next()?.trim().trim_matches(['\'', '"']);
            is_plain_shell(first.strip_prefix("/bin/").unwrap_or(first)).then_some(())
        }
        "dotenv-load"
        | "positional-arguments"
        | "export"
        | "quiet"
        | "fallback"
        | "ignore-comments"
        | "unstable"
        | "allow-duplicate-recipes"
        | "allow-duplicate-variables" => Some(()),
        _ => None,
    }
}

fn is_assignment(line: &str) -> bool {
    line.split_once(":=").is_some_and(|(name, _)| {
        let name = name.trim().trim_start_matches("export ").trim();
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
    })
}

fn quoted(value: &str) -> Option<&str> {
    let value = value.trim();
    ['\'', '"'].iter().find_map(|quote| {
        let inner = value.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!inner.contains([*quote, '\\'])).then_some(inner)
    })
}

/// `{{name}}` with its value put in.
fn interpolated(line: &str, value_of: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        let (inner, after) = after.split_once("}}")?;
        if inner.contains('`') || inner.contains("shell(") {
            return None;
        }
        out.push_str(before);
        let value = quoted(inner).map(str::to_owned).or_else(|| value_of(inner.trim()));
        out.push_str(&value.unwrap_or_else(|| NOT_KNOWN.to_owned()));
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

fn joined(lines: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for line in lines {
        let (part, continues) = line.strip_suffix('\\').map_or((*line, false), |part| (part, true));
        match out.last_mut().filter(|_| open) {
            Some(last) => last.push_str(part.trim_start()),
            None => out.push(part.to_owned()),
        }
        open = continues;
    }
    out
}

fn dedented(lines: &[String]) -> String {
    let indent = lines.first().map_or(0, |line| line.len() - line.trim_start().len());
    lines.iter().map(|line| line.get(indent..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}
