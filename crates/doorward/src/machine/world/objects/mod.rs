//! Git's objects, references and trees, read without git. Nothing is written, no program is started, and anything missing,
//! damaged, too large or not understood is reported as such.
//!
//! Start at `names.rs`, which finds the object for a name on a command line, and `diff.rs`, which compares two trees.

#[cfg(test)]
mod against_git;
mod budget;
mod delta;
mod diff;
mod history;
#[cfg(test)]
mod hostile;
mod id;
mod inflate;
mod listed;
mod logs;
mod loose;
#[cfg(test)]
mod made;
mod names;
mod pack;
mod pack_index;
mod references;
mod store;
#[cfg(test)]
mod tests;
mod tips;
mod tree;
mod upstream;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(crate) use budget::Budget;
pub(crate) use diff::ChangedPath;
pub(crate) use id::{HashFormat, Id, ObjectKind, blob_id};
pub(crate) use upstream::upstream_of;

use history::{Commit, ShallowCommits};
use id::hashed;
use references::Packed;
use store::{Object, ObjectStore};
use tree::Tree;

/// Bytes of a commit or a tag; longer ones are not real.
const MESSAGE: u64 = 1 << 20;

/// Bytes of a tree: a directory of a hundred thousand files.
const TREE: u64 = 8 << 20;

/// Why something in a repository was not read. Callers must assume the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// No object has this name.
    Missing,
    /// No reference and no object has this name, and git would say the same.
    NoSuchName,
    /// Bytes that git would not have written.
    Corrupt,
    /// A file is there and cannot be opened or read.
    Unreadable,
    /// One object is larger than the caller allows.
    TooLarge,
    /// Everything together is more than one call may read.
    OverBudget,
    /// Something that git understands and doorward does not.
    Unsupported(&'static str),
    /// Several objects could be meant.
    Ambiguous,
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Unread::Missing => "an object is missing from the repository",
            Unread::NoSuchName => "the repository has no branch, tag or commit of this name",
            Unread::Corrupt => "the repository has a damaged object, reference or log",
            Unread::Unreadable => "a file of the repository can't be read",
            Unread::TooLarge => "an object is too large to look at",
            Unread::OverBudget => "there is too much to look at in one call",
            Unread::Unsupported(what) => return write!(formatter, "doorward can't read {what}"),
            Unread::Ambiguous => "the name could mean more than one object",
        })
    }
}

/// The objects and references of one repository, read on demand and cached for the call.
#[derive(Debug)]
pub(crate) struct Objects {
    git_directory: PathBuf,
    common: PathBuf,
    format: HashFormat,
    budget: Budget,
    store: ObjectStore,
    packed: OnceCell<Result<Packed, Unread>>,
    replaced: OnceCell<Result<Vec<Id>, Unread>>,
    cut: OnceCell<Result<ShallowCommits, Unread>>,
    trees: RefCell<HashMap<Id, Rc<Tree>>>,
    commits: RefCell<HashMap<Id, Rc<Commit>>>,
}

impl Objects {
    /// The objects of a work tree's own git directory and of the one it shares with other work trees.
    pub(crate) fn at(git_directory: &Path, common: &Path, format: HashFormat) -> Objects {
        Objects::within(git_directory, common, format, Budget::default())
    }

    /// The same, with another budget.
    pub(crate) fn within(git_directory: &Path, common: &Path, format: HashFormat, budget: Budget) -> Objects {
        Objects {
            git_directory: git_directory.to_owned(),
            common: common.to_owned(),
            format,
            budget,
            store: ObjectStore::new(common, format),
            packed: OnceCell::new(),
            replaced: OnceCell::new(),
            cut: OnceCell::new(),
            trees: RefCell::default(),
            commits: RefCell::default(),
        }
    }

    /// Reads one object up to a size limit.
    pub(crate) fn read(&self, id: &Id, limit_bytes: u64) -> Result<(ObjectKind, Vec<u8>), Unread> {
        let object = self.object(id, limit_bytes)?;
        Ok((object.kind, object.bytes.clone()))
    }

    fn object(&self, id: &Id, limit: u64) -> Result<Rc<Object>, Unread> {
        if self.replaced()?.contains(id) {
            return Err(Unread::Unsupported("an object that another one replaces"));
        }
        match self.store.read(id, limit, &self.budget) {
            // Git knows the empty tree even if it was never stored.
            Err(_) if *id == self.format.empty_tree() => {
                Ok(Rc::new(Object { kind: ObjectKind::Tree, bytes: Vec::new() }))
            }
            answer => answer,
        }
    }

    /// The objects that git replaces with others.
    fn replaced(&self) -> Result<&[Id], Unread> {
        let list = || {
            let mut ids: Vec<Id> = Vec::new();
            let loose = listed::names(&self.common.join("refs/replace"))?;
            ids.extend(loose.iter().filter_map(|name| Id::parse(name)));
            ids.extend(self.packed()?.below("refs/replace/").filter_map(Id::parse));
            Ok(ids)
        };
        self.replaced.get_or_init(list).as_deref().map_err(|problem| *problem)
    }
}
