//! Names of settings, flags and headers whose values are secrets.

/// How much a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A password: people choose them, so they need not look random.
    Password,
    /// A token or key: machines make them.
    Token,
    /// A header whose value names a scheme first.
    Authorization,
    /// Often harmless, secret if it looks random.
    Weak,
}

/// Endings of names, joined and in lower case; the longer before the shorter.
// The end of a name says what it is: `password_file` is a path, `file_password` a secret.
const ENDINGS: &[(&str, Key)] = &[
    ("password", Key::Password),
    ("passwd", Key::Password),
    ("passphrase", Key::Password),
    ("passcode", Key::Password),
    ("pwd", Key::Password),
    ("authorization", Key::Authorization),
    ("secret", Key::Token),
    ("token", Key::Token),
    ("apikey", Key::Token),
    ("accesskey", Key::Token),
    ("secretkey", Key::Token),
    ("privatekey", Key::Token),
    ("authkey", Key::Token),
    ("signingkey", Key::Token),
    ("encryptionkey", Key::Token),
    ("masterkey", Key::Token),
    ("accountkey", Key::Token),
    ("sharedkey", Key::Token),
    ("storagekey", Key::Token),
    ("servicekey", Key::Token),
    ("licensekey", Key::Token),
    ("webhookkey", Key::Token),
    ("credential", Key::Token),
    ("credentials", Key::Token),
    ("secretkeybase", Key::Token),
    ("cookie", Key::Weak),
    ("session", Key::Weak),
    ("sessionid", Key::Weak),
    ("signature", Key::Weak),
    ("auth", Key::Weak),
];

/// Words after the name proper that leave it what it is.
// `DB_PASSWORD_PROD` is still a password.
const TAILS: &[&str] = &[
    "prod",
    "production",
    "dev",
    "staging",
    "live",
    "test",
    "value",
    "default",
    "new",
    "old",
    "next",
    "primary",
    "secondary",
];

/// The longest name that is looked at.
// The end decides, so only the end is read.
pub(super) const LONGEST: usize = 64;

/// What a name such as `DB_PASSWORD`, `apiKey` or `x-auth-token` says about its value.
pub(super) fn key(name: &[u8]) -> Option<Key> {
    let whole = name.get(name.len().saturating_sub(LONGEST)..)?;
    let name = without_tail(whole);
    let last = *name.last()?;
    // Most names end in a letter that no entry ends in.
    if !matches!(last | 0x20, b'd' | b'e' | b't' | b'n' | b'y' | b'l' | b's' | b'h' | b'w') {
        return None;
    }
    if is_last_word(name, b"pass") || is_last_word(name, b"pw") {
        return Some(Key::Password);
    }
    ENDINGS.iter().find(|(ending, _)| ends_joined(name, ending.as_bytes())).map(|(_, key)| *key)
}

/// Drops numbers, separators and words that only tell one such name from another.
fn without_tail(mut name: &[u8]) -> &[u8] {
    loop {
        let before = name.len();
        while let Some((b'0'..=b'9' | b'_' | b'-' | b'.', rest)) = name.split_last() {
            name = rest;
        }
        for tail in TAILS {
            let cut = name.len().saturating_sub(tail.len() + 1);
            let is_tail = matches!(name.get(cut), Some(b'_' | b'-' | b'.'))
                && name.get(cut + 1..).is_some_and(|end| end.eq_ignore_ascii_case(tail.as_bytes()));
            if is_tail {
                name = name.get(..cut).unwrap_or_default();
            }
        }
        if name.len() == before {
            return name;
        }
    }
}

fn is_last_word(name: &[u8], word: &[u8]) -> bool {
    let Some(cut) = name.len().checked_sub(word.len()) else { return false };
    let (before, end) = name.split_at_checked(cut).unwrap_or((name, &[]));
    let starts_word = match (before.last(), end.first()) {
        (None, _) => true,
        (Some(before), Some(first)) => {
            !before.is_ascii_alphanumeric() || before.is_ascii_lowercase() && first.is_ascii_uppercase()
        }
        (Some(_), None) => false,
    };
    starts_word && end.eq_ignore_ascii_case(word)
}

/// `name` ends in `ending` if separators inside it are not counted.
fn ends_joined(name: &[u8], ending: &[u8]) -> bool {
    let mut letters = name.iter().rev().filter(|byte| !matches!(byte, b'_' | b'-' | b'.'));
    ending.iter().rev().all(|wanted| letters.next().is_some_and(|letter| letter.eq_ignore_ascii_case(wanted)))
}
