//! `*`, `?`, bracket expressions and extended globs.

use crate::cursor::ends_word;
use crate::error::Parsed;
use crate::parser::Parser;
use crate::parts::Parts;
use crate::word::{Draft, Mode};
use crate::{Dialect, ErrorKind, Quoting};

impl Parser<'_> {
    /// `*`, `?`, `[` and the openers of extended globs.
    pub(crate) fn glob(&mut self, draft: &mut Draft, byte: u8) -> Parsed<()> {
        if draft.mode == Mode::Regex {
            draft.parts.text(self.slice(self.pos, self.pos + 1), Quoting::Bare);
            self.bump();
            return Ok(());
        }
        if self.second() == b'(' && byte != b'[' {
            return self.extended_glob(draft);
        }
        match byte {
            b'*' | b'?' => {
                draft.parts.glob(self.slice(self.pos, self.pos + 1));
                self.bump();
            }
            b'[' => self.bracket(&mut draft.parts)?,
            _ => {
                self.bare(draft, self.slice(self.pos, self.pos + 1));
                self.bump();
            }
        }
        Ok(())
    }

    /// `@(…)` and its kin: without the option bash reads a syntax error, or a function definition.
    fn extended_glob(&mut self, draft: &mut Draft) -> Parsed<()> {
        self.unless_refused()?;
        let start = self.pos;
        if self.dialect == Dialect::Zsh {
            return self.qualified(draft);
        }
        // `!(x)` may be a negated pattern or `!` before a subshell, depending on `extglob`.
        let negated_group = self.at(start) == b'!' && draft.parts.is_empty() && draft.open == 0;
        self.bump();
        self.peek();
        self.bump();
        if negated_group && draft.mode == Mode::Plain && draft.start == start {
            return self.fail(ErrorKind::Ambiguous("`!(`"));
        }
        let mut ahead = self.pos;
        while matches!(self.at(ahead), b' ' | b'\t' | b'\\' | b'\n') {
            ahead += 1;
        }
        // With `extglob` off `f()` defines a function, with it on it is a pattern that matches nothing.
        if self.at(ahead) == b')' {
            return self.fail(ErrorKind::Ambiguous("an empty extended glob"));
        }
        self.note_glob_qualifier();
        draft.open += 1;
        let mut opener = self.slice(start, start + 1).to_owned();
        opener.push('(');
        draft.parts.glob(&opener);
        Ok(())
    }

    /// `*(.)` in zsh: the pattern without what picks among the files that it matches.
    fn qualified(&mut self, draft: &mut Draft) -> Parsed<()> {
        let star = self.at(self.pos) == b'*';
        if !star || draft.mode != Mode::Argument || draft.open > 0 {
            return self.not_in_zsh();
        }
        draft.parts.glob("*");
        self.bump();
        self.peek();
        self.picks_files()
    }

    /// A bracket expression, a lone `[`, or the start of one that holds quotes or expansions.
    pub(crate) fn bracket(&mut self, parts: &mut Parts) -> Parsed<()> {
        let start = self.pos;
        let mut index = start + 1;
        if matches!(self.at(index), b'!' | b'^') {
            index += 1;
        }
        if self.at(index) == b']' {
            index += 1;
        }
        while is_bracket_text(self.at(index)) {
            index += 1;
        }
        self.spend(index - start)?;
        if self.after(index) != index {
            return self.fail(ErrorKind::Ambiguous("a line continuation in brackets"));
        }
        let simple = self.at(index) == b']';
        // The closing bracket may come out of the quotes or the expansion, so this may be a pattern.
        let open_ended = matches!(self.at(index), b'\'' | b'"' | b'$' | b'`' | b'\\');
        self.pos = if simple { index + 1 } else { start + 1 };
        match simple || open_ended {
            true => parts.glob(self.slice(start, self.pos)),
            false => parts.text("[", Quoting::Bare),
        }
        Ok(())
    }
}

fn is_bracket_text(byte: u8) -> bool {
    !ends_word(byte) && !matches!(byte, b']' | b'\'' | b'"' | b'$' | b'`' | b'\\' | b'{' | b'}' | b',' | b'/')
}
