//! Delivers the answer. INVARIANT: an answer that is not delivered is a refusal.

use std::io::Write;
use std::os::fd::AsFd;
use std::process::ExitCode;

use rustix::fs::{FileType, fstat, stat};

use crate::hook::agents::Reply;
use crate::machine::agent::Agent;

/// The exit code that every agent takes for a refusal, some only with a message.
// Any other code, a crash included, lets the call run in nearly every client.
const REFUSED: u8 = 2;

const UNHEARD: &str = "doorward: its standard output is not connected, so its answer is lost; the call is blocked\n";

/// Writes the reply to both streams; returns the exit code.
pub(super) fn send(reply: &Reply, agent: Option<Agent>) -> ExitCode {
    let reply = audible(reply, agent);
    let mut stdout = std::io::stdout().lock();
    let is_lost = !reply.stdout.is_empty() && is_nowhere(&stdout);
    let sent = stdout.write_all(reply.stdout.as_bytes()).and_then(|()| stdout.flush());
    let lost = if is_lost || sent.is_err() { UNHEARD } else { "" };
    let _ = std::io::stderr().write_all(format!("{}{lost}", reply.stderr).as_bytes());
    ExitCode::from(if lost.is_empty() { reply.code } else { REFUSED })
}

/// A refusal by exit code alone does not stop every agent. If a message on standard error would be lost, agents that need one
/// get the refusal on standard output, in their own format.
fn audible(reply: &Reply, agent: Option<Agent>) -> Reply {
    let is_mute = reply.code == REFUSED && reply.stdout.is_empty() && is_nowhere(std::io::stderr());
    let said = agent.filter(|agent| is_mute && agent.wants_words()).map(|agent| agent.refusal(reply.stderr.trim()));
    said.filter(|said| !said.stdout.is_empty()).unwrap_or_else(|| reply.clone())
}

/// The stream is the null device. So is one that was closed when the program started: the runtime opens the null device in
/// its place, and writing to it always succeeds.
fn is_nowhere(stream: impl AsFd) -> bool {
    let (Ok(stream), Ok(null)) = (fstat(stream), stat("/dev/null")) else { return false };
    FileType::from_raw_mode(stream.st_mode) == FileType::CharacterDevice && stream.st_rdev == null.st_rdev
}
