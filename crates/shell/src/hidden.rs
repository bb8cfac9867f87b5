//! Characters that a reader does not see, or that change what a reader sees.

use crate::Span;

/// The first such character of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    pub kind: HiddenKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenKind {
    Nul,
    /// Terminals move to the start of the line, shells take it for a letter.
    CarriageReturn,
    /// Any other control character than newline and tab.
    Control,
    /// Changes the order in which text is shown.
    Bidi,
    /// Takes no room: zero-width characters, joiners outside emoji and scripts that need them, fillers.
    Invisible,
    /// Plane 14 tags, which can spell out a hidden message.
    Tag,
    /// Looks like a space or a line end but is neither to a shell.
    Space,
    /// A variation selector that selects nothing.
    Variation,
}

/// The first character of `text` that hides something, if there is one.
pub fn hidden(text: &str) -> Option<Hidden> {
    if text.bytes().all(is_plain) {
        return None;
    }
    let mut before = None;
    let mut characters = text.char_indices().peekable();
    while let Some((start, character)) = characters.next() {
        let after = characters.peek().map(|(_, next)| *next);
        if let Some(kind) = kind_of(character, before, after) {
            let span = Span { start: start as u32, end: (start + character.len_utf8()) as u32 };
            return Some(Hidden { kind, span });
        }
        before = Some(character);
    }
    None
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

fn kind_of(character: char, before: Option<char>, after: Option<char>) -> Option<HiddenKind> {
    let joins = || before.is_some_and(is_joinable) && after.is_some_and(is_joinable);
    Some(match character {
        '\0' => HiddenKind::Nul,
        // A terminal shows what follows over what came before, so the reader sees another command.
        '\r' => HiddenKind::CarriageReturn,
        '\n' | '\t' => return None,
        '\u{1}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => HiddenKind::Control,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => HiddenKind::Bidi,
        // Persian, Indic scripts and family emoji need joiners; between other letters they only hide.
        '\u{200c}' | '\u{200d}' if joins() => return None,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => {
            HiddenKind::Invisible
        }
        '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}' => {
            HiddenKind::Invisible
        }
        '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{2800}' => HiddenKind::Invisible,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' => {
            HiddenKind::Space
        }
        '\u{3000}' => HiddenKind::Space,
        // Models read tags as text and terminals show nothing: a whole instruction fits into one command.
        '\u{e0000}'..='\u{e007f}' => HiddenKind::Tag,
        '\u{fe00}'..='\u{fe0f}' if before.is_some_and(takes_variation) => return None,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => HiddenKind::Variation,
        _ => return None,
    })
}

/// Emoji, and letters of scripts in which joiners shape words.
fn is_joinable(character: char) -> bool {
    is_emoji(character)
        || character == '\u{fe0f}'
        || matches!(character, '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{900}'..='\u{dff}')
}

fn takes_variation(character: char) -> bool {
    is_emoji(character) || matches!(character, '0'..='9' | '#' | '*' | '\u{3400}'..='\u{9fff}')
}

fn is_emoji(character: char) -> bool {
    matches!(
        character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
            | '\u{3299}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{27bf}' | '\u{2900}'..='\u{2bff}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<HiddenKind>) {
        assert_eq!(hidden(text).map(|found| found.kind), expected, "{text:?}");
    }

    #[test]
    fn ordinary_text_hides_nothing() {
        for text in ["ls -la\n\tx", "ünïcödé", "日本語", "🦀", "👩‍👩‍👧", "❤️", "1️⃣", "a — b", "“q”", "می‌خواهم", "e\u{301}"]
        {
            check(text, None);
        }
    }

    #[test]
    fn hiding_characters_are_named() {
        for (text, kind) in [
            ("ls\0", HiddenKind::Nul),
            ("ls\r\n", HiddenKind::CarriageReturn),
            ("ls\rrm", HiddenKind::CarriageReturn),
            ("a\u{1b}[2K", HiddenKind::Control),
            ("a\u{9b}2K", HiddenKind::Control),
            ("echo \u{202e}hi", HiddenKind::Bidi),
            ("a\u{2066}b", HiddenKind::Bidi),
            ("rm\u{200b} x", HiddenKind::Invisible),
            ("r\u{200d}m", HiddenKind::Invisible),
            ("\u{feff}ls", HiddenKind::Invisible),
            ("a\u{3164}", HiddenKind::Invisible),
            ("a\u{e0041}", HiddenKind::Tag),
            ("ls\u{a0}-la", HiddenKind::Space),
            ("a\u{2028}b", HiddenKind::Space),
            ("a\u{fe0f}", HiddenKind::Variation),
            ("a\u{e0100}", HiddenKind::Variation),
        ] {
            check(text, Some(kind));
        }
    }

    #[test]
    fn hidden_characters_are_written_out() {}
}
