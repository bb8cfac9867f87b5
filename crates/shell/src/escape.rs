//! The escapes of `$'…'`.

/// What stands between the quotes of `$'…'`, resolved; `None` if the result is not text.
pub(crate) fn resolve(raw: &str) -> Option<String> {
    if !raw.contains('\\') {
        return Some(raw.to_owned());
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = match (byte, tail.split_first()) {
            (b'\\', Some((kind, tail))) => one(*kind, tail, &mut out)?,
            _ => {
                out.push(*byte);
                tail
            }
        };
    }
    // A NUL ends the string that bash stores.
    let end = out.iter().position(|byte| *byte == 0).unwrap_or(out.len());
    out.truncate(end);
    String::from_utf8(out).ok()
}

/// One escape whose kind is known; yields what follows it.
fn one<'a>(kind: u8, tail: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let simple = match kind {
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' | b'\'' | b'"' | b'?' => kind,
        b'0'..=b'7' => return Some(octal(kind, tail, out)),
        // bash has `\x{…}` without documenting it, so it may change.
        b'x' if tail.first() == Some(&b'{') => return None,
        b'x' => return number(tail, 2, kind, out),
        b'u' => return number(tail, 4, kind, out),
        b'U' => return number(tail, 8, kind, out),
        b'c' => return Some(control(tail, out)),
        _ => {
            out.extend([b'\\', kind]);
            return Some(tail);
        }
    };
    out.push(simple);
    Some(tail)
}

fn octal<'a>(first: u8, mut tail: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let mut value = u32::from(first - b'0');
    for _ in 0..2 {
        let Some((digit @ b'0'..=b'7', rest)) = tail.split_first() else {
            break;
        };
        value = value * 8 + u32::from(digit - b'0');
        tail = rest;
    }
    // `\777` wraps to one byte in bash.
    out.push((value & 0xff) as u8);
    tail
}

/// `\xHH`, `\uHHHH`, `\UHHHHHHHH`.
fn number<'a>(mut tail: &'a [u8], digits: usize, kind: u8, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut value = 0_u32;
    let mut count = 0;
    while count < digits
        && let Some((byte, rest)) = tail.split_first()
        && let Some(digit) = char::from(*byte).to_digit(16)
    {
        value = value.checked_mul(16)?.checked_add(digit)?;
        tail = rest;
        count += 1;
    }
    if count == 0 {
        out.extend([b'\\', kind]);
    } else if kind == b'x' {
        out.push((value & 0xff) as u8);
    } else {
        let mut buffer = [0; 4];
        out.extend(char::from_u32(value)?.encode_utf8(&mut buffer).bytes());
    }
    Some(tail)
}

/// `\cx`
fn control<'a>(tail: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let Some((byte, rest)) = tail.split_first() else {
        out.extend(b"\\c");
        return tail;
    };
    // `\c\\` takes two backslashes for one control character.
    let rest = match (byte, rest.split_first()) {
        (b'\\', Some((b'\\', after))) => after,
        _ => rest,
    };
    out.push(if *byte == b'?' { 0x7f } else { byte.to_ascii_uppercase() & 0x1f });
    rest
}

/// An escape that bash keeps as it stands, and zsh does not.
pub(crate) fn is_read_differently(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        // Escapes that bash and zsh resolve alike.
        let same = |next: u8| b"abefnrtv\\'\"xuU01234567".contains(&next);
        if byte == b'\\' && !bytes.next().is_some_and(same) {
            return true;
        }
    }
    false
}
