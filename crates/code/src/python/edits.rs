//! Files that a text reads, changes by literal replacements and writes back: what it takes out and puts in.

use tree_sitter::Node;

use super::Walker;
use crate::names::Binding;
use crate::reading::{Edit, Replacement};
use crate::tree::{children, each, field};
use crate::value::{UNKNOWN, Value};
use crate::walk::Walk;

/// Names that stand for other names are followed this far.
// One script changes a text a dozen times under one name; each step is one name or one method.
const STEPS: u32 = 40;

/// Texts with more calls are no edits.
// Each write looks for its handle in the whole text; an edit has some dozens of calls.
const CALLS: usize = 300;

/// Text that came out of one file, and what was done to it on the way.
#[derive(Clone, Debug, Default)]
struct FileText {
    /// `None` for a name that only refers to itself: whatever it is otherwise counts.
    path: Option<String>,
    replaced: Vec<Replacement>,
}

impl FileText {
    fn and(mut self, other: FileText) -> Option<FileText> {
        let is_same = self.path.is_none() || other.path.is_none() || self.path == other.path;
        self.path = self.path.or(other.path);
        self.replaced.extend(other.replaced);
        is_same.then_some(self)
    }

    fn with(mut self, replacement: Replacement) -> FileText {
        self.replaced.push(replacement);
        self
    }
}

/// Every file of which all that is written back is its own text with known replacements.
pub(super) fn edits<'t>(walker: &Walker<'t>, root: Node<'t>) -> Vec<Edit> {
    let mut written: Vec<(String, Option<Vec<Replacement>>)> = Vec::new();
    let mut opened: Vec<String> = Vec::new();
    let mut sites = 0;
    each(root, &mut |node| sites += usize::from(node.kind() == "call"));
    if sites > CALLS {
        return Vec::new();
    }
    each(root, &mut |node| {
        if node.kind() != "call" {
            return;
        }
        if let Some((path, true)) = walker.opened(node) {
            opened.push(path);
        }
        if let Some((path, value)) = walker.written(node) {
            let text = value.and_then(|value| walker.file_text(value, &mut Vec::new(), STEPS));
            let replaced = text.filter(|text| text.path.as_ref() == Some(&path)).map(|text| text.replaced);
            written.push((path, replaced));
        }
    });
    let mut edits: Vec<Edit> = Vec::new();
    for (path, _) in &written {
        let all: Option<Vec<_>> =
            written.iter().filter(|(other, _)| other == path).map(|(_, replaced)| replaced.clone()).collect();
        // A file that is opened to be written and gets nothing is emptied.
        let opens = opened.iter().filter(|other| *other == path).count();
        let writes = written.iter().filter(|(other, _)| other == path).count();
        if let Some(all) = all.filter(|_| writes >= opens && !edits.iter().any(|edit| edit.path == *path)) {
            edits.push(Edit { path: path.clone(), replaced: all.into_iter().flatten().collect() });
        }
    }
    edits
}

impl<'t> Walker<'t> {
    /// Names that lead to many others are given up on.
    fn may_go_on(&self) -> bool {
        self.edit_steps.set(self.edit_steps.get().saturating_sub(1));
        self.edit_steps.get() > 0
    }

    /// `open(path)` with a literal path, and whether it is emptied to be written.
    fn opened(&self, call: Node<'t>) -> Option<(String, bool)> {
        let function = field(call, "function")?;
        if !matches!(self.dotted(function)?.as_str(), "open" | "io.open" | "codecs.open") {
            return None;
        }
        let arguments = children(field(call, "arguments")?);
        let is_key = |node: &Node<'t>| node.kind() == "keyword_argument";
        let plain: Vec<Node<'t>> = arguments.iter().copied().filter(|node| !is_key(node)).collect();
        let named = |wanted: &str| {
            let is_it = |node: &&Node<'t>| field(**node, "name").is_some_and(|name| self.source.of(name) == wanted);
            arguments.iter().filter(|node| is_key(node)).find(is_it).and_then(|node| field(*node, "value"))
        };
        let mode = plain.get(1).copied().or_else(|| named("mode")).map(|mode| self.value(mode));
        let is_write = match mode {
            None => false,
            Some(Value::Text(mode)) if matches!(mode.as_str(), "r" | "rt") => false,
            Some(Value::Text(mode)) if matches!(mode.as_str(), "w" | "wt") => true,
            Some(_) => return None,
        };
        self.literal_path(*plain.first()?).map(|path| (path, is_write))
    }

    fn literal_path(&self, node: Node<'t>) -> Option<String> {
        let value = self.value(node);
        value.text().filter(|path| !path.is_empty() && !path.contains(UNKNOWN)).map(str::to_owned)
    }

