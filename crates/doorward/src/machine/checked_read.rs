//! Reads files that rules depend on: they must belong to the user, be writable only by the user, and not be links.

use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// More than any configuration needs.
// A huge file in a trusted place would otherwise cost every call its time and memory.
const LIMIT: u64 = 1 << 20;

/// The text of a file that only the user controls; `None` if there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, String> {
    let shown = path.display();
    let before = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("`{shown}` can't be inspected: {error}")),
    };
    check(&before, "file").map_err(|problem| format!("`{shown}` {problem}"))?;
    // Whoever can write to the directory can replace the file, so its permissions count as much as the file's.
    if let Some(directory) = path.parent() {
        let metadata = std::fs::metadata(directory)
            .map_err(|error| format!("`{}` can't be inspected: {error}", directory.display()))?;
        check_owner(&metadata).map_err(|problem| format!("`{}` {problem}", directory.display()))?;
    }
    let mut file = open(path).map_err(|error| format!("`{shown}` can't be opened: {error}"))?;
    let opened = file.metadata().map_err(|error| format!("`{shown}` can't be inspected: {error}"))?;
    // The check was made on a name. Between it and the open, someone could have put another file there.
    if (opened.dev(), opened.ino()) != (before.dev(), before.ino()) {
        return Err(format!("`{shown}` was replaced while being opened"));
    }
    let mut text = String::new();
    file.by_ref()
        .take(LIMIT + 1)
        .read_to_string(&mut text)
        .map_err(|error| format!("`{shown}` can't be read: {error}"))?;
    if text.len() as u64 > LIMIT {
        return Err(format!("`{shown}` is longer than {LIMIT} bytes: shorten it"));
    }
    Ok(Some(text))
}

/// Opens for reading without ever blocking on a pipe or following a link.
pub(crate) fn open(path: &Path) -> std::io::Result<File> {
    // A pipe without a writer would block the open, and with it the answer, until the client gives up and runs the
    // call.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    std::fs::OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// The text of a regular file up to a limit, whoever owns it; `None` if it is longer or not UTF-8.
pub(crate) fn start_of(path: impl AsRef<Path>, limit: u64) -> Option<String> {
    let bytes = bytes_of(path.as_ref(), limit)?;
    String::from_utf8(bytes).ok()
}

/// The bytes of a regular file, following links; `None` if it is not one, can't be read or is longer than the limit.
pub(crate) fn bytes_of(path: &Path, limit: u64) -> Option<Vec<u8>> {
    // Merely opening some devices has effects, so check the type first.
    let before = std::fs::metadata(path).ok().filter(|found| found.is_file() && found.len() <= limit)?;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if (metadata.dev(), metadata.ino()) != (before.dev(), before.ino()) || metadata.len() > limit {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
    file.take(limit + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= limit).then_some(bytes)
}

/// The last complete lines of one of the user's regular files, up to a number of bytes.
pub(crate) fn end_of(path: &str, limit: u64) -> Option<String> {
    use std::io::{Seek, SeekFrom};
    check(&std::fs::symlink_metadata(path).ok()?, "file").ok()?;
    let mut file = open(Path::new(path)).ok()?;
    let metadata = file.metadata().ok()?;
    check(&metadata, "file").ok()?;
    let from = metadata.len().saturating_sub(limit);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).ok()?;
    // The cut may split a character; that line is dropped below.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if from == 0 { Some(text) } else { text.split_once('\n').map(|(_, lines)| lines.to_owned()) }
}

/// The text of a file the kernel generates as it is read, which has no length.
pub(crate) fn text_of_pipe(path: &str, limit: u64) -> Option<String> {
    let mut text = String::with_capacity(8 << 10);
    File::open(path).ok()?.take(limit).read_to_string(&mut text).ok()?;
    Some(text)
}

fn check(metadata: &Metadata, kind: &str) -> Result<(), String> {
    if !metadata.is_file() {
        return Err(format!("is not a plain {kind}: put the {kind} itself there, not a link or a directory"));
    }
    check_owner(metadata)
}

fn check_owner(metadata: &Metadata) -> Result<(), String> {
    let me = rustix::process::geteuid().as_raw();
    // Root's files are fine: root can change the user's files anyway.
    if metadata.uid() != me && metadata.uid() != 0 {
        return Err("belongs to another user: take ownership with `chown`, or remove it".into());
    }
    if metadata.mode() & 0o022 != 0 {
        return Err("can be changed by others: remove write permission for group and others".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_is_no_plain_file_is_not_even_opened() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let directory = tempfile::tempdir().unwrap();
        let (fifo, link) = (directory.path().join("pipe"), directory.path().join("link"));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        symlink(&fifo, &link).unwrap();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // A pipe can be opened for writing only while it is open for reading.
            let opened = scope.spawn(|| {
                let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
                let mut opened = 0;
                while !is_done.load(Ordering::Relaxed) {
                    opened += usize::from(rustix::fs::open(&fifo, flags, rustix::fs::Mode::empty()).is_ok());
                }
                opened
            });
            for _ in 0..500 {
                assert_eq!(bytes_of(&fifo, 100), None);
                assert_eq!(bytes_of(&link, 100), None);
                assert_eq!(end_of(fifo.to_str().unwrap(), 100), None);
            }
            is_done.store(true, Ordering::Relaxed);
            assert_eq!(opened.join().unwrap(), 0);
        });
    }

    #[test]
    fn only_a_plain_file_of_the_user_is_trusted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        assert_eq!(read(&path), Ok(None));
        std::fs::write(&path, "strict = true").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("strict = true"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o622)).unwrap();
        assert!(read(&path).unwrap_err().contains("changed by others"));
        let link = directory.path().join("link.toml");
        symlink(&path, &link).unwrap();
        assert!(read(&link).unwrap_err().contains("not a plain file"));
    }
}
