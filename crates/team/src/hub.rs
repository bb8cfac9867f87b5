//! Talks to a hub: signs every request, and believes no answer that the hub did not sign.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use doorward_ledger::{Hash, PublicKey, SigningKey};
use serde::Deserialize;
use ureq::tls::{PemItem, RootCerts, TlsConfig};

use crate::enrol::{Enrolment, Token, Welcome};
use crate::random::random_hex;
use crate::signed::{EDGE, NONCE, Reply, Request, SIGNATURE, TIME};

/// Longer than any answer of a hub.
// A bundle is the longest one; the limit bounds memory against a server that never stops.
const LIMIT: u64 = 8 << 20;
/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a hub's answer is none.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Nobody answered, or too late: worth another try.
    #[error("can't reach the hub at `{url}`: {why}")]
    Unreachable {
        /// Where.
        url: String,
        /// Why.
        why: String,
    },
    /// The hub can't do it now: worth another try.
    #[error("the hub can't store records right now: {0}")]
    Busy(String),
    /// The hub refused: trying the same again will not help.
    #[error("the hub refused: {}", .0.error)]
    Refused(Said),
    /// What answered is not the hub that was enrolled with.
    #[error("`{url}` is not the hub this machine enrolled with: {why}")]
    Untrusted {
        /// Where.
        url: String,
        /// Why.
        why: &'static str,
    },
    /// The address, the certificate file or the keys can't be used.
    #[error("{0}")]
    Unusable(String),
}

impl Failure {
    /// Whether the same may work later.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Busy(_))
    }
}

/// What a hub says when it refuses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Said {
    /// In one word: `fork`, `ahead`, `revoked`, `forged`, `token` …
    pub code: String,
    /// In a sentence.
    pub error: String,
    /// The sequence that it is about.
    pub sequence: Option<u64>,
}

/// The way to an address.
#[derive(Debug, Clone)]
pub struct Transport {
    url: String,
    agent: ureq::Agent,
}

impl Transport {
    /// `https`, or `http` on this machine. `ca` is a file with the certificates to trust instead of the public ones.
    ///
    /// INVARIANT: no redirect is followed, no proxy of the environment is used, and no certificate is left unchecked.
    pub fn new(url: &str, ca: Option<&[u8]>) -> Result<Self, Failure> {
        let url = url.trim_end_matches('/').to_owned();
        if !is_private_enough(&url) {
            let why = format!("`{url}` must be an `https://` address; plain `http://` works on this machine only");
            return Err(Failure::Unusable(why));
        }
        let tls = TlsConfig::builder().root_certs(roots(ca)?).build();
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .user_agent(concat!("doorward/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .build();
        Ok(Self { url, agent: config.new_agent() })
    }

    /// The address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A file that needs no trust in whoever hands it out, because it brings its own signatures; `None` if there is none.
    pub fn download(&self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        let answer = self.exchange(path, &[], None)?;
        match answer.status {
            200 => Ok(Some(answer.body)),
            404 => Ok(None),
            status => Err(self.unreachable(format!("status {status}"))),
        }
    }

    fn unreachable(&self, why: impl ToString) -> Failure {
        Failure::Unreachable { url: self.url.clone(), why: why.to_string() }
    }

    /// Sends a request; status, signature and body of the reply.
    fn exchange(&self, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Result<Answer, Failure> {
        let address = format!("{}{path}", self.url);
        let sent = match body {
            Some(body) => {
                let request = self.agent.post(&address);
                headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send(body)
            }
            None => {
                let request = self.agent.get(&address);
                headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).call()
            }
        };
        let mut response = sent.map_err(|error| self.unreachable(error))?;
        let status = response.status().as_u16();
        let signature = response.headers().get(SIGNATURE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let signature = signature.to_owned();
        let body = response.body_mut().with_config().limit(LIMIT).read_to_vec();
        Ok(Answer { status, signature, body: body.map_err(|error| self.unreachable(error))? })
    }

    /// What a signed answer says.
    fn judged(&self, answer: Answer, nonce: &str, hub: &PublicKey) -> Result<Vec<u8>, Failure> {
        let reply = Reply { nonce, status: answer.status, body: &answer.body };
        if !reply.is_signed(hub, &answer.signature) {
            // A proxy in front of a hub that is down answers by itself; nothing that it says is believed.
            return Err(match answer.status {
                502..=504 | 429 => self.unreachable(format!("status {}", answer.status)),
                _ => Failure::Untrusted { url: self.url.clone(), why: "its answer isn't signed by the hub's key" },
            });
        }
        match answer.status {
            200 => Ok(answer.body),
            503 => Err(Failure::Busy(said(&answer.body).error)),
            _ => Err(Failure::Refused(said(&answer.body))),
        }
    }
}

fn said(body: &[u8]) -> Said {
    serde_json::from_slice(body).unwrap_or_default()
}

/// An answer as it came.
struct Answer {
    status: u16,
    signature: String,
    body: Vec<u8>,
}

/// Whether nobody on the way can read along: records name people and their work.
fn is_private_enough(url: &str) -> bool {
    if url.starts_with("https://") {
        return true;
    }
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]"].into_iter().any(|here| {
        authority.strip_prefix(here).is_some_and(|rest| {
            let port = rest.strip_prefix(':').unwrap_or(rest);
            port.bytes().all(|byte| byte.is_ascii_digit()) && (rest.is_empty() || rest != port)
        })
    })
}

