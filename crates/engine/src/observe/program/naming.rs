//! What programs and their effects are called.

use doorward_vocabulary::{Mark, Operation};

use super::Invocation;
use super::args::Args;
use crate::effect::Target;
use crate::knowledge::schema::{Does, Role};
use crate::observe::field::Field;

pub(super) fn shown_name(name: &str, args: &Args) -> String {
    let subs = args.entry().and_then(|entry| entry.key.split_once(' ')).map(|(_, subs)| subs);
    match subs {
        Some(subs) => format!("{name} {subs}"),
        None => name.to_owned(),
    }
}

/// What an effect of the whole command is about.
pub(super) fn target(does: &Does, invocation: &Invocation) -> Target {
    match &invocation.work_tree {
        Some(root) if does.operation == Operation::Delete && does.marks.has(Mark::DiscardsWork) => {
            Target::Path(root.clone())
        }
        Some(_) | None => Target::Resource(resource(invocation)),
    }
}

/// What an effect without a path is about: the command and the names it was given.
fn resource(invocation: &Invocation) -> String {
    let mut text = invocation.by.name.clone();
    for (field, role) in invocation.args.operands.iter().zip(&invocation.roles) {
        if matches!(role, Role::Resource | Role::Package | Role::Pid | Role::Host) && text.len() < 120 {
            text.push(' ');
            text.push_str(&field.shown());
        }
    }
    text
}

/// The words of a command, one space between them.
pub(super) fn normalised(fields: &[Field]) -> String {
    let mut text = String::new();
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(&field.shown());
    }
    text
}
