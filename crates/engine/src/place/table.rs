//! Names grouped by class, found by one hash that the compiler has already spread out.

use super::class::Class;

/// Names that share a class.
pub type Group = (&'static Class, &'static [&'static str]);

/// Slots of a table: a power of two, at least twice the names of the largest one.
const SLOTS: usize = 2048;

/// A group and a name in it, both counted from one; zero is an empty slot.
type Slot = (u8, u8);

/// All groups of one kind of name, indexed at compile time.
pub struct Table {
    groups: &'static [Group],
    slots: [Slot; SLOTS],
}

impl Table {
    #[expect(clippy::indexing_slicing, reason = "runs in the compiler, which refuses an index out of bounds")]
    pub const fn new(groups: &'static [Group]) -> Table {
        let mut slots = [(0, 0); SLOTS];
        let mut group = 0;
        while group < groups.len() {
            let names = groups[group].1;
            assert!(group < 255 && names.len() <= 255);
            let mut name = 0;
            while name < names.len() {
                let mut slot = hash(names[name].as_bytes());
                while slots[slot].0 != 0 {
                    slot = (slot + 1) % SLOTS;
                }
                slots[slot] = (group as u8 + 1, name as u8 + 1);
                name += 1;
            }
            group += 1;
        }
        Table { groups, slots }
    }

    /// The class of exactly this name.
    pub fn find(&self, name: &str) -> Option<&'static Class> {
        let mut slot = hash(name.as_bytes());
        loop {
            let (class, known) = self.at(slot)?;
            if known == name {
                return Some(class);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// The classes of every leading part of `path` that ends at a component boundary, down to `depth` components.
    pub fn find_above(&self, path: &str, depth: usize, mut found: impl FnMut(&'static Class)) {
        let boundaries = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
        for end in boundaries.chain([path.len()]).take(depth) {
            if let Some(class) = path.get(..end).and_then(|part| self.find(part)) {
                found(class);
            }
        }
    }

    #[cfg(test)]
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.groups.iter().flat_map(|(_, names)| names.iter().copied())
    }

    fn at(&self, slot: usize) -> Option<(&'static Class, &'static str)> {
        let (group, name) = self.slots.get(slot)?;
        let (class, names) = self.groups.get(usize::from(*group).checked_sub(1)?)?;
        Some((class, names.get(usize::from(*name).checked_sub(1)?)?))
    }
}

#[expect(clippy::indexing_slicing, reason = "the loop condition bounds the index; slices have no constant iterator")]
const fn hash(bytes: &[u8]) -> usize {
    let mut state: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < bytes.len() {
        state = (state ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (state ^ (state >> 15)) as usize % SLOTS
}
