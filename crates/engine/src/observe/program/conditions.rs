//! When something counts: effects under a condition, flags that only ask for help, and flags that nobody can see.

use super::Invocation;
use super::args::Args;
use crate::knowledge::schema::{Changes, Condition, Entry, Flag, Role, Style, Takes};
use crate::observe::field::Field;

/// `docker rm x --help`: programs with subcommands read all flags first, wherever they stand.
///
/// Not where words from the first operand on belong to another program, or a grammar reads them.
pub(super) fn asks_a_subcommand(args: &Args) -> bool {
    let plain = |entry: &Entry| {
        !entry.stops
            && entry.grammar.is_none()
            && matches!(entry.style, None | Some(Style::Gnu))
            && entry.operands.iter().all(|operand| {
                matches!(
                    operand.role,
                    Role::Data
                        | Role::Text
                        | Role::Name
                        | Role::Resource
                        | Role::Package
                        | Role::Read
                        | Role::Print
                        | Role::List
                )
            })
    };
    args.chain.len() > 1
        && args.chain.iter().all(plain)
        && !args.ended
        && args.unreadable.is_empty()
        && args.unknown_sub.is_none()
        && args.operands.iter().all(|field| field.exact().is_some())
}

/// `crane push --help`: the program has no way to hand a word on to other code, so help is all that comes.
pub(super) fn asks_anything(args: &Args) -> bool {
    let is_plain = |field: &Field| field.exact().is_some_and(|text| !text.starts_with('-'));
    args.chain.first().is_some_and(|entry| entry.helps)
        && !args.ended
        && args.unreadable.is_empty()
        && args.operands.iter().all(is_plain)
}

/// Whether an effect happens with these operands; what cannot be read never prevents it.
pub(super) fn happens(condition: &Condition, alone: bool, invocation: &Invocation) -> bool {
    let operands = &invocation.args.operands;
    match condition {
        Condition::Always => true,
        Condition::WithOperands => !alone,
        Condition::Alone => alone,
        Condition::Bare => {
            let flags = invocation.args.given.iter().map(|given| given.role);
            !flags
                .chain(invocation.roles.iter().copied())
                .any(|role| matches!(role, Role::Command | Role::Shell | Role::Line))
        }
        Condition::Assigning => operands.iter().any(|field| field.exact().is_none_or(|text| text.contains('='))),
        Condition::Unless(at, words) => {
            let word = operands.get(usize::from(*at).saturating_sub(1)).and_then(Field::exact);
            !word.is_some_and(|word| words.iter().any(|known| known == word))
        }
    }
}

/// No flag of the program could do anything, whichever of them a word is that cannot be read.
///
/// A name in the project that is taken for a flag may at most make the program read another file.
pub(super) fn flags_are_harmless(args: &Args) -> bool {
    let reads = |role: Role| args.are_names && matches!(role, Role::Read | Role::Print | Role::ReadTree | Role::List);
    let role_is_harmless = |takes: Takes| match takes {
        Takes::Nothing => true,
        Takes::Value(role) | Takes::Glued(role) => (role.is_plain() || role == Role::Resource) || reads(role),
    };
    let is_harmless = |flag: &Flag| {
        let operands = flag.changes.operands;
        let lists = matches!(flag.takes, Takes::Value(Role::Read | Role::Print)) && args.are_names;
        let changes = Changes {
            operands: operands.filter(|role| !reads(*role)),
            opaque: flag.changes.opaque && !lists,
            ..flag.changes.clone()
        };
        !changes.has_effect() && role_is_harmless(flag.takes)
    };
    args.chain.iter().all(|entry| entry.flags.all().iter().all(is_harmless))
}
