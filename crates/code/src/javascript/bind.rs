//! Which names the text gives a meaning to.

use tree_sitter::Node;

use super::module_name;
use crate::names::{Binding, Names};
use crate::reading::Reading;
use crate::tree::{Source, children, each, field};

pub(super) fn names<'t>(root: Node<'t>, source: &Source<'_>, reading: &mut Reading) -> Names<'t> {
    let mut binder = Binder { source, names: Names::default(), reading };
    each(root, &mut |node| binder.node(node));
    binder.names
}

struct Binder<'a, 't> {
    source: &'a Source<'a>,
    names: Names<'t>,
    reading: &'a mut Reading,
}

impl<'t> Binder<'_, 't> {
    fn node(&mut self, node: Node<'t>) {
        match node.kind() {
            "identifier"
            | "property_identifier"
            | "shorthand_property_identifier"
            | "shorthand_property_identifier_pattern"
                if self.source.of(node).contains('\\') =>
            {
                self.reading.unclear("a name with escaped letters");
            }
            "import_statement" => self.import(node),
            "call_expression" => {
                if let Some(module) = self.module(node) {
                    self.reading.import(module);
                }
            }
            "variable_declarator" => self.declared(node),
            "assignment_expression" | "augmented_assignment_expression" => self.assigned(node),
            "update_expression" => self.pattern(field(node, "argument"), &Binding::Other),
            "for_in_statement" => self.walked(node),
            "function_declaration"
            | "generator_function_declaration"
            | "class_declaration"
            | "function_expression"
            | "class"
            | "generator_function" => {
                if let Some(name) = field(node, "name") {
                    self.names.bind(self.source.of(name), Binding::Own);
                }
            }
            "formal_parameters" => {
                children(node).into_iter().for_each(|child| self.pattern(Some(child), &Binding::Parameter));
            }
            "arrow_function" => self.pattern(field(node, "parameter"), &Binding::Parameter),
            "catch_clause" => self.pattern(field(node, "parameter"), &Binding::Other),
            _ => {}
        }
    }

    fn import(&mut self, node: Node<'t>) {
        let Some(module) = field(node, "source").map(|source| plain_string(self.source.of(source))) else {
            return self.reading.unclear("an import without a module");
        };
        let module = module_name(&module);
        self.reading.import(&module);
        each(node, &mut |part| match part.kind() {
            "import_specifier" => {
                let name = field(part, "name").map(|name| self.source.of(name)).unwrap_or_default();
                let alias = field(part, "alias").map_or(name, |alias| self.source.of(alias));
                let path = if name == "default" { module.clone() } else { format!("{module}.{name}") };
                self.names.bind(alias, Binding::Import(path));
            }
            "namespace_import" | "import_clause" => {
                for child in children(part).into_iter().filter(|child| child.kind() == "identifier") {
                    self.names.bind(self.source.of(child), Binding::Import(module.clone()));
                }
            }
            _ => {}
        });
    }

    fn declared(&mut self, node: Node<'t>) {
        let (Some(name), value) = (field(node, "name"), field(node, "value")) else { return };
        self.meaning(name, value);
    }

    fn assigned(&mut self, node: Node<'t>) {
        let Some(left) = field(node, "left") else { return };
        let plain = node.kind() == "assignment_expression";
        self.meaning(left, field(node, "right").filter(|_| plain));
    }

    fn meaning(&mut self, left: Node<'t>, value: Option<Node<'t>>) {
        let Some(value) = value else { return self.pattern(Some(left), &Binding::Other) };
        if let Some(module) = self.module(value) {
            return self.module_parts(left, &module);
        }
        if left.kind() != "identifier" {
            return self.pattern(Some(left), &Binding::Other);
        }
        let own = matches!(value.kind(), "arrow_function" | "function_expression" | "class" | "generator_function");
        self.names.bind(self.source.of(left), if own { Binding::Own } else { Binding::Value(value) });
    }

    /// `require('fs')`, `await import('fs')`, `require('fs').promises`.
    fn module(&mut self, value: Node<'t>) -> Option<String> {
        match value.kind() {
            "await_expression" | "parenthesized_expression" => self.module(*children(value).first()?),
            "member_expression" => {
                let module = self.module(field(value, "object")?)?;
                Some(format!("{module}.{}", self.source.of(field(value, "property")?)))
            }
            "call_expression" => {
                let function = field(value, "function")?;
                // Only a module's own exports are known by name; parts of any other object may be anything.
                if !matches!(self.source.of(function), "require" | "import") {
                    return None;
                }
                match children(field(value, "arguments")?).as_slice() {
                    [only] if only.kind() == "string" => Some(module_name(&plain_string(self.source.of(*only)))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `const fs = require('fs')`, `const { readFileSync: r } = require('fs')`.
    fn module_parts(&mut self, left: Node<'t>, module: &str) {
        if left.kind() == "identifier" {
            return self.names.bind(self.source.of(left), Binding::Import(module.to_owned()));
        }
        for part in children(left) {
            match part.kind() {
                "shorthand_property_identifier_pattern" => {
                    let name = self.source.of(part);
                    self.names.bind(name, Binding::Import(format!("{module}.{name}")));
                }
                "pair_pattern" if field(part, "value").is_some_and(|value| value.kind() == "identifier") => {
                    let key = field(part, "key").map(|key| plain_string(self.source.of(key))).unwrap_or_default();
                    let value = field(part, "value").map(|value| self.source.of(value)).unwrap_or_default();
                    self.names.bind(value, Binding::Import(format!("{module}.{key}")));
                }
                _ => {
                    self.reading.unclear(format!("it binds parts of `{module}` in an unusual way"));
                    self.pattern(Some(part), &Binding::Other);
                }
            }
        }
    }

    fn walked(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return };
        let of = field(node, "operator").is_some_and(|operator| operator.kind() == "of");
        match left.kind() {
            "identifier" if of => self.names.bind(self.source.of(left), Binding::Element(right)),
            _ => self.pattern(Some(left), &Binding::Other),
        }
    }

    /// Every name in a pattern on the left side.
    fn pattern(&mut self, node: Option<Node<'t>>, binding: &Binding<'t>) {
        let Some(node) = node else { return };
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                self.names.bind(self.source.of(node), binding.clone());
            }
            // `a.b = …` gives no name a meaning.
            "member_expression" | "subscript_expression" => {}
            "assignment_pattern" | "object_assignment_pattern" => self.pattern(field(node, "left"), binding),
            "pair_pattern" => self.pattern(field(node, "value"), binding),
            _ => children(node).into_iter().for_each(|child| self.pattern(Some(child), binding)),
        }
    }
}

/// The text between the quotes; with escapes it names no module.
pub(super) fn plain_string(text: &str) -> String {
    text.trim_matches(['\'', '"', '`']).to_owned()
}
