//! Text of a Makefile with its variables put in, as far as they can be known.

use super::makefile::Makefile;

/// Variables inside variables are followed this deep.
// Make has no limit, but a variable that is this deep is written to exhaust a reader.
const DEPTH: usize = 24;
/// More variables than this are not put in, in one file.
// `A=$(B)$(B)`, `B=$(C)$(C)` …: the text doubles with every line.
const WORK: usize = 60_000;
/// Longer texts are not put together.
// Longer than any command line that the kernel would take as one argument.
const LENGTH: usize = 64 * 1024;

/// Variables that make itself defines.
// GNU make's defaults, so that `$(CC)` and `$(RM)` are known programs and not unknown text.
const BUILT_IN: &[(&str, &str)] = &[
    ("MAKE", "make"),
    ("SHELL", "/bin/sh"),
    ("CC", "cc"),
    ("CXX", "c++"),
    ("CPP", "cc -E"),
    ("AR", "ar"),
    ("AS", "as"),
    ("LD", "ld"),
    ("RM", "rm -f"),
    ("CURDIR", "."),
    ("MAKEFLAGS", ""),
    ("MAKECMDGOALS", ""),
    ("MAKEFILE_LIST", "Makefile"),
    (".DEFAULT_GOAL", ""),
];

/// Variables that mostly come from nowhere, and are empty then.
// The environment may set them, but their usual values are flags. A call that sets one itself is read with that
// value.
const EMPTY: &[&str] = &[
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "LDLIBS",
    "LIBS",
    "ARFLAGS",
    "V",
    "Q",
    "VERBOSE",
    "ARGS",
    "TARGET_ARCH",
];

/// Functions of make that compute words out of words.
// `shell`, `eval`, `file`, `call` and `wildcard` are missing: they run commands, make rules or look at the disk.
const COMPUTING: &[&str] = &[
    "subst",
    "findstring",
    "filter",
    "filter-out",
    "sort",
    "word",
    "wordlist",
    "words",
    "firstword",
    "lastword",
    "suffix",
    "basename",
    "join",
    "realpath",
    "if",
    "or",
    "and",
    "foreach",
    "origin",
    "flavor",
    "let",
    "intcmp",
];

/// A text while its variables are put in.
#[derive(Debug)]
pub(super) struct Expanding<'m> {
    pub makefile: &'m Makefile,
    /// `@`, `<` and the like.
    pub automatic: &'m [(&'m str, String)],
    /// Commands that `$(shell …)` runs where its value is not needed.
    pub runs: Vec<String>,
}

