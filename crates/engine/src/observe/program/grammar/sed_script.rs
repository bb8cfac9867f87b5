//! Reads scripts of `sed`: what reaches beyond the text it edits, and what it takes out and puts in.

use super::literal_edit::Substitution;

/// Something that a script does beyond editing text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Reads(String),
    Writes(String),
    /// A shell runs this text.
    Runs(String),
    /// A shell runs the text under edit.
    RunsInput,
}

/// What a script does: beyond the text, and to it.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub deeds: Vec<Deed>,
    /// The text that it takes out and puts in.
    pub edits: Vec<Substitution>,
    /// It takes out lines without saying which: all of them, or the rest of the file.
    pub cuts: bool,
}

/// What a script does, or what in it cannot be read.
pub(super) fn read(script: &str) -> Result<Script, String> {
    let mut reader =
        Reader { rest: script, deeds: Vec::new(), edits: Vec::new(), cuts: false, open: 0, narrowed: Vec::new() };
    while reader.command()? {}
    if reader.open != 0 {
        return Err("a brace without its partner".into());
    }
    Ok(Script { deeds: reader.deeds, edits: reader.edits, cuts: reader.cuts })
}

struct Reader<'s> {
    rest: &'s str,
    deeds: Vec<Deed>,
    edits: Vec<Substitution>,
    cuts: bool,
    open: u32,
    /// Whether each open brace has an address before it.
    narrowed: Vec<bool>,
}

