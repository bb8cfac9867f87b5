//! The change to a file, as removed and added lines.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::machine::visible;

/// A line that is in one text only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffLine<'a> {
    Removed(&'a str),
    Added(&'a str),
}

/// The number of the first differing line, and the differing lines: equal lines at both ends are left out.
pub(crate) fn differing<'a>(old: &'a str, new: &'a str) -> (usize, Vec<DiffLine<'a>>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let shorter = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let removed = old.get(head..old.len() - tail).unwrap_or_default().iter().map(|line| DiffLine::Removed(line));
    let added = new.get(head..new.len() - tail).unwrap_or_default().iter().map(|line| DiffLine::Added(line));
    (head + 1, removed.chain(added).collect())
}

/// Shows what differs between two texts.
pub(crate) fn change(out: &mut dyn Write, path: &Path, old: &str, new: &str) -> io::Result<()> {
    const OUT: Style = AnsiColor::Red.on_default();
    const IN: Style = AnsiColor::Green.on_default();
    let (first, differing) = differing(old, new);
    writeln!(out, "{}, line {first}:", path.display())?;
    differing.into_iter().try_for_each(|line| match line {
        DiffLine::Removed(text) => writeln!(out, "{OUT}- {}{OUT:#}", visible(text)),
        DiffLine::Added(text) => writeln!(out, "{IN}+ {}{IN:#}", visible(text)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let mut out = Vec::new();
        change(&mut out, Path::new("f"), "a\nb\nd\n", "a\nb\nc\nd\n").unwrap();
        let plain = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
        assert_eq!(plain, "f, line 3:\n+ c\n");
    }
}
