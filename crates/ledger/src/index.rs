//! The SQLite index: fed from the log when somebody asks, thrown away and made again whenever in doubt.

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::columns::{Filter, Row};
use crate::error::LogError;
use crate::event::Kind;
use crate::hash::Hash;
use crate::log::Log;
use crate::private::{self, Existing, FileError, Promise};
use crate::query;
use crate::read::{ReadError, Record};
use crate::record::TombstoneBody;
use crate::storage::Storage;
use crate::totals;

/// Changes whenever the columns do; an index of another version is made again.
const VERSION: i64 = 5;

// Everything here can be rebuilt from the log, so there are no migrations.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS fed (one INTEGER PRIMARY KEY CHECK (one = 1), sequence INTEGER, hash TEXT);
    CREATE TABLE IF NOT EXISTS records (
        sequence INTEGER PRIMARY KEY, time_ms INTEGER, kind TEXT, id TEXT, decision TEXT, agent TEXT, session TEXT,
        project TEXT, user TEXT, tool TEXT, verdict TEXT, rule TEXT, category TEXT, pattern TEXT, violation TEXT,
        step TEXT, by_whom TEXT, text TEXT, latency_us INTEGER, sensitive INTEGER, coverage TEXT, mode TEXT,
        unattended INTEGER, review TEXT, demanded TEXT, run TEXT);";

// Partial indexes: most records lack most of these columns, and approvals are the bulk of all decisions.
const LOOKUPS: &str = "
    CREATE INDEX IF NOT EXISTS by_time ON records (time_ms);
    CREATE INDEX IF NOT EXISTS by_id ON records (id) WHERE id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS by_decision ON records (decision) WHERE decision IS NOT NULL;
    CREATE INDEX IF NOT EXISTS by_session ON records (session) WHERE session IS NOT NULL;
    CREATE INDEX IF NOT EXISTS by_project ON records (project) WHERE project IS NOT NULL;
    CREATE INDEX IF NOT EXISTS by_rule ON records (rule) WHERE rule IS NOT NULL;
    CREATE INDEX IF NOT EXISTS by_violation ON records (violation) WHERE violation IS NOT NULL;
    CREATE INDEX IF NOT EXISTS confirms ON records (sequence) WHERE verdict = 'confirm';
    CREATE INDEX IF NOT EXISTS blocks ON records (sequence) WHERE verdict = 'block';
    CREATE INDEX IF NOT EXISTS other_kinds ON records (kind) WHERE kind <> 'decision';";

// `OR REPLACE`, since a run that was interrupted feeds the same records again.
const INSERT: &str = "INSERT OR REPLACE INTO records VALUES
    (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26)";

// The row stays with its sequence and kind, so counts do not change when a body is dropped.
const FORGET: &str = "UPDATE records SET id = NULL, decision = NULL, agent = NULL, session = NULL, project = NULL,
    user = NULL, tool = NULL, rule = NULL, pattern = NULL, step = NULL, by_whom = NULL, text = NULL
    WHERE sequence BETWEEN ?1 AND ?2 AND sensitive = 0";

/// Why a question could not be answered. The log is not harmed by any of these.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The index itself.
    #[error("the index can't be used: {0}; run `doorward audit reindex` to rebuild it")]
    Sqlite(#[from] rusqlite::Error),
    /// Its file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The answer could not be written.
    #[error("cannot write the answer: {0}")]
    Output(#[from] std::io::Error),
}

/// What feeding did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fed {
    /// New entries.
    pub records: u64,
    /// Stretches of the log that could not be read; `audit verify` says more.
    pub bad: u64,
    /// Whether the index was made anew, because the log is not the one it knew.
    pub anew: bool,
}

/// Answers questions about the log.
#[derive(Debug)]
pub struct Index {
    pub(crate) db: Connection,
    path: PathBuf,
}

