//! Bare words: where they end, and the parts they are made of.

use crate::brace::{self, Mark};
use crate::cursor::{ends_word, in_name, starts_name};
use crate::error::Parsed;
use crate::parser::Parser;
use crate::parts::Parts;
use crate::{Dialect, ErrorKind, Part, Quoting, Word, arithmetic, print_word};

/// Where a word stands, which decides what is special in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// An argument, a redirect target, an array element.
    Argument,
    /// Behind `name=`.
    Value,
    /// Never brace-expanded: `case` words, operands of `[[ … ]]`.
    Plain,
    /// Like [`Mode::Plain`], where `!(…)` can only be a pattern.
    Pattern,
    /// Behind `=~`: parentheses and `|` belong to the word.
    Regex,
}

/// How far to look at braces behind a name.
// A brace expansion behind a variable is a few characters; a longer one counts as lengthening the name.
const LENGTHENED: usize = 256;

/// A word under construction.
pub(crate) struct Draft {
    pub(crate) parts: Parts,
    pub(crate) start: usize,
    pub(crate) mode: Mode,
    /// Open parentheses of an extended glob or a regular expression.
    pub(crate) open: u32,
    marks: Vec<Mark>,
    /// A `${…}` or nested quotes hold braces, which bash counts when it looks for the end of a brace expansion.
    braces_inside: bool,
    /// `$name` stands at the end of an alternative, where what follows the braces would lengthen it.
    name_before_brace: bool,
}

impl Draft {
    /// Whether the word starts with `name=` or `name+=`.
    fn looks_like_assignment(&self) -> bool {
        let Some(Part::Text { text, quoting: Quoting::Bare }) = self.parts.list.first() else {
            return false;
        };
        let Some((name, _)) = text.split_once('=') else {
            return false;
        };
        let name = name.strip_suffix('+').unwrap_or(name);
        name.bytes().next().is_some_and(starts_name) && name.bytes().all(in_name)
    }
}

