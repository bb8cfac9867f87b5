//! Takes a snapshot: every byte is durable before the manifest is, and the manifest before anything relies on it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail};
use doorward_ledger::Hash;
use rustix::fs::{FileType, Stat};

use super::copy;
use super::doors::{self, Doors};
use super::fault::step;
use super::manifest::{EncodedPath, Entry, FileMetadata, Former, Manifest};
use super::plan::{Item, Plan, is_same, kind};
use super::store::{LockKind, SnapshotStore};
use crate::policy::snapshot_limits::Limits;

/// How many files are open at the same time: written together, they become durable together.
// Syncs of many files overlap in the disk's queue; one after another they add up (decision 0016).
const TOGETHER: usize = 128;

/// Smaller files go into one pack: separate files would each need their own sync.
// Ten small files in a pack cost three syncs, on their own ten: 58 ms on a busy disk (decision 0016).
const SMALL: i64 = 256 << 10;

/// The longest anyone waits for a call.
// The deadline of the hook is ten seconds, and judging and recording come on top.
const PATIENCE: Duration = Duration::from_secs(4);

/// No file system clock is coarser.
// A file changed within the last tick could change again without a new timestamp, so its copy waits this long.
const TICK: Duration = Duration::from_millis(10);

/// Copies what the plan says and stores the manifest, which gets its name here and the new entries added.
pub(super) fn take(store: &SnapshotStore, plan: &Plan, mut manifest: Manifest, limits: Limits) -> Result<Manifest> {
    let _lock = store.lock(LockKind::Shared)?;
    step()?;
    let named_for = manifest.undoes.as_deref().unwrap_or(&manifest.decision);
    manifest.id = store.reserve(named_for)?;
    let id = manifest.id.clone();
    let taken = take_into(store, plan, manifest, limits);
    if taken.is_err() {
        store.give_back(&id);
    }
    taken
}

fn take_into(store: &SnapshotStore, plan: &Plan, mut manifest: Manifest, limits: Limits) -> Result<Manifest> {
    // Before the first byte: a disk filled by us would stop the user's own work.
    store.has_room(plan.bytes, limits.store_bytes)?;
    wait_for_the_clock(plan);
    let mut copier = Copier::new(store);
    let began = Instant::now();
    for item in &plan.items {
        // Checked per file, so one huge file may overrun; the hook's deadline then blocks the call.
        if began.elapsed() > PATIENCE {
            bail!("copying takes longer than {} seconds", PATIENCE.as_secs());
        }
        manifest.entries.push(copier.entry(item)?);
        if copier.written.len() >= TOGETHER {
            copier.settle()?;
        }
    }
    copier.settle()?;
    copier.name_pack(&manifest.id)?;
    // Open directories would still show the old tree after someone moved it away.
    copier.doors.forget();
    if let Some(item) = plan.items.iter().find(|item| !is_same(&item.stat, copier.doors.look(&item.path))) {
        bail!("`{}` changed while it was being copied", item.path.display());
    }
    // Counted before the manifest exists: after a crash the store seems fuller, never emptier.
    store.add_weight(copier.added)?;
    step()?;
    store.keep(&manifest)?;
    step()?;
    Ok(manifest)
}

/// File system clocks advance in steps of some milliseconds: two changes within one step look like one, so wait that long
/// after a recent change.
fn wait_for_the_clock(plan: &Plan) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let changed = |stat: &Stat| {
        let seconds = u128::try_from(stat.st_ctime).unwrap_or_default();
        seconds * 1_000_000_000 + stat.st_ctime_nsec as u128
    };
    let newest = plan.items.iter().map(|item| changed(&item.stat)).max().unwrap_or_default();
    if newest + TICK.as_nanos() > now {
        std::thread::sleep(TICK);
    }
}

struct Copier<'a> {
    store: &'a SnapshotStore,
    doors: Doors,
    /// Complete, but not yet durable, and under a temporary name.
    written: Vec<(File, PathBuf, Hash)>,
    has_large: bool,
    /// Small files, complete but not yet durable.
    pack: Option<PackWriter>,
    added: u64,
    name: String,
    number: u64,
}

struct PackWriter {
    file: BufWriter<File>,
    path: PathBuf,
    length: u64,
    /// Where each content starts.
    known: HashMap<Hash, u64>,
}

