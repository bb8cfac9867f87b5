//! What a process of the box may ask of the kernel: the filter, Landlock behind it, no capabilities.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope, path_beneath_rules,
};
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use crate::sys;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused whatever their arguments. Mounts and namespaces would rebuild the box from inside; ptrace and its kin reach into
/// other processes; keys, bpf, perf, userfaultfd and io_uring are how kernels are attacked or filters passed by.
const REFUSED: &[(&str, i64)] = &[
    ("mount", libc::SYS_mount),
    ("umount2", libc::SYS_umount2),
    ("pivot_root", libc::SYS_pivot_root),
    ("chroot", libc::SYS_chroot),
    ("open_tree", libc::SYS_open_tree),
    ("move_mount", libc::SYS_move_mount),
    ("fsopen", libc::SYS_fsopen),
    ("fsconfig", libc::SYS_fsconfig),
    ("fsmount", libc::SYS_fsmount),
    ("fspick", libc::SYS_fspick),
    ("mount_setattr", libc::SYS_mount_setattr),
    ("open_tree_attr", 467),
    ("setns", libc::SYS_setns),
    ("ptrace", libc::SYS_ptrace),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("process_madvise", libc::SYS_process_madvise),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("kcmp", libc::SYS_kcmp),
    ("keyctl", libc::SYS_keyctl),
    ("add_key", libc::SYS_add_key),
    ("request_key", libc::SYS_request_key),
    ("bpf", libc::SYS_bpf),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("userfaultfd", libc::SYS_userfaultfd),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("io_uring_enter", libc::SYS_io_uring_enter),
    ("io_uring_register", libc::SYS_io_uring_register),
    ("kexec_load", libc::SYS_kexec_load),
    ("init_module", libc::SYS_init_module),
    ("finit_module", libc::SYS_finit_module),
    ("delete_module", libc::SYS_delete_module),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("fanotify_init", libc::SYS_fanotify_init),
    ("swapon", libc::SYS_swapon),
    ("swapoff", libc::SYS_swapoff),
    ("reboot", libc::SYS_reboot),
    ("acct", libc::SYS_acct),
    ("quotactl", libc::SYS_quotactl),
    ("quotactl_fd", libc::SYS_quotactl_fd),
    ("settimeofday", libc::SYS_settimeofday),
    ("clock_settime", libc::SYS_clock_settime),
    ("syslog", libc::SYS_syslog),
    ("vhangup", libc::SYS_vhangup),
    ("lookup_dcookie", libc::SYS_lookup_dcookie),
    #[cfg(target_arch = "x86_64")]
    ("kexec_file_load", libc::SYS_kexec_file_load),
    #[cfg(target_arch = "x86_64")]
    ("iopl", libc::SYS_iopl),
    #[cfg(target_arch = "x86_64")]
    ("ioperm", libc::SYS_ioperm),
    #[cfg(target_arch = "x86_64")]
    ("modify_ldt", libc::SYS_modify_ldt),
];

/// Looked at by their arguments; `connect` is only counted, because the box has a network of its own.
const LOOKED_AT: &[(&str, i64)] = &[
    ("socket", libc::SYS_socket),
    ("socketpair", libc::SYS_socketpair),
    ("connect", libc::SYS_connect),
    ("clone", libc::SYS_clone),
    ("unshare", libc::SYS_unshare),
    ("ioctl", libc::SYS_ioctl),
];

/// New namespaces of every kind.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
const NEW_TIME_NAMESPACE: u64 = 0x80;

/// Input typed into a terminal (TIOCSTI, TIOCLINUX), another line discipline (TIOCSETD), the console's output (TIOCCONS).
const TERMINAL_TRICKS: [u64; 4] = [0x5412, 0x541c, 0x5423, 0x541d];

/// Calls from this number on were not known when this list was made: no such call is let through.
const FIRST_UNKNOWN: u32 = 470;
/// The second numbering of x86-64 begins here.
const OTHER_NUMBERING: u32 = 0x4000_0000;

/// What the listener answers to `connect`.
pub(crate) fn only_counted(call: i32) -> bool {
    i64::from(call) == libc::SYS_connect
}

pub(crate) fn call_name(call: i32) -> &'static str {
    REFUSED.iter().chain(LOOKED_AT).find(|(_, number)| *number == i64::from(call)).map_or("other", |(name, _)| name)
}

/// The filter in both of its forms; made before the fork.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    /// Refused calls wait for an answer, and so can be counted.
    listening: Vec<sock_filter>,
    /// Refused calls fail. For a box inside something that listens already: the kernel allows one listener.
    silent: Vec<sock_filter>,
}

impl Filter {
    pub(crate) fn new() -> Result<Filter, Errno> {
        let compiled = compiled().ok_or(Errno::INVAL)?;
        let with =
            |action: u32| prologue().into_iter().chain(compiled.iter().map(|line| acting(line, action))).collect();
        Ok(Filter { listening: with(libc::SECCOMP_RET_USER_NOTIF), silent: with(errno(libc::EPERM)) })
    }

