//! The one spelling of a path that all spellings of a protected name have in common.

use std::borrow::Cow;

/// A path with case, invisible characters, trailing dots and spaces, NTFS streams, short names and backslashes
/// folded away. Only names are compared in this form; where a path lies is decided by its exact text unless
/// the disk ignores case.
pub(super) struct Folded<'a> {
    pub text: Cow<'a, str>,
    /// Characters that a person cannot see were dropped.
    pub hidden: bool,
}

/// Folds an absolute path.
pub(super) fn fold(path: &str) -> Folded<'_> {
    if is_folded(path) {
        return Folded { text: Cow::Borrowed(alias(path)), hidden: false };
    }
    let mut hidden = false;
    let mut visible = String::with_capacity(path.len());
    for character in path.chars() {
        match character {
            '\\' => visible.push('/'),
            'A'..='Z' => visible.push(character.to_ascii_lowercase()),
            _ if is_hidden(character) => hidden = true,
            // A disk that ignores case takes these for `s` and `k`.
            '\u{17f}' => visible.push('s'),
            '\u{212a}' => visible.push('k'),
            '\u{ff01}'..='\u{ff5e}' => {
                let narrow = char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character);
                visible.push(narrow.to_ascii_lowercase());
            }
            _ => visible.push(character),
        }
    }
    Folded { text: Cow::Owned(trim_components(alias(&visible))), hidden }
}

/// Characters that take no room on the screen or turn the direction of the text.
pub(super) fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Bytes that folding leaves alone wherever they stand.
// Nearly all paths are plain ASCII, and every file of a project is folded on every call.
static PLAIN: [bool; 256] = plain();

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which refuses an index out of bounds")]
const fn plain() -> [bool; 256] {
    let mut plain = [false; 256];
    let mut byte = 0x21u8;
    while byte < 0x7f {
        plain[byte as usize] = !byte.is_ascii_uppercase() && !matches!(byte, b'\\' | b':' | b'~');
        byte += 1;
    }
    plain
}

fn is_folded(path: &str) -> bool {
    let mut before = 0;
    for byte in path.bytes() {
        if !PLAIN.get(usize::from(byte)).copied().unwrap_or_default() || byte == b'/' && before == b'.' {
            return false;
        }
        before = byte;
    }
    before != b'.'
}

/// Other names that a system has for the root of its own files.
fn alias(path: &str) -> &str {
    for (prefix, kept) in [("/private/", &["tmp", "var", "etc"] as &[&str]), ("/system/volumes/data/", &[])] {
        let Some(rest) = path.strip_prefix(prefix) else { continue };
        let first = rest.split('/').next().unwrap_or(rest);
        if kept.is_empty() || kept.contains(&first) {
            return path.get(prefix.len() - 1..).unwrap_or(path);
        }
    }
    path
}

fn trim_components(path: &str) -> String {
    let path = drive(path);
    let mut result = String::with_capacity(path.len());
    for (index, component) in path.split('/').enumerate() {
        if index > 0 {
            result.push('/');
        }
        let is_drive = index == 0 && component.len() == 2 && component.ends_with(':');
        let stem = if is_drive { component } else { component.split(':').next().unwrap_or(component) };
        let trimmed = stem.trim_end_matches(['.', ' ']);
        match short_name(trimmed) {
            Some(long) => result.push_str(long),
            None => result.push_str(if trimmed.is_empty() { stem } else { trimmed }),
        }
    }
    result
}

/// `/mnt/c/…`, `/cygdrive/c/…` and `//?/c:/…` as `c:/…`.
fn drive(path: &str) -> Cow<'_, str> {
    let bare = path.strip_prefix("//?/").or_else(|| path.strip_prefix("//./")).unwrap_or(path);
    let mounted = bare.strip_prefix("/mnt/").or_else(|| bare.strip_prefix("/cygdrive/"));
    match mounted.and_then(|rest| rest.split_once('/')) {
        Some((letter, rest)) if letter.len() == 1 => Cow::Owned(format!("{letter}:/{rest}")),
        Some(_) | None => Cow::Borrowed(bare),
    }
}

/// The protected name behind a DOS short name such as `git~1`.
fn short_name(component: &str) -> Option<&'static str> {
    let (stem, digits) = component.split_once('~')?;
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let long = match stem {
        "git" | "gi" => ".git",
        "ssh" => ".ssh",
        "aws" => ".aws",
        "env" => ".env",
        "envrc" => ".envrc",
        "netrc" => ".netrc",
        "npmrc" => ".npmrc",
        "kube" => ".kube",
        "azure" => ".azure",
        "gnupg" => ".gnupg",
        "docker" => ".docker",
        "claude" => ".claude",
        "codex" => ".codex",
        "gemini" => ".gemini",
        "cursor" => ".cursor",
        "github" => ".github",
        "vscode" => ".vscode",
        "husky" => ".husky",
        "config" => ".config",
        "bashrc" => ".bashrc",
        "zshrc" => ".zshrc",
        "profil" => ".profile",
        "doorwa" => ".doorward.toml",
        _ => return None,
    };
    Some(long)
}
