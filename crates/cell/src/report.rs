//! What the processes of the box tell the one outside, over a pipe.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;

use crate::limits::Spoiled;
use crate::missing::Stage;
use crate::sys::{self, Spent};
use crate::walls::call_name;

/// A step that failed, and why.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure(pub(crate) Stage, pub(crate) Errno);

/// What a run used, and what it was refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    pub duration: Duration,
    pub user: Duration,
    pub system: Duration,
    /// The most memory that was seen at one time, in KiB.
    pub peak_kib: u64,
    /// System calls that the box refused or counted (`connect`), by name.
    pub calls: Vec<(&'static str, u32)>,
}

/// Everything that came through the pipe.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    pub(crate) failure: Option<(Stage, i32)>,
    pub(crate) status: Option<i32>,
    pub(crate) spoiled: Option<Spoiled>,
    pub(crate) usage: Usage,
    /// The supervisor has seen the end of the first process, so nothing runs in the box any more.
    pub(crate) complete: bool,
}

const FAILED: u8 = 1;
const ENDED: u8 = 2;
const COUNTED: u8 = 3;
const REAPED: u8 = 4;
/// The length of every message: a tag and three numbers, well below what a pipe takes in one piece.
const LENGTH: usize = 25;

fn send(to: BorrowedFd<'_>, tag: u8, numbers: [u64; 3]) {
    let mut message = vec![tag];
    for number in numbers {
        message.extend_from_slice(&number.to_le_bytes());
    }
    let _ = rustix::io::write(to, &message);
}

pub(crate) fn failed(to: BorrowedFd<'_>, failure: Failure) {
    let stage = Stage::ALL.iter().position(|stage| *stage == failure.0).unwrap_or_default();
    send(to, FAILED, [stage as u64, failure.1.raw_os_error() as u64, 0]);
}

pub(crate) fn ended(to: BorrowedFd<'_>, status: i32, peak_kib: u64, out_of_memory: Option<Spoiled>) {
    send(to, ENDED, [status as u64, peak_kib, u64::from(out_of_memory.is_some())]);
}

pub(crate) fn counted(to: BorrowedFd<'_>, call: i32, times: u32) {
    send(to, COUNTED, [call as u64, u64::from(times), 0]);
}

pub(crate) fn reaped(to: BorrowedFd<'_>, spent: Spent) {
    send(to, REAPED, [spent.user_micros, spent.system_micros, spent.peak_kib]);
}

impl Report {
    /// Reads until every writer is gone.
    pub(crate) fn read(from: &OwnedFd) -> Report {
        let mut bytes = Vec::new();
        let mut buffer = [0; 1024];
        loop {
            match rustix::io::read(from, &mut buffer) {
                Ok(0) => break,
                Ok(length) => bytes.extend_from_slice(buffer.get(..length).unwrap_or_default()),
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        let mut report = Report::default();
        for message in bytes.chunks_exact(LENGTH) {
            report.take(message);
        }
        report
    }

    fn take(&mut self, message: &[u8]) {
        let number = |at: usize| {
            let bytes = message.get(1 + 8 * at..9 + 8 * at).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_le_bytes)
        };
        match message.first() {
            Some(&FAILED) => self.failure = Some((Stage::from_code(number(0) as u8), number(1) as i32)),
            Some(&ENDED) => {
                self.status = Some(sys::shell_status(number(0) as i32));
                self.usage.peak_kib = self.usage.peak_kib.max(number(1));
                self.spoiled = (number(2) != 0).then_some(Spoiled::Memory);
            }
            Some(&COUNTED) => self.usage.calls.push((call_name(number(0) as i32), number(1) as u32)),
            Some(&REAPED) => {
                self.usage.user = Duration::from_micros(number(0));
                self.usage.system = Duration::from_micros(number(1));
                self.usage.peak_kib = self.usage.peak_kib.max(number(2));
                self.complete = true;
            }
            Some(_) | None => {}
        }
    }
}
