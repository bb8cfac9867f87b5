//! What is signed when an edge asks its hub, and when the hub answers.
//!
//! Both sides sign, so a stretch of the way that is not encrypted, or a proxy that is not to be trusted, can delay and drop, but
//! neither forge nor alter.

use doorward_ledger::{Hash, PublicKey, SigningKey};

/// The header that names the edge.
pub const EDGE: &str = "doorward-edge";
/// The header with the sender's clock, in milliseconds.
pub const TIME: &str = "doorward-time";
/// The header with a word that is used once; the reply signs it.
pub const NONCE: &str = "doorward-nonce";
/// The header with the signature, of request and reply.
pub const SIGNATURE: &str = "doorward-signature";

/// One request of an edge.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `GET` or `POST`.
    pub method: &'a str,
    /// Path and query, as sent.
    pub path: &'a str,
    /// The edge.
    pub edge: &'a str,
    /// Its clock.
    pub time_ms: u64,
    /// Used once.
    pub nonce: &'a str,
    /// What is sent.
    pub body: &'a [u8],
}

impl Request<'_> {
    fn message(&self) -> Option<Vec<u8>> {
        let Self { method, path, edge, time_ms, nonce, body } = self;
        // One line per field: a line break inside one would let two requests share a signature.
        let words = [method, path, edge, nonce];
        if words.iter().any(|word| word.contains(|c: char| c.is_control())) {
            return None;
        }
        let body = Hash::of(body);
        let text = format!(
            "doorward request 1\nmethod {method}\npath {path}\nedge {edge}\ntime {time_ms}\nnonce {nonce}\nbody {body}\n"
        );
        Some(text.into_bytes())
    }

    /// The signature; `None` if a field can't be signed.
    #[must_use]
    pub fn signature(&self, key: &SigningKey) -> Option<String> {
        Some(key.signature(&self.message()?))
    }

    /// Whether the key signed exactly this.
    #[must_use]
    pub fn is_signed(&self, key: &PublicKey, signature: &str) -> bool {
        self.message().is_some_and(|message| key.has_signed(&message, signature))
    }
}

/// The hub's answer to one request.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// Of the request.
    pub nonce: &'a str,
    /// The status of HTTP.
    pub status: u16,
    /// What is answered.
    pub body: &'a [u8],
}

impl Reply<'_> {
    fn message(&self) -> Vec<u8> {
        let Self { nonce, status, body } = self;
        // Only a word that could have been sent is signed; see `Request::message`.
        let nonce: String = nonce.chars().filter(|c| !c.is_control()).collect();
        format!("doorward reply 1\nnonce {nonce}\nstatus {status}\nbody {}\n", Hash::of(body)).into_bytes()
    }

    /// The signature.
    #[must_use]
    pub fn signature(&self, key: &SigningKey) -> String {
        key.signature(&self.message())
    }

    /// Whether the key signed exactly this.
    #[must_use]
    pub fn is_signed(&self, key: &PublicKey, signature: &str) -> bool {
        key.has_signed(&self.message(), signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_counts_and_none_can_hold_a_line_break() {
        let key = SigningKey::from_seed(&"07".repeat(32)).unwrap();
        let public = key.public_key();
        let asked = Request { method: "GET", path: "/v1/edge", edge: "7", time_ms: 5, nonce: "aa", body: b"x" };
        let signature = asked.signature(&key).unwrap();
        assert!(asked.is_signed(&public, &signature));
        for other in [
            Request { method: "POST", ..asked },
            Request { path: "/v1/edge?x", ..asked },
            Request { edge: "8", ..asked },
            Request { time_ms: 6, ..asked },
            Request { nonce: "ab", ..asked },
            Request { body: b"y", ..asked },
        ] {
            assert!(!other.is_signed(&public, &signature), "{other:?}");
        }
        assert_eq!(Request { path: "/v1\nedge 8", ..asked }.signature(&key), None);
        let reply = Reply { nonce: "aa", status: 200, body: b"x" };
        let signature = reply.signature(&key);
        assert!(reply.is_signed(&public, &signature));
        assert!(!Reply { status: 500, ..reply }.is_signed(&public, &signature));
        assert!(!Reply { nonce: "ab", ..reply }.is_signed(&public, &signature));
    }
}
