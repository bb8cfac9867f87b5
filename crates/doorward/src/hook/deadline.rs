//! An end to waiting: whatever holds the hook up, it refuses the call before the agent loses patience and runs it.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use signal_hook::consts::SIGALRM;

/// Far below the 60 seconds after which an agent goes on without an answer.
const SECONDS: u32 = 10;

/// Ends the process with exit code 2 unless it ends by itself before; with a word on standard error if that is wanted.
///
/// An alarm clock of the kernel costs a microsecond, a thread that waits a quarter of all the time that a hook takes. Only
/// a thread can say something, though, and there are agents that run a call which was refused without a word.
pub fn start(wants_words: bool) {
    // Should the handler not be set, the signal itself ends the process, and the line that setup installs blocks the call.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGALRM, 2, Arc::new(AtomicBool::new(true)));
    let seconds = seconds();
    nix::unistd::alarm::set(seconds);
    end_for_good(seconds + 1);
    if wants_words {
        // If there is no thread to be had the alarm is still set.
        let _ =
            std::thread::Builder::new().spawn(move || refuse_after(Duration::from_secs(u64::from(seconds)) * 9 / 10));
    }
}

/// While it waits for a network disk the process sees no signal but a deadly one; the line that setup installs then blocks
/// the call. A mount whose own server holds the request back keeps even that away for as long as it does.
#[cfg(target_os = "linux")]
fn end_for_good(seconds: u32) {
    use nix::sys::signal::{SigEvent, SigevNotify, Signal};
    use nix::sys::time::TimeSpec;
    use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
    let event = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGKILL, si_value: 0 });
    // Without such a timer the alarm is still set.
    if let Ok(timer) = Timer::new(nix::time::ClockId::CLOCK_MONOTONIC, event) {
        let end = TimeSpec::new(i64::from(seconds), 0);
        // It has to outlive everything, so nobody may take it down.
        let _ = Box::leak(Box::new(timer)).set(Expiration::OneShot(end), TimerSetTimeFlags::empty());
    }
}

#[cfg(not(target_os = "linux"))]
fn end_for_good(_seconds: u32) {}

fn refuse_after(time: Duration) {
    std::thread::sleep(time);
    let _ = std::io::stderr().write_all(b"doorward: it took too long; the call is blocked\n");
    std::process::exit(2);
}

/// Tests have less patience. Builds for users have no such door.
fn seconds() -> u32 {
    #[cfg(debug_assertions)]
    if std::env::var_os("DOORWARD_FAULT").is_some_and(|wanted| wanted == "waiting") {
        return 1;
    }
    SECONDS
}
