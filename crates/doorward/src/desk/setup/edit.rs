//! Changes JSON text in one place and leaves every other byte alone.

use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::Value;

/// One member of an object or one item of a list: where it begins and ends, and its key if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub key: String,
    /// The key and the value.
    pub whole: Range<usize>,
    pub value: Range<usize>,
}

/// An object or a list in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Container {
    pub pieces: Vec<Piece>,
    /// From the opening to behind the closing bracket.
    pub span: Range<usize>,
}

impl Container {
    /// Reads the object or list that begins at `start`.
    pub(super) fn read(text: &str, start: usize) -> Result<Container, String> {
        let opening = text.get(start..start + 1).unwrap_or_default();
        let is_object = match opening {
            "{" => true,
            "[" => false,
            _ => return Err("expected an object or a list".into()),
        };
        let mut pieces = Vec::new();
        let mut at = skip_space(text, start + 1);
        while !text.get(at..).unwrap_or_default().starts_with(['}', ']']) {
            let begin = at;
            let mut key = String::new();
            if is_object {
                let end = value_end(text, at)?;
                key = serde_json::from_str(text.get(at..end).unwrap_or_default()).map_err(|error| error.to_string())?;
                at = skip_space(text, end);
                at = skip_space(text, at + usize::from(text.get(at..).unwrap_or_default().starts_with(':')));
            }
            let end = value_end(text, at)?;
            pieces.push(Piece { key, whole: begin..end, value: at..end });
            at = skip_space(text, end);
            at = skip_space(text, at + usize::from(text.get(at..).unwrap_or_default().starts_with(',')));
        }
        Ok(Container { pieces, span: start..at + 1 })
    }

    pub(super) fn member(&self, key: &str) -> Option<&Piece> {
        self.pieces.iter().find(|piece| piece.key == key)
    }

    /// The text with one more piece at the end; `key` is empty in a list.
    pub(super) fn with(&self, text: &str, key: &str, value: &Value) -> String {
        let style = Style::of(text, self);
        let label =
            if key.is_empty() { String::new() } else { format!("{}:{}", Value::from(key), style.after_colon()) };
        let piece = format!("{label}{}", style.print(value));
        match self.pieces.last() {
            Some(last) => replaced(text, last.whole.end..last.whole.end, &format!(",{}{piece}", style.before)),
            None => replaced(
                text,
                self.span.start + 1..self.span.end - 1,
                &format!("{}{piece}{}", style.before, style.after),
            ),
        }
    }

    /// The text without one piece.
    pub(super) fn without(&self, text: &str, index: usize) -> String {
        let Some(piece) = self.pieces.get(index) else { return text.to_owned() };
        let before = index.checked_sub(1).and_then(|index| self.pieces.get(index));
        let range = match (before, self.pieces.get(index + 1)) {
            (Some(before), _) => before.whole.end..piece.whole.end,
            (None, Some(after)) => piece.whole.start..after.whole.start,
            (None, None) => self.span.start + 1..self.span.end - 1,
        };
        replaced(text, range, "")
    }
}

/// How the text is laid out around a new piece.
struct Style {
    /// Between the bracket or comma and the piece.
    before: String,
    /// Between the last piece and the closing bracket.
    after: String,
    unit: String,
}

impl Style {
    fn of(text: &str, container: &Container) -> Style {
        let unit = unit(text);
        if let Some(first) = container.pieces.first() {
            let before = text.get(container.span.start + 1..first.whole.start).unwrap_or_default().to_owned();
            return Style { before, after: String::new(), unit };
        }
        if unit.is_empty() {
            return Style { before: String::new(), after: String::new(), unit };
        }
        let line = text.get(..container.span.start).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
        let outer: String = line.chars().take_while(|character| character.is_whitespace()).collect();
        Style { before: format!("\n{outer}{unit}"), after: format!("\n{outer}"), unit }
    }

    fn after_colon(&self) -> &'static str {
        if self.unit.is_empty() { "" } else { " " }
    }

    fn print(&self, value: &Value) -> String {
        if self.unit.is_empty() || !self.before.contains('\n') {
            return value.to_string();
        }
        let pretty = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
        let mut lines = pretty.lines();
        let mut printed = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            let inner = line.trim_start();
            let depth = (line.len() - inner.len()) / 2;
            printed.push_str(&format!("{}{}{inner}", self.before, self.unit.repeat(depth)));
        }
        printed
    }
}

/// One step of indentation: that of the first indented line, none if everything is on one line.
fn unit(text: &str) -> String {
    if !text.trim_end().contains('\n') {
        return if matches!(text.trim(), "" | "{}") { "  ".to_owned() } else { String::new() };
    }
    let indented =
        text.lines().map(|line| line.len() - line.trim_start().len()).zip(text.lines()).find(|(width, _)| *width > 0);
    indented.and_then(|(width, line)| line.get(..width)).unwrap_or("  ").to_owned()
}

fn value_end(text: &str, start: usize) -> Result<usize, String> {
    let rest = text.get(start..).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(IgnoredAny)) => Ok(start + values.byte_offset()),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("the text ends too early".into()),
    }
}

pub(super) fn skip_space(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + (rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len())
}

/// The text with one range exchanged.
pub(super) fn replaced(text: &str, range: Range<usize>, new: &str) -> String {
    let (before, after) = (text.get(..range.start).unwrap_or_default(), text.get(range.end..).unwrap_or_default());
    format!("{before}{new}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_piece_is_added_in_the_style_of_its_neighbours_and_taken_away_again() {
        for (text, expected) in [
            ("{\n\t\"a\": [1, 2]\n}\n", "{\n\t\"a\": [1, 2],\n\t\"b\": {\n\t\t\"c\": 1\n\t}\n}\n"),
            ("{\"a\":1}", "{\"a\":1,\"b\":{\"c\":1}}"),
            ("{}", "{\n  \"b\": {\n    \"c\": 1\n  }\n}"),
        ] {
            let container = Container::read(text, 0).unwrap();
            let with = container.with(text, "b", &json!({"c": 1}));
            assert_eq!(with, expected);
            let again = Container::read(&with, 0).unwrap();
            assert_eq!(again.without(&with, again.pieces.len() - 1), text);
        }
    }

    #[test]
    fn any_piece_can_be_taken_away() {
        let text = "[ 1, \"]\", {\"x\": [3]} ]";
        let container = Container::read(text, 0).unwrap();
        assert_eq!(container.pieces.len(), 3);
        assert_eq!(container.without(text, 0), "[ \"]\", {\"x\": [3]} ]");
        assert_eq!(container.without(text, 1), "[ 1, {\"x\": [3]} ]");
        assert_eq!(container.without(text, 2), "[ 1, \"]\" ]");
    }
}
