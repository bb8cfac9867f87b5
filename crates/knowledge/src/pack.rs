//! Packs entries and rules into bytes that are read in place.
//!
//! Layout: `u32` counts and offsets in little endian, a sorted key table for programs, then length-prefixed records.

use std::collections::BTreeMap;

use doorward_vocabulary::Marks;

use crate::rule::{Mask, Rule, When};
use crate::schema::{Changes, Condition, Count, Does, Entry, Facets, Flag, Named, Operand, Takes};
use crate::server::Server;
use crate::tool::ToolEntry;

/// Bytes under construction.
#[derive(Debug, Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub fn bool(&mut self, value: bool) {
        self.byte(u8::from(value));
    }

    pub fn number(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub fn facets(&mut self, value: Facets) {
        self.bytes.extend_from_slice(&value.0.to_le_bytes());
    }

    pub fn long(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes().get(..usize::from(length)).unwrap_or_default());
    }

    pub fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        let length = u16::try_from(items.len()).unwrap_or(u16::MAX);
        self.bytes.extend_from_slice(&length.to_le_bytes());
        for item in items.iter().take(usize::from(length)) {
            write(self, item);
        }
    }

    /// An optional word: 0 for none, otherwise its number plus one.
    pub fn option(&mut self, value: Option<u8>) {
        self.byte(value.map_or(0, |value| value.saturating_add(1)));
    }

    pub fn marks(&mut self, marks: Marks) {
        for word in marks.words() {
            self.long(word);
        }
    }
}

/// Bytes that are written once, however often they are needed.
#[derive(Debug, Default)]
struct Pool {
    bytes: Vec<u8>,
    known: BTreeMap<Vec<u8>, u32>,
}

impl Pool {
    /// Where these bytes stand.
    fn place(&mut self, bytes: Vec<u8>) -> u32 {
        if let Some(known) = self.known.get(&bytes) {
            return *known;
        }
        let at = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.bytes.extend_from_slice(&bytes);
        self.known.insert(bytes, at);
        at
    }

    /// A table of where the records stand, so that one is found without reading the others.
    fn named<T>(&mut self, items: &Named<T>, mut write: impl FnMut(&mut Writer, &T)) -> u32 {
        let items = match items {
            Named::Listed(items) => items.as_slice(),
            // INVARIANT: only what a file lists is packed.
            Named::Packed(_) => &[],
        };
        let mut all = Writer::default();
        let length = u16::try_from(items.len()).unwrap_or(u16::MAX);
        all.bytes.extend_from_slice(&length.to_le_bytes());
        for item in items.iter().take(usize::from(length)) {
            let mut record = Writer::default();
            write(&mut record, item);
            all.number(self.place(record.bytes));
        }
        self.place(all.bytes)
    }
}

/// Packs everything. `entries` are pairs of a key and an entry; what is said twice is stored once.
pub fn pack(entries: &[(String, &Entry)], rules: &[Rule], tools: &[ToolEntry], servers: &[Server]) -> Vec<u8> {
    let mut sorted: Vec<&(String, &Entry)> = entries.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let (mut records, mut keys, mut pool) = (Pool::default(), Pool::default(), Pool::default());
    let mut table = Writer::default();
    for (key, item) in sorted {
        for text in [key, &*item.key] {
            let mut written = Writer::default();
            written.text(text);
            table.number(keys.place(written.bytes));
        }
        let mut record = Writer::default();
        entry(&mut record, item, &mut pool);
        table.number(records.place(record.bytes));
    }
    let mut packed_rules = Writer::default();
    for item in rules {
        rule(&mut packed_rules, item);
    }
    let mut packed_tools = Writer::default();
    for item in tools {
        for text in [&item.agent, &item.name, &item.what] {
            packed_tools.text(text);
        }
        packed_tools.byte(item.risk as u8);
        packed_tools.bool(item.harness);
        packed_tools.bool(item.prompts);
    }
    let mut packed_servers = Writer::default();
    for item in servers {
        server(&mut packed_servers, item);
    }
    let mut out = Writer::default();
    let parts = [keys.bytes, records.bytes, pool.bytes, packed_tools.bytes, packed_servers.bytes];
    let counts = [entries.len(), rules.len(), tools.len(), servers.len()];
    for count in counts.into_iter().chain(parts.iter().map(Vec::len)) {
        out.number(u32::try_from(count).unwrap_or(u32::MAX));
    }
    out.bytes.extend_from_slice(&table.bytes);
    for part in parts {
        out.bytes.extend_from_slice(&part);
    }
    out.bytes.extend_from_slice(&packed_rules.bytes);
    out.bytes
}

fn server(out: &mut Writer, server: &Server) {
    for list in [&server.names, &server.packages] {
        out.list(list, |out, text| out.text(text));
    }
    out.text(&server.what);
    out.list(&server.tools, |out, tool| {
        out.text(&tool.name);
        out.byte(tool.does as u8);
        out.text(&tool.command);
        out.list(&tool.takes, |out, (name, argument)| {
            out.text(name);
            out.byte(*argument as u8);
        });
    });
}

