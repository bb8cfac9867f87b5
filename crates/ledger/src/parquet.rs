//! Writes rows as an Apache Parquet file: flat columns, plain encoding, no compression, so that no library is needed.

use std::io::{self, Write};

use crate::columns::Row;
use crate::thrift::{Struct, varint};

const MAGIC: &[u8; 4] = b"PAR1";
// Numbers of Parquet's own enums; only the two encodings that are written are named.
const PLAIN: i32 = 0;
const RLE: i32 = 3;

/// Physical and converted type of a column, by their numbers in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Count,
    Time,
    Text,
    Truth,
}

impl Kind {
    const fn physical(self) -> i32 {
        match self {
            Self::Truth => 0,
            Self::Count | Self::Time => 2,
            Self::Text => 6,
        }
    }

    const fn converted(self) -> Option<i32> {
        match self {
            Self::Text => Some(0),
            Self::Time => Some(9),
            Self::Count => Some(14),
            Self::Truth => None,
        }
    }
}

/// What a cell holds.
enum Cell<'a> {
    Count(u64),
    Text(&'a str),
    Truth(bool),
}

/// A column: its name, its type and where its cells come from. Every column may be empty, which keeps readers simple.
struct Column {
    name: &'static str,
    kind: Kind,
    cell: fn(&Row) -> Option<Cell<'_>>,
}

fn text(value: Option<&String>) -> Option<Cell<'_>> {
    value.map(|value| Cell::Text(value))
}

// Types are chosen for the readers: pyarrow and DuckDB map them without a schema.
const COLUMNS: [Column; 20] = [
    Column { name: "sequence", kind: Kind::Count, cell: |row| Some(Cell::Count(row.sequence)) },
    Column { name: "time", kind: Kind::Time, cell: |row| Some(Cell::Count(row.time_ms)) },
    Column { name: "kind", kind: Kind::Text, cell: |row| text(Some(&row.kind)) },
    Column { name: "id", kind: Kind::Text, cell: |row| text(row.id.as_ref()) },
    Column { name: "decision", kind: Kind::Text, cell: |row| text(row.decision.as_ref()) },
    Column { name: "agent", kind: Kind::Text, cell: |row| text(row.agent.as_ref()) },
    Column { name: "session", kind: Kind::Text, cell: |row| text(row.session.as_ref()) },
    Column { name: "project", kind: Kind::Text, cell: |row| text(row.project.as_ref()) },
    Column { name: "user", kind: Kind::Text, cell: |row| text(row.user.as_ref()) },
    Column { name: "tool", kind: Kind::Text, cell: |row| text(row.tool.as_ref()) },
    Column { name: "verdict", kind: Kind::Text, cell: |row| text(row.verdict.as_ref()) },
    Column { name: "rule", kind: Kind::Text, cell: |row| text(row.rule.as_ref()) },
    Column { name: "category", kind: Kind::Text, cell: |row| text(row.category.as_ref()) },
    Column { name: "pattern", kind: Kind::Text, cell: |row| text(row.pattern.as_ref()) },
    Column { name: "violation", kind: Kind::Text, cell: |row| text(row.violation.as_ref()) },
    Column { name: "step", kind: Kind::Text, cell: |row| text(row.step.as_ref()) },
    Column { name: "by", kind: Kind::Text, cell: |row| text(row.by.as_ref()) },
    Column { name: "text", kind: Kind::Text, cell: |row| text(row.text.as_ref()) },
    Column { name: "latency_us", kind: Kind::Count, cell: |row| row.latency_us.map(Cell::Count) },
    Column { name: "sensitive", kind: Kind::Truth, cell: |row| Some(Cell::Truth(row.sensitive)) },
];

/// Where a column's page of one group lies.
struct Chunk {
    offset: u64,
    bytes: u64,
}

/// A file that is being written.
pub(crate) struct Parquet<'a> {
    out: &'a mut dyn Write,
    at: u64,
    groups: Vec<(u64, Vec<Chunk>)>,
}

impl<'a> Parquet<'a> {
    pub(crate) fn begin(out: &'a mut dyn Write) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out, at: MAGIC.len() as u64, groups: Vec::new() })
    }

