//! Passwords given to programs on the command line.

use super::keys::{self, Key};
use super::value::{Manner, Value, is_secret, read};

/// The program of a flag stands at most this far before it.
// One command line. Farther back the program belongs to another command.
const BEFORE: usize = 256;

/// Programs to which `-p` or `-a` means a password.
// For most programs `-p` is a port or a path. The trailing space keeps `az` and `http` from matching inside words.
const WITH_P: &[&str] = &["sshpass", "redis-cli", "login", "mongo", "twine", "az ", "xh ", "http "];

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
    let runs = |programs: &[&str]| {
        let before = bytes.get(at.saturating_sub(BEFORE)..at).unwrap_or_default();
        let line = before.rsplit(|byte| matches!(byte, b'\n' | b';' | b'|')).next().unwrap_or(before);
        programs.iter().any(|program| line.windows(program.len()).any(|window| window == program.as_bytes()))
    };
    let (found, programs): (_, &[&str]) = match flag {
        "-u" | "-U" => {
            let start = next_word(bytes, at + 2)?;
            match user_and_password(text, start) {
                Some(found) => (Some(found), &["curl", "wget", "http"]),
                None => (after_percent(text, start), &["smbclient", "rpcclient"]),
            }
        }
        "-p" | "-a" => (password(text, next_word(bytes, at + 2)?), WITH_P),
        "-P" => (password(text, next_word(bytes, at + 2)?), &["zip", "sqlcmd", "isql", "bcp"]),
        "-w" | "-W" => (password(text, next_word(bytes, at + 2)?), &["ldap"]),
        "-storepass" | "-keypass" | "-srcstorepass" | "-deststorepass" => {
            (password(text, next_word(bytes, at + flag.len())?), &["keytool", "jarsigner"])
        }
        _ if flag.starts_with("-u") => (user_and_password(text, at + 2), &["curl"]),
        _ if flag.starts_with("-p") => (password(text, at + 2), &["mysql", "mariadb", "sshpass", "7z", "rar"]),
        _ => return None,
    };
    found.filter(|_| runs(programs))
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
