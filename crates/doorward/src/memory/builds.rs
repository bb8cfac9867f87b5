//! Programs that this session built from the project: what its build calls were to make, and what they were seen to have made.
//!
//! A file counts as long as nothing about it changed since the agent reported the end of its build: owner, mode, place on the
//! disk, change time, and content as far as that is quick to read.

use std::collections::VecDeque;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use doorward_engine::Built;
use doorward_ledger::{State, StateKey};
use serde::{Deserialize, Serialize};

use crate::machine::checked_read;
use crate::machine::clock::milliseconds;
use crate::machine::world::files;

/// Build calls that are remembered, and files that they were told to make.
// A day of work on one project. What is forgotten is asked about.
const BUILDS: usize = 64;
const FILES: usize = 256;

/// Larger files are told apart by everything but their content.
// The change time cannot be set by hand, so that the content adds little; hashing more would show in the time of an answer.
const HASHED: u64 = 16 << 20;

/// The builds of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Builds {
    running: VecDeque<Running>,
    done: VecDeque<Done>,
    files: VecDeque<BuiltFile>,
}

/// A build call that may run, and whose end has not been reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Running {
    id: String,
    began_ms: u64,
    built: Built,
    /// Another call of the session may have changed files meanwhile.
    is_disturbed: bool,
}

/// A build call that has ended: what it made below the directory changed between these two points in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Done {
    root: String,
    others: Vec<String>,
    began_ms: u64,
    ended_ms: u64,
}

/// One file that a build was told to make, as its end was reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct BuiltFile {
    path: String,
    stamp: Stamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    user: u32,
    mode: u32,
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
    code: Option<String>,
}

impl State for Builds {
    const NAME: &'static str = "builds";
}

impl Builds {
    /// A call that builds may run.
    pub(crate) fn begin(&mut self, id: &str, built: Built, is_alone: bool, now_ms: u64) {
        self.running.retain(|running| running.id != id);
        self.running.push_back(Running { id: id.to_owned(), began_ms: now_ms, built, is_disturbed: !is_alone });
        while self.running.len() > BUILDS {
            self.running.pop_front();
        }
    }

    /// Another call may run that changes something.
    pub(crate) fn disturb(&mut self, id: &str) {
        self.running.iter_mut().filter(|running| running.id != id).for_each(|running| running.is_disturbed = true);
    }

    /// No build has ended that made something.
    pub(crate) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.files.is_empty()
    }

    pub(crate) fn has_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// The agent reports the end of a call. Only one that went well has made what it was to make.
    pub(crate) fn end(&mut self, id: &str, went_well: bool, now_ms: u64, key: &StateKey) {
        let Some(at) = self.running.iter().position(|running| running.id == id) else { return };
        let Some(Running { began_ms, built, is_disturbed, .. }) = self.running.remove(at) else { return };
        if !went_well || is_disturbed {
            return;
        }
        let mut roots: Vec<String> = built.root.into_iter().collect();
        for path in built.files {
            self.files.retain(|known| known.path != path);
            match Path::new(&path).symlink_metadata() {
                Ok(found) if found.is_dir() => roots.push(path),
                Ok(found) => self.files.extend(Stamp::of(&path, &found, key).map(|stamp| BuiltFile { path, stamp })),
                Err(_) => {}
            }
        }
        let done = |root| Done { root, others: built.others.clone(), began_ms, ended_ms: now_ms };
        self.done.extend(roots.into_iter().map(done));
        while self.done.len() > BUILDS {
            self.done.pop_front();
        }
        while self.files.len() > FILES {
            self.files.pop_front();
        }
    }

    /// The file is what a build made of the project, and nothing changed it since.
    pub(crate) fn made(&self, path: &str, found: &Metadata, key: &StateKey) -> bool {
        if found.is_dir() {
            return self.made_directory(path, key);
        }
        if let Some(known) = self.files.iter().find(|known| known.path == path) {
            return Stamp::of(path, found, key).is_some_and(|stamp| stamp == known.stamp);
        }
        let changed = milliseconds(files::changed(found));
        is_own(found) && self.done.iter().any(|done| done.made(path, changed))
    }

    /// A build was told to make the directory, and made all that is in it.
    fn made_directory(&self, path: &str, key: &StateKey) -> bool {
        let is_told = self.done.iter().any(|done| done.root == path);
        let is_made =
            |inner: &str| Path::new(inner).symlink_metadata().is_ok_and(|found| self.made(inner, &found, key));
        is_told
            && files::below(path).is_some_and(|below| {
                below.iter().all(|(inner, kind)| *kind == doorward_engine::Kind::Directory || is_made(inner))
            })
    }
}

