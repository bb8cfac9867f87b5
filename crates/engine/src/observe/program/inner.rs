//! Commands inside commands: what a wrapper is told to run, with the wrapper's marks on it.

use std::rc::Rc;

use doorward_vocabulary::Marks;

use super::{Invocation, Start, run};
use crate::observe::field::Field;
use crate::observe::paths::words::is_plain_inside;
use crate::observe::shell::code::runs_data;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Origin;

/// `fd -x command`: the found paths are put in place of `{}` or at the end.
pub(crate) fn placed_command(
    runner: &mut Runner<'_, '_>,
    mut words: Vec<Field>,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    use crate::observe::field::UNKNOWN;
    use crate::observe::stream::Shape;
    let cwd = invocation.cwd.as_deref();
    let starts = invocation.args.operands.get(1..).unwrap_or_default();
    let inside = starts.iter().all(|start| is_plain_inside(start, cwd, runner.out.world))
        && !invocation.args.has_any(&["--search-path", "-L", "--follow"]);
    let found = Field {
        text: UNKNOWN.to_string(),
        dynamic: true,
        many: true,
        shape: if searches_secrets(invocation) || !inside { Shape::Any } else { Shape::ProjectPaths },
        ..Field::default()
    };
    words.retain(|word| word.text != ";");
    let mut placed = false;
    for word in &mut words {
        if word.text.starts_with("{") && word.text.ends_with("}") {
            *word = Field { span: word.span, ..found.clone() };
            placed = true;
        }
    }
    if !placed {
        words.push(found);
    }
    inner_command(runner, words, invocation, state);
}

/// The words are a command of their own.
pub(crate) fn inner_command(
    runner: &mut Runner<'_, '_>,
    words: Vec<Field>,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let mut inner: State<'_> = state.clone();
    inner.cwd = invocation.cwd.as_deref().map(Rc::from);
    inner.functions = Rc::default();
    for (name, value) in &invocation.environment {
        inner.set(name, value.clone());
        inner.export(name);
    }
    let command = Start { words: &words, input: invocation.input.clone(), part: invocation.by.part };
    runner.depth += 1;
    let manner = std::mem::take(&mut runner.manner);
    let (output, mut caused) = runner.collect(|runner| run(runner, command, &mut inner));
    runner.manner = manner;
    runner.depth -= 1;
    state.written = inner.written;
    state.git = inner.git;
    caused.mark(wrapper_marks(invocation));
    runner.out.write(caused);
    invocation.output = output;
}

pub(crate) fn inner_shell(
    runner: &mut Runner<'_, '_>,
    words: &[Field],
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let texts: Option<Vec<&str>> = words.iter().map(Field::known).collect();
    match texts {
        Some(texts) => {
            let (text, input, part) = (texts.join(" "), invocation.input.clone(), invocation.by.part);
            let (output, mut caused) = runner.collect(|runner| runner.subshell_text(&text, state, input, part));
            caused.mark(wrapper_marks(invocation));
            runner.out.write(caused);
            invocation.output = output;
        }
        None => {
            let origin = words.iter().fold(Origin::default(), |all, field| all.and(field.origin));
            runs_data(runner.out, origin, &invocation.by.clone());
        }
    }
}

/// A whole command line: the wrapper runs it and nothing else.
pub(crate) fn inner_line(
    runner: &mut Runner<'_, '_>,
    field: &Field,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let ((), mut caused) = runner.collect(|runner| shell_code(runner, field, invocation, state));
    caused.mark(wrapper_marks(invocation));
    runner.out.write(caused);
}

/// What a wrapper says about everything it starts.
fn wrapper_marks(invocation: &Invocation) -> Marks {
    use crate::knowledge::schema::{Condition, Does};
    let applies = |does: &&Does| !matches!(does.condition, Condition::Alone | Condition::Bare);
    invocation.does.iter().filter(applies).fold(Marks::default(), |mut all, does| {
        all.union(does.marks);
        all
    })
}

/// `fd -H '^.env' -x cat`: hidden files, or names that may be those of secrets.
fn searches_secrets(invocation: &Invocation) -> bool {
    let args = &invocation.args;
    let endings = ["-e", "--extension"].iter().filter_map(|flag| args.value(flag));
    let words = args.operands.first().into_iter().chain(endings);
    args.has_any(&["-H", "--hidden", "-u", "--unrestricted"])
        || words.into_iter().any(|word| word.exact().is_none_or(crate::observe::paths::globs::may_find_sensitive))
}

/// A text that a shell of its own runs.
pub(crate) fn shell_code(
    runner: &mut Runner<'_, '_>,
    field: &Field,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    match field.known() {
        Some(text) if !field.origin.download => {
            let mut inner: State<'_> = state.clone();
            inner.cwd = invocation.cwd.as_deref().map(Rc::from);
            let output = runner.subshell_text(text, &inner, invocation.input.clone(), invocation.by.part);
            invocation.output = output;
        }
        Some(_) | None => {
            let by = invocation.by.clone();
            runs_data(runner.out, field.origin, &by);
        }
    }
}
