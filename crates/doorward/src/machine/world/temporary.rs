//! Directories for temporary files, and which of them belong to the agent alone.

use std::os::unix::fs::MetadataExt;

/// Shared directories for temporary files.
pub(crate) fn shared() -> Vec<String> {
    let mut found: Vec<String> = ["/tmp", "/var/tmp"].map(str::to_owned).to_vec();
    if cfg!(target_os = "macos") {
        found.extend(["/private/tmp", "/private/var/tmp"].map(str::to_owned));
    }
    match from_environment() {
        Some(path) if !found.contains(&path) => found.push(path),
        Some(_) | None => {}
    }
    found
}

/// Where new files are scratch files: files in `/var/tmp` persist and are found by others long after.
pub(crate) fn fleeting() -> Vec<String> {
    let named = from_environment();
    shared().into_iter().filter(|root| !root.ends_with("/var/tmp") || named.as_ref() == Some(root)).collect()
}

/// Directories only this user can access: `TMPDIR`, if it is one.
pub(crate) fn directories(home: &str) -> Vec<String> {
    from_environment().into_iter().filter(|path| is_private(path) && !is_precious(path, home)).collect()
}

/// The directory in which Claude Code lets its agent keep files, one for each session.
// The client names it in its instructions: the user's number, the project with a dash for each sign that is no letter or
// digit, the session.
pub(crate) fn client_scratch(session: &str, directory: &str) -> Option<String> {
    let is_plain = !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let slug: String = directory.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' }).collect();
    let user = rustix::process::geteuid().as_raw();
    let path = format!("/tmp/claude-{user}/{slug}/{session}/scratchpad");
    let is_own = || is_own_below(&format!("{path}/x"), &["/tmp".to_owned()]);
    (is_plain && directory.starts_with('/') && is_own()).then_some(path)
}

/// The path is in a temporary directory, reached without links and only through this user's directories.
pub(crate) fn is_own_below(path: &str, shared: &[String]) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let path = std::path::Path::new(path);
    let Some(root) = shared.iter().map(std::path::Path::new).find(|root| path.starts_with(root)) else { return false };
    let is_root = |found: &std::fs::Metadata| {
        // Others can add files there, but neither remove nor replace ours.
        found.is_dir() && (found.mode() & 0o1000 != 0 || found.mode() & 0o022 == 0)
    };
    let is_closed = |found: &std::fs::Metadata| found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0;
    path.ancestors().skip(1).take_while(|above| above.starts_with(root)).all(|above| match above.symlink_metadata() {
        Ok(found) if above == root => is_root(&found),
        Ok(found) => is_closed(&found),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    })
}

/// The path is inside the directory.
pub(crate) fn lies_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// The outermost directory among temporary files that has to be made before the path can be.
pub(crate) fn missing_above(path: &str) -> Option<String> {
    let shared = fleeting();
    let above = std::path::Path::new(path).ancestors().skip(1).filter_map(std::path::Path::to_str);
    let below = above.take_while(|above| shared.iter().any(|root| lies_below(above, root)));
    below.take_while(|above| std::path::Path::new(above).symlink_metadata().is_err()).last().map(str::to_owned)
}

fn from_environment() -> Option<String> {
    let path = std::env::var("TMPDIR").ok()?;
    let trimmed = path.trim_end_matches('/');
    // A repository may set `TMPDIR` for the agent. With `..` in it, the project itself could pass as scratch space.
    let is_plain = trimmed.starts_with('/') && trimmed.split('/').skip(1).all(|part| !matches!(part, "" | "." | ".."));
    is_plain.then(|| trimmed.to_owned())
}

fn is_private(path: &str) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| {
        found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0
    })
}

/// A directory that contains, or is, something that is not scratch space.
fn is_precious(path: &str, home: &str) -> bool {
    // `TMPDIR=/home/me` would make everything in the home deletable.
    let is_above_home = std::path::Path::new(home).starts_with(path);
    let is_in_temporary =
        ["/tmp/", "/var/tmp/", "/var/folders/", "/private/", "/run/user/"].iter().any(|base| path.starts_with(base));
    is_above_home || !is_in_temporary || std::path::Path::new(path).join(".git").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_ones_own_below_directories_of_ones_own() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().to_str().unwrap().to_owned();
        let closed = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::create_dir_all(base.path().join("own/deep")).unwrap();
        std::fs::create_dir_all(base.path().join("open")).unwrap();
        std::fs::set_permissions(base.path().join("open"), std::os::unix::fs::PermissionsExt::from_mode(0o777))
            .unwrap();
        std::fs::set_permissions(base.path().join("own"), closed).unwrap();
        std::os::unix::fs::symlink("own", base.path().join("link")).unwrap();
        std::fs::write(base.path().join("file"), "x").unwrap();
        let shared = [root.clone()];
        for (inner, is_own) in [
            ("x.patch", true),
            ("own/x", true),
            ("own/deep/x", true),
            ("new/dir/x", true),
            ("open/x", false),
            ("link/x", false),
            ("file/x", false),
        ] {
            assert_eq!(is_own_below(&format!("{root}/{inner}"), &shared), is_own, "{inner}");
        }
        assert!(!is_own_below("/etc/x", &shared));
        assert!(!is_own_below(&format!("{root}x/y"), &shared));
    }

    #[test]
    fn a_home_or_a_repository_is_never_scratch() {
        assert!(is_precious("/home/me", "/home/me"));
        assert!(is_precious("/home/me/tmp", "/home/me"));
        assert!(is_precious("/tmp/x", "/tmp/x/home"));
        assert!(!is_precious("/tmp/x", "/home/me"));
    }
}
