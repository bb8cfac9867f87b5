//! The snapshot store: objects named by their content, and authenticated manifests that describe them.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use doorward_ledger::{Hash, MacFiles, StateKey};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::manifest::{Manifest, StampsAfter};
use crate::machine::paths::Dirs;

/// How long to wait for a lock: no longer than a call may take.
// In milliseconds. A prune holds the lock for a moment; if it takes longer, the call is judged without a copy.
const TRIES: u32 = 2_000;
const PAUSE: Duration = Duration::from_millis(1);

/// The snapshots of one user.
#[derive(Debug)]
pub(crate) struct SnapshotStore {
    root: PathBuf,
    files: MacFiles,
}

/// Held while something is added, or alone while something is removed.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "it is held, not used")] File);

/// The content of one file.
#[derive(Debug)]
pub(crate) enum StoredContent {
    /// A large file's content, from the start of this file.
    File(File),
    Bytes(Vec<u8>),
}

/// Whether others may hold the lock too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockKind {
    Shared,
    Alone,
}

/// The directory of a user's snapshots.
pub(crate) fn root(dirs: &Dirs) -> PathBuf {
    dirs.state().join("snapshots")
}

/// Whether a snapshot may have been started for the decision; most calls have none, and nothing is opened for them.
pub(crate) fn may_have(dirs: &Dirs, decision: &str) -> bool {
    let made = root(dirs).join("made");
    names_of(decision).next().is_some_and(|name| {
        ["snap", "pack"].iter().any(|end| made.join(format!("{name}.{end}")).symlink_metadata().is_ok())
    })
}

impl SnapshotStore {
    /// The store of a user, created if there is none.
    pub(crate) fn open(dirs: &Dirs) -> Result<SnapshotStore> {
        let root = root(dirs);
        for directory in [root.clone(), root.join("objects"), root.join("made"), root.join("half")] {
            DirBuilder::new().recursive(true).mode(0o700).create(&directory).with_context(|| cannot(&directory))?;
        }
        SnapshotStore::at(root, dirs)
    }

