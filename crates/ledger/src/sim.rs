//! A disk in memory that forgets: what was not synced is lost, in whole or in part, whenever the power goes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use crate::storage::{Blob, Storage};

/// What goes wrong, and at which operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Nothing.
    Calm,
    /// The process dies at this operation; half of a write may be done.
    DieAt(u64),
    /// This operation fails.
    FailAt(u64, Failure),
    /// This operation and all later ones that can fail so do.
    FailFrom(u64, Failure),
}

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// With an error number; a write has done nothing.
    Errno(i32),
    /// A write does half and says so; anything else works.
    Short,
    /// A write does half, then fails.
    HalfThen(i32),
}

/// How much of what was not synced survives a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Survives {
    Nothing,
    Everything,
    /// Any sectors of any writes, any names.
    Some,
}

#[derive(Debug, Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Cut(usize),
}

#[derive(Debug, Clone, Default)]
struct Inode {
    live: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Naming {
    Add(String, usize),
    Remove(String),
    Rename(String, String, usize),
}

#[derive(Debug)]
struct State {
    inodes: Vec<Inode>,
    live: BTreeMap<String, usize>,
    durable: BTreeMap<String, usize>,
    pending: Vec<Naming>,
    plan: Plan,
    count: u64,
    dead: bool,
    rng: fastrand::Rng,
}

/// The disk; clones share it, as processes do.
#[derive(Debug, Clone)]
pub(crate) struct Sim(Rc<RefCell<State>>);

#[derive(Debug)]
pub(crate) struct SimFile(Sim, usize);

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(offset, data) => {
            if bytes.len() < offset + data.len() {
                bytes.resize(offset + data.len(), 0);
            }
            bytes[*offset..offset + data.len()].copy_from_slice(data);
        }
        Change::Cut(length) => bytes.resize(*length, 0),
    }
}

fn rename_in(names: &mut BTreeMap<String, usize>, naming: &Naming) {
    match naming {
        Naming::Add(name, inode) => {
            names.insert(name.clone(), *inode);
        }
        Naming::Remove(name) => {
            names.remove(name);
        }
        Naming::Rename(from, to, inode) => {
            names.remove(from);
            names.insert(to.clone(), *inode);
        }
    }
}

impl Sim {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rc::new(RefCell::new(State {
            inodes: Vec::new(),
            live: BTreeMap::new(),
            durable: BTreeMap::new(),
            pending: Vec::new(),
            plan: Plan::Calm,
            count: 0,
            dead: false,
            rng: fastrand::Rng::with_seed(seed),
        })))
    }

    /// A new process: operations are counted from one.
    pub(crate) fn restart(&self, plan: Plan) {
        let mut state = self.0.borrow_mut();
        (state.plan, state.count, state.dead) = (plan, 0, false);
    }

    /// All files as they are.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.0.borrow();
        let content = |inode: &usize| state.inodes[*inode].live.clone();
        state.live.iter().map(|(name, inode)| (name.clone(), content(inode))).collect()
    }

    /// A disk with these files.
    pub(crate) fn with_files(files: &BTreeMap<String, Vec<u8>>) -> Self {
        let sim = Self::new(0);
        for (name, bytes) in files {
            let file = sim.create(name).unwrap();
            file.change(Change::Write(0, bytes.clone()));
        }
        sim
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.borrow().count
    }

    /// The power goes; what was not synced survives as said.
    pub(crate) fn power_cut(&self, survives: Survives) {
        let state = &mut *self.0.borrow_mut();
        let State { inodes, live, durable, pending, rng, .. } = state;
        let mut keeps = |_: &str| match survives {
            Survives::Nothing => false,
            Survives::Everything => true,
            Survives::Some => rng.bool(),
        };
        for naming in pending.drain(..) {
            if keeps("name") {
                rename_in(durable, &naming);
            }
        }
        for inode in inodes.iter_mut() {
            for change in inode.pending.drain(..) {
                for part in parts(change, survives) {
                    if keeps("part") {
                        apply(&mut inode.durable, &part);
                    }
                }
            }
            inode.live.clone_from(&inode.durable);
        }
        live.clone_from(durable);
    }

    /// Counts an operation and says how it ends.
    fn step(&self) -> Result<Option<Failure>, io::Error> {
        let mut state = self.0.borrow_mut();
        if state.dead {
            return Err(io::Error::other("dead"));
        }
        state.count += 1;
        let count = state.count;
        match state.plan {
            Plan::DieAt(at) if at == count => {
                state.dead = true;
                Ok(Some(Failure::HalfThen(5)))
            }
            Plan::FailAt(at, failure) if at == count => Ok(Some(failure)),
            Plan::FailFrom(at, failure) if at <= count => Ok(Some(failure)),
            Plan::Calm | Plan::DieAt(_) | Plan::FailAt(..) | Plan::FailFrom(..) => Ok(None),
        }
    }

    /// An operation that is done or not.
    fn whole(&self) -> io::Result<()> {
        match self.step()? {
            None | Some(Failure::Short) => Ok(()),
            Some(Failure::Errno(code) | Failure::HalfThen(code)) => Err(io::Error::from_raw_os_error(code)),
        }
    }

    fn find(&self, name: &str) -> io::Result<SimFile> {
        self.whole()?;
        let inode = self.0.borrow().live.get(name).copied();
        inode.map(|inode| SimFile(self.clone(), inode)).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn name(&self, naming: Naming) {
        let state = &mut *self.0.borrow_mut();
        rename_in(&mut state.live, &naming);
        state.pending.push(naming);
    }
}

