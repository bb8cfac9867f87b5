//! Where temporary files lie, and which of these places belong to the agent alone.

use std::os::unix::fs::MetadataExt;

/// Directories for temporary files of everybody.
pub fn shared() -> Vec<String> {
    let mut found: Vec<String> = ["/tmp", "/var/tmp"].map(str::to_owned).to_vec();
    if cfg!(target_os = "macos") {
        found.extend(["/private/tmp", "/private/var/tmp"].map(str::to_owned));
    }
    match named() {
        Some(path) if !found.contains(&path) => found.push(path),
        Some(_) | None => {}
    }
    found
}

/// Directories that nobody but this user can look into: `TMPDIR`, if it is one.
pub fn own(home: &str) -> Vec<String> {
    named().into_iter().filter(|path| is_private(path) && !is_precious(path, home)).collect()
}

fn named() -> Option<String> {
    let path = std::env::var("TMPDIR").ok()?;
    let trimmed = path.trim_end_matches('/');
    let is_plain = trimmed.starts_with('/') && trimmed.split('/').skip(1).all(|part| !matches!(part, "" | "." | ".."));
    is_plain.then(|| trimmed.to_owned())
}

fn is_private(path: &str) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| {
        found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0
    })
}

/// A directory that holds, or is, something that must not be taken for scratch space.
fn is_precious(path: &str, home: &str) -> bool {
    let is_above_home = std::path::Path::new(home).starts_with(path);
    let is_in_temporary =
        ["/tmp/", "/var/tmp/", "/var/folders/", "/private/", "/run/user/"].iter().any(|base| path.starts_with(base));
    is_above_home || !is_in_temporary || std::path::Path::new(path).join(".git").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_or_a_repository_is_never_scratch() {
        assert!(is_precious("/home/me", "/home/me"));
        assert!(is_precious("/home/me/tmp", "/home/me"));
        assert!(is_precious("/tmp/x", "/tmp/x/home"));
        assert!(!is_precious("/tmp/x", "/home/me"));
    }
}
