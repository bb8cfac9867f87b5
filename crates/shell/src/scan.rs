//! Looking ahead for a closing bracket without building anything.

use crate::error::Parsed;
use crate::parser::Parser;
use crate::{ErrorKind, ParseError};

/// How deep brackets of different kinds may nest in a look-ahead.
// More than the parser itself follows.
const MAX_NESTED: usize = 64;

/// A construct that a look-ahead is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inside {
    /// The byte that opens one more level of the same kind; 0 if none does.
    open: u8,
    close: u8,
    count: u32,
}

impl Parser<'_> {
    /// Where the bracket for one opened just before `start` stands.
    pub(crate) fn matching(&mut self, start: usize, open: u8, close: u8) -> Parsed<usize> {
        let outer = Inside { open, close, count: 1 };
        let end = self.scan(start, outer)?;
        match end {
            Some(end) => Ok(end),
            None => self.fail(ErrorKind::Unterminated(match close {
                b')' => ")",
                b']' => "]",
                _ => "}",
            })),
        }
    }

    /// The first `byte` outside quotes and brackets.
    pub(crate) fn find(&mut self, start: usize, byte: u8) -> Parsed<Option<usize>> {
        self.scan(start, Inside { open: 0, close: byte, count: 1 })
    }

    fn scan(&mut self, start: usize, outer: Inside) -> Parsed<Option<usize>> {
        let mut stack = vec![outer];
        let mut index = start;
        while let Some(top) = stack.last_mut() {
            let byte = self.at(index);
            match byte {
                0 => {
                    self.spend(index.saturating_sub(start))?;
                    return Ok(None);
                }
                b'\\' => index += 1,
                _ if byte == top.close => {
                    top.count -= 1;
                    if top.count == 0 {
                        stack.pop();
                    }
                    if stack.is_empty() {
                        self.spend(index - start)?;
                        return Ok(Some(index));
                    }
                }
                _ if byte == top.open => top.count += 1,
                // Single quotes mean nothing in double quotes, and inside backticks everything is read again later.
                b'\'' if top.close != b'"' && top.close != b'`' => index = self.past_single(index, start)?,
                _ if top.close == b'`' => {}
                b'"' => stack.push(Inside { open: 0, close: b'"', count: 1 }),
                b'`' => stack.push(Inside { open: 0, close: b'`', count: 1 }),
                b'$' => index = self.scan_dollar(index, start, &mut stack)?,
                _ => {}
            }
            if stack.len() > MAX_NESTED {
                return self.fail(ErrorKind::TooDeep);
            }
            index += 1;
        }
        Ok(None)
    }

    /// Past `$(`, `${`, `$[` and `$'…'`; yields the last byte consumed.
    ///
    /// Only the grammar knows where `$(…)` ends: it may hold comments and `case` patterns.
    fn scan_dollar(&mut self, index: usize, start: usize, stack: &mut Vec<Inside>) -> Parsed<usize> {
        let next = self.after(index + 1);
        let inside = match self.at(next) {
            b'(' if self.at(self.after(next + 1)) != b'(' => return self.past_substitution(next),
            b'(' => Inside { open: b'(', close: b')', count: 1 },
            b'{' => Inside { open: 0, close: b'}', count: 1 },
            b'[' => Inside { open: b'[', close: b']', count: 1 },
            b'\'' if stack.last().is_some_and(|top| top.close != b'"') => {
                return self.past_ansi(next, start);
            }
            _ => return Ok(index),
        };
        stack.push(inside);
        Ok(next)
    }

    /// The closing parenthesis for the one at `open`, remembered so that nothing is read twice as often per level.
    fn past_substitution(&mut self, open: usize) -> Parsed<usize> {
        if let Some(end) = self.known_ends.get(&open) {
            return Ok(*end);
        }
        let here = std::mem::replace(&mut self.pos, open);
        self.substituted()?;
        let end = self.pos - 1;
        self.pos = here;
        self.known_ends.insert(open, end);
        self.spend(end - open)?;
        Ok(end)
    }

    fn past_single(&self, index: usize, start: usize) -> Parsed<usize> {
        let rest = self.bytes.get(index + 1..).unwrap_or_default();
        match rest.iter().position(|byte| *byte == b'\'') {
            Some(length) => Ok(index + 1 + length),
            None => Err(ParseError { kind: ErrorKind::Unterminated("'"), span: self.span_to(start, start) }),
        }
    }

    /// The closing quote of `$'…'`.
    pub(crate) fn past_ansi(&self, quote: usize, start: usize) -> Parsed<usize> {
        let mut index = quote + 1;
        loop {
            match self.at(index) {
                0 => {
                    let span = self.span_to(start, start);
                    return Err(ParseError { kind: ErrorKind::Unterminated("'"), span });
                }
                b'\'' => return Ok(index),
                b'\\' => index += 2,
                _ => index += 1,
            }
        }
    }
}
