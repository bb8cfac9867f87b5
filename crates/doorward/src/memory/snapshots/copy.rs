//! Copies the content of one file: as a reflink where the file system can, and with its holes.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use rustix::fs::Stat;
use rustix::io::Errno;

/// Copies everything in `from` to the empty file `to`.
pub(super) fn copy(from: &mut File, to: &mut File, stat: &Stat) -> io::Result<()> {
    if shares(from, to) {
        return Ok(());
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    if is_sparse(stat) {
        return copy_parts(from, to, size);
    }
    from.seek(SeekFrom::Start(0))?;
    io::copy(from, to).map(|_copied| ())
}

/// The file takes less space than its length says.
pub(super) fn is_sparse(stat: &Stat) -> bool {
    i128::from(stat.st_blocks) * 512 < i128::from(stat.st_size)
}

#[cfg(target_os = "linux")]
fn shares(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn shares(_from: &File, _to: &File) -> bool {
    false
}

/// Copies the data between the holes.
fn copy_parts(from: &mut File, to: &mut File, size: u64) -> io::Result<()> {
    let mut at = 0;
    while at < size {
        let start = match rustix::fs::seek(&*from, rustix::fs::SeekFrom::Data(at)) {
            Ok(start) => start,
            // Nothing but a hole is left.
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(&*from, rustix::fs::SeekFrom::Hole(start))?;
        from.seek(SeekFrom::Start(start))?;
        to.seek(SeekFrom::Start(start))?;
        let copied = io::copy(&mut io::Read::take(&mut *from, end - start), to)?;
        if copied < end - start {
            break;
        }
        at = end;
    }
    to.set_len(size)
}
