//! A disk that never syncs, only to fill a log quickly.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use doorward_ledger::{Blob, Disk, DiskGuard, Storage};

pub(crate) struct Hasty(pub Disk);
pub(crate) struct HastyFile(File);

impl Storage for Hasty {
    type File = HastyFile;
    type Guard<'a> = DiskGuard<'a>;

    fn lock(&self) -> io::Result<DiskGuard<'_>> {
        self.0.lock()
    }
    fn open(&self, name: &str) -> io::Result<HastyFile> {
        self.0.open(name).map(HastyFile)
    }
    fn view(&self, name: &str) -> io::Result<HastyFile> {
        self.0.view(name).map(HastyFile)
    }
    fn create(&self, name: &str) -> io::Result<HastyFile> {
        self.0.create(name).map(HastyFile)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }
    fn place(&self) -> PathBuf {
        self.0.place()
    }
}

impl Blob for HastyFile {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Blob::read_at(&self.0, buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        Blob::write_at(&self.0, bytes, offset)
    }
    fn reserve(&self, from: u64, size: u64) -> io::Result<()> {
        self.0.reserve(from, size)
    }
    fn truncate(&self, size: u64) -> io::Result<()> {
        self.0.truncate(size)
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
