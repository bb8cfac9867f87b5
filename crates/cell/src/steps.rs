//! The order in which a commit does things.

use std::path::PathBuf;

use crate::journal::Step;
use crate::layers::Change;
use crate::stamp::{Kind, Stamp};
use crate::wanted::is_merged;

/// The steps by their turn: first what is in the way, then directories from the outside in, then files, then deletions, and
/// at last what directories are to be.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    obstacles: Vec<Step>,
    directories: Vec<Step>,
    files: Vec<Step>,
    deletions: Vec<Step>,
    finishes: Vec<Step>,
    replaced: Vec<(usize, PathBuf)>,
    staged: u64,
}

impl Steps {
    /// Answers with the number under which the change's file is to be staged, if it has one.
    pub(crate) fn add(&mut self, change: &Change, finish: &Option<Step>) -> Option<u64> {
        let (root, path) = (change.root, change.path.clone());
        let remove = |entry: Stamp| Step::Remove { root, path: path.clone(), entry };
        self.finishes.extend(finish.clone());
        let Some(after) = change.after else {
            self.deletions.extend(change.before.map(remove));
            return None;
        };
        let directory = |stamp: Stamp| stamp.kind == Kind::Directory;
        if let Some(before) = change.before.filter(|before| directory(*before) != directory(after)) {
            self.obstacles.push(remove(before));
            self.replaced.push((root, path.clone()));
        }
        if directory(after) {
            if !is_merged(change) {
                self.directories.push(Step::MakeDirectory { root, path });
            }
            return None;
        }
        let staged = self.staged;
        self.staged += 1;
        self.files.push(Step::Place { root, staged, path });
        Some(staged)
    }

    /// Changes come with a directory after everything in it, which is the order for removing and finishing.
    pub(crate) fn in_order(mut self) -> Vec<Step> {
        let replaced = std::mem::take(&mut self.replaced);
        let inside = |step: &Step| match step {
            Step::Remove { root, path, .. } => {
                replaced.iter().any(|(other, above)| other == root && path != above && path.starts_with(above))
            }
            Step::MakeDirectory { .. } | Step::Place { .. } | Step::Finish { .. } => false,
        };
        let (mut steps, deletions): (Vec<Step>, Vec<Step>) = self.deletions.into_iter().partition(inside);
        steps.extend(self.obstacles);
        self.directories.reverse();
        for part in [self.directories, self.files, deletions, self.finishes] {
            steps.extend(part);
        }
        steps
    }
}
