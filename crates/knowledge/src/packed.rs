//! Finds entries and rules in the packed bytes without reading the rest.

use std::borrow::Cow;

use doorward_vocabulary::{Clearance, Marks, Operation, Reach, Reversibility, Scope, Sensitivity, Verdict};

use crate::rule::{Mask, Rule, Stage, When};
use crate::schema::{
    Changes, Check, Condition, Console, Count, Does, Entry, Facet, Facets, Flag, Grammar, Named, Operand, Role, Rows,
    Sections, Style, Takes, TaskFile, Text, WordSet,
};
use crate::server::{Argument, Server, ServerTool, ToolDoes};
use crate::tool::{Risk, ToolEntry};

/// Nine counts stand before everything else.
// Four bytes each, little-endian; `build.rs` writes them in the same order.
const HEADER: usize = 36;

/// Where the key, the name and the record of an entry stand.
// Three offsets of four bytes. Rows have one size so that keys can be found by halving.
const ROW: usize = 12;

/// Packed knowledge.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    bytes: &'static [u8],
    entries: usize,
    rules: usize,
    keys: usize,
    records: usize,
    pool: usize,
    tools: usize,
    tools_at: usize,
    servers: usize,
    servers_at: usize,
    rules_at: usize,
    /// Another pack, asked for programs that this one does not know; empty if there is none.
    beside: &'static [u8],
}

/// Reads on from a place in the bytes. Every method yields `None` past the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteReader {
    pub(crate) bytes: &'static [u8],
    pub(crate) at: usize,
}

impl ByteReader {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'static [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn bool(&mut self) -> Option<bool> {
        Some(self.byte()? != 0)
    }

    pub(crate) fn short(&mut self) -> Option<usize> {
        Some(usize::from(u16::from_le_bytes(self.take(2)?.try_into().ok()?)))
    }

    pub(crate) fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn facets(&mut self) -> Option<Facets> {
        Some(Facets(u128::from_le_bytes(self.take(16)?.try_into().ok()?)))
    }

    fn text(&mut self) -> Option<&'static str> {
        let length = self.short()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    pub(crate) fn string(&mut self) -> Option<Text> {
        self.text().map(Cow::Borrowed)
    }

    fn list<T>(&mut self, read: impl FnMut(&mut ByteReader) -> Option<T>) -> Option<Vec<T>> {
        let length = self.short()?;
        self.times(length, read)
    }

    /// Collecting into an option would not know the length, and move everything as the list grows.
    fn times<T>(&mut self, length: usize, mut read: impl FnMut(&mut ByteReader) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::with_capacity(length);
        for _ in 0..length {
            items.push(read(self)?);
        }
        Some(items)
    }

    /// Leaves the records where they are, in the pool.
    fn named<T>(&mut self, pool: usize) -> Option<Named<T>> {
        let at = pool.checked_add(usize::try_from(self.number()?).ok()?)?;
        let mut there = ByteReader { bytes: self.bytes, at };
        let count = there.short()?;
        Some(Named::Packed(Rows { bytes: self.bytes, table: there.at, count, pool }))
    }

    fn word<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let index = self.byte()?;
        all.get(usize::from(index)).copied()
    }

    fn option<T: Copy>(&mut self, all: &[T]) -> Option<Option<T>> {
        match self.byte()?.checked_sub(1) {
            None => Some(None),
            Some(index) => all.get(usize::from(index)).copied().map(Some),
        }
    }

    fn marks(&mut self) -> Option<Marks> {
        Some(Marks::from_words([self.long()?, self.long()?, self.long()?]))
    }

    fn mask(&mut self) -> Option<Mask> {
        Some(Mask(u16::try_from(self.number()?).ok()?))
    }
}

impl Packed {
    /// Reads the header. `None` if the bytes are not a pack.
    pub fn open(bytes: &'static [u8]) -> Option<Packed> {
        let mut reader = ByteReader { bytes, at: 0 };
        let mut count = || reader.number().and_then(|value| usize::try_from(value).ok());
        let (entries, rules, tools, servers) = (count()?, count()?, count()?, count()?);
        let (keys_length, records_length, pool_length) = (count()?, count()?, count()?);
        let (tools_length, servers_length) = (count()?, count()?);
        let keys = HEADER + entries * ROW;
        let records = keys + keys_length;
        let pool = records + records_length;
        let tools_at = pool + pool_length;
        let servers_at = tools_at + tools_length;
        let rules_at = servers_at + servers_length;
        let places = Packed { bytes, entries, rules, keys, records, pool, tools, tools_at, ..Packed::empty() };
        Some(Packed { servers, servers_at, rules_at, ..places })
    }

    /// The same knowledge, and that of another pack about programs that this one does not know.
    #[must_use]
    pub fn beside(self, other: &'static [u8]) -> Packed {
        Packed { beside: other, ..self }
    }

