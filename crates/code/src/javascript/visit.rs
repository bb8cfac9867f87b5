//! Every expression of the text, and what of the outside world it uses.

use tree_sitter::Node;

use super::Walker;
use super::bind::plain_string;
use crate::names::{Meaning, Names};
use crate::reading::{Reading, Use};
use crate::tree::{Source, children, field};
use crate::value::{UNKNOWN, Value};
use crate::walk::Walk;

impl<'t> Walk<'t> for Walker<'t> {
    const MEMBER: &'static str = "property";

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
            "comment" | "import_statement" | "hash_bang_line" => {}
            "identifier" | "shorthand_property_identifier" => self.name(node),
            "member_expression" => self.member(node),
            "subscript_expression" => self.subscript(node),
            "call_expression" | "new_expression" => self.call(node),
            "variable_declarator" => self.with_target(node, "name"),
            "assignment_expression" | "augmented_assignment_expression" | "for_in_statement" => {
                self.with_target(node, "left");
            }
            "update_expression" => self.with_target(node, "argument"),
            "catch_clause" => self.with_target(node, "parameter"),
            "function_declaration"
            | "function_expression"
            | "class_declaration"
            | "class"
            | "generator_function"
            | "generator_function_declaration" => self.skipping(node, "name"),
            "formal_parameters" => children(node).into_iter().for_each(|child| self.target(child)),
            "arrow_function" => self.with_target(node, "parameter"),
            "pair" | "method_definition" | "field_definition" => self.keyed(node),
            "this" if !is_looked_into(node) => self.reading.unclear("it passes on `this`, which may be anything"),
            "class_heritage" => {
                children(node).into_iter().for_each(|base| self.called_later(base));
                self.below(node);
            }
            "with_statement" => self.reading.unclear("it changes what names refer to"),
            _ => self.below(node),
        }
    }

    /// Something on the left side: names are fine, the inside of a module or a prototype is not.
    fn target(&mut self, node: Node<'t>) {
        match node.kind() {
            "identifier" => match self.names.meaning(self.source.of(node)) {
                Meaning::Clash => self.reading.unclear("a module is redefined"),
                Meaning::Free | Meaning::Import(_) | Meaning::Once(_) | Meaning::Several => {}
            },
            "shorthand_property_identifier_pattern" => {
                let name = self.source.of(node);
                self.reading.uses.push(Use::handed_on(format!(".{name}"), Value::Unknown));
            }
            "pair_pattern" => {
                match field(node, "key") {
                    Some(key) if key.kind() == "computed_property_name" => {
                        self.reading.unclear("it stores a member whose name it works out at run time");
                        self.visit(key);
                    }
                    Some(key) => {
                        let name = plain_string(self.source.of(key));
                        self.reading.uses.push(Use::handed_on(format!(".{name}"), Value::Unknown));
                    }
                    None => {}
                }
                if let Some(value) = field(node, "value") {
                    self.target(value);
                }
            }
            "assignment_pattern" | "object_assignment_pattern" => {
                if let Some(left) = field(node, "left") {
                    self.target(left);
                }
                if let Some(right) = field(node, "right") {
                    self.visit(right);
                }
            }
            "member_expression" | "subscript_expression" => self.changed_member(node),
            _ => children(node).into_iter().for_each(|child| self.target(child)),
        }
    }

    /// Something that is handed on, with where it stands.
    fn placed(&self, node: Node<'t>, name: &str) -> Use {
        let call = node.parent().filter(|outer| outer.kind() == "arguments").and_then(|outer| outer.parent());
        let function = call.and_then(|call| field(call, "function").or_else(|| field(call, "constructor")));
        let given_to = function.and_then(|function| self.called_name(function));
        Use { given_to, ..Use::handed_on(name, Value::Unknown) }
    }

    /// The full name of a member of a module, or of a global: `fs.readFileSync`, `console.log`.
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
            "import" => Some("import".to_owned()),
            "member_expression" => {
                let object = self.dotted(field(node, "object")?)?;
                Some(format!("{object}.{}", self.source.of(field(node, "property")?)))
            }
            // `require('fs').readFileSync`
            "call_expression" => {
                let function = self.source.of(field(node, "function")?);
                let arguments = children(field(node, "arguments")?);
                match (function, arguments.as_slice()) {
                    ("require", [module])
                        if module.kind() == "string" && matches!(self.names.meaning("require"), Meaning::Free) =>
                    {
                        Some(super::module_name(&plain_string(self.source.of(*module))))
                    }
                    _ => None,
                }
            }
            "parenthesized_expression" | "await_expression" => self.dotted(*children(node).first()?),
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
    /// A member with a key: the key is no expression unless it stands in brackets.
    fn keyed(&mut self, node: Node<'t>) {
        let key = field(node, "key").or_else(|| field(node, "name")).or_else(|| field(node, "property"));
        let computed = key.is_some_and(|key| key.kind() == "computed_property_name");
        for child in children(node) {
            if Some(child) != key || computed {
                self.visit(child);
            }
        }
    }

    fn changed_member(&mut self, node: Node<'t>) {
        self.reading.sets_members = true;
        let mut base = node;
        while let Some(inner) = field(base, "object") {
            base = inner;
        }
        if let Some(outer) = self.dotted(base).filter(|name| name != "module" && name != "exports") {
            self.reading.unclear(format!("it changes the internals of `{outer}`"));
        }
        if let Some(property) = field(node, "property").filter(|name| is_inner(self.source.of(*name))) {
            self.reading.unclear(format!("it changes `{}`", self.source.of(property)));
        }
        if let Some(object) = field(node, "object") {
            self.visit(object);
        }
        if let Some(index) = field(node, "index") {
            self.visit(index);
        }
    }

    fn member(&mut self, node: Node<'t>) {
        if let Some(path) = self.dotted(node) {
            let used = self.placed(node, &path);
            return self.reading.uses.push(used);
        }
        self.member_of_value(node);
    }

    /// `a[b]`: a plain look at data, unless `a` is a module or `b` names something inner.
    fn subscript(&mut self, node: Node<'t>) {
        let (Some(object), Some(index)) = (field(node, "object"), field(node, "index")) else { return };
        let key = self.value(index);
        match key.text().filter(|key| !key.contains(UNKNOWN)) {
            Some(key) => {
                self.reading.uses.push(Use::handed_on(format!(".{key}"), Value::Unknown));
            }
            None if matches!(key, Value::Plain(_)) => {}
            None => {
                let argument =
                    node.parent().is_some_and(|parent| matches!(parent.kind(), "arguments" | "array" | "pair"));
                self.hands_on_computed |= argument;
            }
        }
        if let Some(outer) = self.dotted(object).filter(|name| !DATA.contains(&name.as_str())) {
            self.reading.unclear(format!("it picks a member of `{outer}` by its name"));
        }
        self.visit(object);
        self.visit(index);
    }

    fn call(&mut self, node: Node<'t>) {
        let function = field(node, "function").or_else(|| field(node, "constructor"));
        let (Some(function), arguments) = (function, field(node, "arguments")) else {
            return self.reading.unclear("a call without a function");
        };
        let used = arguments.map(|arguments| self.arguments(arguments)).unwrap_or_else(no_arguments);
        self.called_arguments(function, arguments);
        match (self.dotted(function), function.kind()) {
            (Some(name), _) if matches!(name.as_str(), "require" | "import") => self.import(node, &used),
            (Some(name), _) => self.reading.uses.push(Use { name, ..used }),
            (None, "member_expression") => self.method(function, used),
            (None, "identifier") => self.own_function(self.source.of(function)),
            (None, "arrow_function" | "function_expression" | "super") => self.visit(function),
            (None, "parenthesized_expression")
                if children(function)
                    .iter()
                    .all(|inner| matches!(inner.kind(), "arrow_function" | "function_expression")) =>
            {
                self.visit(function);
            }
            (None, _) => {
                self.reading.unclear("it calls something that it works out at run time");
                self.visit(function);
            }
        }
        if let Some(arguments) = arguments {
            self.visit(arguments);
        }
    }

    /// `require` or `import` as a function. A module that gets no name of its own is handed on.
    fn import(&mut self, node: Node<'t>, used: &Use) {
        match used.arguments.as_deref() {
            Some([Value::Text(module)]) if !module.contains(UNKNOWN) && !used.spread => {
                let module = super::module_name(module);
                self.reading.import(module.clone());
                if !is_named(node) {
                    self.reading.uses.push(Use::handed_on(module, Value::Unknown));
                }
            }
            Some([Value::Text(module)]) if is_beside(module) && !used.spread => {
                self.reading.unclear("it picks one of its own modules at run time");
            }
            _ => self.reading.unclear("it imports a module that it works out at run time"),
        }
    }

    fn own_function(&mut self, name: &str) {
        match self.names.meaning(name) {
            Meaning::Clash => self.clash(name),
            Meaning::Free | Meaning::Import(_) | Meaning::Once(_) | Meaning::Several
                if self.names.is_callable(name) =>
            {
                self.calls_parameter |= self.names.is_parameter(name);
            }
            Meaning::Free | Meaning::Import(_) | Meaning::Once(_) | Meaning::Several => {
                self.reading.unclear(format!("it calls `{name}`, which it works out at run time"))
            }
        }
        if matches!(name, "eval" | "Function" | "require" | "fetch") {
            self.reading.uses.push(Use::handed_on(name, Value::Unknown));
        }
    }

    fn arguments(&self, node: Node<'t>) -> Use {
        let mut used = no_arguments();
        if node.kind() != "arguments" {
            return Use { spread: true, ..used };
        }
        for argument in children(node) {
            match argument.kind() {
                "spread_element" => used.spread = true,
                _ => used.arguments.get_or_insert_default().push(self.value(argument)),
            }
        }
        used
    }
}

