//! Which shell a text is for, and which other one it looks like.

use crate::error::{Other, Parsed};
use crate::parser::Parser;
use crate::{Command, CommandKind, ErrorKind, ParseError, Word};

/// The language to read a text as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    #[default]
    Bash,
    /// What every POSIX shell agrees on; bash's own syntax is an error.
    Sh,
}

/// The verbs that most PowerShell commands start with.
const VERBS: [&str; 34] = [
    "Add",
    "Clear",
    "Compress",
    "ConvertFrom",
    "ConvertTo",
    "Copy",
    "Disable",
    "Enable",
    "Enter",
    "Expand",
    "Export",
    "ForEach",
    "Format",
    "Get",
    "Import",
    "Install",
    "Invoke",
    "Join",
    "Move",
    "New",
    "Out",
    "Read",
    "Register",
    "Remove",
    "Rename",
    "Restart",
    "Select",
    "Set",
    "Start",
    "Stop",
    "Test",
    "Update",
    "Where",
    "Write",
];

impl Parser<'_> {
    /// Fails where a plain `sh` would read something else than bash.
    pub(crate) fn bash_only(&self) -> Parsed<()> {
        match self.dialect {
            Dialect::Bash => Ok(()),
            Dialect::Sh => self.fail(ErrorKind::OtherDialect(Other::Bash)),
        }
    }

    /// Fails on a command that bash could read but that is meant for another shell.
    pub(crate) fn other_shell(&self, command: &Command) -> Parsed<()> {
        let CommandKind::Simple(simple) = &command.kind else {
            return Ok(());
        };
        let name = simple.words.first().and_then(Word::literal_bare).unwrap_or_default();
        match is_cmdlet(name) {
            true => Err(ParseError { kind: ErrorKind::OtherDialect(Other::PowerShell), span: command.span }),
            false => Ok(()),
        }
    }
}

/// Turns a plain syntax error into *this is another shell* where the text says so.
pub(crate) fn name_the_shell(error: ParseError, text: &str) -> ParseError {
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

/// `Get-ChildItem` and the like.
fn is_cmdlet(word: &str) -> bool {
    let Some((verb, noun)) = word.split_once('-') else {
        return false;
    };
    noun.starts_with(|first: char| first.is_ascii_uppercase()) && VERBS.contains(&verb)
}

fn is_powershell(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    is_cmdlet(word) || line.contains("| ForEach-Object") || (word.starts_with('$') && line.contains(" = "))
}

fn is_cmd(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["@echo off", "if exist ", "if not exist ", "if defined ", "for %"].iter().any(|start| line.starts_with(start))
}
