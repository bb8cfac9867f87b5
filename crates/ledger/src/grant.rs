//! Permissions for one use: authenticated files, each of which exactly one of many takes away.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::error::LogError;
use crate::event::Kind;
use crate::hash::hex;
use crate::key::StateKey;
use crate::log::Log;
use crate::mac_json;
use crate::private::{self, Existing, FileError, Promise};
use crate::read::{Record, snapshot};
use crate::record::{GrantBody, GrantStep};
use crate::segment::{Step, Walk};
use crate::storage::Storage;

/// How many of the last segments are searched for a grant: far more than the hour that one lasts fills.
// A grant lasts an hour at most; two segments are 32 MiB of records.
const SEARCHED: usize = 2;

/// The directory with the grants.
#[derive(Debug)]
pub struct Grants {
    dir: PathBuf,
    key: StateKey,
}

impl Grants {
    /// The grants in a directory, which is made when one is first kept there.
    #[must_use]
    pub fn at(dir: &Path, key: StateKey) -> Self {
        Self { dir: dir.to_owned(), key }
    }

    /// Keeps a grant under a name, in place of an older one; durable when it returns.
    pub fn store<T: Serialize>(&self, name: &str, grant: &T) -> Result<(), FileError> {
        if !self.dir.is_dir() {
            // What is wrong with the directory shows when the file is written.
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(&self.dir);
        }
        let path = self.path(name);
        private::write(&path, &mac_json::encode(&self.key, &path, name, grant)?, Existing::Replace, Promise::Durable)
    }

    /// Looks at a grant and leaves it there.
    pub fn look<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, FileError> {
        self.open(&self.path(name), name)
    }

    /// Takes a grant away; of any number of callers exactly one gets it. That it is gone is durable when it returns.
    ///
    /// INVARIANT: the rename comes first. Whatever is wrong with the grant afterwards, nobody else gets it.
    pub fn take<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, FileError> {
        let path = self.path(name);
        let taken = private::scratch_name(&path)?;
        match std::fs::rename(&path, &taken) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(FileError::Io { doing: "take", path, source }),
        }
        private::sync_parent(&path)?;
        let grant = self.open(&taken, name);
        // Only a leftover under a name nobody reads.
        let _removed = std::fs::remove_file(&taken);
        grant
    }

    /// The names of all grants that are kept.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.strip_suffix(".grant").map(str::to_owned)).collect()
    }

    fn open<T: DeserializeOwned>(&self, path: &Path, name: &str) -> Result<Option<T>, FileError> {
        match private::read(path) {
            Ok(bytes) => mac_json::decode(&self.key, path, name, &bytes).map(Some),
            Err(FileError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.grant"))
    }

    /// A name that nobody can guess.
    pub fn draw() -> Result<String, FileError> {
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce).map_err(|error| FileError::Io {
            doing: "get random bytes for",
            path: PathBuf::from("grant"),
            source: error.into(),
        })?;
        Ok(hex(&nonce))
    }
}

/// What the log says about a grant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trail {
    /// A person stored it.
    pub stored: bool,
    /// So many calls used it.
    pub used: u32,
    /// It was taken back, or its time ran out.
    pub ended: bool,
}

impl<S: Storage> Log<S> {
    /// What the last segments say about a grant.
    pub fn trail(&self, grant: &str) -> Result<Trail, LogError> {
        let parts = snapshot(self)?;
        let mut trail = Trail::default();
        for part in parts.iter().skip(parts.len().saturating_sub(SEARCHED)) {
            let bytes = part.load(&self.storage)?;
            if memchr::memmem::find(&bytes, grant.as_bytes()).is_none() {
                continue;
            }
            for step in Walk::new(&bytes) {
                if let Step::Entry(_, frame) = step {
                    trail.note(&Record::from_frame(&frame), grant);
                }
            }
        }
        Ok(trail)
    }

