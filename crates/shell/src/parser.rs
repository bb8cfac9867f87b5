//! The state of one parse, its limits, and the way in.

use std::collections::{HashMap, VecDeque};

use crate::error::Parsed;
use crate::heredoc::{self, Pending};
use crate::{Command, Dialect, ErrorKind, HereDocument, ParseError, Pipeline, Script, Span, Statement, dialect};

/// Substitutions, compound commands, expansions and groups inside each other.
// Each level is several stack frames. Scripts nest five or six levels.
const MAX_DEPTH: u32 = 24;
/// Words and array elements in one command.
// Far more than a person writes. A command with more words is a list that was pasted, and it is not read further.
pub(crate) const MAX_WORDS: usize = 4_096;
/// Bytes of look-ahead and re-reading granted per byte of text, and the grant for a short text.
// Finding the end of `$((` or `${` reads ahead. Nested, that would be quadratic; sixteen passes are more than real
// scripts need.
const STEPS_PER_BYTE: usize = 16;
// So that short texts never run out, whatever they contain.
const STEPS_FLOOR: usize = 65_536;

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parse {
    /// The whole program or, with an error, everything seen before it: bash runs line by line.
    pub script: Script,
    /// `None` means understood.
    pub error: Option<ParseError>,
    /// Bytes read: the text, and what was looked at ahead or again.
    pub work: usize,
}

/// Reads `text` as a program.
pub fn parse(text: &str, dialect: Dialect) -> Parse {
    if u32::try_from(text.len()).is_err() {
        let error = ParseError { kind: ErrorKind::TooLong, span: Span::default() };
        return Parse { script: Script::default(), error: Some(error), work: 0 };
    }
    let end = text.bytes().position(|byte| byte == 0);
    // bash drops NUL bytes or stops at them, depending on where the text comes from; only the part before is certain.
    let readable = end.and_then(|end| text.get(..end)).unwrap_or(text);
    let mut parser = Parser::new(readable, dialect);
    let mut parsed = parser.program();
    let mut work = parser.work();
    // Keeping every command costs time that a correct text should not pay, so only a failed parse is repeated for it.
    if parsed.1.is_some() {
        parser = Parser::new(readable, dialect);
        parser.records = true;
        parsed = parser.program();
        work += parser.work();
    }
    let (script, error) = parsed;
    let error = parser.foreign.or(error);
    let nul = end.map(|end| ParseError { kind: ErrorKind::Nul, span: Span { start: end as u32, end: end as u32 + 1 } });
    // What bash reads and dash does not is no sign of a third shell.
    let named = |error| if dialect == Dialect::Sh { error } else { dialect::name_the_shell(error, text) };
    let error = nul.or_else(|| error.map(named));
    Parse { script, error, work }
}

