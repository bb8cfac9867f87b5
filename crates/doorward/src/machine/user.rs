//! The user that doorward runs as.

/// The user, as the record names them.
pub(crate) fn user() -> Option<String> {
    Some(rustix::process::geteuid().as_raw().to_string())
}
