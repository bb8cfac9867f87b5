//! One command: which kind stands here, and reserved words.

use crate::cursor::{ends_word, in_name, starts_name};
use crate::error::Parsed;
use crate::parser::Parser;
use crate::{Command, CommandKind, Coproc, Dialect, ErrorKind, Function, Word};

/// Words with a meaning of their own in command position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserved {
    If,
    Then,
    Elif,
    Else,
    Fi,
    While,
    Until,
    Do,
    Done,
    For,
    Select,
    In,
    Case,
    Esac,
    Function,
    Coproc,
    Time,
    Bang,
    Open,
    Close,
    TestOpen,
    TestClose,
}

impl Reserved {
    /// Ends the list before it.
    pub(crate) fn closes(self) -> bool {
        matches!(
            self,
            Self::Then | Self::Elif | Self::Else | Self::Fi | Self::Do | Self::Done | Self::Esac | Self::Close
        )
    }

    /// A plain word to dash, which then looks for a program of this name.
    fn is_bash_only(self) -> bool {
        matches!(self, Self::Time | Self::TestOpen | Self::TestClose | Self::Function | Self::Select | Self::Coproc)
    }

    pub(crate) fn find(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"if" => Self::If,
            b"then" => Self::Then,
            b"elif" => Self::Elif,
            b"else" => Self::Else,
            b"fi" => Self::Fi,
            b"while" => Self::While,
            b"until" => Self::Until,
            b"do" => Self::Do,
            b"done" => Self::Done,
            b"for" => Self::For,
            b"select" => Self::Select,
            b"in" => Self::In,
            b"case" => Self::Case,
            b"esac" => Self::Esac,
            b"function" => Self::Function,
            b"coproc" => Self::Coproc,
            b"time" => Self::Time,
            b"!" => Self::Bang,
            b"{" => Self::Open,
            b"}" => Self::Close,
            b"[[" => Self::TestOpen,
            b"]]" => Self::TestClose,
            _ => return None,
        })
    }
}

// `function` is the longest; a longer word cannot be reserved and is not copied.
const LONGEST_RESERVED: usize = 8;

