//! Which shell a text is for, and which other one it looks like.

use crate::error::{Other, Parsed};
use crate::parser::Parser;
use crate::{ErrorKind, ParseError, Part, Simple, Span, Word};

/// The language to read a text as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    #[default]
    Bash,
    /// `sh` where it is dash: syntax that only bash has is read as dash reads it, or refused as dash refuses it.
    Sh,
    /// zsh as far as it agrees with bash; what it reads otherwise and is not understood is an error.
    Zsh,
}

/// The verbs that most PowerShell commands start with.
// Verbs of PowerShell's own commands. With a dash and a capital behind them they are never a Unix program.
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

/// How far to look for the end of a glob qualifier.
// A qualifier is a few letters. Looking to the end of the text for each `(` would be quadratic.
const QUALIFIERS: usize = 256;

impl Parser<'_> {
    /// Fails where it is not known what a plain `sh` makes of syntax that bash has.
    pub(crate) fn bash_only(&self) -> Parsed<()> {
        match self.dialect {
            Dialect::Bash | Dialect::Zsh => Ok(()),
            Dialect::Sh => self.fail(ErrorKind::OtherDialect(Other::Bash)),
        }
    }

    /// Fails where dash ends with a syntax error, so that nothing from this line on is run.
    pub(crate) fn unless_refused(&self) -> Parsed<()> {
        match self.dialect {
            Dialect::Bash | Dialect::Zsh => Ok(()),
            Dialect::Sh => self.fail(ErrorKind::Refused),
        }
    }

    /// Fails where zsh reads something else than bash.
    pub(crate) fn not_in_zsh(&self) -> Parsed<()> {
        match self.dialect {
            Dialect::Bash | Dialect::Sh => Ok(()),
            Dialect::Zsh => self.fail(ErrorKind::OtherDialect(Other::Zsh)),
        }
    }

    /// `*(.N)` and the like, standing at the parenthesis: zsh picks among the files. Steps over it where all that it does
    /// is to pick fewer; otherwise fails.
    pub(crate) fn picks_files(&mut self) -> Parsed<()> {
        let rest = self.bytes.get(self.pos + 1..).unwrap_or_default();
        let length = rest.iter().take(QUALIFIERS).position(|byte| *byte == b')').unwrap_or(0);
        // File types, permissions, counts, sorting and ranges. `e`, `+` and `P` run code or make other words.
        let plain = |byte: &u8| byte.is_ascii_digit() || b"./@*rwxNnoOmacLkhM-[],^".contains(byte);
        let group = rest.get(..length).unwrap_or_default();
        let end = self.pos + length + 2;
        if length == 0 || !group.iter().all(plain) || !crate::cursor::ends_word(self.at(end)) {
            return self.fail(ErrorKind::OtherDialect(Other::Zsh));
        }
        self.pos = end;
        Ok(())
    }

    /// `=name` is the path of a program, `==` alone an error.
    pub(crate) fn no_equals_expansion(&mut self) -> Parsed<()> {
        let plain = self.peek() != b'=' || crate::cursor::ends_word(self.second());
        let compares = self.second() == b'=' && crate::cursor::ends_word(self.at(self.pos + 2));
        if plain || compares { Ok(()) } else { self.not_in_zsh() }
    }

    /// Notes a command that bash could read but that is meant for another shell. Reading goes on: bash would run what
    /// follows.
    pub(crate) fn note_other_shell(&mut self, simple: &Simple, span: Span) {
        if let Some(other) = meant_for(simple) {
            self.note_foreign(other, span);
        }
    }

    pub(crate) fn note_foreign(&mut self, other: Other, span: Span) {
        self.foreign.get_or_insert(ParseError { kind: ErrorKind::OtherDialect(other), span });
    }

    /// Notes `*(e:'…':)` and `*(+name)`, standing behind the parenthesis: zsh runs code for each file that they match.
    pub(crate) fn note_glob_qualifier(&mut self) {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let length = rest.iter().take(QUALIFIERS).position(|byte| *byte == b')').unwrap_or(0);
        if runs_code(rest.get(..length).unwrap_or_default()) {
            self.note_foreign(Other::Zsh, self.span_to(self.pos, self.pos + length));
        }
    }
}

