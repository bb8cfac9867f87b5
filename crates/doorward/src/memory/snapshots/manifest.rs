//! The description of a snapshot: its paths, and everything about them besides their content.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use doorward_ledger::{Hash, SnapshotTaken};
use doorward_vocabulary::{CallId, SessionId};
use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

/// One snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Manifest {
    pub id: String,
    /// The decision about the call it was taken for.
    pub decision: CallId,
    pub session: SessionId,
    pub project: Option<String>,
    /// The call in words, with secrets replaced.
    pub call: String,
    pub taken_ms: u64,
    /// How many files the call also changes, but git has them.
    pub left_to_git: u64,
    /// The snapshot that was restored when this one was taken.
    pub undoes: Option<String>,
    pub entries: Vec<Entry>,
}

/// One path as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub path: EncodedPath,
    #[serde(flatten)]
    pub what: Former,
}

/// What was there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub(crate) enum Former {
    File {
        /// The hash of its bytes.
        hash: Hash,
        size: u64,
        /// Where its content starts in the snapshot's pack; without it, the content is a separate object.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<u64>,
        #[serde(flatten)]
        about: FileMetadata,
    },
    Link {
        to: EncodedPath,
        #[serde(flatten)]
        about: FileMetadata,
    },
    Directory {
        #[serde(flatten)]
        about: FileMetadata,
    },
    /// Nothing.
    Absent,
}

/// A file's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMetadata {
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// Seconds and nanoseconds.
    pub modified: (i64, i64),
    pub accessed: (i64, i64),
    /// Extended attributes, values in hexadecimal.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

impl FileMetadata {
    pub(crate) fn of(stat: &Stat, attributes: BTreeMap<String, String>) -> FileMetadata {
        FileMetadata {
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            modified: modified(stat),
            accessed: (stat.st_atime, stat.st_atime_nsec as i64),
            attributes,
        }
    }
}

impl Manifest {
    /// Files and links, and the bytes of the files.
    pub(crate) fn size(&self) -> (u64, u64) {
        let size = |entry: &Entry| match &entry.what {
            Former::File { size, .. } => (1, *size),
            Former::Link { .. } => (1, 0),
            Former::Directory { .. } | Former::Absent => (0, 0),
        };
        self.entries.iter().map(size).fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// What the record says about it.
    pub(crate) fn to_record(&self) -> SnapshotTaken {
        let (files, bytes) = self.size();
        SnapshotTaken { id: self.id.clone(), files, bytes }
    }

    /// The objects it needs besides its pack.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Hash> + '_ {
        self.entries.iter().filter_map(|entry| match &entry.what {
            Former::File { hash, at: None, .. } => Some(*hash),
            Former::File { at: Some(_), .. } | Former::Link { .. } | Former::Directory { .. } | Former::Absent => None,
        })
    }
}

/// How paths looked after the call ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StampsAfter {
    /// One for each entry of the manifest, in its order.
    pub stamps: Vec<Option<Stamp>>,
}

/// What reveals a later change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub mode: u32,
    pub size: i64,
    pub modified: (i64, i64),
}

impl Stamp {
    /// How a path looks now; `None` if it does not exist. An unreadable path equals nothing else.
    pub(crate) fn now(path: &Path) -> Option<Stamp> {
        match rustix::fs::lstat(path) {
            Ok(stat) => Some(Stamp::of(&stat)),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => None,
            Err(_) => Some(Stamp { mode: 0, size: -1, modified: (0, 0) }),
        }
    }

    pub(crate) fn of(stat: &Stat) -> Stamp {
        // A directory's size and time reflect its content, not its identity.
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let (size, modified) = if is_directory { (0, (0, 0)) } else { (stat.st_size, modified(stat)) };
        Stamp { mode: stat.st_mode, size, modified }
    }
}

fn modified(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime, stat.st_mtime_nsec as i64)
}

/// A path or link target: bytes, written as text with `%XX` for anything that is not UTF-8, and for `%`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct EncodedPath(pub PathBuf);

impl From<EncodedPath> for String {
    fn from(name: EncodedPath) -> String {
        let mut text = String::new();
        for chunk in name.0.as_os_str().as_bytes().utf8_chunks() {
            text.push_str(&chunk.valid().replace('%', "%25"));
            chunk.invalid().iter().for_each(|byte| text.push_str(&format!("%{byte:02X}")));
        }
        text
    }
}

impl From<String> for EncodedPath {
    fn from(text: String) -> EncodedPath {
        let mut bytes = Vec::with_capacity(text.len());
        let mut pieces = text.split('%');
        bytes.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
        for piece in pieces {
            let code = piece.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
            bytes.extend(code);
            bytes.extend_from_slice(piece.get(2..).unwrap_or_default().as_bytes());
        }
        EncodedPath(PathBuf::from(OsStr::from_bytes(&bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_from_its_text() {
        for bytes in [&b"/a/b c"[..], b"/100%/x", b"/\xff\xfe/\xc3\xa4", b"/new\nline/\x01", b""] {
            let name = EncodedPath(PathBuf::from(OsStr::from_bytes(bytes)));
            let text = serde_json::to_string(&name).unwrap();
            assert_eq!(serde_json::from_str::<EncodedPath>(&text).unwrap(), name, "{text}");
        }
    }

    #[test]
    fn a_manifest_comes_back_from_its_text() {
        let about = FileMetadata { mode: 0o640, modified: (-5, 7), ..FileMetadata::default() };
        let entry = |path: &str, what| Entry { path: EncodedPath(path.into()), what };
        let manifest = Manifest {
            id: "x".into(),
            entries: vec![
                entry("/a", Former::File { hash: Hash::of(b"a"), size: 3, at: Some(7), about: about.clone() }),
                entry("/b", Former::Link { to: EncodedPath("../c".into()), about: about.clone() }),
                entry("/d", Former::Directory { about }),
                entry("/e", Former::Absent),
            ],
            ..Manifest::default()
        };
        let text = serde_json::to_string(&manifest).unwrap();
        assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), manifest);
        assert_eq!(manifest.size(), (2, 3));
    }
}
