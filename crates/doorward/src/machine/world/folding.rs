//! Whether the disk ignores case in names: some file systems do, and some directories of others.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The directory of `path` ignores case: its name is found in the other case too.
pub(crate) fn ignores_case(path: &str) -> bool {
    let identity = |path: &str| {
        let found = Path::new(path).symlink_metadata().ok()?;
        Some((found.dev(), found.ino()))
    };
    is_found_in_other_case(path, identity)
}

/// `identity` says which file a name stands for, without following links.
fn is_found_in_other_case(path: &str, identity: impl Fn(&str) -> Option<(u64, u64)>) -> bool {
    let path = path.trim_end_matches('/');
    let swapped = swapped(path);
    // The same inode under both spellings, not just two files: a case-sensitive disk may have both.
    swapped != path && identity(path).is_some_and(|one| identity(&swapped) == Some(one))
}

/// The path with the case of its last name inverted.
fn swapped(path: &str) -> String {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let turned: String = name
        .chars()
        .map(
            |letter| {
                if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
            },
        )
        .collect();
    format!("{parent}/{turned}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_found_in_both_cases_lies_on_a_disk_that_ignores_case() {
        let folding = |path: &str| path.eq_ignore_ascii_case("/srv/app").then_some((1, 2));
        assert!(is_found_in_other_case("/srv/App", folding));
        assert!(is_found_in_other_case("/srv/app/", folding));
        let exact = |path: &str| (path == "/srv/App").then_some((1, 2));
        assert!(!is_found_in_other_case("/srv/App", exact));
        let two = |path: &str| Some((1, u64::from(path == "/srv/App")));
        assert!(!is_found_in_other_case("/srv/App", two));
        assert!(!is_found_in_other_case("/srv/123", |_: &str| Some((1, 2))));
        assert!(!is_found_in_other_case("/nowhere/App", |_: &str| None));
    }

    #[test]
    fn a_link_in_the_other_case_is_another_name() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("App");
        std::fs::create_dir(&directory).unwrap();
        // Where the disk itself ignores case there is no room for the link.
        if std::os::unix::fs::symlink(&directory, base.path().join("aPP")).is_ok() {
            assert!(!ignores_case(directory.to_str().unwrap()));
        }
    }
}
