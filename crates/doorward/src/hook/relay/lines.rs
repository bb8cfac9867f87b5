//! Messages as lines: read whole, kept byte for byte with their ends.

use std::io::{BufRead, Read, Result};

use crate::hook::LIMIT;

/// What a stream brings next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line with its end, as it came. At the end of the stream it may have none.
    Whole(Vec<u8>),
    /// A line beyond the limit, which is gone.
    TooLong,
    End,
}

/// Reads one line.
pub(super) fn next(stream: &mut impl BufRead) -> Result<Line> {
    let mut line = Vec::new();
    let read = stream.by_ref().take(LIMIT + 1).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if line.len() as u64 <= LIMIT || line.ends_with(b"\n") {
        return Ok(Line::Whole(line));
    }
    drop(line);
    skip(stream)?;
    Ok(Line::TooLong)
}

/// Reads the rest of a line without keeping it.
fn skip(stream: &mut impl BufRead) -> Result<()> {
    loop {
        let buffer = stream.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        stream.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_ends_and_the_last_one_may_have_none() {
        let mut stream: &[u8] = b"{}\r\n\n{\"a\":1}\nhalf";
        let lines: Vec<Line> = std::iter::from_fn(|| Some(next(&mut stream).unwrap())).take(5).collect();
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(lines, [whole("{}\r\n"), whole("\n"), whole("{\"a\":1}\n"), whole("half"), Line::End]);
    }
}