    /// The store of a user, if there is one.
    pub(crate) fn existing(dirs: &Dirs) -> Result<Option<SnapshotStore>> {
        let root = root(dirs);
        match root.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            // Its creation may have been interrupted.
            Ok(_) | Err(_) => SnapshotStore::open(dirs).map(Some),
        }
    }

    fn at(root: PathBuf, dirs: &Dirs) -> Result<SnapshotStore> {
        for directory in [&root, &root.join("objects"), &root.join("made"), &root.join("half")] {
            let found = directory.symlink_metadata().with_context(|| cannot(directory))?;
            if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o077 != 0 {
                bail!("`{}` is not a directory that only you can access", directory.display());
            }
        }
        let key = StateKey::load_or_create(&dirs.state().join("snapshots.key"))?;
        let files = MacFiles::at(&root.join("made"), key);
        Ok(SnapshotStore { root, files })
    }

    /// Waits for the lock, but not for long.
    pub(crate) fn lock(&self, hold: LockKind) -> Result<Lock> {
        let path = self.root.join("lock");
        let file = open_own(&path).with_context(|| cannot(&path))?;
        let operation = match hold {
            LockKind::Shared => FlockOperation::NonBlockingLockShared,
            LockKind::Alone => FlockOperation::NonBlockingLockExclusive,
        };
        locked(&file, operation, &path)?;
        Ok(Lock(file))
    }

    pub(crate) fn object(&self, hash: &Hash) -> PathBuf {
        self.root.join("objects").join(hash.to_string())
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.root.join("objects")
    }

    /// The pack with a snapshot's small files, one after another.
    pub(crate) fn pack(&self, name: &str) -> PathBuf {
        self.root.join("made").join(format!("{name}.pack"))
    }

    /// The verified content of a file in a snapshot.
    pub(crate) fn content(&self, name: &str, hash: &Hash, size: u64, at: Option<u64>) -> Result<StoredContent> {
        let Some(at) = at else {
            let mut file = File::open(self.object(hash)).context("its copy is gone")?;
            if file.metadata()?.len() != size || Hash::of_reader(&mut file)? != *hash {
                bail!("its copy is damaged");
            }
            file.seek(SeekFrom::Start(0))?;
            return Ok(StoredContent::File(file));
        };
        let mut bytes = vec![0; usize::try_from(size)?];
        File::open(self.pack(name)).context("its copy is gone")?.read_exact_at(&mut bytes, at)?;
        if Hash::of(&bytes) != *hash {
            bail!("its copy is damaged");
        }
        Ok(StoredContent::Bytes(bytes))
    }

    /// The directory of unfinished copies.
    pub(crate) fn half(&self) -> PathBuf {
        self.root.join("half")
    }

    /// A unique name for the snapshot of a decision, reserved by an empty pack.
    pub(crate) fn reserve(&self, decision: &str) -> Result<String> {
        for name in names_of(decision).filter(|name| !self.is_kept(name)) {
            let path = self.pack(&name);
            match File::options().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(_) => return Ok(name),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| cannot(&path)),
            }
        }
        Err(anyhow!("there are too many snapshots for one call"))
    }

    /// Removes an unfinished snapshot; the next pruning finds any leftovers.
    pub(crate) fn give_back(&self, name: &str) {
        let _ = std::fs::remove_file(self.manifest_file(name));
        // INVARIANT: no manifest is without its pack.
        if !self.is_kept(name) {
            let _ = std::fs::remove_file(self.pack(name));
        }
    }

    /// The newest snapshot of a decision.
    pub(crate) fn named_for(&self, decision: &str) -> Option<String> {
        let is_known = |name: &String| self.is_kept(name) || self.pack(name).symlink_metadata().is_ok();
        names_of(decision).take_while(is_known).filter(|name| self.is_kept(name)).last()
    }

    fn is_kept(&self, name: &str) -> bool {
        self.manifest_file(name).symlink_metadata().is_ok()
    }

    pub(crate) fn manifest_file(&self, name: &str) -> PathBuf {
        self.root.join("made").join(format!("{name}.snap"))
    }

    /// Returns once the manifest is durable; what it names must be durable before.
    pub(crate) fn keep(&self, manifest: &Manifest) -> Result<()> {
        Ok(self.files.keep(&format!("{}.snap", manifest.id), manifest)?)
    }

    pub(crate) fn find(&self, name: &str) -> Result<Option<Manifest>> {
        Ok(self.files.find(&format!("{name}.snap"))?)
    }

    pub(crate) fn keep_after(&self, name: &str, after: &StampsAfter) -> Result<()> {
        Ok(self.files.keep(&format!("{name}.after"), after)?)
    }

    /// How things looked after the call ran, if known.
    pub(crate) fn after(&self, name: &str) -> Option<StampsAfter> {
        self.files.find(&format!("{name}.after")).ok().flatten()
    }

    /// Removes a manifest; its objects stay until no manifest refers to them.
    pub(crate) fn drop_manifest(&self, name: &str) -> Result<()> {
        let path = self.manifest_file(name);
        std::fs::remove_file(&path).with_context(|| cannot(&path))?;
        let _ = std::fs::remove_file(path.with_extension("after"));
        let _ = std::fs::remove_file(path.with_extension("pack"));
        Ok(())
    }

    /// All snapshots, newest first, and the names of unreadable ones.
    pub(crate) fn all(&self) -> Result<(Vec<Manifest>, Vec<String>)> {
        let (mut read, mut unreadable) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(self.root.join("made"))? {
            let name = entry?.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".snap")) else { continue };
            match self.find(name) {
                Ok(Some(manifest)) if manifest.id == name => read.push(manifest),
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => unreadable.push(name.to_owned()),
            }
        }
        read.sort_by(|a, b| (b.taken_ms, &b.id).cmp(&(a.taken_ms, &a.id)));
        unreadable.sort();
        Ok((read, unreadable))
    }

    /// The total size of the store.
    pub(crate) fn weigh(&self) -> Result<u64> {
        let entries = std::fs::read_dir(self.objects())?.chain(std::fs::read_dir(self.root.join("made"))?);
        let sizes = entries.map(|entry| entry?.metadata().map(|found| found.len()));
        sizes.sum::<std::io::Result<u64>>().map_err(Into::into)
    }

    /// Packs whose snapshot was never finished.
    pub(crate) fn lost_packs(&self) -> Result<Vec<PathBuf>> {
        let mut lost = Vec::new();
        for entry in std::fs::read_dir(self.root.join("made"))? {
            let path = entry?.path();
            let is_pack = path.extension().is_some_and(|end| end == "pack");
            if is_pack && path.with_extension("snap").symlink_metadata().is_err() {
                lost.push(path);
            }
        }
        Ok(lost)
    }

    /// Fails unless this many bytes may be added.
    pub(crate) fn has_room(&self, bytes: u64, limit: u64) -> Result<()> {
        let weight = remembered(&mut self.weight_file()?).map_or_else(|| self.weigh(), Ok)?;
        fits(weight, bytes, limit)
    }

    /// Notes that this many bytes were added.
    pub(crate) fn add_weight(&self, bytes: u64) -> Result<()> {
        let mut file = self.weight_file()?;
        match remembered(&mut file) {
            Some(known) => write_number(&mut file, known.saturating_add(bytes)),
            None => write_number(&mut file, self.weigh()?),
        }
    }

    /// Recomputes the total size.
    pub(crate) fn set_weight(&self) -> Result<u64> {
        let mut file = self.weight_file()?;
        let weight = self.weigh()?;
        write_number(&mut file, weight)?;
        Ok(weight)
    }

    fn weight_file(&self) -> Result<File> {
        let path = self.root.join("weight");
        let file = open_own(&path).with_context(|| cannot(&path))?;
        locked(&file, FlockOperation::NonBlockingLockExclusive, &path)?;
        Ok(file)
    }
}

