//! Commits and tags: what they point to, and how they descend from each other.

use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

use super::{Id, MESSAGE, ObjectKind, Objects, TREE, Unread, listed};

/// How many tags may point to one another.
// A tag may name a tag; nothing sensible goes further, and a loop is impossible only if every hash is checked.
const TAGS: usize = 10;

/// Bytes of the list of commits where a shallow clone ends.
const SHALLOW: u64 = 1 << 20;

/// What is read of a commit.
#[derive(Debug)]
pub(super) struct Commit {
    tree: Id,
    parents: Vec<Id>,
    /// When it was made; newer commits are visited first.
    seconds: u64,
}

/// Commits whose parents git does not have.
#[derive(Debug)]
pub(super) struct ShallowCommits(Vec<Id>);

/// Which side a commit was reached from.
const FIRST: u8 = 1;
const SECOND: u8 = 2;
/// Below an already found common ancestor.
const STALE: u8 = 4;

impl Objects {
    /// The tree of a tag or commit, or the tree itself.
    pub(crate) fn tree_of(&self, id: &Id) -> Result<Id, Unread> {
        self.peel(id, ObjectKind::Tree)
    }

    /// The parents of a commit, or of the commit that a tag points to.
    pub(crate) fn parents(&self, id: &Id) -> Result<Vec<Id>, Unread> {
        let commit = self.peel(id, ObjectKind::Commit)?;
        Ok(self.commit(&commit)?.parents.clone())
    }

    /// All best common ancestors of two commits; visits at most `bound` commits.
    pub(crate) fn merge_bases(&self, one: &Id, other: &Id, bound: usize) -> Result<Vec<Id>, Unread> {
        let (one, other) = (self.peel(one, ObjectKind::Commit)?, self.peel(other, ObjectKind::Commit)?);
        let painted = self.paint(&one, &other, bound)?;
        let both = FIRST | SECOND;
        let common: Vec<Id> = painted.iter().filter(|(_, flags)| **flags == both).map(|(id, _)| *id).collect();
        let mut best = Vec::new();
        for id in &common {
            // With wrong clocks, the list may contain an ancestor of another entry.
            let mut is_below = false;
            for other in common.iter().filter(|other| *other != id) {
                is_below |= self.paint(other, id, bound)?.get(id).is_some_and(|flags| flags & FIRST != 0);
            }
            if !is_below {
                best.push(*id);
            }
        }
        best.sort_unstable();
        Ok(best)
    }

    /// The best common ancestor of two commits; `None` if they have none. Several best ones are an error.
    pub(crate) fn merge_base(&self, one: &Id, other: &Id, bound: usize) -> Result<Option<Id>, Unread> {
        match self.merge_bases(one, other, bound)?.as_slice() {
            [] => Ok(None),
            [id] => Ok(Some(*id)),
            _ => Err(Unread::Ambiguous),
        }
    }

    /// The commits in `bad` and in none of `good`, newest first. With wrong clocks there may be more.
    pub(crate) fn between(&self, good: &[Id], bad: Id, bound: usize) -> Result<Vec<Id>, Unread> {
        let mut walk = Walk::new(self, bound);
        walk.add(&self.peel(&bad, ObjectKind::Commit)?, FIRST)?;
        for id in good {
            walk.add(&self.peel(id, ObjectKind::Commit)?, FIRST | STALE)?;
        }
        let (mut order, mut oldest) = (Vec::new(), u64::MAX);
        while let Some((id, flags)) = walk.next(oldest)? {
            if flags & STALE == 0 {
                order.push(id);
                oldest = oldest.min(self.commit(&id)?.seconds);
            }
            walk.add_parents(&id, flags)?;
        }
        order.retain(|id| walk.flags.get(id).is_some_and(|flags| flags & STALE == 0));
        let mut seen = std::collections::HashSet::new();
        order.retain(|id| seen.insert(*id));
        Ok(order)
    }

