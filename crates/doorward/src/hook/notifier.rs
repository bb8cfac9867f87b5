//! Starts the process that notifies the user of waiting calls and alerts; the hook itself never waits for it.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;

use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::policy::config::Notify;
use crate::policy::load;

/// A session has ended since the last check.
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// What triggered the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Occasion {
    /// An alert was recorded, or enough decisions were made.
    Now,
    /// A session ended: the whole record is verified, however long that takes.
    Ended,
}

impl Occasion {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Occasion::Now => "now",
            Occasion::Ended => "ended",
        }
    }
}

/// Starts the notifier and does not wait for it. If it can't be started, nothing is reported: the call waits anyway.
pub(crate) fn start_for_call(notify: &Notify, id: &str) {
    if !notify.is_wanted() && !has_desktop(notify) {
        return;
    }
    let _ = spawned(&["notify", id]);
}

/// This program in its own process group: an agent that kills its hook's group does not kill this.
fn spawned(arguments: &[&str]) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).current_dir("/").spawn()
}

/// Notes that a session has ended.
pub(crate) fn note_session_end() {
    HAS_ENDED.store(true, Ordering::Relaxed);
}

/// Starts a process that checks for alerts, if due and if notifications are wanted. Runs after the answer is out.
pub(crate) fn start_if_due(dirs: &Dirs) -> Option<Child> {
    let is_due = record::is_look_due();
    let occasion = if HAS_ENDED.swap(false, Ordering::Relaxed) { Occasion::Ended } else { Occasion::Now };
    if !is_due && occasion == Occasion::Now {
        return None;
    }
    let notify = load::load(dirs, None, "").config.notify;
    // Nothing is lost where it cannot be started: the next look finds the same alerts.
    notify.is_set().then(|| spawned(&["notify", "--look", occasion.as_str()]).ok()).flatten()
}

/// There is a desktop, and it is not switched off.
pub(crate) fn has_desktop(notify: &Notify) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    notify.desktop.is_none() && (cfg!(target_os = "macos") || is_set("WAYLAND_DISPLAY") || is_set("DISPLAY"))
}
