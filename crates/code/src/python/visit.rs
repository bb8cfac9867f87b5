//! Every expression of the text, and what of the outside world it uses.

use tree_sitter::Node;

use super::Walker;
use crate::names::Meaning;
use crate::reading::Use;
use crate::tree::{children, field};

impl<'t> Walker<'t> {
    pub(super) fn visit(&mut self, node: Node<'t>) {
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

    fn below(&mut self, node: Node<'t>) {
        children(node).into_iter().for_each(|child| self.visit(child));
    }

    fn skipping(&mut self, node: Node<'t>, name: &str) {
        let skipped = field(node, name);
        children(node).into_iter().filter(|child| Some(*child) != skipped).for_each(|child| self.visit(child));
    }

    fn with_target(&mut self, node: Node<'t>, name: &str) {
        if let Some(target) = field(node, name) {
            self.target(target);
        }
        self.skipping(node, name);
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
                self.below_target(node);
            }
            _ => children(node).into_iter().for_each(|child| self.target(child)),
        }
    }

    fn below_target(&mut self, node: Node<'t>) {
        let attribute = field(node, "attribute");
        children(node).into_iter().filter(|child| Some(*child) != attribute).for_each(|child| self.visit(child));
    }

    fn parameters(&mut self, node: Node<'t>) {
        for parameter in children(node) {
            for part in ["value", "type"] {
                if let Some(part) = field(parameter, part) {
                    self.visit(part);
                }
            }
        }
    }

    /// A name that is not called: whoever gets it may call it.
    fn name(&mut self, node: Node<'t>) {
        let name = self.source.of(node);
        match self.names.meaning(name) {
            Meaning::Import(path) => {
                let used = self.placed(node, path);
                self.reading.uses.push(used);
            }
            Meaning::Free => {
                let used = self.placed(node, name);
                self.reading.uses.push(used);
            }
            Meaning::Clash => self.clash(name),
            // The built-in of that name may be meant where the text's own meaning does not reach.
            Meaning::Once(_) | Meaning::Several if super::is_powerful(name) => {
                self.reading.uses.push(Use::handed_on(name, Default::default()));
            }
            Meaning::Once(_) | Meaning::Several => {}
        }
    }

    /// An imported name that means something else as well: whoever uses it may use what was imported.
    fn clash(&mut self, name: &str) {
        self.reading.unclear(format!("the name `{name}` has more than one meaning"));
        let imported = self.names.imported(name);
        self.reading.uses.extend(imported.into_iter().map(|path| Use::handed_on(path, Default::default())));
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

    /// The name of a function that the text does not define itself.
    fn called_name(&self, function: Node<'t>) -> Option<String> {
        match (self.dotted(function), field(function, "attribute")) {
            (Some(name), _) => Some(name),
            (None, Some(method)) => Some(format!(".{}", self.source.of(method))),
            (None, None) => None,
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
            None => {
                let Some(object) = field(node, "object") else { return };
                let name = field(node, "attribute").map(|name| self.source.of(name)).unwrap_or_default();
                let used = Use::handed_on(format!(".{name}"), self.value(object));
                self.reading.uses.push(used);
                self.visit(object);
            }
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
            (None, "attribute") => {
                let object = field(function, "object");
                let name = field(function, "attribute").map(|name| self.source.of(name)).unwrap_or_default();
                let receiver = object.map(|object| self.value(object)).unwrap_or_default();
                self.reading.uses.push(Use { name: format!(".{name}"), receiver, ..used });
                if let Some(object) = object {
                    self.visit(object);
                }
            }
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
        // The built-in of that name may be meant before the text gives it another meaning.
        if super::is_powerful(name) {
            self.reading.uses.push(Use::handed_on(name, Default::default()));
        }
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

    /// The full name of a member of a module, or of a built-in: `os.path.join`, `open`.
    pub(super) fn dotted(&self, node: Node<'t>) -> Option<String> {
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
}
