//! The tree that a parse yields: what bash would run, with where it stands in the text.

/// Byte offsets into the text that was parsed.
///
/// Inside backticks and other text that is unescaped before it is parsed again, every span is that of the
/// enclosing construct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// A whole program, or the body of a group, substitution or loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    pub statements: Vec<Statement>,
}

/// One `and-or` list, ended by a newline, `;` or `&`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub first: Pipeline,
    pub rest: Vec<(Connector, Pipeline)>,
    pub background: bool,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    And,
    Or,
}

/// Commands joined by `|` or `|&`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    pub negated: bool,
    pub timed: bool,
    pub commands: Vec<Command>,
    /// `|&`: one flag for each joint, so one fewer than `commands`.
    pub with_stderr: Vec<bool>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub kind: CommandKind,
    pub redirects: Vec<Redirect>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    Simple(Simple),
    /// `{ …; }`
    Group(Script),
    /// `( … )`
    Subshell(Script),
    If(If),
    Loop(Loop),
    For(For),
    ArithmeticFor(ArithmeticFor),
    Case(Case),
    /// `(( … ))`
    Arithmetic(Arithmetic),
    /// `[[ … ]]`
    Test(Test),
    Function(Function),
    Coproc(Coproc),
}

/// Assignments, then words. The redirects stand on the [`Command`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
}

/// `name=value`, `name+=value`, `name[subscript]=value`, `name=(…)`.
///
/// The arguments of `declare`, `export`, `local`, `readonly` and `typeset` that look like assignments stay
/// [`Word`]s unless they carry an array, which only an assignment can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub subscript: Option<Word>,
    pub append: bool,
    pub value: Value,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Scalar(Word),
    Array(Vec<Element>),
}

/// An array element: `value` or `[subscript]=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    pub subscript: Option<Word>,
    pub value: Word,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// `if` and every `elif`: condition and body.
    pub branches: Vec<(Script, Script)>,
    pub otherwise: Option<Script>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub until: bool,
    pub condition: Script,
    pub body: Script,
}

/// `for name in words` and `select name in words`; no `in` part means the positional parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For {
    pub name: String,
    pub words: Option<Vec<Word>>,
    pub body: Script,
    pub select: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticFor {
    pub parts: Vec<Arithmetic>,
    pub body: Script,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub word: Word,
    pub arms: Vec<Arm>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    pub patterns: Vec<Word>,
    pub body: Script,
}

/// Arithmetic text, and everything in it that the shell expands (and so may run).
///
/// Array subscripts of variables named in arithmetic are evaluated too; they are part of `word`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// The expression as double-quoted text: literal parts and expansions in order.
    pub word: Word,
}

/// `[[ … ]]`: operands and operators in order, as words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub body: Box<Command>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coproc {
    /// A simple command has a name only inside a substitution, where bash 5.2 runs the name as the command and the
    /// words as its arguments.
    pub name: Option<String>,
    pub body: Box<Command>,
}

/// One redirect; `fd` is the number or `{name}` written before the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub fd: Option<Fd>,
    pub operator: RedirectOperator,
    pub target: RedirectTarget,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fd {
    Number(u32),
    /// `{name}>file` stores the number in a variable.
    Variable(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateInput,
    /// `>&`: duplicates a descriptor, or writes both streams to a file if the target is neither number nor `-`.
    DuplicateOutput,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<` and `<<-`
    HereDocument,
    /// `<<<`
    HereString,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    /// A file name, a descriptor, or the text of a here string.
    Word(Word),
    Document(HereDocument),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    /// Tabs are stripped already for `<<-`. A quoted delimiter yields one quoted text part.
    pub body: Word,
    /// The delimiter was quoted, so nothing in the body is expanded.
    pub quoted: bool,
    pub delimiter: String,
}

/// A word before expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub parts: Vec<Part>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// Subject to splitting and globbing once expanded.
    Bare,
    /// Behind a backslash, in single, double, `$'…'` or `$"…"` quotes: never split, never a glob.
    Quoted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Literal text with quotes and escapes resolved. An empty quoted string is a part with empty text.
    Text {
        text: String,
        quoting: Quoting,
    },
    /// An unquoted glob: `*`, `?`, a bracket expression or an extended glob, as written.
    Glob(String),
    /// `~`, `~user`, `~+`, `~-` where the shell expands it; holds what follows the tilde.
    Tilde(String),
    /// `{a,b}`: each alternative as a word.
    Alternatives(Vec<Word>),
    /// `{1..9}`, `{a..e..2}`: the text between the braces.
    Range(String),
    Parameter(Box<Parameter>),
    /// `$(…)`, backticks, `${ …; }`, `${| …; }`.
    Substitution {
        script: Script,
        quoting: Quoting,
        span: Span,
    },
    /// `<(…)` and `>(…)`.
    Process {
        script: Script,
        writes: bool,
        span: Span,
    },
    /// `$((…))` and `$[…]`.
    Arithmetic {
        arithmetic: Arithmetic,
        quoting: Quoting,
    },
}

/// `$name`, `${name}`, `${name<operator>…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// `${!name}`: the value names another parameter (also `${!prefix*}`, `${!array[@]}`).
    pub indirect: bool,
    /// `${#name}`
    pub length: bool,
    pub subscript: Option<Word>,
    pub operation: Option<ParameterOperation>,
    pub quoting: Quoting,
    pub span: Span,
}

impl Parameter {
    /// `$name`
    pub(crate) fn plain(name: String, quoting: Quoting, span: Span) -> Parameter {
        Parameter { name, indirect: false, length: false, subscript: None, operation: None, quoting, span }
    }
}

/// What stands after the name, with every operand that the shell expands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterOperation {
    /// `-`, `:-`
    Default(Word),
    /// `=`, `:=`
    AssignDefault(Word),
    /// `?`, `:?`
    Require(Word),
    /// `+`, `:+`
    Alternative(Word),
    /// `#`, `##`, `%`, `%%`
    Trim(Word),
    /// `/pattern/replacement` in its four forms
    Replace { pattern: Word, replacement: Word },
    /// `:offset:length`, both arithmetic
    Slice { offset: Word, length: Option<Word> },
    /// `^`, `^^`, `,`, `,,`, `~`, `~~`
    Case(Word),
    /// `@Q`, `@E`, `@P`, …; `P` runs substitutions found in the value
    Transform(char),
    /// `${!prefix*}`, `${!prefix@}`
    Names,
}