/// A write may reach the disk sector by sector.
fn parts(change: Change, survives: Survives) -> Vec<Change> {
    match (change, survives) {
        (Change::Write(offset, data), Survives::Some) => {
            let first = 512 - offset % 512;
            let cut = first.min(data.len());
            let mut out = vec![Change::Write(offset, data[..cut].to_vec())];
            for (number, sector) in data[cut..].chunks(512).enumerate() {
                out.push(Change::Write(offset + cut + number * 512, sector.to_vec()));
            }
            out
        }
        (change, Survives::Nothing | Survives::Everything | Survives::Some) => vec![change],
    }
}

impl Storage for Sim {
    type File = SimFile;
    type Guard<'a> = ();

    fn lock(&self) -> io::Result<()> {
        self.whole()
    }

    fn open(&self, name: &str) -> io::Result<SimFile> {
        self.find(name)
    }

    fn view(&self, name: &str) -> io::Result<SimFile> {
        self.find(name)
    }

    fn create(&self, name: &str) -> io::Result<SimFile> {
        self.whole()?;
        if self.0.borrow().live.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = self.0.borrow().inodes.len();
        self.0.borrow_mut().inodes.push(Inode::default());
        self.name(Naming::Add(name.to_owned(), inode));
        Ok(SimFile(self.clone(), inode))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.whole()?;
        let inode = self.0.borrow().live.get(from).copied();
        let inode = inode.ok_or(io::ErrorKind::NotFound)?;
        self.name(Naming::Rename(from.to_owned(), to.to_owned(), inode));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.whole()?;
        self.name(Naming::Remove(name.to_owned()));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.whole()?;
        let state = &mut *self.0.borrow_mut();
        for naming in state.pending.drain(..) {
            rename_in(&mut state.durable, &naming);
        }
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.whole()?;
        Ok(self.0.borrow().live.keys().cloned().collect())
    }

    fn place(&self) -> PathBuf {
        PathBuf::from("sim")
    }
}

impl SimFile {
    fn change(&self, change: Change) {
        let inode = &mut self.0.0.borrow_mut().inodes[self.1];
        apply(&mut inode.live, &change);
        inode.pending.push(change);
    }
}

impl Blob for SimFile {
    fn size(&self) -> io::Result<u64> {
        self.0.whole()?;
        Ok(self.0.0.borrow().inodes[self.1].live.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.whole()?;
        let state = self.0.0.borrow();
        let live = &state.inodes[self.1].live;
        let start = (offset as usize).min(live.len());
        let count = buffer.len().min(live.len() - start);
        buffer[..count].copy_from_slice(&live[start..start + count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let failure = self.0.step()?;
        let half = bytes.len().div_ceil(2);
        let (count, result) = match failure {
            None => (bytes.len(), Ok(bytes.len())),
            Some(Failure::Short) => (half, Ok(half)),
            Some(Failure::Errno(code)) => (0, Err(io::Error::from_raw_os_error(code))),
            Some(Failure::HalfThen(code)) => {
                let cut = self.0.0.borrow_mut().rng.usize(..=bytes.len());
                (cut, Err(io::Error::from_raw_os_error(code)))
            }
        };
        if count > 0 {
            self.change(Change::Write(offset as usize, bytes[..count].to_vec()));
        }
        result
    }

    fn reserve(&self, _from: u64, size: u64) -> io::Result<()> {
        self.0.whole()?;
        let live = self.0.0.borrow().inodes[self.1].live.len();
        self.change(Change::Cut(live.max(size as usize)));
        Ok(())
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.0.whole()?;
        self.change(Change::Cut(size as usize));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let result = self.0.whole();
        let state = &mut *self.0.0.borrow_mut();
        if state.dead {
            return result;
        }
        let inode = &mut state.inodes[self.1];
        // A failed sync may drop what it could not write and never try again.
        for change in inode.pending.drain(..) {
            if result.is_ok() {
                apply(&mut inode.durable, &change);
            }
        }
        result
    }
}
