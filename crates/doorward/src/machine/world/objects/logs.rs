//! Reflogs: where each reference pointed before.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::references::{Followed, full_names};
use super::{Id, Objects, Unread, listed};

/// Bytes of a log.
const LOG: u64 = 16 << 20;

/// Bytes at the end of a log, which nearly always contain what we need.
const END: u64 = 64 << 10;

/// One line of a log.
struct LogLine<'a> {
    old: Id,
    new: Id,
    message: &'a str,
}

/// Lines of a log, the last first.
type Steps<'a, 'b> = &'a mut dyn Iterator<Item = Result<LogLine<'b>, Unread>>;

impl Objects {
    /// What was checked out N switches ago, as git logged it: a branch or a commit id.
    pub(super) fn nth_prior(&self, nth: usize) -> Result<String, Unread> {
        let look = |steps: Steps<'_, '_>| {
            let mut left = nth;
            for step in steps {
                let moved = step?.message.strip_prefix("checkout: moving from ");
                let Some((from, _)) = moved.and_then(|moved| moved.split_once(" to ")) else { continue };
                left -= 1;
                if left == 0 {
                    return Ok(Some(from.to_owned()));
                }
            }
            Ok(None)
        };
        self.search(&self.git_directory.join("logs/HEAD"), &look)?.ok_or(Unread::NoSuchName)
    }

    /// Where a reference pointed N steps ago. An empty name means the checked-out branch.
    pub(super) fn nth_in_log(&self, name: &str, nth: usize) -> Result<Id, Unread> {
        let (at, log) = self.logged(name)?;
        if nth == 0 {
            return Ok(at.id);
        }
        let look = |steps: Steps<'_, '_>| {
            let mut newer = at.id;
            for (place, step) in steps.enumerate() {
                let step = step?;
                // Git versions interpret a log with a gap differently.
                if newer != step.new || newer.is_null() {
                    return Err(Unread::Unsupported("a log with a gap"));
                }
                if place == nth {
                    return Ok(Some(newer));
                }
                newer = step.old;
            }
            Ok(None)
        };
        let path = self.directory_of(&log).join("logs").join(&log);
        self.search(&path, &look)?.ok_or(Unread::Unsupported("a log from before its beginning"))
    }

    /// The reference of a short name that has a log, and the name of the log.
    fn logged(&self, name: &str) -> Result<(Followed, String), Unread> {
        if name.is_empty() {
            let head = self.reference("HEAD")?.ok_or(Unread::NoSuchName)?;
            let log = head.name.clone();
            return Ok((head, log));
        }
        for full in full_names(name)? {
            let Some(found) = self.reference(&full)? else { continue };
            for log in [found.asked.clone(), found.name.clone()] {
                let path = self.directory_of(&log).join("logs").join(&log);
                if path.is_file() {
                    return Ok((found, log));
                }
            }
        }
        Err(Unread::NoSuchName)
    }

    /// Searches a log from its end: first the last lines, then all of it.
    fn search<T>(
        &self,
        path: &Path,
        look: &dyn Fn(Steps<'_, '_>) -> Result<Option<T>, Unread>,
    ) -> Result<Option<T>, Unread> {
        if !listed::exists(path)? {
            return Ok(None);
        }
        let length = path.metadata().map_err(|_| Unread::Unreadable)?.len();
        if length > END
            && let Some(found) = self.found_in(&end_of(path, length)?, look)?
        {
            return Ok(Some(found));
        }
        self.found_in(&listed::bytes(path, LOG)?.ok_or(Unread::Unreadable)?, look)
    }

    fn found_in<T>(
        &self,
        bytes: &[u8],
        look: &dyn Fn(Steps<'_, '_>) -> Result<Option<T>, Unread>,
    ) -> Result<Option<T>, Unread> {
        let text = String::from_utf8_lossy(bytes);
        let is_right = |step: &LogLine<'_>| step.new.bytes().len() == self.format.length();
        look(&mut text.split_terminator('\n').rev().map(|line| step(line).filter(is_right).ok_or(Unread::Corrupt)))
    }
}

/// The last whole lines.
fn end_of(path: &Path, length: u64) -> Result<Vec<u8>, Unread> {
    let file = File::open(path).map_err(|_| Unread::Unreadable)?;
    let mut bytes = vec![0; usize::try_from(END).map_err(|_| Unread::OverBudget)?];
    file.read_exact_at(&mut bytes, length - END).map_err(|_| Unread::Unreadable)?;
    let first = bytes.iter().position(|byte| *byte == b'\n').ok_or(Unread::Corrupt)?;
    bytes.drain(..=first);
    Ok(bytes)
}

fn step(line: &str) -> Option<LogLine<'_>> {
    let (head, message) = line.split_once('\t').unwrap_or((line, ""));
    let mut words = head.splitn(3, ' ');
    let (old, new) = (Id::parse(words.next()?)?, Id::parse(words.next()?)?);
    Some(LogLine { old, new, message })
}
