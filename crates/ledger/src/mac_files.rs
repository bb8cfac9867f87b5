//! Authenticated files that are written once and survive a power cut: what a snapshot holds, for one.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

use crate::key::StateKey;
use crate::mac_json;
use crate::private::{self, Existing, FileError, Promise};

/// A directory of such files. A file cannot stand in for one of another name.
#[derive(Debug)]
pub struct MacFiles {
    dir: PathBuf,
    key: StateKey,
}

impl MacFiles {
    /// The files in a directory, which must exist before something is kept there.
    #[must_use]
    pub fn at(dir: &Path, key: StateKey) -> Self {
        Self { dir: dir.to_owned(), key }
    }

    /// Keeps a value under a name and returns once it is durable. An older value goes.
    pub fn keep<T: Serialize>(&self, name: &str, value: &T) -> Result<(), FileError> {
        let path = self.dir.join(name);
        let bytes = mac_json::encode(&self.key, &path, name, value)?;
        if bytes.len() as u64 > private::LONGEST {
            return Err(private::damaged(&path, "it would be too long to read back"));
        }
        private::write(&path, &bytes, Existing::Replace, Promise::Durable)
    }

    /// The value under a name; `None` if there is none.
    pub fn find<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, FileError> {
        let path = self.dir.join(name);
        match private::read(&path) {
            Ok(bytes) => mac_json::decode(&self.key, &path, name, &bytes).map(Some),
            Err(FileError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_under_its_own_name_and_key_only() {
        let dir = tempfile::tempdir().unwrap();
        let key = |name: &str| StateKey::load_or_create(&dir.path().join(name)).unwrap();
        let files = MacFiles::at(dir.path(), key("one"));
        files.keep("a", &vec![1, 2]).unwrap();
        assert_eq!(files.find::<Vec<u32>>("a").unwrap(), Some(vec![1, 2]));
        assert_eq!(files.find::<Vec<u32>>("b").unwrap(), None);
        std::fs::copy(dir.path().join("a"), dir.path().join("b")).unwrap();
        assert!(files.find::<Vec<u32>>("b").is_err());
        assert!(MacFiles::at(dir.path(), key("two")).find::<Vec<u32>>("a").is_err());
    }

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let files = MacFiles::at(dir.path(), StateKey::load_or_create(&dir.path().join("key")).unwrap());
        assert!(files.keep("a", &"x".repeat(5 << 20)).is_err());
        assert_eq!(files.find::<String>("a").unwrap(), None);
    }
}
