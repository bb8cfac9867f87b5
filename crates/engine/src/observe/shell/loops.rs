//! Loop variables: what they can be, and what a body that runs again makes of the others.

use doorward_shell::{Command, CommandKind, Script, Value};

use super::grammar::Builtin;
use super::state::State;
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::{Origin, Shape, Stream};

/// What a loop variable can be: globs inside the project yield paths of the project.
pub(crate) fn loop_value(
    out: &Observer<'_>,
    words: Option<&[crate::observe::field::Field]>,
    origin: Origin,
    cwd: Option<&str>,
) -> Stream {
    let is_inside = |field: &crate::observe::field::Field| {
        crate::observe::paths::words::is_plain_inside(field, cwd, out.world)
            || (field.dynamic
                && matches!(field.shape, Shape::ProjectPaths | Shape::Matched)
                && field.prefix().is_empty())
    };
    let is_matched = |field: &crate::observe::field::Field| {
        is_inside(field) && (field.glob || field.shape == Shape::Matched) && out.links.is_empty()
    };
    let is_name = |field: &crate::observe::field::Field| {
        is_inside(field) || (field.dynamic && field.shape == Shape::ProjectNames && field.prefix().is_empty())
    };
    let shape = match words {
        None | Some([]) => Shape::Any,
        Some(fields) if fields.iter().all(|field| field.shape == Shape::Token && field.dynamic) => Shape::Token,
        Some(fields) if fields.iter().all(is_matched) => Shape::Matched,
        Some(fields) if fields.iter().all(is_inside) => Shape::ProjectPaths,
        Some(fields) if fields.iter().all(is_name) => Shape::ProjectNames,
        Some(_) => Shape::Any,
    };
    Stream { shape, ..Stream::unknown(origin) }
}

/// Variables that a loop body sets are not known on its second round, except that a count stays a count.
pub(crate) fn forget_assigned<'a>(script: &'a Script, state: &mut State<'a>) {
    let (mut names, mut counts) = (Vec::new(), Vec::new());
    doorward_shell::walk(script, &mut |command: &Command| {
        if let CommandKind::Simple(simple) = &command.kind {
            for assignment in &simple.assignments {
                let counted = is_count(&assignment.value) && !assignment.append && assignment.subscript.is_none();
                if counted { &mut counts } else { &mut names }.push(assignment.name.clone());
            }
            let mut words = simple.words.iter().filter_map(|word| match word.parts.as_slice() {
                [doorward_shell::Part::Text { text, .. }] => Some(text.as_str()),
                [] | [..] => None,
            });
            if words.next().and_then(Builtin::named).is_some_and(Builtin::assigns) {
                names.extend(words.map(|word| word.split('=').next().unwrap_or(word).to_owned()));
            }
        }
        if let CommandKind::For(inner) = &command.kind {
            names.push(inner.name.clone());
        }
    });
    for name in &names {
        if state.variables.contains_key(name) {
            state.forget(name);
        }
    }
    for name in counts.iter().filter(|name| !names.contains(name)) {
        let Some(variable) = state.variables.get(name) else { continue };
        let value = if variable.value.is_number() { Stream::shaped(Shape::Token) } else { Stream::default() };
        state.set(name, value);
    }
}

/// Digits, or the result of arithmetic.
fn is_count(value: &Value) -> bool {
    let Value::Scalar(word) = value else { return false };
    match word.parts.as_slice() {
        [doorward_shell::Part::Arithmetic { .. }] => true,
        [doorward_shell::Part::Text { text, .. }] => text.bytes().all(|byte| byte.is_ascii_digit()),
        [] | [..] => false,
    }
}