impl Expanding<'_> {
    /// The text with everything put in; `None` if something cannot be followed.
    pub(super) fn text(&mut self, text: &str, depth: usize) -> Option<String> {
        if depth > DEPTH {
            return None;
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(rest.get(..at)?);
            rest = rest.get(at + 1..)?;
            let first = rest.chars().next()?;
            let inner = match first {
                '(' | '{' => {
                    let inner = closed(rest)?;
                    rest = rest.get(inner.len() + 2..)?;
                    inner
                }
                _ => {
                    let (one, after) = rest.split_at_checked(first.len_utf8())?;
                    rest = after;
                    one
                }
            };
            let value = if inner == "$" { "$".to_owned() } else { self.reference(inner, depth)? };
            out.push_str(&value);
            if out.len() > LENGTH {
                return None;
            }
        }
        out.push_str(rest);
        (out.len() <= LENGTH).then_some(out)
    }

    fn reference(&mut self, inner: &str, depth: usize) -> Option<String> {
        self.makefile.work.set(self.makefile.work.get() + 1);
        if self.makefile.work.get() > WORK {
            return None;
        }
        if let Some((function, rest)) = inner.split_once([' ', '\t']).filter(|(name, _)| is_function(name)) {
            return self.function(function, rest.trim_start(), depth);
        }
        // `$(FILES:.c=.o)`.
        if let Some((name, change)) = inner.split_once(':')
            && let Some((from, to)) = change.split_once('=')
        {
            let name = self.text(name, depth + 1)?;
            let value = self.variable(&name, depth)?;
            let (from, to) = if from.contains('%') {
                (from.to_owned(), to.to_owned())
            } else {
                (format!("%{from}"), format!("%{to}"))
            };
            return Some(patsubst(&from, &self.text(&to, depth + 1)?, &value));
        }
        let name = if inner.contains('$') { self.text(inner, depth + 1)? } else { inner.to_owned() };
        self.variable(&name, depth)
    }

    fn variable(&mut self, name: &str, depth: usize) -> Option<String> {
        if let Some((_, value)) = self.automatic.iter().find(|(known, _)| *known == name) {
            return Some(value.clone());
        }
        if let Some((known, part)) = name.split_at_checked(1).filter(|(_, part)| matches!(*part, "D" | "F"))
            && let Some((_, value)) = self.automatic.iter().find(|(automatic, _)| *automatic == known)
        {
            let parts = value.split_whitespace().map(|word| match (word.rsplit_once('/'), part) {
                (Some((directory, _)), "D") => directory,
                (None, "D") => ".",
                (Some((_, name)), _) => name,
                (None, _) => word,
            });
            return Some(parts.collect::<Vec<_>>().join(" "));
        }
        match self.makefile.variables.get(name) {
            // Its values were all looked at when the file was read.
            Some(variable) if variable.several => Some(NOT_KNOWN.to_owned()),
            Some(variable) => {
                let text = variable.text.clone();
                self.text(&text, depth + 1)
            }
            None => Some(match BUILT_IN.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => (*value).to_owned(),
                None if EMPTY.contains(&name) => String::new(),
                // A variable of the environment, or nothing: the shell knows as much.
                None if is_plain(name) => format!("${{{name}}}"),
                None => return None,
            }),
        }
    }

    fn function(&mut self, function: &str, rest: &str, depth: usize) -> Option<String> {
        let arguments: Vec<&str> = split_arguments(rest);
        let argument = |at: usize| arguments.get(at).copied().unwrap_or_default();
        match function {
            "shell" => {
                let command = self.text(rest, depth + 1)?;
                // The shell runs it in the same place and puts in the same words.
                (!command.contains(['\n', '`'])).then(|| format!("$({command})"))
            }
            "wildcard" | "strip" | "value" => self.text(rest, depth + 1),
            "notdir" => {
                let value = self.text(rest, depth + 1)?;
                let names = value.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
                Some(names.collect::<Vec<_>>().join(" "))
            }
            "dir" | "abspath" => {
                let value = self.text(rest, depth + 1)?;
                if function == "abspath" {
                    return Some(value);
                }
                let directories =
                    value.split_whitespace().map(|word| word.rsplit_once('/').map_or(".", |(dir, _)| dir));
                Some(directories.collect::<Vec<_>>().join(" "))
            }
            "patsubst" => {
                let (from, to) = (self.text(argument(0), depth + 1)?, self.text(argument(1), depth + 1)?);
                let value = self.text(&arguments.get(2..)?.join(","), depth + 1)?;
                Some(patsubst(from.trim(), to.trim(), &value))
            }
            "addprefix" | "addsuffix" => {
                let added = self.text(argument(0), depth + 1)?;
                let value = self.text(&arguments.get(1..)?.join(","), depth + 1)?;
                let added = added.trim();
                let words = value.split_whitespace().map(|word| {
                    if function == "addprefix" { format!("{added}{word}") } else { format!("{word}{added}") }
                });
                Some(words.collect::<Vec<_>>().join(" "))
            }
            "info" | "warning" | "error" => {
                let said = self.text(rest, depth + 1)?;
                self.runs.extend(inner_commands(&said)?);
                Some(String::new())
            }
            "call" => self.call(&arguments, depth),
            // The words are known, what comes out of them is not worked out.
            _ if COMPUTING.contains(&function) => {
                let inside = self.text(rest, depth + 1)?;
                self.runs.extend(inner_commands(&inside)?);
                Some(NOT_KNOWN.to_owned())
            }
            _ => None,
        }
    }

    /// `$(call name,first,second)`: the text of a variable with its arguments put in.
    fn call(&mut self, arguments: &[&str], depth: usize) -> Option<String> {
        const PLACES: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let name = self.text(arguments.first()?, depth + 1)?;
        let body = self.makefile.variables.get(name.trim()).filter(|variable| !variable.several)?.text.clone();
        let mut given = Vec::new();
        for (place, argument) in PLACES.iter().zip(arguments.get(1..)?) {
            given.push((*place, self.text(argument, depth + 1)?));
        }
        given.extend(self.automatic.iter().cloned());
        let mut inner = Expanding { makefile: self.makefile, automatic: &given, runs: Vec::new() };
        let text = inner.text(&body, depth + 1)?;
        let runs = inner.runs;
        self.runs.extend(runs);
        Some(text)
    }
}

/// Stands for words that are not worked out: a variable that nothing sets.
// As in justfiles: an unset variable is what the shell reader already knows how to doubt.
const NOT_KNOWN: &str = "${MAKE_WORDS}";

/// The commands of the substitutions in a text that is no command itself.
pub(super) fn inner_commands(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("$(") {
        rest = rest.get(at + 2..)?;
        let mut depth = 1usize;
        let (end, _) = rest.char_indices().find(|(_, letter)| {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        let command = rest.get(..end).filter(|command| !command.ends_with('\\'))?;
        found.push(command.to_owned());
        rest = rest.get(end + 1..)?;
    }
    Some(found)
}

fn is_function(name: &str) -> bool {
    matches!(
        name,
        "shell"
            | "wildcard"
            | "strip"
            | "value"
            | "notdir"
            | "dir"
            | "abspath"
            | "patsubst"
            | "addprefix"
            | "addsuffix"
            | "info"
            | "warning"
            | "error"
            | "call"
            | "eval"
            | "file"
            | "guile"
    ) || COMPUTING.contains(&name)
}

/// `a%b` to `c%d`, word by word.
fn patsubst(from: &str, to: &str, value: &str) -> String {
    let Some((before, after)) = from.split_once('%') else {
        return value.split_whitespace().map(|word| if word == from { to } else { word }).collect::<Vec<_>>().join(" ");
    };
    let changed = value.split_whitespace().map(|word| {
        let stem = word.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        stem.map_or_else(|| word.to_owned(), |stem| to.replacen('%', stem, 1))
    });
    changed.collect::<Vec<_>>().join(" ")
}

/// What stands between the first bracket and the one that closes it.
fn closed(text: &str) -> Option<&str> {
    let open = text.chars().next()?;
    let close = if open == '(' { ')' } else { '}' };
    let mut depth = 0usize;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return text.get(1..at);
            }
        }
    }
    None
}

fn split_arguments(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(text.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts
}

pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !name.starts_with(|letter: char| letter.is_ascii_digit())
}
