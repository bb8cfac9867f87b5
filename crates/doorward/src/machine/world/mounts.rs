//! Network and FUSE mounts: accessing them may hang, so only those in use anyway are accessed.

use std::path::{Path, PathBuf};

/// File system types served by another machine or program.
// A stat on a dead server blocks in the kernel, beyond the reach of any deadline of ours.
const ELSEWHERE: &[&str] =
    &["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "autofs", "glusterfs", "davfs"];

/// The mounts that are not accessed.
pub(crate) fn distant(mounts: &str, in_use: &[&str]) -> Vec<PathBuf> {
    let found = mounts.lines().filter_map(mount).filter(|(_, kind)| is_elsewhere(kind)).map(|(point, _)| point);
    found.filter(|point| !in_use.iter().any(|path| Path::new(path).starts_with(point))).collect()
}

fn is_elsewhere(kind: &str) -> bool {
    ELSEWHERE.contains(&kind) || kind == "fuse" || kind.starts_with("fuse.")
}

/// The mount point and type in one line of `/proc/self/mountinfo`.
fn mount(line: &str) -> Option<(PathBuf, &str)> {
    let (before, after) = line.split_once(" - ")?;
    let point = before.split(' ').nth(4)?;
    Some((PathBuf::from(unescaped(point)), after.split(' ').next()?))
}

/// Spaces and the like are written as three octal digits.
fn unescaped(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_foreign_mounts_that_nobody_works_on_are_left_alone() {
        let mounts = "22 1 0:20 / / rw - ext4 /dev/vda rw\n\
                      23 22 0:21 / /mnt/c rw - 9p C: rw\n\
                      24 22 0:22 / /mnt/my\\040share rw shared:1 - fuse.sshfs h:/ rw\n\
                      25 22 0:23 / /net rw - nfs4 h:/ rw\n\
                      26 22 0:24 / /mnt/usb rw - fuseblk /dev/sdb rw\n";
        let points = |in_use: &[&str]| {
            let found = distant(mounts, in_use);
            found.iter().map(|point| point.to_str().unwrap().to_owned()).collect::<Vec<String>>()
        };
        assert_eq!(points(&["/home/me"]), ["/mnt/c", "/mnt/my share", "/net"]);
        assert_eq!(points(&["/home/me", "/mnt/c/work"]), ["/mnt/my share", "/net"]);
        assert!(distant("garbage\n", &[]).is_empty());
    }
}
