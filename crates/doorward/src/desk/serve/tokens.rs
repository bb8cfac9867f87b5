//! Who may read: tokens given for a start link or to a paired device. They live in memory and end with the server.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use doorward_ledger::Hash;

use super::store::random_text;

/// How long one sign-in lasts.
const LASTS: Duration = Duration::from_secs(12 * 60 * 60);

/// More sign-ins than anyone has tabs; the oldest end.
const MOST: usize = 512;

/// A sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Visitor {
    /// The paired device; a start link has none, and can't answer.
    pub device: Option<String>,
}

/// All sign-ins, by the hash of their token.
// By hash, so that comparing takes as long for a good guess as for a bad one.
#[derive(Debug, Default)]
pub(super) struct Tokens(HashMap<Hash, (Visitor, Instant)>);

impl Tokens {
    pub(super) fn issue(&mut self, visitor: Visitor) -> Result<String> {
        let token = random_text()?;
        self.0.retain(|_, (_, since)| since.elapsed() < LASTS);
        if self.0.len() >= MOST
            && let Some(oldest) = self.0.iter().min_by_key(|(_, (_, since))| *since).map(|(hash, _)| *hash)
        {
            self.0.remove(&oldest);
        }
        self.0.insert(Hash::of(token.as_bytes()), (visitor, Instant::now()));
        Ok(token)
    }

    pub(super) fn find(&self, token: &str) -> Option<Visitor> {
        let (visitor, since) = self.0.get(&Hash::of(token.as_bytes()))?;
        (since.elapsed() < LASTS).then(|| visitor.clone())
    }
}

/// Questions that the server asked a device to sign, each good for one signature.
#[derive(Debug, Default)]
pub(super) struct Nonces(HashMap<String, Instant>);

/// How long a question to sign is good, by a clock that nobody sets.
pub(super) const NONCE: Duration = Duration::from_secs(60);

impl Nonces {
    pub(super) fn issue(&mut self) -> Result<String> {
        let nonce = random_text()?;
        self.0.retain(|_, since| since.elapsed() < NONCE);
        if self.0.len() >= 4 * MOST {
            self.0.clear();
        }
        self.0.insert(nonce.clone(), Instant::now());
        Ok(nonce)
    }

    /// Uses one up.
    pub(super) fn take(&mut self, nonce: &str) -> bool {
        self.0.remove(nonce).is_some_and(|since| since.elapsed() < NONCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_visitor_and_a_nonce_is_good_once() {
        let mut tokens = Tokens::default();
        let token = tokens.issue(Visitor { device: Some("d".into()) }).unwrap();
        assert_eq!(tokens.find(&token).and_then(|visitor| visitor.device).as_deref(), Some("d"));
        assert_eq!(tokens.find("x"), None);
        (0..MOST + 5).for_each(|_| drop(tokens.issue(Visitor { device: None }).unwrap()));
        assert!(tokens.0.len() <= MOST && tokens.find(&token).is_none(), "the oldest ended");
        let mut nonces = Nonces::default();
        let nonce = nonces.issue().unwrap();
        assert!(!nonces.take("x") && nonces.take(&nonce) && !nonces.take(&nonce));
    }
}