    /// Peels tags, and commits if a tree is needed.
    pub(super) fn peel(&self, id: &Id, wanted: ObjectKind) -> Result<Id, Unread> {
        let mut id = *id;
        for _ in 0..TAGS {
            let is_known = match wanted {
                ObjectKind::Commit => self.commits.borrow().contains_key(&id),
                ObjectKind::Tree => self.trees.borrow().contains_key(&id),
                ObjectKind::Blob | ObjectKind::Tag => false,
            };
            if is_known {
                return Ok(id);
            }
            // No need to read a commit again for its tree.
            if wanted == ObjectKind::Tree
                && let Some(commit) = self.commits.borrow().get(&id)
            {
                return Ok(commit.tree);
            }
            let kind = self.kind_of(&id)?;
            id = match kind {
                kind if kind == wanted => return Ok(id),
                ObjectKind::Commit if wanted == ObjectKind::Tree => self.commit(&id)?.tree,
                ObjectKind::Tag => self.tagged(&id)?,
                ObjectKind::Commit | ObjectKind::Tree | ObjectKind::Blob => return Err(Unread::NoSuchName),
            };
        }
        Err(Unread::OverBudget)
    }

    pub(super) fn without_tags(&self, id: &Id) -> Result<Id, Unread> {
        let mut id = *id;
        for _ in 0..TAGS {
            if self.kind_of(&id)? != ObjectKind::Tag {
                return Ok(id);
            }
            id = self.tagged(&id)?;
        }
        Err(Unread::OverBudget)
    }

    fn kind_of(&self, id: &Id) -> Result<ObjectKind, Unread> {
        if self.commits.borrow().contains_key(id) {
            return Ok(ObjectKind::Commit);
        }
        if self.trees.borrow().contains_key(id) {
            return Ok(ObjectKind::Tree);
        }
        let object = self.object(id, TREE)?;
        match object.kind {
            // Already read, so keep it for later.
            ObjectKind::Commit => drop(self.keep_commit(id, &object.bytes)?),
            ObjectKind::Tree => drop(self.keep_tree(id, &object)?),
            ObjectKind::Blob | ObjectKind::Tag => {}
        }
        Ok(object.kind)
    }

    fn tagged(&self, id: &Id) -> Result<Id, Unread> {
        let object = self.object(id, MESSAGE)?;
        let mut lines = object.bytes.split(|byte| *byte == b'\n');
        let mut word = |start: &str| {
            let line = lines.next().and_then(|line| std::str::from_utf8(line).ok()).ok_or(Unread::Corrupt)?;
            line.strip_prefix(start).map(str::to_owned).ok_or(Unread::Corrupt)
        };
        let target = self.id(&word("object ")?)?;
        let kind = ObjectKind::parse(word("type ")?.as_bytes()).ok_or(Unread::Corrupt)?;
        if self.kind_of(&target)? == kind { Ok(target) } else { Err(Unread::Corrupt) }
    }

    fn commit(&self, id: &Id) -> Result<Rc<Commit>, Unread> {
        if let Some(known) = self.commits.borrow().get(id) {
            return Ok(Rc::clone(known));
        }
        let object = self.object(id, MESSAGE)?;
        if object.kind != ObjectKind::Commit {
            return Err(Unread::Corrupt);
        }
        self.keep_commit(id, &object.bytes)
    }

    fn keep_commit(&self, id: &Id, bytes: &[u8]) -> Result<Rc<Commit>, Unread> {
        let mut commit = self.parse_commit(bytes)?;
        if self.cut()?.0.contains(id) {
            commit.parents.clear();
        }
        let commit = Rc::new(commit);
        self.commits.borrow_mut().insert(*id, Rc::clone(&commit));
        Ok(commit)
    }

