//! Every expression of the text, and what of the outside world it uses.

use tree_sitter::Node;

use super::Walker;
use crate::names::{Meaning, Names};
use crate::reading::{Reading, Use};
use crate::tree::{Source, children, field};
use crate::value::Value;
use crate::walk::Walk;

impl<'t> Walk<'t> for Walker<'t> {
    const MEMBER: &'static str = "attribute";

    fn source(&self) -> &Source<'t> {
        &self.source
    }

    fn names(&self) -> &Names<'t> {
        &self.names
    }

    fn reading(&mut self) -> &mut Reading {
        &mut self.reading
    }

    fn visit(&mut self, node: Node<'t>) {
        match node.kind() {
            "comment" | "import_statement" | "import_from_statement" | "future_import_statement" => {}
            "global_statement" | "nonlocal_statement" => {}
            "case_pattern" => self.pattern(node),
            "decorator" => {
                children(node).into_iter().for_each(|function| self.called_later(function));
                self.below(node);
            }
            "identifier" => self.name(node),
            "attribute" => self.attribute(node),
            "subscript" => self.subscript(node),
            "call" => self.call(node),
            "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => self.with_target(node, "left"),
            "named_expression" => self.with_target(node, "name"),
            "as_pattern" => self.with_target(node, "alias"),
            "delete_statement" => children(node).into_iter().for_each(|child| self.target(child)),
            "function_definition" => self.skipping(node, "name"),
            "class_definition" => {
                self.superclasses(node);
                self.skipping(node, "name");
            }
            "keyword_argument" => self.skipping(node, "name"),
            "parameters" | "lambda_parameters" => self.parameters(node),
            "string" | "concatenated_string" => self.below(node),
            "exec_statement" => self.reading.unclear("it runs text as code"),
            _ => self.below(node),
        }
    }

    /// Something on the left side: a name is fine, the inside of a module is not.
    fn target(&mut self, node: Node<'t>) {
        match node.kind() {
            "identifier" => {}
            "attribute" | "subscript" => {
                let mut base = node;
                while let Some(inner) = field(base, "object").or_else(|| field(base, "value")) {
                    base = inner;
                }
                if let Meaning::Import(module) = self.names.meaning(self.source.of(base)) {
                    let module = module.to_owned();
                    self.reading.unclear(format!("it changes the internals of `{module}`"));
                }
                if let Some(name) = field(node, "attribute").filter(|name| self.source.of(*name).starts_with("__")) {
                    self.reading.unclear(format!("it changes `{}`", self.source.of(name)));
                }
                self.skipping(node, "attribute");
            }
            _ => children(node).into_iter().for_each(|child| self.target(child)),
        }
    }

    /// The built-in of that name may be meant where the text's own meaning does not reach.
    fn own_name(&mut self, name: &str) {
        if super::is_powerful(name) {
            self.reading.uses.push(Use::handed_on(name, Value::Unknown));
        }
    }

    /// Something that is handed on, with where it stands.
    fn placed(&self, node: Node<'t>, name: &str) -> Use {
        let mut used = Use::handed_on(name, Default::default());
        let mut inner = node;
        while let Some(outer) = inner.parent() {
            match outer.kind() {
                "keyword_argument" => inner = outer,
                "argument_list" => {
                    let function = outer.parent().and_then(|call| field(call, "function"));
                    used.given_to = function.and_then(|function| self.called_name(function));
                    break;
                }
                "type" => {
                    used.is_type = true;
                    break;
                }
                // `list[subprocess.Popen]`, `a | b`
                "subscript" | "generic_type" | "type_parameter" | "binary_operator" | "union_type" => inner = outer,
                _ => break,
            }
        }
        used
    }

    /// The full name of a member of a module, or of a built-in: `os.path.join`, `open`.
    fn dotted(&self, node: Node<'t>) -> Option<String> {
        match node.kind() {
            "identifier" => {
                let name = self.source.of(node);
                match self.names.meaning(name) {
                    Meaning::Import(path) => Some(path.to_owned()),
                    Meaning::Free => Some(name.to_owned()),
                    Meaning::Once(_) | Meaning::Several | Meaning::Clash => None,
                }
            }
            "attribute" => {
                let object = self.dotted(field(node, "object")?)?;
                Some(format!("{object}.{}", self.source.of(field(node, "attribute")?)))
            }
            _ => None,
        }
    }

    fn fold(&self, node: Node<'t>, steps: u32) -> Value {
        self.folded(node, steps)
    }

    fn only_looks(&self, name: Node<'t>) -> bool {
        self.is_look(name)
    }

    fn follow_function(&mut self, node: Node<'t>, steps: u32) {
        self.hand_on(node, steps);
    }
}

