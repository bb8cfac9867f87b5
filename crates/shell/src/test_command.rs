//! `[[ … ]]`

use crate::command::Reserved;
use crate::cursor::ends_word;
use crate::error::Parsed;
use crate::parser::{MAX_WORDS, Parser};
use crate::word::Mode;
use crate::{ErrorKind, Part, Quoting, Test, Word};

impl Parser<'_> {
    /// After `[[`.
    pub(crate) fn test_command(&mut self) -> Parsed<Test> {
        let mut words = Vec::new();
        self.test_list(&mut words)?;
        self.expect_reserved(Reserved::TestClose, "]]")?;
        Ok(Test { words })
    }

    /// Terms joined by `&&` and `||`.
    fn test_list(&mut self, words: &mut Vec<Word>) -> Parsed<()> {
        loop {
            self.test_term(words)?;
            self.newlines()?;
            if words.len() > MAX_WORDS {
                return self.fail(ErrorKind::TooLong);
            }
            let operator: &str = match (self.peek(), self.second()) {
                (b'&', b'&') => "&&",
                (b'|', b'|') => "||",
                _ => return Ok(()),
            };
            self.test_operator(operator, words);
        }
    }

    fn test_term(&mut self, words: &mut Vec<Word>) -> Parsed<()> {
        self.newlines()?;
        // `!(` may start an extended glob; only a lone `!` is certain to negate.
        while self.peek() == b'!' && self.second() != b'(' && self.reserved().is_some() {
            self.test_operator("!", words);
            self.newlines()?;
        }
        if self.peek() == b'(' {
            self.test_operator("(", words);
            self.deeper(|parser| parser.test_list(words))?;
            if self.peek() != b')' {
                return self.unexpected();
            }
            self.test_operator(")", words);
            return Ok(());
        }
        let left = self.test_operand(Mode::Plain)?;
        let unary = left.literal_bare().is_some_and(is_unary);
        words.push(left);
        if unary {
            words.push(self.test_operand(Mode::Plain)?);
            return Ok(());
        }
        self.test_right(words)
    }

    /// A binary operator and its right operand, if they stand here.
    fn test_right(&mut self, words: &mut Vec<Word>) -> Parsed<()> {
        self.blanks();
        match self.peek() {
            b'<' | b'>' if !self.at_process() => {
                let operator = if self.at(self.pos) == b'<' { "<" } else { ">" };
                self.test_operator(operator, words);
                words.push(self.test_operand(Mode::Plain)?);
                return Ok(());
            }
            byte if ends_word(byte) => return Ok(()),
            _ if matches!(self.reserved(), Some((Reserved::TestClose, _))) => return Ok(()),
            _ => {}
        }
        let operator = self.word_in(Mode::Plain)?;
        let mode = match operator.literal_bare() {
            Some("=~") => Mode::Regex,
            Some("=" | "==" | "!=") => Mode::Pattern,
            Some(name) if is_binary(name) => Mode::Plain,
            Some(_) | None => return self.unexpected(),
        };
        words.push(operator);
        words.push(self.test_operand(mode)?);
        Ok(())
    }

    fn test_operand(&mut self, mode: Mode) -> Parsed<Word> {
        self.blanks();
        let opens_regex = mode == Mode::Regex && self.peek() == b'(';
        let starts = opens_regex || !ends_word(self.peek()) || self.at_process();
        if !starts || matches!(self.reserved(), Some((Reserved::TestClose, _))) {
            return self.fail(ErrorKind::Missing("an operand"));
        }
        self.word_in(mode)
    }

    /// Steps over an operator and keeps it as a word.
    fn test_operator(&mut self, operator: &str, words: &mut Vec<Word>) {
        let start = self.pos;
        self.eat_all(operator.as_bytes());
        let part = Part::Text { text: operator.to_owned(), quoting: Quoting::Bare };
        words.push(Word { parts: vec![part], span: self.span(start) });
    }
}

fn is_unary(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter))
}

fn is_binary(word: &str) -> bool {
    matches!(word, "-ef" | "-nt" | "-ot" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}
