//! Inflates git's compressed data, never more than announced.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_COMPUTE_ADLER32, TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_PARSE_ZLIB_HEADER,
    TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use super::Unread;

/// Bytes read from a pack at first: most deltas are short.
const FIRST: usize = 1 << 10;

/// Bytes read at a time from what did not fit into those.
// A page of the disk cache holds four kilobytes; fewer, larger reads than that save system calls.
const FURTHER: usize = 16 << 10;

/// The output is one buffer, because the format refers back into it.
const FLAGS: u32 = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_COMPUTE_ADLER32 | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;

/// Deflated bytes: some in memory, more behind them in a file.
pub(super) struct Input<'a> {
    pub chunk: Vec<u8>,
    pub used: usize,
    pub more: Option<(&'a File, u64)>,
}

impl Input<'_> {
    /// Gets the next bytes. False when there are none.
    pub(super) fn refill(&mut self) -> Result<bool, Unread> {
        let Some((file, at)) = &mut self.more else { return Ok(false) };
        self.chunk.resize(if self.chunk.is_empty() { FIRST } else { FURTHER }, 0);
        let read = file.read_at(&mut self.chunk, *at).map_err(|_| Unread::Unreadable)?;
        self.chunk.truncate(read);
        self.used = 0;
        *at += read as u64;
        Ok(read > 0)
    }

    pub(super) fn rest(&self) -> &[u8] {
        self.chunk.get(self.used..).unwrap_or_default()
    }
}

/// The inflater's state, reused because it is large.
pub(super) struct Inflater {
    state: Box<DecompressorOxide>,
    made: usize,
}

impl fmt::Debug for Inflater {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Inflater")
    }
}

impl Inflater {
    pub(super) fn new() -> Inflater {
        Inflater { state: Box::default(), made: 0 }
    }

    /// Inflates a stream of exactly `size` bytes. The caller has checked the budget.
    pub(super) fn whole(&mut self, input: &mut Input<'_>, size: usize) -> Result<Vec<u8>, Unread> {
        let (bytes, ended) = self.start(input, size + 1)?;
        if ended && bytes.len() == size { Ok(bytes) } else { Err(Unread::Corrupt) }
    }

    /// Starts a stream, inflates up to `length` bytes of it, and returns whether it ended.
    pub(super) fn start(&mut self, input: &mut Input<'_>, length: usize) -> Result<(Vec<u8>, bool), Unread> {
        self.state.init();
        self.made = 0;
        let mut out = Vec::new();
        let ended = self.fill(input, &mut out, length)?;
        Ok((out, ended))
    }

    /// Inflates until there are `length` bytes or the stream ends; returns whether it ended.
    pub(super) fn fill(&mut self, input: &mut Input<'_>, out: &mut Vec<u8>, length: usize) -> Result<bool, Unread> {
        out.resize(length, 0);
        let mut more = TINFL_FLAG_HAS_MORE_INPUT;
        let ended = loop {
            let (status, used, made) = decompress(&mut self.state, input.rest(), out, self.made, FLAGS | more);
            input.used += used;
            self.made += made;
            if status == TINFLStatus::Done {
                break true;
            } else if status == TINFLStatus::HasMoreOutput {
                break false;
            } else if status != TINFLStatus::NeedsMoreInput || more == 0 {
                return Err(Unread::Corrupt);
            } else if !input.refill()? {
                more = 0;
            }
        };
        out.truncate(self.made);
        Ok(ended)
    }
}