    /// Grants that were stored since a moment, as far as the last segments know.
    pub fn grants_stored(&self, since_ms: u64) -> Result<Vec<(u64, GrantBody)>, LogError> {
        let parts = snapshot(self)?;
        let mut found = Vec::new();
        for part in parts.iter().skip(parts.len().saturating_sub(SEARCHED)) {
            let bytes = part.load(&self.storage)?;
            for step in Walk::new(&bytes) {
                let Step::Entry(_, frame) = step else { continue };
                let is_wanted = frame.header.kind == Kind::Grant && frame.header.time_ms >= since_ms;
                let body = frame.body.filter(|_| is_wanted).and_then(|body| serde_json::from_slice(body).ok());
                let stored = body.filter(|body: &GrantBody| body.step == GrantStep::Stored);
                found.extend(stored.map(|body| (frame.header.time_ms, body)));
            }
        }
        Ok(found)
    }
}

impl Trail {
    fn note(&mut self, record: &Record, grant: &str) {
        if record.header.kind != Kind::Grant {
            return;
        }
        let body = record.body.as_deref().and_then(|body| serde_json::from_slice::<GrantBody>(body).ok());
        match body.filter(|body| body.grant.as_deref() == Some(grant)).map(|body| body.step) {
            Some(GrantStep::Stored) => self.stored = true,
            Some(GrantStep::Used) => self.used = self.used.saturating_add(1),
            Some(GrantStep::Withdrawn | GrantStep::Expired) => self.ended = true,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn room() -> (tempfile::TempDir, Grants) {
        let dir = tempfile::tempdir().unwrap();
        let key = StateKey::load_or_create(&dir.path().join("key")).unwrap();
        let grants = Grants::at(&dir.path().join("grants"), key);
        (dir, grants)
    }

    #[test]
    fn of_a_thousand_that_race_for_a_grant_exactly_one_gets_it() {
        let (_dir, grants) = room();
        for round in 0..3 {
            grants.store("call", &round).unwrap();
            let (got, ready) = (AtomicUsize::new(0), Barrier::new(1000));
            std::thread::scope(|scope| {
                for _ in 0..1000 {
                    std::thread::Builder::new()
                        .stack_size(128 << 10)
                        .spawn_scoped(scope, || {
                            ready.wait();
                            let taken: Option<i32> = grants.take("call").unwrap();
                            got.fetch_add(usize::from(taken == Some(round)), Ordering::Relaxed);
                        })
                        .unwrap();
                }
            });
            assert_eq!(got.load(Ordering::Relaxed), 1);
            assert_eq!(grants.take::<i32>("call").unwrap(), None);
        }
        assert_eq!(std::fs::read_dir(&grants.dir).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn a_grant_that_is_renamed_changed_or_of_another_key_is_none() {
        let (dir, grants) = room();
        grants.store("one", &"x").unwrap();
        let good = std::fs::read(grants.path("one")).unwrap();
        let put = |bytes: &[u8]| private::write(&grants.path("two"), bytes, Existing::Replace, Promise::Whole).unwrap();
        put(&good);
        assert!(grants.look::<String>("two").is_err(), "a grant for one call is none for another");
        for at in 0..good.len() {
            let mut changed = good.clone();
            changed[at] ^= 1;
            private::write(&grants.path("one"), &changed, Existing::Replace, Promise::Whole).unwrap();
            assert!(grants.take::<String>("one").is_err(), "byte {at}");
            assert!(grants.look::<String>("one").unwrap().is_none(), "what is wrong is gone all the same");
        }
        grants.store("one", &"x").unwrap();
        let other = StateKey::load_or_create(&dir.path().join("other")).unwrap();
        assert!(Grants::at(&grants.dir, other).look::<String>("one").is_err());
    }

    #[test]
    fn the_log_knows_what_became_of_a_grant() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::create(&dir.path().join("log")).unwrap();
        let mut note = |step, grant: &str| {
            let grant = Some(grant.to_owned());
            let body = GrantBody {
                step,
                grant,
                of: "x".into(),
                decision: None,
                session: None,
                expires_ms: None,
                user: None,
                why: None,
                clears: None,
            };
            let _receipt = log.append(&body, 1).unwrap();
        };
        note(GrantStep::Stored, "aa");
        note(GrantStep::Stored, "bb");
        note(GrantStep::Used, "aa");
        note(GrantStep::Expired, "bb");
        let check = |grant: &str, stored, used, ended| {
            assert_eq!(log.trail(grant).unwrap(), Trail { stored, used, ended }, "{grant}");
        };
        check("aa", true, 1, false);
        check("bb", true, 0, true);
        check("cc", false, 0, false);
    }
}