    /// Knowledge of nothing.
    pub fn empty() -> Packed {
        Packed {
            bytes: &[],
            entries: 0,
            rules: 0,
            keys: 0,
            records: 0,
            pool: 0,
            tools: 0,
            tools_at: 0,
            servers: 0,
            servers_at: 0,
            rules_at: 0,
            beside: &[],
        }
    }

    fn reader(&self, at: usize) -> ByteReader {
        ByteReader { bytes: self.bytes, at }
    }

    fn row(&self, index: usize) -> ByteReader {
        self.reader(HEADER + index * ROW)
    }

    /// The key that a row begins with, as bytes.
    fn key(&self, row: &mut ByteReader) -> Option<&'static [u8]> {
        let mut key = self.reader(self.keys + usize::try_from(row.number()?).ok()?);
        let length = key.short()?;
        key.take(length)
    }

    /// The entry of a program or subcommand, by its words.
    pub fn entry(&self, key: &str) -> Option<Entry> {
        match self.find(key) {
            Some(row) => self.read(row),
            None if self.beside.is_empty() => None,
            None => Packed::open(self.beside)?.entry(key),
        }
    }

    /// The facets of a program or subcommand, by its words; none if it is not known.
    pub fn facets(&self, key: &str) -> Facets {
        let known = self.find(key).map(|mut row| {
            row.number()?;
            self.reader(self.records + usize::try_from(row.number()?).ok()?).facets()
        });
        match known {
            Some(facets) => facets.unwrap_or_default(),
            None if self.beside.is_empty() => Facets::default(),
            None => Packed::open(self.beside).map(|other| other.facets(key)).unwrap_or_default(),
        }
    }

    /// The row of an entry, read up to the end of its key.
    fn find(&self, key: &str) -> Option<ByteReader> {
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = usize::midpoint(low, high);
            let mut row = self.row(middle);
            match self.key(&mut row)?.cmp(key.as_bytes()) {
                std::cmp::Ordering::Equal => return Some(row),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The rest of a row, behind its key.
    fn read(&self, mut row: ByteReader) -> Option<Entry> {
        let name = self.reader(self.keys + usize::try_from(row.number()?).ok()?).string()?;
        let record = self.records + usize::try_from(row.number()?).ok()?;
        entry(name, &mut self.reader(record), self.pool)
    }

    /// Where the tasks that a program runs are written, by its name.
    pub fn tasks(&self, key: &str) -> Option<TaskFile> {
        let Some(mut row) = self.find(key) else {
            return if self.beside.is_empty() { None } else { Packed::open(self.beside)?.tasks(key) };
        };
        row.number()?;
        let mut record = self.reader(self.records + usize::try_from(row.number()?).ok()?);
        // They stand behind the facets.
        record.facets()?;
        record.option(TaskFile::ALL)?
    }

    /// The keys of all entries, in order.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> + '_ {
        (0..self.entries).filter_map(|index| std::str::from_utf8(self.key(&mut self.row(index))?).ok())
    }

    /// The programs that have a facet, in order.
    pub fn having(&self, facet: Facet) -> impl Iterator<Item = &'static str> + '_ {
        let has = move |row: &mut ByteReader| {
            // The name stands between the key and the record.
            row.number()?;
            let record = self.records + usize::try_from(row.number()?).ok()?;
            self.reader(record).facets().map(|facets| facets.has(facet))
        };
        (0..self.entries).filter_map(move |index| {
            let mut row = self.row(index);
            let key = std::str::from_utf8(self.key(&mut row)?).ok()?;
            (!key.contains(' ') && has(&mut row)?).then_some(key)
        })
    }

    /// All tools of all agents.
    pub fn tools(&self) -> Option<Vec<ToolEntry>> {
        self.reader(self.tools_at).times(self.tools, tool)
    }

    /// All tool servers.
    pub fn servers(&self) -> Option<Vec<Server>> {
        self.reader(self.servers_at).times(self.servers, server)
    }

    /// All rules, in order.
    pub fn rules(&self) -> Option<Vec<Rule>> {
        self.reader(self.rules_at).times(self.rules, rule)
    }
}

fn server(reader: &mut ByteReader) -> Option<Server> {
    Some(Server {
        names: reader.list(ByteReader::string)?,
        packages: reader.list(ByteReader::string)?,
        what: reader.string()?,
        tools: reader.list(server_tool)?,
    })
}

fn server_tool(reader: &mut ByteReader) -> Option<ServerTool> {
    Some(ServerTool {
        name: reader.string()?,
        does: reader.word(ToolDoes::ALL)?,
        command: reader.string()?,
        takes: reader.list(|reader| Some((reader.string()?, reader.word(Argument::ALL)?)))?,
    })
}

fn tool(reader: &mut ByteReader) -> Option<ToolEntry> {
    Some(ToolEntry {
        agent: Cow::Borrowed(reader.text()?),
        name: Cow::Borrowed(reader.text()?),
        what: Cow::Borrowed(reader.text()?),
        risk: reader.word(Risk::ALL)?,
        harness: reader.bool()?,
        prompts: reader.bool()?,
    })
}

