//! Reads lines from any stream, one at a time, each up to a limit.

use std::io::{self, BufRead, Read};

/// The longest line to read.
// The same limit as for a hook's payload, so that `check --jsonl` accepts whatever the hook would.
pub(super) const LIMIT: usize = 64 << 20;

/// How much of a line's buffer to keep for the next one.
// One huge line must not keep its memory for the rest of a corpus with millions of short ones.
const KEPT: usize = 1 << 20;

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Text(&'a [u8]),
    /// The line exceeded the limit and was skipped; this is its start.
    TooLong(&'a [u8]),
}

/// Reads lines without ever holding more than one.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    limit: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, limit: usize) -> Lines<R> {
        Lines { input, limit, buffer: Vec::new() }
    }

    /// The next line without its end, or `None` after the last.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT);
        let limit = u64::try_from(self.limit).unwrap_or(u64::MAX).saturating_add(1);
        if self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        } else if self.buffer.len() > self.limit {
            self.skip_line()?;
            return Ok(Some(Line::TooLong(&self.buffer)));
        }
        Ok(Some(Line::Text(&self.buffer)))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                return Ok(());
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(chunk.len(), |at| at + 1);
            self.input.consume(used);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

impl<R: Read> Lines<io::BufReader<R>> {
    /// Reading the next line would have to wait for input.
    pub(super) fn is_drained(&self) -> bool {
        self.input.buffer().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_and_a_too_long_one_is_skipped() {
        let mut lines = Lines::new(&b"ab\n\nabcdefgh\nlast"[..], 4);
        assert_eq!(lines.next().unwrap(), Some(Line::Text(b"ab")));
        assert_eq!(lines.next().unwrap(), Some(Line::Text(b"")));
        assert_eq!(lines.next().unwrap(), Some(Line::TooLong(b"abcde")));
        assert_eq!(lines.next().unwrap(), Some(Line::Text(b"last")));
        assert_eq!(lines.next().unwrap(), None);
    }
}
