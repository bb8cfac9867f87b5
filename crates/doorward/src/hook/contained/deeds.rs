//! What a run did, as the engine judges it, and what of it is committed.

use std::path::Path;

use doorward_cell::{Deed, DeedKind, Deeds, Treatment};
use doorward_engine::{Configured, Deed as Noted, DeedKind as NotedKind, Machine, is_tool_cache};

use crate::memory::world::disk::DiskWorld;

/// How much of one file is read to be judged.
// Sources are smaller. A longer file counts as one that can't be read, which asks where it replaces something.
const LONGEST: usize = 1 << 20;

/// How much of all files.
const TOTAL: usize = 32 << 20;

/// The deeds that would be committed.
pub(super) fn noted(deeds: &Deeds, world: &DiskWorld) -> Vec<Noted> {
    let mut left = TOTAL;
    let treatment = treatment(deeds, world);
    let wanted = deeds.list().iter().filter(|deed| treatment(deed) != Treatment::Leave);
    wanted.map(|deed| noted_one(deeds, deed, &mut left)).collect()
}

/// Caches that tools keep in the home stay in the box: what unknown code puts there would be trusted by later runs. So does
/// git's index if nothing else of git changed: it was only read anew.
pub(super) fn treatment<'a>(deeds: &Deeds, world: &'a DiskWorld) -> impl Fn(&Deed) -> Treatment + 'a {
    let of_git = deeds.list().iter().filter(|deed| deed.path.components().any(|part| part.as_os_str() == ".git"));
    let is_reread = of_git.into_iter().all(is_index);
    move |deed| if is_reread && is_index(deed) { Treatment::Leave } else { of_path(deed, world) }
}

fn is_index(deed: &Deed) -> bool {
    deed.path.ends_with(".git/index")
}

fn of_path(deed: &Deed, world: &DiskWorld) -> Treatment {
    let Some(path) = deed.path.to_str() else { return Treatment::Refuse };
    if is_tool_cache(path, world.home()) && !doorward_engine::path::under(path, world.project().unwrap_or("/")) {
        return Treatment::Leave;
    }
    Treatment::Commit
}

fn noted_one(deeds: &Deeds, deed: &Deed, left: &mut usize) -> Noted {
    let kind = match &deed.kind {
        DeedKind::Created | DeedKind::Changed | DeedKind::Renamed { .. } => NotedKind::Written(text(deeds, deed, left)),
        DeedKind::Deleted { .. } => NotedKind::Deleted,
        DeedKind::Mode => NotedKind::Mode(deed.after.map_or(u32::MAX, |after| after.mode)),
        // A new time alone is what `touch` does.
        DeedKind::Attributes if is_retimed(deed) => NotedKind::Written(text(deeds, deed, left)),
        DeedKind::Attributes => NotedKind::Attribute,
        DeedKind::Symlink { target } => NotedKind::Linked(shown(target)),
        DeedKind::HardLink { .. } => NotedKind::HardLinked,
        DeedKind::MadeDirectory => NotedKind::DirectoryMade,
        DeedKind::RemovedDirectory => NotedKind::DirectoryRemoved,
        DeedKind::ReplacedDirectory => NotedKind::DirectoryReplaced,
        DeedKind::Special => NotedKind::Special,
    };
    Noted { path: shown(&deed.path), kind }
}

fn is_retimed(deed: &Deed) -> bool {
    match (deed.before, deed.after) {
        (Some(before), Some(after)) => before.modified != after.modified,
        (None, _) | (_, None) => false,
    }
}

fn text(deeds: &Deeds, deed: &Deed, left: &mut usize) -> Option<String> {
    let size = deed.after.map_or(u64::MAX, |after| after.size);
    let size = usize::try_from(size).ok().filter(|size| *size <= LONGEST && *size <= *left)?;
    *left -= size;
    let bytes = deeds.content_after(deed, LONGEST)?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// One hash of everything the run did: what is put in place later is exactly this.
pub(super) fn fingerprint(deeds: &Deeds) -> String {
    let one = |deed: &Deed| {
        let (before, after) = deeds.digests(deed);
        format!("{:?} {} {:?} {:?} {before:?} {after:?}", deed.kind, deed.path.display(), deed.after, deed.before)
    };
    let all: Vec<String> = deeds.list().iter().map(one).collect();
    doorward_ledger::Hash::of(all.join("\n").as_bytes()).to_string()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
