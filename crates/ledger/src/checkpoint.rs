//! Signed statements about the log so far: a Merkle root over its segments, kept beside it and, if wanted, elsewhere.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Doing, LogError};
use crate::hash::{Hash, hex};
use crate::key::{CheckpointKey, PublicKey};
use crate::log::Log;
use crate::private::{self, Existing, FileError, Promise};
use crate::read::{SegmentFile, snapshot};
use crate::record::CheckpointBody;
use crate::recover;
use crate::segment::{Opening, START};
use crate::storage::{Storage, read_from};

// Part of the signed text: an older verifier must refuse a format that it does not know.
const VERSION: u8 = 1;

/// What one segment contributes to the root: which entries, and the hash of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaf {
    /// The first entry of the segment.
    pub first: u64,
    /// The last one so far.
    pub last: u64,
    /// The hash of the last one.
    pub hash: Hash,
}

/// The Merkle root (RFC 6962) over segments.
pub(crate) fn root(leaves: &[Leaf]) -> Hash {
    let mut tree = MemoryBackedTree::<Sha256, Vec<u8>>::new();
    for leaf in leaves {
        let (first, last) = (leaf.first.to_le_bytes(), leaf.last.to_le_bytes());
        tree.push([first.as_slice(), last.as_slice(), leaf.hash.bytes()].concat());
    }
    let bytes: [u8; 32] = (*tree.root().as_bytes()).into();
    Hash::from(bytes)
}

/// A signed statement: the log with this origin had these entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Format of the statement.
    pub version: u8,
    /// The random hash the log begins with.
    pub origin: Hash,
    /// The last entry it covers.
    pub sequence: u64,
    /// The hash of that entry.
    pub head: Hash,
    /// How many segments the root covers.
    pub segments: u64,
    /// Merkle root over the segments.
    pub root: Hash,
    /// The writer's clock.
    pub time_ms: u64,
    /// Fingerprint of the key.
    pub key: Hash,
    public: String,
    signature: String,
}

impl Checkpoint {
    /// Signs a log as far as its segments are given.
    pub(crate) fn over(
        (origin, leaves): (Hash, &[Leaf]),
        (sequence, head): (u64, Hash),
        key: &CheckpointKey,
        time_ms: u64,
    ) -> Self {
        let mut checkpoint = Self {
            version: VERSION,
            origin,
            sequence,
            head,
            segments: leaves.len() as u64,
            root: root(leaves),
            time_ms,
            key: key.fingerprint(),
            public: hex(&key.public()),
            signature: String::new(),
        };
        checkpoint.signature = hex(&key.sign(checkpoint.message().as_bytes()));
        checkpoint
    }

    /// Whether the statement was signed by the key it names.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.check_signature().is_some()
    }

    fn check_signature(&self) -> Option<()> {
        let public = PublicKey::from_hex(&self.public)?;
        if public.fingerprint() != self.key || self.version != VERSION {
            return None;
        }
        public.has_signed(self.message().as_bytes(), &self.signature).then_some(())
    }

    /// The signed text: one line per field, so no two statements share one.
    fn message(&self) -> String {
        format!(
            "doorward checkpoint {}\norigin {}\nsequence {}\nhead {}\nsegments {}\nroot {}\ntime {}\nkey {}\n",
            self.version, self.origin, self.sequence, self.head, self.segments, self.root, self.time_ms, self.key
        )
    }

    /// The statement as one line of JSON.
    #[must_use]
    pub fn to_line(&self) -> String {
        // Strings and numbers only: this cannot fail, and an empty line would be refused by every reader.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the last statement of a file, one per line.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        let text = std::fs::read_to_string(path).map_err(|source| FileError::Io {
            doing: "read",
            path: path.to_owned(),
            source,
        })?;
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        serde_json::from_str(last).map_err(|_| private::damaged(path, "it contains no checkpoint"))
    }

    /// Keeps the statement in a directory, under its sequence.
    pub fn save(&self, dir: &Path) -> Result<PathBuf, FileError> {
        let path = dir.join(format!("{:020}.checkpoint", self.sequence));
        let line = format!("{}\n", self.to_line());
        private::write(&path, line.as_bytes(), Existing::Leave, Promise::Durable)?;
        Ok(path)
    }

    /// All statements kept in a directory, oldest first; none if there is no directory.
    pub fn load_all(dir: &Path) -> Result<Vec<Self>, FileError> {
        let listing = match std::fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.and_then(Iterator::collect::<io::Result<Vec<_>>>),
        };
        let entries = listing.map_err(|source| FileError::Io { doing: "list", path: dir.to_owned(), source })?;
        let mut found: Vec<Self> = entries
            .iter()
            .map(std::fs::DirEntry::path)
            .filter(|path| path.extension().is_some_and(|end| end == "checkpoint"))
            .map(|path| Self::load(&path))
            .collect::<Result<_, _>>()?;
        found.sort_by_key(|checkpoint| checkpoint.sequence);
        Ok(found)
    }
}

