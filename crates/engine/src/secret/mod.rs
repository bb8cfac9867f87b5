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
pub fn holds_encoded(text: &str) -> bool {
    /// `%2567` is decoded to `%67`, and that to `g`, by whoever hands it on.
    // Servers and proxies decode once each; more than two are not met in practice.
    const ROUNDS: usize = 3;
    let mut text = Cow::Borrowed(text);
    for _ in 0..ROUNDS {
        if holds(&text) || holds_packed(&text) {
            return true;
        }
        match decoded(&text) {
            Some(plain) => text = Cow::Owned(plain),
            None => return false,
        }
    }
    holds(&text) || holds_packed(&text)
}

/// The text is a table of people by its addresses.
pub(crate) fn lists_people(text: &str) -> bool {
    personal::lists_people(text)
}

/// The text holds base64 that is a secret once it is unpacked.
pub(crate) fn holds_packed(text: &str) -> bool {
    /// The shortest secret has 18 letters; unpacked text that is longer is a file, not a token.
    const LENGTH: std::ops::RangeInclusive<usize> = 24..=4096;
    let is_packed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '-' | '_');
    let runs = text.split(|letter: char| !is_packed(letter)).filter(|run| run.len() >= *LENGTH.start());
    // A slash is a letter of base64, and parts a path from it.
    let pieces = runs.flat_map(|run| std::iter::once(run).chain(run.split('/').skip(1)));
    pieces.filter(|run| LENGTH.contains(&run.len())).filter_map(unpacked).any(|plain| holds(&plain))
}

/// What base64 of either alphabet stands for, if it is text.
fn unpacked(packed: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(packed.len());
    let (mut bits, mut count) = (0u32, 0);
    for letter in packed.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            _ => 63,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            let byte = u8::try_from((bits >> count) & 0xff).ok()?;
            // Anything but text is no secret that the scan knows.
            if !matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t') {
                return None;
            }
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
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
