//! Words as text.

use crate::print::Printer;
use crate::{Arithmetic, HereDocument, Parameter, ParameterOperation, Part, Quoting, Script, Word};

/// What the text of a word stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Unquoted: quoted parts bring their quotes.
    Open,
    /// A subscript or an offset.
    Quoted,
    /// The operand of a double-quoted `${…}`.
    Operand,
    Document,
    Arithmetic,
}

impl<'a> Printer<'a> {
    pub(crate) fn word(&mut self, word: &'a Word) {
        self.parts(word, Place::Open);
    }

    pub(crate) fn arithmetic(&mut self, arithmetic: &'a Arithmetic) {
        self.parts(&arithmetic.word, Place::Arithmetic);
    }

    pub(crate) fn subscript(&mut self, subscript: &'a Word) {
        self.put("[");
        self.parts(subscript, Place::Quoted);
        self.put("]");
    }

    pub(crate) fn document_delimiter(&mut self, document: &'a HereDocument) {
        match document.quoted {
            true => self.single_quoted(&document.delimiter),
            false => self.put(&document.delimiter),
        }
    }

    pub(crate) fn document_body(&mut self, document: &'a HereDocument) {
        let outer = self.in_document;
        match (document.quoted, document.body.parts.as_slice()) {
            (true, [Part::Text { text, .. }]) => self.put(text),
            _ => {
                self.in_document = true;
                self.parts(&document.body, Place::Document);
            }
        }
        self.in_document = outer;
        self.put(&document.delimiter);
        self.put("\n");
    }

    fn parts(&mut self, word: &'a Word, place: Place) {
        for part in &word.parts {
            self.part(part, place);
        }
    }

    fn part(&mut self, part: &'a Part, place: Place) {
        match part {
            Part::Text { text, quoting } => self.text(text, *quoting, place),
            Part::Glob(text) => self.put(text),
            Part::Tilde(user) => {
                self.put("~");
                self.put(user);
            }
            Part::Alternatives(words) => {
                for (index, word) in words.iter().enumerate() {
                    self.put(if index > 0 { "," } else { "{" });
                    self.word(word);
                }
                self.put("}");
            }
            Part::Range(range) => {
                self.put("{");
                self.put(range);
                self.put("}");
            }
            Part::Process { script, writes, .. } => {
                self.put(if *writes { ">" } else { "<" });
                self.scope(script);
            }
            Part::Parameter(parameter) => self.quoted(parameter.quoting, place, |printer| printer.parameter(parameter)),
            Part::Substitution { script, quoting, .. } => {
                self.quoted(*quoting, place, |printer| printer.substitution(script));
            }
            Part::Arithmetic { arithmetic, quoting } => {
                self.quoted(*quoting, place, |printer| printer.dollar_arithmetic(arithmetic));
            }
        }
    }

    /// An expansion, in double quotes if its place does not quote it already.
    fn quoted(&mut self, quoting: Quoting, place: Place, expansion: impl FnOnce(&mut Self)) {
        let quotes = if quoting == Quoting::Quoted && place == Place::Open { "\"" } else { "" };
        self.put(quotes);
        expansion(self);
        self.put(quotes);
    }

    /// `$(…)`, or backticks where a here document would join the lines of what is quoted inside.
    fn substitution(&mut self, script: &'a Script) {
        let start = self.out.len();
        self.put("$");
        self.scope(script);
        let written = self.out.get(start..).unwrap_or_default();
        if !self.in_document || !written.contains("\\\n") {
            return;
        }
        let program = written.strip_prefix("$(").and_then(|text| text.strip_suffix(')')).unwrap_or_default().to_owned();
        self.out.truncate(start);
        self.put("`");
        self.escaped(&program, &['\\', '$', '`']);
        self.put("`");
    }

    /// A script in parentheses, with here documents of its own.
    fn scope(&mut self, script: &'a Script) {
        if self.elides {
            self.put("(…)");
            return;
        }
        let outer = std::mem::take(&mut self.documents);
        self.put("(");
        self.newline();
        self.script(script);
        self.put(")");
        self.documents = outer;
    }

    /// `$[…]`, which bash reads in one way only; `$((…))` for text with a bracket of its own in it.
    fn dollar_arithmetic(&mut self, arithmetic: &'a Arithmetic) {
        let (before, after) = match pair_up(&arithmetic.word, [b'[', b']']) || !pair_up(&arithmetic.word, [b'(', b')'])
        {
            true => ("$[", "]"),
            false => ("$((", "))"),
        };
        self.put(before);
        self.arithmetic(arithmetic);
        self.put(after);
    }

