//! A home for tests, with whatever else a test puts next to it.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::paths::Dirs;

/// A directory that goes with the test.
#[derive(Debug)]
pub(crate) struct TestHome(tempfile::TempDir);

impl TestHome {
    pub(crate) fn new() -> TestHome {
        TestHome(tempfile::tempdir().unwrap())
    }

    /// One whose log has begun.
    pub(crate) fn begun() -> TestHome {
        let home = TestHome::new();
        std::fs::create_dir(home.at("home")).unwrap();
        super::record::begin(&home.dirs()).unwrap();
        home
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    /// Writes a file that only its owner can read: others would not be trusted.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    }

    pub(crate) fn dirs(&self) -> Dirs {
        Dirs::at(self.at("home").to_str().unwrap())
    }
}
