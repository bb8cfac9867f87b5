//! What is known about the value of an expression.

use tree_sitter::Node;

use super::Walker;
use crate::names::{Binding, Meaning};
use crate::tree::{children, field};
use crate::value::{HOME, UNKNOWN, Value};
use crate::walk::Walk;

impl<'t> Walker<'t> {
    pub(super) fn folded(&self, node: Node<'t>, steps: u32) -> Value {
        let Some(steps) = steps.checked_sub(1) else { return Value::Unknown };
        let part = |name| field(node, name).map(|part| self.fold(part, steps)).unwrap_or_default();
        match node.kind() {
            "string" => self.string(node, steps),
            "concatenated_string" => {
                children(node).into_iter().map(|part| self.fold(part, steps)).reduce(Value::concat).unwrap_or_default()
            }
            "integer" | "float" | "true" | "false" | "none" => Value::Plain(self.source.of(node).to_owned()),
            "parenthesized_expression" => {
                children(node).first().map(|inner| self.fold(*inner, steps)).unwrap_or_default()
            }
            "list" | "tuple" => Value::List(children(node).into_iter().map(|child| self.fold(child, steps)).collect()),
            "identifier" => self.named_value(node, steps),
            "assignment" => part("right"),
            "conditional_expression" => match children(node).as_slice() {
                [yes, _, no] => Value::OneOf(vec![self.fold(*yes, steps), self.fold(*no, steps)]),
                _ => Value::Unknown,
            },
            "binary_operator" => match field(node, "operator").map(|operator| operator.kind()) {
                Some("+") => part("left").concat(part("right")),
                // `pathlib` joins paths with it; a division of numbers yields no text either way.
                Some("/") => part("left").below(part("right")),
                _ => Value::Unknown,
            },
            "call" => self.result(node, steps),
            "attribute" => self.part_of_path(node, steps),
            "subscript" => {
                let name = field(node, "value").and_then(|value| self.dotted(value));
                let of_environment = name.is_some_and(|name| name == "os.environ");
                if of_environment { home_variable(&part("subscript")) } else { Value::Unknown }
            }
            _ => Value::Unknown,
        }
    }

    fn string(&self, node: Node<'t>, steps: u32) -> Value {
        let prefix =
            children(node).first().map(|start| self.source.of(*start).to_ascii_lowercase()).unwrap_or_default();
        let raw = prefix.trim_end_matches(['\'', '"']).contains('r');
        let formatted = prefix.trim_end_matches(['\'', '"']).contains('f');
        let mut text = String::new();
        for part in children(node) {
            match part.kind() {
                "string_content" if formatted => {
                    text.push_str(&self.content(part, raw).replace("{{", "{").replace("}}", "}"));
                }
                "string_content" => text.push_str(&self.content(part, raw)),
                "interpolation" => {
                    let value = field(part, "expression").map(|inner| self.fold(inner, steps)).unwrap_or_default();
                    let plain = field(part, "format_specifier").is_none() && field(part, "type_conversion").is_none();
                    text.push_str(&if plain { value.printed() } else { UNKNOWN.to_string() });
                }
                _ => {}
            }
        }
        Value::Text(text)
    }

