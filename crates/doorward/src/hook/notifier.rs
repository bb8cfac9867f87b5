//! Starts the process that tells a person of waiting calls and of alerts; the hook itself never waits for it.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;

use crate::machine::paths::Places;
use crate::machine::record;
use crate::policy::config::Notify;
use crate::policy::load;

/// A session has ended since somebody last looked.
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// What made somebody look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Occasion {
    /// An alert was recorded, or enough was decided.
    Now,
    /// A session has ended: the whole record is verified, whatever that takes.
    Ended,
}

impl Occasion {
    pub const fn word(self) -> &'static str {
        match self {
            Occasion::Now => "now",
            Occasion::Ended => "ended",
        }
    }
}

/// Starts the program that tells, and leaves it alone. Nothing is said if it cannot be started: the call waits all the same.
pub fn start(notify: &Notify, id: &str) {
    if !notify.is_wanted() && !has_desktop(notify) {
        return;
    }
    let _ = spawned(&["notify", id]);
}

/// This program, by itself: an agent that ends the group of its hook does not end this.
fn spawned(arguments: &[&str]) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).current_dir("/").spawn()
}

/// Takes note that a session has ended.
pub fn ended() {
    HAS_ENDED.store(true, Ordering::Relaxed);
}

/// Starts a process that looks for alerts, if one is due and somebody wants to be told. Comes after the answer is out.
pub fn look(places: &Places) -> Option<Child> {
    let is_due = record::is_look_due();
    let occasion = if HAS_ENDED.swap(false, Ordering::Relaxed) { Occasion::Ended } else { Occasion::Now };
    if !is_due && occasion == Occasion::Now {
        return None;
    }
    let notify = load::load(places, None, "").config.notify;
    // Nothing is lost where it cannot be started: the next look finds the same alerts.
    notify.is_set().then(|| spawned(&["notify", "--look", occasion.word()]).ok()).flatten()
}

/// Nobody switched the desktop off, and there is one.
pub fn has_desktop(notify: &Notify) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    notify.desktop.is_none() && (cfg!(target_os = "macos") || is_set("WAYLAND_DISPLAY") || is_set("DISPLAY"))
}
