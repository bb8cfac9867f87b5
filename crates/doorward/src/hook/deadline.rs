//! The deadline: whatever holds up the hook, it refuses the call before the agent gives up waiting and runs it.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGALRM;

/// Far below the 60 seconds after which an agent continues without an answer.
// The client's own timeout fails open, so ours must strike first, also on a machine that is swapping.
const SECONDS: u32 = 10;

/// The margin between our deadline and the agent's.
// Starting a process and flushing a pipe can take a second on a loaded machine; three leave room for both.
const MARGIN: u32 = 3;

/// When the process started counting.
static START: OnceLock<Instant> = OnceLock::new();

/// Milliseconds after the start at which the final refusal is written.
static LAST_WORD_MS: AtomicU64 = AtomicU64::new(0);

/// A thread exists to write the final refusal.
static IS_SPEAKING: AtomicBool = AtomicBool::new(false);

/// Another process holds what this one needs.
// The last word then names the lock instead of blaming the command.
static IS_HELD_UP: AtomicBool = AtomicBool::new(false);

// A refusal needs text: Codex, Gemini CLI and Qwen Code ignore an exit code of 2 with nothing on standard error.
const TOO_LONG: &str = "doorward: judging this call took too long, so it is blocked; try again\n";

const HELD_UP: &str = "doorward: another process keeps its record or state locked, so the call is blocked; \
                       end that process (`fuser -v ~/.local/state/doorward/log` names it) and try again\n";

/// Ends the process with exit code 2 unless it ends first; with a message on standard error if requested.
///
/// A kernel alarm costs a microsecond, a waiting thread a quarter of the hook's total time. But only a thread can write a
/// message, and some agents run a call that was refused without one.
pub(super) fn start(wants_words: bool) {
    // If the handler can't be set, the signal itself ends the process, and the line that setup installs blocks the call.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGALRM, 2, Arc::new(AtomicBool::new(true)));
    START.get_or_init(Instant::now);
    end_in(seconds());
    doorward_ledger::on_wait(held_up);
    if wants_words {
        speak();
    }
}

/// Another process holds a lock that this one needs. Only this kind of delay can last arbitrarily long, so from now on the
/// refusal carries a message, even for agents that don't need one: the user has to learn why nothing runs.
fn held_up() {
    IS_HELD_UP.store(true, Ordering::Relaxed);
    speak();
}

/// Starts the thread that writes the final refusal; there is never more than one.
fn speak() {
    if START.get().is_some() && !IS_SPEAKING.swap(true, Ordering::Relaxed) {
        // If no thread can be started, the alarm is still set.
        let _ = std::thread::Builder::new().spawn(refuse_in_the_end);
    }
}

/// How long the user may take to answer if the agent waits for `patience`: the rest is for everything else.
pub(super) fn room_in(patience: Duration) -> Duration {
    // After a yes the whole call is judged again, which may take as long as the first time.
    patience.saturating_sub(Duration::from_secs(u64::from(SECONDS + MARGIN))).saturating_sub(elapsed())
}

/// How long a reviewer may take: what is left of our own time, or more if the agent is known to wait longer.
pub(super) fn room_for_review(patience: Option<Duration>) -> Duration {
    // The margin is for recording the answer, which still has to happen after the review.
    let own = Duration::from_secs(u64::from(SECONDS.saturating_sub(MARGIN))).saturating_sub(elapsed());
    own.max(patience.map_or(Duration::ZERO, room_in))
}

/// Extends the deadline by `time` for the user to answer. INVARIANT: no longer than `room_in` says.
pub(super) fn prolong(time: Duration) {
    if START.get().is_none() {
        return;
    }
    end_in(seconds().saturating_add(u32::try_from(time.as_secs()).unwrap_or(0)));
}

/// Restarts the deadline from now.
fn end_in(seconds: u32) {
    let time = Duration::from_secs(u64::from(seconds));
    // Just before the alarm, which ends the process without a message.
    let last_word = elapsed() + time.saturating_sub((time / 10).min(Duration::from_secs(1)));
    LAST_WORD_MS.store(u64::try_from(last_word.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    // The alarm needs no thread and fires even if every thread of ours is stuck.
    nix::unistd::alarm::set(seconds);
    end_for_good(seconds.saturating_add(1));
}

fn elapsed() -> Duration {
    START.get().map(Instant::elapsed).unwrap_or_default()
}

/// While it waits for a network disk, the process reacts only to a fatal signal; the line that setup installs then blocks the
/// call. A mount whose server never answers can delay even that.
#[cfg(target_os = "linux")]
fn end_for_good(seconds: u32) {
    use std::cell::RefCell;
    use std::mem::ManuallyDrop;

    use nix::sys::signal::{SigEvent, SigevNotify, Signal};
    use nix::sys::time::TimeSpec;
    use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
    let event = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGKILL, si_value: 0 });
    thread_local! {
        // It has to outlive everything, so it is never removed; extending the deadline resets it.
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
        let left = Duration::from_millis(LAST_WORD_MS.load(Ordering::Relaxed)).saturating_sub(elapsed());
        if left.is_zero() {
            let why = if IS_HELD_UP.load(Ordering::Relaxed) { HELD_UP } else { TOO_LONG };
            let _ = std::io::stderr().write_all(why.as_bytes());
            std::process::exit(2);
        }
        std::thread::sleep(left);
    }
}

/// Tests use a shorter deadline. Release builds don't have this.
fn seconds() -> u32 {
    #[cfg(debug_assertions)]
    if std::env::var_os("DOORWARD_FAULT").is_some_and(|wanted| wanted == "waiting") {
        return 1;
    }
    SECONDS
}