    /// `open(p, 'w').write(x)`, `f.write(x)`, `Path(p).write_text(x)`: the path, and what is written.
    fn written(&self, call: Node<'t>) -> Option<(String, Option<Node<'t>>)> {
        let function = field(call, "function").filter(|function| function.kind() == "attribute")?;
        let object = field(function, "object")?;
        let arguments = children(field(call, "arguments")?);
        let first = arguments.first().copied();
        match self.source.of(field(function, "attribute")?) {
            "write" => {
                let value = first.filter(|_| arguments.len() == 1);
                self.handle(object).map(|path| (path, value))
            }
            "writelines" => self.handle(object).map(|path| (path, None)),
            "write_text" => {
                let keys = arguments.iter().skip(1).all(|node| node.kind() == "keyword_argument");
                self.literal_path(object).map(|path| (path, first.filter(|_| keys)))
            }
            "write_bytes" => self.literal_path(object).map(|path| (path, None)),
            _ => None,
        }
    }

    /// The path of the file that a handle is of: an `open(…)`, or a name that is given to nothing else.
    fn handle(&self, node: Node<'t>) -> Option<String> {
        if node.kind() == "call" {
            return self.opened(node).map(|(path, _)| path);
        }
        if node.kind() != "identifier" {
            return None;
        }
        let name = self.source.of(node);
        let mut paths: Vec<Option<String>> = Vec::new();
        each(root_of(node), &mut |below| {
            let (named, value) = match below.kind() {
                "as_pattern" => (field(below, "alias"), children(below).first().copied()),
                "assignment" => (field(below, "left"), field(below, "right")),
                _ => return,
            };
            if named.is_some_and(|named| self.source.of(named) == name) {
                paths.push(value.and_then(|value| self.opened(value)).map(|(path, _)| path));
            }
        });
        let first = paths.first().cloned().flatten()?;
        let is_only = self.names.bindings(name).len() == paths.len();
        (is_only && paths.iter().all(|path| path.as_ref() == Some(&first))).then_some(first)
    }

    /// The text of a file, with what was replaced in it; `seen` are the names that are being looked up.
    fn file_text(&self, node: Node<'t>, seen: &mut Vec<&'t str>, steps: u32) -> Option<FileText> {
        let steps = steps.checked_sub(1).filter(|_| self.may_go_on())?;
        match node.kind() {
            "parenthesized_expression" => self.file_text(*children(node).first()?, seen, steps),
            "conditional_expression" => match children(node).as_slice() {
                [yes, _, no] => self.file_text(*yes, seen, steps)?.and(self.file_text(*no, seen, steps)?),
                _ => None,
            },
            "binary_operator" => self.joined_text(&summands(node)?, seen, steps),
            "identifier" => self.named_text(self.source.of(node), seen, steps),
            "call" => self.called_text(node, seen, steps),
            _ => None,
        }
    }

    /// Texts that are joined by `+`; a text that is cut in two has both of its parts there.
    fn joined_text(&self, parts: &[Node<'t>], seen: &mut Vec<&'t str>, steps: u32) -> Option<FileText> {
        let cut = |node: &Node<'t>| {
            let slice =
                field(*node, "subscript").filter(|part| node.kind() == "subscript" && part.kind() == "slice")?;
            let (before, after) = self.source.of(slice).split_once(':')?;
            Some((field(*node, "value")?, before.trim(), after.trim()))
        };
        if let [first, inner @ .., last] = parts
            && let (Some((text, "", end)), Some((rest, start, ""))) = (cut(first), cut(last))
        {
            let is_whole = self.source.of(text) == self.source.of(rest) && end == start && !end.is_empty();
            let put: Option<Vec<Vec<String>>> = inner.iter().map(|part| self.literals(*part, steps)).collect();
            let text = self.file_text(text, seen, steps).filter(|_| is_whole)?;
            return Some(text.with(Replacement::put_in(put?.concat())));
        }
        let mut joined = FileText::default();
        for part in parts {
            joined = match self.file_text(*part, seen, steps) {
                Some(text) => joined.and(text)?,
                None => joined.with(Replacement::put_in(self.literals(*part, steps)?)),
            };
        }
        joined.path.is_some().then_some(joined)
    }

    /// A name of which every meaning is the text of the same file.
    fn named_text(&self, name: &'t str, seen: &mut Vec<&'t str>, steps: u32) -> Option<FileText> {
        if seen.contains(&name) {
            return Some(FileText::default());
        }
        seen.push(name);
        let mut text = Some(FileText::default());
        for binding in self.names.bindings(name) {
            let meaning = match binding {
                Binding::Value(value) => self.file_text(*value, seen, steps),
                Binding::Import(_)
                | Binding::Element(_)
                | Binding::Walk(..)
                | Binding::Own
                | Binding::Parameter
                | Binding::Other => None,
            };
            text = text.and_then(|text| text.and(meaning?));
        }
        seen.pop();
        text.filter(|_| !self.names.bindings(name).is_empty())
    }

