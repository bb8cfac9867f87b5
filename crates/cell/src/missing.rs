//! Why this machine can offer no box, and one sentence about it for `doctor`.

use std::fmt;
use std::path::Path;

use rustix::io::Errno;

/// What is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// doorward runs as root, whose user id owns the machine's own switches inside any user namespace.
    Root,
    UserNamespaces,
    UserNamespaceLimit,
    AppArmor,
    OldKernel,
    /// Overlays are refused here: an overlay below, a file system without extended attributes, a Landlock domain above.
    Overlay(i32),
    /// A fresh `/proc` is refused, as in most containers.
    InsideContainer,
    Seccomp,
    Mount(i32),
    /// The directory for upper layers can't be used.
    State(i32),
    /// Anything else: where, and the error's number.
    Setup(Stage, i32),
}

/// A step of building the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Fork,
    Unshare,
    Identity,
    Loopback,
    Propagation,
    Attributes,
    Overlay,
    Proc,
    Device,
    Private,
    Root,
    Mask,
    Directory,
    Landlock,
    Capabilities,
    Filter,
    Command,
}

impl Stage {
    pub(crate) const ALL: [Stage; 17] = [
        Stage::Fork,
        Stage::Unshare,
        Stage::Identity,
        Stage::Loopback,
        Stage::Propagation,
        Stage::Attributes,
        Stage::Overlay,
        Stage::Proc,
        Stage::Device,
        Stage::Private,
        Stage::Root,
        Stage::Mask,
        Stage::Directory,
        Stage::Landlock,
        Stage::Capabilities,
        Stage::Filter,
        Stage::Command,
    ];

    pub(crate) fn from_code(code: u8) -> Stage {
        Stage::ALL.get(usize::from(code)).copied().unwrap_or(Stage::Command)
    }
}

impl Missing {
    pub(crate) fn of(stage: Stage, errno: i32) -> Missing {
        let is = |other: Errno| errno == other.raw_os_error();
        if is(Errno::NOSYS) {
            return if stage == Stage::Filter { Missing::Seccomp } else { Missing::OldKernel };
        }
        match stage {
            Stage::Unshare if is(Errno::NOSPC) => Missing::UserNamespaceLimit,
            Stage::Unshare | Stage::Identity if restricted_by_apparmor() => Missing::AppArmor,
            Stage::Propagation if is(Errno::ACCESS) => Missing::AppArmor,
            Stage::Unshare | Stage::Identity => Missing::UserNamespaces,
            Stage::Overlay => Missing::Overlay(errno),
            Stage::Proc if is(Errno::PERM) => Missing::InsideContainer,
            Stage::Filter => Missing::Seccomp,
            Stage::Propagation | Stage::Attributes => Missing::Mount(errno),
            Stage::Fork
            | Stage::Loopback
            | Stage::Proc
            | Stage::Device
            | Stage::Private
            | Stage::Root
            | Stage::Mask
            | Stage::Directory
            | Stage::Landlock
            | Stage::Capabilities
            | Stage::Command => Missing::Setup(stage, errno),
        }
    }

    /// One sentence for `doctor`.
    #[must_use]
    pub fn sentence(self) -> String {
        match self {
            Missing::Root => "the box needs an ordinary user, and doorward runs as root".into(),
            Missing::UserNamespaces => "this machine doesn't let ordinary users make user namespaces".into(),
            Missing::UserNamespaceLimit => {
                "the limit of user namespaces is reached or is zero (user.max_user_namespaces)".into()
            }
            Missing::AppArmor => {
                "AppArmor restricts user namespaces here; a profile for doorward with `userns` would allow them".into()
            }
            Missing::OldKernel => "this kernel is too old: the box needs Linux 5.12".into(),
            Missing::Overlay(errno) => format!("overlays are refused here ({})", Errno::from_raw_os_error(errno)),
            Missing::InsideContainer => "a fresh /proc is refused, as in most containers".into(),
            Missing::Seccomp => "this kernel has no seccomp filters".into(),
            Missing::Mount(errno) => format!("mounts can't be changed here ({})", Errno::from_raw_os_error(errno)),
            Missing::State(errno) => {
                format!("the directory for upper layers can't be used ({})", Errno::from_raw_os_error(errno))
            }
            Missing::Setup(stage, errno) => {
                format!("the box could not be built ({stage:?}: {})", Errno::from_raw_os_error(errno))
            }
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.sentence())
    }
}

impl std::error::Error for Missing {}

fn restricted_by_apparmor() -> bool {
    let switch = Path::new("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
    std::fs::read_to_string(switch).is_ok_and(|value| value.trim() == "1")
}
