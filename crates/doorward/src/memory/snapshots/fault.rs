//! Lets tests fail a copy at each step, as a full disk or a power cut would. Release builds don't have this.

use std::io;

/// Called before every step that changes the disk.
#[cfg(debug_assertions)]
pub(super) fn step() -> io::Result<()> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static STEPS: AtomicU32 = AtomicU32::new(0);
    let Some(wanted) = std::env::var("DOORWARD_SNAPSHOT_FAULT").ok() else { return Ok(()) };
    let now = STEPS.fetch_add(1, Ordering::Relaxed);
    let Some((how, at)) = wanted.split_once('-') else { return Ok(()) };
    match how {
        // A disk that is full stays so.
        "full" if at.parse().is_ok_and(|at: u32| now >= at) => Err(rustix::io::Errno::NOSPC.into()),
        "kill" if at == now.to_string() => {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "only builds for developers can fail here")]
pub(super) fn step() -> io::Result<()> {
    Ok(())
}
