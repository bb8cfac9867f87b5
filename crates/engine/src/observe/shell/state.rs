//! The state of the shell at one point of a script: directory, variables, functions, files written so far.

use std::collections::BTreeMap;
use std::rc::Rc;

use doorward_shell as ast;

use crate::observe::stream::{Origin, Stream};

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub value: Stream,
    pub exported: bool,
}

/// A file that an earlier command of the same call wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    pub content: Option<String>,
    pub origin: Origin,
}

/// Everything that earlier commands of a script may have changed for later ones.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// Absolute, or `None` if it cannot be said.
    pub cwd: Option<Rc<str>>,
    pub previous_cwd: Option<Rc<str>>,
    pub variables: Rc<BTreeMap<String, Variable>>,
    pub functions: Rc<BTreeMap<String, &'a ast::Command>>,
    /// Names whose meaning an alias, a hash entry or another trick changed.
    pub shadowed: Rc<Vec<String>>,
    /// Positional parameters; `None` if they are not known.
    pub positional: Option<Rc<Vec<String>>>,
    pub written: Rc<BTreeMap<String, WrittenFile>>,
    /// Names no longer stand for the programs that the world resolves.
    pub path_changed: bool,
    /// A setting of the shell changes how words are read.
    pub odd_shell: bool,
    /// A variable in force can make programs run other programs.
    pub poisoned: bool,
}

impl<'a> State<'a> {
    pub fn new(cwd: Option<&str>) -> State<'a> {
        State {
            cwd: cwd.map(Rc::from),
            previous_cwd: None,
            variables: Rc::default(),
            functions: Rc::default(),
            shadowed: Rc::default(),
            positional: Some(Rc::default()),
            written: Rc::default(),
            path_changed: false,
            odd_shell: false,
            poisoned: false,
        }
    }

    pub fn set(&mut self, name: &str, value: Stream) {
        let variables = Rc::make_mut(&mut self.variables);
        match variables.get_mut(name) {
            Some(variable) => variable.value = value,
            None => {
                variables.insert(name.to_owned(), Variable { value, exported: false });
            }
        }
    }

    pub fn forget(&mut self, name: &str) {
        self.set(name, Stream::default());
    }

    /// What may hold after either of two ways through a script.
    #[must_use]
    pub fn join(mut self, other: &State<'a>) -> State<'a> {
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        if self.previous_cwd != other.previous_cwd {
            self.previous_cwd = None;
        }
        if self.positional != other.positional {
            self.positional = None;
        }
        self.path_changed |= other.path_changed;
        self.odd_shell |= other.odd_shell;
        self.poisoned |= other.poisoned;
        self.join_variables(other);
        self.join_tables(other);
        self
    }

    fn join_variables(&mut self, other: &State<'a>) {
        if Rc::ptr_eq(&self.variables, &other.variables) {
            return;
        }
        let mine = Rc::make_mut(&mut self.variables);
        for (name, theirs) in other.variables.iter() {
            match mine.get_mut(name) {
                Some(variable) if variable.value == theirs.value => variable.exported |= theirs.exported,
                Some(variable) => {
                    variable.exported |= theirs.exported;
                    variable.value = Stream::unknown(variable.value.origin.and(theirs.value.origin));
                }
                None => {
                    let value = Stream::unknown(theirs.value.origin);
                    mine.insert(name.clone(), Variable { value, exported: theirs.exported });
                }
            }
        }
        for (name, variable) in mine.iter_mut() {
            if !other.variables.contains_key(name) {
                variable.value = Stream::unknown(variable.value.origin);
            }
        }
    }

    fn join_tables(&mut self, other: &State<'a>) {
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            let mine = Rc::make_mut(&mut self.functions);
            for (name, function) in other.functions.iter() {
                let known = mine.get(name).copied();
                if known.is_none_or(|known| !std::ptr::eq(known, *function)) {
                    mine.entry(name.clone()).or_insert(function);
                    Rc::make_mut(&mut self.shadowed).push(name.clone());
                }
            }
        }
        if !Rc::ptr_eq(&self.shadowed, &other.shadowed) {
            Rc::make_mut(&mut self.shadowed).extend(other.shadowed.iter().cloned());
        }
        if !Rc::ptr_eq(&self.written, &other.written) {
            let mine = Rc::make_mut(&mut self.written);
            for (path, file) in other.written.iter() {
                match mine.get_mut(path) {
                    Some(known) if known == file => {}
                    Some(known) => *known = WrittenFile { content: None, origin: known.origin.and(file.origin) },
                    None => {
                        mine.insert(path.clone(), file.clone());
                    }
                }
            }
        }
    }
}
