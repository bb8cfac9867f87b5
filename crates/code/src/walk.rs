//! What the walkers of both languages do alike: only the kinds of their nodes differ.

use tree_sitter::Node;

use crate::names::{Binding, Meaning, Names};
use crate::reading::{Reading, Use};
use crate::tree::{Source, any_other_use, children, field};
use crate::value::Value;

/// Names that stand for a value are followed this far.
// Paths are joined from a handful of names; each step is one name, one `+` or one `join`.
const VALUE_STEPS: u32 = 24;

/// Names that stand for a function are followed this far.
// People alias a function once or twice. Longer chains are how a call of `eval` is hidden.
const FUNCTION_STEPS: u32 = 8;

/// One walk over the tree of a text.
pub(crate) trait Walk<'t> {
    /// The field of a member expression that names the member.
    const MEMBER: &'static str;

    fn source(&self) -> &Source<'t>;
    fn names(&self) -> &Names<'t>;
    fn reading(&mut self) -> &mut Reading;

    fn visit(&mut self, node: Node<'t>);
    /// Something on the left side of an assignment.
    fn target(&mut self, node: Node<'t>);
    /// The full name of a member of a module, or of a built-in.
    fn dotted(&self, node: Node<'t>) -> Option<String>;
    /// Something that is handed on, with where it stands.
    fn placed(&self, node: Node<'t>, name: &str) -> Use;
    fn fold(&self, node: Node<'t>, steps: u32) -> Value;
    /// The place where a name stands only looks at its value.
    fn only_looks(&self, name: Node<'t>) -> bool;
    fn follow_function(&mut self, node: Node<'t>, steps: u32);
    /// A name that the text itself gives a meaning to is used.
    fn own_name(&mut self, _name: &str) {}

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

    /// A name that is not called: whoever gets it may call it.
    fn name(&mut self, node: Node<'t>) {
        let name = self.source().of(node);
        let path = match self.names().meaning(name) {
            Meaning::Import(path) => path.to_owned(),
            Meaning::Free => name.to_owned(),
            Meaning::Clash => return self.clash(name),
            Meaning::Once(_) | Meaning::Several => return self.own_name(name),
        };
        let used = self.placed(node, &path);
        self.reading().uses.push(used);
    }

    /// An imported name that means something else as well: whoever uses it may use what was imported.
    fn clash(&mut self, name: &str) {
        let imported = self.names().imported(name);
        let reading = self.reading();
        reading.unclear(format!("the name `{name}` has more than one meaning"));
        reading.uses.extend(imported.into_iter().map(|path| Use::handed_on(path, Value::Unknown)));
    }

    /// The name of a function that the text does not define itself; `.name` for a method of some value.
    fn called_name(&self, function: Node<'t>) -> Option<String> {
        self.dotted(function).or_else(|| field(function, Self::MEMBER).map(|_| self.member_name(function)))
    }

    /// `.name` for `value.name`.
    fn member_name(&self, node: Node<'t>) -> String {
        format!(".{}", field(node, Self::MEMBER).map(|name| self.source().of(name)).unwrap_or_default())
    }

    /// A member of some value is handed on.
    fn member_of_value(&mut self, node: Node<'t>) {
        let Some(object) = field(node, "object") else { return };
        let used = Use::handed_on(self.member_name(node), self.value(object));
        self.reading().uses.push(used);
        self.visit(object);
    }

    /// A method of some value is called.
    fn method(&mut self, function: Node<'t>, used: Use) {
        let object = field(function, "object");
        let receiver = object.map(|object| self.value(object)).unwrap_or_default();
        let used = Use { name: self.member_name(function), receiver, ..used };
        self.reading().uses.push(used);
        if let Some(object) = object {
            self.visit(object);
        }
    }

    /// What is known about the value of an expression.
    fn value(&self, node: Node<'t>) -> Value {
        self.fold(node, VALUE_STEPS)
    }

    /// The value of a name that stands for one expression, or for the elements of one.
    fn bound_value(&self, name: Node<'t>, steps: u32) -> Option<Value> {
        match self.names().meaning(self.source().of(name)) {
            Meaning::Once(Binding::Value(value)) => {
                let value = self.fold(*value, steps);
                // A list or object with a name may have been changed before it is used.
                let may_change = || any_other_use(self.source(), name, |place| self.only_looks(place));
                Some(if value.is_changeable() && may_change() { Value::Unknown } else { value })
            }
            Meaning::Once(Binding::Element(walked)) => Some(self.fold(*walked, steps).element()),
            Meaning::Once(_) | Meaning::Free | Meaning::Import(_) | Meaning::Several | Meaning::Clash => None,
        }
    }

    /// A value that somebody may call.
    fn called_later(&mut self, node: Node<'t>) {
        self.may_be_called(node, FUNCTION_STEPS);
    }

    fn may_be_called(&mut self, node: Node<'t>, steps: u32) {
        match steps.checked_sub(1) {
            Some(steps) => self.follow_function(node, steps),
            None => self.reading().unclear("a function hidden behind too many names"),
        }
    }
}
