//! The file system that the command sees: everything read-only, overlays over the roots, private and masked places.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree,
};

use crate::missing::Stage;
use crate::report::Failure;
use crate::sys::{self, MountAttributes};

/// One tree that the command may write to: an overlay whose upper layer receives every change.
#[derive(Debug, Clone)]
pub(crate) struct Overlay {
    pub(crate) path: PathBuf,
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) upper: PathBuf,
    pub(crate) work: PathBuf,
}

/// A place that is shown empty.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    pub(crate) path: PathBuf,
    pub(crate) directory: bool,
}

/// All that is mounted.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Outer ones first.
    pub(crate) overlays: Vec<Overlay>,
    /// Empty at the start, gone at the end.
    pub(crate) private: Vec<PathBuf>,
    pub(crate) masks: Vec<Mask>,
    pub(crate) cwd: PathBuf,
    pub(crate) private_bytes: u64,
}

/// The devices that are harmless: nothing else of `/dev` is there.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// The switches of the machine in `/proc`. They belong to root, so this is a second wall.
const SWITCHES: [&CStr; 6] =
    [c"/proc/sys", c"/proc/sysrq-trigger", c"/proc/irq", c"/proc/bus", c"/proc/fs", c"/proc/acpi"];
/// What `/proc` tells of the keys of others.
const TELLTALES: [&str; 3] = ["/proc/keys", "/proc/key-users", "/proc/kcore"];

type Built<T> = Result<T, Failure>;

impl Layout {
    /// Builds it in namespaces that are this process's own. Detached mounts come first: a private `/tmp` hides what was in it.
    pub(crate) fn build(&self) -> Built<()> {
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change("/", private).map_err(|errno| Failure(Stage::Propagation, errno))?;
        let devices = self.devices()?;
        let overlays: Vec<OwnedFd> = self.overlays.iter().map(overlay).collect::<Built<_>>()?;
        let proc = filesystem("proc", &[]).map_err(|errno| Failure(Stage::Proc, errno))?;
        let sealed = MountAttributes::READ_ONLY | MountAttributes::NO_SUID | MountAttributes::NO_DEV;
        sys::mount_setattr(CWD_FD, c"/", libc::AT_RECURSIVE, MountAttributes::new(sealed))
            .map_err(|errno| Failure(Stage::Attributes, errno))?;
        place(&proc, Path::new("/proc")).map_err(|errno| Failure(Stage::Proc, errno))?;
        self.dev(devices).map_err(|errno| Failure(Stage::Device, errno))?;
        for path in &self.private {
            self.private(path).map_err(|errno| Failure(Stage::Private, errno))?;
        }
        for (root, mount) in self.overlays.iter().zip(overlays) {
            self.show(&root.path, &mount).map_err(|errno| Failure(Stage::Root, errno))?;
        }
        self.mask().map_err(|errno| Failure(Stage::Mask, errno))?;
        rustix::process::chdir(&self.cwd).map_err(|errno| Failure(Stage::Directory, errno))
    }

    /// Taken before everything loses its devices.
    fn devices(&self) -> Built<Vec<(&'static str, OwnedFd)>> {
        let mut devices = Vec::new();
        for name in DEVICES {
            let taken = open_tree(CWD, Path::new("/dev").join(name), CLONE);
            match taken {
                Ok(mount) => devices.push((name, mount)),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(Failure(Stage::Device, errno)),
            }
        }
        Ok(devices)
    }

