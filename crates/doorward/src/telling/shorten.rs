//! Long sentences made to fit: names give way first, then details in brackets; a word of doorward's own and a number are never cut.

/// What stands for what was left out.
const GAP: char = '…';

/// A word of this length is kept whole; longer ones are paths, addresses and names.
const WORD: usize = 20;

/// The text with at most so many characters.
///
/// "…8 files" where 28 were meant is worse than no number, so that only what has no number or word at the cut is cut.
pub fn shortened(text: &str, room: usize) -> String {
    let mut text = text.to_owned();
    while let Some(excess) = excess(&text, room) {
        let Some(shorter) = without_middle(&text, excess).or_else(|| without_detail(&text)) else { break };
        text = shorter;
    }
    match excess(&text, room) {
        Some(_) => without_end(&text, room),
        None => text,
    }
}

/// So many characters are too many.
fn excess(text: &str, room: usize) -> Option<usize> {
    text.chars().count().checked_sub(room).filter(|excess| *excess > 0)
}

/// The longest word without its middle, if it is one that may be cut.
fn without_middle(text: &str, excess: usize) -> Option<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let length = |word: &str| word.chars().count();
    let (at, longest) = words.iter().enumerate().rev().max_by_key(|(_, word)| length(word))?;
    let count = length(longest);
    let shorter = cut(longest, count.saturating_sub(excess).max(WORD));
    (length(&shorter) < count).then(|| {
        let replaced = words.iter().enumerate().map(|(place, word)| if place == at { shorter.as_str() } else { word });
        replaced.collect::<Vec<_>>().join(" ")
    })
}

/// A long name without its middle: cut between its parts where there are some near, and never between two digits.
fn cut(name: &str, room: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= room {
        return name.to_owned();
    }
    let (head, tail) = (room / 2, room - room / 2 - 1);
    let is_part = |letter: &char| letter.is_alphanumeric();
    let is_digit = |letter: &char| letter.is_ascii_digit();
    // The end of the last part within a stretch; as much as fits where one part fills more than half of it.
    let kept = |stretch: &[char]| {
        let last = |inside: fn(&char) -> bool| stretch.iter().rposition(|letter| !inside(letter)).map(|at| at + 1);
        let whole = last(is_part).filter(|end| *end * 2 >= stretch.len());
        let end = whole.or_else(|| last(is_digit)).filter(|end| *end > 0).unwrap_or(stretch.len());
        stretch.iter().take(end).copied().collect::<String>()
    };
    let start = kept(letters.get(..head).unwrap_or_default());
    let backwards: Vec<char> = letters.iter().rev().take(tail).copied().collect();
    let end: String = kept(&backwards).chars().rev().collect();
    format!("{start}{GAP}{end}")
}

/// The text without the last detail that stands in brackets behind a comma, or without the brackets.
fn without_detail(text: &str) -> Option<String> {
    let (open, close) = (text.rfind(" (")?, text.rfind(')')?);
    let inside = text.get(open + 2..close)?;
    let (before, after) = (text.get(..open)?, text.get(close + 1..)?);
    Some(match inside.rsplit_once(", ") {
        Some((kept, _)) => format!("{before} ({kept}){after}"),
        None => format!("{before}{after}"),
    })
}

/// As many whole words as fit, where nothing else could give way.
fn without_end(text: &str, room: usize) -> String {
    let (mut kept, mut count) = (String::new(), 0);
    for word in text.split_inclusive(' ') {
        count += word.chars().count();
        if count + 2 > room {
            break;
        }
        kept.push_str(word);
    }
    // A name that was begun is ended.
    let quote = if kept.matches('`').count() % 2 == 1 { "`" } else { "" };
    let stop = if text.ends_with('.') { "." } else { "" };
    let kept = kept.trim_end().trim_end_matches([',', ':', ';']);
    match kept.is_empty() {
        true => text.chars().take(room.saturating_sub(1)).chain([GAP]).collect(),
        false => format!("{kept}{GAP}{quote}{stop}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_way_before_numbers_and_words() {
        let text =
            "this deletes many files (build/very/long/directory/name/of/output: 28 files, 3 KiB, limit 10 files)";
        let short = shortened(text, 90);
        assert!(short.starts_with("this deletes many files (build/") && short.contains("28 files, 3 KiB"), "{short}");
        assert!(short.contains('…') && short.chars().count() <= 90, "{short}");
        // The details go before a word of the sentence does.
        assert_eq!(shortened(text, 63), "this deletes many files (build/…/output: 28 files, 3 KiB)");
        assert_eq!(shortened(text, 30), "this deletes many files");
    }

    #[test]
    fn no_word_and_no_number_is_cut_in_its_middle() {
        let text =
            "doorward asks because this changes 1234567 rows of 7654321 in `some_table` and nothing restores them.";
        for room in 12..text.len() {
            let short = shortened(text, room);
            assert!(short.chars().count() <= room, "{room}: {short}");
            let words: Vec<&str> = text.split([' ', '.']).collect();
            let is_whole = |word: &str| words.contains(&word);
            assert!(short.split([' ', '.', '…']).filter(|word| !word.is_empty()).all(is_whole), "{room}: {short}");
        }
    }

    #[test]
    fn a_number_inside_a_long_name_is_not_cut() {
        let name = format!("/srv/{}/20261118/{}", "a".repeat(40), "b".repeat(40));
        for room in WORD..name.len() {
            let short = shortened(&name, room);
            let digits: Vec<&str> =
                short.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
            assert!(digits.iter().all(|part| *part == "20261118"), "{room}: {short}");
        }
        assert_eq!(shortened(&"x".repeat(50), 21).chars().count(), 21);
    }
}