/// Members of these are data, whatever their names.
// `process.env[name]` reads a variable; the same with any other object may pick a function.
const DATA: &[&str] = &["process.env", "process.argv", "process.versions"];

/// The call is the whole of what a name stands for, or nobody looks at what it yields.
fn is_named(call: Node<'_>) -> bool {
    let mut outer = call.parent();
    while let Some(node) = outer.filter(|node| matches!(node.kind(), "await_expression" | "parenthesized_expression")) {
        outer = node.parent();
    }
    outer.is_some_and(|node| {
        let literal =
            field(call, "arguments").is_some_and(|all| children(all).iter().all(|one| one.kind() == "string"));
        let plain = field(call, "function").is_some_and(|function| matches!(function.kind(), "identifier" | "import"));
        literal
            && plain
            && matches!(node.kind(), "variable_declarator" | "assignment_expression" | "expression_statement")
    })
}

/// `this.member`
fn is_looked_into(this: Node<'_>) -> bool {
    this.parent().is_some_and(|parent| parent.kind() == "member_expression")
}

/// Whatever follows, it is a file and no module of the language.
fn is_beside(module: &str) -> bool {
    module.starts_with("./") || module.starts_with("../")
}

fn no_arguments() -> Use {
    Use { arguments: Some(Vec::new()), ..Use::default() }
}

fn is_inner(name: &str) -> bool {
    // From any value these lead to `Function`, which runs text (interpreters-090, interpreters-099).
    matches!(name, "constructor" | "prototype") || name.starts_with("__")
}