impl<'t> Walker<'t> {
    fn parameters(&mut self, node: Node<'t>) {
        for parameter in children(node) {
            for part in ["value", "type"] {
                if let Some(part) = field(parameter, part) {
                    self.visit(part);
                }
            }
        }
    }

    fn attribute(&mut self, node: Node<'t>) {
        match self.dotted(node) {
            Some(path) if path == "sys.path" && !self.only_shown(node) => {
                self.reading.unclear("it may change where modules are imported from");
            }
            Some(path) => {
                let used = self.placed(node, &path);
                self.reading.uses.push(used);
            }
            None => self.member_of_value(node),
        }
    }

    /// `os.environ['HOME']`: one part of a member of a module.
    fn subscript(&mut self, node: Node<'t>) {
        let value = field(node, "value");
        match value.and_then(|value| self.dotted(value)) {
            Some(path) => {
                let parts = crate::tree::fields(node, "subscript").into_iter().map(|part| self.value(part)).collect();
                self.reading.uses.push(Use { name: format!("{path}[]"), arguments: Some(parts), ..Use::default() });
                self.skipping(node, "value");
            }
            None => self.below(node),
        }
    }

    fn call(&mut self, node: Node<'t>) {
        let (Some(function), Some(arguments)) = (field(node, "function"), field(node, "arguments")) else {
            return self.reading.unclear("a call without arguments");
        };
        let used = self.arguments(arguments);
        self.called_arguments(function, arguments);
        match (self.dotted(function), function.kind()) {
            (Some(name), _) => self.reading.uses.push(Use { name, ..used }),
            (None, "attribute") => self.method(function, used),
            (None, "identifier") => self.own_function(self.source.of(function)),
            (None, _) => {
                self.reading.unclear("it calls something that it works out at run time");
                self.visit(function);
            }
        }
        self.visit(arguments);
    }

    fn own_function(&mut self, name: &str) {
        match self.names.meaning(name) {
            Meaning::Clash => self.clash(name),
            Meaning::Free | Meaning::Import(_) | Meaning::Once(_) | Meaning::Several
                if self.names.is_callable(name) => {}
            Meaning::Free | Meaning::Import(_) | Meaning::Once(_) | Meaning::Several => {
                self.reading.unclear(format!("it calls `{name}`, which it works out at run time"))
            }
        }
        self.own_name(name);
    }

    fn arguments(&self, node: Node<'t>) -> Use {
        let mut used = Use { arguments: Some(Vec::new()), ..Use::default() };
        let given = if node.kind() == "argument_list" { children(node) } else { vec![node] };
        for argument in given {
            match argument.kind() {
                "keyword_argument" => {
                    let name = field(argument, "name").map(|name| self.source.of(name)).unwrap_or_default().to_owned();
                    let value = field(argument, "value").map(|value| self.value(value)).unwrap_or_default();
                    used.named.push((name, value));
                }
                "list_splat" | "dictionary_splat" => used.spread = true,
                _ => used.arguments.get_or_insert_default().push(self.value(argument)),
            }
        }
        used
    }
}
