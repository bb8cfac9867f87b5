//! Which lines of a Makefile are run for a target, and for everything that it needs.

use std::collections::BTreeSet;

use super::make_text::{Expanding, inner_commands, is_plain};
use super::makefile::{Makefile, Rule, words};
use crate::knowledge::{self, schema::Facet};
use crate::world::Shell;

/// More targets than this are not followed.
// Generated Makefiles have thousands of targets; a call needs the few its goal depends on.
const TARGETS: usize = 3_000;
/// More pairs of targets and rules than this are not compared.
// Pattern rules are compared with every target: without a bound a hostile Makefile makes this quadratic.
const COMPARISONS: usize = 400_000;

/// What `make` runs by its built-in rules, or a plain substitute. Any other value of `CC` is a program of the agent's choice.
fn is_known_tool(name: &str) -> bool {
    matches!(name, "rm" | "true" | "echo") || knowledge::built_in().facets(name).has(Facet::Toolchain)
}

/// A shell that reads a line as it is read here.
pub(super) fn is_plain_shell(name: &str) -> bool {
    matches!(Shell::named(name), Some(Shell::Sh | Shell::Bash))
}

/// The text of every command that making these targets runs; `None` if that cannot be said.
pub(super) fn commands(makefile: &Makefile, wanted: &[String]) -> Option<Vec<String>> {
    let mut goals = Goals { makefile, done: BTreeSet::new(), lines: Vec::new(), compared: 0 };
    goals.settings()?;
    let wanted = if wanted.is_empty() { vec![goals.default_goal()?] } else { wanted.to_vec() };
    // make remakes its own files first, if some rule says how.
    let mut waiting: Vec<String> = makefile.files.iter().chain(&wanted).cloned().collect();
    while let Some(target) = waiting.pop() {
        if goals.done.len() > TARGETS {
            return None;
        }
        if goals.done.insert(target.clone()) {
            waiting.extend(goals.target(&target)?);
        }
    }
    Some(goals.finish())
}

struct Goals<'m> {
    makefile: &'m Makefile,
    done: BTreeSet<String>,
    lines: Vec<String>,
    compared: usize,
}

