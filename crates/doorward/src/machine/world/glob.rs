//! The wildcards of git: `*`, `?` and `[…]` within one component, `**` across components.

use super::bounds;

/// Whether a text matches a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GlobMatch {
    Yes,
    No,
    /// The pattern takes too many steps, or is of a kind that only git reads correctly.
    Unsure,
}

/// Matches a whole path against a pattern.
pub(super) fn fits(pattern: &str, text: &str) -> GlobMatch {
    if is_odd(pattern.as_bytes()) {
        return GlobMatch::Unsure;
    }
    let mut steps = bounds::MATCHING;
    match matches(pattern.as_bytes(), text.as_bytes(), &mut steps) {
        Some(true) => GlobMatch::Yes,
        Some(false) => GlobMatch::No,
        None => GlobMatch::Unsure,
    }
}

/// Named classes, classes with escapes or multibyte characters; `**` next to anything but a slash; a trailing escape.
fn is_odd(pattern: &[u8]) -> bool {
    let class = pattern.iter().position(|byte| *byte == b'[').and_then(|at| pattern.get(at..)).unwrap_or_default();
    let odd_class = class.windows(2).any(|pair| pair == b"[:" || pair == b"[." || pair == b"[=")
        || class.iter().any(|byte| *byte == b'\\' || !byte.is_ascii());
    let stars = pattern.windows(2).any(|pair| pair == b"**");
    let odd_stars = stars
        && pattern.split(|byte| *byte == b'/').any(|part| part.windows(2).any(|pair| pair == b"**") && part != b"**");
    let escapes = pattern.iter().rev().take_while(|byte| **byte == b'\\').count();
    odd_class || odd_stars || escapes % 2 == 1
}

/// `None` if the steps are used up.
fn matches(mut pattern: &[u8], mut text: &[u8], steps: &mut u32) -> Option<bool> {
    loop {
        *steps = steps.checked_sub(1)?;
        match pattern {
            [] => return Some(text.is_empty()),
            [b'*', b'*', b'/', rest @ ..] => return any_directories(rest, text, steps),
            [b'*', b'*'] => return Some(true),
            [b'*', rest @ ..] => return any_name(rest.trim_prefix_stars(), text, steps),
            [b'?', rest @ ..] => match text {
                [byte, tail @ ..] if *byte != b'/' => (pattern, text) = (rest, after_character(tail)),
                _ => return Some(false),
            },
            [b'[', rest @ ..] => match (class(rest), text) {
                (Some((set, rest)), [byte, tail @ ..]) if *byte != b'/' && set.holds(*byte) => {
                    (pattern, text) = (rest, tail)
                }
                _ => return Some(false),
            },
            [b'\\', literal, rest @ ..] | [literal, rest @ ..] => match text {
                [byte, tail @ ..] if byte == literal => (pattern, text) = (rest, tail),
                _ => return Some(false),
            },
        }
    }
}

trait Stars {
    fn trim_prefix_stars(&self) -> &Self;
}

impl Stars for [u8] {
    fn trim_prefix_stars(&self) -> &[u8] {
        let stars = self.iter().take_while(|byte| **byte == b'*').count();
        self.get(stars..).unwrap_or_default()
    }
}

fn any_directories(rest: &[u8], text: &[u8], steps: &mut u32) -> Option<bool> {
    let mut text = text;
    loop {
        if matches(rest, text, steps)? {
            return Some(true);
        }
        match text.iter().position(|byte| *byte == b'/') {
            Some(at) => text = text.get(at + 1..).unwrap_or_default(),
            None => return Some(false),
        }
    }
}

fn any_name(rest: &[u8], text: &[u8], steps: &mut u32) -> Option<bool> {
    let mut text = text;
    loop {
        if matches(rest, text, steps)? {
            return Some(true);
        }
        match text {
            [b'/', ..] | [] => return Some(false),
            [_, tail @ ..] => text = tail,
        }
    }
}

/// What follows after the rest of one character in UTF-8.
fn after_character(tail: &[u8]) -> &[u8] {
    let rest = tail.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
    tail.get(rest..).unwrap_or_default()
}

struct CharacterClass<'a> {
    members: &'a [u8],
    negated: bool,
}

/// The class after `[` and what follows its `]`; `None` if it is never closed.
fn class(pattern: &[u8]) -> Option<(CharacterClass<'_>, &[u8])> {
    let (negated, body) = match pattern {
        [b'!' | b'^', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let end = body.iter().skip(1).position(|byte| *byte == b']')? + 1;
    Some((CharacterClass { members: body.get(..end)?, negated }, body.get(end + 1..)?))
}

impl CharacterClass<'_> {
    fn holds(&self, byte: u8) -> bool {
        let mut members = self.members;
        let mut found = false;
        loop {
            match members {
                [] => return found != self.negated,
                [low, b'-', high, rest @ ..] => {
                    found |= (*low..=*high).contains(&byte);
                    members = rest;
                }
                [b'\\', member, rest @ ..] | [member, rest @ ..] => {
                    found |= *member == byte;
                    members = rest;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_git_says() {
        for (pattern, text, fit) in [
            ("*.o", "a.o", true),
            ("*.o", "d/a.o", false),
            ("**/a", "a", true),
            ("**/a", "x/y/a", true),
            ("a/**", "a/b/c", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/**/b", "ab", false),
            ("?", "/", false),
            ("?", "é", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("foo*", "foobar", true),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("[a", "[a", false),
            ("a*b*c", "axxbyyc", true),
        ] {
            assert_eq!(fits(pattern, text) == GlobMatch::Yes, fit, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_made_to_take_for_ever_is_given_up() {
        assert_eq!(fits(&"*a".repeat(40), &"a".repeat(200).replace("aaaaaaaaaa", "aaaaaaaaab")), GlobMatch::Unsure);
    }
}