impl Done {
    fn made(&self, path: &str, changed_ms: u64) -> bool {
        let is_below = |directory: &str| Path::new(path).starts_with(directory);
        is_below(&self.root)
            && !self.others.iter().any(|other| is_below(other))
            && (self.began_ms..=self.ended_ms).contains(&changed_ms)
    }
}

impl Stamp {
    fn of(path: &str, found: &Metadata, key: &StateKey) -> Option<Stamp> {
        let bytes = (found.len() <= HASHED).then(|| checked_read::bytes_of(Path::new(path), HASHED));
        let code = match bytes {
            Some(bytes) => Some(key.code(path, &bytes?).iter().map(|byte| format!("{byte:02x}")).collect()),
            None => None,
        };
        is_own(found).then(|| Stamp {
            user: found.uid(),
            mode: found.mode(),
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
            code,
        })
    }
}

/// A file of this user that nobody else can write.
fn is_own(found: &Metadata) -> bool {
    found.is_file() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Room {
        base: tempfile::TempDir,
        key: StateKey,
    }

    impl Room {
        fn new() -> Room {
            let base = tempfile::tempdir().unwrap();
            let key = StateKey::load_or_create(&base.path().join("key")).unwrap();
            Room { base, key }
        }

        fn path(&self, name: &str) -> String {
            self.base.path().join(name).to_str().unwrap().to_owned()
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.path(name), text).unwrap();
        }

        fn made(&self, builds: &Builds, name: &str) -> bool {
            let path = self.path(name);
            std::fs::symlink_metadata(&path).is_ok_and(|found| builds.made(&path, &found, &self.key))
        }
    }

    fn now() -> u64 {
        crate::machine::clock::now_ms()
    }

    /// The clock of the disk lags behind.
    fn pause() {
        std::thread::sleep(std::time::Duration::from_millis(30));
    }

    #[test]
    fn a_file_counts_until_anything_about_it_changes() {
        let room = Room::new();
        let mut builds = Builds::default();
        let built = Built { files: vec![room.path("app")], ..Built::default() };
        builds.begin("a", built, true, now());
        room.write("app", "one");
        assert!(!room.made(&builds, "app"), "the end of the build is not reported");
        builds.end("a", true, now(), &room.key);
        assert!(room.made(&builds, "app"));
        std::fs::copy(room.path("app"), room.path("copy")).unwrap();
        assert!(!room.made(&builds, "copy"), "a copy is no build");
        pause();
        room.write("app", "two");
        assert!(!room.made(&builds, "app"));
    }

    #[test]
    fn neither_a_failed_build_nor_a_disturbed_one_counts() {
        let room = Room::new();
        room.write("app", "one");
        let built = || Built { files: vec![room.path("app")], ..Built::default() };
        let mut builds = Builds::default();
        builds.begin("failed", built(), true, now());
        builds.end("failed", false, now(), &room.key);
        builds.begin("beside", built(), false, now());
        builds.end("beside", true, now(), &room.key);
        builds.begin("disturbed", built(), true, now());
        builds.disturb("other");
        builds.end("disturbed", true, now(), &room.key);
        assert!(!room.made(&builds, "app"));
        assert!(builds.is_empty() && !builds.has_running());
    }

    #[test]
    fn a_recipe_made_what_changed_while_it_ran_and_nothing_else() {
        let room = Room::new();
        room.write("before", "x");
        pause();
        let mut builds = Builds::default();
        let built = Built {
            root: Some(room.base.path().to_str().unwrap().to_owned()),
            others: vec![room.path("copied")],
            ..Built::default()
        };
        builds.begin("a", built, true, now());
        pause();
        room.write("app", "x");
        room.write("copied", "x");
        pause();
        builds.end("a", true, now(), &room.key);
        pause();
        room.write("after", "x");
        let found: Vec<bool> =
            ["before", "app", "copied", "after"].iter().map(|name| room.made(&builds, name)).collect();
        assert_eq!(found, [false, true, false, false]);
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        std::fs::set_permissions(room.path("app"), open).unwrap();
        assert!(!room.made(&builds, "app"), "others may write it");
    }
}
