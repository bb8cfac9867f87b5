//! What a bundle says of itself.

use std::collections::BTreeSet;

use doorward_ledger::{Hash, PublicKey};
use serde::{Deserialize, Serialize};

use super::{MANIFEST, Refused, SIGNATURES};

/// The format this build writes. Another one is refused: a field that is not understood may be the one that tightens.
const FORMAT: u8 = 1;
/// No team needs more signers, and a manifest is no place to make a reader verify thousands of signatures.
const MOST_SIGNERS: usize = 32;
/// The longest validity: whoever can freeze the server can keep a policy in force for so long.
const LONGEST_MS: u64 = 400 * 24 * 60 * 60 * 1000;

/// The keys that count, and how many of them it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// How many signatures it takes.
    pub threshold: usize,
    /// Whose.
    pub signers: Vec<PublicKey>,
}

impl Root {
    /// Whether it can work and says no key twice.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let distinct: BTreeSet<&PublicKey> = self.signers.iter().collect();
        let all = self.signers.len();
        distinct.len() == all && (1..=all).contains(&self.threshold) && all <= MOST_SIGNERS
    }
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// Its name.
    pub path: String,
    /// Its length.
    pub size: u64,
    /// Its digest.
    pub sha256: Hash,
}

impl Listed {
    pub(super) fn of(path: &str, bytes: &[u8]) -> Self {
        Self { path: path.to_owned(), size: bytes.len() as u64, sha256: Hash::of(bytes) }
    }
}

/// What a bundle says of itself; every word of it is signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format of the manifest.
    pub format: u8,
    /// Whose policy it is.
    pub team: String,
    /// Rises with every bundle.
    pub version: u64,
    /// It does not hold before.
    pub not_before_ms: u64,
    /// It does not hold after.
    pub expires_ms: u64,
    /// Digest of the bundle before; none for the first.
    pub previous: Option<Hash>,
    /// The keys that sign the next one.
    pub root: Root,
    /// The share of machines that it is for, in percent; the others keep the one before.
    pub share: u8,
    /// It takes back what was in force: until the next one, machines are strict.
    #[serde(default)]
    pub revokes: bool,
    /// The files.
    #[serde(default)]
    pub files: Vec<Listed>,
}

impl Manifest {
    /// A manifest that holds from a moment on.
    #[must_use]
    pub fn new(
        team: &str,
        (version, previous): (u64, Option<Hash>),
        (from_ms, until_ms): (u64, u64),
        root: Root,
    ) -> Self {
        Self {
            format: FORMAT,
            team: team.to_owned(),
            version,
            not_before_ms: from_ms,
            expires_ms: until_ms,
            previous,
            root,
            share: 100,
            revokes: false,
            files: Vec::new(),
        }
    }

    /// Whether it makes sense by itself.
    pub(super) fn check(&self) -> Result<(), Refused> {
        let wrong = |why: &str| Err(Refused::Malformed(why.to_owned()));
        let names: BTreeSet<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        let reserved = [MANIFEST, SIGNATURES].iter().any(|name| names.contains(name));
        match self {
            Self { format, .. } if *format != FORMAT => wrong("this version of doorward doesn't know its format"),
            Self { version: 0, .. } => wrong("versions start with 1"),
            Self { version, previous, .. } if (*version == 1) != previous.is_none() => {
                wrong("every bundle but the first names the one before")
            }
            Self { not_before_ms, expires_ms, .. } if expires_ms <= not_before_ms => wrong("it never holds"),
            Self { not_before_ms, expires_ms, .. } if expires_ms - not_before_ms > LONGEST_MS => {
                wrong("it holds for longer than 400 days")
            }
            Self { root, .. } if !root.is_sound() => wrong("its keys can't sign a bundle"),
            Self { share, .. } if !(1..=100).contains(share) => wrong("its share is no percentage"),
            Self { revokes: true, files, .. } if !files.is_empty() => wrong("a revocation has no files"),
            Self { files, .. } if names.len() != files.len() || reserved => wrong("it names a file twice"),
            _ => Ok(()),
        }
    }
}
