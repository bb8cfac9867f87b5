//! A policy bundle: one file with a manifest, signatures over it, and the files that it names. Everything is read in memory:
//! nothing is unpacked, so no name in a bundle is ever a path.

mod accept;
mod manifest;
mod tar;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use doorward_ledger::{Hash, PublicKey, SigningKey};
use serde::{Deserialize, Serialize};

pub use accept::{Known, Standing};
pub use manifest::{Listed, Manifest, Root};
pub use tar::LONGEST_BUNDLE;

const MANIFEST: &str = "manifest.json";
const SIGNATURES: &str = "signatures.json";

/// Why a bundle is refused. The last good one stays.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The file is no bundle.
    #[error("the bundle is malformed: {0}")]
    Malformed(String),
    /// A file is not the one that the manifest names.
    #[error("`{0}` in the bundle is not what its manifest says")]
    File(String),
    /// Not enough of the keys that count signed it.
    #[error("{signed} of the {needed} signatures needed are there, from keys this machine trusts")]
    Signatures {
        /// Valid ones, of different trusted keys.
        signed: usize,
        /// How many it takes.
        needed: usize,
    },
    /// An older bundle, or the same version with another content.
    #[error("version {found} is no newer than version {known}, which is in force: an older policy is never put back")]
    Older {
        /// What is in force.
        known: u64,
        /// What came.
        found: u64,
    },
    /// It does not follow the one in force.
    #[error("version {found} does not follow the bundle in force: its `previous` is another one")]
    Previous {
        /// What came.
        found: u64,
    },
    /// Another team's.
    #[error("the bundle is for the team `{0}`")]
    Team(String),
    /// It does not hold yet.
    #[error("the bundle holds only from a later time on; is this machine's clock right?")]
    Early,
    /// It does not hold any more, and there is none in force that it could follow.
    #[error("the bundle has expired")]
    Expired,
}

/// One signature over a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// By whom.
    pub key: PublicKey,
    signature: String,
}

/// A bundle whose parts fit together; who signed it is another question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// What it says of itself.
    pub manifest: Manifest,
    /// The files, by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Who signed, or claims to have.
    pub signatures: Vec<Signed>,
    text: Vec<u8>,
}

impl Bundle {
    /// Puts a bundle together; nobody has signed it yet.
    pub fn build(mut manifest: Manifest, files: BTreeMap<String, Vec<u8>>) -> Result<Self, Refused> {
        manifest.files = files.iter().map(|(path, bytes)| Listed::of(path, bytes)).collect();
        manifest.check()?;
        let text = serde_json::to_vec_pretty(&manifest).map_err(|error| Refused::Malformed(error.to_string()))?;
        let bundle = Self { manifest, files, signatures: Vec::new(), text };
        // What could not be read back is not built.
        Self::read(&bundle.bytes()).map(|_same| bundle)
    }

    /// Reads a bundle and compares every file with the manifest.
    pub fn read(bytes: &[u8]) -> Result<Self, Refused> {
        let mut files = tar::read(bytes)?;
        let mut part =
            |name: &str| files.remove(name).ok_or_else(|| Refused::Malformed(format!("there is no `{name}`")));
        let (text, signatures) = (part(MANIFEST)?, part(SIGNATURES)?);
        let unreadable = |error: serde_json::Error| Refused::Malformed(error.to_string());
        let manifest: Manifest = serde_json::from_slice(&text).map_err(unreadable)?;
        let signatures: Vec<Signed> = serde_json::from_slice(&signatures).map_err(unreadable)?;
        manifest.check()?;
        let listed: BTreeMap<&str, &Listed> = manifest.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let stranger = files.keys().find(|name| !listed.contains_key(name.as_str()));
        if let Some(name) = stranger {
            return Err(Refused::File(name.clone()));
        }
        for file in &manifest.files {
            if files.get(&file.path).is_none_or(|bytes| Listed::of(&file.path, bytes) != *file) {
                return Err(Refused::File(file.path.clone()));
            }
        }
        Ok(Self { manifest, files, signatures, text })
    }

    /// The bundle as one file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let signatures = serde_json::to_vec_pretty(&self.signatures).unwrap_or_default();
        let parts = [(MANIFEST, self.text.as_slice()), (SIGNATURES, &signatures)];
        let files = self.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        tar::write(parts.into_iter().chain(files))
    }

    /// Names the bundle, and is what the next one calls `previous`. Signatures are no part of it.
    #[must_use]
    pub fn digest(&self) -> Hash {
        Hash::of(&self.text)
    }

    fn message(&self) -> Vec<u8> {
        format!("doorward bundle 1\nmanifest {}\n", self.digest()).into_bytes()
    }

    /// Adds a signature, in place of an earlier one by the same key.
    pub fn sign(&mut self, key: &SigningKey) {
        let public = key.public_key();
        self.signatures.retain(|signed| signed.key != public);
        self.signatures.push(Signed { key: public, signature: key.signature(&self.message()) });
    }

    /// How many of a root's keys signed it; each counts once.
    #[must_use]
    pub fn signed_by(&self, root: &Root) -> usize {
        let message = self.message();
        let valid = |key: &&PublicKey| {
            self.signatures.iter().any(|signed| signed.key == **key && key.has_signed(&message, &signed.signature))
        };
        root.signers.iter().filter(valid).count()
    }
}
