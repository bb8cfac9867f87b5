//! JavaScript.

mod bind;
mod called;
mod fold;
mod visit;

use tree_sitter::Node;

use crate::names::{Meaning, Names};
use crate::reading::Reading;
use crate::tree::Source;
use crate::walk::Walk;

pub(crate) fn read<'t>(root: Node<'t>, source: Source<'t>) -> Reading {
    let mut reading = Reading::default();
    let names = bind::names(root, &source, &mut reading);
    if !matches!(names.meaning("require"), Meaning::Free) {
        reading.unclear("`require` is redefined");
    }
    for name in POWERFUL.iter().filter(|name| names.is_shadowed(name)) {
        reading.unclear(format!("`{name}` is redefined"));
    }
    if reading.imports.iter().any(|module| module.contains(':')) {
        reading.unclear("it imports a module from an address");
    }
    let mut walker = Walker { source, names, reading, calls_parameter: false, hands_on_computed: false };
    walker.visit(root);
    walker.finish()
}

/// Globals that do more than compute, modules among them that inline code has without importing them. Where the text's own
/// meaning of such a name does not reach, the global is meant.
// `function process() {}` inside one function does not hide the global everywhere else, so a second meaning makes the
// text unclear instead of harmless.
const POWERFUL: &[&str] = &[
    "eval",
    "Function",
    "process",
    "globalThis",
    "global",
    "module",
    "fetch",
    "child_process",
    "fs",
    "vm",
    "worker_threads",
    "cluster",
    "net",
    "http",
    "https",
    "inspector",
    "repl",
    "Reflect",
    "Proxy",
    "WebAssembly",
];

/// One text while it is read.
#[derive(Debug)]
struct Walker<'t> {
    source: Source<'t>,
    names: Names<'t>,
    reading: Reading,
    /// A function calls what it was given.
    calls_parameter: bool,
    /// A member whose name is not known is given to a function.
    hands_on_computed: bool,
}

impl Walker<'_> {
    fn finish(mut self) -> Reading {
        if self.calls_parameter && self.hands_on_computed {
            self.reading.unclear("it may call a member whose name it works out at run time");
        }
        self.reading
    }
}

/// The module that a call of `require` or `import` names.
fn module_name(text: &str) -> String {
    text.strip_prefix("node:").unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests;
