//! The object stores of a repository: its own directory, its alternates, and the packs in all of them.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::budget::Budget;
use super::inflate::Inflater;
use super::pack::Pack;
use super::{HashFormat, Id, ObjectKind, Unread, hashed, listed, loose};

/// How deep git itself follows alternates.
const BORROWED: usize = 5;

/// Maximum number of object directories.
// Alternates can fan out as well as nest.
const DIRECTORIES: usize = 32;

/// Maximum number of packs: each may stay open.
// A process may have 1024 open files by default, and a repository that was never packed has hundreds of packs.
const PACKS: usize = 400;

/// Bytes of a list of further directories.
const LIST: u64 = 64 << 10;

/// A complete object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub kind: ObjectKind,
    pub bytes: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct ObjectStore {
    directory: PathBuf,
    format: HashFormat,
    found: OnceCell<Result<ObjectFiles, Unread>>,
    /// The pack that had the last object: most likely it has the next.
    last: Cell<usize>,
    inflater: RefCell<Inflater>,
}

#[derive(Debug, Default)]
struct ObjectFiles {
    directories: Vec<PathBuf>,
    packs: Vec<Pack>,
    /// Some pack has no index of its own, so not every id is visible.
    is_partial: bool,
    /// Objects may be missing, for git to fetch on demand.
    is_promised: bool,
}

impl ObjectStore {
    pub(super) fn new(common: &Path, format: HashFormat) -> ObjectStore {
        ObjectStore {
            directory: common.join("objects"),
            format,
            found: OnceCell::new(),
            last: Cell::new(0),
            inflater: RefCell::new(Inflater::new()),
        }
    }

    /// Reads an object and verifies its id.
    pub(super) fn read(&self, id: &Id, limit: u64, budget: &Budget) -> Result<Rc<Object>, Unread> {
        budget.spend_object()?;
        let object = match self.packed(id, limit, budget)? {
            Some(object) => object,
            None => self.loose(id, limit, budget)?,
        };
        if hashed(self.format, object.kind, &object.bytes) == *id { Ok(object) } else { Err(Unread::Corrupt) }
    }

    /// The only object whose id starts with these digits; `None` if there is none.
    pub(super) fn beginning_with(&self, digits: &str) -> Result<Option<Id>, Unread> {
        let digits = digits.to_ascii_lowercase();
        let found = self.files()?;
        if found.is_partial {
            return Err(Unread::Unsupported("packs without an index of their own"));
        }
        let mut ids = Vec::new();
        for directory in &found.directories {
            ids.extend(loose::beginning_with(directory, &digits)?);
        }
        for pack in &found.packs {
            ids.extend(pack.beginning_with(&digits)?);
        }
        ids.retain(|id| id.bytes().len() == self.format.length());
        ids.sort_unstable();
        ids.dedup();
        match ids.as_slice() {
            [] if found.is_promised => Err(Unread::Unsupported("a partial clone")),
            [] => Ok(None),
            [id] => Ok(Some(*id)),
            _ => Err(Unread::Ambiguous),
        }
    }

    fn packed(&self, id: &Id, limit: u64, budget: &Budget) -> Result<Option<Rc<Object>>, Unread> {
        let packs = &self.files()?.packs;
        let last = self.last.get();
        let others = (0..packs.len()).filter(|place| *place != last);
        for place in std::iter::once(last).chain(others) {
            let Some(pack) = packs.get(place) else { continue };
            if let Some(offset) = pack.find(id)? {
                self.last.set(place);
                return pack.read(offset, limit, (&self.inflater, budget)).map(Some);
            }
        }
        Ok(None)
    }

    fn loose(&self, id: &Id, limit: u64, budget: &Budget) -> Result<Rc<Object>, Unread> {
        let found = self.files()?;
        for directory in &found.directories {
            if let Some(object) = loose::read(directory, id, limit, (&self.inflater, budget))? {
                return Ok(Rc::new(object));
            }
        }
        Err(if found.is_promised { Unread::Unsupported("a partial clone") } else { Unread::Missing })
    }

    fn files(&self) -> Result<&ObjectFiles, Unread> {
        let find = || {
            let mut found = ObjectFiles::default();
            self.borrow_from(&self.directory, 0, &mut found)?;
            Ok(found)
        };
        self.found.get_or_init(find).as_ref().map_err(|problem| *problem)
    }

    /// Adds an object directory and its alternates.
    fn borrow_from(&self, directory: &Path, depth: usize, found: &mut ObjectFiles) -> Result<(), Unread> {
        if found.directories.iter().any(|known| known == directory) {
            return Ok(());
        }
        if depth > BORROWED || found.directories.len() == DIRECTORIES {
            return Err(Unread::OverBudget);
        }
        found.directories.push(directory.to_owned());
        self.add_packs(directory, found)?;
        let list = listed::text(&directory.join("info/alternates"), LIST)?.unwrap_or_default();
        for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if line.starts_with('"') {
                return Err(Unread::Unsupported("a quoted path to borrowed objects"));
            }
            self.borrow_from(&directory.join(line), depth + 1, found)?;
        }
        Ok(())
    }

    fn add_packs(&self, directory: &Path, found: &mut ObjectFiles) -> Result<(), Unread> {
        let directory = directory.join("pack");
        let names = listed::names(&directory)?;
        let has = |name: &str| names.iter().any(|known| known == name);
        for name in &names {
            match name.rsplit_once('.') {
                Some((stem, "idx")) if has(&format!("{stem}.pack")) => {
                    found.packs.push(Pack::new(directory.join(name), self.format.length()));
                }
                Some((stem, "pack")) => found.is_partial |= !has(&format!("{stem}.idx")),
                Some((_, "promisor")) => found.is_promised = true,
                _ => {}
            }
        }
        // The newest packs have what is needed most, but their names say nothing about age; any order is fine.
        found.packs.sort_by(|one, other| one.path().cmp(other.path()));
        if found.packs.len() > PACKS { Err(Unread::OverBudget) } else { Ok(()) }
    }
}
