//! Trees: the content of each directory of a commit. Trees that git would not have written are rejected.

use std::cmp::Ordering;
use std::rc::Rc;

use super::store::Object;
use super::{Id, ObjectKind, Objects, TREE, Unread};

/// The kinds of entries that git writes.
pub(super) const DIRECTORY: u32 = 0o040_000;
const MODES: &[(&[u8], u32)] = &[
    (b"100644", 0o100_644),
    (b"100755", 0o100_755),
    (b"40000", DIRECTORY),
    (b"120000", 0o120_000),
    (b"160000", 0o160_000),
];

/// A parsed and checked tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    bytes: Vec<u8>,
    places: Vec<EntrySpan>,
    hash: usize,
}

#[derive(Clone, Copy, Debug)]
struct EntrySpan {
    mode: u32,
    start: usize,
    end: usize,
}

/// One entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeEntry<'a> {
    pub name: &'a str,
    pub mode: u32,
    pub id: Id,
}

impl Objects {
    /// What a tree, or the tree of a commit or tag, has at a path: mode and object. `None` if it has nothing there.
    pub(crate) fn entry_at(&self, treeish: &Id, path: &str) -> Result<Option<(u32, Id)>, Unread> {
        let mut id = self.tree_of(treeish)?;
        let (path, wants_directory) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, false),
        };
        if path.split('/').any(|part| !is_name(part)) {
            return Err(Unread::Unsupported("this spelling of a path"));
        }
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            // A path has an end, so a directory on it costs nothing the second time.
            let known = self.trees.borrow().get(&id).map(Rc::clone);
            let tree = known.map_or_else(|| self.tree(&id), Ok)?;
            let Some(entry) = tree.find(part) else { return Ok(None) };
            if parts.peek().is_none() {
                let fits = entry.mode == DIRECTORY || !wants_directory;
                return Ok(fits.then_some((entry.mode, entry.id)));
            }
            if entry.mode != DIRECTORY {
                return Ok(None);
            }
            id = entry.id;
        }
        Ok(None)
    }

    pub(super) fn tree(&self, id: &Id) -> Result<Rc<Tree>, Unread> {
        if let Some(known) = self.trees.borrow().get(id) {
            // Trees can contain each other so often that walking them never ends, even without reading another one.
            self.budget.spend_object()?;
            return Ok(Rc::clone(known));
        }
        let object = self.object(id, TREE)?;
        if object.kind != ObjectKind::Tree {
            return Err(Unread::Corrupt);
        }
        self.keep_tree(id, &object)
    }

    pub(super) fn keep_tree(&self, id: &Id, object: &Object) -> Result<Rc<Tree>, Unread> {
        let tree = Rc::new(Tree::parse(object.bytes.clone(), self.format.length()).ok_or(Unread::Corrupt)?);
        self.trees.borrow_mut().insert(*id, Rc::clone(&tree));
        Ok(tree)
    }
}

impl Tree {
    pub(super) fn parse(bytes: Vec<u8>, hash: usize) -> Option<Tree> {
        let mut tree = Tree { bytes, places: Vec::new(), hash };
        let mut at = 0;
        while at < tree.bytes.len() {
            let rest = tree.bytes.get(at..)?;
            let space = rest.iter().take(7).position(|byte| *byte == b' ')?;
            let (_, mode) = MODES.iter().find(|(digits, _)| rest.get(..space) == Some(digits))?;
            let length = rest.get(space + 1..)?.iter().position(|byte| *byte == 0)?;
            let start = at + space + 1;
            let place = EntrySpan { mode: *mode, start, end: start + length };
            at = place.end + 1 + hash;
            tree.places.push(place);
        }
        (at == tree.bytes.len() && tree.is_in_order()).then_some(tree)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = TreeEntry<'_>> {
        self.places.iter().filter_map(|place| self.entry(place))
    }

    /// Names are looked for as a file and as a directory, which git sorts differently.
    fn find(&self, name: &str) -> Option<TreeEntry<'_>> {
        [0, DIRECTORY].iter().find_map(|mode| {
            let order = |place: &EntrySpan| order((self.name(place), place.mode), (name.as_bytes(), *mode));
            self.places
                .binary_search_by(order)
                .ok()
                .and_then(|at| self.places.get(at))
                .and_then(|place| self.entry(place))
        })
    }

    fn entry(&self, place: &EntrySpan) -> Option<TreeEntry<'_>> {
        let name = std::str::from_utf8(self.name(place)).ok()?;
        let id = self.bytes.get(place.end + 1..place.end + 1 + self.hash).and_then(Id::from_bytes)?;
        Some(TreeEntry { name, mode: place.mode, id })
    }

    fn name(&self, place: &EntrySpan) -> &[u8] {
        self.bytes.get(place.start..place.end).unwrap_or_default()
    }

    /// All names are valid for git, sorted and unique.
    fn is_in_order(&self) -> bool {
        let key = |place: &EntrySpan| -> (&[u8], u32) { (self.name(place), place.mode) };
        let rises = |pair: &[EntrySpan]| match pair {
            [one, other] => order(key(one), key(other)) == Ordering::Less,
            _ => true,
        };
        let is_twice = |place: &EntrySpan| {
            let as_file = (self.name(place), 0);
            place.mode == DIRECTORY && self.places.binary_search_by(|other| order(key(other), as_file)).is_ok()
        };
        self.places.iter().all(|place| std::str::from_utf8(self.name(place)).is_ok_and(is_name))
            && self.places.windows(2).all(rises)
            && !self.places.iter().any(is_twice)
            && self.entries().all(|entry| !entry.id.is_null())
    }
}

/// Git's order of entries: a directory as if its name ended with a slash.
pub(super) fn order(one: (&[u8], u32), other: (&[u8], u32)) -> Ordering {
    let end = |mode: u32| if mode == DIRECTORY { &b"/"[..] } else { &b""[..] };
    let common = one.0.len().min(other.0.len());
    let (one_start, one_rest) = one.0.split_at_checked(common).unwrap_or_default();
    let (other_start, other_rest) = other.0.split_at_checked(common).unwrap_or_default();
    one_start
        .cmp(other_start)
        .then_with(|| one_rest.iter().chain(end(one.1)).cmp(other_rest.iter().chain(end(other.1))))
}

/// A name that git itself would write to a disk.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && !name.contains(['/', '\0'])
        && !name.eq_ignore_ascii_case(".git")
        && !name.eq_ignore_ascii_case("git~1")
}
