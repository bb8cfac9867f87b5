//! Which names the text gives a meaning to.

use tree_sitter::Node;

use crate::names::{Binding, Names};
use crate::reading::Reading;
use crate::tree::{Source, children, each, field, fields};

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
            // Python reads other spellings of a letter as that letter.
            "identifier" if !self.source.of(node).is_ascii() => {
                self.reading.unclear("a name with unusual letters");
            }
            "import_statement" => self.import(node),
            "import_from_statement" => self.import_from(node),
            "future_import_statement" => {}
            "assignment" => self.assignment(node),
            "augmented_assignment" => self.targets(field(node, "left")),
            "named_expression" => self.targets(field(node, "name")),
            "for_statement" | "for_in_clause" => self.walked(node),
            "as_pattern" => self.targets(field(node, "alias")),
            "function_definition" | "class_definition" => self.own(node),
            "parameters" | "lambda_parameters" => self.parameters(node),
            "case_pattern" | "delete_statement" => self.every_name(node, &Binding::Other),
            "global_statement" | "nonlocal_statement" => self.every_name(node, &Binding::Other),
            "type_alias_statement" => self.every_name(node, &Binding::Other),
            _ => {}
        }
    }

    fn import(&mut self, node: Node<'t>) {
        for name in fields(node, "name") {
            match (field(name, "name"), field(name, "alias")) {
                (Some(module), Some(alias)) => {
                    let module = self.source.of(module).to_owned();
                    self.reading.import(&module);
                    self.names.bind(self.source.of(alias), Binding::Import(module));
                }
                _ => {
                    let module = self.source.of(name);
                    self.reading.import(module);
                    let first = module.split('.').next().unwrap_or(module);
                    self.names.bind(first, Binding::Import(first.to_owned()));
                }
            }
        }
    }

    fn import_from(&mut self, node: Node<'t>) {
        let module = field(node, "module_name").map(|module| self.source.of(module)).unwrap_or_default().to_owned();
        self.reading.import(&module);
        if children(node).iter().any(|child| child.kind() == "wildcard_import") {
            return self.reading.unclear(format!("it imports every name of the module `{module}`"));
        }
        for name in fields(node, "name") {
            let (member, alias) = match (field(name, "name"), field(name, "alias")) {
                (Some(member), Some(alias)) => (self.source.of(member), self.source.of(alias)),
                _ => (self.source.of(name), self.source.of(name)),
            };
            // What is imported from a package may be a module of its own.
            self.reading.import(format!("{module}.{member}"));
            self.names.bind(alias, Binding::Import(format!("{module}.{member}")));
        }
    }

    fn assignment(&mut self, node: Node<'t>) {
        match (field(node, "left"), field(node, "right")) {
            (Some(left), Some(right)) if left.kind() == "identifier" => {
                self.inner_name(left);
                let binding = if right.kind() == "lambda" { Binding::Own } else { Binding::Value(right) };
                self.names.bind(self.source.of(left), binding);
            }
            (left, _) => self.targets(left),
        }
    }

    /// `for x in y`, in a statement or in a comprehension.
    fn walked(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return };
        if left.kind() == "identifier" {
            return self.names.bind(self.source.of(left), Binding::Element(right));
        }
        let called = field(right, "function").map(|function| self.source.of(function)).unwrap_or_default();
        let parts = children(left);
        match (called, parts.as_slice()) {
            ("os.walk", [root, directories, files]) => {
                for (at, part) in [root, directories, files].into_iter().enumerate() {
                    self.names.bind(self.source.of(*part), Binding::Walk(right, at));
                }
            }
            ("enumerate", [counter, element]) if element.kind() == "identifier" => {
                self.targets(Some(*counter));
                match field(right, "arguments").and_then(|arguments| children(arguments).first().copied()) {
                    Some(walked) => self.names.bind(self.source.of(*element), Binding::Element(walked)),
                    None => self.targets(Some(*element)),
                }
            }
            _ => self.targets(Some(left)),
        }
    }

    fn own(&mut self, node: Node<'t>) {
        if let Some(name) = field(node, "name") {
            self.names.bind(self.source.of(name), Binding::Own);
        }
    }

    fn parameters(&mut self, node: Node<'t>) {
        for parameter in children(node) {
            let name = field(parameter, "name").unwrap_or(parameter);
            let name = if name.kind() == "identifier" { Some(name) } else { first_name(name) };
            if let Some(name) = name {
                self.names.bind(self.source.of(name), Binding::Parameter);
            }
        }
    }

    /// `__annotations__ = …` and the like steer what the language itself does.
    fn inner_name(&mut self, node: Node<'t>) {
        let name = self.source.of(node);
        let inner = name.starts_with("__") && name.ends_with("__");
        // Names that tools read and the interpreter does not obey. Other names with underscores change how imports or
        // classes work.
        let plain = matches!(name, "__all__" | "__version__" | "__author__" | "__slots__" | "__license__" | "__doc__");
        if inner && !plain {
            self.reading.unclear(format!("it redefines `{name}`"));
        }
    }

    /// Names on the left side of something that is not a plain assignment.
    fn targets(&mut self, node: Option<Node<'t>>) {
        let Some(node) = node else { return };
        match node.kind() {
            "identifier" => {
                self.inner_name(node);
                self.names.bind(self.source.of(node), Binding::Other);
            }
            // `a.b = …` and `a[b] = …` give no name a meaning.
            "attribute" | "subscript" => {}
            _ => children(node).into_iter().for_each(|child| self.targets(Some(child))),
        }
    }

    fn every_name(&mut self, node: Node<'t>, binding: &Binding<'t>) {
        if node.kind() == "delete_statement" || node.kind() == "global_statement" {
            return;
        }
        each(node, &mut |below| {
            if below.kind() == "identifier" {
                self.names.bind(self.source.of(below), binding.clone());
            }
        });
    }
}

fn first_name(node: Node<'_>) -> Option<Node<'_>> {
    children(node).into_iter().find(|child| child.kind() == "identifier")
}
