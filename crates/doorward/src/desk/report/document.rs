//! The report as data: sections, parts and blocks, rendered once as Markdown and once as HTML.
//!
//! Whatever comes from the record, the configuration or a file goes in as data and is never read as markup.

use serde::Serialize;

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Document {
    pub title: &'static str,
    /// The text below the title.
    pub about: Vec<Block>,
    /// The part before the eight sections.
    pub opening: Vec<Topic>,
    pub sections: Vec<Section>,
}

/// One of the eight sections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Section {
    pub number: usize,
    pub title: &'static str,
    pub parts: Vec<Topic>,
}

/// One point of a section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Topic {
    pub title: &'static str,
    pub blocks: Vec<Block>,
}

/// Something to read, and the command that prints the same figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Block {
    #[serde(flatten)]
    pub content: Content,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Content {
    Paragraph(Text),
    /// Something that needs attention.
    Warning(Text),
    List(Vec<Text>),
    /// Large figures, side by side.
    Tiles(Vec<Tile>),
    /// A timeline of calls, oldest first.
    Timeline(Vec<TimelineCall>),
    Table(Table),
    /// The decision matrix: equal neighbors merged in Markdown, complete in HTML.
    Matrix(super::matrix::Matrix),
    /// A drawing in HTML, a line of bars in Markdown; a table next to it has the figures.
    Charts(Vec<Chart>),
}

/// One large figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Tile {
    pub value: String,
    pub label: &'static str,
    /// Small print next to it, if any.
    pub note: String,
    pub tone: Tone,
}

/// One call, its time and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct TimelineCall {
    pub time: String,
    pub tone: Tone,
    pub word: &'static str,
    pub agent: String,
    pub tool: String,
    pub call: Text,
    pub why: Text,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Table {
    pub header: Vec<&'static str>,
    pub rows: Vec<Vec<Text>>,
    /// Collapsed in HTML until opened.
    #[serde(skip)]
    pub folded: Option<&'static str>,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Shape {
    Line,
    /// Stacked bars.
    Stacked,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Chart {
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
pub(super) struct Series {
    pub name: &'static str,
    pub tone: Tone,
    /// `None` where there is no value.
    pub values: Vec<Option<f64>>,
}

/// What a color means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Tone {
    Approve,
    Confirm,
    Block,
    Plain,
    Faint,
}

/// A piece of text: words, code or figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Text(pub Vec<Span>);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Span {
    Plain(String),
    Code(String),
    /// A number, or a word that stands for one.
    Figure(String),
    /// A verdict, in its color.
    Word(Tone, String),
}

impl Section {
    pub(super) fn new(number: usize, title: &'static str, parts: Vec<Topic>) -> Section {
        Section { number, title, parts }
    }
}

impl Topic {
    pub(super) fn new(title: &'static str) -> Topic {
        Topic { title, blocks: Vec::new() }
    }

    #[must_use]
    pub(super) fn with_text(self, text: impl Into<Text>) -> Topic {
        self.with(Content::Paragraph(text.into()))
    }

    #[must_use]
    pub(super) fn warn(self, text: impl Into<Text>) -> Topic {
        self.with(Content::Warning(text.into()))
    }

    #[must_use]
    pub(super) fn list(self, items: Vec<Text>) -> Topic {
        if items.is_empty() { self } else { self.with(Content::List(items)) }
    }

    #[must_use]
    pub(super) fn table(self, header: &[&'static str], rows: Vec<Vec<Text>>) -> Topic {
        if rows.is_empty() {
            return self;
        }
        self.with(Content::Table(Table { header: header.to_vec(), rows, folded: None }))
    }

    /// A long table that only some readers want.
    #[must_use]
    pub(super) fn folded(self, summary: &'static str, header: &[&'static str], rows: Vec<Vec<Text>>) -> Topic {
        self.with(Content::Table(Table { header: header.to_vec(), rows, folded: Some(summary) }))
    }

    #[must_use]
    pub(super) fn with(mut self, content: Content) -> Topic {
        self.blocks.push(Block { content, from: None });
        self
    }

    /// Names the command that prints the figures of the last block; an empty block that was left out names none.
    #[must_use]
    pub(super) fn from(mut self, command: impl Into<String>) -> Topic {
        if let Some(block) = self.blocks.last_mut() {
            block.from.get_or_insert_with(|| command.into());
        }
        self
    }
}

impl Text {
    /// Our own words, with code between backticks and a figure for each `{}`.
    pub(super) fn filled<const N: usize>(template: &'static str, figures: [Text; N]) -> Text {
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
    pub(super) fn code(text: impl Into<String>) -> Text {
        Text(vec![Span::Code(text.into())])
    }

    /// A sentence from a rule or an alert, as it is.
    pub(super) fn plain(text: impl Into<String>) -> Text {
        Text(vec![Span::Plain(text.into())])
    }

    /// A sentence with code between backticks. Its content stays data: it can look like code and nothing else.
    pub(super) fn sentence(text: &str) -> Text {
        let span = |(number, piece): (usize, &str)| {
            let piece = piece.to_owned();
            if number % 2 == 1 { Span::Code(piece) } else { Span::Plain(piece) }
        };
        let spans = text.split('`').enumerate().filter(|(_, piece)| !piece.is_empty());
        Text(spans.map(span).collect())
    }

    pub(super) fn figure(value: impl std::fmt::Display) -> Text {
        Text(vec![Span::Figure(value.to_string())])
    }

    pub(super) fn percent(rate: f64) -> Text {
        Text::figure(format!("{:.1} %", rate * 100.0))
    }

    pub(super) fn word(tone: Tone, word: impl Into<String>) -> Text {
        Text(vec![Span::Word(tone, word.into())])
    }

    /// Several, with commas.
    pub(super) fn joined(texts: impl IntoIterator<Item = Text>) -> Text {
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
    pub(super) fn and(mut self, more: impl Into<Text>) -> Text {
        self.0.extend(more.into().0);
        self
    }

    /// It is a number and nothing else.
    pub(super) fn is_figure(&self) -> bool {
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
