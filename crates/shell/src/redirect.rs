//! Redirects in every form.

use crate::cursor::{ends_word, in_name, starts_name};
use crate::error::Parsed;
use crate::parser::Parser;
use crate::{Dialect, ErrorKind, Fd, Part, Quoting, Redirect, RedirectOperator, RedirectTarget, Word};

/// Longest first.
// Otherwise `>` would be read out of `>>`, and the rest would be a file name. The empty entry ends the search.
const OPERATORS: [(&[u8], RedirectOperator); 12] = [
    (b"&>>", RedirectOperator::AppendBoth),
    (b"&>", RedirectOperator::WriteBoth),
    (b"<<<", RedirectOperator::HereString),
    (b"<<", RedirectOperator::HereDocument),
    (b"<&", RedirectOperator::DuplicateInput),
    (b"<>", RedirectOperator::ReadWrite),
    (b"<", RedirectOperator::Read),
    (b">>", RedirectOperator::Append),
    (b">&", RedirectOperator::DuplicateOutput),
    (b">|", RedirectOperator::Clobber),
    (b">", RedirectOperator::Write),
    (b"", RedirectOperator::Read),
];

impl Parser<'_> {
    /// Reads one redirect if it stands here, blanks before it included.
    pub(crate) fn redirect(&mut self, out: &mut Vec<Redirect>) -> Parsed<bool> {
        let before = self.pos;
        self.blanks();
        let start = self.pos;
        let (fd, index) = match self.peek() {
            b'<' | b'>' => (None, start),
            // To dash the `&` ends a command, and the redirect is one of its own.
            b'&' if self.second() == b'>' && self.dialect != Dialect::Sh => (None, start),
            byte if byte.is_ascii_digit() => self.number_ahead()?,
            b'{' if self.dialect != Dialect::Sh => self.variable_ahead(),
            _ => (None, self.bytes.len()),
        };
        self.pos = index;
        if !matches!(self.peek(), b'<' | b'>' | b'&') || self.at_process() {
            self.pos = before;
            return Ok(false);
        }
        if self.at(self.pos) == b'<' && self.numbers_ahead() {
            self.not_in_zsh()?;
        }
        let operator = self.operator()?;
        let target = self.target(operator)?;
        out.push(Redirect { fd, operator, target, span: self.span(start) });
        Ok(true)
    }

    /// Digits directly before `<` or `>`; otherwise an index where nothing stands.
    fn number_ahead(&mut self) -> Parsed<(Option<Fd>, usize)> {
        let mut index = self.pos;
        let mut digits = String::new();
        while self.at(index).is_ascii_digit() {
            digits.push(char::from(self.at(index)));
            index = self.after(index + 1);
        }
        // `2<(x)` is the word `2` next to a process substitution, not a descriptor.
        if !matches!(self.at(index), b'<' | b'>') || self.at(self.after(index + 1)) == b'(' {
            return Ok((None, self.bytes.len()));
        }
        match digits.parse::<i32>() {
            Ok(number) => Ok((Some(Fd::Number(number.unsigned_abs())), index)),
            // Shells disagree about a number that does not fit.
            Err(_) => self.fail(ErrorKind::Ambiguous("a descriptor of this size")),
        }
    }

    /// `{name}` directly before `<` or `>`.
    fn variable_ahead(&self) -> (Option<Fd>, usize) {
        let nothing = (None, self.bytes.len());
        let mut index = self.after(self.pos + 1);
        if !starts_name(self.at(index)) {
            return nothing;
        }
        let mut name = String::new();
        while in_name(self.at(index)) {
            name.push(char::from(self.at(index)));
            index = self.after(index + 1);
        }
        if self.at(index) != b'}' {
            return nothing;
        }
        index = self.after(index + 1);
        match matches!(self.at(index), b'<' | b'>') && self.at(self.after(index + 1)) != b'(' {
            true => (Some(Fd::Variable(name)), index),
            false => nothing,
        }
    }

    fn operator(&mut self) -> Parsed<RedirectOperator> {
        for (token, operator) in OPERATORS {
            if self.eat_all(token) {
                if operator == RedirectOperator::HereString {
                    self.unless_refused()?;
                }
                return Ok(self.forced(operator));
            }
        }
        self.unexpected()
    }

    /// `>!`, `>>|`, `>&!`: zsh overwrites whatever its options say, and what follows is the file.
    fn forced(&mut self, operator: RedirectOperator) -> RedirectOperator {
        let takes = match operator {
            RedirectOperator::Write | RedirectOperator::DuplicateOutput => true,
            RedirectOperator::Append | RedirectOperator::AppendBoth | RedirectOperator::WriteBoth => true,
            RedirectOperator::Clobber
            | RedirectOperator::Read
            | RedirectOperator::ReadWrite
            | RedirectOperator::DuplicateInput
            | RedirectOperator::HereDocument
            | RedirectOperator::HereString => false,
        };
        if self.dialect != Dialect::Zsh || !takes || !(self.eat(b'!') || self.eat(b'|')) {
            return operator;
        }
        if operator == RedirectOperator::DuplicateOutput { RedirectOperator::WriteBoth } else { operator }
    }

    /// `<1-5>`, which zsh matches against file names.
    fn numbers_ahead(&self) -> bool {
        let rest = self.bytes.get(self.pos + 1..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
        rest.get(..digits).unwrap_or_default().contains(&b'-') && rest.get(digits) == Some(&b'>')
    }

    fn target(&mut self, operator: RedirectOperator) -> Parsed<RedirectTarget> {
        if operator == RedirectOperator::HereDocument {
            return self.document_operator();
        }
        self.blanks();
        if ends_word(self.peek()) && !self.at_process() {
            return self.fail(ErrorKind::Missing("the target of a redirect"));
        }
        let duplicates = matches!(operator, RedirectOperator::DuplicateOutput | RedirectOperator::DuplicateInput);
        if duplicates && self.peek() == b'-' {
            return Ok(RedirectTarget::Word(self.closing_dash()));
        }
        let word = self.word()?;
        // Digits before another redirect are its descriptor, so this one has no target.
        let digits = word.literal_bare().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        if digits && !duplicates && matches!(self.peek(), b'<' | b'>') {
            return self.unexpected();
        }
        if duplicates && self.dialect == Dialect::Sh {
            let text = word.literal_bare().unwrap_or("file");
            if text != "-" && text.parse::<u32>().is_err() && word.literal_bare().is_some() {
                self.unless_refused()?;
            }
        }
        Ok(RedirectTarget::Word(word))
    }

    /// The `-` of `>&-`, a token of its own: what follows it is the next word.
    fn closing_dash(&mut self) -> Word {
        let start = self.pos;
        self.bump();
        let part = Part::Text { text: "-".to_owned(), quoting: Quoting::Bare };
        Word { parts: vec![part], span: self.span(start) }
    }
}
