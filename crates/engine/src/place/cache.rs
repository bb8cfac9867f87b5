//! What programs fill again by themselves.

use crate::world::REBUILDABLE;

/// Directories of a home that hold nothing else.
// Directories that package managers fill themselves and that their manuals say may be deleted at any time.
const CACHES: &[&str] = &[
    ".cache",
    "Library/Caches",
    ".npm/_cacache",
    ".npm/_npx",
    ".gradle/caches",
    ".cargo/registry",
    ".cargo/git",
    ".m2/repository",
    ".nuget/packages",
    "go/pkg/mod",
    ".yarn/cache",
    ".bun/install/cache",
];

/// Directories of a project that hold packages of others, with what follows them.
// Packages come back with one install command, but a changed one runs with the next test (files-500, files-502).
const INSTALLED: &[(&str, &[&str])] = &[
    ("node_modules", &[]),
    (".venv", &["lib", "lib64"]),
    ("venv", &["lib", "lib64"]),
    ("site-packages", &[]),
    ("vendor", &["autoload.php", "bundle", "composer"]),
];

/// Inside an installed package, but not in what tools keep beside them.
pub(crate) fn is_installed(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    parts.windows(2).any(|pair| match pair {
        [directory, next] => INSTALLED.iter().any(|(name, inner)| {
            name == directory && !next.starts_with('.') && (inner.is_empty() || inner.contains(next))
        }),
        [] | [..] => false,
    })
}

/// Inside a cache of the home, or what a build made somewhere in it; not the caches as a whole.
pub(crate) fn is_cache(path: &str, home: Option<&str>) -> bool {
    let Some(rest) = home.and_then(|home| path.strip_prefix(home)).and_then(|rest| rest.strip_prefix('/')) else {
        return false;
    };
    let inside =
        |cache: &&str| rest.strip_prefix(*cache).is_some_and(|below| below.len() > 1 && below.starts_with('/'));
    CACHES.iter().any(inside) || rest.split('/').skip(1).any(|part| REBUILDABLE.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::is_cache;

    #[test]
    fn a_cache_is_what_lies_in_it() {
        for (path, expected) in [
            ("/home/dev/.cache/pip", true),
            ("/home/dev/.cache", false),
            ("/home/dev/other/node_modules", true),
            ("/home/dev/target", false),
            ("/home/dev/.cached/x", false),
            ("/home/dev/precious", false),
            ("/srv/.cache/pip", false),
        ] {
            assert_eq!(is_cache(path, Some("/home/dev")), expected, "{path}");
        }
    }
}
