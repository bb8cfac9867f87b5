//! Writes Thrift's compact protocol, as far as the footer of a Parquet file needs it.

/// The type of a field or of a list's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    I32 = 5,
    I64 = 6,
    Binary = 8,
    List = 9,
    Struct = 12,
}

/// One structure that is being written: fields in ascending order, then the end.
#[derive(Debug, Default)]
pub(crate) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    pub(crate) fn i32(mut self, id: u8, value: i32) -> Self {
        self.field(id, Type::I32);
        zigzag(&mut self.bytes, i64::from(value));
        self
    }

    pub(crate) fn i64(mut self, id: u8, value: i64) -> Self {
        self.field(id, Type::I64);
        zigzag(&mut self.bytes, value);
        self
    }

    pub(crate) fn text(mut self, id: u8, value: &str) -> Self {
        self.field(id, Type::Binary);
        binary(&mut self.bytes, value);
        self
    }

    pub(crate) fn nested(mut self, id: u8, value: Self) -> Self {
        self.field(id, Type::Struct);
        self.bytes.extend(value.end());
        self
    }

    pub(crate) fn structs(mut self, id: u8, values: impl ExactSizeIterator<Item = Self>) -> Self {
        self.list(id, Type::Struct, values.len());
        values.for_each(|value| self.bytes.extend(value.end()));
        self
    }

    pub(crate) fn numbers(mut self, id: u8, values: &[i32]) -> Self {
        self.list(id, Type::I32, values.len());
        values.iter().for_each(|value| zigzag(&mut self.bytes, i64::from(*value)));
        self
    }

    pub(crate) fn texts(mut self, id: u8, values: &[&str]) -> Self {
        self.list(id, Type::Binary, values.len());
        values.iter().for_each(|value| binary(&mut self.bytes, value));
        self
    }

    /// The bytes, with the sign that nothing follows.
    pub(crate) fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn field(&mut self, id: u8, kind: Type) {
        // No structure of ours skips more than fifteen numbers, so the short form always fits.
        self.bytes.push((id.saturating_sub(self.last) << 4) | kind as u8);
        self.last = id;
    }

    fn list(&mut self, id: u8, kind: Type, count: usize) {
        self.field(id, Type::List);
        match u8::try_from(count) {
            Ok(few @ 0..15) => self.bytes.push((few << 4) | kind as u8),
            Ok(_) | Err(_) => {
                self.bytes.push(0xf0 | kind as u8);
                varint(&mut self.bytes, count as u64);
            }
        }
    }
}

fn binary(out: &mut Vec<u8>, value: &str) {
    varint(out, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
}

fn zigzag(out: &mut Vec<u8>, value: i64) {
    varint(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Seven bits a byte, the lowest first.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_the_protocol_says() {
        let bytes = Struct::default().i32(1, 1).i64(3, -2).text(4, "ab").numbers(5, &[0, 3]).end();
        assert_eq!(bytes, [0x15, 2, 0x26, 3, 0x18, 2, b'a', b'b', 0x19, 0x25, 0, 6, 0]);
        let long = Struct::default().numbers(1, &[0; 300]).end();
        assert_eq!(long[..4], [0x19, 0xf5, 0xac, 0x02]);
    }
}
