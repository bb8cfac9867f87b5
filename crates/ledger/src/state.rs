//! Small authenticated files that the hook reads: what a session and a pattern have been up to.
//!
//! A missing file means new. A file that is damaged, forged or unreadable is an error, and the caller must treat it as
//! the riskier case; `rebuild.rs` makes it again from the log. An old file put back is still authentic: the code
//! proves who wrote it, not when. Files are changed in place and never synced: a torn one is found by its code, and the
//! log, which is synced, has everything that matters.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::LogError;
use crate::hash::Hash;
use crate::key::StateKey;
use crate::mac_json;
use crate::private::{self, Existing, FileError, Hold, Promise};

/// Why there is no state.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The log it is rebuilt from.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// Something that is kept in a state file.
pub trait State: Serialize + DeserializeOwned + Default {
    /// The first part of the file's name.
    const NAME: &'static str;
}

/// The directory with the state files.
#[derive(Debug)]
pub struct States {
    dir: PathBuf,
    key: StateKey,
}

impl States {
    /// The states in a directory, which is made when something is first kept there.
    #[must_use]
    pub fn at(dir: &Path, key: StateKey) -> Self {
        Self { dir: dir.to_owned(), key }
    }

    /// What the files are authenticated with.
    #[must_use]
    pub const fn key(&self) -> &StateKey {
        &self.key
    }

