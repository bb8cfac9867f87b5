//! What a grammar reads out of the words of an invocation, in order: the grammar says it, `carry_out` does it.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::Invocation;
use super::git_subcommand::Subcommand;
use super::invocation::Known;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::{Console, Does, Entry, Role};
use crate::observe::connect::Exchange;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::caused::Caused;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::git_steps::GitSteps;
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Stream};
use crate::world::{Shell, World};

/// What some findings cause goes through this before it is written down.
type Seal = Box<dyn FnOnce(&mut Caused, &dyn World)>;

/// Reads on when everything before it was done, and what came of that decides what follows.
type Reader = Box<dyn FnOnce(&Observer<'_>, &mut Invocation, &State<'_>) -> Findings>;

/// Findings in the order in which they happen. A function that returns them has touched neither the sheet nor the shell.
#[must_use = "findings that are not carried out are lost"]
#[derive(Default)]
pub(crate) struct Findings(pub(super) Vec<Finding>);

/// One of them.
pub(super) enum Finding {
    Doubt(Degree, String),
    Effect(Effect, Marks),
    Unknown(Operation, Marks),
    SecretSent,
    Connect(Field, Exchange),
    ConnectTo(Field, Exchange),
    Touch(Touch, Field),
    TouchPath(Touch, String),
    TouchNothing { directory: String, pattern: String },
    Read(Touch, Field),
    Write(Touch, Field),
    Store(String, Option<String>, Origin),
    Arrival(String),
    Link(String),
    GitSteps(GitSteps),
    GitContents(Subcommand),
    CallMark(Mark),
    Search { starts: Vec<Field>, tests: Vec<Field> },
    Role(Field, Role),
    FlagValues,
    Operands,
    Into(Field, Option<usize>),
    Named(Vec<Field>),
    Run(Box<Run>),
    InputTaken,
    DownloadRun,
    Fetched,
    SecretPrinted,
    Printed(Stream),
    In(Option<String>, Findings),
    Sealed(Findings, Seal),
    Then(Reader),
}

/// What is run.
#[expect(clippy::large_enum_variant, reason = "few are made per call, and each is used up at once")]
pub(super) enum Run {
    Helper(Field),
    Command(Vec<Field>),
    Placed(Vec<Field>),
    InEnvironment(Vec<Field>),
    Joined(Vec<Field>),
    Line(Field),
    Program(Started),
    Code(Field),
    ShellText(ShellText),
    Stream(Stream, Option<Vec<Field>>),
    OwnCode(Stream),
    Script { file: Field, role: Role, operands: Option<Vec<Field>> },
    Module { name: String, root: Option<String> },
    Console(Console, Vec<Field>),
    Subscript(String),
    Hook { file: String, root: String },
    Unknown(Origin),
    Input,
}

/// A known program that is started under this name.
pub(super) struct Started {
    pub program: Known,
    pub words: Vec<Field>,
    /// What it prints is what comes out.
    pub prints: bool,
}

/// A text that a shell is handed, with the words behind it.
pub(super) struct ShellText {
    pub shell: Shell,
    pub text: Field,
    /// `$0`, if it is given.
    pub zero: Option<Field>,
    /// `$1` and on.
    pub words: Vec<Field>,
}

impl Findings {
    fn run_later(&mut self, what: Run) {
        self.0.push(Finding::Run(Box::new(what)));
    }

    /// Nothing but a doubt.
    pub(crate) fn doubtful(degree: Degree, because: impl Into<String>) -> Findings {
        Findings(vec![Finding::Doubt(degree, because.into())])
    }

    /// Something cannot be followed.
    pub(crate) fn doubt(&mut self, degree: Degree, because: impl Into<String>) {
        self.0.push(Finding::Doubt(degree, because.into()));
    }

    /// An effect on something that is not a file.
    pub(crate) fn resource(&mut self, does: &Does, name: impl Into<String>, invocation: &Invocation) {
        self.effect(on_resource(does, name, invocation));
    }

    /// An effect on something that is not known.
    pub(crate) fn unknown(&mut self, operation: Operation, marks: Marks) {
        self.0.push(Finding::Unknown(operation, marks));
    }

    /// Secret data reaches the network.
    pub(crate) fn send_secret(&mut self) {
        self.0.push(Finding::SecretSent);
    }

    /// An effect that is known by itself.
    pub(crate) fn effect(&mut self, effect: Effect) {
        self.marked_effect(effect, Marks::default());
    }

    /// The same with marks that do not count when it is compared with the effect before it.
    pub(crate) fn marked_effect(&mut self, effect: Effect, marks: Marks) {
        self.0.push(Finding::Effect(effect, marks));
    }

    /// Something is exchanged with a host.
    pub(crate) fn connect(&mut self, host: Field, exchange: Exchange) {
        self.0.push(Finding::Connect(host, exchange));
    }