    /// Adds rows as one row group; returns how many.
    pub(crate) fn add(&mut self, rows: &[Row]) -> io::Result<u64> {
        let mut chunks = Vec::with_capacity(COLUMNS.len());
        for column in &COLUMNS {
            let page = page(column, rows)?;
            self.out.write_all(&page)?;
            chunks.push(Chunk { offset: self.at, bytes: page.len() as u64 });
            self.at += page.len() as u64;
        }
        self.groups.push((rows.len() as u64, chunks));
        Ok(rows.len() as u64)
    }

    /// Writes the footer.
    pub(crate) fn end(self) -> io::Result<()> {
        let total: u64 = self.groups.iter().map(|(rows, _)| rows).sum();
        let root = Struct::default().text(4, "records").i32(5, COLUMNS.len() as i32);
        let columns = COLUMNS.iter().map(|column| {
            let element = Struct::default().i32(1, column.kind.physical()).i32(3, 1).text(4, column.name);
            match column.kind.converted() {
                Some(converted) => element.i32(6, converted),
                None => element,
            }
        });
        let schema: Vec<Struct> = std::iter::once(root).chain(columns).collect();
        let footer = Struct::default()
            .i32(1, 1)
            .structs(2, schema.into_iter())
            .i64(3, total.cast_signed())
            .structs(4, self.groups.iter().map(|(rows, chunks)| group(*rows, chunks)))
            .text(6, concat!("doorward ", env!("CARGO_PKG_VERSION")))
            .end();
        self.out.write_all(&footer)?;
        self.out.write_all(&length(footer.len())?)?;
        self.out.write_all(MAGIC)
    }
}

fn group(rows: u64, chunks: &[Chunk]) -> Struct {
    let bytes: u64 = chunks.iter().map(|chunk| chunk.bytes).sum();
    let columns = COLUMNS.iter().zip(chunks).map(|(column, chunk)| {
        let meta = Struct::default()
            .i32(1, column.kind.physical())
            .numbers(2, &[PLAIN, RLE])
            .texts(3, &[column.name])
            .i32(4, 0)
            .i64(5, rows.cast_signed())
            .i64(6, chunk.bytes.cast_signed())
            .i64(7, chunk.bytes.cast_signed())
            .i64(9, chunk.offset.cast_signed());
        Struct::default().i64(2, chunk.offset.cast_signed()).nested(3, meta)
    });
    Struct::default().structs(1, columns).i64(2, bytes.cast_signed()).i64(3, rows.cast_signed())
}

/// One page with its header: which cells are there, then those that are.
fn page(column: &Column, rows: &[Row]) -> io::Result<Vec<u8>> {
    let cells: Vec<Option<Cell<'_>>> = rows.iter().map(column.cell).collect();
    let present = bits(cells.iter().map(Option::is_some));
    let mut levels = Vec::with_capacity(present.len() + 4);
    varint(&mut levels, ((present.len() as u64) << 1) | 1);
    levels.extend(present);
    let mut data = length(levels.len())?.to_vec();
    data.extend(levels);
    values(column.kind, cells.iter().flatten(), &mut data)?;
    let size = i32::try_from(data.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let count = i32::try_from(rows.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let data_page = Struct::default().i32(1, count).i32(2, PLAIN).i32(3, RLE).i32(4, RLE);
    let mut page = Struct::default().i32(1, 0).i32(2, size).i32(3, size).nested(5, data_page).end();
    page.extend(data);
    Ok(page)
}

fn values<'a>(kind: Kind, cells: impl Iterator<Item = &'a Cell<'a>>, out: &mut Vec<u8>) -> io::Result<()> {
    if kind == Kind::Truth {
        out.extend(bits(cells.map(|cell| matches!(cell, Cell::Truth(true)))));
        return Ok(());
    }
    for cell in cells {
        match cell {
            Cell::Count(count) => out.extend(count.to_le_bytes()),
            Cell::Text(text) => {
                out.extend(length(text.len())?);
                out.extend_from_slice(text.as_bytes());
            }
            Cell::Truth(_) => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
    Ok(())
}

/// Eight to a byte, the lowest bit first.
fn bits(flags: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, flag) in flags.enumerate() {
        if at % 8 == 0 {
            out.push(0);
        }
        if let Some(last) = out.last_mut() {
            *last |= u8::from(flag) << (at % 8);
        }
    }
    out
}

fn length(bytes: usize) -> io::Result<[u8; 4]> {
    Ok(u32::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?.to_le_bytes())
}
