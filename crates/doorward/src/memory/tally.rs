//! What was decided lately, one line per decision: what a status line shows without reading the record.
//!
//! Nothing depends on it. A line that is lost or forged changes a number on the screen and no verdict.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use doorward_engine::{Mode, Verdict};

use super::evaluation::Decided;
use crate::machine::atomic_file;
use crate::machine::checked_read;
use crate::machine::paths::Dirs;

/// Some days of a busy user; a status line reads the file every few seconds.
const LONGEST: u64 = 64 << 10;

/// How a call was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// It ran without a question.
    Silently,
    /// Somebody was asked, here or in the queue.
    Asked,
    Blocked,
}

/// How many calls were answered in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub silent: u64,
    pub asked: u64,
    pub blocked: u64,
}

impl Answered {
    pub(crate) fn of(decided: &Decided) -> Answered {
        // Shadow mode stops nothing, and a granted call runs.
        if decided.granted || matches!(decided.mode, Mode::Shadow | Mode::Off) {
            return Answered::Silently;
        }
        match decided.evaluation.judgement.verdict {
            Verdict::AutoApprove if decided.mode == Mode::Auto => Answered::Silently,
            Verdict::AutoApprove | Verdict::Confirm => Answered::Asked,
            Verdict::Block => Answered::Blocked,
        }
    }

    const fn letter(self) -> char {
        match self {
            Answered::Silently => 's',
            Answered::Asked => 'a',
            Answered::Blocked => 'b',
        }
    }
}

/// Adds one decision. Appending takes no lock and no reading, so that it costs a call next to nothing.
pub(crate) fn count(dirs: &Dirs, answered: Answered, now_ms: u64) {
    if let Some(mut file) = open(dirs) {
        // One write of a few bytes is never mixed with another process's. If it fails, a number is too low.
        let _ = file.write_all(format!("{} {}\n", now_ms / 1000, answered.letter()).as_bytes());
    }
}

/// The decisions since a moment.
pub(crate) fn since(dirs: &Dirs, since_ms: u64) -> Tally {
    let text = path(dirs).to_str().and_then(|path| checked_read::end_of(path, LONGEST)).unwrap_or_default();
    let mut tally = Tally::default();
    for line in text.lines() {
        let Some((seconds, letter)) = line.split_once(' ') else { continue };
        if !seconds.parse::<u64>().is_ok_and(|seconds| seconds.saturating_mul(1000) >= since_ms) {
            continue;
        }
        match letter {
            "s" => tally.silent += 1,
            "a" => tally.asked += 1,
            "b" => tally.blocked += 1,
            _ => {}
        }
    }
    tally
}

/// Drops what is too old to be shown; done when a session begins or ends, when no call waits.
pub(crate) fn shorten(dirs: &Dirs) {
    let path = path(dirs);
    let is_long = path.symlink_metadata().is_ok_and(|found| found.len() > LONGEST);
    if let (true, Some(kept)) = (is_long, path.to_str().and_then(|path| checked_read::end_of(path, LONGEST / 2))) {
        // Decisions made meanwhile are lost from a number on the screen.
        let _ = atomic_file::replace(&path, &kept);
    }
}

fn path(dirs: &Dirs) -> PathBuf {
    dirs.state().join("tally")
}

fn open(dirs: &Dirs) -> Option<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags.bits() as i32).open(path(dirs)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::test_home::TestHome;

    #[test]
    fn decisions_of_the_time_asked_for_are_counted() {
        let home = TestHome::begun();
        let dirs = home.dirs();
        assert_eq!(since(&dirs, 0), Tally::default());
        for (answered, now_ms) in [
            (Answered::Silently, 1_000),
            (Answered::Silently, 90_000),
            (Answered::Asked, 95_999),
            (Answered::Blocked, 99_000),
        ] {
            count(&dirs, answered, now_ms);
        }
        assert_eq!(since(&dirs, 90_000), Tally { silent: 1, asked: 1, blocked: 1 });
        assert_eq!(since(&dirs, 0).silent, 2);
    }

    #[test]
    fn foreign_lines_count_for_nothing_and_a_long_file_is_cut_at_a_line() {
        let home = TestHome::begun();
        let dirs = home.dirs();
        std::fs::write(path(&dirs), "x\n9 z\n-1 s\n99999999999999999999999 s\n").unwrap();
        assert_eq!(since(&dirs, 0), Tally::default());
        let many = LONGEST as usize / "1763500000 s\n".len() + 100;
        std::fs::write(path(&dirs), "1763500000 s\n".repeat(many)).unwrap();
        shorten(&dirs);
        let text = std::fs::read_to_string(path(&dirs)).unwrap();
        assert!(text.len() as u64 <= LONGEST / 2 && text.starts_with("1763500000 s\n"));
        count(&dirs, Answered::Asked, 1_763_500_000_000);
        assert_eq!(since(&dirs, 1).asked, 1);
    }
}
