//! The status line that was there before: run with the same input, its lines shown above ours.

use std::io::Write;
use std::process::{Child, Command, Stdio};

/// Starts the user's own command as Claude Code would.
pub(super) fn start(command: &str, input: &[u8]) -> Option<Child> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // A command that reads nothing must not hold us up.
        std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
    }
    Some(child)
}

/// What it printed, ending with a line break; nothing if it printed nothing or could not be run.
pub(super) fn lines(child: Option<Child>) -> Vec<u8> {
    let printed = child.and_then(|child| child.wait_with_output().ok()).map(|output| output.stdout).unwrap_or_default();
    let mut printed = printed;
    if !printed.is_empty() && !printed.ends_with(b"\n") {
        printed.push(b'\n');
    }
    printed
}
