//! Numbers that belong to a person: payment cards, bank accounts, social security.

/// Numbers that documentation and payment services publish for testing.
// They pass every checksum and stand in thousands of test suites; flagging them would teach people to ignore the
// mark.
const PUBLISHED: &[&[u8]] = &[
    b"4242424242424242",
    b"4111111111111111",
    b"4012888888881881",
    b"5555555555554444",
    b"5105105105105100",
    b"378282246310005",
    b"371449635398431",
    b"6011111111111117",
    b"6011000990139424",
    b"3530111333300000",
    b"3566002020360505",
    b"4000056655665556",
    b"5200828282828210",
    b"4000000000000002",
    b"30569309025904",
    b"38520000023237",
    b"2223003122003222",
    b"123456789",
    b"078051120",
];

/// The text is a list of people: addresses of several of them.
pub(crate) fn lists_people(text: &str) -> bool {
    /// A team has a handful of addresses in its documents; a list of customers has more.
    const SEVERAL: usize = 5;
    let words =
        text.split(|sign: char| sign.is_whitespace() || matches!(sign, ',' | ';' | '"' | '\'' | '<' | '>' | '|'));
    let mut found: Vec<&str> = Vec::new();
    for word in words.filter(|word| is_mailbox(word)) {
        if !found.contains(&word) {
            found.push(word);
        }
        if found.len() >= SEVERAL {
            return true;
        }
    }
    false
}

/// `anna@host.org`, of somebody who may exist.
fn is_mailbox(word: &str) -> bool {
    // Reserved for documentation, or written by programs.
    const NOBODY: &[&str] = &["example", "test", "invalid", "localhost", "noreply", "no-reply", "users.noreply"];
    let Some((name, host)) = word.split_once('@') else { return false };
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._%+-".contains(&byte))
    };
    let is_made_up = NOBODY.iter().any(|known| name == *known || host.split('.').any(|label| label == *known));
    is_name(name) && is_name(host) && host.contains('.') && !is_made_up
}

/// The length of the card or social security number at the start of `bytes`, with its kind.
pub(super) fn number(bytes: &[u8]) -> Option<(usize, &'static str)> {
    let mut digits = [0u8; 20];
    let mut count = 0;
    let mut groups = [0usize; 8];
    let mut group = 0;
    let mut length = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                *digits.get_mut(count)? = *byte;
                count += 1;
                *groups.get_mut(group)? += 1;
                length = at + 1;
            }
            b' ' | b'-' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) && at > 0 => group += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-' | b'/' | b':' => return None,
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => return None,
            _ => break,
        }
        if group >= groups.len() {
            return None;
        }
    }
    let digits = digits.get(..count)?;
    if PUBLISHED.contains(&digits) {
        return None;
    }
    match (count, groups.get(..=group)?) {
        (9, [3, 2, 4]) if is_social(digits) && bytes.get(3) == Some(&b'-') => Some((length, "social-security")),
        (14..=16, [_] | [4, 4, 4, 4] | [4, 6, 5] | [4, 6, 4]) if is_card(digits) => Some((length, "card")),
        _ => None,
    }
}

fn is_social(digits: &[u8]) -> bool {
    let all = |part: Option<&[u8]>, byte: u8| part.is_some_and(|part| part.iter().all(|digit| *digit == byte));
    !all(digits.get(..3), b'0')
        && !all(digits.get(..3), b'6')
        && digits.first() != Some(&b'9')
        && !all(digits.get(3..5), b'0')
        && !all(digits.get(5..), b'0')
}

fn is_card(digits: &[u8]) -> bool {
    let leading =
        |count: usize| digits.iter().take(count).fold(0u32, |value, digit| value * 10 + u32::from(digit - b'0'));
    let is_issued = match digits.len() {
        16 => {
            matches!(leading(1), 4)
                || matches!(leading(2), 51..=55 | 65 | 35)
                || matches!(leading(4), 2221..=2720 | 6011)
        }
        15 => matches!(leading(2), 34 | 37),
        14 => matches!(leading(2), 36 | 38 | 30),
        _ => false,
    };
    is_issued && luhn(digits) && digits.iter().any(|digit| Some(digit) != digits.first())
}

fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(digit - b'0') << (place % 2);
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The length of the bank account number at the start of `bytes`: country, check digits, account; spaces between
/// groups of four.
pub(super) fn account(bytes: &[u8]) -> Option<usize> {
    let is_country =
        bytes.get(..2)?.iter().all(u8::is_ascii_uppercase) && bytes.get(2..4)?.iter().all(u8::is_ascii_digit);
    if !is_country {
        return None;
    }
    let mut letters = [0u8; 34];
    let (mut count, mut length) = (0, 0);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'A'..=b'Z' | b'0'..=b'9' => {
                *letters.get_mut(count)? = *byte;
                count += 1;
                length = at + 1;
            }
            b' ' if count.is_multiple_of(4) && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {}
            b'a'..=b'z' | b'_' | b'-' | b'+' | b'/' | b'=' => return None,
            _ => break,
        }
    }
    let letters = letters.get(..count).filter(|letters| letters.len() >= 15)?;
    let digits = letters.iter().filter(|letter| letter.is_ascii_digit()).count();
    (digits * 2 >= count && remainder(letters) == 1).then_some(length)
}

/// The remainder by 97 after the first four letters are moved to the end.
fn remainder(letters: &[u8]) -> u32 {
    let (head, tail) = letters.split_at_checked(4).unwrap_or((letters, &[]));
    tail.iter().chain(head).fold(0, |value, letter| match letter {
        b'0'..=b'9' => (value * 10 + u32::from(letter - b'0')) % 97,
        _ => (value * 100 + u32::from(letter - b'A') + 10) % 97,
    })
}