fn entry(key: Text, reader: &mut ByteReader, pool: usize) -> Option<Entry> {
    let facets = reader.facets()?;
    Some(Entry {
        key,
        facets,
        tasks: reader.option(TaskFile::ALL)?,
        what: reader.string()?,
        style: reader.option(Style::ALL)?,
        grammar: reader.option(Grammar::ALL)?,
        stops: reader.bool()?,
        numbers: reader.bool()?,
        inherits: reader.bool()?,
        helps: reader.bool()?,
        flags: reader.named(pool)?,
        operands: reader.list(operand)?,
        default: if reader.bool()? { Some(operand(reader)?) } else { None },
        does: reader.list(does)?,
        extras: reader.list(|reader| Some((reader.string()?, does(reader)?)))?,
        delegates: reader.list(ByteReader::string)?,
        env: reader.list(ByteReader::string)?,
        subs: reader.named(pool)?,
        console: reader.option(Console::ALL)?,
        check: reader.option(Check::ALL)?,
        sections: reader.list(sections)?,
        senses: reader.named(pool)?,
    })
}

fn sections(reader: &mut ByteReader) -> Option<Sections> {
    Some(Sections { file: reader.string()?, parts: reader.list(ByteReader::string)? })
}

pub(crate) fn flag(reader: &mut ByteReader) -> Option<Flag> {
    Some(Flag {
        name: reader.string()?,
        takes: match reader.byte()? {
            0 => Takes::Nothing,
            1 => Takes::Value(reader.word(Role::ALL)?),
            _ => Takes::Glued(reader.word(Role::ALL)?),
        },
        more: reader.list(|reader| reader.word(Role::ALL))?,
        changes: changes(reader)?,
    })
}

pub(crate) fn word_set(reader: &mut ByteReader) -> Option<WordSet> {
    Some(WordSet { name: reader.string()?, words: reader.list(ByteReader::string)? })
}

fn changes(reader: &mut ByteReader) -> Option<Changes> {
    let bits = reader.byte()?;
    let mut changes = Changes {
        dry_run: bits & 1 != 0,
        info: bits & 2 != 0,
        read_only: bits & 4 != 0,
        opaque: bits & 8 != 0,
        unknown: bits & 16 != 0,
        ends: bits & 32 != 0,
        task: bits & 64 != 0,
        ..Changes::default()
    };
    if bits & 128 != 0 {
        changes.marks = reader.marks()?;
        changes.operands = reader.option(Role::ALL)?;
        changes.extra = Some(reader.string()?).filter(|name| !name.is_empty());
        changes.only = reader.list(ByteReader::string)?;
        changes.unless = reader.list(ByteReader::string)?;
    }
    Some(changes)
}

fn operand(reader: &mut ByteReader) -> Option<Operand> {
    Some(Operand {
        role: reader.word(Role::ALL)?,
        count: match reader.byte()? {
            0 => Count::One,
            1 => Count::Optional,
            _ => Count::Any,
        },
        given: reader.list(ByteReader::string)?,
        unless: reader.list(ByteReader::string)?,
    })
}

fn does(reader: &mut ByteReader) -> Option<Does> {
    Some(Does {
        operation: reader.word(Operation::ALL)?,
        scope: reader.word(Scope::ALL)?,
        reversibility: reader.word(Reversibility::ALL)?,
        reach: reader.word(Reach::ALL)?,
        sensitivity: reader.word(Sensitivity::ALL)?,
        marks: reader.marks()?,
        condition: match reader.byte()? {
            0 => Condition::Always,
            1 => Condition::WithOperands,
            2 => Condition::Alone,
            3 => Condition::Assigning,
            4 => Condition::Unless(reader.byte()?, reader.list(ByteReader::string)?),
            5 => Condition::Bare,
            // Whatever is not known happens.
            _ => Condition::Always,
        },
    })
}

fn rule(reader: &mut ByteReader) -> Option<Rule> {
    let borrowed = |reader: &mut ByteReader| reader.text().map(Cow::Borrowed);
    Some(Rule {
        id: borrowed(reader)?,
        verdict: reader.word(Verdict::ALL)?,
        version: reader.number()?,
        stage: reader.word(Stage::ALL)?,
        clears: reader.option(Clearance::ALL)?,
        since: borrowed(reader)?,
        audited: borrowed(reader)?,
        what: borrowed(reader)?,
        why: borrowed(reader)?,
        instead: borrowed(reader)?,
        when: When {
            operation: reader.mask()?,
            scope: reader.mask()?,
            reversibility: reader.mask()?,
            reach: reader.mask()?,
            sensitivity: reader.mask()?,
            coverage: reader.mask()?,
            flow: reader.mask()?,
            all: reader.marks()?,
            any: reader.marks()?,
            none: reader.marks()?,
            taint: reader.list(borrowed)?,
            tool: reader.list(borrowed)?,
            strict: reader.byte()? != 0,
        },
    })
}