    /// The text of a string, its escapes resolved; an unusual escape is unknown text.
    fn content(&self, node: Node<'t>, raw: bool) -> String {
        let whole = self.source.of(node);
        if raw || !whole.contains('\\') {
            return whole.to_owned();
        }
        let mut text = String::new();
        let mut rest = whole.chars();
        while let Some(character) = rest.next() {
            match character {
                '\\' => match rest.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('\n') => {}
                    Some(plain @ ('\\' | '\'' | '"')) => text.push(plain),
                    Some(_) | None => text.push(UNKNOWN),
                },
                other => text.push(other),
            }
        }
        text
    }

    fn named_value(&self, node: Node<'t>, steps: u32) -> Value {
        if let Some(value) = self.bound_value(node, steps) {
            return value;
        }
        match self.names.meaning(self.source.of(node)) {
            Meaning::Once(Binding::Walk(call, at)) => {
                let base = field(*call, "arguments").and_then(|arguments| children(arguments).first().copied());
                match (base.map(|base| self.fold(base, steps)), at) {
                    (Some(Value::Text(base) | Value::Below(base)), 0) => Value::Below(base),
                    (Some(_), 1 | 2) => Value::List(vec![Value::Name]),
                    _ => Value::Unknown,
                }
            }
            Meaning::Once(_) | Meaning::Free | Meaning::Import(_) | Meaning::Several | Meaning::Clash => Value::Unknown,
        }
    }

    pub(super) fn is_look(&self, name: Node<'t>) -> bool {
        let Some(parent) = name.parent() else { return false };
        match parent.kind() {
            "for_statement" | "for_in_clause" => field(parent, "right") == Some(name),
            "assignment" => field(parent, "left") == Some(name),
            "comparison_operator" | "interpolation" => true,
            "argument_list" => {
                let function = parent.parent().and_then(|call| field(call, "function"));
                function.is_some_and(|function| match function.kind() {
                    "identifier" => {
                        matches!(self.names.meaning(self.source.of(function)), Meaning::Free | Meaning::Import(_))
                    }
                    "attribute" => self.dotted(function).is_some(),
                    _ => false,
                })
            }
            _ => false,
        }
    }

    /// What a call yields, for the few functions that put paths together.
    fn result(&self, node: Node<'t>, steps: u32) -> Value {
        let Some(function) = field(node, "function") else { return Value::Unknown };
        let arguments: Vec<Node<'t>> = field(node, "arguments").map(children).unwrap_or_default();
        let plain = arguments
            .iter()
            .all(|argument| !matches!(argument.kind(), "list_splat" | "dictionary_splat" | "keyword_argument"));
        let single = plain && arguments.len() == 1;
        let values = || arguments.iter().map(|argument| self.fold(*argument, steps));
        if let Some(name) = self.dotted(function) {
            return match name.as_str() {
                "os.path.join" | "pathlib.Path" | "pathlib.PurePath" | "posixpath.join" if plain => {
                    values().reduce(Value::below).unwrap_or(Value::Text(".".into()))
                }
                "os.path.expanduser" => values().next().map(with_home).unwrap_or_default(),
                "os.getenv" | "os.environ.get" => values().next().map(|name| home_variable(&name)).unwrap_or_default(),
                "pathlib.Path.home" => Value::Text(HOME.to_string()),
                "pathlib.Path.cwd" | "os.getcwd" => Value::Text(".".into()),
                "os.listdir" => Value::List(vec![Value::Name]),
                "glob.glob" | "glob.iglob" => matches(&values().next().unwrap_or_default()),
                "sorted" | "list" | "set" | "tuple" | "reversed" | "str" | "os.fspath" | "os.path.normpath"
                    if single =>
                {
                    values().next().unwrap_or_default()
                }
                _ => Value::Unknown,
            };
        }
        if function.kind() != "attribute" {
            return Value::Unknown;
        }
        let receiver = field(function, "object").map(|object| self.fold(object, steps)).unwrap_or_default();
        let method = field(function, "attribute").map(|name| self.source.of(name)).unwrap_or_default();
        if arguments.len() > 1 || !plain {
            return Value::Unknown;
        }
        self.method_result(receiver, method, values().next())
    }

    fn method_result(&self, receiver: Value, method: &str, argument: Option<Value>) -> Value {
        match (method, receiver, argument) {
            ("joinpath", base, Some(next)) => base.below(next),
            ("expanduser", path, None) => with_home(path),
            ("glob", Value::Text(base), Some(Value::Text(pattern))) => Value::Matches(format!("{base}/{pattern}")),
            ("rglob", Value::Text(base), Some(Value::Text(_))) => Value::Below(base),
            ("iterdir", Value::Text(base), None) => Value::Below(base),
            ("split", Value::Text(text), None) => {
                Value::List(text.split_whitespace().map(|word| Value::Text(word.to_owned())).collect())
            }
            ("absolute", value @ Value::Text(_), None) => value,
            ("strip", Value::Text(text), None) if !text.contains(UNKNOWN) => Value::Text(text.trim().to_owned()),
            _ => Value::Unknown,
        }
    }

    /// `.parent`, `.name`: parts of a path.
    fn part_of_path(&self, node: Node<'t>, steps: u32) -> Value {
        let object = field(node, "object").map(|object| self.fold(object, steps)).unwrap_or_default();
        match (field(node, "attribute").map(|name| self.source.of(name)).unwrap_or_default(), object) {
            ("name" | "stem", Value::Text(_) | Value::Matches(_) | Value::Below(_)) => Value::Name,
            _ => Value::Unknown,
        }
    }
}

/// The value of the variable of this name, if it is the home directory.
fn home_variable(name: &Value) -> Value {
    match name.text() {
        Some("HOME" | "USERPROFILE") => Value::Text(HOME.to_string()),
        Some(_) | None => Value::Unknown,
    }
}

fn with_home(value: Value) -> Value {
    match value.text() {
        Some("~") => Value::Text(HOME.to_string()),
        Some(text) if text.starts_with("~/") => Value::Text(text.replacen('~', &HOME.to_string(), 1)),
        // `~somebody` is the home of somebody else.
        Some(text) if text.starts_with('~') => Value::Unknown,
        Some(_) | None => value,
    }
}

fn matches(value: &Value) -> Value {
    match value.text() {
        Some(pattern) if !pattern.contains(UNKNOWN) => Value::Matches(pattern.to_owned()),
        Some(_) | None => Value::Unknown,
    }
}
