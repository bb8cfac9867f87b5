//! Makefiles: rules, variables and included files, read line by line without running anything.

use std::collections::BTreeMap;

use super::Files;

/// More lines than this are not read.
// Generated Makefiles reach tens of thousands of lines; the limit on bytes usually ends them first.
const LINES: usize = 60_000;
/// More included files than this are not read.
// Real projects include a handful; includes can also be computed in a loop.
const INCLUDES: usize = 24;

/// A rule: its targets, what they need, and the lines that make them.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    pub targets: Vec<String>,
    /// `objects: %.o: %.c`: the pattern in the middle.
    pub pattern: Option<String>,
    pub needs: Vec<String>,
    pub lines: Vec<String>,
}

/// What is known about a variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Variable {
    pub text: String,
    /// Two places give it different values.
    pub several: bool,
    pub exported: bool,
    /// `?=`: the environment goes first.
    optional: bool,
}

/// A Makefile with everything it includes.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    pub rules: Vec<Rule>,
    pub variables: BTreeMap<String, Variable>,
    /// Text that is expanded when the file is read, whatever is made.
    pub at_once: Vec<String>,
    /// Every file that was read, which make tries to remake first.
    pub files: Vec<String>,
    pub one_shell: bool,
    /// How often a variable was put in so far.
    pub work: std::cell::Cell<usize>,
    export_all: bool,
    lines: usize,
}

/// Reads a Makefile; `None` if something in it cannot be followed.
pub(super) fn read(name: &str, text: &str, files: &Files<'_>) -> Option<Makefile> {
    let mut makefile = Makefile::default();
    makefile.file(name, text, files)?;
    if makefile.export_all {
        makefile.variables.values_mut().for_each(|variable| variable.exported = true);
    }
    Some(makefile)
}

impl Makefile {
    /// What the command line says about a variable holds, whatever the file says.
    pub(super) fn override_with(&mut self, word: &str) -> Option<()> {
        let (name, operator, value) = assignment(word)?;
        let known = self.variables.get(name).map(|variable| variable.exported);
        if operator == "+=" || operator == "!=" {
            return None;
        }
        self.at_once.push(value.to_owned());
        let text = value.to_owned();
        self.variables
            .insert(name.to_owned(), Variable { text, exported: known.unwrap_or(false), ..Variable::default() });
        Some(())
    }

    /// Variables that may come from the environment are not known.
    pub(super) fn doubt(&mut self, is_set: impl Fn(&str) -> bool) {
        for (name, variable) in &mut self.variables {
            if variable.optional && is_set(name) {
                self.at_once.push(variable.text.clone());
                variable.several = true;
            }
        }
    }