impl Parser<'_> {
    pub(crate) fn word(&mut self) -> Parsed<Word> {
        self.word_in(Mode::Argument)
    }

    pub(crate) fn plain_word(&mut self) -> Parsed<Word> {
        self.blanks();
        if ends_word(self.peek()) && !self.at_process() {
            return self.fail(ErrorKind::Missing("a word"));
        }
        self.word_in(Mode::Plain)
    }

    pub(crate) fn word_in(&mut self, mode: Mode) -> Parsed<Word> {
        self.peek();
        let start = self.pos;
        if self.dialect == Dialect::Zsh && mode == Mode::Argument {
            self.no_equals_expansion()?;
        }
        let end = self.plain_end(start);
        // Most words are a plain run of letters, for which no draft is needed.
        if end > start && matches!(self.at(end), 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b')') {
            self.pos = end;
            let part = Part::Text { text: self.slice(start, end).to_owned(), quoting: Quoting::Bare };
            return Ok(Word { parts: vec![part], span: self.span(start) });
        }
        let mut draft = Draft {
            parts: Parts::default(),
            start,
            mode,
            open: 0,
            marks: Vec::new(),
            braces_inside: false,
            name_before_brace: false,
        };
        while self.word_step(&mut draft)? {}
        if draft.open > 0 {
            return self.fail(ErrorKind::Unterminated(")"));
        }
        let list = match draft.marks.is_empty() {
            true => draft.parts.list,
            false => self.braces(draft)?,
        };
        Ok(Word { parts: list, span: self.span(start) })
    }

    fn braces(&mut self, draft: Draft) -> Parsed<Vec<Part>> {
        let closes = Mark::any_closes(&draft.marks);
        if closes && (draft.braces_inside || draft.parts.list.iter().any(print_word::confuses_braces)) {
            return self.fail(ErrorKind::Ambiguous("a brace in an expansion between braces"));
        }
        match brace::expand(draft.parts.list, &draft.marks) {
            Ok(parts) => Ok(parts),
            Err(()) => self.fail(ErrorKind::TooLong),
        }
    }

    /// The end of the bytes from `start` that mean nothing special.
    fn plain_end(&self, start: usize) -> usize {
        let rest = self.bytes.get(start..).unwrap_or_default();
        start + rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len())
    }

    /// One step through a word; `false` at its end.
    fn word_step(&mut self, draft: &mut Draft) -> Parsed<bool> {
        let byte = self.peek();
        if is_plain(byte) {
            let end = self.plain_end(self.pos);
            self.bare(draft, self.slice(self.pos, end));
            self.pos = end;
            return Ok(true);
        }
        if draft.open > 0 {
            self.no_substitution(byte)?;
        }
        match byte {
            0 => return Ok(false),
            b'<' | b'>' if self.second() == b'(' => self.process(&mut draft.parts)?,
            _ if ends_word(byte) => return self.delimiter(draft, byte),
            b'\\' => self.backslash(&mut draft.parts),
            b'\'' => self.single_quoted(&mut draft.parts)?,
            b'"' => self.bare_double_quoted(draft)?,
            b'$' => self.bare_dollar(draft)?,
            b'`' => self.backticks(Quoting::Bare, &mut draft.parts)?,
            // `~[name]` calls a function of the user's in zsh.
            b'~' if self.second() == b'[' && self.dialect == Dialect::Zsh => self.not_in_zsh()?,
            b'~' => self.tilde(draft),
            b'{' | b'}' | b',' => self.brace_mark(draft, byte)?,
            _ => self.glob(draft, byte)?,
        }
        Ok(true)
    }

    fn bare_double_quoted(&mut self, draft: &mut Draft) -> Parsed<()> {
        self.quotes_nest = false;
        self.double_quoted(&mut draft.parts)?;
        // bash looks for braces before it knows that quotes nest.
        draft.braces_inside |= self.quotes_nest;
        Ok(())
    }

    fn bare_dollar(&mut self, draft: &mut Draft) -> Parsed<()> {
        let start = self.pos;
        self.dollar(Quoting::Bare, &mut draft.parts)?;
        let inside = self.slice(start + 2, self.pos.saturating_sub(1));
        draft.braces_inside |= self.at(start + 1) == b'{' && inside.contains(['{', '}']);
        // Braces are expanded as text: `$x{a,b}` is `$xa $xb`.
        let open_name = starts_name(self.at(self.after(start + 1)));
        let next = self.peek();
        draft.braces_inside |= open_name && next == b'{' && self.braces_lengthen();
        draft.name_before_brace |= open_name && matches!(next, b',' | b'}');
        Ok(())
    }

    /// Whether what the braces here stand for could start with a letter.
    fn braces_lengthen(&self) -> bool {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let rest = rest.get(..LENGTHENED).unwrap_or(rest);
        let Some(end) = rest.iter().chain([&0]).position(|byte| ends_word(*byte)) else { return true };
        if end == LENGTHENED {
            return true;
        }
        let starts = |pair: &[u8]| match pair {
            [b'{' | b'}' | b',' | b'.', next] => in_name(*next) || *next == b'\\',
            _ => false,
        };
        rest.get(..end).unwrap_or_default().windows(2).any(starts)
    }

    /// bash loses its way in a substitution between the parentheses of a pattern.
    fn no_substitution(&mut self, byte: u8) -> Parsed<()> {
        let second = self.second();
        let substitutes = match byte {
            b'`' => true,
            b'<' | b'>' => second == b'(',
            b'$' if second == b'{' => {
                let start = self.after(self.pos + 1) + 1;
                let end = self.matching(start, 0, b'}')?;
                arithmetic::substitutes(self.slice(start, end))
            }
            b'$' => matches!(second, b'(' | b'['),
            _ => false,
        };
        match substitutes {
            true => self.fail(ErrorKind::Ambiguous("a substitution in a pattern")),
            false => Ok(()),
        }
    }

    pub(crate) fn bare(&self, draft: &mut Draft, text: &str) {
        match draft.open > 0 && draft.mode != Mode::Regex {
            true => draft.parts.glob(text),
            false => draft.parts.text(text, Quoting::Bare),
        }
    }

    /// A byte that ends a word unless parentheses of a pattern are open.
    fn delimiter(&mut self, draft: &mut Draft, byte: u8) -> Parsed<bool> {
        let regex = draft.mode == Mode::Regex;
        match byte {
            b'(' if draft.open > 0 || regex => draft.open += 1,
            b')' if draft.open > 0 => draft.open -= 1,
            b'|' if regex => {}
            b'\n' if draft.open > 0 => return self.fail(ErrorKind::Unterminated(")")),
            _ if draft.open > 0 => {}
            _ => return Ok(false),
        }
        let text = self.slice(self.pos, self.pos + 1);
        match regex {
            true => draft.parts.text(text, Quoting::Bare),
            false => draft.parts.glob(text),
        }
        self.bump();
        Ok(true)
    }

    /// A backslash outside quotes; a line continuation was stepped over already.
    pub(crate) fn backslash(&mut self, parts: &mut Parts) {
        self.bump();
        let rest = self.slice(self.pos, self.bytes.len());
        match rest.chars().next() {
            Some(escaped) => {
                let width = escaped.len_utf8();
                parts.text(self.slice(self.pos, self.pos + width), Quoting::Quoted);
                self.pos += width;
            }
            None => parts.text("\\", Quoting::Quoted),
        }
    }

    /// `~` where the shell expands it, else text.
    fn tilde(&mut self, draft: &mut Draft) {
        let start = self.pos;
        if draft.open == 0 && draft.mode != Mode::Regex && self.tilde_here(draft) {
            let end = self.tilde_end();
            let next = self.at(end);
            draft.braces_inside |= next == b'{';
            let in_value = draft.mode == Mode::Value || !draft.parts.is_empty();
            let in_braces = !draft.marks.is_empty() && matches!(next, b',' | b'}');
            if ends_word(next) || next == b'/' || (in_value && next == b':') || in_braces {
                draft.parts.push(Part::Tilde(self.slice(start + 1, end).replace("\\\n", "")));
                self.pos = end;
                return;
            }
        }
        self.bare(draft, "~");
        self.bump();
    }

    /// Where the user name behind `~` ends.
    pub(crate) fn tilde_end(&self) -> usize {
        let mut end = self.after(self.pos + 1);
        while in_name(self.at(end)) || matches!(self.at(end), b'-' | b'.' | b'+') {
            end = self.after(end + 1);
        }
        end
    }

    fn tilde_here(&self, draft: &Draft) -> bool {
        if draft.parts.is_empty() {
            return true;
        }
        let before = match draft.parts.list.last() {
            Some(Part::Text { text, quoting: Quoting::Bare }) => text.bytes().next_back().unwrap_or(0),
            Some(_) | None => 0,
        };
        match (draft.mode, before) {
            (Mode::Value, b':') => true,
            // bash expands a tilde behind `name=` even in an argument, so `make DIR=~/x` names the home directory.
            (Mode::Argument, b'=' | b':') => draft.looks_like_assignment(),
            (Mode::Argument, b'{' | b',') => self.at(draft.start) == b'{' && !draft.marks.is_empty(),
            _ => false,
        }
    }

    /// `{`, `,` and `}`: plain text, remembered for brace expansion.
    fn brace_mark(&mut self, draft: &mut Draft, byte: u8) -> Parsed<()> {
        let expands = draft.mode == Mode::Argument && self.dialect != Dialect::Sh;
        if expands && draft.open > 0 && (byte == b'{' || !draft.marks.is_empty()) {
            return self.fail(ErrorKind::Ambiguous("a brace in an extended glob"));
        }
        let text = self.slice(self.pos, self.pos + 1);
        self.bare(draft, text);
        let lengthens = byte == b'}' && draft.name_before_brace && !ends_word(self.second());
        draft.braces_inside |= lengthens;
        if expands && draft.open == 0 && (byte == b'{' || !draft.marks.is_empty()) {
            let mark = Mark::at_end(byte, &draft.parts.list);
            draft.marks.push(mark);
        }
        self.bump();
        Ok(())
    }
}

/// Bytes that mean nothing special anywhere in a bare word.
fn is_plain(byte: u8) -> bool {
    // Most bytes of a command are plain, and this is asked about every one of them: a lookup instead of a chain of
    // comparisons.
    const TABLE: [bool; 256] = {
        let mut table = [true; 256];
        let special = b"\0 \t\n;&|()<>\\'\"$`~{},*?[+@!";
        let mut index = 0;
        while index < special.len() {
            #[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
            {
                table[special[index] as usize] = false;
            }
            index += 1;
        }
        table
    };
    #[expect(clippy::indexing_slicing, reason = "a byte is always within 256 entries")]
    TABLE[byte as usize]
}
