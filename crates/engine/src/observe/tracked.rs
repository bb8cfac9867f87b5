//! Tracked files behind one target: how many a tree, a wildcard or one of git's own commands takes.

use doorward_vocabulary::{Mark, Operation, Reversibility, Scope};

use super::observer::Observer;
use super::touch::{MATCHED, Touch};
use crate::effect::{Amount, Effect};
use crate::limits::is_bulk;
use crate::path;
use crate::policy::Thresholds;
use crate::world::{Kind, Tally, Tracking};

/// So many files are looked at one by one; whatever is tracked beyond them counts as being there.
const LOOKED: usize = 200;

/// More hits of a pattern are not looked up.
const MANY: usize = 2_000;

impl Observer<'_> {
    /// Writes down how many tracked files go with a tree. That the others are copied first does not bring these back.
    pub(super) fn note_tracked(&self, touch: Touch, real: &str, effect: &mut Effect) {
        let is_lost = match effect.reversibility {
            Reversibility::Tracked | Reversibility::Irreversible => true,
            Reversibility::NothingChanges | Reversibility::Rebuildable | Reversibility::Snapshotted => false,
        };
        if touch == Touch::DeleteTree && is_lost && effect.scope < Scope::OtherRepo {
            effect.restorable = self.tracked_there(real, |_| true);
        }
    }

    /// The same for the effects from `at` on, which stand for what a pattern matches in a directory.
    pub(super) fn count_matched(&mut self, at: usize, touch: Touch, directory: &str, pattern: &str) {
        let is_counted = |effect: &Effect| effect.operation == Operation::Delete && effect.restorable > 0;
        if !self.effects.iter().skip(at).any(is_counted) {
            return;
        }
        let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let inner = |file: &str| file.strip_prefix(directory).map(|inner| inner.trim_start_matches('/').to_owned());
        let is_tree = touch == Touch::DeleteTree;
        let is_hit = |file: &str| inner(file).is_none_or(|inner| fits(&parts, &inner, is_tree));
        let counted = self.tracked_there(directory, is_hit);
        self.effects.iter_mut().skip(at).filter(|effect| is_counted(effect)).for_each(|effect| {
            effect.restorable = counted;
        });
    }

    /// What the pattern really hits takes the place of everything in its directory.
    pub(super) fn count_lost(&mut self, at: usize, touch: Touch, directory: &str, pattern: &str) {
        let is_deletion = matches!(touch, Touch::Delete | Touch::DeleteTree);
        if !is_deletion || !self.is_own_ground(directory) {
            return;
        }
        let hits = self.hits(directory, pattern).filter(|_| self.is_still());
        let Some(lost) = hits.and_then(|hits| self.lost_with(&hits)) else {
            let last = pattern.rsplit('/').next().unwrap_or_default();
            return if super::wild::is_narrow(last) {
                self.leave_open(at)
            };
        };
        let is_meant = |effect: &&mut Effect| {
            effect.operation == Operation::Delete && effect.reversibility == Reversibility::Irreversible
        };
        for effect in self.effects.iter_mut().skip(at).filter(is_meant) {
            effect.marks.remove(Mark::Bulk);
            effect.amount = Some(lost).filter(|lost| lost.files > 0);
            match (lost.files, effect.restorable) {
                (0, 0) => effect.reversibility = Reversibility::Rebuildable,
                (0, _) => effect.reversibility = Reversibility::Tracked,
                (_, _) if is_bulk(lost, &Thresholds::default()) => effect.marks.add(Mark::Bulk),
                (_, _) => {}
            }
        }
    }

    /// Some of what lies there goes, and nobody can say how much: a person is asked, and told no number that is wrong.
    pub fn leave_open(&mut self, at: usize) {
        for effect in self.effects.iter_mut().skip(at).filter(|effect| effect.operation == Operation::Delete) {
            effect.marks.remove(Mark::Bulk);
            effect.marks.add(Mark::CountUnknown);
            effect.amount = None;
        }
    }

    /// What nothing brings back of these; `None` if that is not certain, or a repository goes with them.
    fn lost_with(&self, hits: &[String]) -> Option<Amount> {
        if hits.len() > MANY || hits.iter().any(|hit| hit.split('/').any(|part| part == ".git")) {
            return None;
        }
        let mut lost = Amount::default();
        for hit in hits {
            match self.world.tally(hit) {
                Tally::Counted { unrestorable, unrestorable_bytes, .. } => {
                    lost.files = lost.files.saturating_add(unrestorable);
                    lost.bytes = lost.bytes.saturating_add(unrestorable_bytes);
                }
                Tally::More { .. } | Tally::Unknown => return None,
            }
        }
        Some(lost)
    }

    /// Files that one of git's own commands would throw the changes of, of a whole work tree.
    pub fn note_discarded(&self, effect: &mut Effect) {
        if effect.operation != Operation::Delete || !effect.marks.has(Mark::DiscardsWork) || effect.by == "git clean" {
            return;
        }
        if let crate::effect::Target::Path(root) = &effect.target {
            let files = self.world.tracked_files(root, root);
            effect.restorable = files.map_or(u64::MAX, |files| self.changed(files.iter()));
        }
    }

    /// How many of the files are there and differ from what is staged.
    pub fn changed<'f>(&self, files: impl Iterator<Item = &'f String>) -> u64 {
        let is_changed = |file: &&String| {
            self.world.tracking(file) == Tracking::Modified && self.world.look(file).kind != Kind::Missing
        };
        u64::try_from(files.filter(is_changed).count()).unwrap_or(u64::MAX)
    }

    fn tracked_there(&self, below: &str, is_hit: impl Fn(&str) -> bool) -> u64 {
        // A repository inside the project goes as a whole, with everything it could bring back.
        let around = if self.world.project() == Some(below) { below } else { path::parent(below) };
        let Some(mut files) = self.world.tracked_files(around, below) else { return u64::MAX };
        files.retain(|file| is_hit(file));
        let rest = files.len().saturating_sub(LOOKED);
        let is_there = |file: &&String| self.world.look(file).kind != Kind::Missing;
        u64::try_from(files.iter().take(LOOKED).filter(is_there).count() + rest).unwrap_or(u64::MAX)
    }

    /// A few letters stand for files that git has as they are, and for nothing else.
    pub(super) fn is_all_clean(&self, directory: &str, pattern: &str) -> bool {
        let is_said = pattern.contains(|letter: char| letter.is_ascii_alphanumeric());
        let is_clean = |hit: &String| self.world.tracking(hit) == Tracking::Clean;
        is_said
            && self.is_own_ground(directory)
            && self.hits(directory, pattern).is_some_and(|hits| hits.len() <= MATCHED && hits.iter().all(is_clean))
    }

    /// The files of a tree that git has and that are few enough to be judged one by one: each is what its own path says.
    pub(super) fn few_tracked(&self, touch: Touch, real: &str, effect: &Effect) -> Option<Vec<String>> {
        let is_meant = touch == Touch::DeleteTree
            && effect.reversibility == Reversibility::Tracked
            && effect.scope == Scope::Directory;
        if !is_meant {
            return None;
        }
        match self.world.look(real).kind {
            Kind::File | Kind::Link => return Some(vec![real.to_owned()]),
            Kind::Directory => {}
            Kind::Missing | Kind::Special | Kind::Unlisted | Kind::Unreadable => return None,
        }
        let below = self.world.below(real).filter(|_| self.world.lists_everything())?;
        let files = below.iter().filter(|(_, kind)| *kind != Kind::Directory);
        let files: Vec<String> = files.map(|(path, _)| path.clone()).collect();
        (!files.is_empty() && files.len() <= MATCHED).then_some(files)
    }
}

