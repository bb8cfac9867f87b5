//! Digests of what files contain.

use std::fmt;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    pub(crate) fn of(file: &OwnedFd) -> Result<Digest, Errno> {
        let mut sum = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match rustix::io::read(file, &mut buffer) {
                Ok(0) => return Ok(Digest(sum.finalize().into())),
                Ok(read) => sum.update(buffer.get(..read).unwrap_or_default()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(to, "{byte:02x}"))
    }
}
