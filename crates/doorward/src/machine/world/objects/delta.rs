//! Deltas: an object encoded as pieces of another one plus new bytes.

use super::Unread;
use super::budget::Budget;

/// Applies a delta to its base.
pub(super) fn apply(base: &[u8], delta: &[u8], budget: &Budget) -> Result<Vec<u8>, Unread> {
    let mut delta = Bytes(delta);
    let from = delta.size()?;
    let size = usize::try_from(delta.size()?).map_err(|_| Unread::OverBudget)?;
    if from != base.len() as u64 {
        return Err(Unread::Corrupt);
    }
    budget.spend_bytes(size as u64)?;
    let mut made = Vec::with_capacity(size);
    while !delta.0.is_empty() {
        let piece = match delta.byte()? {
            0 => return Err(Unread::Corrupt),
            command if command & 0x80 != 0 => delta.copied(command, base)?,
            length => delta.take(usize::from(length))?,
        };
        if made.len() + piece.len() > size {
            return Err(Unread::Corrupt);
        }
        made.extend_from_slice(piece);
    }
    if made.len() == size { Ok(made) } else { Err(Unread::Corrupt) }
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Result<u8, Unread> {
        self.take(1)?.first().copied().ok_or(Unread::Corrupt)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Unread> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Unread::Corrupt)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Seven bits per byte, the lowest first.
    fn size(&mut self) -> Result<u64, Unread> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Unread::Corrupt)
    }

    /// A piece of the base: the command bits say which offset and length bytes follow.
    fn copied<'b>(&mut self, command: u8, base: &'b [u8]) -> Result<&'b [u8], Unread> {
        let mut number = |bits: std::ops::Range<u32>| {
            let mut value = 0usize;
            for (place, bit) in bits.enumerate() {
                if command & (1 << bit) != 0 {
                    value |= usize::from(self.byte()?) << (8 * place);
                }
            }
            Ok::<usize, Unread>(value)
        };
        let (start, length) = (number(0..4)?, number(4..7)?);
        let length = if length == 0 { 0x10000 } else { length };
        base.get(start..start.checked_add(length).ok_or(Unread::Corrupt)?).ok_or(Unread::Corrupt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &[u8], delta: &[u8], expected: Result<&[u8], Unread>) {
        let made = apply(base, delta, &Budget::new(1, 1 << 20));
        assert_eq!(made.as_deref(), expected.as_ref().map(|bytes| &**bytes), "{delta:?}");
    }

    #[test]
    fn pieces_and_new_bytes_make_the_object() {
        check(b"hello world", &[11, 8, 0x91, 6, 5, 3, b'a', b'b', b'c'], Ok(b"worldabc"));
        check(b"hello", &[5, 0], Ok(b""));
    }

    #[test]
    fn deltas_that_lie_are_corrupt() {
        check(b"hello", &[4, 1, 1, b'a'], Err(Unread::Corrupt));
        check(b"hello", &[5, 2, 1, b'a'], Err(Unread::Corrupt));
        check(b"hello", &[5, 1, 2, b'a', b'b'], Err(Unread::Corrupt));
        check(b"hello", &[5, 1, 0], Err(Unread::Corrupt));
        check(b"hello", &[5, 9, 0x91, 3, 9], Err(Unread::Corrupt));
        check(b"hello", &[5, 1, 0x9f, 0xff], Err(Unread::Corrupt));
        check(b"hello", &[5, 0x80], Err(Unread::Corrupt));
        check(b"hello", &[5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], Err(Unread::OverBudget));
    }
}