/// Where a copy goes, out of reach of whoever can write the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elsewhere {
    /// One line is added to a file.
    File(PathBuf),
    /// A program gets the line on its standard input.
    Command(Vec<String>),
}

impl Elsewhere {
    /// Sends a copy; an error if it did not arrive.
    pub fn send(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let line = format!("{}\n", checkpoint.to_line());
        match self {
            Self::File(path) => {
                let mut file = std::fs::File::options().append(true).create(true).open(path)?;
                file.write_all(line.as_bytes())?;
                file.sync_all()
            }
            Self::Command(words) => pipe(words, &line),
        }
    }
}

fn pipe(words: &[String], line: &str) -> io::Result<()> {
    let (program, arguments) =
        words.split_first().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no command was given"))?;
    let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(line.as_bytes()));
    let status = child.wait()?;
    match written {
        _ if !status.success() => Err(io::Error::other(format!("the command ended with {status}"))),
        // Its own kind, a broken pipe, would look like a reader of ours that went away.
        Err(error) => Err(io::Error::other(format!("the command did not accept the checkpoint: {error}"))),
        Ok(()) => Ok(()),
    }
}

impl<S: Storage> Log<S> {
    /// Records that a statement is made, then signs the log as it stands, that record included.
    pub fn checkpoint(&mut self, key: &CheckpointKey, now_ms: u64) -> Result<Checkpoint, LogError> {
        let Checkpoint { sequence, root, key: fingerprint, .. } = self.statement(key, now_ms)?;
        let body = CheckpointBody { sequence, root, key: fingerprint };
        let _receipt = self.append(&body, now_ms)?;
        self.statement(key, now_ms)
    }

    fn statement(&self, key: &CheckpointKey, now_ms: u64) -> Result<Checkpoint, LogError> {
        let parts = snapshot(self)?;
        let mut origin = None;
        let mut leaves = Vec::new();
        for part in &parts {
            let (opening, leaf) = self.leaf(part)?;
            origin.get_or_insert(opening.previous);
            leaves.extend(leaf);
        }
        let nothing = LogError::Damaged { what: "the log has no entry to make a checkpoint of" };
        let (Some(origin), Some(last)) = (origin, leaves.last()) else {
            return Err(nothing);
        };
        Ok(Checkpoint::over((origin, &leaves), (last.last, last.hash), key, now_ms))
    }

    /// What a segment says at its two ends; nothing in between is read.
    pub(crate) fn leaf(&self, part: &SegmentFile<S::File>) -> Result<(Opening, Option<Leaf>), LogError> {
        let (file, size) = part.file(&self.storage)?;
        let bytes = read_from(file.as_ref(), 0, START).doing("read a segment")?;
        let opening = Opening::decode(&bytes).map_err(|_| LogError::Damaged { what: "the opening of a segment" })?;
        let (end, _mark) =
            recover::peek(file.as_ref(), size)?.ok_or(LogError::Damaged { what: "the end of a segment" })?;
        let leaf =
            (end.next > opening.first).then(|| Leaf { first: opening.first, last: end.next - 1, hash: end.hash });
        Ok((opening, leaf))
    }
}
