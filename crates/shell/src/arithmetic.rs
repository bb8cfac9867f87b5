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

    /// Whether bash takes the text of a closed `$((…))` for arithmetic: it counts parentheses once more, blind to
    /// everything but quotes, in a text in which it has rewritten the substitutions.
    pub(crate) fn counts_as_arithmetic(&mut self, start: usize, end: usize) -> Parsed<bool> {
        let text = self.slice(start, end);
        if !text.contains(['(', ')', '`']) {
            return Ok(true);
        }
        self.spend(end - start)?;
        if is_rewritten(text) {
            return self.fail(ErrorKind::Ambiguous("a substitution in `$((`"));
        }
        let balanced = self.parentheses_balance(start, end)?;
        // bash writes `case` patterns without their opening parenthesis.
        if balanced && substitutes(text) && text.contains("esac") {
            return self.fail(ErrorKind::Ambiguous("a substitution in `$((`"));
        }
        Ok(balanced)
    }

    /// In text between `((` that is no arithmetic bash writes substitutions out on lines of their own, so that a comment
    /// around one ends too early.
    pub(crate) fn no_rewritten_comment(&mut self, start: usize, end: usize) -> Parsed<()> {
        self.spend(end.saturating_sub(start))?;
        let text = self.slice(start, end);
        match substitutes(text) && has_comment(text) {
            true => self.fail(ErrorKind::Ambiguous("a comment in `((`")),
            false => Ok(()),
        }
    }

    fn parentheses_balance(&mut self, start: usize, end: usize) -> Parsed<bool> {
        let mut open = 0_usize;
        let mut index = start;
        while index < end {
            match self.at(index) {
                b'(' => open += 1,
                b')' if open == 0 => return Ok(false),
                b')' => open -= 1,
                b'\\' => index += 1,
                b'$' if self.at(index + 1) == b'\'' => index = self.past_ansi(index + 1, start)?,
                quote @ (b'\'' | b'"') => match self.closing_quote(index, end, quote)? {
                    Some(close) => index = close,
                    None => return self.fail(ErrorKind::Ambiguous("a quote in `$((`")),
                },
                _ => {}
            }
            index += 1;
        }
        match open {
            0 => Ok(true),
            _ => self.fail(ErrorKind::Ambiguous("`$((`")),
        }
    }

    fn closing_quote(&mut self, index: usize, end: usize, quote: u8) -> Parsed<Option<usize>> {
        if quote == b'"' {
            return Ok(self.find(index + 1, quote)?.filter(|close| *close < end));
        }
        let rest = self.bytes.get(index + 1..end).unwrap_or_default();
        Ok(rest.iter().position(|byte| *byte == quote).map(|length| index + 1 + length))
    }

    /// `((…))` if the parentheses close together; otherwise nothing is consumed.
    pub(crate) fn arithmetic_command(&mut self) -> Parsed<Option<Arithmetic>> {
        let open = self.after(self.pos + 1);
        let inner = self.matching(open + 1, b'(', b')')?;
        let close = self.after(inner + 1);
        if self.at(close) != b')' {
            self.no_rewritten_comment(open + 1, inner)?;
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

/// Whether the text holds a substitution that bash may write out with other parentheses or quotes than it has here.
fn is_rewritten(text: &str) -> bool {
    has_document(text) || (substitutes(text) && has_comment(text))
}

/// Whether a here document may stand in a substitution.
pub(crate) fn has_document(text: &str) -> bool {
    substitutes(text) && text.replace("<<<", "").contains("<<")
}

pub(crate) fn substitutes(text: &str) -> bool {
    ["$(", "$[", "`", "${ ", "${\t", "${\n", "${|"].iter().any(|opener| text.contains(opener))
}

/// Whether a `#` could start a comment in a substitution.
fn has_comment(text: &str) -> bool {
    let behind_break = |pair: &[u8]| matches!(pair, [b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')', b'#']);
    text.as_bytes().windows(2).any(behind_break)
}
