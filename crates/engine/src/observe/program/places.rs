//! Programs that print where a tool chain keeps something: a path that nobody has to know to read below it.

use super::Invocation;
use super::args::{Args, Given};
use crate::knowledge::schema::{Facet, Sense};
use crate::observe::field::Field;
use crate::observe::paths::words::is_ours;
use crate::observe::shell::state::State;
use crate::observe::stream::Shape;
use crate::world::World;

/// The command prints the place of a tool chain and nothing else.
// A place that a setting or a variable moved is judged where it is moved: `go env -w` and `GOMODCACHE=…` ask by themselves.
pub(super) fn prints_a_place(invocation: &Invocation, state: &State<'_>, world: &dyn World) -> bool {
    let args = &invocation.args;
    if !args.unknown.is_empty() || !args.unreadable.is_empty() || args.unknown_sub.is_some() || !args.rest.is_empty() {
        return false;
    }
    // A variable that programs see may have moved the place, and so may the settings of another directory.
    if !is_ours(invocation.cwd.as_deref(), world)
        || state.exports_all
        || state.variables.values().any(|variable| variable.exported)
    {
        return false;
    }
    if args.is(Facet::ResolvesLinks) {
        return matches!(args.operands.as_slice(), [operand] if is_whole_place(operand)) && !args.has_any(&["-z"]);
    }
    args.words(Sense::PrintPlace).iter().any(|question| asks(question, invocation, args))
}

/// `realpath "$(which node)"` is the same place without links; `dirname` would be one that nobody named.
fn is_whole_place(operand: &Field) -> bool {
    operand.shape == Shape::Place
}

/// The words of the command are those of the question: subcommands and operands in their order, `-flag=value` given, and `*`
/// for any names.
fn asks(question: &str, invocation: &Invocation, args: &Args) -> bool {
    let (flags, words): (Vec<&str>, Vec<&str>) = question.split(',').partition(|word| word.starts_with('-'));
    let mut left: Vec<&str> = invocation.by.name.split(' ').skip(1).collect();
    for operand in &args.operands {
        match operand.exact().filter(|text| is_name(text)) {
            Some(text) => left.push(text),
            None => return false,
        }
    }
    let (words, is_open) = match words.split_last() {
        Some((&"*", before)) => (before, true),
        Some(_) | None => (words.as_slice(), false),
    };
    let is_said = left.get(..words.len()) == Some(words) && (is_open || left.len() == words.len());
    let is_flag = |given: &&Given, flag: &str| match flag.split_once('=') {
        Some((name, value)) => given.name == name && given.value.as_ref().and_then(Field::exact) == Some(value),
        None => given.name == flag && given.value.is_none(),
    };
    // A flag with a value may say where the place is.
    let is_plain = |given: &Given| given.value.is_none() || flags.iter().any(|flag| is_flag(&given, flag));
    let is_given = |flag: &&str| args.given.iter().any(|given| is_flag(&given, flag));
    is_said && flags.iter().all(is_given) && args.given.iter().all(is_plain)
}

/// A name that the program looks up, and no path that it prints as it came.
fn is_name(text: &str) -> bool {
    !text.starts_with(['.', '/', '~', '-']) && !text.contains("..")
}
