//! Secrets that are recognised by their build: key blocks, signed tokens, user parts of URLs.

use super::placeholder::is_placeholder;
use super::shapes::Letters;

/// A key block is looked through this far for its end.
// The largest RSA keys in use have about 12 KB in PEM. An unfinished block must not swallow the rest of the text.
const BLOCK: usize = 16 * 1024;
/// The user part of a URL is not longer than this.
// Longer than any token that is put into an address; a bound keeps a text full of `://` linear.
const USER: usize = 512;

/// The length of the private key block at the start of `text`.
pub(super) fn private_key(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("-----BEGIN ")?;
    let title = rest.get(..rest.find("-----").filter(|length| *length < 64)?)?;
    if !title.contains("PRIVATE KEY") {
        return None;
    }
    let header = "-----BEGIN ".len() + title.len() + 5;
    let body = text.as_bytes().get(header..)?;
    let letters = body.iter().take(200).filter(|byte| byte.is_ascii_alphanumeric()).count();
    if letters < 40 {
        return None;
    }
    let window = body.get(..BLOCK).unwrap_or(body);
    let end = window.windows(9).position(|part| part == b"-----END ");
    let Some(end) = end else {
        return Some(header + body.iter().take_while(|byte| is_body(**byte)).count());
    };
    let after = window.get(end + 9..)?;
    let closing = after.windows(5).take(64).position(|part| part == b"-----").map_or(0, |at| at + 5);
    Some(header + end + 9 + closing)
}

fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\' | b' ' | b'-' | b':' | b',')
}

/// The length of the private part of a PuTTY key at the start of `text`.
pub(super) fn putty_key(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("Private-Lines: ")?;
    let body = rest
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r'))
        .count();
    (body > 40).then_some("Private-Lines: ".len() + body)
}

/// The length of the signed token at the start of `bytes`: three dotted parts of which two are JSON. `head` is the
/// length of the first part.
pub(super) fn signed_token(bytes: &[u8], head: usize) -> Option<usize> {
    let run = |from: usize| {
        bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|byte| Letters::Name.has(**byte)).count())
    };
    if head < 12 || bytes.get(head) != Some(&b'.') {
        return None;
    }
    let body = run(head + 1);
    let end = head + 1 + body;
    if body < 8 || bytes.get(end) != Some(&b'.') {
        return (body >= 40).then_some(end);
    }
    let mut end = end + 1 + run(end + 1);
    while bytes.get(end) == Some(&b'.') && run(end + 1) > 8 {
        end += 1 + run(end + 1);
    }
    Some(end)
}

/// Dotted tokens of chat services: `id.time.signature`, and `number:signature`.
pub(super) fn chat_token(bytes: &[u8]) -> Option<(usize, &'static str)> {
    let run = |from: usize| {
        bytes.get(from..).map_or(0, |rest| rest.iter().take(80).take_while(|byte| Letters::Name.has(**byte)).count())
    };
    match bytes.first()? {
        b'M' | b'N' | b'O' => {
            let head = run(0);
            let is_head = (23..=28).contains(&head)
                && bytes.get(head) == Some(&b'.')
                && run(head + 1) == 6
                && bytes.get(head + 7) == Some(&b'.');
            let tail = run(head + 8);
            (is_head && tail >= 27).then_some((head + 8 + tail, "discord-token"))
        }
        b'0'..=b'9' => {
            let digits = bytes.iter().take(12).take_while(|byte| byte.is_ascii_digit()).count();
            let is_head = (8..=10).contains(&digits) && bytes.get(digits..digits + 3) == Some(b":AA");
            let tail = run(digits + 1);
            (is_head && (34..=36).contains(&tail)).then_some((digits + 1 + tail, "telegram-token"))
        }
        _ => None,
    }
}

/// The password in `user:password@` or the token in `token@`, given what follows `://`.
pub(super) fn user_part(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let stop =
        |byte: &u8| *byte <= b' ' || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
    let window = bytes.get(..USER).unwrap_or(bytes);
    let end = window.iter().position(stop).unwrap_or(window.len());
    let user_end = bytes.get(..end)?.iter().rposition(|byte| *byte == b'@')?;
    let user = text.get(..user_end)?;
    if let Some((name, password)) = user.split_once(':') {
        let is_open = password.len() < 3 || is_placeholder(password) || password == name;
        return (!is_open).then_some((name.len() + 1, user_end));
    }
    let is_token = super::value::Shape::of(user.as_bytes()).is_random() && !is_placeholder(user);
    is_token.then_some((0, user_end))
}
