//! Checks that doorward's own directories are private: real directories that only the user can write to.
//!
//! Their content is authenticated, but anyone who can write there could also remove files or bring old ones back.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Result, bail};

use crate::machine::paths::Dirs;

/// Directories below the state directory that the hook reads; the empty name is that directory itself.
const DIRECTORIES: &[&str] = &[
    "",
    "accepted",
    "checkpoints",
    "contained",
    "desk",
    "grants",
    "handed-on",
    "held",
    "log",
    "pending",
    "programs",
    "sessions",
    "team",
    "tools",
    "trust",
];

/// Files that are written in place.
// Everything else is replaced by renaming, so the directory's permissions decide; this one is opened and appended to.
const FILES: &[&str] = &["log/current.log"];

/// Fails if another user could change what this user's hook relies on; says how to fix it. Missing files are fine.
pub(crate) fn check(dirs: &Dirs) -> Result<()> {
    let state = dirs.state();
    for name in DIRECTORIES.iter().chain(FILES) {
        let path = if name.is_empty() { state.clone() } else { state.join(name) };
        // What can't be inspected can't be read either, which is reported then.
        let Ok(found) = std::fs::symlink_metadata(&path) else { continue };
        if let Some(problem) = problem(&found, &path, FILES.contains(name)) {
            bail!(problem);
        }
    }
    Ok(())
}

fn problem(found: &Metadata, path: &Path, is_file: bool) -> Option<String> {
    let shown = path.display();
    let is_kind = if is_file { found.is_file() } else { found.is_dir() };
    if !is_kind {
        let kind = if is_file { "a plain file" } else { "a real directory" };
        return Some(format!("`{shown}` must be {kind}, not a link: `mv {shown} {shown}.old`"));
    }
    let me = rustix::process::geteuid().as_raw();
    if found.uid() != me {
        return Some(format!("`{shown}` belongs to another user: `sudo chown -R {me} {shown}`"));
    }
    // Reading by others is no danger here: secrets are redacted and the keys are private by themselves.
    (found.mode() & 0o022 != 0).then(|| format!("others can write to `{shown}`: `chmod go-w {shown}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::test_home::TestHome;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_doorward_makes_itself_passes_and_so_does_nothing_at_all() {
        let home = TestHome::begun();
        let dirs = home.dirs();
        check(&dirs).unwrap();
        check(&Dirs::at("/nowhere/at/all")).unwrap();
    }

    #[test]
    fn state_that_others_can_change_is_refused_with_the_way_out() {
        for name in ["", "log", "log/current.log", "sessions", "pending"] {
            let home = TestHome::begun();
            let dirs = home.dirs();
            let path = if name.is_empty() { dirs.state() } else { dirs.state().join(name) };
            if !path.exists() {
                std::fs::create_dir(&path).unwrap();
            }
            for (mode, is_fine) in [(0o700, true), (0o755, true), (0o720, false), (0o702, false), (0o777, false)] {
                std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
                let said = check(&dirs).err().map(|error| error.to_string());
                assert_eq!(said.is_none(), is_fine, "{name} {mode:o}: {said:?}");
                assert!(said.is_none_or(|said| said.contains("`chmod go-w /")), "{name} {mode:o}");
            }
        }
    }

    #[test]
    fn a_link_is_no_directory_of_ones_own() {
        for name in ["sessions", "log", "grants", ""] {
            let home = TestHome::begun();
            let dirs = home.dirs();
            let path = if name.is_empty() { dirs.state() } else { dirs.state().join(name) };
            let elsewhere = home.at("elsewhere");
            match path.exists() {
                true => std::fs::rename(&path, &elsewhere).unwrap(),
                false => std::fs::create_dir(&elsewhere).unwrap(),
            }
            symlink(&elsewhere, &path).unwrap();
            let said = check(&dirs).unwrap_err().to_string();
            assert!(said.contains("not a link") && said.contains("`mv "), "{said}");
        }
    }
}
