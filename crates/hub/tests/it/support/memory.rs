//! A log in memory: a load test wants a million records and not a million syncs of the disk it runs on.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use doorward_ledger::{Blob, Storage};

type Bytes = Arc<Mutex<Vec<u8>>>;

#[derive(Default)]
pub(crate) struct Memory(Mutex<BTreeMap<String, Bytes>>);

pub(crate) struct Held(Bytes);

impl Storage for Memory {
    type File = Held;
    type Guard<'a> = ();

    fn lock(&self) -> io::Result<()> {
        Ok(())
    }
    fn open(&self, name: &str) -> io::Result<Held> {
        let files = self.0.lock().unwrap();
        files.get(name).map(|bytes| Held(Arc::clone(bytes))).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
    fn view(&self, name: &str) -> io::Result<Held> {
        self.open(name)
    }
    fn create(&self, name: &str) -> io::Result<Held> {
        let bytes = Bytes::default();
        self.0.lock().unwrap().insert(name.to_owned(), Arc::clone(&bytes));
        Ok(Held(bytes))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.0.lock().unwrap();
        let bytes = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), bytes);
        Ok(())
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.lock().unwrap().remove(name);
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().unwrap().keys().cloned().collect())
    }
    fn place(&self) -> PathBuf {
        "memory".into()
    }
}

impl Blob for Held {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().len() as u64)
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.0.lock().unwrap();
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
    fn write_at(&self, new: &[u8], offset: u64) -> io::Result<usize> {
        let mut bytes = self.0.lock().unwrap();
        let end = offset as usize + new.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[offset as usize..end].copy_from_slice(new);
        Ok(new.len())
    }
    fn reserve(&self, _from: u64, size: u64) -> io::Result<()> {
        let mut bytes = self.0.lock().unwrap();
        if bytes.len() < size as usize {
            bytes.resize(size as usize, 0);
        }
        Ok(())
    }
    fn truncate(&self, size: u64) -> io::Result<()> {
        self.0.lock().unwrap().truncate(size as usize);
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
