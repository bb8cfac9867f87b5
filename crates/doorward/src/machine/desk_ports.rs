//! The ports that this user's desk was ever on.

use crate::machine::paths::Dirs;

/// A file that a person could read; more ports than anyone tries.
const LONGEST: u64 = 4096;

/// Empty if no desk was ever started on a port other than the usual one.
pub(crate) fn desk_ports(dirs: &Dirs) -> Vec<u16> {
    let path = dirs.state().join("desk/ports");
    let text = path.to_str().and_then(|path| crate::machine::checked_read::start_of(path, LONGEST)).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}
