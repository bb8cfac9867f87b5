//! What a page says, as data: words, tiles, timelines, tables and charts. Rendered as HTML here, as JSON by the API.
//!
//! Whatever comes from a record, a configuration or a file goes in as data and is never read as markup.

use serde::Serialize;

/// One thing to read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    Paragraph(Text),
    /// Something that needs attention.
    Warning(Text),
    List(Vec<Text>),
    /// Large figures, side by side.
    Tiles(Vec<Tile>),
    /// A timeline of calls, oldest first.
    Timeline(Vec<TimelineCall>),
    Table(Table),
    /// A drawing in HTML, a line of bars in Markdown; a table next to it has the figures.
    Charts(Vec<Chart>),
}

/// One large figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tile {
    pub value: String,
    pub label: &'static str,
    /// Small print next to it, if any.
    pub note: String,
    pub tone: Tone,
}

/// One call, its time and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimelineCall {
    pub time: String,
    pub tone: Tone,
    pub word: &'static str,
    pub agent: String,
    pub tool: String,
    pub call: Text,
    pub why: Text,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    pub header: Vec<&'static str>,
    pub rows: Vec<Vec<Text>>,
    /// Collapsed in HTML until opened.
    #[serde(skip)]
    pub folded: Option<&'static str>,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    Line,
    /// Stacked bars.
    Stacked,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    pub title: &'static str,
    pub shape: Shape,
    /// The unit after a value on the axis.
    pub unit: &'static str,
    /// The top of the axis; default: the largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<f64>,
    /// One per label.
    pub places: Vec<String>,
    pub series: Vec<Series>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    pub name: &'static str,
    pub tone: Tone,
    /// `None` where there is no value.
    pub values: Vec<Option<f64>>,
}

/// What a color means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    Approve,
    Confirm,
    Block,
    Plain,
    Faint,
}

/// A piece of text: words, code or figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Text(pub Vec<Span>);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    Plain(String),
    Code(String),
    /// A number, or a word that stands for one.
    Figure(String),
    /// A verdict, in its color.
    Word(Tone, String),
    /// Leads to another page of the same site.
    Link {
        /// The path, beginning with `/`.
        to: String,
        /// The words to press.
        words: String,
    },
}

impl Text {
    /// Our own words, with code between backticks and a figure for each `{}`.
    pub fn filled<const N: usize>(template: &'static str, figures: [Text; N]) -> Text {
        let mut figures = figures.into_iter();
        let mut spans = Vec::new();
        for (number, piece) in template.split('`').enumerate() {
            for (place, words) in piece.split("{}").enumerate() {
                if place > 0 {
                    spans.extend(figures.next().unwrap_or_default().0);
                }
                if !words.is_empty() {
                    let words = words.to_owned();
                    spans.push(if number % 2 == 1 { Span::Code(words) } else { Span::Plain(words) });
                }
            }
        }
        Text(spans)
    }

    /// Something from a file or the record, as it is.
    pub fn code(text: impl Into<String>) -> Text {
        Text(vec![Span::Code(text.into())])
    }

    /// A sentence from a rule or an alert, as it is.
    pub fn plain(text: impl Into<String>) -> Text {
        Text(vec![Span::Plain(text.into())])
    }

    /// A sentence with code between backticks. Its content stays data: it can look like code and nothing else.
    pub fn sentence(text: &str) -> Text {
        let span = |(number, piece): (usize, &str)| {
            let piece = piece.to_owned();
            if number % 2 == 1 { Span::Code(piece) } else { Span::Plain(piece) }
        };
        let spans = text.split('`').enumerate().filter(|(_, piece)| !piece.is_empty());
        Text(spans.map(span).collect())
    }

    pub fn figure(value: impl std::fmt::Display) -> Text {
        Text(vec![Span::Figure(value.to_string())])
    }

    pub fn percent(rate: f64) -> Text {
        Text::figure(format!("{:.1} %", rate * 100.0))
    }

    pub fn word(tone: Tone, word: impl Into<String>) -> Text {
        Text(vec![Span::Word(tone, word.into())])
    }

    /// Leads to another page of the same site.
    pub fn link(to: impl Into<String>, words: impl Into<String>) -> Text {
        Text(vec![Span::Link { to: to.into(), words: words.into() }])
    }

    /// Several, with commas.
    pub fn joined(texts: impl IntoIterator<Item = Text>) -> Text {
        let mut spans = Vec::new();
        for text in texts {
            if !spans.is_empty() {
                spans.push(Span::Plain(", ".to_owned()));
            }
            spans.extend(text.0);
        }
        Text(spans)
    }

    #[must_use]
    pub fn and(mut self, more: impl Into<Text>) -> Text {
        self.0.extend(more.into().0);
        self
    }

    /// It is a number and nothing else.
    pub fn is_figure(&self) -> bool {
        matches!(self.0.as_slice(), [Span::Figure(_)])
    }
}

impl From<&'static str> for Text {
    fn from(words: &'static str) -> Text {
        Text::filled(words, [])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_is_never_read_as_markup() {
        let text = Text::filled("run `doorward rules` for {} of {}", [Text::figure(3), Text::code("`{}`")]);
        let spans = [
            Span::Plain("run ".into()),
            Span::Code("doorward rules".into()),
            Span::Plain(" for ".into()),
            Span::Figure("3".into()),
            Span::Plain(" of ".into()),
            Span::Code("`{}`".into()),
        ];
        assert_eq!(text.0, spans);
    }
}
