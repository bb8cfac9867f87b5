//! Secrets and personal data in text, found by shape in one pass and replaced by keyed hashes.

mod blocks;
mod flags;
mod keys;
mod personal;
mod placeholder;
mod random;
mod scanner;
mod shapes;
mod siphash;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;
use std::fmt::Write;

use crate::effect::Sensitivity;

/// Something in a text that must not be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub start: usize,
    pub end: usize,
    /// What it looks like: `github-token`, `password`, `private-key`.
    pub kind: &'static str,
    pub sensitivity: Sensitivity,
}

/// Every secret and personal number in the text, in order and apart from each other.
pub fn scan(text: &str) -> Vec<Finding> {
    scanner::scan(text)
}

/// The text holds a secret or a personal number, and not only a word that looks random.
pub fn holds(text: &str) -> bool {
    scan(text).iter().any(|finding| finding.sensitivity > Sensitivity::None)
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
        let hash = siphash::siphash(key, secret.as_bytes()) >> 32;
        // Writing to a string cannot fail.
        let _ = write!(redacted, "[{}:{hash:08x}]", finding.kind);
        done = finding.end;
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(redacted)
}
