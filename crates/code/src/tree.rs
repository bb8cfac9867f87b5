//! Reading a syntax tree: kinds, fields, text, and a limit on how deep it may go.

use tree_sitter::{Language, Node, Parser, Tree};

use crate::reading::Reading;

/// Deeper trees are not followed.
// The walkers below recurse once per level. A sum of 200 terms is that deep, so generated tables stay readable.
pub(crate) const DEPTH: usize = 200;

/// A text with its tree.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    pub text: &'t str,
}

/// Reads the tree of a text.
pub(crate) type Reader = for<'t> fn(Node<'t>, Source<'t>) -> Reading;

/// Parses, or says why not.
pub(crate) fn parse(text: &str, language: &Language) -> Result<Tree, &'static str> {
    let mut parser = Parser::new();
    parser.set_language(language).map_err(|_| "doorward's grammar of this language can't be used")?;
    let tree = parser.parse(text, None).ok_or("the code can't be parsed")?;
    // A parser that recovers guesses. What stands behind an error may mean anything to the real interpreter.
    if tree.root_node().has_error() {
        return Err("the code has a syntax error");
    }
    if too_deep(tree.root_node()) {
        return Err("the code is nested too deeply");
    }
    Ok(tree)
}

/// Walks without recursion, so that no text can exhaust the stack.
fn too_deep(root: Node<'_>) -> bool {
    let mut cursor = root.walk();
    let mut depth = 0usize;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > DEPTH {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}

impl<'t> Source<'t> {
    pub(crate) fn of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

/// The children that have names in the grammar, comments left out.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

pub(crate) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// All children of one field.
pub(crate) fn fields<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(name, &mut cursor).filter(|child| child.is_named()).collect()
}

/// Calls `visit` for a node and everything below it, parents first.
pub(crate) fn each<'t>(node: Node<'t>, visit: &mut impl FnMut(Node<'t>)) {
    visit(node);
    for child in children(node) {
        each(child, visit);
    }
}

/// Some use of a name, anywhere in the text, does not pass `test`.
pub(crate) fn any_other_use<'t>(source: &Source<'t>, name: Node<'t>, test: impl Fn(Node<'t>) -> bool) -> bool {
    let wanted = source.of(name);
    let mut root = name;
    while let Some(parent) = root.parent() {
        root = parent;
    }
    let mut found = false;
    each(root, &mut |node| {
        if node.kind() == "identifier" && source.of(node) == wanted {
            found |= !test(node);
        }
    });
    found
}
