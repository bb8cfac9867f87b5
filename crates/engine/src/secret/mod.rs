//! Secrets and personal data in text, found by shape in one pass and replaced by keyed hashes.

mod blocks;
mod flags;
mod keys;
mod personal;
mod placeholder;
mod random;
mod scanner;
mod shapes;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;
use std::fmt::Write;

use doorward_vocabulary::Sensitivity;
use siphasher::sip::SipHasher24;

/// Something in a text that must not be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub start: usize,
    pub end: usize,
    /// What it looks like: `github-token`, `password`, `private-key`.
    pub kind: &'static str,
    pub sensitivity: Sensitivity,
}

/// Every secret and personal number in the text, in order and apart from each other.
pub(crate) fn scan(text: &str) -> Vec<Finding> {
    scanner::scan(text)
}

/// The text holds a secret or a personal number, and not only a word that looks random.
pub(crate) fn holds(text: &str) -> bool {
    scan(text).iter().any(|finding| finding.sensitivity > Sensitivity::None)
}

/// The same for a text that is sent: signs that an address may write as numbers are read as what they are.
pub(crate) fn holds_encoded(text: &str) -> bool {
    /// `%2567` is decoded to `%67`, and that to `g`, by whoever hands it on.
    // Servers and proxies decode once each; more than two are not met in practice.
    const ROUNDS: usize = 3;
    let mut text = Cow::Borrowed(text);
    for _ in 0..ROUNDS {
        if holds(&text) {
            return true;
        }
        match decoded(&text) {
            Some(plain) => text = Cow::Owned(plain),
            None => return false,
        }
    }
    holds(&text)
}

/// The text with `%67` as `g`; `None` if there is nothing to decode.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    let mut found = false;
    while let [first, tail @ ..] = rest {
        let pair = tail.get(..2).filter(|_| *first == b'%').and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
                found = true;
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    found.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// The text with each finding replaced by its kind and a hash: the same secret and key give the same hash.
pub fn redact<'a>(text: &'a str, key: &[u8; 16]) -> Cow<'a, str> {
    let findings = scan(text);
    if findings.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut redacted = String::with_capacity(text.len());
    let mut done = 0;
    for finding in &findings {
        let (Some(before), Some(secret)) = (text.get(done..finding.start), text.get(finding.start..finding.end)) else {
            continue;
        };
        redacted.push_str(before);
        let hash = SipHasher24::new_with_key(key).hash(secret.as_bytes()) >> 32;
        // Writing to a string cannot fail.
        let _ = write!(redacted, "[{}:{hash:08x}]", finding.kind);
        done = finding.end;
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(redacted)
}
