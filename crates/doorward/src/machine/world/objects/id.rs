//! Git object ids: a hash of each object's content.

use std::collections::BTreeMap;
use std::fmt;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::Unread;

/// The hash algorithm of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashFormat {
    Sha1,
    Sha256,
}

/// An object id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    bytes: [u8; 32],
    length: u8,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

/// Extensions that change nothing about how objects and references are read.
// A list of what is known to be harmless: an extension that git adds tomorrow may change how objects are read.
const HARMLESS: &[&str] =
    &["noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees"];

impl HashFormat {
    /// The hash algorithm in a repository's configuration. An unknown repository format is not read at all.
    pub(crate) fn configured(values: &BTreeMap<String, String>) -> Result<HashFormat, Unread> {
        const UNKNOWN: Unread = Unread::Unsupported("this repository format");
        if !matches!(values.get("core.repositoryformatversion").map(String::as_str), None | Some("0" | "1")) {
            return Err(UNKNOWN);
        }
        let mut format = HashFormat::Sha1;
        for (key, value) in values {
            match (key.strip_prefix("extensions."), value.as_str()) {
                (Some("objectformat"), "sha256") => format = HashFormat::Sha256,
                (Some("objectformat"), "sha1") | (Some("refstorage"), "files") | (None, _) => {}
                (Some(name), _) if HARMLESS.contains(&name) => {}
                (Some(_), _) => return Err(UNKNOWN),
            }
        }
        Ok(format)
    }

    /// Bytes of an object id.
    pub(crate) const fn length(self) -> usize {
        match self {
            HashFormat::Sha1 => 20,
            HashFormat::Sha256 => 32,
        }
    }

    /// The empty tree, which git knows even if it was never stored.
    pub(super) fn empty_tree(self) -> Id {
        hashed(self, ObjectKind::Tree, &[])
    }
}

impl Id {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Id> {
        let length = u8::try_from(bytes.len()).ok().filter(|length| matches!(length, 20 | 32))?;
        let mut id = Id { bytes: [0; 32], length };
        id.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(id)
    }

    /// Reads a full id, in either case as git does.
    pub(crate) fn parse(hex: &str) -> Option<Id> {
        let digits = hex.as_bytes();
        if !matches!(digits.len(), 40 | 64) {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            let [high, low] = pair else { return None };
            let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Id::from_bytes(bytes.get(..digits.len() / 2)?)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }

    /// All zeros: no object.
    pub(crate) fn is_null(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == 0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl ObjectKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            ObjectKind::Commit => "commit",
            ObjectKind::Tree => "tree",
            ObjectKind::Blob => "blob",
            ObjectKind::Tag => "tag",
        }
    }

    pub(super) fn parse(word: &[u8]) -> Option<ObjectKind> {
        [ObjectKind::Commit, ObjectKind::Tree, ObjectKind::Blob, ObjectKind::Tag]
            .into_iter()
            .find(|kind| kind.as_str().as_bytes() == word)
    }
}

/// The id git gives a file with these bytes, if no filter changes them.
pub(crate) fn blob_id(format: HashFormat, bytes: &[u8]) -> Id {
    hashed(format, ObjectKind::Blob, bytes)
}

/// The id of an object with these bytes.
pub(super) fn hashed(format: HashFormat, kind: ObjectKind, bytes: &[u8]) -> Id {
    let head = format!("{} {}\0", kind.as_str(), bytes.len());
    let mut id = Id { bytes: [0; 32], length: 0 };
    match format {
        HashFormat::Sha1 => fill(&mut id, &Sha1::new().chain_update(head).chain_update(bytes).finalize()),
        HashFormat::Sha256 => fill(&mut id, &Sha256::new().chain_update(head).chain_update(bytes).finalize()),
    }
    id
}

fn fill(id: &mut Id, hash: &[u8]) {
    if let Some(known) = Id::from_bytes(hash) {
        *id = known;
    }
}
