//! The user that doorward runs as.

/// The user, as the record names them.
pub(crate) fn user() -> Option<String> {
    Some(rustix::process::geteuid().as_raw().to_string())
}

/// The user's name, from the password file; the number where it has none.
pub(crate) fn user_name() -> Option<String> {
    let number = user()?;
    let text = crate::machine::checked_read::start_of("/etc/passwd", 1 << 20).unwrap_or_default();
    let named = text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number).then(|| name.to_owned())
    });
    Some(named.unwrap_or(number))
}
