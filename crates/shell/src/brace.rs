//! Brace expansion: `{a,b}` and `{1..9}`, matched the way bash matches them.

use crate::{Part, Quoting, Word};

/// More braces and commas in one word than a person writes; the matching is quadratic in them.
// The word may be 128 KiB of commas that an agent generated; people write a handful.
const MAX_MARKS: usize = 256;
// Each level is a recursion, and alternatives multiply: 12 levels of two are 4,096 words already.
const MAX_NESTED: usize = 12;

/// A `{`, `}` or `,` in the bare text of a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    byte: u8,
    part: usize,
    offset: usize,
}

impl Mark {
    /// Whether braces can be expanded at all: one closes.
    pub(crate) fn any_closes(marks: &[Mark]) -> bool {
        marks.iter().any(|mark| mark.byte == b'}')
    }

    /// The mark for a byte that was just added to `parts`.
    pub(crate) fn at_end(byte: u8, parts: &[Part]) -> Self {
        let offset = match parts.last() {
            Some(Part::Text { text, .. }) => text.len().saturating_sub(1),
            Some(_) | None => 0,
        };
        Mark { byte, part: parts.len().saturating_sub(1), offset }
    }
}

enum Item {
    Part(Part),
    Open,
    Close,
    Comma,
}

/// The parts with alternatives and ranges in place of the braces that form them; an error if there are too many.
pub(crate) fn expand(parts: Vec<Part>, marks: &[Mark]) -> Result<Vec<Part>, ()> {
    if marks.len() > MAX_MARKS {
        return Err(());
    }
    if !Mark::any_closes(marks) {
        return Ok(parts);
    }
    expand_items(&items(parts, marks), 0)
}

/// Cuts the texts of `parts` at the marks.
fn items(parts: Vec<Part>, marks: &[Mark]) -> Vec<Item> {
    let mut out = Vec::with_capacity(parts.len() + 2 * marks.len());
    let mut marks = marks.iter().peekable();
    for (index, part) in parts.into_iter().enumerate() {
        let Part::Text { text, quoting } = part else {
            out.push(Item::Part(part));
            continue;
        };
        let mut from = 0;
        let mut cut = false;
        while let Some(mark) = marks.next_if(|mark| mark.part == index) {
            cut = true;
            push_text(&mut out, text.get(from..mark.offset).unwrap_or_default(), quoting);
            out.push(match mark.byte {
                b'{' => Item::Open,
                b'}' => Item::Close,
                _ => Item::Comma,
            });
            from = mark.offset + 1;
        }
        match cut {
            true => push_text(&mut out, text.get(from..).unwrap_or_default(), quoting),
            false => out.push(Item::Part(Part::Text { text, quoting })),
        }
    }
    out
}

fn push_text(out: &mut Vec<Item>, text: &str, quoting: Quoting) {
    if !text.is_empty() {
        out.push(Item::Part(Part::Text { text: text.to_owned(), quoting }));
    }
}

fn expand_items(mut items: &[Item], depth: usize) -> Result<Vec<Part>, ()> {
    if depth > MAX_NESTED {
        return Err(());
    }
    let mut out = Vec::new();
    while let Some((open, close)) = first_group(items) {
        literal(items.get(..open).unwrap_or_default(), &mut out);
        let inside = items.get(open + 1..close).unwrap_or_default();
        match group(inside, depth)? {
            Some(part) => out.push(part),
            None => literal(items.get(open..=close).unwrap_or_default(), &mut out),
        }
        items = items.get(close + 1..).unwrap_or_default();
    }
    literal(items, &mut out);
    Ok(out)
}

/// The first `{` that has a partner, and the partner.
fn first_group(items: &[Item]) -> Option<(usize, usize)> {
    items.iter().enumerate().find_map(|(open, item)| {
        // bash leaves `{}` alone so that `find -exec rm {} +` works.
        let empty_at_start = open == 0 && matches!(items.get(1), Some(Item::Close));
        if !matches!(item, Item::Open) || empty_at_start {
            return None;
        }
        Some((open, partner(items, open + 1)?))
    })
}

