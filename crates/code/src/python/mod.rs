//! Python.

mod bind;
mod called;
mod edits;
mod fold;
mod visit;

use std::cell::Cell;

use tree_sitter::Node;

use crate::names::Names;
use crate::reading::Reading;
use crate::tree::Source;
use crate::walk::Walk;

/// Looking for edits takes at most so many steps.
// A script of a hundred replacements takes a tenth of it.
const EDIT_STEPS: u32 = 5_000;

pub(crate) fn read<'t>(root: Node<'t>, source: Source<'t>) -> Reading {
    let mut reading = Reading::default();
    let names = bind::names(root, &source, &mut reading);
    let calls_parameter = called::calls_parameter(root, &source, &names);
    let mut walker = Walker { source, names, reading, calls_parameter, edit_steps: Cell::new(EDIT_STEPS) };
    walker.visit(root);
    walker.reading.edits = edits::edits(&walker, root);
    walker.reading
}

/// One text while it is read.
#[derive(Debug)]
struct Walker<'t> {
    source: Source<'t>,
    names: Names<'t>,
    reading: Reading,
    /// A function calls what it was given.
    calls_parameter: bool,
    /// So many steps are left for finding out what is written back.
    edit_steps: Cell<u32>,
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
