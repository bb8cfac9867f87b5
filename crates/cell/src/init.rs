//! The box's first process: builds the walls around itself, starts the command, ends all when it ends.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::launch::{Pipes, Prepared};
use crate::limits::Spoiled;
use crate::missing::Stage;
use crate::plan::Program;
use crate::report::{self, Failure};
use crate::sys::{self, Answer, Fork};
use crate::walls;

/// What the first process has to do with.
#[derive(Debug)]
pub(crate) struct Inside<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) pipes: &'a Pipes,
}

/// How often memory is looked at.
const PULSE: Duration = Duration::from_millis(50);
/// What a shell answers for a program that isn't there, and for one that can't be run.
const NOT_FOUND: i32 = 127;
const NOT_RUNNABLE: i32 = 126;

pub(crate) fn run(inside: &Inside<'_>) -> ! {
    let report = inside.pipes.report.as_fd();
    match inside.walls().and_then(|listener| inside.start().map(|child| (listener, child))) {
        Ok((listener, Some(child))) => Watch { inside, listener, child, calls: BTreeMap::new(), peak: 0 }.until_end(),
        Ok((_, None)) => report::ended(report, 0, 0, None),
        Err(failure) => report::failed(report, failure),
    }
    sys::leave(0)
}

impl Inside<'_> {
    fn walls(&self) -> Result<Option<OwnedFd>, Failure> {
        let at = |stage: Stage| move |errno: Errno| Failure(stage, errno);
        // The supervisor is outside this pid namespace, so its number can't be asked; it watches a pipe as well.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
            .map_err(at(Stage::Fork))?;
        self.prepared.layout.build()?;
        walls::drop_capabilities().map_err(at(Stage::Capabilities))?;
        if sys::landlock_version().is_some() {
            walls::landlock(&self.writable()).map_err(|_| Failure(Stage::Landlock, Errno::INVAL))?;
        }
        self.prepared.filter.install().map_err(at(Stage::Filter))
    }

    fn writable(&self) -> Vec<PathBuf> {
        let layout = &self.prepared.layout;
        let roots = layout.overlays.iter().map(|overlay| overlay.path.clone());
        roots.chain(layout.private.iter().cloned()).chain(["/dev".into()]).collect()
    }

    fn start(&self) -> Result<Option<i32>, Failure> {
        let Some(program) = &self.prepared.program else { return Ok(None) };
        self.wait_for_clock();
        match sys::fork().map_err(|errno| Failure(Stage::Command, errno))? {
            Fork::Parent(child) => Ok(Some(child)),
            Fork::Child => self.become_command(program),
        }
    }

    /// A change of the trees below that is stamped later than `since` is one that the command may not have seen. File systems
    /// stamp with a clock that ticks; the command starts in a later tick, so an equal stamp is an earlier change.
    fn wait_for_clock(&self) {
        loop {
            let now = clock_gettime(ClockId::RealtimeCoarse);
            if (now.tv_sec, now.tv_nsec) > self.prepared.since {
                return;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn become_command(&self, program: &Program) -> ! {
        let ready = self.standard_files().and_then(|()| self.limits());
        if let Err(errno) = ready {
            report::failed(self.pipes.report.as_fd(), Failure(Stage::Command, errno));
            sys::leave(NOT_RUNNABLE)
        }
        sys::default_signals();
        let mut code = NOT_FOUND;
        for candidate in &program.candidates {
            let errno = sys::exec(candidate, &program.argv, &program.env);
            // A place in `PATH` that this user may not look into has no program for them.
            let there = rustix::fs::stat(candidate.as_c_str()).is_ok();
            if there && !matches!(errno, Errno::NOENT | Errno::NOTDIR) {
                code = NOT_RUNNABLE;
            }
        }
        sys::leave(code)
    }

    /// In a session of its own: no terminal controls it, and it controls none.
    fn standard_files(&self) -> Result<(), Errno> {
        rustix::process::setsid()?;
        let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let stdin = if self.prepared.with_stdin { self.pipes.stdin.as_fd() } else { nothing.as_fd() };
        for (fd, target) in [(stdin, 0), (self.pipes.stdout.as_fd(), 1), (self.pipes.stderr.as_fd(), 2)] {
            sys::put_at(fd, target)?;
        }
        drop(nothing);
        sys::close_others(3, &[])
    }

    fn limits(&self) -> Result<(), Errno> {
        let limits = &self.prepared.limits;
        // One byte of core is the kernel's sign for "none", even where cores are piped to a program of the host.
        let bounds = [
            (Resource::Core, 1),
            (Resource::Fsize, limits.file),
            (Resource::Data, limits.memory),
            (Resource::Nproc, limits.processes),
            (Resource::Memlock, 0),
        ];
        for (resource, bound) in bounds {
            let now = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let bound = Some(bound.min(now));
            rustix::process::setrlimit(resource, Rlimit { current: bound, maximum: bound })?;
        }
        Ok(())
    }
}

struct Watch<'a> {
    inside: &'a Inside<'a>,
    listener: Option<OwnedFd>,
    child: i32,
    calls: BTreeMap<i32, u32>,
    peak: u64,
}

impl Watch<'_> {
    fn until_end(mut self) {
        let report = self.inside.pipes.report.as_fd();
        let (status, spoiled) = self.watched();
        sys::kill(-1, libc::SIGKILL);
        let mut last = status;
        while let Ok(Some((pid, spent))) = sys::wait(-1, 0) {
            if pid == self.child {
                last = Some(spent.status);
            }
        }
        for (call, times) in &self.calls {
            report::counted(report, *call, *times);
        }
        report::ended(report, last.unwrap_or(libc::SIGKILL), self.peak, spoiled);
    }

    /// Until the command ends, the caller is gone or memory runs out.
    fn watched(&mut self) -> (Option<i32>, Option<Spoiled>) {
        let pid = Pid::from_raw(self.child);
        let Some(Ok(ended)) = pid.map(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty())) else {
            return (None, None);
        };
        loop {
            if self.one_pulse(ended.as_fd()).is_break() {
                return (None, None);
            }
            while let Ok(Some((pid, spent))) = sys::wait(-1, libc::WNOHANG) {
                if pid == self.child {
                    return (Some(spent.status), None);
                }
            }
            let used = resident_kib();
            self.peak = self.peak.max(used);
            if used > self.inside.prepared.limits.memory / 1024 {
                return (None, Some(Spoiled::Memory));
            }
        }
    }

    fn one_pulse(&mut self, ended: BorrowedFd<'_>) -> ControlFlow<()> {
        let timeout = Timespec { tv_sec: 0, tv_nsec: PULSE.as_nanos() as i64 };
        let until = std::time::Instant::now() + PULSE;
        loop {
            let control = PollFd::new(&self.inside.pipes.control, PollFlags::IN);
            let mut files = vec![PollFd::from_borrowed_fd(ended, PollFlags::IN), control];
            if let Some(listener) = &self.listener {
                files.push(PollFd::new(listener, PollFlags::IN));
            }
            let _ = poll(&mut files, Some(&timeout));
            let ready = |at: usize| files.get(at).is_some_and(|file| !file.revents().is_empty());
            let (gone, waiting) = (ready(1), ready(2));
            if gone {
                return ControlFlow::Break(());
            }
            if !waiting {
                return ControlFlow::Continue(());
            }
            self.answer();
            if std::time::Instant::now() > until {
                return ControlFlow::Continue(());
            }
        }
    }

    fn answer(&mut self) {
        let Some(listener) = &self.listener else { return };
        let Ok(notice) = sys::receive(listener.as_fd()) else { return };
        let times = self.calls.entry(notice.call).or_default();
        *times = times.saturating_add(1);
        let answer = if walls::only_counted(notice.call) { Answer::Continue } else { Answer::Refuse(libc::EPERM) };
        sys::answer(listener.as_fd(), notice, answer);
    }
}

/// What all processes of the box hold together, without what they share.
fn resident_kib() -> u64 {
    const KIB_PER_PAGE: u64 = 4;
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let numbers =
        entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit));
    let pages = numbers.filter_map(|entry| {
        let statm = std::fs::read_to_string(entry.path().join("statm")).ok()?;
        let mut fields = statm.split_ascii_whitespace().skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
        Some(fields.next()?.saturating_sub(fields.next()?))
    });
    pages.sum::<u64>() * KIB_PER_PAGE
}
