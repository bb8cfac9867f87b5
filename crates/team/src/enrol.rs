//! How an edge becomes known to a hub: a token for one use is a key, and it signs the edge's own keys.

use std::fmt;
use std::str::FromStr;

use doorward_ledger::{Hash, PublicKey, SigningKey};
use serde::{Deserialize, Serialize};

use crate::random::random_hex;

const PREFIX: &str = "dwt1";

/// What an administrator hands to whoever enrols an edge. It never travels to the hub: it signs what does.
#[derive(Clone)]
pub struct Token {
    seed: String,
    /// Fingerprint of the hub's key, so the first answer can be verified as well.
    pub hub: Hash,
}

impl Token {
    /// A new one for a hub.
    #[must_use]
    pub fn new(hub: Hash) -> Option<Self> {
        Some(Self { seed: random_hex(32)?, hub })
    }

    /// The key that it is.
    #[must_use]
    pub fn key(&self) -> Option<SigningKey> {
        SigningKey::from_seed(&self.seed)
    }

    /// The token as text, to be shown once.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PREFIX}-{}-{}", self.seed, self.hub)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token for {}", self.hub)
    }
}

impl FromStr for Token {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "this isn't an enrolment token: it starts with `dwt1-`; `doorward-hub token` makes one";
        let mut words = text.trim().split('-');
        let (Some(PREFIX), Some(seed), Some(hub), None) = (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(wrong);
        };
        let hub = Hash::from_hex(hub).ok_or(wrong)?;
        SigningKey::from_seed(seed).ok_or(wrong)?;
        Ok(Self { seed: seed.to_owned(), hub })
    }
}

/// An edge introduces itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrolment {
    /// The token's key.
    pub token: PublicKey,
    /// Signs the edge's requests.
    pub key: PublicKey,
    /// Signs the checkpoints of its log.
    pub checkpoint_key: PublicKey,
    /// What people call it.
    pub name: String,
    /// Whose it is.
    pub user: String,
    /// The version of doorward.
    pub version: String,
    token_signature: String,
    key_signature: String,
    checkpoint_signature: String,
}

/// No name is longer.
const LONGEST: usize = 200;

impl Enrolment {
    /// Signs the introduction with all three keys: none can be enrolled by somebody who only saw it.
    #[must_use]
    pub fn new(
        token: &Token,
        (key, checkpoint_key): (&SigningKey, &SigningKey),
        (name, user, version): (&str, &str, &str),
    ) -> Option<Self> {
        let token_key = token.key()?;
        let mut enrolment = Self {
            token: token_key.public_key(),
            key: key.public_key(),
            checkpoint_key: checkpoint_key.public_key(),
            name: plain(name),
            user: plain(user),
            version: plain(version),
            token_signature: String::new(),
            key_signature: String::new(),
            checkpoint_signature: String::new(),
        };
        let message = enrolment.message(token.hub);
        enrolment.token_signature = token_key.signature(&message);
        enrolment.key_signature = key.signature(&message);
        enrolment.checkpoint_signature = checkpoint_key.signature(&message);
        Some(enrolment)
    }

    /// Whether all three keys signed it, for this hub.
    #[must_use]
    pub fn is_signed(&self, hub: Hash) -> bool {
        let message = self.message(hub);
        let is_plain = [&self.name, &self.user, &self.version].into_iter().all(|text| plain(text) == *text);
        let keys_differ = self.key != self.checkpoint_key && self.token != self.key;
        is_plain
            && keys_differ
            && self.token.has_signed(&message, &self.token_signature)
            && self.key.has_signed(&message, &self.key_signature)
            && self.checkpoint_key.has_signed(&message, &self.checkpoint_signature)
    }

    fn message(&self, hub: Hash) -> Vec<u8> {
        let Self { token, key, checkpoint_key, name, user, version, .. } = self;
        let text = format!(
            "doorward enrolment 1\nhub {hub}\ntoken {token}\nkey {key}\ncheckpoint key {checkpoint_key}\nname {name}\nuser {user}\nversion {version}\n"
        );
        text.into_bytes()
    }
}

/// One short line.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

/// The hub's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// What the edge is called from now on.
    pub edge: String,
    /// The hub's key; the token named its fingerprint.
    pub hub: PublicKey,
    /// What the team is called.
    pub team: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> (SigningKey, SigningKey) {
        (SigningKey::from_seed(&"01".repeat(32)).unwrap(), SigningKey::from_seed(&"02".repeat(32)).unwrap())
    }

    #[test]
    fn a_token_is_read_back_and_never_shown_by_accident() {
        let token = Token::new(Hash::of(b"hub")).unwrap();
        let text = token.reveal();
        let read: Token = text.parse().unwrap();
        assert_eq!((read.seed.clone(), read.hub), (token.seed.clone(), token.hub));
        assert!(!format!("{token:?}").contains(&token.seed));
        for bad in ["", "dwt1", &text[..40], &text.replace("dwt1", "dwt2"), &format!("{text}-x")] {
            assert!(bad.parse::<Token>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_introduction_is_bound_to_the_hub_the_token_and_both_keys() {
        let (hub, (key, checkpoint)) = (Hash::of(b"hub"), keys());
        let token = Token::new(hub).unwrap();
        let fair = Enrolment::new(&token, (&key, &checkpoint), ("ada's laptop", "ada", "0.1.0")).unwrap();
        assert!(fair.is_signed(hub) && !fair.is_signed(Hash::of(b"other")));
        let other = Token::new(hub).unwrap();
        let thief = SigningKey::from_seed(&"03".repeat(32)).unwrap();
        for forged in [
            Enrolment { name: "eve".into(), ..fair.clone() },
            Enrolment { user: "ada\nversion 9".into(), ..fair.clone() },
            Enrolment { key: thief.public_key(), ..fair.clone() },
            Enrolment { checkpoint_key: thief.public_key(), ..fair.clone() },
            Enrolment { token: other.key().unwrap().public_key(), ..fair.clone() },
            Enrolment { checkpoint_key: key.public_key(), ..fair.clone() },
        ] {
            assert!(!forged.is_signed(hub), "{forged:?}");
        }
        assert!(!Enrolment::new(&token, (&key, &key), ("a", "b", "c")).unwrap().is_signed(hub));
    }
}
