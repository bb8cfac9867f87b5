//! Text of others, made safe to put into a page.

use crate::visible::visible;

/// Text escaped for both elements and quoted attributes.
#[must_use]
pub fn escaped(words: &str) -> String {
    let shown = visible(words);
    let mut escaped = String::with_capacity(shown.len() + 8);
    for character in shown.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str(" ⏎ "),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The same for a `<pre>`: line ends stay.
#[must_use]
pub fn escaped_lines(words: &str) -> String {
    words.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        for (words, wanted) in [
            ("<script>alert(\"x\")</script>", "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"),
            ("a & b\nc", "a &amp; b ⏎ c"),
            ("x\u{202e}y\u{200b}", "x\\u{202e}y\\u{200b}"),
        ] {
            assert_eq!(escaped(words), wanted);
        }
    }
}
