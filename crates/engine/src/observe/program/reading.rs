//! What the words of an invocation say before anything happens: roles, directories, and what is not known.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility};

use super::Invocation;
use super::builds::leads_to;
use super::conditions::flags_are_harmless;
use super::findings::Findings;
use super::positions::{environment_first, match_positions, without_change};
use crate::effect::{Effect, Target};
use crate::knowledge::schema::{Facet, Grammar, Operand, Role};
use crate::observe::field::Field;
use crate::observe::sheet::observer::Observer;

/// Flags, words and subcommands that the tables do not know.
pub(super) fn unknown_words(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let name = &invocation.by.name;
    for flag in &invocation.args.unknown {
        found.doubt(Degree::Unknown, format!("the flag `{flag}` of `{name}`"));
    }
    if let Some(sub) = &invocation.args.unknown_sub {
        found.doubt(Degree::Unknown, format!("the subcommand `{sub}` of `{name}`"));
        let own = invocation.args.chain.first().is_some_and(|entry| entry.key == "doorward");
        match own || invocation.args.is(Facet::ReachesOut) {
            true => {
                let mark = if own { Mark::PersonOnly } else { Mark::UnknownProgram };
                found.unknown(Operation::Execute, Marks::default().with(mark));
            }
            // No worse than a program that nobody knows.
            false => {
                let mut effect = unknown_effect(invocation);
                effect.reach = Reach::Project;
                effect.reversibility = Reversibility::Irreversible;
                found.effect(effect);
            }
        }
    }
    if !invocation.args.unknown.is_empty() {
        found.effect(unknown_effect(invocation));
    }
    if let Some(word) = invocation.args.unreadable.first()
        && !flags_are_harmless(&invocation.args)
    {
        found.doubt(Degree::Opaque, format!("`{word}` may be a flag of `{name}`"));
    }
    for given in &invocation.args.given {
        if given.changes.opaque {
            found.doubt(Degree::Opaque, format!("what `{}` of `{name}` does", given.name));
        }
        if given.changes.unknown {
            found.doubt(Degree::Unknown, format!("the flag `{}` of `{name}`", given.name));
        }
    }
    found
}

/// A known program does something that no table says.
fn unknown_effect(invocation: &Invocation) -> Effect {
    let mut effect = Effect::new(Operation::Execute, Target::Program(invocation.by.name.clone()));
    effect.marks.add(Mark::UnknownProgram);
    effect.by.clone_from(&invocation.by.name);
    effect.part = invocation.by.part;
    effect
}

/// Matches the operands with the positions that the entry lists.
pub(super) fn assign_roles(out: &mut Observer<'_>, invocation: &mut Invocation) {
    let Some(entry) = invocation.args.entry() else { return };
    let args = &invocation.args;
    let positions: Vec<&Operand> = entry
        .operands
        .iter()
        .filter(|operand| operand.given.is_empty() || operand.given.iter().any(|flag| args.has(flag)))
        .filter(|operand| !operand.unless.iter().any(|flag| args.has(flag)))
        .collect();
    let mut roles = match positions.first() {
        Some(first) if first.role == Role::Env => environment_first(&positions, &args.operands),
        Some(_) | None => match_positions(&positions, args.operands.len()),
    };
    let tables_say_all = matches!(entry.grammar, None | Some(Grammar::GitExtra));
    if tables_say_all && roles.len() < args.operands.len() && args.unknown_sub.is_none() {
        out.lower(Degree::Unknown, format!("the extra arguments of `{}`", invocation.by.name));
        roles.resize(args.operands.len(), Role::Resource);
    }
    roles.resize(args.operands.len(), Role::Name);
    let effects = args
        .given
        .iter()
        .filter(|given| given.changes.has_effect() || (given.value.is_some() && !only_looks(given.role)))
        .count();
    let dry_run = args.always(|changes| changes.dry_run);
    let read_only = effects == 0 && args.always(|changes| changes.read_only);
    if let Some(role) = args.given.iter().find_map(|given| given.changes.operands) {
        let kept = [
            Role::Data,
            Role::Text,
            Role::Name,
            Role::Into,
            Role::RemoteInto,
            Role::Resource,
            Role::Command,
            Role::Shell,
            Role::Env,
        ];
        let changes = |slot: &Role| !kept.contains(slot);
        for slot in roles.iter_mut().filter(|slot| changes(slot)) {
            *slot = role;
        }
    }
    if dry_run || read_only {
        roles.iter_mut().for_each(|role| *role = without_change(*role));
        invocation.does.clear();
        add_extras(invocation, |changes| changes.dry_run || changes.read_only);
    } else {
        add_flag_effects(invocation);
    }
    invocation.roles = roles;
}

/// A value of this role changes nothing: a word, a file that is read, the directory in which the program works.
fn only_looks(role: Role) -> bool {
    role.is_plain() || matches!(role, Role::Cwd | Role::Read | Role::Print | Role::List)
}

/// `-C dir`: the program works elsewhere.
pub(super) fn directory_flags(out: &mut Observer<'_>, invocation: &mut Invocation) {
    let operands = invocation.args.operands.iter().zip(&invocation.roles).filter(|(_, role)| **role == Role::Cwd);
    let values: Vec<Field> = invocation
        .args
        .given
        .iter()
        .filter(|given| given.role == Role::Cwd)
        .filter_map(|given| given.value.clone())
        .chain(operands.map(|(field, _)| field.clone()))
        .collect();
    for value in values {
        invocation.cwd = match (value.exact(), &invocation.cwd) {
            (Some(path), Some(cwd)) => leads_to(out, &crate::path::join(cwd, path)),
            (Some(path), None) if path.starts_with('/') => leads_to(out, path),
            (Some(_), None) => None,
            (None, _) => {
                out.lower(Degree::Opaque, format!("the directory `{}` of `{}`", value.shown(), invocation.by.name));
                None
            }
        };
    }
}

fn add_flag_effects(invocation: &mut Invocation) {
    let marks = invocation.flag_marks();
    add_extras(invocation, |_| true);
    for does in &mut invocation.does {
        does.marks.union(marks);
    }
}

/// Adds the named effects of the flags that `which` picks.
fn add_extras(invocation: &mut Invocation, which: impl Fn(&crate::knowledge::schema::Changes) -> bool) {
    let given = invocation.args.given.iter().filter(|given| which(&given.changes));
    let wanted: Vec<&crate::knowledge::schema::Text> = given.filter_map(|given| given.changes.extra.as_ref()).collect();
    let mut extras = Vec::new();
    for entry in &invocation.args.chain {
        extras.extend(entry.extras.iter().filter(|(name, _)| wanted.contains(&name)).map(|(_, does)| does.clone()));
    }
    invocation.does.extend(extras);
}