/// The other shell that a command is written for.
fn meant_for(simple: &Simple) -> Option<Other> {
    let (first, rest) = simple.words.split_first()?;
    let Some(name) = first.literal_bare() else {
        return sets_like_powershell(first, rest).then_some(Other::PowerShell);
    };
    let switches = || rest.first().and_then(Word::literal_bare).is_some_and(is_switch);
    match name {
        // Words that are commands or keywords there and no usual program's name here. Bash would look for such a
        // program, so the text is noted as foreign and still read.
        "and" | "or" | "begin" | "end" => Some(Other::Fish),
        "noglob" | "nocorrect" | "repeat" | "foreach" | "autoload" | "zmodload" => Some(Other::Zsh),
        "%" | "try" | "catch" | "finally" => Some(Other::PowerShell),
        "@echo" | "rem" | "goto" | "setlocal" | "endlocal" => Some(Other::Cmd),
        // As plain words these are common names of functions; only `/q` and the like behind them make it cmd.
        "del" | "erase" | "rd" | "copy" | "move" | "ren" | "md" if switches() => Some(Other::Cmd),
        _ if is_cmdlet(name) => Some(Other::PowerShell),
        _ => None,
    }
}

/// `$name = …` and `$env:NAME …`
fn sets_like_powershell(first: &Word, rest: &[Word]) -> bool {
    match first.parts.as_slice() {
        [Part::Parameter(_)] => rest.first().and_then(Word::literal_bare) == Some("="),
        [Part::Parameter(parameter), Part::Text { text, .. }, ..] => parameter.name == "env" && text.starts_with(':'),
        _ => false,
    }
}

/// `/q`
fn is_switch(word: &str) -> bool {
    matches!(word.as_bytes(), [b'/', letter] if letter.is_ascii_alphabetic())
}

/// Whether zsh takes the text between parentheses behind a pattern for code.
fn runs_code(group: &[u8]) -> bool {
    let evaluates = |pair: &[u8]| matches!(pair, [b'e', next] if !next.is_ascii_alphanumeric());
    let calls = |pair: &[u8]| matches!(pair, [b'+', next] if next.is_ascii_alphabetic());
    !group.contains(&b'|') && group.windows(2).any(|pair| evaluates(pair) || calls(pair))
}

/// Turns a plain syntax error into *this is another shell* where the text says so.
pub(crate) fn name_the_shell(error: ParseError, text: &str) -> ParseError {
    // Limits and NUL say nothing about the language, so they keep their own message.
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
    // The first screens show which shell a script is for; a long here document behind them should not decide.
    let head = text.get(..text.len().min(4_096)).unwrap_or(text);
    let mut lines = head.lines().flat_map(|line| line.split(';')).map(str::trim);
    if lines.clone().any(is_powershell) {
        return Some(Other::PowerShell);
    }
    if head.contains("&|") || head.contains("} always {") || head.contains(" =(") || head.contains("${(") {
        return Some(Other::Zsh);
    }
    if lines.clone().any(is_fish) {
        return Some(Other::Fish);
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
    // With spaces: `[ a -eq b ]` has them too, so this counts only behind `if (`.
    const COMPARISONS: [&str; 6] = [" -eq ", " -ne ", " -lt ", " -gt ", " -like ", " -match "];
    let word = line.split_whitespace().next().unwrap_or_default();
    let compares = ["if (", "while (", "elseif ("].iter().any(|start| line.starts_with(start))
        && COMPARISONS.iter().any(|operator| line.contains(operator))
        && !line.contains("((");
    let starts = ["foreach ($", "param(", "param (", "& \"", "& '", "iex (", "[Console]", "[System."];
    is_cmdlet(word)
        || compares
        || starts.iter().any(|start| line.starts_with(start))
        || line.contains("| ForEach-Object")
        || (line.starts_with('[') && line.contains("]::"))
        || (word.starts_with('$') && line.contains(" = "))
}

/// `end` closes every block, and a command in parentheses may be a word.
fn is_fish(line: &str) -> bool {
    let substitutes = line.starts_with("set ") && line.contains(" (");
    line == "end" || line.starts_with("set -l ") || line.starts_with("begin") || substitutes
}

fn is_cmd(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["@echo off", "if exist ", "if not exist ", "if defined ", "for %", "for /"]
        .iter()
        .any(|start| line.starts_with(start))
}
