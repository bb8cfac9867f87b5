//! Here documents: queued at the operator, read behind the next newline between tokens.

use std::collections::VecDeque;

use crate::cursor::ends_word;
use crate::error::Parsed;
use crate::parser::Parser;
use crate::parts::Parts;
use crate::quote::Around;
use crate::word::Mode;
use crate::{Command, CommandKind, ErrorKind, HereDocument, Part, Quoting, RedirectTarget, Script, Word};

/// A here document whose body has not been reached yet.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
}

/// The raw body of a here document.
struct Body {
    text: String,
    end: usize,
    /// The text differs from what stands in the source.
    changed: bool,
}

impl Parser<'_> {
    /// Behind `<<`: queues the document and yields a placeholder that [`fill`] replaces.
    pub(crate) fn document_operator(&mut self) -> Parsed<RedirectTarget> {
        if self.in_false_arithmetic {
            return self.fail(ErrorKind::Ambiguous("a here document in `((`"));
        }
        let strip_tabs = self.eat(b'-');
        self.blanks();
        if ends_word(self.peek()) || self.at_process() {
            return self.fail(ErrorKind::Missing("the delimiter of a here document"));
        }
        let start = self.pos;
        let word = self.word_in(Mode::Value)?;
        let raw = self.slice(start, self.pos);
        if raw.contains(['$', '`', '\n', '<', '>', '(']) {
            return self.fail(ErrorKind::Ambiguous("the delimiter of a here document"));
        }
        let quoted = raw.contains(['\'', '"', '\\']);
        let delimiter = delimiter_text(&word);
        if self.enclosing.contains(&delimiter) {
            return self.fail(ErrorKind::Ambiguous("the delimiter of a here document"));
        }
        self.pending.push(Pending { delimiter: delimiter.clone(), quoted, strip_tabs });
        Ok(RedirectTarget::Document(HereDocument { body: Word::default(), quoted, delimiter }))
    }

    /// Reads the bodies of all queued documents, standing at the start of a line.
    pub(crate) fn read_documents(&mut self) -> Parsed<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        for pending in std::mem::take(&mut self.pending) {
            let body = self.read_document(&pending)?;
            let Pending { delimiter, quoted, .. } = pending;
            self.bodies.push_back(HereDocument { body, quoted, delimiter });
        }
        Ok(())
    }

    fn read_document(&mut self, pending: &Pending) -> Parsed<Word> {
        let start = self.pos;
        let body = self.body(pending)?;
        let next = self.pos;
        let span = self.span_to(start, body.end);
        let mut parts = Parts::default();
        self.enclosing.push(pending.delimiter.clone());
        if pending.quoted {
            parts.text(&body.text, Quoting::Quoted);
        } else if body.changed {
            self.reread(&body.text, span, |inner| inner.expanded_text(Around::Document, &mut parts))?;
        } else {
            self.pos = start;
            self.within(body.end, |inner| inner.expanded_text(Around::Document, &mut parts))?;
        }
        self.enclosing.pop();
        self.pos = next;
        Ok(Word { parts: parts.list, span })
    }

    /// The lines up to the delimiter, which is stepped over.
    fn body(&mut self, pending: &Pending) -> Parsed<Body> {
        let mut body = Body { text: String::new(), end: self.pos, changed: false };
        while self.pos < self.bytes.len() {
            let line_start = self.pos;
            let (line, joined) = self.logical_line(pending);
            let stripped = match pending.strip_tabs {
                true => line.trim_start_matches('\t'),
                false => line.as_str(),
            };
            if stripped == pending.delimiter {
                body.end = line_start;
                return Ok(body);
            }
            // `EOF)` ends the document in some versions of bash, with a warning, and not in others.
            if self.is_substituted() && stripped.starts_with(&pending.delimiter) && stripped.contains(')') {
                self.pos = line_start;
                return self.fail(ErrorKind::Ambiguous("the end of a here document"));
            }
            // With `<<-` the delimiter of an outer document may look like the end of this one.
            if stripped.len() != line.len() && self.enclosing.iter().any(|outer| outer == stripped) {
                return self.fail(ErrorKind::Ambiguous("the delimiter of a here document"));
            }
            body.changed |= joined || stripped.len() != line.len();
            body.text.push_str(stripped);
            body.text.push('\n');
            body.end = self.pos;
        }
        // What follows the backslash is lost with the end of the text, and shells differ in what they keep.
        let unfinished_escape = !pending.quoted && self.at(self.pos.saturating_sub(1)) == b'\\';
        if unfinished_escape && !body.text.is_empty() {
            return self.fail(ErrorKind::Ambiguous("a backslash at the end"));
        }
        // The end of the text ends the document; bash adds the newline that is missing.
        body.changed |= self.at(self.pos.saturating_sub(1)) != b'\n' && !body.text.is_empty();
        Ok(body)
    }

    /// A line without its newline, and whether continuations were joined.
    fn logical_line(&mut self, pending: &Pending) -> (String, bool) {
        let mut line = String::new();
        let mut joined = false;
        loop {
            let rest = self.bytes.get(self.pos..).unwrap_or_default();
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let piece = self.slice(self.pos, self.pos + length);
            self.pos = (self.pos + length + 1).min(self.bytes.len());
            let backslashes = piece.bytes().rev().take_while(|byte| *byte == b'\\').count();
            // A backslash joins lines only if it is not escaped itself, and never where the delimiter was quoted.
            let continues = !pending.quoted && backslashes % 2 == 1 && length < rest.len();
            match continues {
                true => line.push_str(piece.get(..length - 1).unwrap_or_default()),
                false => line.push_str(piece),
            }
            if !continues {
                return (line, joined);
            }
            joined = true;
        }
    }
}

