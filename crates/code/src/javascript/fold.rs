//! What is known about the value of an expression.

use tree_sitter::Node;

use super::Walker;
use crate::names::Meaning;
use crate::tree::{children, field};
use crate::value::{HOME, UNKNOWN, Value};
use crate::walk::Walk;

impl<'t> Walker<'t> {
    pub(super) fn folded(&self, node: Node<'t>, steps: u32) -> Value {
        let Some(steps) = steps.checked_sub(1) else { return Value::Unknown };
        let part = |name| field(node, name).map(|part| self.fold(part, steps)).unwrap_or_default();
        match node.kind() {
            "string" | "template_string" => self.string(node, steps),
            "number" | "true" | "false" | "null" | "undefined" => Value::Plain(self.source.of(node).to_owned()),
            "parenthesized_expression" | "await_expression" => {
                children(node).first().map(|inner| self.fold(*inner, steps)).unwrap_or_default()
            }
            "array" => Value::List(children(node).into_iter().map(|child| self.fold(child, steps)).collect()),
            "object" => self.record(node, steps),
            "identifier" => self.named_value(node, steps),
            "ternary_expression" => Value::OneOf(vec![part("consequence"), part("alternative")]),
            "binary_expression" => match field(node, "operator").map(|operator| operator.kind()) {
                Some("+") => part("left").concat(part("right")),
                _ => Value::Unknown,
            },
            "call_expression" => self.result(node, steps),
            "member_expression" | "subscript_expression" if self.is_home(node) => Value::Text(HOME.to_string()),
            _ => Value::Unknown,
        }
    }

    /// `process.env.HOME`, `process.env['HOME']`.
    fn is_home(&self, node: Node<'t>) -> bool {
        let text: String = self.source.of(node).chars().filter(|letter| !"'\"` []?".contains(*letter)).collect();
        let name = text.strip_prefix("process.env").map(|name| name.trim_start_matches('.'));
        // Paths are mostly put together below the home directory, so its variable is worth knowing; all others stay
        // unknown.
        matches!(name, Some("HOME" | "USERPROFILE")) && matches!(self.names.meaning("process"), Meaning::Free)
    }

    fn string(&self, node: Node<'t>, steps: u32) -> Value {
        let mut text = String::new();
        for part in children(node) {
            match part.kind() {
                "string_fragment" => text.push_str(self.source.of(part)),
                "escape_sequence" => text.push(escaped(self.source.of(part))),
                "template_substitution" => {
                    let value = children(part).first().map(|inner| self.fold(*inner, steps)).unwrap_or_default();
                    text.push_str(&value.printed());
                }
                _ => text.push(UNKNOWN),
            }
        }
        Value::Text(text)
    }

    fn record(&self, node: Node<'t>, steps: u32) -> Value {
        let mut members = Vec::new();
        for part in children(node) {
            match (part.kind(), field(part, "key"), field(part, "value")) {
                ("pair", Some(key), Some(value)) if key.kind() != "computed_property_name" => {
                    members.push((super::bind::plain_string(self.source.of(key)), self.fold(value, steps)));
                }
                ("shorthand_property_identifier", ..) => {
                    members.push((self.source.of(part).to_owned(), Value::Unknown));
                }
                _ => return Value::Unknown,
            }
        }
        Value::Record(members)
    }

    fn named_value(&self, node: Node<'t>, steps: u32) -> Value {
        if let Some(value) = self.bound_value(node, steps) {
            return value;
        }
        match self.names.meaning(self.source.of(node)) {
            // `node -e` sets it to the directory it was started in.
            Meaning::Free if self.source.of(node) == "__dirname" => Value::Text(".".into()),
            Meaning::Once(_) | Meaning::Free | Meaning::Import(_) | Meaning::Several | Meaning::Clash => Value::Unknown,
        }
    }

    pub(super) fn is_look(&self, name: Node<'t>) -> bool {
        let Some(parent) = name.parent() else { return false };
        match parent.kind() {
            "for_in_statement" => field(parent, "right") == Some(name),
            "variable_declarator" => field(parent, "name") == Some(name),
            "template_substitution" => true,
            "arguments" => {
                let function = parent.parent().and_then(|call| field(call, "function"));
                function.is_some_and(|function| self.dotted(function).is_some())
            }
            _ => false,
        }
    }

    /// What a call yields, for the few functions that put paths together.
    fn result(&self, node: Node<'t>, steps: u32) -> Value {
        let (Some(function), Some(arguments)) = (field(node, "function"), field(node, "arguments")) else {
            return Value::Unknown;
        };
        let arguments = children(arguments);
        if arguments.iter().any(|argument| argument.kind() == "spread_element") {
            return Value::Unknown;
        }
        let mut values = arguments.into_iter().map(|argument| self.fold(argument, steps));
        match self.dotted(function).as_deref() {
            // Unlike elsewhere, a later absolute part does not start anew.
            Some("path.join") => values.reduce(joined).unwrap_or(Value::Text(".".into())),
            Some("path.resolve") => values.reduce(Value::below).unwrap_or(Value::Text(".".into())),
            Some("os.homedir") => Value::Text(HOME.to_string()),
            Some("process.cwd") => Value::Text(".".into()),
            Some("fs.readdirSync") => Value::List(vec![Value::Name]),
            Some("String") => values.next().unwrap_or_default(),
            Some(_) | None => Value::Unknown,
        }
    }
}

fn joined(base: Value, next: Value) -> Value {
    match next.text() {
        Some(text) => base.below(Value::Text(text.trim_start_matches('/').to_owned())),
        None => base.below(next),
    }
}

fn escaped(sequence: &str) -> char {
    match sequence {
        "\\n" => '\n',
        "\\t" => '\t',
        "\\r" => '\r',
        "\\\\" => '\\',
        "\\'" => '\'',
        "\\\"" => '"',
        "\\`" => '`',
        "\\/" => '/',
        _ => UNKNOWN,
    }
}