impl Index {
    /// Opens the index, or makes an empty one.
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        private::write(path, b"", Existing::Leave, Promise::Whole)?;
        let db = Connection::open(path)?;
        // Another `audit` or `report` may be feeding the index; five seconds are longer than a usual feed.
        db.busy_timeout(Duration::from_secs(5))?;
        // Readers go on while another process feeds the index.
        db.pragma_update(None, "journal_mode", "wal")?;
        // It can be made again, so it need not survive a power cut.
        db.pragma_update(None, "synchronous", "off")?;
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let index = Self { db, path: path.to_owned() };
        if version != VERSION {
            index.clear()?;
        }
        Ok(index)
    }

    /// Throws the index away and makes it again.
    pub fn rebuild<S: Storage>(path: &Path, log: &Log<S>) -> Result<(Self, Fed), IndexError> {
        for ending in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            match std::fs::remove_file(&name) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    let path = PathBuf::from(name);
                    return Err(FileError::Io { doing: "remove", path, source }.into());
                }
                Ok(()) | Err(_) => {}
            }
        }
        let mut index = Self::open(path)?;
        let fed = index.feed(log)?;
        Ok((index, Fed { anew: true, ..fed }))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes in what the log has gained.
    pub fn feed<S: Storage>(&mut self, log: &Log<S>) -> Result<Fed, IndexError> {
        let known = self.known()?;
        let mut fed = Fed::default();
        let mut records = log.records_from(known.map_or(0, |(sequence, _)| sequence))?;
        if let Some((_, hash)) = known {
            // The last entry known must still be there, or this is another history.
            let same = records.next().is_some_and(|first| first.is_ok_and(|record| record.hash == hash));
            if !same {
                self.clear()?;
                records = log.records()?;
                fed.anew = true;
            }
        }
        self.take(records, &mut fed)?;
        Ok(fed)
    }

    /// Takes in entries that it has not seen.
    pub(crate) fn take(
        &mut self,
        records: impl Iterator<Item = Result<Record, ReadError>>,
        fed: &mut Fed,
    ) -> Result<(), IndexError> {
        let transaction = self.db.transaction()?;
        let (mut last, mut dropped, mut first) = (None, false, None);
        let mut durations = totals::Durations::default();
        for record in records {
            match record {
                Ok(record) => {
                    durations.note(take_in(&transaction, &record)?);
                    dropped |= record.header.kind == Kind::Tombstone;
                    first = first.or(Some(record.header.sequence));
                    last = Some((record.header.sequence, record.hash));
                    fed.records += 1;
                }
                Err(ReadError::Log(error)) => return Err(error.into()),
                Err(ReadError::Bad { .. }) => fed.bad += 1,
            }
        }
        if let Some((sequence, hash)) = last {
            transaction.execute(
                "INSERT OR REPLACE INTO fed VALUES (1, ?1, ?2)",
                params![stored(sequence), hash.to_string()],
            )?;
        }
        transaction.execute_batch(LOOKUPS)?;
        durations.store(&transaction)?;
        if let Some(first) = first {
            // What was forgotten must not live on in the sums.
            totals::add(&transaction, if dropped { 0 } else { first })?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// The entries that match, newest first unless the filter says otherwise.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Row>, IndexError> {
        query::list(&self.db, filter).map_err(IndexError::from)
    }

    /// The same one by one: a long record need not fit into memory.
    pub fn each(&self, filter: &Filter, take: impl FnMut(Row)) -> Result<(), IndexError> {
        query::each(&self.db, filter, take).map_err(IndexError::from)
    }

    /// When each agent was first recorded.
    pub fn first_by_agent(&self) -> Result<Vec<(String, u64)>, IndexError> {
        query::first_by_agent(&self.db).map_err(IndexError::from)
    }

    fn known(&self) -> Result<Option<(u64, Hash)>, IndexError> {
        let found = self
            .db
            .query_row("SELECT sequence, hash FROM fed", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
            })
            .optional()?;
        Ok(found.and_then(|(sequence, hash)| Some((shown(sequence), Hash::from_hex(&hash)?))))
    }

    fn clear(&self) -> Result<(), IndexError> {
        self.db.execute_batch("DROP TABLE IF EXISTS records; DROP TABLE IF EXISTS fed;")?;
        self.db.execute_batch(TABLES)?;
        self.db.execute_batch(totals::TABLES)?;
        self.db.pragma_update(None, "user_version", VERSION)?;
        Ok(())
    }
}

/// SQLite's integers are signed; the bits stay the same.
pub(crate) const fn stored(number: u64) -> i64 {
    number.cast_signed()
}

/// The number that was stored.
pub(crate) const fn shown(number: i64) -> u64 {
    number.cast_unsigned()
}

fn take_in(transaction: &Transaction<'_>, record: &Record) -> rusqlite::Result<Row> {
    let row = Row::of(record);
    transaction.prepare_cached(INSERT)?.execute(params![
        stored(row.sequence),
        stored(row.time_ms),
        row.kind,
        row.id,
        row.decision,
        row.agent,
        row.session,
        row.project,
        row.user,
        row.tool,
        row.verdict,
        row.rule,
        row.category,
        row.pattern,
        row.violation,
        row.step,
        row.by,
        row.text,
        row.latency_us.map(stored),
        row.sensitive,
        row.coverage,
        row.mode,
        row.unattended,
        row.review,
        row.demanded,
        row.run
    ])?;
    if record.header.kind == Kind::Tombstone {
        let body = record.body.as_deref().unwrap_or_default();
        let ranges = serde_json::from_slice::<TombstoneBody>(body).map(|tombstone| tombstone.dropped);
        for (from, to) in ranges.unwrap_or_default() {
            transaction.prepare_cached(FORGET)?.execute(params![stored(from), stored(to)])?;
        }
    }
    Ok(row)
}
