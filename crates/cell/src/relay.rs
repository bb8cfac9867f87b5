//! Watches a running box from outside: passes its streams on, keeps its limits, collects its report.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::launch::Launched;
use crate::limits::{Limits, Spoiled};
use crate::plan::{Input, Output};
use crate::report::Report;
use crate::sys;
use crate::tree;

/// The caller's ends.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdin: Input,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
    pub(crate) stop: Option<OwnedFd>,
}

#[derive(Debug)]
pub(crate) struct Relay {
    from: [Option<OwnedFd>; 2],
    to: [Option<OwnedFd>; 2],
    source: Option<OwnedFd>,
    into: Option<OwnedFd>,
    stop: Option<OwnedFd>,
    control: Option<OwnedFd>,
    uppers: Vec<PathBuf>,
    limits: Limits,
    deadline: Instant,
    next_look: Instant,
    passed: u64,
    spoiled: Option<Spoiled>,
}

/// How often the size of what was written is looked at, and how much of the time that may take at most (1 / share).
const LOOK: Duration = Duration::from_millis(100);
const SHARE: u32 = 20;
/// What a pipe takes without blocking once it is ready.
const PIECE: usize = 4096;

impl Relay {
    /// Returns when nothing of the box is left.
    pub(crate) fn follow(launched: Launched, streams: Streams, limits: Limits, uppers: Vec<PathBuf>) -> Report {
        let began = Instant::now();
        let Launched { supervisor, report, control, stdin, stdout, stderr } = launched;
        let target = |output| match output {
            Output::Nowhere => None,
            Output::To(fd) => Some(fd),
        };
        let source = match streams.stdin {
            Input::Nothing => None,
            Input::From(fd) => Some(fd),
        };
        let mut relay = Relay {
            from: [Some(stdout), Some(stderr)],
            to: [target(streams.stdout), target(streams.stderr)],
            source,
            into: stdin,
            stop: streams.stop,
            control: Some(control),
            uppers,
            limits,
            deadline: began + limits.time,
            next_look: began + LOOK,
            passed: 0,
            spoiled: None,
        };
        while !relay.round(&report) {}
        relay.drain();
        let mut report = Report::read(&report);
        let _ = sys::wait(supervisor, 0);
        report.usage.duration = began.elapsed();
        report.spoiled = relay.spoiled.or(report.spoiled);
        report
    }

    /// One wait; true when the box is gone.
    fn round(&mut self, report: &OwnedFd) -> bool {
        let feeding = self.source.is_some() && self.into.is_some();
        let mut files = vec![PollFd::new(report, PollFlags::empty())];
        let readable = [self.from.first(), self.from.get(1)].map(|stream| stream.and_then(Option::as_ref));
        let watched = [readable[0], readable[1], self.source.as_ref().filter(|_| feeding), self.stop.as_ref()];
        let mut at = [None; 4];
        for (place, fd) in at.iter_mut().zip(watched) {
            if let Some(fd) = fd {
                *place = Some(files.len());
                files.push(PollFd::new(fd, PollFlags::IN));
            }
        }
        let failed = match poll(&mut files, Some(&self.patience())) {
            Err(Errno::INTR) => return false,
            polled => polled.is_err(),
        };
        let ready = |place: Option<usize>| {
            place.and_then(|place| files.get(place)).is_some_and(|file| !file.revents().is_empty())
        };
        let gone = ready(Some(0));
        let [out, error, input, stop] = at.map(ready);
        drop(files);
        if failed {
            self.end(Spoiled::Stopped);
        }
        for (which, ready) in [(0, out), (1, error)] {
            if ready {
                self.pass(which);
            }
        }
        if input {
            self.feed();
        }
        if stop {
            self.stop = None;
            self.end(Spoiled::Stopped);
        }
        self.look();
        gone
    }

    fn patience(&self) -> Timespec {
        let until = if self.control.is_some() { self.deadline.min(self.next_look) } else { self.next_look };
        let left = until.saturating_duration_since(Instant::now());
        Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) }
    }

    fn end(&mut self, why: Spoiled) {
        if self.control.take().is_some() {
            self.spoiled = Some(why);
        }
    }

    fn look(&mut self) {
        let now = Instant::now();
        if now >= self.deadline {
            self.end(Spoiled::Time);
        }
        if now < self.next_look {
            return;
        }
        let written: u64 = self.uppers.iter().map(|upper| tree::disk_bytes(upper)).sum();
        if written > self.limits.written {
            self.end(Spoiled::Written);
        }
        if self.uppers.first().is_some_and(|upper| tree::free_bytes(upper) < self.limits.reserve) {
            self.end(Spoiled::Disk);
        }
        self.next_look = Instant::now() + LOOK.max(now.elapsed() * SHARE);
    }

    fn pass(&mut self, which: usize) {
        let mut buffer = [0; PIECE];
        let Some(stream) = self.from.get_mut(which) else { return };
        let Some(fd) = stream else { return };
        let read = match rustix::io::read(&*fd, &mut buffer) {
            Ok(0) => {
                *stream = None;
                return;
            }
            Ok(read) => read,
            Err(Errno::INTR | Errno::AGAIN) => return,
            Err(_) => {
                *stream = None;
                return;
            }
        };
        self.passed += read as u64;
        if self.passed > self.limits.output {
            self.end(Spoiled::Output);
            return;
        }
        if !self.write(which, buffer.get(..read).unwrap_or_default()) {
            // Whoever reads has gone: the command gets the broken pipe that it would have had.
            self.to.iter_mut().skip(which).take(1).for_each(|to| *to = None);
            self.from.iter_mut().skip(which).take(1).for_each(|from| *from = None);
        }
    }

    fn write(&self, which: usize, mut bytes: &[u8]) -> bool {
        let Some(to) = self.to.get(which).and_then(Option::as_ref) else { return true };
        while !bytes.is_empty() {
            let left = self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(100));
            let patience = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            if !matches!(poll(&mut [PollFd::new(to, PollFlags::OUT)], Some(&patience)), Ok(1..) | Err(Errno::INTR)) {
                return false;
            }
            match rustix::io::write(to, bytes) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return false,
            }
        }
        true
    }

    fn feed(&mut self) {
        let mut buffer = [0; PIECE];
        let (Some(source), Some(into)) = (&self.source, &self.into) else { return };
        // Full: the command isn't reading. Waiting a little is better than blocking on it.
        let patience = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
        if !matches!(poll(&mut [PollFd::new(into, PollFlags::OUT)], Some(&patience)), Ok(1..)) {
            return;
        }
        let read = match rustix::io::read(source, &mut buffer) {
            Err(Errno::INTR | Errno::AGAIN) => return,
            read => read.unwrap_or(0),
        };
        let bytes = buffer.get(..read).unwrap_or_default();
        if read == 0 || rustix::io::write(into.as_fd(), bytes).is_err() {
            self.source = None;
            self.into = None;
        }
    }

    /// What still lies in the pipes after the end.
    fn drain(&mut self) {
        for which in [0, 1] {
            while self.from.get(which).is_some_and(Option::is_some) && self.spoiled != Some(Spoiled::Output) {
                self.pass(which);
            }
        }
    }
}
