//! Records as PostgreSQL's binary COPY wants them.

use bytes::{BufMut, BytesMut};
use doorward_ledger::{Keep, Kind, Record, Row};

/// The statement; the columns stand in the order in which `row` writes them.
pub(super) const INTO: &str = "copy record (edge, sequence, month, received_ms, time_ms, kind, kept, hash, body_hash, body_length, \
     body, subject, decision, agent, session, project, user_name, tool, verdict, rule, category, pattern, step, answered_by, \
     call, latency_us) from stdin (format binary)";
const COLUMNS: i16 = 26;

/// The number that stands for a kind: its place among all, from one. It never changes its meaning.
pub(crate) fn code(kind: Kind) -> i16 {
    let place = Kind::ALL.iter().position(|known| *known == kind).unwrap_or_default();
    i16::try_from(place + 1).unwrap_or_default()
}

/// Rows on their way into the table.
#[derive(Debug)]
pub(super) struct Rows {
    bytes: BytesMut,
    edge: i32,
    month: i32,
    received_ms: i64,
}

impl Rows {
    pub(super) fn new(edge: i32, month: i32, received_ms: u64) -> Self {
        let mut bytes = BytesMut::with_capacity(1 << 20);
        bytes.put_slice(b"PGCOPY\n\xff\r\n\0");
        bytes.put_i32(0);
        bytes.put_i32(0);
        Self { bytes, edge, month, received_ms: signed(received_ms) }
    }

    pub(super) fn add(&mut self, record: &Record, row: &Row) {
        let header = &record.header;
        self.bytes.put_i16(COLUMNS);
        self.int(self.edge);
        self.long(signed(header.sequence));
        self.int(self.month);
        self.long(self.received_ms);
        self.long(signed(header.time_ms));
        self.bytes.put_i32(2);
        self.bytes.put_i16(code(header.kind));
        self.field(&[u8::from(header.keep == Keep::Forever)]);
        self.field(record.hash.bytes());
        self.field(header.body_hash.bytes());
        self.int(i32::try_from(header.body_len).unwrap_or(i32::MAX));
        self.maybe(record.body.as_deref());
        let words = [
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
            &row.step,
            &row.by,
            &row.text,
        ];
        for word in words {
            self.text(word.as_deref());
        }
        match row.latency_us {
            Some(latency) => self.long(signed(latency)),
            None => self.bytes.put_i32(-1),
        }
    }

    pub(super) fn finish(mut self) -> bytes::Bytes {
        self.bytes.put_i16(-1);
        self.bytes.freeze()
    }

    fn int(&mut self, value: i32) {
        self.bytes.put_i32(4);
        self.bytes.put_i32(value);
    }

    fn long(&mut self, value: i64) {
        self.bytes.put_i32(8);
        self.bytes.put_i64(value);
    }

    fn field(&mut self, bytes: &[u8]) {
        self.bytes.put_i32(i32::try_from(bytes.len()).unwrap_or_default());
        self.bytes.put_slice(bytes);
    }

    fn maybe(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.field(bytes),
            None => self.bytes.put_i32(-1),
        }
    }

    /// PostgreSQL's text holds no zero byte; JSON does, escaped. The body keeps it.
    fn text(&mut self, text: Option<&str>) {
        match text {
            Some(text) if text.contains('\0') => self.field(text.replace('\0', "\u{fffd}").as_bytes()),
            other => self.maybe(other.map(str::as_bytes)),
        }
    }
}

/// An edge may say anything of its clock; the column ends where a signed number does.
pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
