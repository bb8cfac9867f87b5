//! Finds one flag or name among those that were left in the pack.

use crate::packed::{ByteReader, flag, word_set};
use crate::schema::{Flag, Named, Rows, Sense, Text, WordSet};

impl Rows {
    fn record(self, index: usize) -> Option<ByteReader> {
        let mut row = ByteReader { bytes: self.bytes, at: self.table.checked_add(index.checked_mul(4)?)? };
        let offset = usize::try_from(row.number()?).ok()?;
        Some(ByteReader { bytes: self.bytes, at: self.pool.checked_add(offset)? })
    }

    fn find(self, name: &str) -> Option<ByteReader> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = usize::midpoint(low, high);
            let record = self.record(middle)?;
            let mut reader = record;
            let length = reader.short()?;
            match reader.take(length)?.cmp(name.as_bytes()) {
                std::cmp::Ordering::Equal => return Some(record),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn all<T>(self, mut read: impl FnMut(&mut ByteReader) -> Option<T>) -> Vec<T> {
        (0..self.count).filter_map(|index| read(&mut self.record(index)?)).collect()
    }
}

impl Named<Flag> {
    pub fn find(&self, name: &str) -> Option<Flag> {
        match self {
            Named::Listed(flags) => flags.iter().find(|flag| flag.name == name).cloned(),
            Named::Packed(rows) => flag(&mut rows.find(name)?),
        }
    }

    pub fn all(&self) -> Vec<Flag> {
        match self {
            Named::Listed(flags) => flags.clone(),
            Named::Packed(rows) => rows.all(flag),
        }
    }
}

impl Named<Text> {
    pub fn has(&self, name: &str) -> bool {
        match self {
            Named::Listed(names) => names.iter().any(|known| known == name),
            Named::Packed(rows) => rows.find(name).is_some(),
        }
    }

    pub fn all(&self) -> Vec<Text> {
        match self {
            Named::Listed(names) => names.clone(),
            Named::Packed(rows) => rows.all(ByteReader::string),
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Named::Listed(names) => names.is_empty(),
            Named::Packed(rows) => rows.count == 0,
        }
    }
}

impl Named<WordSet> {
    /// The words that have this meaning.
    pub fn of(&self, sense: Sense) -> Option<Vec<Text>> {
        match self {
            Named::Listed(sets) => sets.iter().find(|set| set.name == sense.as_str()).map(|set| set.words.clone()),
            Named::Packed(rows) => Some(word_set(&mut rows.find(sense.as_str())?)?.words),
        }
    }

    pub fn all(&self) -> Vec<WordSet> {
        match self {
            Named::Listed(sets) => sets.clone(),
            Named::Packed(rows) => rows.all(word_set),
        }
    }
}
