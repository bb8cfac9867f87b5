//! Rust source with comments and literals blanked out, so that braces and names can be counted.

/// Replaces everything in comments, strings and characters by spaces; line ends stay.
pub(super) fn blank(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(first) = characters.get(at) {
        let end = literal_end(&characters, at).unwrap_or(at);
        if end == at {
            out.push(*first);
            at += 1;
        } else {
            out.extend(characters[at..end].iter().map(|inner| if *inner == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// The text of every string literal on one line, with the line it stands in.
pub(super) fn literals(source: &str) -> Vec<(usize, String)> {
    let characters: Vec<char> = source.chars().collect();
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < characters.len() {
        let end = literal_end(&characters, at).unwrap_or(at).max(at + 1);
        let inner = &characters[at..end.min(characters.len())];
        if let ['"', text @ .., '"'] = inner {
            found.push((line, text.iter().collect()));
        }
        line += inner.iter().filter(|character| **character == '\n').count();
        at = end;
    }
    found
}

/// Where the comment or literal that starts here ends.
fn literal_end(text: &[char], at: usize) -> Option<usize> {
    let rest = &text[at..];
    let is_inside_name = at.checked_sub(1).is_some_and(|before| text[before].is_alphanumeric() || text[before] == '_');
    match rest {
        ['/', '/', ..] => Some(find(text, at, |rest| rest[0] == '\n')),
        ['/', '*', ..] => Some(find(text, at + 2, |rest| rest.starts_with(&['*', '/'])) + 2),
        ['r', '"' | '#', ..] if !is_inside_name => raw_end(text, at),
        ['b', 'r', '"' | '#', ..] if !is_inside_name => raw_end(text, at + 1),
        ['"', ..] => Some(escaped_end(text, at + 1, '"')),
        ['\'', '\\', ..] => Some(escaped_end(text, at + 1, '\'')),
        ['\'', _, '\'', ..] => Some(at + 3),
        _ => None,
    }
}

fn find(text: &[char], from: usize, is_end: impl Fn(&[char]) -> bool) -> usize {
    (from..text.len()).find(|at| is_end(&text[*at..])).unwrap_or(text.len())
}

fn escaped_end(text: &[char], mut at: usize, quote: char) -> usize {
    while at < text.len() && text[at] != quote {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

fn raw_end(text: &[char], at: usize) -> Option<usize> {
    let hashes = text[at + 1..].iter().take_while(|character| **character == '#').count();
    let open = at + 1 + hashes;
    if text.get(open) != Some(&'"') {
        return None;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    Some((find(text, open + 1, |rest| rest.starts_with(&close)) + close.len()).min(text.len()))
}

#[test]
fn comments_and_literals_are_blanked() {
    let source = "let a = \"{\\\"\"; // {\nlet b = '{'; let c: &'a str = br#\"{\"{\"#; /* { */ fn d() {}";
    let left = blank(source);
    assert_eq!(left.matches('{').count(), 1, "{left}");
    assert!(left.contains("&'a str") && left.lines().count() == 2);
}

#[test]
fn literals_are_found_with_their_lines() {
    let source = "let a = \"x\"; // \"no\"\nlet b = ['\"', 'c'];\nmatches!(a, \"y\" | \"z\\\"\")";
    let expected = [(1, "x".to_owned()), (3, "y".to_owned()), (3, "z\\\"".to_owned())];
    assert_eq!(literals(source), expected);
}