impl<'s> Reader<'s> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = self.rest.get(next.len_utf8()..).unwrap_or_default();
        Some(next)
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) -> &'s str {
        let end = self.rest.find(|character| !wanted(character)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// The rest of the line.
    fn line(&mut self) -> &'s str {
        self.skip(|character| character != '\n')
    }

    /// Reads one command; false at the end of the script.
    fn command(&mut self) -> Result<bool, String> {
        self.skip(|character| character.is_ascii_whitespace() || character == ';');
        if self.rest.is_empty() {
            return Ok(false);
        }
        let has_address = self.addresses()?;
        let is_everywhere = !has_address && !self.narrowed.contains(&true);
        let Some(name) = self.next() else { return Err("an address without a command".into()) };
        // `d` and `c` at every line, `q` at any: what is left of the file is not said.
        self.cuts |= matches!(name, 'q' | 'Q') || (is_everywhere && matches!(name, 'd' | 'D' | 'c' | 'z' | 'g' | 'x'));
        match name {
            '{' => {
                self.open += 1;
                self.narrowed.push(has_address);
            }
            '}' => {
                self.narrowed.pop();
                self.open = self.open.checked_sub(1).ok_or("a brace without its partner")?;
                self.end()?;
            }
            '#' => drop(self.line()),
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => self.end()?,
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(|character| character == ' ' || character.is_ascii_digit());
                self.end()?;
            }
            'a' | 'i' | 'c' => self.text(),
            // GNU sed ends a label at a space and runs what follows; others take the line as the label.
            ':' => {
                self.skip(|character| character == ' ' || character == '\t');
                self.skip(|character| !matches!(character, '\n' | ';' | ' ' | '\t' | '\r'));
                self.end()?;
            }
            'b' | 't' | 'T' | 'v' => {
                self.skip(|character| character == ' ');
                self.skip(|character| !matches!(character, '\n' | ';' | '}' | ' '));
                self.end()?;
            }
            'r' | 'R' | 'w' | 'W' => self.file(name)?,
            'e' => {
                let command = self.line().trim();
                self.deeds.push(if command.is_empty() { Deed::RunsInput } else { Deed::Runs(command.to_owned()) });
            }
            's' => self.substitute()?,
            'y' => {
                let delimiter = self.delimiter()?;
                let old = self.taken(delimiter)?;
                let new = self.taken(delimiter)?;
                self.edits.push(Substitution::new(old, new));
                self.end()?;
            }
            other => return Err(format!("the command `{other}`")),
        }
        Ok(true)
    }

    fn file(&mut self, name: char) -> Result<(), String> {
        let file = self.line().trim().to_owned();
        if file.is_empty() {
            return Err(format!("the command `{name}` without a file"));
        }
        self.deeds.push(if matches!(name, 'r' | 'R') { Deed::Reads(file) } else { Deed::Writes(file) });
        Ok(())
    }

    /// What may follow a command: the next one, after a separator.
    fn end(&mut self) -> Result<(), String> {
        self.skip(|character| character == ' ' || character == '\t' || character == '\r');
        match self.peek() {
            None | Some(';' | '\n' | '}' | '#') => Ok(()),
            Some(other) => Err(format!("`{other}` after a command")),
        }
    }

    /// `1,/re/I`, `$`, `0~3`, `/a/,+5`, then `!`.
    fn addresses(&mut self) -> Result<bool, String> {
        let has_any = self.address()?;
        if has_any {
            self.skip(|character| character == ' ');
            if self.peek() == Some(',') {
                self.next();
                self.skip(|character| character == ' ');
                if matches!(self.peek(), Some('+' | '~')) {
                    self.next();
                }
                if !self.address()? {
                    return Err("a range without its end".into());
                }
            }
        }
        self.skip(|character| character == ' ' || character == '\t' || character == '!');
        Ok(has_any)
    }

    fn address(&mut self) -> Result<bool, String> {
        match self.peek() {
            Some('$') => drop(self.next()),
            Some('0'..='9') => {
                self.skip(|character| character.is_ascii_digit());
                if self.peek() == Some('~') {
                    self.next();
                    self.skip(|character| character.is_ascii_digit());
                }
            }
            Some('/') => {
                self.next();
                self.pattern('/')?;
                self.skip(|character| matches!(character, 'I' | 'M'));
            }
            Some('\\') => {
                self.next();
                let delimiter = self.delimiter()?;
                self.pattern(delimiter)?;
                self.skip(|character| matches!(character, 'I' | 'M'));
            }
            Some(_) | None => return Ok(false),
        }
        Ok(true)
    }

    fn delimiter(&mut self) -> Result<char, String> {
        self.next()
            .filter(|character| !matches!(character, '\n' | '\\'))
            .ok_or_else(|| "a pattern without delimiter".to_owned())
    }

    /// A regular expression. Some versions see no delimiter inside brackets, so an open bracket cannot be read.
    fn pattern(&mut self, delimiter: char) -> Result<(), String> {
        let whole = self.rest;
        self.until(delimiter)?;
        let length = whole.len().saturating_sub(self.rest.len() + delimiter.len_utf8());
        if has_open_bracket(whole.get(..length).unwrap_or_default()) {
            Err("a delimiter inside brackets".into())
        } else {
            Ok(())
        }
    }

    /// Up to the delimiter, which a backslash hides.
    fn until(&mut self, delimiter: char) -> Result<(), String> {
        loop {
            match self.next() {
                None => return Err("a pattern that never ends".into()),
                Some('\\') => drop(self.next()),
                Some(character) if character == delimiter => return Ok(()),
                Some(_) => {}
            }
        }
    }

    /// The text up to the delimiter.
    fn taken(&mut self, delimiter: char) -> Result<&'s str, String> {
        let whole = self.rest;
        self.until(delimiter)?;
        let length = whole.len().saturating_sub(self.rest.len() + delimiter.len_utf8());
        Ok(whole.get(..length).unwrap_or_default())
    }

    fn substitute(&mut self) -> Result<(), String> {
        let delimiter = self.delimiter()?;
        let whole = self.rest;
        self.pattern(delimiter)?;
        let length = whole.len().saturating_sub(self.rest.len() + delimiter.len_utf8());
        let new = self.taken(delimiter)?;
        self.edits.push(Substitution::new(whole.get(..length).unwrap_or_default(), new));
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => drop(self.next()),
                Some('e') => {
                    self.next();
                    self.deeds.push(Deed::RunsInput);
                }
                Some('w') => {
                    self.next();
                    return self.file('w');
                }
                Some(_) | None => return self.end(),
            }
        }
    }

    /// Text of `a`, `i`, `c`: to the end of a line that no backslash continues.
    fn text(&mut self) {
        self.skip(|character| character == ' ' || character == '\t');
        let whole = self.rest;
        loop {
            match self.next() {
                None | Some('\n') => break,
                Some('\\') => drop(self.next()),
                Some(_) => {}
            }
        }
        let length = whole.len().saturating_sub(self.rest.len());
        self.edits.push(Substitution::insertion(whole.get(..length).unwrap_or_default()));
    }
}

