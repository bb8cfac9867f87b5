//! What differs between two trees: only the directories that differ are read.

use std::cmp::Ordering;
use std::rc::Rc;

use super::tree::{DIRECTORY, Tree, TreeEntry, order};
use super::{Id, Objects, Unread};

/// How many paths may differ.
const CHANGES: usize = 5_000;

/// How deep directories may be nested.
// Bounds recursion on a tree that a hostile pack nests without end.
const DEPTH: usize = 128;

/// A path that differs: mode and object on each side that has it. Directories themselves are not listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChangedPath {
    pub path: String,
    pub from: Option<(u32, Id)>,
    pub to: Option<(u32, Id)>,
}

impl Objects {
    /// Every path that differs between two trees, or the trees of two commits. Without a first one all paths are new.
    pub(crate) fn diff(&self, from: Option<Id>, to: Id) -> Result<Vec<ChangedPath>, Unread> {
        let mut changes = Vec::new();
        let from = from.map(|id| self.tree_of(&id)).transpose()?;
        let to = self.tree_of(&to)?;
        if from != Some(to) {
            self.compare(&mut String::new(), (from, Some(to)), &mut changes, 0)?;
        }
        Ok(changes)
    }

    fn compare(
        &self,
        prefix: &mut String,
        (from, to): (Option<Id>, Option<Id>),
        changes: &mut Vec<ChangedPath>,
        depth: usize,
    ) -> Result<(), Unread> {
        if depth > DEPTH {
            return Err(Unread::OverBudget);
        }
        let read = |id: Option<Id>| id.map_or_else(|| Ok(Rc::new(Tree::default())), |id| self.tree(&id));
        let (from, to) = (read(from)?, read(to)?);
        let (mut old, mut new) = (from.entries().peekable(), to.entries().peekable());
        loop {
            let which = match (old.peek(), new.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(one), Some(other)) => order((one.name.as_bytes(), one.mode), (other.name.as_bytes(), other.mode)),
            };
            let before = if which.is_le() { old.next() } else { None };
            let after = if which.is_ge() { new.next() } else { None };
            if before != after {
                self.differs(prefix, (before, after), changes, depth)?;
            }
        }
    }

    /// Two entries of the same name and sort, or one of them.
    fn differs(
        &self,
        prefix: &mut String,
        (before, after): (Option<TreeEntry<'_>>, Option<TreeEntry<'_>>),
        changes: &mut Vec<ChangedPath>,
        depth: usize,
    ) -> Result<(), Unread> {
        let Some(any) = after.or(before) else { return Ok(()) };
        let length = prefix.len();
        prefix.push_str(any.name);
        if any.mode == DIRECTORY {
            prefix.push('/');
            self.compare(prefix, (before.map(|entry| entry.id), after.map(|entry| entry.id)), changes, depth + 1)?;
        } else if changes.len() == CHANGES {
            return Err(Unread::OverBudget);
        } else {
            let side = |entry: Option<TreeEntry<'_>>| entry.map(|entry| (entry.mode, entry.id));
            changes.push(ChangedPath { path: prefix.clone(), from: side(before), to: side(after) });
        }
        prefix.truncate(length);
        Ok(())
    }
}