/// A cursor over the text, with what must be remembered between tokens.
///
/// INVARIANT: an error ends the whole parse; nothing is tried again after one, so work stays linear.
pub(crate) struct Parser<'a> {
    pub(crate) text: &'a str,
    /// `text` up to the end of the construct being read.
    pub(crate) bytes: &'a [u8],
    pub(crate) pos: usize,
    pub(crate) dialect: Dialect,
    depth: u32,
    steps: usize,
    /// Where re-read text (backticks, joined here documents) stands in the original.
    pub(crate) origin: Option<Span>,
    pub(crate) pending: Vec<Pending>,
    pub(crate) bodies: VecDeque<HereDocument>,
    /// The delimiters of the here documents around this place.
    pub(crate) enclosing: Vec<String>,
    /// Inside `((` or `$((` that turned out to be no arithmetic.
    pub(crate) in_false_arithmetic: bool,
    /// Inside `$(…)`, `<(…)` or `${ …; }`.
    pub(crate) in_substitution: bool,
    /// Inside the operand of a double-quoted `${…}`.
    pub(crate) in_quoted_operand: bool,
    /// Double quotes were seen inside an expansion in double quotes.
    pub(crate) quotes_nest: bool,
    /// The first thing that is meant for another shell, though bash reads it.
    pub(crate) foreign: Option<ParseError>,
    /// Where the substitutions end that a look-ahead went through.
    pub(crate) known_ends: HashMap<usize, usize>,
    /// A second pass over a text with an error in it, which keeps the commands of unfinished statements.
    pub(crate) records: bool,
    /// The commands of the statement being read.
    pub(crate) seen: Vec<Statement>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, dialect: Dialect) -> Self {
        Parser {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            dialect,
            depth: 0,
            steps: granted(text),
            origin: None,
            pending: Vec::new(),
            bodies: VecDeque::new(),
            enclosing: Vec::new(),
            in_false_arithmetic: false,
            in_substitution: false,
            in_quoted_operand: false,
            quotes_nest: false,
            foreign: None,
            known_ends: HashMap::new(),
            records: false,
            seen: Vec::new(),
        }
    }

    fn work(&self) -> usize {
        self.pos + granted(self.text).saturating_sub(self.steps)
    }

    /// Everything up to the end of the text; with an error, what was seen before it.
    fn program(&mut self) -> (Script, Option<ParseError>) {
        let mut statements = Vec::new();
        let error = self.statements(&mut statements).and_then(|()| self.end_of_program()).err();
        let mut script = Script { statements };
        heredoc::fill(&mut script, &mut self.bodies);
        script.statements.append(&mut self.seen);
        (script, error)
    }

    fn end_of_program(&mut self) -> Parsed<()> {
        if self.peek() != 0 {
            return self.unexpected();
        }
        self.read_documents()
    }

    /// Reads text that was unescaped or joined, standing at `origin`, with `read`.
    pub(crate) fn reread<T>(
        &mut self,
        text: &str,
        origin: Span,
        read: impl FnOnce(&mut Parser<'_>) -> Parsed<T>,
    ) -> Parsed<T> {
        self.spend(text.len())?;
        let mut inner = Parser::new(text, self.dialect);
        inner.depth = self.depth;
        inner.steps = self.steps;
        inner.records = self.records;
        inner.enclosing.clone_from(&self.enclosing);
        inner.origin = Some(self.origin.unwrap_or(origin));
        let result = inner.deeper(read);
        self.steps = inner.steps;
        self.foreign = self.foreign.or(inner.foreign);
        if self.records {
            self.seen.append(&mut inner.seen);
        }
        result
    }

    /// Reads re-read text as a program.
    pub(crate) fn reread_program(&mut self, text: &str, origin: Span) -> Parsed<Script> {
        self.reread(text, origin, |inner| {
            let mut script = inner.script()?;
            inner.starts_plainly(&script)?;
            inner.end_of_program()?;
            heredoc::fill(&mut script, &mut inner.bodies);
            Ok(script)
        })
    }

    /// Reads up to `end` as if the text ended there.
    pub(crate) fn within<T>(&mut self, end: usize, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let bytes = self.bytes;
        self.bytes = bytes.get(..end).unwrap_or(bytes);
        let result = self.deeper(read)?;
        self.bytes = bytes;
        Ok(result)
    }

    /// Keeps a command in case that its statement never ends.
    pub(crate) fn record(&mut self, command: &Command) {
        if self.records {
            let (command, span) = (command.clone(), command.span);
            let first =
                Pipeline { negated: false, timed: false, commands: vec![command], with_stderr: Vec::new(), span };
            self.seen.push(Statement { first, rest: Vec::new(), background: false, span });
        }
    }

    /// Forgets the recorded commands of a statement that did end.
    pub(crate) fn forget(&mut self) {
        if self.depth == 0 {
            self.seen.clear();
        }
    }

    /// Goes one level down.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.fail(ErrorKind::TooDeep);
        }
        self.depth += 1;
        let result = read(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// Accounts for text that is read ahead or again.
    pub(crate) fn spend(&mut self, steps: usize) -> Parsed<()> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => self.fail(ErrorKind::TooLong),
        }
    }
}

/// Bytes of look-ahead and re-reading for a text.
fn granted(text: &str) -> usize {
    text.len().saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS_FLOOR)
}
