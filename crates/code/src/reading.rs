//! What was found in a text.

use crate::value::Value;

/// Everything that a text imports and uses. Whatever is not listed here is arithmetic on its own data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Modules, as the text names them.
    pub imports: Vec<String>,
    pub uses: Vec<Use>,
    /// What could not be followed; such a text may do anything.
    pub unclear: Vec<String>,
    /// A member of some value is given another value.
    pub sets_members: bool,
    /// Files that get their own text back, with replacements that stand here.
    pub edits: Vec<Edit>,
}

/// A file that is read, changed and written back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// As the text names it.
    pub path: String,
    pub replaced: Vec<Replacement>,
}

/// What takes the place of what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// Texts that are taken out, one of them; `None` if it is a pattern or a place.
    pub old: Option<Vec<String>>,
    /// Texts that are put in, one of them; none if something is only cut away.
    pub new: Vec<String>,
}

impl Replacement {
    /// Text that is put in where nobody says what stood there.
    pub(crate) fn put_in(new: Vec<String>) -> Replacement {
        Replacement { old: None, new }
    }
}

/// One function or attribute that is not defined in the text itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// `os.remove` for a member of a module, `open` for a built-in, `.write_text` for a method of some value.
    pub name: String,
    /// The value whose method it is.
    pub receiver: Value,
    /// `None`: it is not called here but handed on.
    pub arguments: Option<Vec<Value>>,
    pub named: Vec<(String, Value)>,
    /// Some arguments come out of a list, so their places are not known.
    pub spread: bool,
    /// It is handed to somebody who may call it.
    pub may_be_called: bool,
    /// The function that it is handed to, if it stands among the arguments of one that the text does not define itself:
    /// `unittest.mock.patch.object`, `.setattr`.
    pub given_to: Option<String>,
    /// It only says what something is: an annotation.
    pub is_type: bool,
}

impl Reading {
    pub(crate) fn not_read(because: &str) -> Reading {
        Reading { unclear: vec![because.to_owned()], ..Reading::default() }
    }

    pub(crate) fn unclear(&mut self, because: impl Into<String>) {
        let because = because.into();
        if !self.unclear.contains(&because) {
            self.unclear.push(because);
        }
    }

    pub(crate) fn import(&mut self, module: impl Into<String>) {
        let module = module.into();
        if !self.imports.contains(&module) {
            self.imports.push(module);
        }
    }
}

impl Use {
    /// The argument at a place.
    pub fn argument(&self, at: usize) -> Option<&Value> {
        self.arguments.as_ref().and_then(|arguments| arguments.get(at))
    }

    /// The argument with a name.
    pub fn named(&self, name: &str) -> Option<&Value> {
        self.named.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The function or attribute is handed on, not called.
    pub(crate) fn handed_on(name: impl Into<String>, receiver: Value) -> Use {
        Use { name: name.into(), receiver, ..Use::default() }
    }
}
