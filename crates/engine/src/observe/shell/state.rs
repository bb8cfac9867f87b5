//! The state of the shell at one point of a script: directory, variables, functions, files written so far.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use doorward_shell as ast;

use super::git_steps::GitSteps;
use crate::observe::stream::{Origin, Shape, Stream};

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub value: Stream,
    pub exported: bool,
}

/// A file that an earlier command of the same call wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenFile {
    /// `None` if nobody can say what it holds now.
    pub content: Option<String>,
    pub origin: Origin,
    /// A file was there before the call.
    pub over: bool,
    /// A build made it from sources of the trusted project, and nothing of this call wrote it since.
    pub is_built: bool,
    /// A directory that was made and that nothing was put into.
    pub is_new_directory: bool,
}

/// The files that a call wrote so far, by their paths.
pub(crate) type WrittenFiles = BTreeMap<String, WrittenFile>;

impl WrittenFile {
    /// What is there came from builds, or nothing is.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_built || self.is_new_directory
    }

    /// The file where only one of two ways wrote it: on the other way it is what it was.
    fn on_one_way(&self) -> WrittenFile {
        // Whatever a build did not replace was no worse than what it makes.
        WrittenFile { content: self.content.clone().filter(|_| !self.over), ..*self }
    }
}

/// Everything that earlier commands of a script may have changed for later ones.
#[derive(Clone, Debug)]
pub(crate) struct State<'a> {
    /// Absolute, or `None` if it cannot be said.
    pub cwd: Option<Rc<str>>,
    /// What the shell calls its directory if it came there through a link.
    pub logical: Option<Rc<str>>,
    pub previous_cwd: Option<Rc<str>>,
    /// Where the shell is instead if the `cd` that led here failed, as it may have.
    pub otherwise: Option<Rc<str>>,
    pub variables: Rc<BTreeMap<String, Variable>>,
    pub functions: Rc<BTreeMap<String, &'a ast::Command>>,
    /// Names whose meaning an alias, a hash entry or another trick changed.
    pub shadowed: Rc<Vec<String>>,
    /// Positional parameters; `None` if they are not known.
    pub positional: Option<Rc<Vec<String>>>,
    pub written: Rc<WrittenFiles>,
    /// What became of git's names.
    pub git: Rc<GitSteps>,
    /// Variables that do not simply take what is assigned: read-only, numbers, changed by a trap.
    pub stubborn: Rc<BTreeSet<String>>,
    /// Variables whose value is arithmetic.
    pub numbers: Rc<BTreeSet<String>>,
    /// Arrays whose elements have names.
    pub keyed: Rc<BTreeSet<String>>,
    /// Variables that the running function keeps for itself, with what they were before.
    pub locals: Rc<Vec<(String, Option<Variable>)>>,
    /// Names no longer stand for the programs that the world resolves.
    pub path_changed: bool,
    /// The virtual environment that was activated: its programs come first.
    pub venv: Option<Rc<str>>,
    /// A setting of the shell changes how words are read.
    pub odd_shell: bool,
    /// A variable in force can make programs run other programs.
    pub poisoned: bool,
    /// `set -a`: programs see every variable that is set.
    pub exports_all: bool,
    /// The shell that runs this part.
    pub dialect: ast::Dialect,
}