    /// The state of one session or pattern; `None` if there is no file.
    pub fn find<T: State>(&self, of: &str) -> Result<Option<T>, StateError> {
        let name = file_name::<T>(of);
        let path = self.dir.join(&name);
        match Hold::shared(&path).and_then(|held| held.bytes()) {
            Ok(bytes) => Ok(Some(self.decoded(&path, &name, &bytes)?)),
            Err(FileError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The state of one session or pattern; new if there is no file.
    pub fn load<T: State>(&self, of: &str) -> Result<T, StateError> {
        self.find(of).map(Option::unwrap_or_default)
    }

    /// Changes the state of one session or pattern; no other process comes in between.
    pub fn update<T: State, R>(&self, of: &str, change: impl FnOnce(&mut T) -> R) -> Result<R, StateError> {
        let name = file_name::<T>(of);
        let path = self.dir.join(&name);
        let held = match Hold::exclusive(&path) {
            Err(FileError::Missing { .. }) => {
                self.put(of, &T::default(), Existing::Leave)?;
                Hold::exclusive(&path)?
            }
            other => other?,
        };
        let mut state = self.decoded(&path, &name, &held.bytes()?)?;
        let result = change(&mut state);
        held.replace(&self.encoded(&path, &name, &state)?)?;
        Ok(result)
    }

    /// Replaces a file, whatever it holds. One that is the user's own is changed in place, because some file systems write
    /// a new file out at once when it takes the name of an old one.
    pub fn replace<T: State>(&self, of: &str, state: &T) -> Result<(), StateError> {
        let name = file_name::<T>(of);
        let path = self.dir.join(&name);
        match Hold::exclusive(&path) {
            Ok(held) => Ok(held.replace(&self.encoded(&path, &name, state)?)?),
            Err(_) => self.put(of, state, Existing::Replace),
        }
    }

    /// All states of one kind that were written with the key; others are passed over.
    pub fn all<T: State>(&self) -> Vec<T> {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return Vec::new() };
        let start = format!("{}-", T::NAME);
        let of_kind = |name: &String| name.starts_with(&start) && name.ends_with(".state");
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).filter(of_kind);
        let found = names.filter_map(|name| {
            let path = self.dir.join(&name);
            let bytes = Hold::shared(&path).and_then(|held| held.bytes()).ok()?;
            self.decoded(&path, &name, &bytes).ok()
        });
        found.collect()
    }

    /// Takes a file away; nothing happens if there is none.
    pub fn forget<T: State>(&self, of: &str) {
        // A file that stays is found damaged again and treated as such.
        let _ = std::fs::remove_file(self.dir.join(file_name::<T>(of)));
    }

    /// Takes away what was not changed for so long, and the oldest beyond a number, without reading any.
    pub fn forget_old<T: State>(&self, kept: usize, age: Duration) {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return };
        let start = format!("{}-", T::NAME);
        let of_kind = entries.flatten().filter(|entry| {
            entry.file_name().to_str().is_some_and(|name| name.starts_with(&start) && name.ends_with(".state"))
        });
        let now = SystemTime::now();
        let aged = of_kind.filter_map(|entry| {
            let changed = entry.metadata().and_then(|found| found.modified()).ok()?;
            // A clock that was set back makes nothing old.
            Some((now.duration_since(changed).unwrap_or_default(), entry.path()))
        });
        let mut aged: Vec<(Duration, PathBuf)> = aged.collect();
        aged.sort();
        for (place, (since, path)) in aged.iter().enumerate() {
            if place >= kept || *since > age {
                // What stays is tried again with the next.
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn put<T: State>(&self, of: &str, state: &T, existing: Existing) -> Result<(), StateError> {
        let name = file_name::<T>(of);
        let path = self.dir.join(&name);
        if !self.dir.is_dir() {
            // What is wrong with the directory shows when the file is written.
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(&self.dir);
        }
        Ok(private::write(&path, &self.encoded(&path, &name, state)?, existing, Promise::Whole)?)
    }

    fn encoded<T: State>(&self, path: &Path, name: &str, state: &T) -> Result<Vec<u8>, FileError> {
        mac_json::encode(&self.key, path, name, state)
    }

    fn decoded<T: State>(&self, path: &Path, name: &str, bytes: &[u8]) -> Result<T, FileError> {
        mac_json::decode(&self.key, path, name, bytes)
    }
}

/// A name that says nothing about the session and fits every file system.
fn file_name<T: State>(of: &str) -> String {
    let hash = Hash::of(of.as_bytes()).to_string();
    let short = hash.get(..32).unwrap_or_default();
    format!("{}-{short}.state", T::NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionState;

    fn room() -> (tempfile::TempDir, States) {
        let dir = tempfile::tempdir().unwrap();
        let key = StateKey::load_or_create(&dir.path().join("key")).unwrap();
        let states = States::at(&dir.path().join("state"), key);
        (dir, states)
    }

    fn taint(states: &States, session: &str, what: &str) {
        states.update(session, |state: &mut SessionState| state.taint(what)).unwrap();
    }

    #[test]
    fn a_missing_file_means_new_and_changes_add_up() {
        let (_dir, states) = room();
        assert_eq!(states.load::<SessionState>("s").unwrap(), SessionState::default());
        taint(&states, "s", "web");
        taint(&states, "s", "secret");
        taint(&states, "../../other", "x");
        let state: SessionState = states.load("s").unwrap();
        assert!(state.is_tainted("web") && state.is_tainted("secret") && !state.is_tainted("x"));
    }

    #[test]
    fn a_changed_swapped_cut_or_empty_file_is_an_error_and_never_new() {
        let (_dir, states) = room();
        taint(&states, "one", "web");
        taint(&states, "two", "web");
        let path = states.dir.join(file_name::<SessionState>("one"));
        let good = std::fs::read(&path).unwrap();
        let other = std::fs::read(states.dir.join(file_name::<SessionState>("two"))).unwrap();
        let check = |bytes: &[u8], about: &str| {
            std::fs::write(&path, bytes).unwrap();
            let loaded = states.load::<SessionState>("one");
            assert!(matches!(loaded, Err(StateError::File(FileError::Damaged { .. }))), "{about}");
            let updated = states.update("one", |state: &mut SessionState| state.taint("y"));
            assert!(updated.is_err(), "{about}");
        };
        check(b"", "empty");
        check(&other, "swapped");
        for at in 0..good.len() {
            check(&good[..at], "cut");
            let mut changed = good.clone();
            changed[at] ^= 1;
            check(&changed, "changed");
        }
        std::fs::write(&path, &good).unwrap();
        assert!(states.load::<SessionState>("one").is_ok());
    }

    #[test]
    fn whatever_has_the_name_is_replaced_and_no_link_is_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let (dir, states) = room();
        let mut state = SessionState::default();
        state.taint("web");
        let path = states.dir.join(file_name::<SessionState>("s"));
        let other = dir.path().join("other");
        std::fs::write(&other, "other").unwrap();
        let check = |about: &str, spoil: &dyn Fn()| {
            spoil();
            states.replace("s", &state).unwrap();
            assert_eq!(states.load::<SessionState>("s").unwrap(), state, "{about}");
            let found = path.symlink_metadata().unwrap();
            assert_eq!((found.is_file(), found.permissions().mode() & 0o777), (true, 0o600), "{about}");
        };
        check("nothing", &|| {});
        check("a sound file", &|| {});
        check("a longer file", &|| std::fs::write(&path, "x".repeat(9000)).unwrap());
        check("an empty file", &|| std::fs::write(&path, "").unwrap());
        check("open to others", &|| std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap());
        check("a link", &|| {
            std::fs::remove_file(&path).unwrap();
            symlink(&other, &path).unwrap();
        });
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "other");
    }

    #[test]
    fn no_change_is_lost_when_many_write_at_once() {
        let (dir, states) = room();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let key = StateKey::load(&dir.path().join("key")).unwrap();
                    let states = States::at(&dir.path().join("state"), key);
                    for _ in 0..25 {
                        states.update("s", |state: &mut SessionState| state.note_denial()).unwrap();
                    }
                });
            }
        });
        let state: SessionState = states.load("s").unwrap();
        assert_eq!(state.denials(), 200);
    }
}