/// The path matches the parts of a pattern, or lies below what does if whole directories go.
pub(super) fn fits(parts: &[&str], inner: &str, is_tree: bool) -> bool {
    let (name, rest) = inner.split_once('/').map_or((inner, None), |(name, rest)| (name, Some(rest)));
    match parts.split_first() {
        None => is_tree,
        Some((&"**", [])) => true,
        Some((&"**", after)) => fits(after, inner, is_tree) || rest.is_some_and(|rest| fits(parts, rest, is_tree)),
        Some((part, after)) => {
            may_match(part, name)
                && match rest {
                    Some(rest) => fits(after, rest, is_tree),
                    None => after.is_empty(),
                }
        }
    }
}

/// What is more than a plain wildcard is taken to match.
fn may_match(part: &str, name: &str) -> bool {
    part.contains(['[', '(', '{', '\\', '^', '#', '~'])
        || super::wild::matches(part.trim_start_matches('.'), name.trim_start_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_counts_what_it_may_hit() {
        for (pattern, path, is_tree, wanted) in [
            ("*.py", "a.py", false, true),
            ("*.py", ".a.py", false, true),
            ("*.py", "src/a.py", false, false),
            ("s*", "src/deep/a.py", true, true),
            ("s*", "src/a.py", false, false),
            ("**/*.py", "a.py", false, true),
            ("**/*.py", "src/deep/a.py", false, true),
            ("**/*.py", "src/deep/a.rs", false, false),
            ("*/a.py", "src/a.py", false, true),
            ("[ab]?.py", "zz.py", false, true),
        ] {
            let parts: Vec<&str> = pattern.split('/').collect();
            assert_eq!(fits(&parts, path, is_tree), wanted, "{pattern} {path}");
        }
    }
}
