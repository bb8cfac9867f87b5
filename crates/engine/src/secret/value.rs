//! Whether the value after a telling name is a secret, and where it ends.

use super::keys::Key;
use super::placeholder::{is_placeholder, is_template};

/// How a value stands after its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Between quotes: a literal.
    Quoted,
    /// Right after `=`, as in shells, environment files and query strings; `loud` names are in capitals.
    Tight { loud: bool },
    /// Bare, after a colon or spaces: YAML, headers, or code.
    Loose,
    /// After a flag on a command line.
    Flag,
}

/// Values are judged by their first bytes, so that a text full of telling names still takes linear time.
// Whether a value looks random shows in its first bytes.
const WINDOW: usize = 256;

/// A value found in a text: where it begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub start: usize,
    pub end: usize,
    pub manner: Manner,
}

/// Reads the value that begins at `start`, quotes apart.
pub(super) fn read(bytes: &[u8], start: usize, bare: Manner) -> Value {
    let mut at = start;
    while bytes.get(at) == Some(&b'\\') {
        at += 1;
    }
    let quote = bytes.get(at).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let (start, manner) = if quote.is_some() { (at + 1, Manner::Quoted) } else { (start, bare) };
    let rest = bytes.get(start..).unwrap_or_default();
    let ends = |byte: &u8| match quote {
        Some(quote) => *byte == quote || matches!(byte, b'\n' | b'\\'),
        None => is_delimiter(*byte),
    };
    let length = rest.iter().take(WINDOW).position(ends).unwrap_or(rest.len().min(WINDOW));
    Value { start, end: start + length, manner }
}

impl Value {
    /// The same value up to its real end, however long it is.
    #[must_use]
    pub(super) fn whole(self, bytes: &[u8]) -> Value {
        if self.end - self.start < WINDOW {
            return self;
        }
        let quote =
            self.start.checked_sub(1).and_then(|at| bytes.get(at)).copied().filter(|_| self.manner == Manner::Quoted);
        let rest = bytes.get(self.end..).unwrap_or_default();
        let more = rest
            .iter()
            .position(|byte| quote.map_or_else(|| is_delimiter(*byte), |quote| *byte == quote || *byte == b'\n'));
        Value { end: self.end + more.unwrap_or(rest.len()), ..self }
    }
}

/// Ends a bare value.
pub(super) fn is_delimiter(byte: u8) -> bool {
    byte <= b' '
        || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'|' | b'<' | b'>' | b')' | b']' | b'}' | b'\\')
}

/// The value is a secret, given what its name says and how it stands.
pub(super) fn is_secret(text: &str, value: Value, key: Key) -> bool {
    let Some(bytes) = text.as_bytes().get(value.start..value.end).filter(|bytes| bytes.len() >= 4) else {
        return false;
    };
    let looks = looks_secret(bytes, value.manner, key) && !is_template(bytes);
    // The window may end inside a character; what is cut off there says nothing.
    looks && std::str::from_utf8(bytes).map_or(true, |window| !is_placeholder(window))
}

fn looks_secret(bytes: &[u8], manner: Manner, key: Key) -> bool {
    let length = bytes.len();
    let shape = Shape::of(bytes);
    if shape.spaces > 0 {
        // A sentence; a passphrase is a few words and no more.
        return key == Key::Password
            && manner == Manner::Quoted
            && shape.digits > 0
            && shape.spaces <= 8
            && length >= 12;
    }
    let is_mixed = shape.is_mixed() || key == Key::Password && shape.digits >= 6;
    let is_reference = manner != Manner::Quoted && is_expression(bytes);
    match (key, manner) {
        (_, Manner::Loose | Manner::Tight { .. }) if is_reference => false,
        (Key::Weak, _) => shape.is_random(),
        (Key::Password, Manner::Quoted | Manner::Flag) => is_mixed || length >= 14 && !is_identifier(bytes),
        (Key::Password, Manner::Tight { loud }) => is_mixed || loud && length >= 6,
        (Key::Password, Manner::Loose) => is_mixed,
        (Key::Authorization, _) => length >= 8 && is_mixed,
        (Key::Token, Manner::Flag) => is_mixed && length >= 6 || length >= 20,
        (Key::Token, Manner::Quoted) => is_mixed && length >= 8 && !shape.is_wordy() || shape.is_random(),
        (Key::Token, Manner::Tight { loud }) => {
            is_mixed && length >= 8 && (loud || !shape.is_wordy()) || loud && length >= 12
        }
        (Key::Token, Manner::Loose) => is_mixed && length >= 12 && !shape.is_wordy() || shape.is_random(),
    }
}

/// `a.b.c`, `name(…`, `list[…`: code that fetches a value.
fn is_expression(value: &[u8]) -> bool {
    if value.iter().any(|byte| matches!(byte, b'(' | b'[' | b'{' | b'$')) {
        return true;
    }
    let parts: Vec<&[u8]> = value.split(|byte| *byte == b'.').collect();
    parts.len() > 1 && parts.len() <= 8 && parts.iter().all(|part| is_identifier(part) && !Shape::of(part).is_random())
}

fn is_identifier(value: &[u8]) -> bool {
    value.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// Counts that tell a random string from a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    length: usize,
    pub digits: usize,
    uppers: usize,
    lowers: usize,
    symbols: usize,
    spaces: usize,
    /// Neighbours of different kinds.
    turns: usize,
    /// The longest run of lower-case letters.
    longest: usize,
}

impl Shape {
    pub(super) fn of(value: &[u8]) -> Shape {
        let mut shape = Shape { length: value.len(), ..Shape::default() };
        let (mut before, mut run) = (0, 0);
        for byte in value {
            let kind = match byte {
                b'0'..=b'9' => 1,
                b'A'..=b'Z' => 2,
                b'a'..=b'z' => 3,
                b' ' | b'\t' => 4,
                b'-' | b'_' | b'.' | b'/' | b':' => 5,
                _ => 6,
            };
            match kind {
                1 => shape.digits += 1,
                2 => shape.uppers += 1,
                3 => shape.lowers += 1,
                4 => shape.spaces += 1,
                5 => {}
                _ => shape.symbols += 1,
            }
            run = if kind == 3 { run + 1 } else { 0 };
            shape.longest = shape.longest.max(run);
            shape.turns += usize::from(before != 0 && before != kind);
            before = kind;
        }
        shape
    }

    /// Letters with digits or symbols among them.
    pub(super) fn is_mixed(&self) -> bool {
        self.uppers + self.lowers > 0 && self.digits + self.symbols > 0
    }

    /// Made of words, with perhaps a number behind: `sha256`, `access-token-v2`.
    pub(super) fn is_wordy(&self) -> bool {
        self.symbols == 0 && self.turns * 4 <= self.length && self.longest >= 3
    }

    /// Capital and small letters and digits in no order.
    pub(super) fn is_token(&self) -> bool {
        let is_dense = self.turns * 5 >= self.length * 2 && (self.digits >= 2 || self.turns * 2 >= self.length);
        is_dense && self.digits >= 1 && self.uppers >= 3 && self.lowers >= 3 && self.longest <= 7
    }

    /// Long, and nobody would write it by hand.
    pub(super) fn is_random(&self) -> bool {
        let is_dense =
            self.turns * 5 >= self.length && (self.digits >= 2 || self.turns * 3 >= self.length && self.uppers >= 4);
        self.length >= 16 && self.spaces == 0 && is_dense && self.longest <= 7
    }
}