impl Copier<'_> {
    fn new(store: &SnapshotStore) -> Copier<'_> {
        let name = crate::memory::call_ids::own_name();
        Copier {
            store,
            doors: Doors::default(),
            written: Vec::new(),
            has_large: false,
            pack: None,
            added: 0,
            name,
            number: 0,
        }
    }

    fn entry(&mut self, item: &Item) -> Result<Entry> {
        let what = match kind(&item.stat) {
            FileType::Symlink => {
                let to = EncodedPath(self.doors.link(&item.path)?);
                Former::Link { to, about: FileMetadata::of(&item.stat, Default::default()) }
            }
            FileType::Directory => {
                let attributes = doors::attributes(self.doors.directory(&item.path)?)?;
                Former::Directory { about: FileMetadata::of(&item.stat, attributes) }
            }
            FileType::RegularFile => self.file(item)?,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => bail!("`{}` is a device, socket or pipe", item.path.display()),
        };
        Ok(Entry { path: EncodedPath(item.path.clone()), what })
    }

    fn file(&mut self, item: &Item) -> Result<Former> {
        let shown = || format!("can't copy `{}`", item.path.display());
        let mut file = self.doors.open(&item.path).with_context(shown)?;
        let stat = rustix::fs::fstat(&file)?;
        if !is_same(&item.stat, Ok(stat)) {
            bail!("`{}` changed before it was copied", item.path.display());
        }
        // A sparse file in a pack would be written out with all its zeros.
        let (hash, at) = if stat.st_size <= SMALL && !copy::is_sparse(&stat) {
            let (hash, at) = self.small(&mut file, &stat).with_context(shown)?;
            (hash, Some(at))
        } else {
            (self.large(&mut file, &stat).with_context(shown)?, None)
        };
        let about = FileMetadata::of(&stat, doors::attributes(&file).with_context(shown)?);
        Ok(Former::File { hash, size: u64::try_from(stat.st_size)?, at, about })
    }

    fn small(&mut self, file: &mut File, stat: &Stat) -> Result<(Hash, u64)> {
        let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size)?);
        file.take(SMALL.unsigned_abs() + 1).read_to_end(&mut bytes)?;
        // A file that grows while it is read would be stored as a mix of two states.
        if bytes.len() as u64 != u64::try_from(stat.st_size)? {
            bail!("its length changed while it was being copied");
        }
        if self.pack.is_none() {
            let (file, path) = self.half()?;
            let file = BufWriter::with_capacity(1 << 20, file);
            self.pack = Some(PackWriter { file, path, length: 0, known: HashMap::new() });
        }
        let Some(pack) = &mut self.pack else { bail!("there is no pack") };
        let hash = Hash::of(&bytes);
        if let Some(at) = pack.known.get(&hash) {
            return Ok((hash, *at));
        }
        step()?;
        pack.file.write_all(&bytes)?;
        let at = pack.length;
        pack.known.insert(hash, at);
        pack.length += bytes.len() as u64;
        self.added += bytes.len() as u64;
        Ok((hash, at))
    }

    /// Makes the pack durable under its name; the name is durable once the manifest in the same directory is.
    fn name_pack(&mut self, id: &str) -> Result<()> {
        if self.has_large {
            step()?;
            File::open(self.store.objects())?.sync_all().context("can't make the snapshots durable")?;
        }
        let Some(pack) = &mut self.pack else { return Ok(()) };
        step()?;
        pack.file.flush()?;
        pack.file.get_ref().sync_all()?;
        step()?;
        std::fs::rename(&pack.path, self.store.pack(id))?;
        self.pack = None;
        Ok(())
    }

    fn large(&mut self, file: &mut File, stat: &Stat) -> Result<Hash> {
        let (mut half, path) = self.half()?;
        step()?;
        copy::copy(file, &mut half, stat)?;
        half.seek(SeekFrom::Start(0))?;
        // Hash what was written, not what was read.
        let hash = Hash::of_reader(&mut half)?;
        let size = half.metadata()?.len();
        if size != u64::try_from(stat.st_size)? {
            return Err(anyhow!("its length changed while it was being copied"));
        }
        if self.has(&hash, size) {
            std::fs::remove_file(&path)?;
            return Ok(hash);
        }
        self.added += size;
        self.written.push((half, path, hash));
        Ok(hash)
    }

    /// The object exists, or will once the written data gets its name.
    fn has(&self, hash: &Hash, size: u64) -> bool {
        self.written.iter().any(|(_, _, known)| known == hash)
            || self.store.object(hash).symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == size)
    }

    // Under a temporary name in another directory; pruning removes what a crash leaves there.
    fn half(&mut self) -> Result<(File, PathBuf)> {
        step()?;
        self.number += 1;
        let path = self.store.half().join(format!("{}-{}", self.name, self.number));
        let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        Ok((file, path))
    }

    /// Makes the written data durable and gives it its name.
    fn settle(&mut self) -> Result<()> {
        self.has_large |= !self.written.is_empty();
        // All syncs first, then the names: a name must never point at bytes that a crash could lose.
        for (file, _, _) in &self.written {
            step()?;
            file.sync_all()?;
        }
        for (_, path, hash) in self.written.drain(..) {
            step()?;
            std::fs::rename(&path, self.store.object(&hash))?;
        }
        Ok(())
    }
}

impl Drop for Copier<'_> {
    /// Unfinished copies are useless.
    fn drop(&mut self) {
        let packed = self.pack.iter().map(|pack| &pack.path);
        for path in self.written.iter().map(|(_, path, _)| path).chain(packed) {
            let _ = std::fs::remove_file(path);
        }
    }
}
