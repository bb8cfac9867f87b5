//! The one form of tar that a bundle has: plain files with plain names, in order, and nothing else.
//!
//! What is read is written again and must come out the same, so there is nothing in a bundle that this reader passed over.

use std::collections::BTreeMap;

use super::Refused;

/// No bundle is longer.
// Policy is text that people write; a thousand times as much is no policy.
pub const LONGEST_BUNDLE: usize = 4 << 20;

const BLOCK: usize = 512;
const NAME: usize = 100;
const SIZE: std::ops::Range<usize> = 124..136;
const SUM: std::ops::Range<usize> = 148..156;

/// Files as one archive.
pub(super) fn write<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in files {
        out.extend(header(name, bytes.len()));
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(BLOCK), 0);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

fn header(name: &str, size: usize) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| {
        block.iter_mut().skip(at).zip(bytes).for_each(|(slot, byte)| *slot = *byte);
    };
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(SIZE.start, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(SUM.start, b"        ");
    put(156, b"0ustar\0");
    put(263, b"00");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    let sum = format!("{sum:06o}\0 ");
    block.iter_mut().skip(SUM.start).zip(sum.as_bytes()).for_each(|(slot, byte)| *slot = *byte);
    block
}

/// The files of an archive.
pub(super) fn read(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, Refused> {
    let wrong = |why: &str| Refused::Malformed(why.to_owned());
    if bytes.len() > LONGEST_BUNDLE {
        return Err(wrong("it is longer than a bundle may be"));
    }
    let (mut files, mut order) = (BTreeMap::new(), Vec::new());
    let mut rest = bytes;
    while rest.first().is_some_and(|byte| *byte != 0) {
        let (block, tail) = rest.split_at_checked(BLOCK).ok_or_else(|| wrong("it is cut off"))?;
        let name = name(block).ok_or_else(|| wrong("a file's name is none that a bundle may have"))?;
        let size = size(block).ok_or_else(|| wrong("a file's length can't be read"))?;
        let content = tail.get(..size).ok_or_else(|| wrong("it is cut off"))?;
        rest = tail.get(size.next_multiple_of(BLOCK)..).ok_or_else(|| wrong("it is cut off"))?;
        order.push((name.clone(), content));
        if files.insert(name, content.to_vec()).is_some() {
            return Err(wrong("it has two files of one name"));
        }
    }
    let again = write(order.iter().map(|(name, content)| (name.as_str(), *content)));
    if again != bytes {
        return Err(wrong("it holds something else than plain files"));
    }
    Ok(files)
}

/// A relative name of small letters, digits and a few marks: no way up, no way out, no two spellings of one file.
fn name(block: &[u8]) -> Option<String> {
    let field = block.get(..NAME)?;
    let end = field.iter().position(|byte| *byte == 0)?;
    let name = std::str::from_utf8(field.get(..end)?).ok()?;
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.'))
    };
    (name.split('/').count() <= 2 && name.split('/').all(is_plain)).then(|| name.to_owned())
}

fn size(block: &[u8]) -> Option<usize> {
    let digits = block.get(SIZE)?.strip_suffix(b"\0")?;
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok().filter(|size| *size <= LONGEST_BUNDLE)
}
