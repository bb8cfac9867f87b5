//! Passwords given to programs on the command line.

use super::keys::{self, Key};
use super::value::{Manner, Value, is_secret, read};
use crate::knowledge::built_in;
use crate::knowledge::schema::Sense;
use crate::path;

/// The program of a flag stands at most this far before it.
// One command line. Farther back the program belongs to another command.
const BEFORE: usize = 256;

/// Words behind which a flag of one letter means a password, besides programs that say so in their files.
// `docker login -p`; the others have no file, and some are families of programs: `ldapsearch`, `ldapmodify`.
const TAKING: &[(&str, &[&str])] = &[
    ("-p", &["login", "rar"]),
    ("-a", &["login"]),
    ("-P", &["isql", "bcp"]),
    ("-w", &["ldap"]),
    ("-W", &["ldap"]),
    ("-storepass", &["jarsigner"]),
    ("-keypass", &["jarsigner"]),
];

/// Clients of Windows shares, which take `user%password`.
const SHARES: &[&str] = &["smbclient", "rpcclient"];

/// The secret after the flag that begins at `at`, with its kind.
pub(super) fn after_flag(text: &str, at: usize) -> Option<(Value, &'static str)> {
    let bytes = text.as_bytes();
    let rest = bytes.get(at..)?;
    let length = rest
        .iter()
        .take(keys::LONGEST)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        .count();
    let flag = text.get(at..at + length)?;
    if !flag.starts_with("--") {
        return short_flag(text, at, flag);
    }
    let start = next_word(bytes, at + length).or_else(|| next_item(bytes, at + length))?;
    if flag == "--user" || flag == "--proxy-user" {
        return user_and_password(text, start);
    }
    let key = keys::key(flag.as_bytes())?;
    let value = read(bytes, start, Manner::Flag);
    let is_flag = bytes.get(value.start) == Some(&b'-');
    (!is_flag && is_secret(text, value, key)).then_some((value, kind(key)))
}

/// Which word a finding after this kind of name is called by.
pub(super) fn kind(key: Key) -> &'static str {
    match key {
        Key::Password => "password",
        Key::Token => "secret",
        Key::Authorization => "authorization",
        Key::Weak => "session",
    }
}

/// Short flags mean a password only to some programs.
fn short_flag(text: &str, at: usize, flag: &str) -> Option<(Value, &'static str)> {
    let bytes = text.as_bytes();
    let is_pair = matches!(flag, "-u" | "-U");
    match flag {
        "-u" | "-U" | "-p" | "-a" | "-P" | "-w" | "-W" | "-storepass" | "-keypass" | "-srcstorepass"
        | "-deststorepass" => {
            let start = next_word(bytes, at + flag.len())?;
            if is_pair {
                let found = user_and_password(text, start).filter(|_| takes(text, at, Sense::UserPassword, flag));
                return found.or_else(|| after_percent(text, start).filter(|_| stands_behind(text, at, SHARES)));
            }
            password(text, start).filter(|_| takes_password(text, at, flag))
        }
        _ if flag.starts_with("-u") => {
            user_and_password(text, at + 2).filter(|_| takes(text, at, Sense::UserPassword, "-u"))
        }
        _ if flag.starts_with("-p") => password(text, at + 2).filter(|_| takes_password(text, at, "-p")),
        _ => None,
    }
}

fn takes_password(text: &str, at: usize, flag: &str) -> bool {
    let named = TAKING.iter().find(|(known, _)| *known == flag).map(|(_, words)| *words);
    named.is_some_and(|words| stands_behind(text, at, words)) || takes(text, at, Sense::Password, flag)
}

/// What stands before the flag in its command.
fn before(text: &str, at: usize) -> &[u8] {
    let before = text.as_bytes().get(at.saturating_sub(BEFORE)..at).unwrap_or_default();
    before.rsplit(|byte| matches!(byte, b'\n' | b';' | b'|')).next().unwrap_or(before)
}

fn stands_behind(text: &str, at: usize, words: &[&str]) -> bool {
    let line = before(text, at);
    words.iter().any(|word| line.windows(word.len()).any(|window| window == word.as_bytes()))
}

/// A program before the flag gives it this meaning.
fn takes(text: &str, at: usize, sense: Sense, flag: &str) -> bool {
    let line = String::from_utf8_lossy(before(text, at));
    let words = line.split(|letter: char| letter.is_whitespace() || "\"'`()[],=".contains(letter));
    words.filter(|word| !word.is_empty() && !word.starts_with('-')).any(|word| {
        let meant = built_in().entry(path::name(word)).and_then(|entry| entry.senses.of(sense));
        meant.is_some_and(|flags| flags.iter().any(|known| known == flag))
    })
}

fn password(text: &str, start: usize) -> Option<(Value, &'static str)> {
    let value = read(text.as_bytes(), start, Manner::Flag);
    is_secret(text, value, Key::Password).then_some((value, "password"))
}

fn next_word(bytes: &[u8], at: usize) -> Option<usize> {
    let spaces = bytes.get(at..)?.iter().take_while(|byte| **byte == b' ').count();
    (spaces > 0).then_some(at + spaces)
}

/// The next item of a list, as manifests write command lines: `"--password", "…"`, or a line each behind a dash.
fn next_item(bytes: &[u8], at: usize) -> Option<usize> {
    // Indentation is no longer than this in any manifest.
    const GAP: usize = 64;
    let skip = |at: usize, signs: &[u8]| {
        at + bytes.get(at..).unwrap_or_default().iter().take(GAP).take_while(|byte| signs.contains(byte)).count()
    };
    let end = skip(at, b"\"' ");
    match bytes.get(end)? {
        b',' => Some(skip(end + 1, b" \t\r\n")),
        b'\r' | b'\n' => {
            let dash = skip(end, b" \t\r\n");
            (bytes.get(dash) == Some(&b'-') && bytes.get(dash + 1) == Some(&b' ')).then(|| skip(dash + 1, b" "))
        }
        _ => None,
    }
}

/// `user%password`, as programs for Windows shares take it.
fn after_percent(text: &str, start: usize) -> Option<(Value, &'static str)> {
    let whole = read(text.as_bytes(), start, Manner::Flag);
    let percent = text.get(whole.start..whole.end)?.find('%')?;
    let value = Value { start: whole.start + percent + 1, ..whole };
    is_secret(text, value, Key::Password).then_some((value, "password"))
}

fn user_and_password(text: &str, start: usize) -> Option<(Value, &'static str)> {
    let whole = read(text.as_bytes(), start, Manner::Flag);
    let colon = text.get(whole.start..whole.end)?.find(':')?;
    let value = Value { start: whole.start + colon + 1, ..whole };
    is_secret(text, Value { manner: Manner::Tight { loud: true }, ..value }, Key::Password)
        .then_some((value, "password"))
}
