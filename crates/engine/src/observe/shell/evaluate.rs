//! Text that the shell reads as arithmetic, and what such text runs.

use doorward_vocabulary::Degree;

use super::poison::poison;
use super::runner::Runner;
use super::state::State;
use crate::observe::field::Field;
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::{Shape, Stream};

/// Subscripts in text that subscripts run are followed this deep.
// Bash evaluates `a[$(…)]` inside values that are themselves subscripts (shell-tricks-768).
const NESTED: u32 = 30;

/// Why nobody can say what such data does.
pub(crate) const READ_AS_NUMBER: &str = "unknown data read as arithmetic, which may run commands";

/// Values that name other values are followed this far.
// Arithmetic follows names: with `x=y` and `y=z`, `$((x))` reads `z`.
const STEPS: u32 = 4;

impl Runner<'_, '_> {
    /// Arithmetic evaluates the values of the variables it names, subscripts in them included.
    pub(crate) fn arithmetic<'a>(&mut self, arithmetic: &'a doorward_shell::Arithmetic, state: &mut State<'a>) {
        self.subscript(&arithmetic.word, state);
    }
}

/// Data that nobody has seen runs commands where a number is expected: `a[$(…)]`.
pub(crate) fn reads_as_number(out: &mut Observer<'_>) {
    out.lower(Degree::Opaque, READ_AS_NUMBER);
}

/// Text that the shell reads as arithmetic: in `$((…))`, a subscript, an offset, the value of a number.
pub(crate) fn evaluates(out: &mut Observer<'_>, text: &str, state: &mut State<'_>) {
    let assigned = assigned(text);
    let is_certain = !text.contains(['?', '&', '|']);
    for name in names(text) {
        match is_harmless(name, state, STEPS) {
            Harm::None => {}
            Harm::Unseen => reads_as_number(out),
            Harm::Runs => {
                out.lower(Degree::Opaque, format!("the value of `{name}` is evaluated as arithmetic and runs commands"))
            }
        }
    }
    for name in assigned {
        if crate::observe::names::is_poison(name) {
            poison(out, name, state);
        }
        let value = if is_certain { Stream::shaped(Shape::Token) } else { Stream::default() };
        state.set(name, value);
    }
    if runs_in_arithmetic(text) {
        out.lower(Degree::Opaque, "arithmetic that runs commands");
    }
}
impl Runner<'_, '_> {
    /// A name with a subscript that is only text to us: the shell expands it once more, so what it runs is judged.
    pub(crate) fn evaluated_subscript(&mut self, name: &str, state: &mut State<'_>) {
        let Some((_, subscript)) = name.split_once('[') else { return };
        let subscript = subscript.rsplit_once(']').map_or(subscript, |(inside, _)| inside);
        evaluates(self.out, &format!("[{subscript}"), state);
        if !subscript.contains(['$', '`', crate::observe::field::UNKNOWN]) {
            return;
        }
        self.out.lower(Degree::Opaque, "an evaluated subscript that may run commands");
        if self.depth < NESTED {
            let inner: State<'_> = state.clone();
            let part = self.out.outer.unwrap_or_default();
            let code = format!(": \"{}\"", subscript.replace('"', "\\\""));
            self.text_of(state.shell(), &code, &inner, Stream::empty(), part);
        }
    }

    /// The word names a variable that a builtin sets or asks for.
    pub(crate) fn names_variable(&mut self, word: &Field, by: &str, state: &mut State<'_>) -> Option<String> {
        self.evaluated_subscript(&word.text, state);
        match word.exact() {
            Some(name) => Some(name.split('[').next().unwrap_or(name).to_owned()),
            None => {
                self.out.lower(Degree::Opaque, format!("which variable `{by}` sets"));
                None
            }
        }
    }

    /// `[[ … ]]`: what stands beside an operator for numbers is arithmetic, and so is the subscript of a variable.
    pub(crate) fn double_bracket<'a>(&mut self, test: &'a doorward_shell::Test, state: &mut State<'a>) {
        let fields: Vec<_> = test.words.iter().map(|word| self.text(word, state)).collect();
        for field in fields.iter().filter(|field| runs_in_arithmetic(&field.text)) {
            self.evaluated_subscript(&field.text, state);
        }
        let is_number = |text: &str| matches!(text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
        let is_free = |field: &Field| field.dynamic && !field.shape.is_one_word();
        for triple in fields.windows(3) {
            if let [left, operator, right] = triple
                && is_number(&operator.text)
            {
                if is_free(left) || is_free(right) {
                    reads_as_number(self.out);
                }
                evaluates(self.out, &left.text, state);
                evaluates(self.out, &right.text, state);
            }
        }
        let asks = |pair: &[Field]| matches!(pair, [flag, name] if flag.text == "-v" && is_free(name));
        if fields.windows(2).any(asks) {
            reads_as_number(self.out);
        }
    }
}

/// What the value of a variable does in arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harm {
    None,
    /// Nobody has seen it.
    Unseen,
    Runs,
}

fn is_harmless(name: &str, state: &State<'_>, steps: u32) -> Harm {
    let Some(variable) = state.variables.get(name) else { return Harm::None };
    match (&variable.value.text, steps.checked_sub(1)) {
        (Some(text), _) if runs_in_arithmetic(text) => Harm::Runs,
        (Some(text), Some(steps)) => {
            let others = names(text).filter(|other| *other != name);
            others.map(|other| is_harmless(other, state, steps)).find(|harm| *harm != Harm::None).unwrap_or(Harm::None)
        }
        (Some(_), None) => Harm::Unseen,
        (None, _) if variable.value.shape.is_one_word() => Harm::None,
        (None, _) => Harm::Unseen,
    }
}

/// The names in a text that is arithmetic.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
        .filter(|name| !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit()))
}

/// The variables that arithmetic sets.
fn assigned(text: &str) -> Vec<&str> {
    let is_set = |name: &&str| {
        let at = name.as_ptr().addr().saturating_sub(text.as_ptr().addr());
        let before = text.get(..at).unwrap_or_default().trim_end();
        let after = text.get(at.saturating_add(name.len())..).unwrap_or_default();
        // `a[1]=2` sets the array.
        let after = after.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(after, |(_, rest)| rest);
        let after = after.trim_start();
        let rest = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '^', '|', '<', '>']);
        let compares = after.starts_with("==") || after.starts_with("<=") || after.starts_with(">=");
        before.ends_with("++")
            || before.ends_with("--")
            || after.starts_with("++")
            || after.starts_with("--")
            || (rest.starts_with('=') && !rest.starts_with("==") && !compares)
    };
    names(text).filter(is_set).collect()
}

/// A subscript with a substitution in it.
fn runs_in_arithmetic(text: &str) -> bool {
    text.contains('[') && (text.contains("$(") || text.contains('`'))
}