    /// The same with the address that a word names.
    pub(crate) fn connect_to(&mut self, address: Field, exchange: Exchange) {
        self.0.push(Finding::ConnectTo(address, exchange));
    }

    /// Something happens to an absolute path.
    pub(crate) fn touch_path(&mut self, touch: Touch, path: impl Into<String>) {
        self.0.push(Finding::TouchPath(touch, path.into()));
    }

    /// From here on the call has put this into a file; `None` if nobody knows what.
    pub(crate) fn store(&mut self, path: impl Into<String>, content: Option<String>, origin: Origin) {
        self.0.push(Finding::Store(path.into(), content, origin));
    }

    /// Something arrives in the project that nobody has read.
    pub(crate) fn arrive(&mut self, path: impl Into<String>) {
        self.0.push(Finding::Arrival(path.into()));
    }

    /// The call makes a link here.
    pub(crate) fn link(&mut self, path: impl Into<String>) {
        self.0.push(Finding::Link(path.into()));
    }

    /// What git's names stand for from here on.
    pub(crate) fn step(&mut self, steps: GitSteps) {
        self.0.push(Finding::GitSteps(steps));
    }

    /// A subcommand of git prints files that no word names. Looking them up spends the budget of the call.
    pub(crate) fn print_contents(&mut self, sub: Subcommand) {
        self.0.push(Finding::GitContents(sub));
    }

    /// A hook of git runs in the work tree.
    pub(crate) fn run_hook(&mut self, file: impl Into<String>, root: &str) {
        self.run_later(Run::Hook { file: file.into(), root: root.to_owned() });
    }

    /// The call as a whole is marked.
    pub(crate) fn mark_call(&mut self, mark: Mark) {
        self.0.push(Finding::CallMark(mark));
    }

    /// Something happens to a file, and nothing of it comes out again.
    pub(crate) fn touch(&mut self, touch: Touch, field: Field) {
        self.0.push(Finding::Touch(touch, field));
    }

    /// A file is read, and its content may come out again.
    pub(crate) fn read(&mut self, touch: Touch, field: Field) {
        self.0.push(Finding::Read(touch, field));
    }

    /// A file is written with what comes in or was read.
    pub(crate) fn write(&mut self, touch: Touch, field: Field) {
        self.0.push(Finding::Write(touch, field));
    }

    /// A word has a role that the tables do not say.
    pub(crate) fn role(&mut self, field: Field, role: Role) {
        self.0.push(Finding::Role(field, role));
    }

    /// The values of the flags do what the tables say.
    pub(crate) fn flag_values(&mut self) {
        self.0.push(Finding::FlagValues);
    }

    /// The operands do what the tables say.
    pub(crate) fn operands(&mut self) {
        self.0.push(Finding::Operands);
    }

    /// A program is started with arguments and input that cannot be seen.
    pub(crate) fn start(&mut self, program: Field) {
        self.run_later(Run::Helper(program));
    }

    /// A text is run by a shell.
    pub(crate) fn run_text(&mut self, text: Field) {
        self.run_later(Run::Code(text));
    }

    /// The words are a command of their own.
    pub(crate) fn run(&mut self, words: Vec<Field>) {
        self.run_later(Run::Command(words));
    }

    /// The same where what was found is put in place of `{}`, or at the end.
    pub(crate) fn run_placed(&mut self, words: Vec<Field>) {
        self.run_later(Run::Placed(words));
    }

    /// The same in the environment that the program sets up.
    pub(crate) fn run_in_environment(&mut self, words: Vec<Field>) {
        self.run_later(Run::InEnvironment(words));
    }

    /// The words, put together, are a text that a shell runs.
    pub(crate) fn run_joined(&mut self, words: Vec<Field>) {
        self.run_later(Run::Joined(words));
    }

    /// A whole command line, and nothing else, is run.
    pub(crate) fn run_line(&mut self, line: Field) {
        self.run_later(Run::Line(line));
    }

    /// Files are put into this place; `at` says which operand it is, unless a flag names it.
    pub(crate) fn put_into(&mut self, place: Field, at: Option<usize>) {
        self.0.push(Finding::Into(place, at));
    }

    /// The words are written down as a command, though nothing of it runs.
    pub(crate) fn name(&mut self, words: &[Field]) {
        self.0.push(Finding::Named(words.to_vec()));
    }

    /// A known program is started with these words; what it prints is lost.
    pub(crate) fn start_known(&mut self, entry: Entry, name: impl Into<String>, words: Vec<Field>) {
        self.run_later(Run::Program(Started { program: Known { entry, name: name.into() }, words, prints: false }));
    }

    /// A known program takes the place of this one: what it prints comes out.
    pub(crate) fn become_known(&mut self, entry: Entry, name: impl Into<String>, words: Vec<Field>) {
        self.run_later(Run::Program(Started { program: Known { entry, name: name.into() }, words, prints: true }));
    }

