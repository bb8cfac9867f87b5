//! Which class of place a path is: system, credential store, shell profile, manifest and so on.

/// A directory whose programs belong to the system.
pub fn is_program_directory(path: &str) -> bool {
    ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"].iter().any(|directory| {
        path.strip_prefix(directory).is_some_and(|name| !name.contains('/'))
    })
}
