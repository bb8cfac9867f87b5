//! Names grouped by class, found by one hash that the compiler has already spread out.

/// Names that share a class.
pub(crate) type Group<T> = (&'static T, &'static [&'static str]);

/// Slots of a table: a power of two, at least twice the names of the largest one.
// Half empty, so that a name that is not there is usually answered by the first slot.
const SLOTS: usize = 2048;

/// A group and a name in it, both counted from one; zero is an empty slot.
type Slot = (u8, u8);

/// A class that says whether its places hold secrets.
pub(crate) trait HoldsSecrets {
    fn holds_secrets(&self) -> bool;
}

/// All groups of one kind of name, indexed at compile time.
pub(crate) struct Table<T: 'static> {
    groups: &'static [Group<T>],
    slots: [Slot; SLOTS],
}

impl<T> Table<T> {
    #[expect(clippy::indexing_slicing, reason = "runs in the compiler, which refuses an index out of bounds")]
    pub(crate) const fn new(groups: &'static [Group<T>]) -> Table<T> {
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
    pub(crate) fn find(&self, name: &str) -> Option<&'static T> {
        self.probe(name, spread(name.bytes().fold(SEED, stir)))
    }

    /// The longest entry that is `path` or lies above it, and how long it is.
    pub(crate) fn find_above(&self, path: &str, depth: usize) -> Option<(&'static T, usize)> {
        let mut deepest = None;
        let mut state = SEED;
        let mut left = depth;
        for (at, byte) in path.bytes().enumerate() {
            if byte == b'/' {
                deepest = self.entry(path, at, state).or(deepest);
                left -= 1;
                if left == 0 {
                    return deepest;
                }
            }
            state = stir(state, byte);
        }
        self.entry(path, path.len(), state).or(deepest)
    }

    fn entry(&self, path: &str, end: usize, state: u32) -> Option<(&'static T, usize)> {
        Some((self.probe(path.get(..end)?, spread(state))?, end))
    }

    fn probe(&self, name: &str, mut slot: usize) -> Option<&'static T> {
        loop {
            let (class, known) = self.at(slot)?;
            if known == name {
                return Some(class);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// The names of the groups whose class is one of secrets.
    pub(crate) fn secret_names(&self) -> impl Iterator<Item = &'static str>
    where
        T: HoldsSecrets,
    {
        self.groups.iter().filter(|(class, _)| class.holds_secrets()).flat_map(|(_, names)| names.iter().copied())
    }

    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.groups.iter().flat_map(|(_, names)| names.iter().copied())
    }

    fn at(&self, slot: usize) -> Option<(&'static T, &'static str)> {
        let (group, name) = self.slots.get(slot)?;
        let (class, names) = self.groups.get(usize::from(*group).checked_sub(1)?)?;
        Some((class, names.get(usize::from(*name).checked_sub(1)?)?))
    }
}

// FNV-1a. The tables are built by the compiler and hold no attacker's names, so a keyed hash would buy nothing.
const SEED: u32 = 0x811c_9dc5;

const fn stir(state: u32, byte: u8) -> u32 {
    (state ^ byte as u32).wrapping_mul(0x0100_0193)
}

const fn spread(state: u32) -> usize {
    (state ^ (state >> 15)) as usize % SLOTS
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, where slices have no iterator")]
const fn hash(bytes: &[u8]) -> usize {
    let mut state = SEED;
    let mut at = 0;
    while at < bytes.len() {
        state = stir(state, bytes[at]);
        at += 1;
    }
    spread(state)
}
