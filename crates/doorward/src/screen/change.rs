//! The change to a file, as lines taken out and put in.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use super::visible;

/// Shows what differs between two texts: equal lines at both ends are left out.
pub fn change(out: &mut dyn Write, path: &Path, old: &str, new: &str) -> io::Result<()> {
    const OUT: Style = AnsiColor::Red.on_default();
    const IN: Style = AnsiColor::Green.on_default();
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let shorter = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    writeln!(out, "{}, line {}:", path.display(), head + 1)?;
    for line in old.get(head..old.len() - tail).unwrap_or_default() {
        writeln!(out, "{OUT}- {}{OUT:#}", visible(line))?;
    }
    for line in new.get(head..new.len() - tail).unwrap_or_default() {
        writeln!(out, "{IN}+ {}{IN:#}", visible(line))?;
    }
    Ok(())
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
