//! `case … in … esac`.

use crate::command::Reserved;
use crate::cursor::ends_word;
use crate::error::Parsed;
use crate::parser::{MAX_WORDS, Parser};
use crate::word::Mode;
use crate::{Arm, Case, ErrorKind, Word};

impl Parser<'_> {
    /// After `case`.
    pub(crate) fn case_command(&mut self) -> Parsed<Case> {
        self.blanks();
        let word = self.plain_word()?;
        self.newlines()?;
        self.expect_reserved(Reserved::In, "in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if self.eat_reserved(Reserved::Esac) {
                return Ok(Case { word, arms });
            }
            let patterns = self.patterns()?;
            let body = self.script()?;
            arms.push(Arm { patterns, body });
            if !self.arm_end()? {
                self.expect_reserved(Reserved::Esac, "esac")?;
                return Ok(Case { word, arms });
            }
        }
    }

    fn patterns(&mut self) -> Parsed<Vec<Word>> {
        // The opening parenthesis of a pattern is optional, and bash drops it when it writes a function out.
        self.eat(b'(');
        let mut patterns = Vec::with_capacity(1);
        loop {
            self.blanks();
            if ends_word(self.peek()) && !self.at_process() {
                return match self.peek() {
                    0 => self.fail(ErrorKind::Unterminated("esac")),
                    _ => self.unexpected(),
                };
            }
            patterns.push(self.word_in(Mode::Pattern)?);
            self.blanks();
            if self.eat(b')') {
                return Ok(patterns);
            }
            self.expect(b'|', ")")?;
            if patterns.len() > MAX_WORDS {
                return self.fail(ErrorKind::TooLong);
            }
        }
    }

    /// Steps over `;;`, `;&` or `;;&`.
    fn arm_end(&mut self) -> Parsed<bool> {
        if self.peek() != b';' {
            return Ok(false);
        }
        if self.eat_all(b";;&") || self.eat_all(b";&") {
            self.unless_refused()?;
            return Ok(true);
        }
        Ok(self.eat_all(b";;"))
    }
}
