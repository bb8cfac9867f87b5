//! Tracked files behind one target: how many a tree, a wildcard or one of git's own commands takes.

use doorward_vocabulary::{Mark, Operation, Reversibility, Scope};

use super::absent;
use super::absent::is_own_ground;
use super::touch::{MATCHED, Touch};
use crate::effect::{Amount, Effect};
use crate::limits::is_bulk;
use crate::observe::sheet::caused::Caused;
use crate::observe::sheet::observer::Observer;
use crate::path;
use crate::policy::Thresholds;
use crate::world::{Kind, Tally, Tracking, World};

/// So many files are looked at one by one; whatever is tracked beyond them counts as being there.
// Files that git lists and that are gone already cost nothing. Counting the rest as present only asks more.
const LOOKED: usize = 200;

/// More hits of a pattern are not looked up.
// Matching is cheap, looking is not; beyond this the number alone decides.
const MANY: usize = 2_000;

/// Writes down how many tracked files go with a tree. That the others are copied first does not bring these back.
pub(crate) fn note_tracked(world: &dyn World, touch: Touch, real: &str, effect: &mut Effect) {
    let is_lost = match effect.reversibility {
        Reversibility::Tracked | Reversibility::Irreversible => true,
        Reversibility::NothingChanges | Reversibility::Rebuildable | Reversibility::Snapshotted => false,
    };
    if touch == Touch::DeleteTree && is_lost && effect.scope < Scope::OtherRepo {
        effect.restorable = tracked_there(world, real, |_| true);
    }
}

/// The same for effects that stand for what a pattern matches in a directory.
pub(crate) fn count_matched(world: &dyn World, caused: &mut Caused, touch: Touch, directory: &str, pattern: &str) {
    let is_counted = |effect: &Effect| effect.operation == Operation::Delete && effect.restorable > 0;
    if !caused.iter().any(is_counted) {
        return;
    }
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let inner = |file: &str| file.strip_prefix(directory).map(|inner| inner.trim_start_matches('/').to_owned());
    let is_tree = touch == Touch::DeleteTree;
    let is_hit = |file: &str| inner(file).is_none_or(|inner| super::globs::fits(&parts, &inner, is_tree));
    let counted = tracked_there(world, directory, is_hit);
    caused.iter_mut().filter(|effect| is_counted(effect)).for_each(|effect| effect.restorable = counted);
}

/// What is lost with everything that the pattern really hits.
pub(crate) fn loss(out: &Observer<'_>, touch: Touch, directory: &str, pattern: &str) -> Loss {
    let is_deletion = matches!(touch, Touch::Delete | Touch::DeleteTree);
    if !is_deletion || !is_own_ground(out.world, directory) {
        return Loss::OfDirectory;
    }
    let hits = absent::hits(out.world, directory, pattern).filter(|_| out.is_still());
    match hits.and_then(|hits| lost_with(out.world, &hits)) {
        Some(lost) => Loss::Of(lost),
        None if super::globs::is_narrow(pattern.rsplit('/').next().unwrap_or_default()) => Loss::Open,
        None => Loss::OfDirectory,
    }
}

/// What nothing brings back of these; `None` if that is not certain, or a repository goes with them.
fn lost_with(world: &dyn World, hits: &[String]) -> Option<Amount> {
    if hits.len() > MANY || hits.iter().any(|hit| hit.split('/').any(|part| part == ".git")) {
        return None;
    }
    let mut lost = Amount::default();
    for hit in hits {
        match world.tally(hit) {
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
pub(crate) fn note_discarded(world: &dyn World, effect: &mut Effect) {
    if effect.operation != Operation::Delete || !effect.marks.has(Mark::DiscardsWork) || effect.by == "git clean" {
        return;
    }
    if let crate::effect::Target::Path(root) = &effect.target {
        let files = world.tracked_files(root, root);
        effect.restorable = files.map_or(u64::MAX, |files| changed(world, files.iter()));
    }
}

/// How many of the files are there and differ from what is staged.
pub(crate) fn changed<'f>(world: &dyn World, files: impl Iterator<Item = &'f String>) -> u64 {
    let is_changed =
        |file: &&String| world.tracking(file) == Tracking::Modified && world.look(file).kind != Kind::Missing;
    u64::try_from(files.filter(is_changed).count()).unwrap_or(u64::MAX)
}

fn tracked_there(world: &dyn World, below: &str, is_hit: impl Fn(&str) -> bool) -> u64 {
    // A repository inside the project goes as a whole, with everything it could bring back.
    let around = if world.project() == Some(below) { below } else { path::parent(below) };
    let Some(mut files) = world.tracked_files(around, below) else { return u64::MAX };
    files.retain(|file| is_hit(file));
    let rest = files.len().saturating_sub(LOOKED);
    let is_there = |file: &&String| world.look(file).kind != Kind::Missing;
    u64::try_from(files.iter().take(LOOKED).filter(is_there).count() + rest).unwrap_or(u64::MAX)
}

/// The files of a tree that git has and that are few enough to be judged one by one: each is what its own path says.
pub(crate) fn few_tracked(world: &dyn World, touch: Touch, real: &str, effect: &Effect) -> Option<Vec<String>> {
    let is_meant = touch == Touch::DeleteTree
        && effect.reversibility == Reversibility::Tracked
        && effect.scope == Scope::Directory;
    if !is_meant {
        return None;
    }
    match world.look(real).kind {
        Kind::File | Kind::Link => return Some(vec![real.to_owned()]),
        Kind::Directory => {}
        Kind::Missing | Kind::Special | Kind::Unlisted | Kind::Unreadable => return None,
    }
    let below = world.below(real).filter(|_| world.lists_everything())?;
    let files = below.iter().filter(|(_, kind)| *kind != Kind::Directory);
    let files: Vec<String> = files.map(|(path, _)| path.clone()).collect();
    (!files.is_empty() && files.len() <= MATCHED).then_some(files)
}

/// What a pattern takes from its directory for good.
pub(crate) enum Loss {
    /// As much as lies in the directory.
    OfDirectory,
    /// Less than that, and nobody can say how much.
    Open,
    Of(Amount),
}

impl Loss {
    /// What the pattern really hits takes the place of everything in its directory.
    pub(crate) fn count(self, caused: &mut Caused) {
        let lost = match self {
            Loss::OfDirectory => return,
            Loss::Open => return caused.leave_open(),
            Loss::Of(lost) => lost,
        };
        let is_meant = |effect: &&mut Effect| {
            effect.operation == Operation::Delete && effect.reversibility == Reversibility::Irreversible
        };
        for effect in caused.iter_mut().filter(is_meant) {
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
}

/// A few letters stand for files that git has as they are, and for nothing else.
pub(crate) fn is_all_clean(world: &dyn World, directory: &str, pattern: &str) -> bool {
    let is_said = pattern.contains(|letter: char| letter.is_ascii_alphanumeric());
    let is_clean = |hit: &String| world.tracking(hit) == Tracking::Clean;
    is_said
        && is_own_ground(world, directory)
        && absent::hits(world, directory, pattern)
            .is_some_and(|hits| hits.len() <= MATCHED && hits.iter().all(is_clean))
}