    fn dev(&self, devices: Vec<(&'static str, OwnedFd)>) -> Result<(), Errno> {
        place(&filesystem("tmpfs", &[("mode", "0755"), ("size", "64k")])?, Path::new("/dev"))?;
        for (name, mount) in devices {
            let path = Path::new("/dev").join(name);
            make_file(&path)?;
            place(&mount, &path)?;
        }
        for (name, to) in
            [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"), ("ptmx", "pts/ptmx")]
        {
            rustix::fs::symlink(to, Path::new("/dev").join(name))?;
        }
        for name in ["/dev/pts", "/dev/shm", "/dev/.masked"] {
            rustix::fs::mkdir(name, Mode::from_raw_mode(0o755))?;
        }
        make_file(Path::new("/dev/.masked/file"))?;
        rustix::fs::mkdir("/dev/.masked/directory", Mode::from_raw_mode(0o555))?;
        let terminals = filesystem("devpts", &[("ptmxmode", "0666"), ("mode", "0620")]);
        if let Ok(terminals) = terminals {
            place(&terminals, Path::new("/dev/pts"))?;
        }
        self.private(Path::new("/dev/shm"))?;
        sys::mount_setattr(CWD_FD, c"/dev", 0, MountAttributes::new(MountAttributes::READ_ONLY))
    }

    fn private(&self, path: &Path) -> Result<(), Errno> {
        let bytes = self.private_bytes.to_string();
        place(&filesystem("tmpfs", &[("mode", "1777"), ("size", &bytes), ("nr_inodes", "200000")])?, path)
    }

    /// A root below a private place has lost the directory it is mounted on.
    fn show(&self, path: &Path, mount: &OwnedFd) -> Result<(), Errno> {
        if self.private.iter().any(|private| path.starts_with(private)) {
            let mut made = PathBuf::new();
            for part in path.components() {
                made.push(part);
                match rustix::fs::mkdir(&made, Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(Errno::EXIST | Errno::ROFS | Errno::ACCESS) => {}
                    Err(errno) => return Err(errno),
                }
            }
        }
        place(mount, path)
    }

    fn mask(&self) -> Result<(), Errno> {
        for switch in SWITCHES {
            read_only(switch)?;
        }
        for path in TELLTALES {
            cover(&Mask { path: path.into(), directory: false })?;
        }
        for mask in &self.masks {
            cover(mask)?;
        }
        Ok(())
    }
}

const CWD_FD: i32 = libc::AT_FDCWD;
const CLONE: OpenTreeFlags =
    OpenTreeFlags::OPEN_TREE_CLONE.union(OpenTreeFlags::OPEN_TREE_CLOEXEC).union(OpenTreeFlags::AT_SYMLINK_NOFOLLOW);

fn filesystem(kind: &str, options: &[(&str, &str)]) -> Result<OwnedFd, Errno> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(context.as_fd(), *name, *value)?;
    }
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let attributes = if kind == "proc" { attributes | MountAttrFlags::MOUNT_ATTR_NOEXEC } else { attributes };
    // The devices of devpts are the box's own terminals, so `nodev` would only break them.
    let attributes = if kind == "devpts" { MountAttrFlags::MOUNT_ATTR_NOSUID } else { attributes };
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// The directories are named by open files: their names may hold colons, commas and bytes of any kind.
fn overlay(overlay: &Overlay) -> Built<OwnedFd> {
    let mount = || -> Result<OwnedFd, Errno> {
        let lower = directory(&overlay.path)?;
        let found = rustix::fs::fstat(&lower)?;
        if (found.st_dev, found.st_ino) != (overlay.dev, overlay.ino) {
            return Err(Errno::STALE);
        }
        let (upper, work) = (directory(&overlay.upper)?, directory(&overlay.work)?);
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (name, fd) in [("lowerdir", &lower), ("upperdir", &upper), ("workdir", &work)] {
            fsconfig_set_string(context.as_fd(), name, format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
        }
        fsconfig_set_flag(context.as_fd(), "userxattr")?;
        // What is above is read once and thrown away: the commit does its own syncing.
        fsconfig_set_flag(context.as_fd(), "volatile")?;
        fsconfig_set_string(context.as_fd(), "index", "off")?;
        fsconfig_create(context.as_fd())?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    };
    mount().map_err(|errno| Failure(Stage::Overlay, errno))
}

fn directory(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn place(mount: &OwnedFd, on: &Path) -> Result<(), Errno> {
    move_mount(mount.as_fd(), "", CWD, on, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

fn make_file(path: &Path) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::from_raw_mode(0o444)).map(drop)
}

fn read_only(path: &CStr) -> Result<(), Errno> {
    let copy = match open_tree(CWD, path, CLONE) {
        Ok(copy) => copy,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    seal(&copy)?;
    place(&copy, Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())))
}

fn seal(mount: &OwnedFd) -> Result<(), Errno> {
    let bits =
        MountAttributes::READ_ONLY | MountAttributes::NO_SUID | MountAttributes::NO_DEV | MountAttributes::NO_EXEC;
    sys::mount_setattr(mount.as_raw_fd(), c"", libc::AT_EMPTY_PATH, MountAttributes::new(bits))
}

/// What isn't there, or can't be reached by this user, needs no mask.
fn cover(mask: &Mask) -> Result<(), Errno> {
    let empty = if mask.directory { "/dev/.masked/directory" } else { "/dev/.masked/file" };
    let copy = open_tree(CWD, empty, CLONE)?;
    seal(&copy)?;
    match place(&copy, &mask.path) {
        Ok(()) | Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => Ok(()),
        Err(errno) => Err(errno),
    }
}