impl<'a> State<'a> {
    pub(crate) fn new(cwd: Option<&str>) -> State<'a> {
        State {
            cwd: cwd.map(Rc::from),
            logical: None,
            previous_cwd: None,
            otherwise: None,
            variables: Rc::default(),
            functions: Rc::default(),
            shadowed: Rc::default(),
            positional: Some(Rc::default()),
            written: Rc::default(),
            git: Rc::default(),
            stubborn: Rc::default(),
            numbers: Rc::default(),
            keyed: Rc::default(),
            locals: Rc::default(),
            path_changed: false,
            venv: None,
            odd_shell: false,
            poisoned: false,
            exports_all: false,
            dialect: ast::Dialect::Bash,
        }
    }

    /// A copy without the functions, whose bodies belong to the text of one script.
    pub(crate) fn apart(&self) -> State<'static> {
        State {
            cwd: self.cwd.clone(),
            logical: self.logical.clone(),
            previous_cwd: self.previous_cwd.clone(),
            otherwise: self.otherwise.clone(),
            variables: Rc::clone(&self.variables),
            functions: Rc::default(),
            shadowed: Rc::clone(&self.shadowed),
            positional: self.positional.clone(),
            written: Rc::clone(&self.written),
            git: Rc::clone(&self.git),
            stubborn: Rc::clone(&self.stubborn),
            numbers: Rc::clone(&self.numbers),
            keyed: Rc::clone(&self.keyed),
            locals: Rc::clone(&self.locals),
            path_changed: self.path_changed,
            venv: self.venv.clone(),
            odd_shell: self.odd_shell,
            poisoned: self.poisoned,
            exports_all: self.exports_all,
            dialect: self.dialect,
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Stream) {
        let variables = Rc::make_mut(&mut self.variables);
        match variables.get_mut(name) {
            Some(variable) => variable.value = value,
            None => {
                variables.insert(name.to_owned(), Variable { value, exported: false });
            }
        }
    }

    /// Programs and shells that are started see the variable.
    pub(crate) fn export(&mut self, name: &str) {
        if let Some(variable) = Rc::make_mut(&mut self.variables).get_mut(name) {
            variable.exported = true;
        }
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.set(name, Stream::default());
    }

    /// Takes over what a command changed that ran with variables of its own, but not those.
    pub(crate) fn keep_changes<'n>(
        &mut self,
        before: &State<'a>,
        after: &State<'a>,
        own: impl Iterator<Item = &'n str>,
    ) {
        self.written = Rc::clone(&after.written);
        self.git = Rc::clone(&after.git);
        if after.cwd != before.cwd || after.logical != before.logical || after.otherwise != before.otherwise {
            self.cwd.clone_from(&after.cwd);
            self.logical.clone_from(&after.logical);
            self.otherwise.clone_from(&after.otherwise);
            self.previous_cwd.clone_from(&after.previous_cwd);
        }
        self.functions = Rc::clone(&after.functions);
        self.shadowed = Rc::clone(&after.shadowed);
        self.positional.clone_from(&after.positional);
        self.stubborn = Rc::clone(&after.stubborn);
        self.numbers = Rc::clone(&after.numbers);
        self.keyed = Rc::clone(&after.keyed);
        self.locals = Rc::clone(&after.locals);
        self.odd_shell |= after.odd_shell;
        self.exports_all |= after.exports_all;
        if Rc::ptr_eq(&before.variables, &after.variables) {
            return;
        }
        let outside = std::mem::replace(&mut self.variables, Rc::clone(&after.variables));
        let variables = Rc::make_mut(&mut self.variables);
        for name in own {
            let is_untouched = before.variables.get(name) == after.variables.get(name);
            match outside.get(name).filter(|_| is_untouched) {
                Some(variable) => drop(variables.insert(name.to_owned(), variable.clone())),
                None if is_untouched => drop(variables.remove(name)),
                // Whether the command changed its own variable or the one outside depends on the shell.
                None => drop(variables.insert(name.to_owned(), Variable { value: Stream::default(), exported: false })),
            }
        }
    }

    /// What may hold after either of two ways through a script.
    #[must_use]
    pub(crate) fn join(mut self, other: &State<'a>) -> State<'a> {
        self.join_directories(other);
        if self.previous_cwd != other.previous_cwd {
            self.previous_cwd = None;
        }
        if self.positional != other.positional {
            self.positional = None;
        }
        self.path_changed |= other.path_changed || self.venv != other.venv;
        self.odd_shell |= other.odd_shell;
        self.poisoned |= other.poisoned;
        self.exports_all |= other.exports_all;
        if !Rc::ptr_eq(&self.stubborn, &other.stubborn) {
            Rc::make_mut(&mut self.stubborn).extend(other.stubborn.iter().cloned());
        }
        if !Rc::ptr_eq(&self.numbers, &other.numbers) {
            Rc::make_mut(&mut self.numbers).extend(other.numbers.iter().cloned());
        }
        if !Rc::ptr_eq(&self.keyed, &other.keyed) {
            Rc::make_mut(&mut self.keyed).retain(|name| other.keyed.contains(name));
        }
        if !Rc::ptr_eq(&self.locals, &other.locals) {
            let mine = Rc::make_mut(&mut self.locals);
            mine.extend(other.locals.iter().filter(|local| !mine.contains(local)).cloned().collect::<Vec<_>>());
        }
        if !Rc::ptr_eq(&self.git, &other.git) {
            Rc::make_mut(&mut self.git).join(&other.git);
        }
        self.join_variables(other);
        self.join_tables(other);
        self
    }

    /// Of two directories only one can be kept, unless one is where the shell stayed when it did not get to the other.
    fn join_directories(&mut self, other: &State<'a>) {
        let is_same = self.cwd == other.cwd && self.logical == other.logical;
        match (&self.otherwise, &other.otherwise) {
            (mine, theirs) if is_same && mine == theirs => {}
            (Some(_), None) if is_same => {}
            (None, Some(_)) if is_same => self.otherwise.clone_from(&other.otherwise),
            (Some(_), None) if self.otherwise == other.cwd => {}
            (None, Some(_)) if other.otherwise == self.cwd => {
                self.cwd.clone_from(&other.cwd);
                self.logical.clone_from(&other.logical);
                self.otherwise.clone_from(&other.otherwise);
            }
            (_, _) => {
                self.cwd = None;
                self.logical = None;
                self.otherwise = None;
            }
        }
    }

    /// The state if the `cd` that led here failed.
    pub(crate) fn elsewhere(&self) -> Option<State<'a>> {
        let stayed = self.otherwise.clone()?;
        Some(State { cwd: Some(stayed), logical: None, otherwise: None, ..self.clone() })
    }

    /// Nothing that later commands could notice is different.
    pub(crate) fn equals(&self, other: &State<'a>) -> bool {
        let same_functions = Rc::ptr_eq(&self.functions, &other.functions)
            || (self.functions.len() == other.functions.len()
                && self
                    .functions
                    .iter()
                    .zip(other.functions.iter())
                    .all(|((name, body), (known, old))| name == known && std::ptr::eq(*body, *old)));
        same_functions
            && self.cwd == other.cwd
            && self.venv == other.venv
            && self.logical == other.logical
            && self.previous_cwd == other.previous_cwd
            && self.otherwise == other.otherwise
            && self.positional == other.positional
            && self.variables == other.variables
            && self.shadowed == other.shadowed
            && self.written == other.written
            && self.git == other.git
            && self.stubborn == other.stubborn
    }

    /// The variables of a function go with it, and those that they hid come back.
    pub(crate) fn drop_locals(&mut self, outer: Rc<Vec<(String, Option<Variable>)>>) {
        let locals = std::mem::replace(&mut self.locals, outer);
        for (name, before) in locals.iter().rev() {
            let variables = Rc::make_mut(&mut self.variables);
            match before {
                Some(variable) => variables.insert(name.clone(), variable.clone()),
                None => variables.remove(name),
            };
        }
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
                    let origin = variable.value.origin.and(theirs.value.origin);
                    let are_numbers = variable.value.is_number() && theirs.value.is_number();
                    let shape = if are_numbers { Shape::Token } else { Shape::Any };
                    variable.value = Stream { shape, ..Stream::unknown(origin) };
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
            // A name that is a function only on one way is a program on the other.
            let only_mine = self.functions.keys().filter(|name| !other.functions.contains_key(*name));
            Rc::make_mut(&mut self.shadowed).extend(only_mine.cloned());
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
            let mine = Rc::make_mut(&mut self.shadowed);
            let theirs: Vec<String> = other.shadowed.iter().filter(|name| !mine.contains(name)).cloned().collect();
            mine.extend(theirs);
        }
        if !Rc::ptr_eq(&self.written, &other.written) {
            let mine = Rc::make_mut(&mut self.written);
            for (path, file) in other.written.iter() {
                match mine.get_mut(path) {
                    Some(known) if known == file => {}
                    Some(known) => {
                        known.content = None;
                        known.is_built &= file.is_built;
                        known.origin = known.origin.and(file.origin);
                    }
                    None => {
                        mine.insert(path.clone(), file.on_one_way());
                    }
                }
            }
            for (_, file) in mine.iter_mut().filter(|(path, _)| !other.written.contains_key(*path)) {
                *file = file.on_one_way();
            }
        }
    }
}
