//! When a repository moved to another commit or stashed work: git logs both.

use std::ops::RangeInclusive;
use std::path::Path;

use super::repository::{Repository, project_root};
use crate::machine::checked_read;

/// Longer git logs are not read.
// Git prunes its logs after ninety days; a longer one was written by someone who wants us to be slow.
const LENGTH: u64 = 16 << 20;

/// The repository around a file changed commits, or work was stashed, between two points in time.
pub(crate) fn commit_changed(path: &str, home: &str, when_ms: RangeInclusive<u64>) -> bool {
    let directory = Path::new(path).parent().and_then(Path::to_str).unwrap_or("/");
    let Some(repository) = project_root(directory).and_then(|root| Repository::at(&root, home)) else { return false };
    let when = when_ms.start() / 1000..=when_ms.end() / 1000;
    let has = |log: &Path, counts: fn(&ReflogLine<'_>) -> bool| {
        // If a log exists but can't be read, assume the worst: that it has what we look for.
        let Some(text) = checked_read::start_of(log, LENGTH) else { return log.exists() };
        text.lines().filter_map(step).any(|step| when.contains(&step.seconds) && counts(&step))
    };
    has(&repository.git_directory().join("logs/HEAD"), |step| step.old != step.new)
        || has(&repository.common().join("logs/refs/stash"), |_| true)
}

/// One line of a log of git.
struct ReflogLine<'a> {
    old: &'a str,
    new: &'a str,
    seconds: u64,
}

fn step(line: &str) -> Option<ReflogLine<'_>> {
    let head = line.split('\t').next()?;
    let mut words = head.split(' ');
    let (old, new) = (words.next()?, words.next()?);
    let seconds = words.rev().nth(1)?.parse().ok()?;
    Some(ReflogLine { old, new, seconds })
}