    fn parse_commit(&self, bytes: &[u8]) -> Result<Commit, Unread> {
        let head = bytes.split(|byte| *byte == b'\n').map_while(|line| (!line.is_empty()).then_some(line));
        let mut lines = head.map(String::from_utf8_lossy);
        let tree = lines.next().ok_or(Unread::Corrupt)?;
        let tree = self.id(tree.strip_prefix("tree ").ok_or(Unread::Corrupt)?)?;
        let (mut parents, mut seconds) = (Vec::new(), 0);
        let mut are_over = false;
        for line in lines {
            match line.split_once(' ') {
                Some(("parent", hex)) if !are_over => parents.push(self.id(hex)?),
                Some(("committer", rest)) => {
                    seconds = rest.rsplit(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default();
                    break;
                }
                _ => are_over = true,
            }
        }
        Ok(Commit { tree, parents, seconds })
    }

    fn id(&self, hex: &str) -> Result<Id, Unread> {
        Id::parse(hex).filter(|id| id.bytes().len() == self.format.length()).ok_or(Unread::Corrupt)
    }

    /// The commits where a shallow clone ends.
    fn cut(&self) -> Result<&ShallowCommits, Unread> {
        let read = || {
            if listed::bytes(&self.common.join("info/grafts"), SHALLOW)?.is_some_and(|bytes| !bytes.is_empty()) {
                return Err(Unread::Unsupported("grafted history"));
            }
            let text = listed::text(&self.common.join("shallow"), SHALLOW)?.unwrap_or_default();
            text.lines().map(|line| self.id(line.trim_end())).collect::<Result<Vec<Id>, Unread>>().map(ShallowCommits)
        };
        self.cut.get_or_init(read).as_ref().map_err(|problem| *problem)
    }

    /// Marks each commit by which of two it was reached from, until nothing new can be common to both.
    fn paint(&self, one: &Id, other: &Id, bound: usize) -> Result<HashMap<Id, u8>, Unread> {
        let mut walk = Walk::new(self, bound);
        walk.add(one, FIRST)?;
        walk.add(other, SECOND)?;
        while let Some((id, flags)) = walk.next(u64::MAX)? {
            let is_common = flags & (FIRST | SECOND) == FIRST | SECOND;
            walk.add_parents(&id, if is_common { flags | STALE } else { flags })?;
        }
        Ok(walk.flags)
    }
}

/// Walks back through history, newest commit first, until only stale commits are left.
struct Walk<'a> {
    objects: &'a Objects,
    flags: HashMap<Id, u8>,
    queue: BinaryHeap<(u64, Id)>,
    left: usize,
}

impl<'a> Walk<'a> {
    fn new(objects: &'a Objects, bound: usize) -> Walk<'a> {
        Walk { objects, flags: HashMap::new(), queue: BinaryHeap::new(), left: bound }
    }

    fn add(&mut self, id: &Id, flags: u8) -> Result<(), Unread> {
        let known = self.flags.entry(*id).or_default();
        if *known & flags != flags {
            *known |= flags;
            self.queue.push((self.objects.commit(id)?.seconds, *id));
        }
        Ok(())
    }

    fn add_parents(&mut self, id: &Id, flags: u8) -> Result<(), Unread> {
        let commit = self.objects.commit(id)?;
        commit.parents.iter().try_for_each(|parent| self.add(parent, flags))
    }

    /// The newest commit. Stale ones are visited only as long as they are no older than this.
    fn next(&mut self, oldest: u64) -> Result<Option<(Id, u8)>, Unread> {
        let flags_of = |flags: &HashMap<Id, u8>, id: &Id| flags.get(id).copied().unwrap_or_default();
        let is_old = self.queue.peek().is_none_or(|(seconds, _)| *seconds < oldest || oldest == u64::MAX);
        if is_old && self.queue.iter().all(|(_, id)| flags_of(&self.flags, id) & STALE != 0) {
            return Ok(None);
        }
        self.left = self.left.checked_sub(1).ok_or(Unread::OverBudget)?;
        Ok(self.queue.pop().map(|(_, id)| (id, flags_of(&self.flags, &id))))
    }
}
