//! `doorward run -- COMMAND`: which command a call hands to the box.

use doorward_shell::{Command, CommandKind, Dialect, Part, Simple, Statement, Word, parse};

use crate::world::{Identity, World};

/// The shells that clients run their commands with.
const DIALECTS: &[Dialect] = &[Dialect::Bash, Dialect::Sh, Dialect::Zsh];

/// The command inside of a call that is nothing but a contained run.
///
/// Redirects, pipes and further commands happen outside the box, so a call that has any is none.
pub(crate) fn inner(command: &str, world: &dyn World) -> Option<String> {
    // Every shell that may read the text must read the same command in it.
    let mut found = DIALECTS.iter().map(|dialect| read(command, *dialect));
    let first = found.next().flatten()?;
    let is_ours = || matches!(world.program(&first.0), Identity::Trusted(_));
    (found.all(|other| other.as_ref() == Some(&first)) && is_ours()).then_some(first.1)
}

/// The program as it is written, and the command inside.
fn read(command: &str, dialect: Dialect) -> Option<(String, String)> {
    let parsed = parse(command, dialect);
    if parsed.error.is_some() {
        return None;
    }
    let [Statement { first, rest, background: false, .. }] = parsed.script.statements.as_slice() else { return None };
    let [Command { kind: CommandKind::Simple(simple), redirects, .. }] = first.commands.as_slice() else { return None };
    if first.negated || first.timed || !rest.is_empty() || !redirects.is_empty() {
        return None;
    }
    let words = words(simple)?;
    let [program, run, dashes, command @ ..] = words.as_slice() else { return None };
    // By its name or its full path: what a relative one means depends on the directory.
    let is_named = program == "doorward" || (program.starts_with('/') && program.ends_with("/doorward"));
    let inside = (is_named && run == "run" && dashes == "--").then(|| text(command)).flatten()?;
    Some((program.clone(), inside))
}

/// One word is a command line of its own; several are the words of one command.
pub fn text(command: &[String]) -> Option<String> {
    match command {
        [] => None,
        [line] => Some(line.clone()),
        words => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    }
}

/// The words, if none of them depends on anything.
fn words(simple: &Simple) -> Option<Vec<String>> {
    if !simple.assignments.is_empty() {
        return None;
    }
    simple.words.iter().map(literal).collect()
}

fn literal(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        let Part::Text { text: piece, .. } = part else { return None };
        text.push_str(piece);
    }
    // zsh looks `=name` up on the search path.
    (!text.starts_with('=')).then_some(text)
}

/// As every shell reads it back.
pub fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DescribedWorld, Description};

    fn check(command: &str) -> Option<String> {
        inner(command, &DescribedWorld::new(Description::default(), "/home/me/project"))
    }

    #[test]
    fn the_command_is_read_back() {
        for (command, inside) in [
            ("doorward run -- 'make && ./a.out > log'", "make && ./a.out > log"),
            ("doorward run -- ./tool --in 'a b' \"it's\"", "./tool --in 'a b' 'it'\\''s'"),
            ("doorward run -- make", "make"),
            ("/usr/bin/doorward run -- make", "make"),
        ] {
            assert_eq!(check(command).as_deref(), Some(inside), "{command}");
        }
    }

    #[test]
    fn what_happens_outside_the_box_is_no_contained_run() {
        for command in [
            "doorward run -- make > log",
            "doorward run -- make | tee log",
            "doorward run -- make; rm -rf ~",
            "doorward run -- make &",
            "X=1 doorward run -- make",
            "cd /tmp && doorward run -- make",
            "doorward run -- $CMD",
            "doorward run -- \"$(id)\"",
            "doorward run -- *",
            "doorward run -- =ls",
            "doorward run --",
            "doorward run make",
            "./doorward run -- make",
            "bin/doorward run -- make",
            "/tmp/doorward run -- make",
            "( doorward run -- make )",
            "! doorward run -- make",
            "doorward run -- 'make",
            "doorward run -- $'\\'; rm -rf ~ #'",
            "doorward run -- $'make'",
        ] {
            assert_eq!(check(command), None, "{command}");
        }
    }
}
