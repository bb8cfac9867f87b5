//! `name=value`, `name[subscript]=value`, `name=(…)`.

use crate::arithmetic::substitutes;
use crate::cursor::{ends_word, in_name, starts_name};
use crate::error::Parsed;
use crate::parser::{MAX_WORDS, Parser};
use crate::word::Mode;
use crate::{Assignment, Dialect, Element, ErrorKind, Simple, Value, Word};

/// Builtins whose arguments may be arrays.
// Only behind these does bash accept `name=(…)` as an argument. `printf -v` and `read` take names, not arrays.
const DECLARATIONS: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

/// Whether this command word takes arrays as arguments.
pub(crate) fn declares(word: &Word) -> bool {
    word.literal_bare().is_some_and(|name| DECLARATIONS.contains(&name))
}

/// Whether brackets with this text between them are one word only in an assignment.
fn splits(subscript: &str) -> bool {
    subscript.bytes().any(ends_word) || substitutes(subscript)
}

/// What the start of an assignment says.
struct Head {
    name_end: usize,
    /// Just behind `[`, and where `]` stands.
    subscript: Option<(usize, usize)>,
    append: bool,
    /// Just behind `=`.
    value: usize,
}

impl Parser<'_> {
    /// An assignment in front of a command, if one stands here.
    pub(crate) fn assignment(&mut self) -> Parsed<Option<Assignment>> {
        match self.assignment_head()? {
            Some(head) => self.assignment_from(head).map(Some),
            None => Ok(None),
        }
    }

    /// `name=(…)` behind `declare` and its kin.
    pub(crate) fn array_argument(&mut self, simple: &Simple) -> Parsed<Option<Assignment>> {
        if !simple.words.first().is_some_and(declares) {
            return Ok(None);
        }
        match self.assignment_head()? {
            Some(head) if self.at(self.after(head.value)) == b'(' => self.assignment_from(head).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    /// Looks ahead for `name=`, `name+=` and the like.
    fn assignment_head(&mut self) -> Parsed<Option<Head>> {
        if !starts_name(self.peek()) {
            return Ok(None);
        }
        let mut index = self.pos;
        while in_name(self.at(index)) {
            index = self.after(index + 1);
        }
        let name_end = index;
        // To dash these are programs with an odd name.
        if self.dialect == Dialect::Sh && self.at(index) != b'=' {
            return Ok(None);
        }
        let mut subscript = None;
        if self.at(index) == b'[' {
            let close = self.matching(index + 1, b'[', b']')?;
            subscript = Some((index + 1, close));
            index = self.after(close + 1);
        }
        let append = self.at(index) == b'+';
        if append {
            index = self.after(index + 1);
        }
        if self.at(index) != b'=' {
            return match subscript {
                Some((start, end)) if splits(self.slice(start, end)) => {
                    self.fail(ErrorKind::Ambiguous("a subscript outside an assignment"))
                }
                Some(_) | None => Ok(None),
            };
        }
        Ok(Some(Head { name_end, subscript, append, value: index + 1 }))
    }

    fn assignment_from(&mut self, head: Head) -> Parsed<Assignment> {
        let start = self.pos;
        let name = self.slice(start, head.name_end).replace("\\\n", "");
        let subscript = match head.subscript {
            Some((from, to)) => Some(self.subscript(from, to)?),
            None => None,
        };
        self.pos = head.value;
        let value = match self.peek() == b'(' {
            true => Value::Array(self.deeper(Self::array)?),
            false => Value::Scalar(self.word_in(Mode::Value)?),
        };
        Ok(Assignment { name, subscript, append: head.append, value, span: self.span(start) })
    }

    /// `( … )` behind `=`.
    fn array(&mut self) -> Parsed<Vec<Element>> {
        self.unless_refused()?;
        self.bump();
        let mut elements = Vec::new();
        loop {
            self.blanks();
            if self.peek() == b'\n' && !self.pending.is_empty() {
                return self.fail(ErrorKind::Ambiguous("an array after a here document"));
            }
            self.newlines()?;
            if self.eat(b')') {
                break;
            }
            if elements.len() >= MAX_WORDS {
                return self.fail(ErrorKind::TooLong);
            }
            elements.push(self.element()?);
        }
        let adjacent = self.peek();
        match ends_word(adjacent) && adjacent != b'(' && !self.at_process() {
            true => Ok(elements),
            false => self.unexpected(),
        }
    }

    fn element(&mut self) -> Parsed<Element> {
        if self.peek() == b'[' {
            let close = self.matching(self.pos + 1, b'[', b']')?;
            let behind = self.after(close + 1);
            let append = self.at(behind) == b'+';
            let equals = if append { self.after(behind + 1) } else { behind };
            if self.at(equals) == b'=' {
                let subscript = Some(self.subscript(self.pos + 1, close)?);
                self.pos = equals + 1;
                if self.peek() == b'(' {
                    return self.unexpected();
                }
                return Ok(Element { subscript, value: self.word_in(Mode::Value)? });
            }
            if splits(self.slice(self.pos, close)) {
                return self.fail(ErrorKind::Ambiguous("a subscript outside an assignment"));
            }
        }
        match self.peek() {
            0 => self.fail(ErrorKind::Unterminated(")")),
            byte if ends_word(byte) && !self.at_process() => self.unexpected(),
            _ => Ok(Element { subscript: None, value: self.word()? }),
        }
    }
}
