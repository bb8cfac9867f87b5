//! What a grammar reads out of the words of an invocation, in order: the grammar says it, `carry_out` does it.

use doorward_vocabulary::{Degree, Marks, Operation};

use super::Invocation;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::{Does, Role};
use crate::observe::connect::Exchange;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::caused::Caused;
use crate::world::World;

/// What some findings cause goes through this before it is written down.
type Seal = Box<dyn FnOnce(&mut Caused, &dyn World)>;

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
    Touch(Touch, Field),
    Read(Touch, Field),
    Write(Touch, Field),
    Role(Field, Role),
    FlagValues,
    Operands,
    Helper(Field),
    Code(Field),
    InputRun,
    Fetched,
    SecretPrinted,
    In(Option<String>, Findings),
    Sealed(Findings, Seal),
}

impl Findings {
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
        self.0.push(Finding::Helper(program));
    }

    /// A text is run by a shell.
    pub(crate) fn run_text(&mut self, text: Field) {
        self.0.push(Finding::Code(text));
    }

    /// What comes out came from another machine.
    pub(crate) fn fetch(&mut self) {
        self.0.push(Finding::Fetched);
    }

    /// What comes in is run.
    pub(crate) fn run_input(&mut self) {
        self.0.push(Finding::InputRun);
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
    let mut effect = Effect::new(does.operation, Target::Resource(name.into()));
    effect.scope = does.scope;
    effect.reversibility = does.reversibility;
    effect.reach = does.reach;
    effect.sensitivity = does.sensitivity;
    effect.marks = does.marks;
    effect.by.clone_from(&invocation.by.name);
    effect.part = invocation.by.part;
    effect
}
