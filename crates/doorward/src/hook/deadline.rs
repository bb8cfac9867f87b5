//! An end to waiting: whatever holds the hook up, it refuses the call before the agent loses patience and runs it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGALRM;

/// Far below the 60 seconds after which an agent goes on without an answer.
const SECONDS: u32 = 10;

/// Ends the process with exit code 2 unless it ends by itself before.
///
/// An alarm clock of the kernel costs a microsecond, a thread that waits a quarter of all the time that a hook takes.
pub fn start() {
    // Should the handler not be set, the signal itself ends the process, and the line that setup installs blocks the call.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGALRM, 2, Arc::new(AtomicBool::new(true)));
    nix::unistd::alarm::set(SECONDS);
}
