//! Makes entries durable before an answer is given.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long another process may hold the log before we give up.
const PATIENCE: Duration = Duration::from_secs(5);

/// Proof that an entry is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "only a receipt allows an approval"]
pub struct Receipt {
    /// Where the entry begins.
    pub offset: u64,
}

/// Whatever keeps the record.
pub trait Recorder {
    /// Keeps one entry, a JSON object without line ends, and returns once it is durable.
    fn append(&mut self, body: &[u8]) -> Result<Receipt>;
}

/// One file, one entry per line.
#[derive(Debug)]
pub struct LineLog {
    path: PathBuf,
}

impl LineLog {
    /// The log in a directory that belongs to the user alone; both are made if they are missing.
    pub fn new(directory: &Path) -> LineLog {
        LineLog { path: directory.join("log.jsonl") }
    }

    fn open(&self) -> Result<File> {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let mut options = OpenOptions::new();
        options.append(true).read(true).mode(0o600).custom_flags(flags.bits() as i32);
        match options.open(&self.path) {
            Ok(file) => Ok(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => self.create(&mut options),
            Err(error) => Err(error).with_context(|| format!("the log `{}` cannot be opened", self.path.display())),
        }
    }

    fn create(&self, options: &mut OpenOptions) -> Result<File> {
        let directory = self.path.parent().context("the log has no directory")?;
        DirBuilder::new().recursive(true).mode(0o700).create(directory).with_context(|| format!("`{}` cannot be made", directory.display()))?;
        let file = options.create(true).open(&self.path).with_context(|| format!("the log `{}` cannot be made", self.path.display()))?;
        // A new file is durable once its name is.
        for ancestor in directory.ancestors().take(4) {
            File::open(ancestor).and_then(|directory| directory.sync_all()).with_context(|| format!("`{}` cannot be made durable", ancestor.display()))?;
        }
        Ok(file)
    }
}

impl Recorder for LineLog {
    fn append(&mut self, body: &[u8]) -> Result<Receipt> {
        let mut file = self.open()?;
        let metadata = file.metadata().context("the log cannot be looked at")?;
        if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 || !metadata.is_file() {
            bail!("the log `{}` is not a plain file that only its user can change", self.path.display());
        }
        lock(&file)?;
        let offset = file.metadata().context("the log cannot be looked at")?.len();
        let mut line = Vec::with_capacity(body.len() + 1);
        line.extend(body.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
        line.push(b'\n');
        file.write_all(&line).context("the record cannot be written")?;
        file.sync_data().context("the record cannot be made durable")?;
        Ok(Receipt { offset })
    }
}

/// Waits for the lock, but not for ever: somebody may hold it on purpose.
fn lock(file: &File) -> Result<()> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            Err(TryLockError::WouldBlock) => bail!("another process has held the log for {} seconds", PATIENCE.as_secs()),
            Err(TryLockError::Error(error)) => return Err(error).context("the log cannot be locked"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_appended_to_a_private_file() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("a/b");
        let mut log = LineLog::new(&place);
        assert_eq!(log.append(b"{}").unwrap(), Receipt { offset: 0 });
        assert_eq!(log.append(b"{\n}").unwrap(), Receipt { offset: 3 });
        assert_eq!(std::fs::read(place.join("log.jsonl")).unwrap(), b"{}\n{ }\n");
        assert_eq!(std::fs::metadata(&place).unwrap().mode() & 0o777, 0o700);
        assert_eq!(std::fs::metadata(place.join("log.jsonl")).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_log_that_others_can_change_takes_no_entry() {
        let directory = tempfile::tempdir().unwrap();
        let mut log = LineLog::new(directory.path());
        let _ = log.append(b"{}").unwrap();
        let file = directory.path().join("log.jsonl");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        assert!(log.append(b"{}").is_err());
    }
}