/// The `}` for a `{` before `from`: the first one at its level behind a comma or `..`.
fn partner(items: &[Item], from: usize) -> Option<usize> {
    let mut level = 0_u32;
    let mut separated = false;
    for (index, item) in items.iter().enumerate().skip(from) {
        match item {
            Item::Close if level == 0 && separated => return Some(index),
            Item::Close => level = level.saturating_sub(1),
            Item::Open => level += 1,
            Item::Comma => separated |= level == 0,
            Item::Part(part) => {
                let before_close = matches!(items.get(index + 1), Some(Item::Close));
                separated |= level == 0 && has_dots(part, before_close);
            }
        }
    }
    None
}

fn has_dots(part: &Part, before_close: bool) -> bool {
    let Part::Text { text, quoting: Quoting::Bare } = part else {
        return false;
    };
    match (text.find(".."), before_close) {
        (None, _) => false,
        (Some(_), false) => true,
        // `{a..}` is text: dots right before the brace end no range.
        (Some(at), true) => at + 2 < text.len(),
    }
}

/// What `{…}` stands for; `None` if it is plain text after all.
fn group(inside: &[Item], depth: usize) -> Result<Option<Part>, ()> {
    let mut level = 0_u32;
    let mut start = 0;
    let mut words = Vec::new();
    for (index, item) in inside.iter().enumerate() {
        match item {
            Item::Open => level += 1,
            Item::Close => level = level.saturating_sub(1),
            Item::Comma if level == 0 => {
                words.push(alternative(inside.get(start..index).unwrap_or_default(), depth)?);
                start = index + 1;
            }
            Item::Comma | Item::Part(_) => {}
        }
    }
    if !words.is_empty() {
        words.push(alternative(inside.get(start..).unwrap_or_default(), depth)?);
        return Ok(Some(Part::Alternatives(words)));
    }
    match inside {
        [Item::Part(Part::Text { text, quoting: Quoting::Bare })] if is_range(text) => {
            Ok(Some(Part::Range(text.clone())))
        }
        _ => Ok(None),
    }
}

fn alternative(items: &[Item], depth: usize) -> Result<Word, ()> {
    Ok(Word { parts: expand_items(items, depth + 1)?, span: crate::Span::default() })
}

/// `1..9`, `a..e`, `1..9..2`
fn is_range(text: &str) -> bool {
    let pieces: Vec<&str> = text.split("..").collect();
    let (from, to, step) = match pieces.as_slice() {
        [from, to] => (*from, *to, "1"),
        [from, to, step] => (*from, *to, *step),
        _ => return false,
    };
    let numbers = is_integer(from) && is_integer(to);
    let letters = is_letter(from) && is_letter(to);
    (numbers || letters) && is_integer(step)
}

fn is_integer(text: &str) -> bool {
    text.parse::<i64>().is_ok()
}

fn is_letter(text: &str) -> bool {
    matches!(text.as_bytes(), [byte] if byte.is_ascii_alphabetic())
}

/// Items as the text that they were.
fn literal(items: &[Item], out: &mut Vec<Part>) {
    for item in items {
        let (text, quoting) = match item {
            Item::Open => ("{", Quoting::Bare),
            Item::Close => ("}", Quoting::Bare),
            Item::Comma => (",", Quoting::Bare),
            Item::Part(Part::Text { text, quoting }) => (text.as_str(), *quoting),
            Item::Part(part) => {
                out.push(part.clone());
                continue;
            }
        };
        match out.last_mut() {
            Some(Part::Text { text: last, quoting: same }) if *same == quoting => last.push_str(text),
            Some(_) | None => out.push(Part::Text { text: text.to_owned(), quoting }),
        }
    }
}
