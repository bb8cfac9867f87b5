//! What the words of an invocation do by the tables: the values of flags, then the operands.

use super::Invocation;
use super::findings::Findings;
use super::grammar::PYTHON;
use crate::knowledge::schema::{Facet, Role};
use crate::observe::field::Field;

/// What the values that flags took do.
pub(super) fn flag_values(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let is_verbatim = invocation.args.is(Facet::RunsVerbatim);
    let args = &mut invocation.args;
    for (field, role) in args.given.iter().filter_map(|given| given.value.as_ref().map(|value| (value, given.role))) {
        if matches!(role, Role::CodeSh | Role::Execute) {
            found.start(field.clone());
        } else if role == Role::Line {
            found.run_line(field.clone());
        } else if role == Role::Command && is_verbatim {
            found.run(std::mem::take(&mut args.rest));
        } else if role == Role::Command {
            found.run_placed(std::mem::take(&mut args.rest));
        } else if role == Role::Into {
            found.put_into(field.clone(), None);
        } else {
            found.role(field.clone(), role);
            found.extend(others_of_list(field, role));
        }
    }
    found
}

/// `-cp build:/tmp/x`, `--require a,/tmp/x`: the others of a list are loaded as well.
fn others_of_list(field: &Field, role: Role) -> Findings {
    let mut found = Findings::default();
    if matches!(role, Role::Script | Role::Config) {
        for other in field.text.split([':', ',']).skip(1).filter(|piece| piece.starts_with(['/', '~', '.'])) {
            found.role(field.with_text(other), role);
        }
    }
    found
}

/// What the operands do; one that starts another command is the last.
pub(super) fn operands(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let operands = &invocation.args.operands;
    for (index, (field, role)) in operands.iter().zip(&invocation.roles).enumerate() {
        let rest = || operands.get(index..).unwrap_or_default().to_vec();
        if *role == Role::Command {
            let mut words = rest();
            // `uv run tool.py`: such a file is given to Python, not started.
            if invocation.args.is(Facet::RunsPythonFiles) && field.exact().is_some_and(|text| text.ends_with(".py")) {
                words.insert(0, Field::literal(PYTHON, field.span));
            }
            found.run_in_environment(words);
            return found;
        }
        if *role == Role::Shell {
            found.run_joined(rest());
            return found;
        }
        if *role == Role::Into {
            found.put_into(field.clone(), Some(index));
        } else {
            found.role(field.clone(), *role);
        }
    }
    found
}

/// Programs that work on the current directory if no path is named.
pub(super) fn default_operand(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let Some(default) = invocation.args.entry().and_then(|entry| entry.default.clone()) else { return found };
    let is_path = |role: &Role| {
        matches!(role, Role::Read | Role::Print | Role::ReadTree | Role::List | Role::Edit | Role::Create | Role::Write)
    };
    let wanted = default.given.is_empty() || default.given.iter().any(|flag| invocation.args.has(flag));
    let unwanted = default.unless.iter().any(|flag| invocation.args.has(flag));
    if wanted && !unwanted && !invocation.roles.iter().any(is_path) {
        found.role(Field::literal(".", doorward_shell::Span::default()), default.role);
    }
    found
}
