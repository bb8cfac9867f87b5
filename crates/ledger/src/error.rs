//! Why the log could not be written or read; every one of these means that nothing was acknowledged.

use std::io;
use std::path::PathBuf;

use crate::frame::MAX_BODY;

/// Why there is no record. The caller must not approve.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// There is no log here, and none is begun silently.
    #[error("there is no log in `{}`", dir.display())]
    Missing {
        /// Where it was looked for.
        dir: PathBuf,
    },
    /// Somebody else could change the log.
    #[error("the log directory `{}` is not safe: {why}", dir.display())]
    Unsafe {
        /// The directory.
        dir: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Another process holds the log for too long.
    #[error("another process has locked the log for too long: try again, or stop that process")]
    Busy,
    /// The operating system refused.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds nothing this build can continue.
    #[error("the log is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// A later version wrote the last entry.
    #[error("the log has format {format}, which needs a newer doorward")]
    Newer {
        /// The format found.
        format: u8,
    },
    /// The body cannot be written.
    #[error("a record must be JSON of 1 to {MAX_BODY} bytes")]
    Body,
}

impl LogError {
    /// Whether room on the disk would help.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull)
    }
}

/// Names what was being done when the system refused.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, LogError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, LogError> {
        self.map_err(|source| LogError::Io { doing, source })
    }
}
