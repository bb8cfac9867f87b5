//! What the sheet keeps of a call beside its effects, so that later commands of the same call can be judged by it.

use crate::observe::field::Field;
use crate::world::Kind;

/// A pattern that matches nothing while the call is judged.
#[derive(Clone, Debug)]
pub(crate) struct Absent {
    pub directory: String,
    pub pattern: String,
}

/// One tree or file, and where this call puts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    pub place: String,
    /// Where the world has it; `None` if that cannot be said.
    pub source: Option<String>,
    /// The source is gone, so that what is lost at the new place is lost for good.
    pub is_moved: bool,
    /// Both names are one file: what is written to one of them is in the other.
    pub is_shared: bool,
}

/// A file in a tree that must not be shown unasked.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub path: String,
    pub kind: Kind,
    pub is_secret: bool,
    /// A rule that denies or asks is about it.
    pub is_ruled: bool,
}

/// A search by `find` whose hits other commands read.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub starts: Vec<Field>,
    pub tests: Vec<Field>,
    pub cwd: String,
    /// The tree was elsewhere before this call.
    pub is_carried: bool,
}

/// What an archive of this call holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    /// Where the names in the archive begin.
    pub base: String,
    /// One of the words that were packed.
    pub member: String,
    /// Stands before every name.
    pub prefix: String,
}