impl Parser<'_> {
    /// The reserved word that stands here, and where it ends.
    pub(crate) fn reserved(&self) -> Option<(Reserved, usize)> {
        let mut word = [0_u8; LONGEST_RESERVED];
        let mut length = 0;
        let mut index = self.after(self.pos);
        loop {
            let byte = self.at(index);
            if ends_word(byte) {
                break;
            }
            *word.get_mut(length)? = byte;
            length += 1;
            index = self.after(index + 1);
        }
        // `if<(x)` is one word to bash: a process substitution glued to it makes it a program's name.
        if matches!(self.at(index), b'<' | b'>') && self.at(self.after(index + 1)) == b'(' {
            return None;
        }
        let found = Reserved::find(word.get(..length)?)?;
        let plain = self.dialect == Dialect::Sh && found.is_bash_only();
        (!plain).then_some((found, index))
    }

    /// Steps over `word`, or fails.
    pub(crate) fn expect_reserved(&mut self, word: Reserved, what: &'static str) -> Parsed<()> {
        self.peek();
        match self.reserved() {
            Some((found, end)) if found == word => {
                self.pos = end;
                Ok(())
            }
            Some(_) | None if self.at(self.pos) == 0 => self.fail(ErrorKind::Unterminated(what)),
            Some(_) | None => self.unexpected(),
        }
    }

    /// Whether `word` stands here; steps over it if so.
    pub(crate) fn eat_reserved(&mut self, word: Reserved) -> bool {
        self.peek();
        match self.reserved() {
            Some((found, end)) if found == word => {
                self.pos = end;
                true
            }
            Some(_) | None => false,
        }
    }

    pub(crate) fn command(&mut self) -> Parsed<Command> {
        self.blanks();
        match self.compound()? {
            Some(command) => Ok(command),
            None => self.simple(),
        }
    }

    /// A compound command with its redirects, if one starts here.
    pub(crate) fn compound(&mut self) -> Parsed<Option<Command>> {
        let byte = self.peek();
        let reserved = match byte {
            b'(' => None,
            b'a'..=b'z' | b'!' | b'{' | b'}' | b'[' | b']' => match self.reserved() {
                // `time` belongs to the pipeline, which has read it before if it means anything.
                None | Some((Reserved::Time, _)) => return Ok(None),
                found => found,
            },
            _ => return Ok(None),
        };
        let start = self.pos;
        let kind = self.deeper(|parser| parser.compound_kind(reserved))?;
        let mut redirects = Vec::new();
        // Redirects behind a function belong to its body and were read with it.
        let takes_redirects = !matches!(kind, CommandKind::Function(_) | CommandKind::Coproc(_));
        while takes_redirects && self.redirect(&mut redirects)? {}
        Ok(Some(Command { kind, redirects, span: self.span(start) }))
    }

    fn compound_kind(&mut self, reserved: Option<(Reserved, usize)>) -> Parsed<CommandKind> {
        let Some((word, end)) = reserved else {
            return self.parenthesis();
        };
        let start = self.pos;
        self.pos = end;
        match word {
            Reserved::Open => self.group().map(CommandKind::Group),
            Reserved::If => self.if_command().map(CommandKind::If),
            Reserved::While => self.loop_command(false).map(CommandKind::Loop),
            Reserved::Until => self.loop_command(true).map(CommandKind::Loop),
            Reserved::For => self.for_command(),
            Reserved::Select => self.select_command(),
            Reserved::Case => self.case_command().map(CommandKind::Case),
            Reserved::Function => self.function_keyword(),
            Reserved::Coproc => self.coproc(),
            Reserved::TestOpen => self.test_command().map(CommandKind::Test),
            Reserved::Bang if self.at(end) == b'(' => self.fail(ErrorKind::Ambiguous("`!(`")),
            Reserved::Then
            | Reserved::Elif
            | Reserved::Else
            | Reserved::Fi
            | Reserved::Do
            | Reserved::Done
            | Reserved::In
            | Reserved::Esac
            | Reserved::Time
            | Reserved::Bang
            | Reserved::Close
            | Reserved::TestClose => {
                self.pos = start;
                self.unexpected()
            }
        }
    }

    /// `function name [()] body`
    fn function_keyword(&mut self) -> Parsed<CommandKind> {
        self.blanks();
        let word = self.word()?;
        let Some(name) = word.literal_bare() else {
            return self.fail(ErrorKind::Missing("a plain function name"));
        };
        let name = name.to_owned();
        self.blanks();
        self.eat_empty_parentheses();
        self.function_body(name)
    }

    /// `(` and `)` with nothing but blanks between them.
    pub(crate) fn eat_empty_parentheses(&mut self) -> bool {
        let start = self.pos;
        if self.eat(b'(') {
            self.blanks();
            if self.eat(b')') {
                return true;
            }
        }
        self.pos = start;
        false
    }

    /// What follows `name ()`.
    pub(crate) fn function_body(&mut self, name: String) -> Parsed<CommandKind> {
        self.newlines()?;
        match self.compound()? {
            Some(body) if matches!(body.kind, CommandKind::Function(_) | CommandKind::Coproc(_)) => self.unexpected(),
            Some(body) => Ok(CommandKind::Function(Function { name, body: Box::new(body) })),
            None => self.unexpected(),
        }
    }

    /// `coproc [name] compound` or `coproc simple`.
    fn coproc(&mut self) -> Parsed<CommandKind> {
        self.blanks();
        let start = self.pos;
        let name = self.coproc_name();
        if name.is_some() && !self.at_compound() {
            self.pos = start;
        }
        let named = self.pos != start;
        let body = Box::new(self.command()?);
        if matches!(body.kind, CommandKind::Function(_) | CommandKind::Coproc(_)) {
            return self.unexpected();
        }
        if let CommandKind::Simple(simple) = &body.kind
            && let Some(second) = simple.words.get(1).and_then(Word::literal_bare)
            && Reserved::find(second.as_bytes()).is_some()
        {
            return self.fail(ErrorKind::Ambiguous("a reserved word after `coproc`"));
        }
        // bash 5.2 writes a substitution out again before it runs it, with a name that it then takes for the command.
        if self.is_substituted() && matches!(body.kind, CommandKind::Simple(_)) {
            return Ok(CommandKind::Coproc(Coproc { name: Some("COPROC".to_owned()), body }));
        }
        Ok(CommandKind::Coproc(Coproc { name: name.filter(|_| named), body }))
    }

    fn coproc_name(&mut self) -> Option<String> {
        let start = self.pos;
        if self.reserved().is_some() || !starts_name(self.peek()) {
            return None;
        }
        while in_name(self.at(self.pos)) {
            self.bump();
        }
        let name = self.slice(start, self.pos).to_owned();
        if !matches!(self.peek(), b' ' | b'\t' | b'(') {
            self.pos = start;
            return None;
        }
        self.blanks();
        Some(name)
    }

    fn at_compound(&mut self) -> bool {
        self.peek() == b'(' || self.reserved().is_some_and(|(word, _)| !matches!(word, Reserved::Time | Reserved::In))
    }
}
