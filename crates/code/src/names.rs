//! What the names of a text stand for. Order and scope do not count: a name with two meanings has none.

use std::collections::BTreeMap;

use tree_sitter::Node;

/// One way in which a name gets a meaning.
#[derive(Clone, Debug)]
pub(crate) enum Binding<'t> {
    /// A module or a member of one, by its full name.
    Import(String),
    /// The value of an expression.
    Value(Node<'t>),
    /// An element of an expression.
    Element(Node<'t>),
    /// The n-th part of each step of a walk through a directory.
    Walk(Node<'t>, usize),
    /// A function or class of the text itself.
    Own,
    /// A parameter of a function of the text itself.
    Parameter,
    /// Something else.
    Other,
}

impl Binding<'_> {
    /// What is imported.
    fn path(&self) -> Option<&str> {
        match self {
            Binding::Import(path) => Some(path),
            Binding::Value(_)
            | Binding::Element(_)
            | Binding::Walk(..)
            | Binding::Own
            | Binding::Parameter
            | Binding::Other => None,
        }
    }
}

/// All names that a text gives a meaning to.
#[derive(Debug, Default)]
// Scopes are left out on purpose: a name with two meanings has none, which only asks more, and a reader without
// scopes cannot be tricked by one that is evaluated differently.
pub(crate) struct Names<'t> {
    bindings: BTreeMap<String, Vec<Binding<'t>>>,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Meaning<'a, 't> {
    /// The text says nothing about it: a built-in, or nothing at all.
    Free,
    Import(&'a str),
    /// Defined once, in this way.
    Once(&'a Binding<'t>),
    /// Defined more than once, never by an import.
    Several,
    /// Imported, and something else as well.
    Clash,
}

impl<'t> Names<'t> {
    pub(crate) fn bind(&mut self, name: &str, binding: Binding<'t>) {
        self.bindings.entry(name.to_owned()).or_default().push(binding);
    }

    /// Every way in which a name gets a meaning.
    pub(crate) fn bindings(&self, name: &str) -> &[Binding<'t>] {
        self.bindings.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn meaning(&self, name: &str) -> Meaning<'_, 't> {
        let Some(bindings) = self.bindings.get(name) else { return Meaning::Free };
        let imports: Vec<&str> = bindings.iter().filter_map(Binding::path).collect();
        match (imports.first(), bindings.as_slice()) {
            (Some(first), all) if imports.len() == all.len() && imports.iter().all(|path| path == first) => {
                Meaning::Import(first)
            }
            (Some(_), _) => Meaning::Clash,
            (None, [one]) => Meaning::Once(one),
            (None, _) => Meaning::Several,
        }
    }

    /// What the name is imported as, whatever else it may be.
    pub(crate) fn imported(&self, name: &str) -> Vec<String> {
        self.bindings
            .get(name)
            .map(|all| all.iter().filter_map(Binding::path).map(str::to_owned).collect())
            .unwrap_or_default()
    }

    /// The name is a function, a class or a parameter of the text itself, whatever else it may be.
    pub(crate) fn is_callable(&self, name: &str) -> bool {
        self.bindings
            .get(name)
            .is_some_and(|all| all.iter().all(|binding| matches!(binding, Binding::Own | Binding::Parameter)))
    }

    /// The text gives the name a meaning that is no import.
    pub(crate) fn is_shadowed(&self, name: &str) -> bool {
        matches!(self.meaning(name), Meaning::Once(_) | Meaning::Several | Meaning::Clash)
    }

    pub(crate) fn is_parameter(&self, name: &str) -> bool {
        self.bindings.get(name).is_some_and(|all| all.iter().any(|binding| matches!(binding, Binding::Parameter)))
    }
}
