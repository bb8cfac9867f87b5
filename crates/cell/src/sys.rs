//! The few system calls that no library wraps safely: fork, exec, filters, mount attributes. All `unsafe` of the project is here.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use seccompiler::sock_filter;

/// Which side of a fork this is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fork {
    Parent(i32),
    Child,
}

/// What a reaped child used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) status: i32,
    pub(crate) user_micros: u64,
    pub(crate) system_micros: u64,
    pub(crate) peak_kib: u64,
}

/// One system call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notice {
    pub(crate) id: u64,
    pub(crate) call: i32,
}

/// What the waiting system call is told.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    Refuse(i32),
    Continue,
}

/// The attributes that a mount gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MountAttributes(u64);

impl MountAttributes {
    pub(crate) const READ_ONLY: u64 = 0x1;
    pub(crate) const NO_SUID: u64 = 0x2;
    pub(crate) const NO_DEV: u64 = 0x4;
    pub(crate) const NO_EXEC: u64 = 0x8;

    pub(crate) const fn new(bits: u64) -> MountAttributes {
        MountAttributes(bits)
    }
}

fn last() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn checked(result: c_long) -> Result<c_long, Errno> {
    if result < 0 { Err(last()) } else { Ok(result) }
}

/// Splits the process; the child has one thread, whatever the parent has.
pub(crate) fn fork() -> Result<Fork, Errno> {
    // SAFETY: libc's own fork, not the bare call, so the allocator's locks are in order in the child. The child runs only
    // this crate's code, which takes no lock that another thread of the parent may hold, and ends with exec or `leave`.
    match unsafe { libc::fork() } {
        -1 => Err(last()),
        0 => Ok(Fork::Child),
        child => Ok(Fork::Parent(child)),
    }
}

/// Ends this process at once: nothing that the parent registered runs in the child.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: takes a number, returns never.
    unsafe { libc::_exit(code) }
}

/// Leaves the namespaces of the parent.
pub(crate) fn unshare(flags: c_int) -> Result<(), Errno> {
    // SAFETY: a number goes in. Only namespaces are left: no memory or file table is unshared under the feet of Rust.
    checked(c_long::from(unsafe { libc::unshare(flags) })).map(drop)
}

/// Runs another program in this process; returns only if that failed.
pub(crate) fn exec(path: &CStr, argv: &[CString], env: &[CString]) -> Errno {
    let argv = pointers(argv);
    let env = pointers(env);
    // SAFETY: both lists end with a null pointer, and every other pointer is a C string that lives until the call returns.
    unsafe { libc::execve(path.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    last()
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Closes every file from `first` on that is not in `keep`.
pub(crate) fn close_others(first: RawFd, keep: &[RawFd]) -> Result<(), Errno> {
    let mut keep: Vec<RawFd> = keep.iter().copied().filter(|fd| *fd >= first).collect();
    keep.sort_unstable();
    let mut from = first;
    for fd in keep {
        if fd > from {
            close_range(from, fd - 1)?;
        }
        from = from.max(fd + 1);
    }
    close_range(from, RawFd::MAX)
}

fn close_range(first: RawFd, last: RawFd) -> Result<(), Errno> {
    // SAFETY: called in a forked child that owns nothing but what the caller lists; what it closes is never used again.
    checked(unsafe { libc::syscall(libc::SYS_close_range, first as c_uint, last as c_uint, 0 as c_uint) }).map(drop)
}

/// Puts `fd` where a program expects its standard file `target`.
pub(crate) fn put_at(fd: BorrowedFd<'_>, target: RawFd) -> Result<(), Errno> {
    // SAFETY: two numbers; the target is one of the three standard files, which nothing here owns.
    checked(c_long::from(unsafe { libc::dup2(fd.as_raw_fd(), target) })).map(drop)
}

/// Changes the attributes of a mount, and of all below it if `flags` says so.
pub(crate) fn mount_setattr(at: RawFd, path: &CStr, flags: c_int, attributes: MountAttributes) -> Result<(), Errno> {
    let attributes = libc::mount_attr { attr_set: attributes.0, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the path is a C string and the structure has the size that is given; the kernel only reads both.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at,
            path.as_ptr(),
            flags as c_uint,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    })
    .map(drop)
}

/// Waits for `pid` to end (any child if it is -1); `None` if `options` says not to wait and none has ended.
pub(crate) fn wait(pid: i32, options: c_int) -> Result<Option<(i32, Spent)>, Errno> {
    loop {
        let mut status = 0;
        // SAFETY: an all-zero rusage is valid, and the kernel fills it.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to locals of the right type.
        let reaped = unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) };
        match reaped {
            -1 if last() == Errno::INTR => {}
            -1 => return Err(last()),
            0 => return Ok(None),
            reaped => return Ok(Some((reaped, spent(status, &usage)))),
        }
    }
}

