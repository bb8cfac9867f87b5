//! How a command was read: its tree, its commands with the directory of each, its flows, and what was not understood.

use std::io::{self, Write};

use doorward_engine::{Facts, Flow, Part};
use doorward_shell::{Dialect, outline, parse};

use super::judgement::{heading, one_line};
use crate::machine::visible;

/// More lines of one kind than anyone reads.
const LINES: usize = 200;

/// Everything that the verdict is based on, before the effects.
pub(super) fn understood(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    heading(out, "understood")?;
    writeln!(out, "  coverage {}: {}", facts.coverage.degree, facts.coverage.degree.what())?;
    for because in &facts.coverage.because {
        writeln!(out, "    {}", visible(because))?;
    }
    if facts.tool == "bash" {
        tree(out, &facts.subject)?;
    }
    commands(out, facts)
}

/// The text as the shell reads it. Secrets are already replaced.
fn tree(out: &mut dyn Write, text: &str) -> io::Result<()> {
    heading(out, "tree")?;
    let parsed = parse(text, Dialect::Bash);
    let lines = outline(&parsed.script);
    for line in lines.iter().take(LINES) {
        writeln!(out, "  {}{}", "  ".repeat(line.depth), visible(&line.text))?;
    }
    more(out, lines.len())?;
    match parsed.error {
        Some(error) => writeln!(out, "  stopped there: {error}"),
        None => Ok(()),
    }
}

/// The commands with their words resolved, below the directory they run in.
fn commands(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    if facts.commands.is_empty() {
        return Ok(());
    }
    heading(out, "commands")?;
    for (index, command) in facts.commands.iter().take(LINES).enumerate() {
        let directory = facts.directory(index);
        if index == 0 || directory.is_some_and(|directory| directory.from as usize == index) {
            let path = directory.map_or(Some("the directory of the call"), |directory| directory.path.as_deref());
            writeln!(out, "  in {}", visible(path.unwrap_or("an unknown directory")))?;
        }
        writeln!(out, "    {}", visible(command))?;
    }
    more(out, facts.commands.len())
}

/// What reaches what, with the parts of the command at both ends.
pub(super) fn flow(out: &mut dyn Write, facts: &Facts, flow: &Flow) -> io::Result<()> {
    write!(out, "  flow {}: {}", flow.kind, flow.kind.what())?;
    if let Some(from) = text(facts, flow.from) {
        write!(out, ": {}", visible(from))?;
    }
    if let Some(to) = text(facts, flow.to).filter(|_| flow.from != flow.to) {
        write!(out, " → {}", visible(to))?;
    }
    writeln!(out)
}

fn text(facts: &Facts, part: Part) -> Option<&str> {
    let text = facts.subject.get(part.start as usize..part.end as usize)?;
    Some(one_line(text)).filter(|text| !text.is_empty())
}

fn more(out: &mut dyn Write, lines: usize) -> io::Result<()> {
    match lines.checked_sub(LINES) {
        None | Some(0) => Ok(()),
        Some(rest) => writeln!(out, "  … and {rest} more"),
    }
}

#[cfg(test)]
mod tests {
    use doorward_engine::{Coverage, Directory};

    use super::*;
    use crate::memory::evaluation;

    fn shown(show: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        show(&mut out).unwrap();
        anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string()
    }

    #[test]
    fn commands_stand_below_their_directory() {
        let mut facts = evaluation::nothing_known("bash", Coverage::full());
        facts.commands = vec!["cd x".into(), "ls".into(), "rm a".into()];
        facts.directories = vec![Directory { from: 1, path: Some("/p/x".into()) }, Directory { from: 2, path: None }];
        assert_eq!(
            shown(|out| commands(out, &facts)),
            "commands\n  in the directory of the call\n    cd x\n  in /p/x\n    ls\n  \
             in an unknown directory\n    rm a\n"
        );
    }

    #[test]
    fn a_tree_says_where_it_ends() {
        assert_eq!(shown(|out| tree(out, "a | (b)")), "tree\n  a\n  | subshell\n    b\n");
        assert_eq!(shown(|out| tree(out, "a; b \"")), "tree\n  a\n  b\n  stopped there: the text ends before `\"`\n");
    }
}