    /// A shell is handed a text, and the words behind it.
    pub(crate) fn run_by_shell(&mut self, shell: Shell, text: Field, words: &[Field]) {
        let (zero, words) = (words.first().cloned(), words.get(1..).unwrap_or_default().to_vec());
        self.run_later(Run::ShellText(ShellText { shell, text, zero, words }));
    }

    /// Data arrives where a shell expects code; `words` are `$1` and on, if they are others than before.
    pub(crate) fn run_stream(&mut self, stream: Stream, words: Option<Vec<Field>>) {
        self.run_later(Run::Stream(stream, words));
    }

    /// Data arrives where the program expects code in its own language.
    pub(crate) fn run_own_code(&mut self, stream: Stream) {
        self.run_later(Run::OwnCode(stream));
    }

    /// A file with code in it is run or loaded.
    pub(crate) fn run_script(&mut self, file: Field, role: Role) {
        self.run_later(Run::Script { file, role, operands: None });
    }

    /// The same with other operands than those of the program.
    pub(crate) fn run_script_with(&mut self, file: Field, role: Role, operands: Vec<Field>) {
        self.run_later(Run::Script { file, role, operands: Some(operands) });
    }

    /// A Python module of the project is run, below a directory other than the current one if that is said.
    pub(crate) fn run_module(&mut self, name: impl Into<String>, root: Option<String>) {
        self.run_later(Run::Module { name: name.into(), root });
    }

    /// The command line of a framework gets these words.
    pub(crate) fn run_console(&mut self, framework: Console, words: Vec<Field>) {
        self.run_later(Run::Console(framework, words));
    }

    /// A text is read as the name of a variable, and a subscript in it is evaluated.
    pub(crate) fn evaluate(&mut self, text: impl Into<String>) {
        self.run_later(Run::Subscript(text.into()));
    }

    /// Something from another machine is run.
    pub(crate) fn run_download(&mut self) {
        self.0.push(Finding::DownloadRun);
    }

    /// What comes in is used up, so that nothing of it reaches what is started from here on.
    pub(crate) fn take_input(&mut self) {
        self.0.push(Finding::InputTaken);
    }

    /// This comes out, whatever was printed before.
    pub(crate) fn print(&mut self, output: Stream) {
        self.0.push(Finding::Printed(output));
    }

    /// A search whose hits other commands may read.
    pub(crate) fn search(&mut self, starts: &[Field], tests: &[Field]) {
        self.0.push(Finding::Search { starts: starts.to_vec(), tests: tests.to_vec() });
    }

    /// A deletion finds nothing to delete.
    pub(crate) fn touch_nothing(&mut self, directory: impl Into<String>, pattern: impl Into<String>) {
        self.0.push(Finding::TouchNothing { directory: directory.into(), pattern: pattern.into() });
    }

    /// What follows is read only when everything before it was done.
    pub(crate) fn then(
        &mut self,
        reader: impl FnOnce(&Observer<'_>, &mut Invocation, &State<'_>) -> Findings + 'static,
    ) {
        self.0.push(Finding::Then(Box::new(reader)));
    }

    /// What comes out came from another machine.
    pub(crate) fn fetch(&mut self) {
        self.0.push(Finding::Fetched);
    }

    /// Data that is not known is run as code.
    pub(crate) fn run_unknown(&mut self, origin: Origin) {
        self.run_later(Run::Unknown(origin));
    }

    /// What comes in is run.
    pub(crate) fn run_input(&mut self) {
        self.run_later(Run::Input);
    }

    /// What comes out may hold secrets.
    pub(crate) fn print_secret(&mut self) {
        self.0.push(Finding::SecretPrinted);
    }

    /// These hold for another directory.
    pub(crate) fn within(&mut self, directory: Option<String>, findings: Findings) {
        self.0.push(Finding::In(directory, findings));
    }

    /// What these cause is changed before it is written down.
    pub(crate) fn sealed(&mut self, findings: Findings, seal: impl FnOnce(&mut Caused, &dyn World) + 'static) {
        self.0.push(Finding::Sealed(findings, Box::new(seal)));
    }

    pub(crate) fn extend(&mut self, findings: Findings) {
        self.0.extend(findings.0);
    }
}

/// An effect on something that is not a file.
pub(super) fn on_resource(does: &Does, name: impl Into<String>, invocation: &Invocation) -> Effect {
    stated_effect(does, Target::Resource(name.into()), invocation)
}

/// The effect that a program file states, on what the command works on.
pub(super) fn stated_effect(does: &Does, target: Target, invocation: &Invocation) -> Effect {
    let mut effect = Effect::new(does.operation, target);
    effect.scope = does.scope;
    effect.reversibility = does.reversibility;
    effect.reach = does.reach;
    effect.sensitivity = does.sensitivity;
    effect.marks = does.marks;
    effect.by.clone_from(&invocation.by.name);
    effect.part = invocation.by.part;
    effect
}
