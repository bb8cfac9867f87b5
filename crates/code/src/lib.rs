//! Inline Python and JavaScript to calls and imports. Knows nothing of risk.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
#![forbid(unsafe_code)]

mod javascript;
mod names;
mod python;
mod reading;
mod tree;
mod value;
mod walk;

pub use reading::{Edit, Reading, Replacement, Use};
pub use value::{HOME, UNKNOWN, Value};

/// Languages that are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    JavaScript,
}

/// Longer texts are not read.
// Inline code is a few lines, files that are read through rarely more than a thousand. Parsing is linear, but the
// engine may read one file several times in a call.
pub const TEXT_LIMIT: usize = 64 * 1024;

/// Lists every import, call and handed-on function of a text. What cannot be followed is said in `unclear`.
pub fn read(text: &str, language: Language) -> Reading {
    if text.len() > TEXT_LIMIT {
        return Reading::not_read("the code is too long");
    }
    let (grammar, walk): (tree_sitter::Language, tree::Reader) = match language {
        Language::Python => (tree_sitter_python::LANGUAGE.into(), python::read),
        Language::JavaScript => (tree_sitter_javascript::LANGUAGE.into(), javascript::read),
    };
    match tree::parse(text, &grammar) {
        Ok(tree) => walk(tree.root_node(), tree::Source { text }),
        Err(problem) => Reading::not_read(problem),
    }
}
