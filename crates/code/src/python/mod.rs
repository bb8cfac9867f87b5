//! Python.

mod bind;
mod called;
mod fold;
mod visit;

use crate::names::Names;
use crate::reading::Reading;
use crate::tree::{self, Source};

pub(crate) fn read(text: &str) -> Reading {
    let tree = match tree::parse(text, &tree_sitter_python::LANGUAGE.into()) {
        Ok(tree) => tree,
        Err(problem) => return Reading::not_read(problem),
    };
    let source = Source { text };
    let mut reading = Reading::default();
    let names = bind::names(tree.root_node(), &source, &mut reading);
    let calls_parameter = called::calls_parameter(tree.root_node(), &source, &names);
    let mut reader = Walker { source, names, reading, calls_parameter };
    reader.visit(tree.root_node());
    reader.reading
}

/// One text while it is read.
#[derive(Debug)]
struct Walker<'t> {
    source: Source<'t>,
    names: Names<'t>,
    reading: Reading,
    /// A function calls what it was given.
    calls_parameter: bool,
}

/// Built-ins that do more than compute, under any name that hides them.
fn is_powerful(name: &str) -> bool {
    // They open files, run text or reach any attribute by its name, so a new meaning of such a name hides the most.
    matches!(
        name,
        "open"
            | "exec"
            | "eval"
            | "compile"
            | "getattr"
            | "setattr"
            | "delattr"
            | "globals"
            | "locals"
            | "__import__"
            | "__builtins__"
            | "__loader__"
            | "__spec__"
            | "type"
            | "vars"
            | "breakpoint"
            | "help"
    )
}

#[cfg(test)]
mod tests;
