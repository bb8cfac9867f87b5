//! The local keys: one signs checkpoints, one authenticates state files. Both are files for the user alone.

use ed25519_dalek::{Signature, Signer, SigningKey as Ed25519, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::Sha256;
use std::fmt;
use std::path::Path;

use crate::hash::{Hash, hex, unhex};
use crate::private::{self, Existing, FileError, Promise};

/// Thirty-two secret bytes; never shown.
struct Secret([u8; 32]);

impl Secret {
    fn load(path: &Path) -> Result<Self, FileError> {
        let bytes = private::read(path)?;
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        unhex(text.trim_end()).map(Self).ok_or_else(|| private::damaged(path, "it is not a key"))
    }

    fn load_or_create(path: &Path) -> Result<Self, FileError> {
        match Self::load(path) {
            Err(FileError::Missing { .. }) => {}
            other => return other,
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| FileError::Io {
            doing: "get random bytes for",
            path: path.to_owned(),
            source: error.into(),
        })?;
        let text = format!("{}\n", hex(&bytes));
        private::make_room(path)?;
        private::write(path, text.as_bytes(), Existing::Leave, Promise::Durable)?;
        // Somebody else may have been first; what is in the file counts.
        Self::load(path)
    }
}

/// Signs statements: checkpoints, requests to a hub, policy bundles. Every kind of statement begins with its own words, so
/// none can stand in for another.
pub struct SigningKey(Ed25519);

/// The key that signs checkpoints.
pub type CheckpointKey = SigningKey;

impl SigningKey {
    /// Reads the key.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        Ok(Self(Ed25519::from_bytes(&Secret::load(path)?.0)))
    }

    /// Reads the key, or makes one where there is none, and its directory.
    pub fn load_or_create(path: &Path) -> Result<Self, FileError> {
        Ok(Self(Ed25519::from_bytes(&Secret::load_or_create(path)?.0)))
    }

    /// The key that thirty-two secret bytes stand for, in hexadecimal digits.
    #[must_use]
    pub fn from_seed(digits: &str) -> Option<Self> {
        unhex::<32>(digits).map(|seed| Self(Ed25519::from_bytes(&seed)))
    }

    /// Names the key; written into every checkpoint.
    #[must_use]
    pub fn fingerprint(&self) -> Hash {
        self.public_key().fingerprint()
    }

    /// What verifies its signatures.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.public())
    }

    /// A signature, in hexadecimal digits.
    #[must_use]
    pub fn signature(&self, message: &[u8]) -> String {
        hex(&self.sign(message))
    }

    pub(crate) fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.fingerprint())
    }
}

/// The public half of a key, written as hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Reads sixty-four hexadecimal digits that are a key.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes = unhex::<32>(text)?;
        // A weak key verifies signatures that nobody made.
        let key = VerifyingKey::from_bytes(&bytes).ok()?;
        (!key.is_weak()).then_some(Self(bytes))
    }

    /// Names the key.
    #[must_use]
    pub fn fingerprint(&self) -> Hash {
        Hash::of(&self.0)
    }

    /// Whether a signature in hexadecimal digits is this key's over a message.
    #[must_use]
    pub fn has_signed(&self, message: &[u8], signature: &str) -> bool {
        let signed = || {
            let signature = Signature::from_bytes(&unhex::<64>(signature)?);
            VerifyingKey::from_bytes(&self.0).ok()?.verify_strict(message, &signature).ok()
        };
        signed().is_some()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| de::Error::custom("expected an Ed25519 key in 64 hexadecimal digits"))
    }
}

/// Authenticates state files and grants.
#[derive(Clone)]
pub struct StateKey([u8; 32]);

impl StateKey {
    /// Reads the key.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        Ok(Self(Secret::load(path)?.0))
    }

    /// Reads the key, or makes one where there is none, and its directory.
    pub fn load_or_create(path: &Path) -> Result<Self, FileError> {
        Ok(Self(Secret::load_or_create(path)?.0))
    }

    /// A key that nobody keeps, for whoever looks and must leave nothing behind: it fits no file that there is, like the one
    /// that would be made.
    #[must_use]
    pub fn passing() -> Self {
        let mut bytes = [0; 32];
        // Without random bytes it still fits no file.
        let _ = getrandom::fill(&mut bytes);
        Self(bytes)
    }

    /// The code over a name and some bytes, so no file can stand in for another.
    #[must_use]
    pub fn code(&self, name: &str, bytes: &[u8]) -> [u8; 32] {
        self.mac(name, bytes).finalize().into_bytes().into()
    }

    /// Whether a code belongs to a name and some bytes, compared in constant time.
    #[must_use]
    pub fn accepts(&self, name: &str, bytes: &[u8], code: &[u8; 32]) -> bool {
        self.mac(name, bytes).verify_slice(code).is_ok()
    }

    fn mac(&self, name: &str, bytes: &[u8]) -> Hmac<Sha256> {
        let key = hmac::digest::Key::<Hmac<Sha256>>::from(self.padded());
        let mut mac = Hmac::<Sha256>::new(&key);
        // The prefix keeps codes of state apart from everything else that a key may ever sign, and the length before
        // the name keeps `a` + `bc` apart from `ab` + `c`.
        mac.update(b"doorward state v1\0");
        mac.update(&(name.len() as u64).to_le_bytes());
        mac.update(name.as_bytes());
        mac.update(bytes);
        mac
    }

    /// HMAC pads a short key with zeros to the block length.
    fn padded(&self) -> [u8; 64] {
        let mut block = [0; 64];
        block.iter_mut().zip(self.0).for_each(|(slot, byte)| *slot = byte);
        block
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_read_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        assert!(matches!(CheckpointKey::load(&path), Err(FileError::Missing { .. })));
        let made = CheckpointKey::load_or_create(&path).unwrap();
        let read = CheckpointKey::load_or_create(&path).unwrap();
        assert_eq!(made.fingerprint(), read.fingerprint());
        assert!(!format!("{made:?}").contains(&hex(&made.0.to_bytes())));
        let signed = made.signature(b"doorward test");
        assert!(read.public_key().has_signed(b"doorward test", &signed));
        assert!(!read.public_key().has_signed(b"doorward tess", &signed));
        assert_eq!(PublicKey::from_hex(&made.public_key().to_string()), Some(made.public_key()));
        // The neutral element: everything would be signed by it.
        assert_eq!(PublicKey::from_hex(&format!("01{}", "00".repeat(31))), None);
    }

    #[test]
    fn a_code_binds_name_and_content() {
        let key = StateKey([7; 32]);
        let code = key.code("session", b"abc");
        let check = |name, bytes: &[u8], want| assert_eq!(key.accepts(name, bytes, &code), want);
        check("session", b"abc", true);
        check("session", b"abd", false);
        check("sessio", b"nabc", false);
        assert!(!StateKey([8; 32]).accepts("session", b"abc", &code));
    }
}