fn roots(ca: Option<&[u8]>) -> Result<RootCerts, Failure> {
    let Some(text) = ca else { return Ok(RootCerts::WebPki) };
    let certificate = |item: Result<PemItem<'static>, ureq::Error>| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        Ok(_) | Err(_) => None,
    };
    let certificates: Vec<_> = ureq::tls::parse_pem(text).filter_map(certificate).collect();
    if certificates.is_empty() {
        return Err(Failure::Unusable("the certificate file contains no certificate".to_owned()));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

/// Introduces an edge to the hub that a token names.
pub fn enrol(transport: &Transport, token: &Token, enrolment: &Enrolment) -> Result<Welcome, Failure> {
    let body = serde_json::to_vec(enrolment).map_err(|error| Failure::Unusable(error.to_string()))?;
    let nonce = random_hex(16).ok_or_else(|| Failure::Unusable("no random bytes".to_owned()))?;
    let answer = transport.exchange("/v1/enrol", &[(NONCE, &nonce)], Some(&body))?;
    // The key is read from an answer that is not verified yet, and counts only if the token named it.
    let hub = hub_key(&answer, token.hub).ok_or_else(|| match answer.status {
        502..=504 => transport.unreachable(format!("status {}", answer.status)),
        _ => Failure::Untrusted { url: transport.url.clone(), why: "its key is not the one the token names" },
    })?;
    let body = transport.judged(answer, &nonce, &hub)?;
    serde_json::from_slice(&body).map_err(|error| Failure::Unusable(error.to_string()))
}

fn hub_key(answer: &Answer, expected: Hash) -> Option<PublicKey> {
    #[derive(Deserialize)]
    struct Named {
        hub: PublicKey,
    }
    let named: Named = serde_json::from_slice(&answer.body).ok()?;
    (named.hub.fingerprint() == expected).then_some(named.hub)
}

/// A hub, as an enrolled edge sees it.
#[derive(Debug)]
pub struct Hub {
    transport: Transport,
    edge: String,
    key: SigningKey,
    hub: PublicKey,
}

impl Hub {
    /// The hub that an edge enrolled with.
    #[must_use]
    pub const fn new(transport: Transport, edge: String, key: SigningKey, hub: PublicKey) -> Self {
        Self { transport, edge, key, hub }
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        self.transport.url()
    }

    /// Asks for something.
    pub fn get(&self, path: &str) -> Result<Vec<u8>, Failure> {
        self.ask("GET", path, None)
    }

    /// Sends something.
    pub fn post(&self, path: &str, body: &[u8]) -> Result<Vec<u8>, Failure> {
        self.ask("POST", path, Some(body))
    }

    fn ask(&self, method: &str, path: &str, body: Option<&[u8]>) -> Result<Vec<u8>, Failure> {
        let nonce = random_hex(16).ok_or_else(|| Failure::Unusable("no random bytes".to_owned()))?;
        let time_ms = now_ms();
        let signed = Request { method, path, edge: &self.edge, time_ms, nonce: &nonce, body: body.unwrap_or_default() };
        let signature =
            signed.signature(&self.key).ok_or_else(|| Failure::Unusable("the request can't be signed".to_owned()))?;
        let time = time_ms.to_string();
        let headers = [(EDGE, self.edge.as_str()), (TIME, &time), (NONCE, &nonce), (SIGNATURE, &signature)];
        let answer = self.transport.exchange(path, &headers, body)?;
        self.transport.judged(answer, &nonce, &self.hub)
    }
}

/// The machine's clock.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_travel_encrypted_or_not_at_all() {
        for (url, want) in [
            ("https://hub.example", true),
            ("http://127.0.0.1:7878", true),
            ("http://localhost", true),
            ("http://[::1]:7", true),
            ("http://hub.example", false),
            ("http://127.0.0.1.evil.example", false),
            ("http://127.0.0.1@evil.example", false),
            ("http://localhost:1@evil.example:80", false),
            ("http://[::1]evil.example", false),
            ("http://localhost80", false),
            ("ftp://127.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(is_private_enough(url), want, "{url}");
            assert_eq!(Transport::new(url, None).is_ok(), want, "{url}");
        }
    }
}