fn spent(status: i32, usage: &libc::rusage) -> Spent {
    let micros = |time: libc::timeval| (time.tv_sec as u64) * 1_000_000 + time.tv_usec as u64;
    Spent {
        status,
        user_micros: micros(usage.ru_utime),
        system_micros: micros(usage.ru_stime),
        peak_kib: usage.ru_maxrss as u64,
    }
}

/// The exit status as a shell gives it: 128 and the signal for a process that was killed.
pub(crate) fn shell_status(status: i32) -> i32 {
    if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}

/// Sends a signal; -1 is every process but the first one.
pub(crate) fn kill(pid: i32, signal: c_int) {
    // SAFETY: two numbers.
    unsafe { libc::kill(pid, signal) };
}

/// Sets every signal back to what a program expects at its start.
pub(crate) fn default_signals() {
    for signal in 1..=64 {
        // SAFETY: no handler is installed, only the default taken; the numbers that the kernel refuses stay as they are.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: an all-zero set is a valid argument for sigemptyset, and the mask is read only.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Drops a capability for good.
pub(crate) fn drop_from_bounding_set(capability: c_int) -> Result<(), Errno> {
    // SAFETY: numbers only.
    checked(c_long::from(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) })).map(drop)
}

/// Binds this process and its children to a filter; with `listen`, the calls it reports wait at the file that is returned.
pub(crate) fn install_filter(program: &[sock_filter], listen: bool) -> Result<Option<OwnedFd>, Errno> {
    let flags = if listen { libc::SECCOMP_FILTER_FLAG_NEW_LISTENER } else { 0 };
    let length = u16::try_from(program.len()).map_err(|_| Errno::TOOBIG)?;
    // The library's instruction and the kernel's have one layout: both are `repr(C)` with the same fields.
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast::<libc::sock_filter>().cast_mut() };
    // SAFETY: the kernel copies `length` instructions out of the slice, which lives until the call returns.
    let result = checked(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER as c_uint, flags as c_uint, &raw const program)
    })?;
    if !listen {
        return Ok(None);
    }
    // SAFETY: with that flag the result is a new file that nothing else owns.
    Ok(Some(unsafe { OwnedFd::from_raw_fd(result as RawFd) }))
}

/// Takes the next call that waits.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> Result<Notice, Errno> {
    // SAFETY: all-zero is valid, and what the kernel demands of this structure.
    let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the request number belongs to the structure that the pointer is to.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_RECEIVE as _, &raw mut notice) };
    checked(c_long::from(result))?;
    Ok(Notice { id: notice.id, call: notice.data.nr })
}

/// Answers it; one whose process has died meanwhile is no error.
pub(crate) fn answer(listener: BorrowedFd<'_>, notice: Notice, answer: Answer) {
    let (error, flags) = match answer {
        Answer::Refuse(errno) => (-errno, 0),
        Answer::Continue => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
    };
    let mut reply = libc::seccomp_notif_resp { id: notice.id, val: 0, error, flags };
    // SAFETY: the request number belongs to the structure that the pointer is to.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_SEND as _, &raw mut reply) };
}

// `_IOWR('!', 0, struct seccomp_notif)` and `_IOWR('!', 1, struct seccomp_notif_resp)`.
const NOTIFY_RECEIVE: u64 = 0xc050_2100;
const NOTIFY_SEND: u64 = 0xc018_2101;

/// Switches on the loopback of a network that has nothing else.
pub(crate) fn loopback_up() -> Result<(), Errno> {
    // SAFETY: numbers only.
    let socket =
        checked(c_long::from(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) }))?;
    // SAFETY: the call has just made this file, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket as RawFd) };
    // SAFETY: all-zero is a valid request: an empty name and no flags.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: the request number belongs to the structure that the pointer is to.
    checked(c_long::from(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) }))
        .map(drop)
}

/// The version of Landlock that this kernel speaks, if it does.
pub(crate) fn landlock_version() -> Option<i32> {
    // SAFETY: a null pointer of no size together with the flag "version" is how the kernel is asked.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, 1_u32) };
    i32::try_from(version).ok().filter(|version| *version > 0)
}