    fn text(&mut self, text: &str, quoting: Quoting, place: Place) {
        match (place, quoting) {
            (Place::Open, Quoting::Bare) | (Place::Arithmetic, _) => self.put(text),
            (Place::Open, Quoting::Quoted) if self.elides && reads_the_same(text) => self.put(text),
            (Place::Open, Quoting::Quoted) => self.single_quoted(text),
            (Place::Document, _) => self.escaped(text, &['\\', '$', '`']),
            (Place::Quoted, _) if is_plain(text) => self.put(text),
            (Place::Operand, _) if !text.is_empty() && !text.contains(['\'', '<', '>']) => {
                self.escaped(text, &['\\', '$', '`', '"', '}']);
            }
            (Place::Quoted | Place::Operand, _) => {
                self.put("\"");
                self.escaped(text, &['\\', '$', '`', '"']);
                self.put("\"");
            }
        }
    }

    fn escaped(&mut self, text: &str, special: &[char]) {
        for character in text.chars() {
            if special.contains(&character) {
                self.out.push('\\');
            }
            self.out.push(character);
        }
    }

    fn single_quoted(&mut self, text: &str) {
        self.put("'");
        self.put(&text.replace('\'', "'\\''"));
        self.put("'");
    }

    fn parameter(&mut self, parameter: &'a Parameter) {
        let plain = !parameter.indirect
            && !parameter.length
            && parameter.subscript.is_none()
            && parameter.operation.is_none()
            && !parameter.name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
        if plain {
            self.put("$");
            self.put(&parameter.name);
            return;
        }
        self.put("${");
        self.put(if parameter.length { "#" } else { "" });
        self.put(if parameter.indirect { "!" } else { "" });
        self.put(&parameter.name);
        if let Some(subscript) = &parameter.subscript {
            self.subscript(subscript);
        }
        if let Some(operation) = &parameter.operation {
            self.operation(operation, parameter.quoting);
        }
        self.put("}");
    }

    fn operation(&mut self, operation: &'a ParameterOperation, quoting: Quoting) {
        let place = match quoting {
            Quoting::Bare => Place::Open,
            Quoting::Quoted => Place::Operand,
        };
        let (symbol, operand, place) = match operation {
            ParameterOperation::Default(word) => (":-", word, place),
            ParameterOperation::AssignDefault(word) => (":=", word, place),
            ParameterOperation::Require(word) => (":?", word, place),
            ParameterOperation::Alternative(word) => (":+", word, place),
            ParameterOperation::Trim(word) => ("%%", word, Place::Open),
            ParameterOperation::Case(word) => ("^^", word, Place::Open),
            ParameterOperation::Replace { pattern, replacement } => {
                self.put("//");
                self.parts(pattern, Place::Open);
                ("/", replacement, place)
            }
            ParameterOperation::Slice { offset, length } => {
                self.put(":");
                self.parts(offset, Place::Quoted);
                let Some(length) = length else { return };
                (":", length, Place::Quoted)
            }
            ParameterOperation::Transform(kind) => {
                self.put("@");
                self.out.push(*kind);
                return;
            }
            ParameterOperation::Names => {
                self.put("*");
                return;
            }
        };
        self.put(symbol);
        self.parts(operand, place);
    }
}

/// Whether a printed expansion has braces or quotes inside, which bash counts when it looks for the end of a brace
/// expansion around it.
pub(crate) fn confuses_braces(part: &Part) -> bool {
    let Part::Parameter(parameter) = part else { return false };
    if parameter.operation.is_none() && parameter.subscript.is_none() {
        return false;
    }
    let mut printer = Printer::default();
    printer.parameter(parameter);
    let inside = printer.out.strip_prefix("${").and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    match parameter.quoting {
        Quoting::Bare => inside.contains(['{', '}']),
        Quoting::Quoted => inside.contains('"'),
    }
}

/// Whether brackets of a kind pair up in the text that nothing quotes.
fn pair_up(word: &Word, [opens, closes]: [u8; 2]) -> bool {
    let texts = word.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        Part::Glob(_)
        | Part::Tilde(_)
        | Part::Alternatives(_)
        | Part::Range(_)
        | Part::Parameter(_)
        | Part::Substitution { .. }
        | Part::Process { .. }
        | Part::Arithmetic { .. } => None,
    });
    let mut bytes = texts.flat_map(str::bytes);
    let mut open = 0_i64;
    let mut quote = None;
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (None | Some(b'"'), b'\\') => drop(bytes.next()),
            (Some(ends), _) if ends == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, _) if byte == opens => open += 1,
            (None, _) if byte == closes && open == 0 => return false,
            (None, _) if byte == closes => open -= 1,
            (None, _) => {}
        }
    }
    open == 0 && quote.is_none()
}

/// Text that a person reads alike with and without quotes around it.
fn reads_the_same(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:@%+".contains(&byte))
}

/// Text that means the same with and without quotes in a subscript or an offset.
fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@ +-*/.=%".contains(&byte);
    let operator = text.starts_with(['-', '+', '=']);
    !text.is_empty() && !operator && text.bytes().all(plain)
}
