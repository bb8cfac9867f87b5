//! Escapes what a screen would act on or hide: control, bidirectional and invisible characters.

use std::borrow::Cow;

/// The text with every character that could deceive a reader escaped as `\u{…}`; line ends stay.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(deceives) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            '\u{1b}' => shown.push_str("\\e"),
            _ if deceives(character) => shown.push_str(&format!("\\u{{{:x}}}", character as u32)),
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

fn deceives(character: char) -> bool {
    let invisible = matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    invisible || (character.is_control() && character != '\n')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn nothing_can_repaint_or_reorder_the_screen() {
        assert_eq!(visible("plain é ☃\nnext"), "plain é ☃\nnext");
        assert_eq!(visible("a\u{1b}[2Jb\rc\td"), "a\\e[2Jb\\rc\\td");
        assert_eq!(visible("x\u{202e}y\u{200b}z\u{7f}"), "x\\u{202e}y\\u{200b}z\\u{7f}");
    }
}
