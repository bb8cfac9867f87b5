//! Writes files atomically.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result};

/// The text of a file; empty if there is none.
pub(crate) fn text(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("can't read `{}`", path.display())),
    }
}

/// Replaces a file atomically, keeping its permissions; follows a link so that it stays one.
pub(crate) fn replace(path: &Path, text: &str) -> Result<()> {
    let failed = || format!("can't write `{}`", path.display());
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = target.parent().with_context(failed)?;
    DirBuilder::new().recursive(true).mode(0o700).create(directory).with_context(failed)?;
    let mode = target.metadata().map_or(0o600, |found| found.permissions().mode() & 0o777);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // In the same directory, because a rename is atomic only within one file system.
    let temporary = directory.join(format!(".{name}.{}", std::process::id()));
    // Private from the first byte on: setting permissions afterwards would leave a moment in which others can read
    // it.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary).with_context(failed)?;
    let written = file
        .set_permissions(PermissionsExt::from_mode(mode))
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temporary, &target))
        // The new name is durable only once the directory is.
        .and_then(|()| File::open(directory)?.sync_all());
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written.with_context(failed)
}

/// Removes a file if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("can't remove `{}`", path.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