    /// Binds this process and all it starts; answers with the listener if there can be one.
    pub(crate) fn install(&self) -> Result<Option<OwnedFd>, Errno> {
        match sys::install_filter(&self.listening, true) {
            Err(Errno::BUSY | Errno::INVAL) => sys::install_filter(&self.silent, false),
            installed => installed,
        }
    }
}

const RETURN: u16 = 0x06;

fn errno(number: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | number as u32
}

fn acting(line: &sock_filter, action: u32) -> sock_filter {
    let marked = line.code == RETURN && line.k == u32::from(SeccompAction::Trap);
    sock_filter { k: if marked { action } else { line.k }, ..line.clone() }
}

/// Unknown calls do not exist here. Nor does `clone3`, whose flags lie in memory where no filter sees them; every libc falls
/// back to `clone`.
fn prologue() -> [sock_filter; 6] {
    let line = |code, jt, k| sock_filter { code, jt, jf: 0, k };
    const LOAD: u16 = 0x20;
    const AT_LEAST: u16 = 0x35;
    const EQUAL: u16 = 0x15;
    const JUMP: u16 = 0x05;
    [
        line(LOAD, 0, 0),
        line(AT_LEAST, 3, OTHER_NUMBERING),
        line(EQUAL, 2, libc::SYS_clone3 as u32),
        line(AT_LEAST, 1, FIRST_UNKNOWN),
        line(JUMP, 0, 1),
        line(RETURN, 0, errno(libc::ENOSYS)),
    ]
}

fn compiled() -> Option<BpfProgram> {
    let mut rules: Rules = REFUSED.iter().map(|(_, call)| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_connect, Vec::new());
    rules.insert(libc::SYS_socket, sockets()?);
    rules.insert(libc::SYS_socketpair, pairs()?);
    let namespaces = NAMESPACES.map(|flag| u64::from(flag as u32));
    rules.insert(libc::SYS_clone, any_bit(&namespaces)?);
    rules.insert(libc::SYS_unshare, any_bit(&[&namespaces[..], &[NEW_TIME_NAMESPACE]].concat())?);
    let tricks =
        TERMINAL_TRICKS.iter().map(|trick| rule(vec![when(1, SeccompCmpOp::Eq, *trick)])).collect::<Option<_>>()?;
    rules.insert(libc::SYS_ioctl, tricks);
    let arch = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Trap, arch).ok()?.try_into().ok()
}

/// The kernel reads 32 bits of these arguments; what is above them must not matter here either.
fn when(argument: u8, operator: SeccompCmpOp, value: u64) -> Option<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).ok()
}

fn rule(conditions: Vec<Option<SeccompCondition>>) -> Option<SeccompRule> {
    SeccompRule::new(conditions.into_iter().collect::<Option<_>>()?).ok()
}

fn any_bit(bits: &[u64]) -> Option<Vec<SeccompRule>> {
    bits.iter().map(|bit| rule(vec![when(0, SeccompCmpOp::MaskedEq(*bit), *bit)])).collect()
}

/// Only the families that the network namespace encloses. Unix sockets reach the host's services through the file system,
/// vsock reaches the hypervisor, and the rest are seldom used and often broken.
fn sockets() -> Option<Vec<SeccompRule>> {
    let not = |family: i32| when(0, SeccompCmpOp::Ne, family as u64);
    let others = rule(vec![not(libc::AF_INET), not(libc::AF_INET6), not(libc::AF_NETLINK)])?;
    let netlink = when(0, SeccompCmpOp::Eq, libc::AF_NETLINK as u64);
    let not_routes = rule(vec![netlink, when(2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE as u64)])?;
    Some(vec![others, not_routes])
}

/// A pair stays a pair if it is a stream; a datagram socket could be pointed at another address.
fn pairs() -> Option<Vec<SeccompRule>> {
    const KIND: u64 = 0xf;
    let not_unix = rule(vec![when(0, SeccompCmpOp::Ne, libc::AF_UNIX as u64)])?;
    let kinds =
        [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| rule(vec![when(1, SeccompCmpOp::MaskedEq(KIND), kind as u64)]));
    std::iter::once(Some(not_unix)).chain(kinds).collect()
}

/// A second wall behind the mounts: writes only below these paths, no signals and no abstract sockets out of the box.
/// Where the kernel lacks it, or knows less of it, the first walls stand alone.
pub(crate) fn landlock(writable: &[PathBuf]) -> Result<(), landlock::RulesetError> {
    let writes = AccessFs::from_write(ABI::V5);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writes)?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .add_rules(path_beneath_rules(writable, writes))?
        .restrict_self()?;
    let _ = status;
    Ok(())
}

/// Gives up every capability, so that owning the namespaces is worth nothing.
pub(crate) fn drop_capabilities() -> Result<(), Errno> {
    const HIGHEST: i32 = 63;
    for capability in 0..=HIGHEST {
        match sys::drop_from_bounding_set(capability) {
            Ok(()) | Err(Errno::INVAL) => {}
            Err(errno) => return Err(errno),
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    rustix::thread::set_no_new_privs(true)
}
