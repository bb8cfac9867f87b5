//! How the manifest and the journal are written: lengths and numbers, a check sum at the end, renamed into place.

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::stamp::{Kind, Stamp};

#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl Writer {
    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn path(&mut self, path: &Path) {
        self.bytes(path.as_os_str().as_bytes());
    }

    pub(crate) fn time(&mut self, (seconds, nanos): (i64, i64)) {
        self.number(seconds as u64);
        self.number(nanos as u64);
    }

    pub(crate) fn stamp(&mut self, stamp: Option<&Stamp>) {
        self.number(u64::from(stamp.is_some()));
        let Some(stamp) = stamp else { return };
        let kind = Kind::ALL.iter().position(|kind| *kind == stamp.kind).unwrap_or_default();
        for number in [kind as u64, stamp.dev, stamp.ino, u64::from(stamp.mode), stamp.size, stamp.links] {
            self.number(number);
        }
        self.time(stamp.modified);
        self.time(stamp.changed);
    }

    pub(crate) fn digest(&mut self, digest: Option<&Digest>) {
        self.bytes(digest.map_or(&[], |digest| &digest.0));
    }

    /// Durable under its name, or not there.
    pub(crate) fn save(mut self, directory: &Path, name: &str) -> std::io::Result<()> {
        let sum = crc32fast::hash(&self.0);
        self.0.extend_from_slice(&sum.to_le_bytes());
        let unfinished = directory.join(format!("{name}.new"));
        let mut file = std::fs::File::create(&unfinished)?;
        file.write_all(&self.0)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, directory.join(name))?;
        let directory = std::fs::File::open(directory)?;
        Ok(rustix::fs::fsync(directory.as_fd())?)
    }
}

impl<'a> Reader<'a> {
    /// `None` for a file that is not whole.
    pub(crate) fn checked(bytes: &'a [u8]) -> Option<Reader<'a>> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        (crc32fast::hash(body) == u32::from_le_bytes(*sum)).then_some(Reader(body))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn path(&mut self) -> Option<PathBuf> {
        Some(PathBuf::from(OsString::from_vec(self.bytes()?.to_vec())))
    }

    pub(crate) fn time(&mut self) -> Option<(i64, i64)> {
        Some((self.number()? as i64, self.number()? as i64))
    }

    /// The outer `None` is a file that can't be read, the inner one an entry that was not there.
    #[allow(clippy::option_option, reason = "the two absences mean different things")]
    pub(crate) fn stamp(&mut self) -> Option<Option<Stamp>> {
        if self.number()? == 0 {
            return Some(None);
        }
        let kind = *Kind::ALL.get(usize::try_from(self.number()?).ok()?)?;
        let (dev, ino, mode) = (self.number()?, self.number()?, u32::try_from(self.number()?).ok()?);
        let (size, links) = (self.number()?, self.number()?);
        Some(Some(Stamp { kind, dev, ino, mode, size, links, modified: self.time()?, changed: self.time()? }))
    }

    #[allow(clippy::option_option, reason = "the two absences mean different things")]
    pub(crate) fn digest(&mut self) -> Option<Option<Digest>> {
        let bytes = self.bytes()?;
        if bytes.is_empty() {
            return Some(None);
        }
        Some(Some(Digest(bytes.try_into().ok()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let stamp = Stamp {
            kind: Kind::Symlink,
            dev: 1,
            ino: u64::MAX,
            mode: 0o7777,
            size: 3,
            links: 2,
            modified: (-1, 999_999_999),
            changed: (i64::MAX, 0),
        };
        let mut to = Writer::default();
        to.path(Path::new("a\u{fc} b"));
        to.stamp(Some(&stamp));
        to.stamp(None);
        to.digest(Some(&Digest([7; 32])));
        to.digest(None);
        to.save(directory.path(), "file").unwrap();
        let bytes = std::fs::read(directory.path().join("file")).unwrap();
        let read = |bytes: &[u8]| {
            let mut from = Reader::checked(bytes)?;
            let all = (from.path()?, from.stamp()?, from.stamp()?, from.digest()?, from.digest()?);
            from.is_empty().then_some(all)
        };
        assert_eq!(read(&bytes), Some(("a\u{fc} b".into(), Some(stamp), None, Some(Digest([7; 32])), None)));
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), None, "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 0x20;
            assert_eq!(read(&broken), None, "changed at {at}");
        }
    }
}
