//! The report as data: sections, parts and blocks, rendered once as Markdown and once as HTML.
//!
//! Whatever comes from the record, the configuration or a file goes in as data and is never read as markup.

use serde::Serialize;

pub(super) use doorward_pages::{Chart, Content, Series, Shape, Span, Table, Text, Tile, TimelineCall, Tone};

use super::matrix::Matrix;

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
    pub content: BlockContent,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// What only the report has, and what every page has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum BlockContent {
    Shared(Content),
    /// The decision matrix: equal neighbors merged in Markdown, complete in HTML.
    Matrix {
        matrix: Matrix,
    },
}

impl From<Content> for BlockContent {
    fn from(content: Content) -> BlockContent {
        BlockContent::Shared(content)
    }
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
    pub(super) fn with(mut self, content: impl Into<BlockContent>) -> Topic {
        self.blocks.push(Block { content: content.into(), from: None });
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
