//! Writes entries out for other programs: whole as JSON lines, or their columns as CSV or Parquet.

use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::columns::{Filter, Row};
use crate::index::{Index, IndexError};
use crate::log::Log;
use crate::parquet::Parquet;
use crate::read::{ReadError, Record};
use crate::storage::Storage;

/// Rows held in memory at once.
// A few megabytes of rows. Writing page by page keeps the export of a million records within that.
const PAGE: u32 = 20_000;

/// How entries are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line, body included.
    Jsonl,
    /// A line of column names, then one line per entry.
    Csv,
    /// Apache Parquet, uncompressed, one row group per page.
    Parquet,
}

/// One entry as a line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    sequence: u64,
    time_ms: u64,
    kind: &'static str,
    hash: String,
    previous: String,
    body: Option<&'a RawValue>,
}

impl Record {
    /// The entry as one line of JSON, without the line end.
    pub fn to_line(&self) -> io::Result<String> {
        let body = self.body.as_deref().map(serde_json::from_slice::<&RawValue>).transpose()?;
        let line = Line {
            sequence: self.header.sequence,
            time_ms: self.header.time_ms,
            kind: self.header.kind.word(),
            hash: self.hash.to_string(),
            previous: self.header.previous.to_string(),
            body,
        };
        Ok(serde_json::to_string(&line)?)
    }
}

impl Index {
    /// Writes the entries that match, oldest first; returns how many.
    pub fn export<S: Storage>(
        &self,
        log: &Log<S>,
        filter: &Filter,
        format: Format,
        out: &mut dyn Write,
    ) -> Result<u64, IndexError> {
        match format {
            Format::Jsonl => self.pages(filter, |rows| jsonl(log, rows, out)),
            Format::Csv => {
                out.write_all(HEADING.as_bytes())?;
                self.pages(filter, |rows| Ok(csv(rows, out)?))
            }
            Format::Parquet => {
                let mut file = Parquet::begin(out)?;
                let count = self.pages(filter, |rows| Ok(file.add(rows)?))?;
                file.end()?;
                Ok(count)
            }
        }
    }

    /// Hands over what matches page by page, oldest first; sums what the pages return.
    fn pages(
        &self,
        filter: &Filter,
        mut page: impl FnMut(&[Row]) -> Result<u64, IndexError>,
    ) -> Result<u64, IndexError> {
        let mut total = 0;
        let mut left = filter.limit;
        let mut filter = Filter { oldest_first: true, ..filter.clone() };
        loop {
            let limit = left.unwrap_or(PAGE).min(PAGE);
            filter.limit = Some(limit);
            let rows = if limit == 0 { Vec::new() } else { self.list(&filter)? };
            let Some(last) = rows.last() else { return Ok(total) };
            filter.after = Some(last.sequence);
            left = left.map(|left| left.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX)));
            total += page(&rows)?;
        }
    }
}

fn jsonl<S: Storage>(log: &Log<S>, rows: &[Row], out: &mut dyn Write) -> Result<u64, IndexError> {
    let wanted: BTreeSet<u64> = rows.iter().map(|row| row.sequence).collect();
    let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
        return Ok(0);
    };
    let mut written = 0;
    for record in log.records_from(*first)? {
        match record {
            Ok(record) if record.header.sequence > *last => break,
            Ok(record) if wanted.contains(&record.header.sequence) => {
                writeln!(out, "{}", record.to_line()?)?;
                written += 1;
            }
            Ok(_) | Err(ReadError::Bad { .. }) => {}
            Err(ReadError::Log(error)) => return Err(error.into()),
        }
    }
    Ok(written)
}

// The order is a promise to whoever imports the file; new columns go to the end.
const HEADING: &str = "sequence,time_ms,kind,id,decision,agent,session,project,user,tool,verdict,rule,category,pattern,\
    violation,step,by,text,latency_us,sensitive\n";

fn csv(rows: &[Row], out: &mut dyn Write) -> io::Result<u64> {
    for row in rows {
        let latency = row.latency_us.map(|latency| latency.to_string());
        write!(out, "{},{},{}", row.sequence, row.time_ms, row.kind)?;
        let fields = [
            &row.id,
            &row.decision,
            &row.agent,
            &row.session,
            &row.project,
            &row.user,
            &row.tool,
            &row.verdict,
            &row.rule,
            &row.category,
            &row.pattern,
            &row.violation,
            &row.step,
            &row.by,
            &row.text,
            &latency,
        ];
        for field in fields {
            write!(out, ",{}", quoted(field.as_deref().unwrap_or_default()))?;
        }
        writeln!(out, ",{}", row.sensitive)?;
    }
    Ok(rows.len() as u64)
}

/// A field that no reader takes apart and no spreadsheet takes for a formula.
fn quoted(field: &str) -> String {
    let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if formula { "'" } else { "" };
    if formula || field.contains([',', '"', '\n', '\r']) {
        format!("\"{guard}{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_quoted_where_needed_and_never_a_formula() {
        let check = |field, want| assert_eq!(quoted(field), want, "{field}");
        check("ls -la", "ls -la");
        check("a,b", "\"a,b\"");
        check("say \"x\"", "\"say \"\"x\"\"\"");
        check("=1+1", "\"'=1+1\"");
        check("", "");
    }
}
