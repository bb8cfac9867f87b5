//! The user that doorward runs as.

/// The user of the machine, as the record names them.
pub fn user() -> Option<String> {
    Some(rustix::process::geteuid().as_raw().to_string())
}
