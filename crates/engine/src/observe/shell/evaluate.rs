//! Text that the shell reads as arithmetic, and what such text runs.

use super::run::Runner;
use super::state::State;
use crate::coverage::Degree;

impl Runner<'_, '_> {
    /// Arithmetic evaluates the values of the variables it names, subscripts in them included.
    pub fn arithmetic<'a>(&mut self, arithmetic: &'a doorward_shell::Arithmetic, state: &mut State<'a>) {
        let field = self.text(&arithmetic.word, state);
        self.evaluates(&field.text, state);
    }

    /// Text that the shell reads as arithmetic: in `$((…))`, a subscript, an offset, the value of a number.
    pub fn evaluates(&mut self, text: &str, state: &mut State<'_>) {
        let assigns = text.contains('=') || text.contains("++") || text.contains("--");
        for name in text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_') {
            if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
                continue;
            }
            let value = state.variables.get(name).and_then(|variable| variable.value.text.as_deref());
            if value.is_some_and(runs_in_arithmetic) {
                self.out
                    .lower(Degree::Opaque, format!("the value of `{name}` is evaluated as arithmetic and runs text"));
            }
            if assigns && crate::observe::names::is_poison(name) {
                self.poison(name, state);
            } else if assigns && state.variables.contains_key(name) {
                state.forget(name);
            }
        }
        if runs_in_arithmetic(text) {
            self.out.lower(Degree::Opaque, "arithmetic that runs text");
        }
    }

    /// `[[ … ]]`: what stands beside an operator for numbers is arithmetic.
    pub fn double_bracket<'a>(&mut self, test: &'a doorward_shell::Test, state: &mut State<'a>) {
        let fields: Vec<_> = test.words.iter().map(|word| self.text(word, state)).collect();
        for field in &fields {
            if runs_in_arithmetic(&field.text) {
                self.out.lower(Degree::Opaque, "a test that evaluates a subscript");
            }
        }
        let is_number = |text: &str| matches!(text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
        for triple in fields.windows(3) {
            if let [left, operator, right] = triple
                && is_number(&operator.text)
            {
                self.evaluates(&left.text, state);
                self.evaluates(&right.text, state);
            }
        }
    }
}

/// A subscript with a substitution in it.
fn runs_in_arithmetic(text: &str) -> bool {
    text.contains('[') && (text.contains("$(") || text.contains('`'))
}
