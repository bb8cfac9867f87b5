//! `$((…))`, `$[…]`, `((…))` and `for ((…;…;…))`.

use crate::error::Parsed;
use crate::parser::Parser;
use crate::parts::Parts;
use crate::quote::Around;
use crate::{Arithmetic, ErrorKind, Part, Quoting, Word};

impl Parser<'_> {
    /// The expression from `start` to `end`, with everything in it that is expanded.
    pub(crate) fn arithmetic_within(&mut self, start: usize, end: usize) -> Parsed<Arithmetic> {
        self.pos = start;
        let mut parts = Parts::default();
        self.within(end, |parser| {
            parser.expanded_text(Around::Arithmetic, &mut parts)?;
            match parser.pos == end {
                true => Ok(()),
                false => parser.unexpected(),
            }
        })?;
        Ok(Arithmetic { word: Word { parts: parts.list, span: self.span_to(start, end) } })
    }

    /// `((…))` if the parentheses close together; otherwise nothing is consumed.
    pub(crate) fn arithmetic_command(&mut self) -> Parsed<Option<Arithmetic>> {
        let open = self.after(self.pos + 1);
        let inner = self.matching(open + 1, b'(', b')')?;
        let close = self.after(inner + 1);
        if self.at(close) != b')' {
            return Ok(None);
        }
        let arithmetic = self.arithmetic_within(open + 1, inner)?;
        self.pos = close + 1;
        Ok(Some(arithmetic))
    }

    /// `$[…]`, standing at the bracket.
    pub(crate) fn bracket_arithmetic(&mut self, quoting: Quoting) -> Parsed<Part> {
        let open = self.pos + 1;
        let end = self.matching(open, b'[', b']')?;
        let arithmetic = self.arithmetic_within(open, end)?;
        self.pos = end + 1;
        Ok(Part::Arithmetic { arithmetic, quoting })
    }

    /// The three expressions of `for ((…))`, standing at `((`.
    pub(crate) fn arithmetic_for_parts(&mut self) -> Parsed<Vec<Arithmetic>> {
        let open = self.after(self.pos + 1);
        let mut start = open + 1;
        let inner = self.matching(start, b'(', b')')?;
        let close = self.after(inner + 1);
        if self.at(close) != b')' {
            return self.unexpected();
        }
        let mut parts = Vec::with_capacity(3);
        while let Some(end) = self.top_level_semicolon(start, inner)? {
            parts.push(self.arithmetic_within(start, end)?);
            start = end + 1;
            if parts.len() > 2 {
                return self.unexpected();
            }
        }
        parts.push(self.arithmetic_within(start, inner)?);
        if parts.len() != 3 {
            return self.fail(ErrorKind::Missing("one of three expressions"));
        }
        self.pos = close + 1;
        Ok(parts)
    }

    fn top_level_semicolon(&mut self, start: usize, end: usize) -> Parsed<Option<usize>> {
        let bytes = self.bytes;
        self.bytes = bytes.get(..end).unwrap_or(bytes);
        let found = self.find(start, b';');
        self.bytes = bytes;
        found
    }
}
