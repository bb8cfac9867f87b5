//! A progress bar for reading the record; only on a terminal.

use std::io::{IsTerminal, Write};

use doorward_ledger::Progress;

const WIDTH: u64 = 30;

/// Draws the progress if standard error is a terminal.
pub(crate) fn bar() -> impl FnMut(Progress) {
    let is_watched = std::io::stderr().is_terminal();
    move |progress| {
        if is_watched {
            draw(progress);
        }
    }
}

fn draw(progress: Progress) {
    let Progress { segments, of, records } = progress;
    let done = WIDTH * segments / of.max(1);
    let (filled, empty) = ("█".repeat(done as usize), "·".repeat((WIDTH - done) as usize));
    let end = if segments == of { "\r\x1b[K" } else { "" };
    // A closed terminal is no reason to stop.
    let _ = write!(std::io::stderr(), "\r{filled}{empty} {segments}/{of} segments, {records} records{end}");
}