fn entry(out: &mut Writer, entry: &Entry, pool: &mut Pool) {
    // First, so that they are found without reading the rest.
    out.facets(entry.facets);
    out.option(entry.tasks.map(|word| word as u8));
    out.text(&entry.what);
    out.option(entry.style.map(|word| word as u8));
    out.option(entry.grammar.map(|word| word as u8));
    out.bool(entry.stops);
    out.bool(entry.numbers);
    out.bool(entry.inherits);
    out.bool(entry.helps);
    out.number(pool.named(&entry.flags, flag));
    out.list(&entry.operands, operand);
    out.bool(entry.default.is_some());
    if let Some(default) = &entry.default {
        operand(out, default);
    }
    out.list(&entry.does, does);
    out.list(&entry.extras, |out, (name, item)| {
        out.text(name);
        does(out, item);
    });
    for list in [&entry.delegates, &entry.env] {
        out.list(list, |out, text| out.text(text));
    }
    out.number(pool.named(&entry.subs, |out, text| out.text(text)));
    out.option(entry.console.map(|word| word as u8));
    out.option(entry.check.map(|word| word as u8));
    out.list(&entry.sections, |out, sections| {
        out.text(&sections.file);
        out.list(&sections.parts, |out, part| out.text(part));
    });
    out.number(pool.named(&entry.senses, |out, set| {
        out.text(&set.name);
        out.list(&set.words, |out, text| out.text(text));
    }));
}

fn flag(out: &mut Writer, flag: &Flag) {
    out.text(&flag.name);
    match flag.takes {
        Takes::Nothing => out.byte(0),
        Takes::Value(role) => {
            out.byte(1);
            out.byte(role as u8);
        }
        Takes::Glued(role) => {
            out.byte(2);
            out.byte(role as u8);
        }
    }
    out.list(&flag.more, |out, role| out.byte(*role as u8));
    changes(out, &flag.changes);
}

fn changes(out: &mut Writer, changes: &Changes) {
    let bits =
        [changes.dry_run, changes.info, changes.read_only, changes.opaque, changes.unknown, changes.ends, changes.task];
    let simple = bits.iter().enumerate().fold(0u8, |all, (index, bit)| all | (u8::from(*bit) << index));
    let has_values = !changes.only.is_empty() || !changes.unless.is_empty();
    let has_more = has_values || changes.operands.is_some() || changes.extra.is_some() || !changes.marks.is_empty();
    out.byte(simple | (u8::from(has_more) << 7));
    if has_more {
        out.marks(changes.marks);
        out.option(changes.operands.map(|role| role as u8));
        out.text(changes.extra.as_deref().unwrap_or_default());
        out.list(&changes.only, |out, text| out.text(text));
        out.list(&changes.unless, |out, text| out.text(text));
    }
}

fn operand(out: &mut Writer, operand: &Operand) {
    out.byte(operand.role as u8);
    out.byte(match operand.count {
        Count::One => 0,
        Count::Optional => 1,
        Count::Any => 2,
    });
    out.list(&operand.given, |out, text| out.text(text));
    out.list(&operand.unless, |out, text| out.text(text));
}

fn does(out: &mut Writer, does: &Does) {
    for word in
        [does.operation as u8, does.scope as u8, does.reversibility as u8, does.reach as u8, does.sensitivity as u8]
    {
        out.byte(word);
    }
    out.marks(does.marks);
    match &does.condition {
        Condition::Always => out.byte(0),
        Condition::WithOperands => out.byte(1),
        Condition::Alone => out.byte(2),
        Condition::Bare => out.byte(5),
        Condition::Assigning => out.byte(3),
        Condition::Unless(at, words) => {
            out.byte(4);
            out.byte(*at);
            out.list(words, |out, text| out.text(text));
        }
    }
}

fn rule(out: &mut Writer, rule: &Rule) {
    out.text(&rule.id);
    out.byte(rule.verdict as u8);
    out.number(rule.version);
    out.byte(rule.stage as u8);
    out.option(rule.clears.map(|word| word as u8));
    for text in [&rule.since, &rule.audited, &rule.what, &rule.why, &rule.instead] {
        out.text(text);
    }
    when(out, &rule.when);
}

fn when(out: &mut Writer, when: &When) {
    for Mask(bits) in
        [when.operation, when.scope, when.reversibility, when.reach, when.sensitivity, when.coverage, when.flow]
    {
        out.number(u32::from(bits));
    }
    for marks in [when.all, when.any, when.none] {
        out.marks(marks);
    }
    for list in [&when.taint, &when.tool] {
        out.list(list, |out, text| out.text(text));
    }
    out.bool(when.strict);
}
