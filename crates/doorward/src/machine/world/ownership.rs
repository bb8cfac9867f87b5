//! Which files belong to the system: root's, also where a user namespace shows root as `nobody`.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

/// The file belongs to the system, and no one else can change it.
pub(crate) fn belongs_to_system(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| is_systems(&found))
}

/// The same for known metadata.
pub(crate) fn is_systems(found: &Metadata) -> bool {
    // The mode of a link means nothing; who may replace it depends on its directory.
    let is_closed = found.is_symlink() || found.mode() & 0o022 == 0;
    is_closed && is_owned_by_root(found.uid())
}

fn is_owned_by_root(uid: u32) -> bool {
    uid == 0 || Some(uid) == *NOBODY.get_or_init(root_outside)
}

static NOBODY: OnceLock<Option<u32>> = OnceLock::new();

/// The user id root appears as in this namespace, if the namespace does not map it.
fn root_outside() -> Option<u32> {
    let read = |path: &str| crate::machine::checked_read::text_of_pipe(path, 4096);
    let map = read("/proc/self/uid_map")?;
    let nobody = read("/proc/sys/kernel/overflowuid")?.trim().parse().ok()?;
    // In a container without a user namespace `/` is root's, and `nobody` is just a user.
    let is_free = || Path::new("/").symlink_metadata().is_ok_and(|root| root.uid() == nobody);
    (stands_for_others(&map, nobody) && is_free()).then_some(nobody)
}

/// The map covers neither root outside nor this number inside, so its files belong to someone outside the namespace: no
/// process in it, including the agent's, can own such a file.
fn stands_for_others(map: &str, nobody: u32) -> bool {
    let ranges: Option<Vec<(u64, u64, u64)>> = map
        .lines()
        .map(|line| {
            let mut numbers = line.split_whitespace().map(|word| word.parse().ok());
            Some((numbers.next()??, numbers.next()??, numbers.next()??))
        })
        .collect();
    let Some(ranges) = ranges.filter(|ranges| !ranges.is_empty()) else { return false };
    let inside =
        |user: u64| ranges.iter().any(|(first, _, count)| (*first..first.saturating_add(*count)).contains(&user));
    let outside =
        |user: u64| ranges.iter().any(|(_, first, count)| (*first..first.saturating_add(*count)).contains(&user));
    !inside(u64::from(nobody)) && !outside(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_the_system_only_where_the_map_proves_it() {
        for (map, proves) in [
            // A namespace of one user: root outside has no number in it.
            ("      1000       1000          1\n", true),
            ("         0       1000          1\n", true),
            // A rootless container: itself and its own range.
            ("0 1000 1\n1 100000 65533\n", true),
            // The range includes the number itself, so a process may run as `nobody`.
            ("0 1000 1\n1 100000 65536\n", false),
            // No namespace: `nobody` is a user like any other.
            ("         0          0 4294967295\n", false),
            // Root outside is mapped here, so `nobody` is someone else.
            ("1000 0 1\n", false),
            ("", false),
            ("x y z\n", false),
            ("0 1000\n", false),
        ] {
            assert_eq!(stands_for_others(map, 65534), proves, "{map}");
        }
    }

    #[test]
    fn what_others_may_write_is_not_the_systems() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("x");
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::chown(&file, Some(0), None).ok();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        assert!(!belongs_to_system(&file));
        assert!(belongs_to_system(Path::new("/usr")));
    }
}