/// Whether this many more bytes would fit, read-only: nothing is created or recomputed.
pub(crate) fn would_fit(dirs: &Dirs, bytes: u64, limit: u64) -> Result<()> {
    let kept = std::fs::read_to_string(root(dirs).join("weight")).ok();
    let weight: u64 = kept.and_then(|text| text.trim().parse().ok()).unwrap_or_default();
    fits(weight, bytes, limit)
}

fn fits(weight: u64, bytes: u64, limit: u64) -> Result<()> {
    if weight.saturating_add(bytes) > limit {
        bail!(
            "the snapshots would take more than {} MB; run `doorward snapshots prune` to make room",
            limit / 1_000_000
        );
    }
    Ok(())
}

/// Waits for a lock, but not for long.
fn locked(file: &File, operation: FlockOperation, path: &Path) -> Result<()> {
    for _ in 0..TRIES {
        match rustix::fs::flock(file, operation) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(PAUSE),
            Err(error) => return Err(error).with_context(|| cannot(path)),
        }
    }
    Err(anyhow!("another process has been using the snapshots for too long"))
}

fn remembered(file: &mut File) -> Option<u64> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_number(file: &mut File, number: u64) -> Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(write!(file, "{number}")?)
}

/// The possible names for snapshots of a decision, in order of use.
fn names_of(decision: &str) -> impl Iterator<Item = String> {
    let hash = Hash::of(decision.as_bytes()).to_string();
    let short = hash.get(..12).unwrap_or_default().to_owned();
    (1..10_000_u32).map(move |number| if number == 1 { short.clone() } else { format!("{short}-{number}") })
}

fn open_own(path: &Path) -> std::io::Result<File> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(no_follow)
        .open(path)
}

fn cannot(path: &Path) -> String {
    format!("can't use `{}`", path.display())
}
