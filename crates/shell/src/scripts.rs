//! The scripts that stand directly in words: substitutions at every site.

use crate::{Assignment, Parameter, ParameterOperation, Part, Script, Value, Word};

/// Calls `each` for every script in the words, in the order of the text, but not for those inside these scripts.
pub(crate) fn in_words<'a>(words: &'a [Word], each: &mut dyn FnMut(&'a Script)) {
    words.iter().for_each(|word| in_word(word, each));
}

pub(crate) fn in_assignment<'a>(assignment: &'a Assignment, each: &mut dyn FnMut(&'a Script)) {
    assignment.subscript.iter().for_each(|word| in_word(word, each));
    match &assignment.value {
        Value::Scalar(value) => in_word(value, each),
        Value::Array(elements) => {
            for element in elements {
                element.subscript.iter().for_each(|word| in_word(word, each));
                in_word(&element.value, each);
            }
        }
    }
}

pub(crate) fn in_word<'a>(word: &'a Word, each: &mut dyn FnMut(&'a Script)) {
    for part in &word.parts {
        match part {
            Part::Text { .. } | Part::Glob(_) | Part::Tilde(_) | Part::Range(_) => {}
            Part::Alternatives(alternatives) => in_words(alternatives, each),
            Part::Parameter(found) => in_parameter(found, each),
            Part::Substitution { script, .. } | Part::Process { script, .. } => each(script),
            Part::Arithmetic { arithmetic, .. } => in_word(&arithmetic.word, each),
        }
    }
}

fn in_parameter<'a>(parameter: &'a Parameter, each: &mut dyn FnMut(&'a Script)) {
    parameter.subscript.iter().for_each(|word| in_word(word, each));
    match &parameter.operation {
        None | Some(ParameterOperation::Transform(_) | ParameterOperation::Names) => {}
        Some(
            ParameterOperation::Default(operand)
            | ParameterOperation::AssignDefault(operand)
            | ParameterOperation::Require(operand)
            | ParameterOperation::Alternative(operand)
            | ParameterOperation::Trim(operand)
            | ParameterOperation::Case(operand),
        ) => in_word(operand, each),
        Some(ParameterOperation::Replace { pattern, replacement }) => {
            in_word(pattern, each);
            in_word(replacement, each);
        }
        Some(ParameterOperation::Slice { offset, length }) => {
            in_word(offset, each);
            length.iter().for_each(|word| in_word(word, each));
        }
    }
}
