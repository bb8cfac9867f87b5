//! An end to waiting: whatever holds the hook up, it refuses the call before the agent loses patience and runs it.

use std::io::Write;
use std::time::Duration;

/// Far below the 60 seconds after which an agent goes on without an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends the process with a refusal unless it ends by itself before.
pub fn start() {
    // If no thread can be had, the agent's own timeout is all there is; work is bounded in any case.
    let _ = std::thread::Builder::new().stack_size(64 << 10).spawn(|| {
        std::thread::sleep(PATIENCE);
        let _ = writeln!(std::io::stderr(), "doorward: no answer within {} seconds, so the call is blocked", PATIENCE.as_secs());
        std::process::exit(2);
    });
}
