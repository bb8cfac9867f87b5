//! Words that nobody would make up by hand and no program prints as a name: kept out of the record, and judged no stricter.
//!
//! Tokens of services that no table knows look like this. Hashes and identifiers in lower case do not, and neither do
//! lines of encoded data.

use super::value::Shape;

/// Shorter words may be names.
// Shorter words that look random are mostly abbreviations, versions and short hashes.
const SHORTEST: usize = 24;
/// Longer ones are data.
// Longer runs are encoded pictures, certificates or minified code.
const LONGEST: usize = 128;
/// So far is looked around the word for signs of data.
// A line of encoded data has 60 to 76 characters; two of them on either side are enough to tell.
const AROUND: usize = 160;

/// What stands before encoded hashes and pictures.
// Integrity hashes in lock files and inline pictures: random by design, and public.
const DATA: &[&[u8]] = &[b"sha512-", b"sha384-", b"sha256-", b"sha1-", b"md5-", b"h1:", b"base64,", b"nonce-"];

/// The word of letters and digits at `at` is a token by its looks.
pub(super) fn is_token(bytes: &[u8], at: usize, length: usize) -> bool {
    let Some(word) = bytes.get(at..at + length).filter(|_| (SHORTEST..=LONGEST).contains(&length)) else {
        return false;
    };
    Shape::of(word).is_token() && !is_data(bytes, at, at + length)
}

fn is_data(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_encoded = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let head = bytes.get(start.saturating_sub(AROUND)..start).unwrap_or_default();
    let tail = bytes.get(end..(end + AROUND).min(bytes.len())).unwrap_or_default();
    let before = head.iter().rev().take_while(|byte| is_encoded(byte)).count();
    let after = tail.iter().take_while(|byte| is_encoded(byte)).count();
    let run = bytes.get(start - before..end + after).unwrap_or_default();
    let marked = head.get(..head.len() - before).unwrap_or_default();
    let is_whole_line = matches!(marked.last(), None | Some(b'\n'))
        && matches!(tail.get(after), None | Some(b'\n' | b'\r' | b'='))
        && run.len() >= 60;
    let random_parts = run.split(|byte| *byte == b'/').filter(|part| Shape::of(part).is_random()).count();
    is_whole_line
        || run.len() > LONGEST
        || run.contains(&b'+')
        || random_parts > 1
        || tail.get(after) == Some(&b'=') && tail.get(after + 1).is_none_or(|next| !next.is_ascii_alphanumeric())
        || DATA.iter().any(|mark| marked.ends_with(mark))
}