    fn file(&mut self, name: &str, text: &str, files: &Files<'_>) -> Option<()> {
        if self.files.len() > INCLUDES || self.files.iter().any(|known| known == name) {
            return (self.files.len() <= INCLUDES).then_some(());
        }
        self.files.push(name.to_owned());
        let mut open: Option<usize> = None;
        let mut depth = 0usize;
        let mut define: Option<(String, Vec<String>)> = None;
        for line in joined(text) {
            self.lines += 1;
            if self.lines > LINES {
                return None;
            }
            if let Some((name, mut body)) = define.take() {
                if line.trim() == "endef" {
                    self.assign(&name, "=", &body.join("\n"), depth > 0);
                } else {
                    body.push(line);
                    define = Some((name, body));
                }
                continue;
            }
            if let (Some(recipe), Some(rule)) =
                (line.strip_prefix('\t'), open.and_then(|open| self.rules.get_mut(open)))
            {
                rule.lines.push(recipe.to_owned());
                continue;
            }
            let line = without_comment(&line);
            let word = line.split_whitespace().next().unwrap_or_default();
            match word {
                "" => {}
                "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                    self.at_once.push(line.to_owned());
                    depth += 1;
                }
                "else" => self.at_once.push(line.to_owned()),
                "endif" => depth = depth.checked_sub(1)?,
                "include" | "-include" | "sinclude" => {
                    self.include(line.get(line.find(word)? + word.len()..)?, word == "include", files)?;
                }
                "define" => define = Some((line.split_whitespace().nth(1)?.to_owned(), Vec::new())),
                "vpath" | "unexport" | "undefine" => {}
                "load" | "-load" => return None,
                _ => open = self.statement(line, depth > 0)?.or(open.filter(|_| is_assignment(line))),
            }
        }
        define.is_none().then_some(())
    }

    /// An assignment or the head of a rule; yields the rule whose lines follow.
    fn statement(&mut self, line: &str, maybe: bool) -> Option<Option<usize>> {
        let mut line = line.trim();
        let mut exported = false;
        loop {
            match line.split_once(char::is_whitespace) {
                Some(("export", rest)) => (line, exported) = (rest.trim(), true),
                Some(("override" | "private", rest)) => line = rest.trim(),
                Some(_) | None => break,
            }
        }
        if line == "export" {
            self.export_all = true;
            return Some(None);
        }
        if let Some((name, operator, value)) = assignment(line) {
            self.assign(name, operator, value, maybe);
            if let Some(variable) = self.variables.get_mut(name).filter(|_| exported) {
                variable.exported = true;
            }
            return Some(None);
        }
        if exported {
            for name in line.split_whitespace() {
                self.variables.entry(name.to_owned()).or_default().exported = true;
            }
            return Some(None);
        }
        self.rule(line, maybe)
    }

    fn assign(&mut self, name: &str, operator: &str, value: &str, maybe: bool) {
        let value = value.trim().to_owned();
        if operator == "!=" {
            return self.set(name, format!("$(shell {value})"), maybe);
        }
        if operator.contains(':') {
            self.at_once.push(value.clone());
        }
        match (operator, self.variables.get_mut(name)) {
            ("+=", Some(variable)) if !variable.several && !maybe => {
                variable.text.push(' ');
                variable.text.push_str(&value);
            }
            ("+=", Some(variable)) => {
                variable.several = true;
                self.at_once.push(value);
            }
            ("?=", Some(_)) => {}
            _ => self.set(name, value, maybe),
        }
        if let ("?=", Some(variable)) = (operator, self.variables.get_mut(name)) {
            variable.optional = true;
        }
    }

    fn set(&mut self, name: &str, text: String, maybe: bool) {
        let known = self.variables.entry(name.to_owned()).or_default();
        known.several |= !known.text.is_empty() && known.text != text;
        // What may or may not be set, or is set again, is looked at when the file is read.
        if maybe || known.several {
            self.at_once.push(known.text.clone());
            self.at_once.push(text.clone());
        }
        known.several |= maybe;
        known.text = text;
    }

    fn rule(&mut self, line: &str, maybe: bool) -> Option<Option<usize>> {
        let colon = top_level(line, ':')?;
        let (targets, rest) = (line.get(..colon)?, line.get(colon + 1..)?.trim_start_matches(':'));
        let (rest, inline) = match top_level(rest, ';') {
            Some(at) => (rest.get(..at)?, rest.get(at + 1..)),
            None => (rest, None),
        };
        if let Some((name, operator, value)) = assignment(rest.trim()) {
            // The value holds for one target only.
            self.assign(name, if operator == "+=" { "+=" } else { "=" }, value, maybe || operator != "+=");
            return Some(None);
        }
        let targets: Vec<String> = words(targets.trim_end_matches('&'));
        if targets.iter().any(|target| target == ".ONESHELL") {
            self.one_shell = true;
        }
        if targets.iter().any(|target| target == ".EXPORT_ALL_VARIABLES") {
            self.export_all = true;
        }
        let (pattern, needs) = match top_level(rest, ':') {
            Some(at) => (Some(rest.get(..at)?.trim().to_owned()), rest.get(at + 1..)?),
            None => (None, rest),
        };
        if needs.contains("$$") {
            return None;
        }
        let needs = words(&needs.replace('|', " "));
        let lines = inline.map(|line| line.trim().to_owned()).into_iter().collect();
        self.rules.push(Rule { targets, pattern, needs, lines });
        Some(Some(self.rules.len() - 1))
    }

    fn include(&mut self, names: &str, wanted: bool, files: &Files<'_>) -> Option<()> {
        let names = super::make_text::Expanding { makefile: self, automatic: &[], runs: Vec::new() }.text(names, 0)?;
        for name in names.split_whitespace() {
            if name.contains(['$', '`']) {
                return None;
            }
            if name.contains(['*', '?', '[']) {
                // Generated lists of dependencies: only what was written by hand since could hold more.
                if files.changed_like(name) {
                    return None;
                }
                continue;
            }
            match files.text(name) {
                Some(text) => self.file(name, &text, files)?,
                None if wanted || !files.is_absent(name) => return None,
                None => {}
            }
        }
        Some(())
    }
}

/// Lines with their continuations.
fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let (part, continues) = match line.strip_suffix('\\') {
            Some(part) if !part.ends_with('\\') => (part, true),
            Some(_) | None => (line, false),
        };
        match lines.last_mut().filter(|_| open) {
            Some(last) if last.starts_with('\t') => {
                last.push_str("\\\n");
                last.push_str(part.strip_prefix('\t').unwrap_or(part));
            }
            Some(last) => {
                last.push(' ');
                last.push_str(part.trim_start());
            }
            None => lines.push(part.to_owned()),
        }
        open = continues;
    }
    lines
}

fn without_comment(line: &str) -> &str {
    line.char_indices()
        .find(|(at, letter)| *letter == '#' && !line.get(..*at).is_some_and(|before| before.ends_with('\\')))
        .map_or(line, |(at, _)| line.get(..at).unwrap_or_default())
}

fn is_assignment(line: &str) -> bool {
    assignment(line.trim()).is_some()
}

/// `NAME operator value`.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let at = top_level(line, '=')?;
    let before = line.get(..at)?;
    let name = before.trim_end_matches([':', '+', '?', '!']);
    let operator = line.get(name.len()..=at)?;
    let name = name.trim();
    let is_name = !name.is_empty() && !name.contains([' ', '\t', ':', '$', '%']);
    is_name.then_some((name, operator, line.get(at + 1..)?))
}

/// The first such letter outside of `$(…)`.
fn top_level(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ if letter == wanted && depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Words, with `$(…)` kept together.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0usize;
    for letter in text.chars() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter.is_whitespace() && depth == 0 {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