fn has_open_bracket(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => drop(rest.next()),
            '[' => {
                rest.next_if_eq(&'^');
                rest.next_if_eq(&']');
                let mut classes = 0;
                loop {
                    match rest.next() {
                        None => return true,
                        Some('[') if matches!(rest.peek(), Some(':' | '.' | '=')) => classes += 1,
                        Some(']') if classes > 0 => classes -= 1,
                        Some(']') => break,
                        Some(_) => {}
                    }
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::Deed::{Reads, Runs, RunsInput, Writes};
    use super::read;

    #[test]
    fn editing_does_nothing_else() {
        for script in [
            "1,5p",
            "s|a|b|g",
            "$!N;P;D",
            "/a/,/b/{s/x/y/;p}",
            "/^$/d",
            "s/a\\/b/c/2gI",
            "y/abc/xyz/",
            ":a;N;$!ba;s/\\n/ /g",
            "10q",
            "0~3d",
            "/x/,+5!d",
            "1i\\\nline one\\\nline two\np",
            "a w out.txt",
            "$a text; e rm",
            "\\,a/b,d",
            "/e/!s/w/e/",
            "# comment\np",
            "s/[a-z]*//;t end;s/x/y/;:end",
            "p;p;=",
            "",
            "s/[[:space:]]*$//",
            "/[]x]/d",
            "s/[^]]*//g",
        ] {
            assert_eq!(read(script).map(|script| script.deeds), Ok(Vec::new()), "{script}");
        }
    }

    #[test]
    fn files_and_commands_are_found() {
        for (script, deeds) in [
            ("s/a/b/e", vec![RunsInput]),
            ("s/a/b/ge", vec![RunsInput]),
            ("s/a/b/w out.txt", vec![Writes("out.txt".into())]),
            ("s/a/b/gw out; p", vec![Writes("out; p".into())]),
            ("w f", vec![Writes("f".into())]),
            ("1,3W f\nr g", vec![Writes("f".into()), Reads("g".into())]),
            ("1e rm -rf x", vec![Runs("rm -rf x".into())]),
            ("e", vec![RunsInput]),
            ("/x/{e\n}", vec![RunsInput]),
            ("a text\ne id", vec![Runs("id".into())]),
            ("s/a\\\n/b/;w f", vec![Writes("f".into())]),
            (":a\nw y", vec![Writes("y".into())]),
        ] {
            assert_eq!(read(script).map(|script| script.deeds), Ok(deeds), "{script}");
        }
    }

    #[test]
    fn what_takes_out_lines_that_it_does_not_name_is_told() {
        for (script, cuts) in [
            ("d", true),
            ("{d}", true),
            ("10q", true),
            ("c new", true),
            ("3d", false),
            ("/a/{d}", false),
            ("$!d", false),
            ("s/a/b/", false),
        ] {
            assert_eq!(read(script).map(|script| script.cuts), Ok(cuts), "{script}");
        }
    }

    #[test]
    fn odd_scripts_are_refused() {
        for script in
            ["s/a/b", "s/a/b/k", "{p", "p}", "1,", "k", "s", "p p", "w", "s/[/]/w x/", "s/[/]/g;#/w f", "/[/]/d"]
        {
            assert!(read(script).is_err(), "{script}");
        }
    }
}
