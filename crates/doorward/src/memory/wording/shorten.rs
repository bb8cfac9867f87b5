//! Shortens long sentences: first names, then details in brackets; words and numbers are never cut in the middle.

/// Marks what was left out.
const GAP: char = '…';

/// A run of letters up to this length is a word and stays whole; a longer one is a hash, a key or noise.
// Cutting inside a word invents another one (`production` → `product…`); a hash stays recognizable.
const WORD: usize = 20;

/// How many characters of a name come before its last part: a backtick or bracket, a gap and a word.
const SOME: usize = 6;

/// The text, shortened to at most `most` characters.
///
/// "…8 files" where 28 were meant is worse than no number, so a cut never falls inside one.
pub(super) fn shortened(text: &str, room: usize) -> String {
    let mut text = text.to_owned();
    while let Some(excess) = excess(&text, room) {
        let shorter =
            without_last_clause(&text).or_else(|| with_shorter_name(&text, excess)).or_else(|| without_detail(&text));
        let Some(shorter) = shorter else { return without_end(&text, room) };
        text = shorter;
    }
    text
}

/// A path, address or command without its middle, if it is longer than this.
pub(super) fn short_name(name: &str, room: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= room {
        return name.to_owned();
    }
    // The last part of a path says the most, so keep it whole if it leaves room for anything else.
    let last = letters.iter().rev().position(|letter| *letter == '/').map_or(0, |length| length + 1);
    let half = room.saturating_sub(room / 2 + 1);
    let tail = if last + SOME <= room { last.max(half) } else { half };
    let head = room.saturating_sub(tail + 1);
    let start = (0..=head).rev().find(|at| may_cut(&letters, *at, Side::Before)).unwrap_or(0);
    let end = (letters.len() - tail..=letters.len()).find(|at| may_cut(&letters, *at, Side::Behind));
    let start: String = letters.iter().take(start).collect();
    let end: String = letters.iter().skip(end.unwrap_or(letters.len())).collect();
    // An already shortened name has a gap, and the dot of a hidden file says nothing alone.
    let start = start.trim_end_matches(GAP);
    let start = if start.ends_with("/.") { start.trim_end_matches('.') } else { start };
    format!("{start}{GAP}{}", end.trim_start_matches(GAP))
}

/// Whether the text is too long.
fn excess(text: &str, room: usize) -> Option<usize> {
    text.chars().count().checked_sub(room).filter(|excess| *excess > 0)
}

/// What remains of a name at a cut.
#[derive(Clone, Copy)]
enum Side {
    Before,
    Behind,
}

/// A name may be cut here: between its parts, so that `long…` is never half of `longest`, and inside a part only if it is too
/// long to be a word.
fn may_cut(letters: &[char], at: usize, kept: Side) -> bool {
    let (before, after) = letters.split_at(at.min(letters.len()));
    let is_part = |letter: &&char| letter.is_alphanumeric();
    let (left, right) = (before.iter().rev().take_while(is_part).count(), after.iter().take_while(is_part).count());
    let beside = match kept {
        Side::Before => left,
        Side::Behind => right,
    };
    !splits_number(before, after) && (beside == 0 || left + right > WORD)
}

/// A number continues after this position: `28`, but also `3.5`, `1,200` and `10:30`.
fn splits_number(before: &[char], after: &[char]) -> bool {
    let is_digit = |letter: Option<&char>| letter.is_some_and(char::is_ascii_digit);
    let is_joint = |letter: Option<&char>| letter.is_some_and(|letter| ['.', ',', ':'].contains(letter));
    let (mut left, mut right) = (before.iter().rev(), after.iter());
    let (last, next) = (left.next(), right.next());
    let joins_left = is_joint(last) && is_digit(left.next()) && is_digit(next);
    let joins_right = is_digit(last) && is_joint(next) && is_digit(right.next());
    (is_digit(last) && is_digit(next)) || joins_left || joins_right
}

/// The first clause matters most; later sentences or clauses are dropped first.
fn without_last_clause(text: &str) -> Option<String> {
    let begins = |at: usize| text.get(at + 2..).is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let is_end = |at: usize| is_outside_names(text, at) && !is_in_brackets(text, at);
    let sentence = text.rmatch_indices(". ").map(|(at, _)| at).find(|at| begins(*at) && is_end(*at));
    let clause = text.rmatch_indices("; ").map(|(at, _)| at).find(|at| is_end(*at));
    let stop = if text.ends_with('.') { "." } else { "" };
    sentence.max(clause).and_then(|end| text.get(..end)).map(|kept| format!("{kept}{stop}"))
}

/// The longest word without its middle, if it may be cut.
fn with_shorter_name(text: &str, excess: usize) -> Option<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let length = |word: &str| word.chars().count();
    let (at, longest) = words.iter().enumerate().rev().max_by_key(|(_, word)| length(word))?;
    let count = length(longest);
    let shorter = short_name(longest, count.saturating_sub(excess).max(WORD));
    (length(&shorter) < count).then(|| {
        let replaced = words.iter().enumerate().map(|(place, word)| if place == at { shorter.as_str() } else { word });
        replaced.collect::<Vec<_>>().join(" ")
    })
}

/// The text without the last detail after a comma in brackets, or without the brackets.
fn without_detail(text: &str) -> Option<String> {
    let last = |sign: &str| text.rmatch_indices(sign).map(|(at, _)| at).find(|at| is_outside_names(text, *at));
    let (open, close) = (last(" (")?, last(")")?);
    let inside = text.get(open + 2..close)?;
    let (before, after) = (text.get(..open)?, text.get(close + 1..)?);
    Some(match inside.rsplit_once(", ").filter(|(kept, _)| is_outside_names(inside, kept.len())) {
        Some((kept, _)) => format!("{before} ({kept}){after}"),
        None => format!("{before}{after}"),
    })
}

/// This position is not between two backticks.
fn is_outside_names(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.matches('`').count() % 2 == 0)
}

/// A bracket is open at this position.
fn is_in_brackets(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.matches('(').count() > before.matches(')').count())
}

/// As many whole words as fit, if nothing else could be dropped.
fn without_end(text: &str, room: usize) -> String {
    let (mut kept, mut count) = (String::new(), 0);
    for word in text.split_inclusive(' ') {
        count += word.chars().count();
        // The gap, a closing backtick and the full stop take three characters, the final space gives one back.
        if count + 2 > room {
            break;
        }
        kept.push_str(word);
    }
    let quote = if is_outside_names(&kept, kept.len()) { "" } else { "`" };
    let stop = if text.ends_with('.') { "." } else { "" };
    match kept.trim_end().trim_end_matches([',', ':', ';']) {
        "" => short_name(text, room),
        kept => format!("{kept}{GAP}{quote}{stop}"),
    }
}

#[cfg(test)]
mod tests;
