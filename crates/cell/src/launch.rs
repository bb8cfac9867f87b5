//! Forks the supervisor, which makes the namespaces and starts the box's first process in them.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{DumpableBehavior, Signal};

use crate::init::{self, Inside};
use crate::limits::Limits;
use crate::missing::Stage;
use crate::mounts::Layout;
use crate::plan::Program;
use crate::report::{self, Failure};
use crate::sys::{self, Fork};
use crate::walls::Filter;

/// All that the box is made of, ready before the fork.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) layout: Layout,
    /// `None` only builds the box, to see whether it can be.
    pub(crate) program: Option<Program>,
    pub(crate) limits: Limits,
    pub(crate) filter: Filter,
    /// The command starts after this moment of the file systems' clock (seconds, nanoseconds).
    pub(crate) since: (i64, i64),
    pub(crate) with_stdin: bool,
}

/// A running box, seen from outside.
#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) supervisor: i32,
    pub(crate) report: OwnedFd,
    /// The box ends when this is closed.
    pub(crate) control: OwnedFd,
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// The box's ends of the pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) report: OwnedFd,
    pub(crate) control: OwnedFd,
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

impl Prepared {
    pub(crate) fn launch(&self) -> Result<Launched, Errno> {
        let pipe = || {
            let (out, into) = pipe_with(PipeFlags::CLOEXEC)?;
            Ok((beyond_standard(out)?, beyond_standard(into)?))
        };
        let ((report, report_in), (control_out, control)) = (pipe()?, pipe()?);
        let ((stdin_out, stdin), (stdout, stdout_in), (stderr, stderr_in)) = (pipe()?, pipe()?, pipe()?);
        let pipes =
            Pipes { report: report_in, control: control_out, stdin: stdin_out, stdout: stdout_in, stderr: stderr_in };
        let outside = rustix::process::getpid();
        match sys::fork()? {
            Fork::Child => self.supervise(pipes, outside),
            Fork::Parent(supervisor) => {
                let stdin = self.with_stdin.then_some(stdin);
                Ok(Launched { supervisor, report, control, stdin, stdout, stderr })
            }
        }
    }

    fn supervise(&self, pipes: Pipes, outside: rustix::process::Pid) -> ! {
        let kept = [&pipes.report, &pipes.control, &pipes.stdin, &pipes.stdout, &pipes.stderr].map(AsRawFd::as_raw_fd);
        let started = close_inherited(&kept)
            .map_err(|errno| Failure(Stage::Fork, errno))
            .and_then(|()| die_with(outside))
            // Ctrl-C at the caller's terminal is for the caller, who ends the box in order.
            .and_then(|()| rustix::process::setsid().map(drop).map_err(|errno| Failure(Stage::Fork, errno)))
            .and_then(|()| namespaces())
            .and_then(|()| sys::fork().map_err(|errno| Failure(Stage::Fork, errno)));
        let first = match started {
            Ok(Fork::Child) => init::run(&Inside { prepared: self, pipes: &pipes }),
            Ok(Fork::Parent(first)) => first,
            Err(failure) => {
                report::failed(pipes.report.as_fd(), failure);
                sys::leave(1)
            }
        };
        let Pipes { report, control, stdin, stdout, stderr } = pipes;
        drop((stdin, stdout, stderr));
        watch(first, control.as_fd());
        if let Ok(Some((_, spent))) = sys::wait(first, 0) {
            report::reaped(report.as_fd(), spent);
        }
        sys::leave(0)
    }
}

/// The places of the standard files may be free in the caller.
fn beyond_standard(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    if fd.as_raw_fd() > 2 { Ok(fd) } else { rustix::io::fcntl_dupfd_cloexec(fd, 3) }
}

/// Nothing of the caller's goes along. The places of the standard files stay taken, so that no other file gets there.
fn close_inherited(keep: &[RawFd]) -> Result<(), Errno> {
    sys::close_others(3, keep)?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    (0..3).try_for_each(|target| sys::put_at(nothing.as_fd(), target))
}

/// Ends with `parent`, however that ends.
pub(crate) fn die_with(parent: rustix::process::Pid) -> Result<(), Failure> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| Failure(Stage::Fork, errno))?;
    // It may have died before that was set.
    if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(Failure(Stage::Fork, Errno::SRCH)) }
}

fn namespaces() -> Result<(), Failure> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let flags = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWCGROUP;
    sys::unshare(flags).map_err(|errno| Failure(Stage::Unshare, errno))?;
    let write = |file: &str, text: String| {
        std::fs::write(file, text)
            .map_err(|error| Failure(Stage::Identity, Errno::from_io_error(&error).unwrap_or(Errno::IO)))
    };
    write("/proc/self/setgroups", "deny".into())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    // Its memory is a copy of the caller's: nothing in the box may look into it.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|errno| Failure(Stage::Identity, errno))?;
    sys::loopback_up().map_err(|errno| Failure(Stage::Loopback, errno))
}

/// Until the first process ends, or the caller wants the end.
fn watch(first: i32, control: BorrowedFd<'_>) {
    let ended = rustix::process::Pid::from_raw(first)
        .and_then(|pid| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok());
    let Some(ended) = ended else {
        sys::kill(first, libc::SIGKILL);
        return;
    };
    loop {
        let mut files = [PollFd::new(&ended, PollFlags::IN), PollFd::from_borrowed_fd(control, PollFlags::IN)];
        match poll(&mut files, None) {
            Err(Errno::INTR) => {}
            Ok(_) if files.first().is_some_and(|file| !file.revents().is_empty()) => return,
            Ok(_) | Err(_) => {
                sys::kill(first, libc::SIGKILL);
                return;
            }
        }
    }
}
