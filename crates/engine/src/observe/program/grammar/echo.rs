//! Programs that print or compare their operands: `echo`, `test`.

use doorward_shell::Dialect;
use doorward_vocabulary::Degree;

use super::super::Invocation;
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::paths::words::is_plain_inside;
use crate::observe::program::findings::Findings;
use crate::observe::shell::evaluate::READ_AS_NUMBER;
use crate::observe::shell::state::State;
use crate::observe::stream::{Shape, Stream};
use crate::world::World;

/// The output is the operands, so what is piped into a shell can be read.
pub(super) fn echo(world: &dyn World, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
    let texts: Option<Vec<&str>> = invocation.args.operands.iter().map(Field::known).collect();
    let plain = invocation.args.given.iter().all(|given| given.name == "-n") && invocation.args.unknown.is_empty();
    let end = if invocation.args.given.is_empty() { "\n" } else { "" };
    // Other shells than bash read these even without `-e`, and dash prints the flags.
    let by_bash = state.dialect == Dialect::Bash;
    let plain = plain && (by_bash || invocation.args.given.is_empty());
    let escapes = |text: &&str| {
        ["\\n", "\\r", "\\c", "\\0", "\\x"].iter().any(|escape| text.contains(escape))
            || (!by_bash && text.contains('\\'))
    };
    let globs = invocation.args.operands.iter().any(|field| field.glob);
    invocation.output = match texts {
        // What the shell puts in place of a pattern is printed, not the pattern.
        Some(_) if globs && invocation.args.given.is_empty() => {
            Stream::shaped(listed(world, &invocation.args.operands, invocation.cwd.as_deref()))
        }
        Some(_) if globs => Stream::default(),
        Some(texts) if plain && !texts.iter().any(escapes) => Stream::known(format!("{}{end}", texts.join(" "))),
        Some(_) | None => Stream::default(),
    };
    invocation.passes_input = false;
    Findings::default()
}

/// Patterns inside the project yield its paths.
pub(crate) fn listed(world: &dyn World, words: &[Field], cwd: Option<&str>) -> Shape {
    let inside = words.iter().all(|field| field.glob && is_plain_inside(field, cwd, world));
    match words.iter().any(|field| field.text.starts_with(['*', '?', '['])) {
        _ if !inside || words.is_empty() => Shape::Any,
        true => Shape::ProjectNames,
        false => Shape::ProjectPaths,
    }
}

/// Operands are compared, never run; a subscript in them is evaluated all the same.
pub(super) fn test(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    for field in &invocation.args.operands {
        found.evaluate(field.text.clone());
    }
    let is_free = |field: &Field| field.dynamic && !field.shape.is_one_word();
    let asks = |pair: &[Field]| matches!(pair, [flag, name] if flag.text == "-v" && is_free(name));
    if invocation.args.operands.windows(2).any(asks) {
        found.doubt(Degree::Opaque, READ_AS_NUMBER);
    }
    invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
    invocation.passes_input = false;
    found
}
