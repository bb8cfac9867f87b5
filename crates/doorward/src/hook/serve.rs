//! `doorward serve --socket PATH`: the hook's answers on a Unix socket, one JSON object per line.

use std::fs::{DirBuilder, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::hook::notifier;
use crate::hook::{LIMIT, Surroundings, answer};
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::memory::evaluation;

/// More simultaneous clients than one user ever has; each costs a thread.
const CLIENTS: usize = 512;

/// The same stack for nested commands as the hook has; only the part in use costs memory.
// A deeply nested command must be judged the same through the socket as through the hook.
const STACK: usize = 16 * 1024 * 1024;

/// Pause before accepting again after accepting a client failed.
// Accepting fails when descriptors run out; without a pause the loop would spin until clients leave.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers clients until it is stopped.
pub(crate) fn run(path: &Path) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let listener = listen(path)?;
    evaluation::silence_panics();
    writeln!(anstream::stdout(), "listening on `{}`", path.display())?;
    let clients = Arc::new(AtomicUsize::new(0));
    loop {
        // Too many open files, or a client that already left: keep answering the others.
        let Ok((stream, _)) = listener.accept() else {
            std::thread::sleep(PAUSE);
            continue;
        };
        let seat = Seat(Arc::clone(&clients));
        if clients.fetch_add(1, Ordering::Relaxed) >= CLIENTS {
            refuse(&stream, "too many clients at once");
            continue;
        }
        let stream = Arc::new(stream);
        let (client, dirs) = (Arc::clone(&stream), dirs.clone());
        let started = std::thread::Builder::new().stack_size(STACK).spawn(move || {
            let _seat = seat;
            serve(&client, &dirs);
        });
        if started.is_err() {
            refuse(&stream, "too many clients at once");
        }
    }
}

/// A client's slot, freed however its thread ends.
struct Seat(Arc<AtomicUsize>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Opens the socket in a directory that only the user can write to, replacing a stale one.
fn listen(path: &Path) -> Result<UnixListener> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let metadata = directory.metadata()?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
        bail!("`{}` must belong to you and be writable only by you", directory.display());
    }
    match path.symlink_metadata() {
        Ok(found) if !found.file_type().is_socket() => bail!("`{}` exists and is not a socket", path.display()),
        // Removing a live socket would leave its clients with a server that no one can reach.
        Ok(_) if UnixStream::connect(path).is_ok() => {
            bail!("another `doorward serve` is already listening on `{}`", path.display())
        }
        Ok(_) => std::fs::remove_file(path)?,
        Err(_) => {}
    }
    let listener = UnixListener::bind(path).with_context(|| format!("can't open `{}`", path.display()))?;
    // The directory is private, so there is no moment in which others could connect.
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Answers one client, line by line, until it leaves.
fn serve(stream: &UnixStream, dirs: &Dirs) {
    // The permissions of the socket should suffice; the kernel's word on who is connected does.
    let is_own = rustix::net::sockopt::socket_peercred(stream)
        .is_ok_and(|peer| peer.uid.as_raw() == rustix::process::geteuid().as_raw());
    if !is_own {
        return refuse(stream, "it answers only the user who started it");
    }
    let surroundings = Surroundings::new(Agent::Generic, dirs.clone());
    let mut input = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        match input.by_ref().take(LIMIT + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            // The rest of the line is still coming; reading on would take its middle for a call.
            Ok(_) if line.len() as u64 > LIMIT => return refuse(stream, "the line is too long"),
            Ok(_) => {}
        }
        if send(stream, &answer_line(&line, &surroundings)).is_err() {
            return;
        }
        if let Some(mut looking) = notifier::start_if_due(dirs) {
            // Wait for the child, or it stays in the process list as a zombie.
            let _ = std::thread::Builder::new().spawn(move || looking.wait());
        }
    }
}

/// Answers one line with one line. Any failure blocks the call.
fn answer_line(line: &[u8], surroundings: &Surroundings) -> String {
    match catch_unwind(AssertUnwindSafe(|| answer(line, surroundings))) {
        Ok(Ok(reply)) if !reply.stdout.is_empty() => reply.stdout,
        Ok(Ok(reply)) if reply.code == 0 => format!("{}\n", json!({ "done": true })),
        Ok(Ok(reply)) => format!("{}\n", json!({ "done": false, "reason": reply.stderr.trim() })),
        Ok(Err(error)) => blocked(&format!("{error:#}")),
        Err(_) => blocked("it hit an internal error"),
    }
}

fn blocked(reason: &str) -> String {
    let answer: Value = json!({ "verdict": "block", "reason": format!("doorward: {reason}; the call is blocked") });
    format!("{answer}\n")
}

fn refuse(stream: &UnixStream, reason: &str) {
    // A client that left needs no answer, and no answer is not an approval.
    let _ = send(stream, &blocked(reason));
}

fn send(mut stream: &UnixStream, line: &str) -> std::io::Result<()> {
    stream.write_all(line.as_bytes())
}
