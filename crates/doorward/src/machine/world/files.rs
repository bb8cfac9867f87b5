//! Files on disk: inspected without following links, read and counted within bounds.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use doorward_engine::{Content, Kind, Listing, Look, Stats, Tally, Tracking};

use super::bounds;

/// The answer for a path where nothing exists.
pub(crate) const fn nothing(kind: Kind) -> Look {
    Look {
        kind,
        size: 0,
        executable: false,
        hard_links: 0,
        created_this_session: false,
        changed_since_trust: false,
        is_built: false,
    }
}

/// Inspects a path. A change after `trusted_at` counts as changed since then; `is_own` says what the session created.
pub(crate) fn look(path: &str, trusted_at: Option<SystemTime>, is_own: impl FnOnce(&Metadata) -> bool) -> Look {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return nothing(Kind::Missing),
        Err(_) => return nothing(Kind::Unreadable),
    };
    let kind = match metadata.file_type() {
        kind if kind.is_symlink() => Kind::Link,
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_file() => Kind::File,
        _ => Kind::Special,
    };
    Look {
        kind,
        size: metadata.size(),
        executable: kind == Kind::File && metadata.mode() & 0o111 != 0,
        hard_links: metadata.nlink(),
        created_this_session: kind == Kind::File && is_own(&metadata),
        changed_since_trust: trusted_at.is_some_and(|then| changed(&metadata) > then),
        is_built: false,
    }
}

/// Two names of one file.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let file = |path: &str| std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()));
    file(one).is_some_and(|found| file(other) == Some(found))
}

/// Directories that contain none of the project's own recipes.
// They hold copies of other projects' recipes by the thousand, and none that a command in this project runs.
const SKIPPED: &[&str] = &[".git", "node_modules", "target", ".venv", "vendor", "dist", "build"];

/// The files of a project that changed after a point in time, as far as a bounded walk finds them.
pub(crate) fn changed_since(root: &str, then: SystemTime) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = std::collections::VecDeque::from([root.to_owned()]);
    let mut seen = 0u64;
    // Recipes are near the root, so walk level by level.
    while let Some(directory) = waiting.pop_front() {
        for name in entries(&directory).unwrap_or_default() {
            seen += 1;
            if seen > bounds::WALK {
                return found;
            }
            let path = format!("{}/{name}", directory.trim_end_matches('/'));
            match std::fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() && !SKIPPED.contains(&name.as_str()) => waiting.push_back(path),
                Ok(metadata) if !metadata.is_dir() && changed(&metadata) > then => found.push(path),
                Ok(_) | Err(_) => {}
            }
        }
    }
    found
}

/// When anything about the file last changed; this time can't be set by hand.
// The modification time can be set to anything with `touch -d`; the change time can't.
pub(crate) fn changed(metadata: &Metadata) -> SystemTime {
    let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
    let nanoseconds = u32::try_from(metadata.ctime_nsec()).unwrap_or_default();
    UNIX_EPOCH + Duration::new(seconds, nanoseconds)
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The text of a file, if it is one and no longer than the limit.
pub(crate) fn content(path: &str, limit: usize) -> Content {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Content::Missing,
        Err(_) => return Content::Unreadable,
    };
    if !metadata.is_file() {
        return Content::NotText;
    }
    let limit = u64::try_from(limit).unwrap_or(u64::MAX).min(bounds::INDEX);
    if metadata.len() > limit {
        return Content::TooLong;
    }
    match crate::machine::checked_read::bytes_of(Path::new(path), limit) {
        Some(bytes) => String::from_utf8(bytes).map_or(Content::NotText, Content::Text),
        None => Content::Unreadable,
    }
}

/// Size, permissions and last change, links not followed.
pub(crate) fn stats(path: &str) -> Option<Stats> {
    let found = std::fs::symlink_metadata(path).ok()?;
    let modified = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|now| i64::try_from(now.as_secs()).ok());
    let age = now.map(|now| now.saturating_sub(found.mtime()));
    Some(Stats { size: found.size(), mode: Some(found.mode() & 0o7777), modified: Some(modified), age })
}

/// The names in a directory, unless there are very many.
pub(crate) fn entries(directory: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).ok()? {
        if names.len() >= bounds::NAMES {
            return None;
        }
        names.push(entry.ok()?.file_name().into_string().ok()?);
    }
    names.sort_unstable();
    Some(names)
}

/// The names in a directory with their kinds. One that cannot be read shows nothing to others either.
pub(crate) fn listing(directory: &str) -> Listing {
    let mut listing = Listing { names: Vec::new(), is_whole: true };
    let Ok(entries) = std::fs::read_dir(directory) else { return listing };
    for entry in entries {
        let named = entry.ok().and_then(|entry| Some((entry.file_name().into_string().ok()?, kind_of(&entry)?)));
        match named.filter(|_| listing.names.len() < bounds::LISTED) {
            Some(named) => listing.names.push(named),
            None => listing.is_whole = false,
        }
    }
    listing.names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    listing
}

fn kind_of(entry: &std::fs::DirEntry) -> Option<Kind> {
    Some(match entry.file_type().ok()? {
        kind if kind.is_symlink() => Kind::Link,
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_file() => Kind::File,
        _ => Kind::Special,
    })
}

/// Everything below a directory, without following links, unless there is too much or some of it can't be read.
pub(crate) fn below(directory: &str) -> Option<Vec<(String, Kind)>> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.trim_end_matches('/').to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).ok()? {
            if found.len() >= bounds::BELOW {
                return None;
            }
            let entry = entry.ok()?;
            let path = format!("{directory}/{}", entry.file_name().to_str()?);
            let kind = kind_of(&entry)?;
            if kind == Kind::Directory {
                waiting.push(path.clone());
            }
            found.push((path, kind));
        }
    }
    Some(found)
}

/// Counts what is at and below a path; `tracking` says which files can be recovered.
pub(crate) fn tally(path: &str, tracking: &dyn Fn(&str) -> Tracking) -> Tally {
    let (mut files, mut bytes, mut unrestorable, mut unrestorable_bytes) = (0u64, 0u64, 0u64, 0u64);
    let mut seen = 0u64;
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        seen += 1;
        // Stopping early says "more", never a smaller number.
        if seen > bounds::WALK || unrestorable > bounds::LOST {
            return Tally::More { files, bytes };
        }
        let metadata = match std::fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => continue,
            Err(_) => return Tally::Unknown,
        };
        if metadata.is_dir() {
            let Some(names) = entries(&path) else { return Tally::More { files: files.max(bounds::WALK), bytes } };
            waiting.extend(names.into_iter().map(|name| format!("{}/{name}", path.trim_end_matches('/'))));
            continue;
        }
        files += 1;
        bytes = bytes.saturating_add(metadata.size());
        if !matches!(tracking(&path), Tracking::Clean | Tracking::Rebuildable) {
            unrestorable += 1;
            unrestorable_bytes = unrestorable_bytes.saturating_add(metadata.size());
        }
    }
    Tally::Counted { files, bytes, unrestorable, unrestorable_bytes }
}
