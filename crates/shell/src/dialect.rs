//! Which shell a text is for, and which other one it looks like.

use crate::error::{Other, Parsed};
use crate::parser::Parser;
use crate::{ErrorKind, ParseError, Script};

/// The language to read a text as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    #[default]
    Bash,
    /// What every POSIX shell agrees on; bash's own syntax is an error.
    Sh,
}

impl Parser<'_> {
    /// Fails where a plain `sh` would read something else than bash.
    pub(crate) fn bash_only(&self) -> Parsed<()> {
        match self.dialect {
            Dialect::Bash => Ok(()),
            Dialect::Sh => self.fail(ErrorKind::OtherDialect(Other::Bash)),
        }
    }
}

/// Turns a plain syntax error into *this is another shell* where the text says so.
pub(crate) fn name_the_shell(error: ParseError, text: &str, _script: &Script) -> ParseError {
    let plain = matches!(
        error.kind,
        ErrorKind::Unexpected | ErrorKind::Unterminated(_) | ErrorKind::Missing(_) | ErrorKind::BadSubstitution
    );
    match plain.then(|| foreign(text)).flatten() {
        Some(other) => ParseError { kind: ErrorKind::OtherDialect(other), ..error },
        None => error,
    }
}

/// Signs of another shell, looked for only in a text that bash refuses.
fn foreign(text: &str) -> Option<Other> {
    let head = text.get(..text.len().min(4_096)).unwrap_or(text);
    let mut lines = head.lines().flat_map(|line| line.split(';')).map(str::trim);
    if head.contains("&|") || head.contains("} always {") || head.contains(" =(") || head.contains("${(") {
        return Some(Other::Zsh);
    }
    if lines.clone().any(|line| line == "end" || line.starts_with("set -l ") || line.starts_with("begin")) {
        return Some(Other::Fish);
    }
    if lines.clone().any(is_powershell) {
        return Some(Other::PowerShell);
    }
    if lines.clone().any(is_cmd) {
        return Some(Other::Cmd);
    }
    let loops = ["foreach ", "for ", "if [[", "while ((", "() {"];
    lines.any(|line| loops.iter().any(|start| line.starts_with(start)) && line.contains('(')).then_some(Other::Zsh)
}

fn is_powershell(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let cmdlet = word.split_once('-').is_some_and(|(verb, noun)| {
        [verb, noun].iter().all(|part| part.starts_with(|first: char| first.is_ascii_uppercase()))
    });
    cmdlet || line.contains("| ForEach-Object") || (word.starts_with('$') && line.contains(" = "))
}

fn is_cmd(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["@echo off", "if exist ", "if not exist ", "if defined ", "for %"].iter().any(|start| line.starts_with(start))
}