fn delimiter_text(word: &Word) -> String {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Text { text: piece, .. } | Part::Glob(piece) => text.push_str(piece),
            Part::Tilde(user) => {
                text.push('~');
                text.push_str(user);
            }
            Part::Alternatives(_)
            | Part::Range(_)
            | Part::Parameter(_)
            | Part::Substitution { .. }
            | Part::Process { .. }
            | Part::Arithmetic { .. } => {}
        }
    }
    text
}

/// Puts the bodies in the place of their placeholders, in the order of the text.
pub(crate) fn fill(script: &mut Script, bodies: &mut VecDeque<HereDocument>) {
    if bodies.is_empty() {
        return;
    }
    for statement in &mut script.statements {
        let rest = statement.rest.iter_mut().map(|(_, pipeline)| pipeline);
        for pipeline in std::iter::once(&mut statement.first).chain(rest) {
            for command in &mut pipeline.commands {
                fill_command(command, bodies);
            }
        }
    }
}

fn fill_command(command: &mut Command, bodies: &mut VecDeque<HereDocument>) {
    match &mut command.kind {
        CommandKind::Group(script) | CommandKind::Subshell(script) => fill(script, bodies),
        CommandKind::If(command) => {
            for (condition, body) in &mut command.branches {
                fill(condition, bodies);
                fill(body, bodies);
            }
            command.otherwise.iter_mut().for_each(|script| fill(script, bodies));
        }
        CommandKind::Loop(command) => {
            fill(&mut command.condition, bodies);
            fill(&mut command.body, bodies);
        }
        CommandKind::For(command) => fill(&mut command.body, bodies),
        CommandKind::ArithmeticFor(command) => fill(&mut command.body, bodies),
        CommandKind::Case(command) => command.arms.iter_mut().for_each(|arm| fill(&mut arm.body, bodies)),
        CommandKind::Function(function) => fill_command(&mut function.body, bodies),
        CommandKind::Coproc(coproc) => fill_command(&mut coproc.body, bodies),
        CommandKind::Simple(_) | CommandKind::Arithmetic(_) | CommandKind::Test(_) => {}
    }
    for redirect in &mut command.redirects {
        if let RedirectTarget::Document(document) = &mut redirect.target
            && let Some(body) = bodies.pop_front()
        {
            *document = body;
        }
    }
}