    fn called_text(&self, call: Node<'t>, seen: &mut Vec<&'t str>, steps: u32) -> Option<FileText> {
        let function = field(call, "function")?;
        let arguments = children(field(call, "arguments")?);
        if let Some(name) = self.dotted(function) {
            let is_substitution = matches!(name.as_str(), "re.sub") && arguments.len() > 2;
            let text = self.file_text(*arguments.get(2).filter(|_| is_substitution)?, seen, steps)?;
            return Some(text.with(Replacement::put_in(self.literals(*arguments.get(1)?, steps)?)));
        }
        let object = field(function, "object")?;
        match (self.source.of(field(function, "attribute")?), arguments.as_slice()) {
            ("read", []) => self.handle(object).map(|path| FileText { path: Some(path), replaced: Vec::new() }),
            ("read_text", given) if given.iter().all(|node| node.kind() == "keyword_argument") => {
                self.literal_path(object).map(|path| FileText { path: Some(path), replaced: Vec::new() })
            }
            ("replace", [old, new, ..]) => {
                let text = self.file_text(object, seen, steps)?;
                Some(text.with(Replacement { old: self.literals(*old, steps), new: self.literals(*new, steps)? }))
            }
            ("strip" | "rstrip" | "lstrip" | "expandtabs", []) => self.file_text(object, seen, steps),
            _ => None,
        }
    }

    /// Every literal text that an expression may be.
    fn literals(&self, node: Node<'t>, steps: u32) -> Option<Vec<String>> {
        let steps = steps.checked_sub(1).filter(|_| self.may_go_on())?;
        match node.kind() {
            "identifier" => self.named_literals(self.source.of(node), node, steps),
            "parenthesized_expression" => self.literals(*children(node).first()?, steps),
            "binary_operator" if field(node, "operator").is_some_and(|operator| operator.kind() == "+") => {
                let (left, right) =
                    (self.literals(field(node, "left")?, steps)?, self.literals(field(node, "right")?, steps)?);
                match (left.as_slice(), right.as_slice()) {
                    ([left], [right]) => Some(vec![format!("{left}{right}")]),
                    // Which belongs to which is not known; every piece is seen all the same.
                    _ => Some(left.into_iter().chain(right).collect()),
                }
            }
            "string" | "concatenated_string" => {
                let value = self.value(node);
                value.text().filter(|text| !text.contains(UNKNOWN)).map(|text| vec![text.to_owned()])
            }
            _ => None,
        }
    }

    fn named_literals(&self, name: &str, node: Node<'t>, steps: u32) -> Option<Vec<String>> {
        let bindings = self.names.bindings(name);
        let mut all = Vec::new();
        let mut others = 0;
        for binding in bindings {
            match binding {
                Binding::Value(value) => all.extend(self.literals(*value, steps)?),
                Binding::Other => others += 1,
                Binding::Import(_) | Binding::Element(_) | Binding::Walk(..) | Binding::Own | Binding::Parameter => {
                    return None;
                }
            }
        }
        if others > 0 {
            let walked = self.walked_literals(name, node);
            all.extend(walked.filter(|(times, _)| *times == others)?.1);
        }
        (!bindings.is_empty()).then_some(all)
    }

    /// `for old, new in [('a', 'b')]`: all texts of the list, and in how many loops the name stands.
    fn walked_literals(&self, name: &str, node: Node<'t>) -> Option<(usize, Vec<String>)> {
        let (mut times, mut all) = (0, Some(Vec::new()));
        each(root_of(node), &mut |below| {
            let left = field(below, "left").filter(|_| below.kind() == "for_statement");
            let is_named = left.is_some_and(|left| children(left).iter().any(|part| self.source.of(*part) == name));
            if !is_named {
                return;
            }
            times += 1;
            let listed = field(below, "right").filter(|right| matches!(right.kind(), "list" | "tuple"));
            let texts: Option<Vec<String>> = listed.and_then(|listed| {
                let parts = children(listed).into_iter().flat_map(children);
                parts.map(|part| self.literals(part, 2).filter(|texts| texts.len() == 1)?.pop()).collect()
            });
            all = all.take().zip(texts).map(|(all, texts): (Vec<String>, _)| all.into_iter().chain(texts).collect());
        });
        all.map(|all| (times, all))
    }
}

/// The operands of a sum, from left to right.
fn summands(node: Node<'_>) -> Option<Vec<Node<'_>>> {
    let is_sum = |node: &Node<'_>| {
        node.kind() == "binary_operator" && field(*node, "operator").is_some_and(|operator| operator.kind() == "+")
    };
    let mut parts = vec![field(node, "right").filter(|_| is_sum(&node))?];
    let mut left = field(node, "left")?;
    while is_sum(&left) {
        parts.push(field(left, "right")?);
        left = field(left, "left")?;
    }
    parts.push(left);
    parts.reverse();
    Some(parts)
}

fn root_of(node: Node<'_>) -> Node<'_> {
    let mut root = node;
    while let Some(parent) = root.parent() {
        root = parent;
    }
    root
}
