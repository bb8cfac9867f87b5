//! Packs: many objects in one file, most of them as deltas.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::budget::Budget;
use super::delta;
use super::inflate::{Inflater, Input};
use super::pack_index::PackIndex;
use super::store::Object;
use super::{Id, ObjectKind, Unread};

/// The longest chain of deltas that git makes.
// Git refuses to write longer ones, so a longer chain was made by hand.
const CHAIN: usize = 4095;

/// The header of a pack: signature, version, count.
const HEAD: u64 = 12;

/// A pack and its index, both opened on demand.
#[derive(Debug)]
pub(super) struct Pack {
    /// The path of its index; the pack is next to it.
    path: PathBuf,
    hash: usize,
    index: OnceCell<Result<PackIndex, Unread>>,
    file: OnceCell<Result<(File, u64), Unread>>,
    known: RefCell<HashMap<u64, Rc<Object>>>,
}

/// One object as the pack has it.
struct PackEntry<'a> {
    form: EntryForm,
    size: u64,
    input: Input<'a>,
}

enum EntryForm {
    Whole(ObjectKind),
    /// A delta on the object at this offset.
    DeltaAt(u64),
}

impl Pack {
    pub(super) fn new(path: PathBuf, hash: usize) -> Pack {
        Pack { path, hash, index: OnceCell::new(), file: OnceCell::new(), known: RefCell::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The ids in it that start with these digits.
    pub(super) fn beginning_with(&self, digits: &str) -> Result<Vec<Id>, Unread> {
        self.index()?.beginning_with(digits)
    }

    /// The offset of an object; `None` if the pack does not have it.
    pub(super) fn find(&self, id: &Id) -> Result<Option<u64>, Unread> {
        self.index()?.find(id)
    }

    /// Reads the object at this offset, and what it is a delta of.
    pub(super) fn read(
        &self,
        offset: u64,
        limit: u64,
        tools: (&RefCell<Inflater>, &Budget),
    ) -> Result<Rc<Object>, Unread> {
        let (inflater, budget) = tools;
        let mut deltas: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut at = offset;
        let mut object = loop {
            if let Some(known) = self.known.borrow().get(&at) {
                break Rc::clone(known);
            }
            let mut entry = self.entry(at)?;
            if deltas.len() == CHAIN {
                return Err(Unread::OverBudget);
            }
            if matches!(entry.form, EntryForm::Whole(_)) && deltas.is_empty() && entry.size > limit {
                return Err(Unread::TooLarge);
            }
            budget.spend_bytes(entry.size)?;
            let size = usize::try_from(entry.size).map_err(|_| Unread::TooLarge)?;
            let bytes = inflater.borrow_mut().whole(&mut entry.input, size)?;
            match entry.form {
                EntryForm::Whole(kind) => break self.keep(at, Object { kind, bytes }),
                EntryForm::DeltaAt(base) => deltas.push((std::mem::replace(&mut at, base), bytes)),
            }
        };
        while let Some((at, delta)) = deltas.pop() {
            let bytes = delta::apply(&object.bytes, &delta, budget)?;
            object = self.keep(at, Object { kind: object.kind, bytes });
        }
        if object.bytes.len() as u64 > limit { Err(Unread::TooLarge) } else { Ok(object) }
    }

    fn keep(&self, at: u64, object: Object) -> Rc<Object> {
        let object = Rc::new(object);
        self.known.borrow_mut().insert(at, Rc::clone(&object));
        object
    }

    fn entry(&self, at: u64) -> Result<PackEntry<'_>, Unread> {
        let (file, length) = self.file()?;
        if at < HEAD || at >= length {
            return Err(Unread::Corrupt);
        }
        let mut input = Input { chunk: Vec::new(), used: 0, more: Some((file, at)) };
        input.refill()?;
        let (kind, size) = kind_and_size(&mut input)?;
        let form = match kind {
            1 => EntryForm::Whole(ObjectKind::Commit),
            2 => EntryForm::Whole(ObjectKind::Tree),
            3 => EntryForm::Whole(ObjectKind::Blob),
            4 => EntryForm::Whole(ObjectKind::Tag),
            6 => EntryForm::DeltaAt(at.checked_sub(distance(&mut input)?).ok_or(Unread::Corrupt)?),
            7 => {
                let base = input.rest().get(..self.hash).and_then(Id::from_bytes).ok_or(Unread::Corrupt)?;
                input.used += self.hash;
                EntryForm::DeltaAt(self.find(&base)?.ok_or(Unread::Missing)?)
            }
            _ => return Err(Unread::Corrupt),
        };
        Ok(PackEntry { form, size, input })
    }

    fn index(&self) -> Result<&PackIndex, Unread> {
        let open = || PackIndex::new(open(&self.path)?, self.hash);
        self.index.get_or_init(open).as_ref().map_err(|problem| *problem)
    }

    /// The pack itself, and where its objects end.
    fn file(&self) -> Result<(&File, u64), Unread> {
        let opened = self.file.get_or_init(|| {
            let (file, length) = open(&self.path.with_extension("pack"))?;
            let mut head = [0; 8];
            std::os::unix::fs::FileExt::read_exact_at(&file, &mut head, 0).map_err(|_| Unread::Corrupt)?;
            if !matches!(&head, b"PACK\0\0\0\x02" | b"PACK\0\0\0\x03") {
                return Err(Unread::Corrupt);
            }
            Ok((file, length.checked_sub(self.hash as u64).ok_or(Unread::Corrupt)?))
        });
        opened.as_ref().map(|(file, length)| (file, *length)).map_err(|problem| *problem)
    }
}

/// A regular file and its length. Never blocks on pipes and the like.
fn open(path: &Path) -> Result<(File, u64), Unread> {
    let flags = rustix::fs::OFlags::NONBLOCK;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
    let file = file.map_err(|_| Unread::Unreadable)?;
    let metadata = file.metadata().map_err(|_| Unread::Unreadable)?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(Unread::Unreadable) }
}

fn next(input: &mut Input<'_>) -> Result<u8, Unread> {
    let byte = *input.rest().first().ok_or(Unread::Corrupt)?;
    input.used += 1;
    Ok(byte)
}

/// Three bits of kind and four of size, then seven bits of size per byte.
fn kind_and_size(input: &mut Input<'_>) -> Result<(u8, u64), Unread> {
    let first = next(input)?;
    let mut size = u64::from(first & 0x0f);
    let (mut shift, mut last) = (4, first);
    while last & 0x80 != 0 {
        last = next(input)?;
        if shift > 56 {
            return Err(Unread::Corrupt);
        }
        size |= u64::from(last & 0x7f) << shift;
        shift += 7;
    }
    Ok((first >> 4 & 7, size))
}

/// How far back the base begins: seven bits per byte, the highest first, each continuation counts one more.
fn distance(input: &mut Input<'_>) -> Result<u64, Unread> {
    let mut byte = next(input)?;
    let mut value = u64::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = next(input)?;
        let more = value.checked_add(1).and_then(|value| value.checked_mul(128)).ok_or(Unread::Corrupt)?;
        value = more | u64::from(byte & 0x7f);
    }
    if value == 0 { Err(Unread::Corrupt) } else { Ok(value) }
}
