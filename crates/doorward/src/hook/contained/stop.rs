//! Ctrl-C and a request to end: the run is stopped in order, so that nothing of it stays behind.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Readable as soon as one of the signals has come.
pub(super) fn on_signals() -> Result<OwnedFd> {
    let (here, there) = UnixStream::pair().context("can't watch for Ctrl-C")?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let writer = there.try_clone().context("can't watch for Ctrl-C")?;
        signal_hook::low_level::pipe::register(signal, writer).context("can't watch for Ctrl-C")?;
    }
    Ok(here.into())
}
