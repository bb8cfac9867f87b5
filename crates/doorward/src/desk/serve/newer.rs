//! A newer program on disk: the running one makes room for it, so that no call is judged by rules that were replaced.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::machine::visible;

/// How often the program on disk is looked at.
const LOOK: Duration = Duration::from_secs(5);

/// What tells one file from another that took its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

/// Watches this program's file; when another takes its place and has stayed for a while, this process becomes that one.
pub(super) fn watch() {
    let Ok(program) = std::env::current_exe() else { return };
    let Some(own) = stamp(&program) else { return };
    // Without the thread the service goes on as it is until it is restarted.
    let _ = std::thread::Builder::new().spawn(move || {
        let mut seen = own;
        loop {
            std::thread::sleep(LOOK);
            let Some(now) = stamp(&program) else { continue };
            // Twice the same: a file that is still being written is not started.
            if now != own && now == seen {
                become_it(&program);
            }
            seen = now;
        }
    });
}

fn become_it(program: &PathBuf) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "`{}` changed; starting it again", visible(&program.display().to_string()));
    // It comes back only if it failed; then this one goes on and tries again.
    let failed = Command::new(program).args(std::env::args_os().skip(1)).exec();
    let _ = writeln!(anstream::stderr(), "can't start it: {failed}");
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some(Stamp { inode: found.ino(), size: found.len(), changed: (found.mtime(), found.mtime_nsec()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_took_anothers_place_is_another() {
        let room = tempfile::tempdir().unwrap();
        let (path, next) = (room.path().join("a"), room.path().join("b"));
        std::fs::write(&path, "one").unwrap();
        let own = stamp(&path).unwrap();
        assert_eq!(stamp(&path), Some(own));
        std::fs::write(&next, "two").unwrap();
        std::fs::rename(&next, &path).unwrap();
        assert_ne!(stamp(&path), Some(own));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(stamp(&path), None);
    }
}