impl Goals<'_> {
    fn expand(&mut self, text: &str, automatic: &[(&str, String)]) -> Option<String> {
        let mut expanding = Expanding { makefile: self.makefile, automatic, runs: Vec::new() };
        let text = expanding.text(text, 0);
        self.lines.extend(expanding.runs);
        text
    }

    /// What happens whatever is made: variables with commands in them, and settings of the shell.
    fn settings(&mut self) -> Option<()> {
        for text in self.makefile.at_once.iter().filter(|text| text.contains('$')) {
            let said = self.expand(text, &[])?;
            self.lines.extend(inner_commands(&said)?);
        }
        for (name, variable) in &self.makefile.variables {
            let shell = matches!(
                name.as_str(),
                "SHELL" | ".SHELLFLAGS" | "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" | "MAKEFILES"
            );
            let value =
                if shell || is_tool(name) || is_flags(name) { Some(self.expand(&variable.text, &[])?) } else { None };
            let fine = match (name.as_str(), &value) {
                ("SHELL", Some(value)) => is_plain_shell(value.trim().rsplit('/').next()?),
                (".SHELLFLAGS", Some(value)) => {
                    value.split_whitespace().all(|word| word == "pipefail" || is_letters(word, "-ceuxo"))
                }
                ("MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS", Some(value)) => value.split_whitespace().all(|word| {
                    word.starts_with("--no-") || word.starts_with("--warn") || is_letters(word, "-jrRskB0123456789")
                }),
                ("MAKEFILES", _) => false,
                (_, Some(value)) if is_flags(name) => {
                    self.lines.extend(inner_commands(value)?);
                    !value.contains([';', '|', '&', '`', '<', '>', '\n'])
                }
                (_, Some(value)) => {
                    let mut words = value.split_whitespace();
                    !value.contains([';', '|', '&', '`', '$', '<', '>', '(', '\n'])
                        && words.all(|word| word.starts_with('-') || is_known_tool(base(word)))
                }
                (_, None) => true,
            };
            if !fine {
                return None;
            }
        }
        Some(())
    }

    fn default_goal(&mut self) -> Option<String> {
        if let Some(goal) = self.makefile.variables.get(".DEFAULT_GOAL") {
            return self.expand(&goal.text, &[]);
        }
        let is_goal = |target: &&String| !target.contains('%') && (!target.starts_with('.') || target.contains('/'));
        let first = self.makefile.rules.iter().find_map(|rule| rule.targets.iter().find(is_goal))?;
        self.expand(&first.clone(), &[])?.split_whitespace().next().map(str::to_owned)
    }

    /// Adds the lines for one target; yields what it needs.
    fn target(&mut self, target: &str) -> Option<Vec<String>> {
        let makefile = self.makefile;
        let mut needed = Vec::new();
        let mut found: Vec<(&Rule, Option<String>)> = Vec::new();
        for rule in &makefile.rules {
            self.compared += 1;
            if self.compared > COMPARISONS {
                return None;
            }
            if let Some(stem) = self.stem(rule, target)? {
                found.push((rule, stem));
            }
        }
        for (rule, stem) in &found {
            let needs = self.expand(&rule.needs.join(" "), &[])?;
            let stem_text = stem.clone().unwrap_or_default();
            needed.extend(words(&needs).into_iter().map(|need| need.replacen('%', &stem_text, 1)));
        }
        if needed.iter().any(|need| need.contains(['$', '`'])) {
            return None;
        }
        needed.retain(|need| !need.contains(['*', '?']));
        for (rule, stem) in found.iter().filter(|(rule, _)| !rule.lines.is_empty()) {
            self.recipe(rule, target, &needed, stem.clone().unwrap_or_default())?;
        }
        Some(needed)
    }

    /// Whether the rule makes the target, and by which stem.
    fn stem(&mut self, rule: &Rule, target: &str) -> Option<Option<Option<String>>> {
        for name in &rule.targets {
            let names = if name.contains('$') { self.expand(name, &[])? } else { name.clone() };
            for name in names.split_whitespace() {
                let name = if name == ".DEFAULT" { "%" } else { name };
                let globs = name.contains('*') && crate::permissions::wildcard(name, target);
                if name == target || globs {
                    let stem = rule.pattern.as_deref().and_then(|pattern| stem_of(pattern, target));
                    return Some(Some(stem));
                }
                if let Some(stem) = name.contains('%').then(|| stem_of(name, target)).flatten() {
                    return Some(Some(Some(stem)));
                }
            }
        }
        Some(None)
    }

    fn recipe(&mut self, rule: &Rule, target: &str, needs: &[String], stem: String) -> Option<()> {
        let all = needs.join(" ");
        let automatic = [
            ("@", target.to_owned()),
            ("<", needs.first().cloned().unwrap_or_default()),
            ("^", all.clone()),
            ("+", all.clone()),
            ("?", all),
            ("*", stem),
            ("|", String::new()),
        ];
        let mut text = String::new();
        for line in &rule.lines {
            let line = self.expand(line, &automatic)?;
            let line = line.trim_start_matches(['@', '-', '+', ' ', '\t']);
            if self.makefile.one_shell {
                text.push_str(line);
                text.push('\n');
            } else {
                self.lines.push(line.to_owned());
            }
        }
        if !text.is_empty() {
            self.lines.push(text);
        }
        Some(())
    }

    /// Every command, behind the variables that it finds in its environment.
    fn finish(self) -> Vec<String> {
        let exported = self.makefile.variables.iter().filter(|(name, variable)| variable.exported && is_plain(name));
        let mut prelude = String::new();
        for (name, variable) in exported {
            let mut expanding = Expanding { makefile: self.makefile, automatic: &[], runs: Vec::new() };
            let value = expanding.text(&variable.text, 0).unwrap_or_else(|| "$(unknown)".into());
            prelude.push_str(&format!("export {name}=\"{}\"\n", value.replace('"', "\\\"")));
        }
        let lines = self.lines.into_iter().filter(|line| !line.trim().is_empty());
        lines.map(|line| format!("{prelude}{line}")).collect()
    }
}

fn stem_of(pattern: &str, target: &str) -> Option<String> {
    let (before, after) = pattern.split_once('%')?;
    target.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).map(str::to_owned)
}

/// Variables that built-in rules run.
fn is_tool(name: &str) -> bool {
    matches!(
        name,
        "CC" | "CXX"
            | "CPP"
            | "LD"
            | "AR"
            | "AS"
            | "FC"
            | "RM"
            | "LEX"
            | "YACC"
            | "PC"
            | "CO"
            | "GET"
            | "TANGLE"
            | "WEAVE"
            | "OUTPUT_OPTION"
    ) || name.starts_with("COMPILE.")
        || name.starts_with("LINK.")
        || name.starts_with("PREPROCESS.")
}

/// What built-in rules put behind the compiler.
fn is_flags(name: &str) -> bool {
    name.ends_with("FLAGS") && !name.starts_with('.') || matches!(name, "LDLIBS" | "LOADLIBES" | "TARGET_ARCH")
}

fn base(word: &str) -> &str {
    let name = word.strip_prefix("/usr/bin/").unwrap_or(word);
    name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'))
}

fn is_letters(word: &str, letters: &str) -> bool {
    word.starts_with('-') && word.chars().all(|letter| letters.contains(letter))
}
