//! Functions that are handed to somebody who may call them.

use tree_sitter::Node;

use super::Walker;
use crate::names::{Binding, Meaning};
use crate::reading::Use;
use crate::tree::{children, field};
use crate::walk::Walk;

impl<'t> Walker<'t> {
    /// Looks at those arguments of a call that the called function may call in turn.
    pub(super) fn called_arguments(&mut self, function: Node<'t>, arguments: Option<Node<'t>>) {
        let Some(name) = self.called_name(function) else { return };
        let given = arguments.map(children).unwrap_or_default();
        let function = called_at(&name).and_then(|at| given.get(at));
        if let Some(function) = function {
            // Some runtimes take a text for code here.
            if name.starts_with("set") && self.value(*function).text().is_some() {
                self.reading.unclear("it runs text as code");
            }
            self.called_later(*function);
        }
    }

    /// What is handed on here may be called by whoever gets it.
    pub(super) fn hand_on(&mut self, node: Node<'t>, steps: u32) {
        match node.kind() {
            "identifier" => self.named_function(node, steps),
            "member_expression" if self.dotted(node).is_none() => {
                let used = Use { may_be_called: true, ..Use::handed_on(self.member_name(node), Default::default()) };
                self.reading.uses.push(used);
            }
            "call_expression" => match field(node, "function").and_then(|function| self.dotted(function)) {
                Some(_) => {
                    let given = field(node, "arguments").map(children).unwrap_or_default();
                    given.into_iter().for_each(|argument| self.may_be_called(argument, steps));
                }
                None => self.worked_out(),
            },
            "subscript_expression" | "new_expression" => self.worked_out(),
            "parenthesized_expression"
            | "ternary_expression"
            | "binary_expression"
            | "sequence_expression"
            | "spread_element"
            | "array"
            | "await_expression" => {
                children(node).into_iter().for_each(|child| self.may_be_called(child, steps));
            }
            _ => {}
        }
    }

    fn named_function(&mut self, node: Node<'t>, steps: u32) {
        let name = self.source.of(node);
        match self.names.meaning(name) {
            Meaning::Once(Binding::Value(value) | Binding::Element(value)) => {
                let value = *value;
                self.may_be_called(value, steps);
            }
            Meaning::Once(_) | Meaning::Several if !self.names.is_callable(name) => self.worked_out(),
            Meaning::Free | Meaning::Import(_) | Meaning::Once(_) | Meaning::Several | Meaning::Clash => {}
        }
    }

    fn worked_out(&mut self) {
        self.reading.unclear("it passes on a function that it works out at run time");
    }
}

/// Which of its arguments a function of the language calls.
fn called_at(name: &str) -> Option<usize> {
    // Functions of the language that call their argument. Anything else that gets a function is judged by its own
    // name.
    const FIRST: &str = ".map .filter .forEach .find .findIndex .findLast .findLastIndex .some .every .flatMap .sort \
                         .toSorted .then .catch .finally .reduce .reduceRight setTimeout setInterval setImmediate \
                         queueMicrotask process.nextTick Promise util.promisify util.callbackify util.deprecate";
    // Here the first argument is a pattern, an event or the data.
    const SECOND: &str = ".replace .replaceAll .on .once .question Array.from JSON.parse JSON.stringify process.on \
                          process.stdin.on Object.groupBy";
    let among = |names: &str| names.split_ascii_whitespace().any(|known| known == name);
    if among(FIRST) {
        Some(0)
    } else if among(SECOND) {
        Some(1)
    } else {
        None
    }
}
