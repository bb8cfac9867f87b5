//! What one file was: the identity by which a later change is seen.

use rustix::fs::{FileType, Stat};

/// What sort of entry it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    File,
    Directory,
    Symlink,
    Fifo,
    Socket,
    Device,
}

/// An entry as it was found, without following links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub kind: Kind,
    pub dev: u64,
    pub ino: u64,
    /// Permission bits with setuid, setgid and sticky.
    pub mode: u32,
    pub size: u64,
    pub links: u64,
    pub modified: (i64, i64),
    pub changed: (i64, i64),
}

impl Kind {
    pub(crate) const ALL: [Kind; 6] =
        [Kind::File, Kind::Directory, Kind::Symlink, Kind::Fifo, Kind::Socket, Kind::Device];
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Stamp {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Symlink,
            FileType::Fifo => Kind::Fifo,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Device,
        };
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_cast,
            reason = "the types differ between architectures"
        )]
        Stamp {
            kind,
            dev: stat.st_dev,
            ino: stat.st_ino,
            mode: stat.st_mode & 0o7777,
            size: stat.st_size as u64,
            links: u64::from(stat.st_nlink),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Whether it is the same entry, whatever it contains now.
    pub(crate) fn same_entry(&self, other: &Stamp) -> bool {
        (self.kind, self.dev, self.ino) == (other.kind, other.dev, other.ino)
    }
}
