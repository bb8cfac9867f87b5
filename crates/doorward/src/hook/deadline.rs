//! An end to waiting: whatever holds the hook up, it refuses the call before the agent loses patience and runs it.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGALRM;

/// Far below the 60 seconds after which an agent goes on without an answer.
const SECONDS: u32 = 10;

/// Between our own end and the agent's.
const MARGIN: u32 = 3;

/// When the process began to count.
static START: OnceLock<Instant> = OnceLock::new();

/// Milliseconds after the start at which the last word is spoken.
static LAST_WORD_MS: AtomicU64 = AtomicU64::new(0);

/// A thread is there to say the last word.
static IS_SPEAKING: AtomicBool = AtomicBool::new(false);

/// Another process holds what this one needs.
static IS_HELD_UP: AtomicBool = AtomicBool::new(false);

const TOO_LONG: &str = "doorward: it took too long to judge this call, so the call is blocked; try it again\n";

const HELD_UP: &str = "doorward: another process holds its record or state and does not let go, so the call is blocked; \
                       end that process (`fuser -v ~/.local/state/doorward/log` names it) and try again\n";

/// Ends the process with exit code 2 unless it ends by itself before; with a word on standard error if that is wanted.
///
/// An alarm clock of the kernel costs a microsecond, a thread that waits a quarter of all the time that a hook takes. Only
/// a thread can say something, though, and there are agents that run a call which was refused without a word.
pub fn start(wants_words: bool) {
    // Should the handler not be set, the signal itself ends the process, and the line that setup installs blocks the call.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGALRM, 2, Arc::new(AtomicBool::new(true)));
    START.get_or_init(Instant::now);
    end_in(seconds());
    doorward_ledger::on_wait(held_up);
    if wants_words {
        speak();
    }
}

/// Somebody else holds a lock that this process needs. It is the one hold-up that lasts as long as others please, so from
/// now on the end is announced in words, also to agents that do without: a person has to learn why nothing runs.
fn held_up() {
    IS_HELD_UP.store(true, Ordering::Relaxed);
    speak();
}

/// Has a thread that says the last word; there is never more than one.
fn speak() {
    if START.get().is_some() && !IS_SPEAKING.swap(true, Ordering::Relaxed) {
        // If there is no thread to be had the alarm is still set.
        let _ = std::thread::Builder::new().spawn(refuse_in_the_end);
    }
}

/// How long a person may take to answer if the agent itself waits for `patience`: the rest must do for everything else.
pub fn room_in(patience: Duration) -> Duration {
    patience.saturating_sub(Duration::from_secs(u64::from(SECONDS + MARGIN))).saturating_sub(passed())
}

/// How long a reviewer may take: what is left of our own time, or more where the agent's patience is known to last.
pub fn room_for_review(patience: Option<Duration>) -> Duration {
    let own = Duration::from_secs(u64::from(SECONDS.saturating_sub(MARGIN))).saturating_sub(passed());
    own.max(patience.map_or(Duration::ZERO, room_in))
}

/// Allows for a person who takes `time` to answer. INVARIANT: no longer than `room_in` says.
pub fn prolong(time: Duration) {
    if START.get().is_none() {
        return;
    }
    end_in(seconds().saturating_add(u32::try_from(time.as_secs()).unwrap_or(0)));
}

/// Sets the end anew, from now on.
fn end_in(seconds: u32) {
    let time = Duration::from_secs(u64::from(seconds));
    // Just before the alarm, which ends the process without a word.
    let last_word = passed() + time.saturating_sub((time / 10).min(Duration::from_secs(1)));
    LAST_WORD_MS.store(u64::try_from(last_word.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    nix::unistd::alarm::set(seconds);
    end_for_good(seconds.saturating_add(1));
}

fn passed() -> Duration {
    START.get().map(Instant::elapsed).unwrap_or_default()
}

/// While it waits for a network disk the process sees no signal but a deadly one; the line that setup installs then blocks
/// the call. A mount whose own server holds the request back keeps even that away for as long as it does.
#[cfg(target_os = "linux")]
fn end_for_good(seconds: u32) {
    use std::cell::RefCell;
    use std::mem::ManuallyDrop;

    use nix::sys::signal::{SigEvent, SigevNotify, Signal};
    use nix::sys::time::TimeSpec;
    use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
    let event = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGKILL, si_value: 0 });
    thread_local! {
        // It has to outlive everything, so nobody may take it down; whoever gets more time sets it anew.
        static LAST: RefCell<Option<ManuallyDrop<Timer>>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| {
        if last.is_none() {
            *last = Timer::new(nix::time::ClockId::CLOCK_MONOTONIC, event).ok().map(ManuallyDrop::new);
        }
        // Without such a timer the alarm is still set.
        if let Some(timer) = last {
            let end = TimeSpec::new(i64::from(seconds), 0);
            let _ = timer.set(Expiration::OneShot(end), TimerSetTimeFlags::empty());
        }
    });
}

#[cfg(not(target_os = "linux"))]
fn end_for_good(_seconds: u32) {}

fn refuse_in_the_end() {
    loop {
        let left = Duration::from_millis(LAST_WORD_MS.load(Ordering::Relaxed)).saturating_sub(passed());
        if left.is_zero() {
            let why = if IS_HELD_UP.load(Ordering::Relaxed) { HELD_UP } else { TOO_LONG };
            let _ = std::io::stderr().write_all(why.as_bytes());
            std::process::exit(2);
        }
        std::thread::sleep(left);
    }
}

/// Tests have less patience. Builds for users have no such door.
fn seconds() -> u32 {
    #[cfg(debug_assertions)]
    if std::env::var_os("DOORWARD_FAULT").is_some_and(|wanted| wanted == "waiting") {
        return 1;
    }
    SECONDS
}
