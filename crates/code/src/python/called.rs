//! Functions that are handed to somebody who may call them.

use tree_sitter::Node;

use super::Walker;
use crate::names::{Binding, Meaning, Names};
use crate::reading::Use;
use crate::tree::{Source, children, each, field};
use crate::walk::Walk;

/// Some function of the text calls one of its parameters.
pub(super) fn calls_parameter<'t>(root: Node<'t>, source: &Source<'_>, names: &Names<'t>) -> bool {
    let mut found = false;
    each(root, &mut |node| {
        let function = (node.kind() == "call").then(|| field(node, "function")).flatten();
        found |= function.is_some_and(|name| name.kind() == "identifier" && names.is_parameter(source.of(name)));
    });
    found
}

impl<'t> Walker<'t> {
    /// Looks at those arguments of a call that the called function may call in turn.
    pub(super) fn called_arguments(&mut self, function: Node<'t>, arguments: Node<'t>) {
        let name = self.called_name(function).unwrap_or_default();
        let given = if arguments.kind() == "argument_list" { children(arguments) } else { Vec::new() };
        for (at, argument) in given.into_iter().enumerate() {
            let key = field(argument, "name").filter(|_| argument.kind() == "keyword_argument");
            let called = match key {
                Some(key) => self.calls_parameter || is_callback(self.source.of(key)),
                None => self.calls_parameter || calls(&name, at),
            };
            if called {
                self.called_later(field(argument, "value").filter(|_| key.is_some()).unwrap_or(argument));
            }
        }
    }

    /// What is handed on here may be called by whoever gets it.
    pub(super) fn hand_on(&mut self, node: Node<'t>, steps: u32) {
        match node.kind() {
            "identifier" => match self.names.meaning(self.source.of(node)) {
                Meaning::Once(Binding::Value(value) | Binding::Element(value)) => {
                    let value = *value;
                    self.may_be_called(value, steps);
                }
                Meaning::Free if self.source.of(node) == "type" => {
                    self.reading.unclear("it creates classes at run time");
                }
                // Elements of data are data, unless a member or an element of something is among them.
                Meaning::Free | Meaning::Import(_) | Meaning::Once(_) | Meaning::Several | Meaning::Clash => {}
            },
            "attribute" if self.dotted(node).is_none() => {
                let receiver = field(node, "object").map(|object| self.value(object)).unwrap_or_default();
                let used = Use { may_be_called: true, ..Use::handed_on(self.member_name(node), receiver) };
                self.reading.uses.push(used);
            }
            "call" if !self.calls_parameter => {
                let known = field(node, "function").is_some_and(|function| self.dotted(function).is_some());
                if !known {
                    self.reading.unclear("it passes on something that it works out at run time");
                }
            }
            "subscript" if !self.calls_parameter => {
                self.reading.unclear("it passes on something that it works out at run time");
            }
            "subscript" => {}
            "parenthesized_expression"
            | "list"
            | "tuple"
            | "conditional_expression"
            | "boolean_operator"
            | "named_expression"
            | "list_splat"
            | "set" => {
                children(node).into_iter().for_each(|child| self.may_be_called(child, steps));
            }
            _ => {}
        }
    }

    /// Classes are made by classes that are known: one that the text makes could put anything into them.
    pub(super) fn superclasses(&mut self, class: Node<'t>) {
        for base in field(class, "superclasses").map(children).unwrap_or_default() {
            let metaclass = base.kind() == "keyword_argument";
            let base = if metaclass { field(base, "value").unwrap_or(base) } else { base };
            let named = match base.kind() {
                // `class A(make()):` may get any class, with methods that run when it is used.
                "call" => field(base, "function"),
                "subscript" => field(base, "value"),
                _ => Some(base),
            };
            let known = named.is_some_and(|named| match self.dotted(named) {
                Some(name) => name != "type",
                None => !metaclass && named.kind() == "identifier" && self.names.is_callable(self.source.of(named)),
            });
            if !known {
                self.reading.unclear("it creates classes at run time");
            }
        }
    }

    /// `case Point(x=a)` looks at the member `x`.
    pub(super) fn pattern(&mut self, node: Node<'t>) {
        let mut members = Vec::new();
        each(node, &mut |below| {
            let member = children(below).first().copied().filter(|_| below.kind() == "keyword_pattern");
            members.extend(member.map(|member| self.source.of(member)));
        });
        for member in members {
            self.reading.uses.push(Use::handed_on(format!(".{member}"), Default::default()));
        }
    }

    /// A list stands where it is only printed, counted or walked through.
    pub(super) fn only_shown(&self, node: Node<'t>) -> bool {
        let Some(parent) = node.parent() else { return false };
        match parent.kind() {
            "for_statement" | "for_in_clause" => field(parent, "right") == Some(node),
            "comparison_operator" | "interpolation" => true,
            "argument_list" => {
                let function = parent.parent().and_then(|call| field(call, "function"));
                let shown = |function: Node<'t>| match (self.dotted(function), field(function, "attribute")) {
                    (Some(name), _) => matches!(
                        name.as_str(),
                        "print"
                            | "len"
                            | "list"
                            | "sorted"
                            | "str"
                            | "repr"
                            | "enumerate"
                            | "pprint.pprint"
                            | "json.dumps"
                    ),
                    (None, Some(method)) => self.source.of(method) == "join",
                    (None, None) => false,
                };
                function.is_some_and(shown)
            }
            _ => false,
        }
    }
}

/// Functions of the library that call the argument at a place.
fn calls(name: &str, at: usize) -> bool {
    match name {
        "map"
        | "filter"
        | "iter"
        | "collections.defaultdict"
        | "property"
        | "staticmethod"
        | "classmethod"
        | "contextlib.contextmanager"
        | ".setdefault" => at == 0,
        // `re.sub` calls its replacement for every match.
        ".sub" | ".subn" => at == 0,
        "re.sub" | "re.subn" => at == 1,
        _ => ["functools.", "itertools.", "dataclasses.", "enum.", "typing.", "operator.", "abc."]
            .iter()
            .any(|module| name.starts_with(module)),
    }
}

/// Names of arguments that are functions.
fn is_callback(name: &str) -> bool {
    matches!(
        name,
        // Parameters that the library calls: `sorted(key=…)`, `Thread(target=…)`, `json.loads(object_hook=…)`.
        "key"
            | "default"
            | "default_factory"
            | "type"
            | "action"
            | "object_hook"
            | "object_pairs_hook"
            | "cls"
            | "target"
            | "func"
            | "function"
            | "repl"
            | "fget"
            | "fset"
            | "fdel"
            | "copy_function"
            | "ignore"
            | "onerror"
            | "onexc"
            | "filter"
            | "metaclass"
            | "initial"
    ) || name.starts_with("parse_")
}
