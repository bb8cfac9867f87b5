//! The report as Markdown.

use super::document::{Block, BlockContent, Chart, Content, Document, Span, Table, Text, Tile, TimelineCall};
use super::matrix::Matrix;
use crate::machine::visible;

/// The whole page.
pub(super) fn render(document: &Document) -> String {
    let mut page = format!("# {}\n", document.title);
    document.about.iter().for_each(|block| push_block(&mut page, block));
    for part in &document.opening {
        page.push_str(&format!("\n## {}\n", part.title));
        part.blocks.iter().for_each(|block| push_block(&mut page, block));
    }
    for section in &document.sections {
        page.push_str(&format!("\n## {}. {}\n", section.number, section.title));
        for part in &section.parts {
            page.push_str(&format!("\n### {}\n", part.title));
            part.blocks.iter().for_each(|block| push_block(&mut page, block));
        }
    }
    page
}

fn push_block(page: &mut String, block: &Block) {
    page.push('\n');
    match &block.content {
        BlockContent::Shared(content) => push_content(page, content),
        BlockContent::Matrix { matrix } => put_matrix(page, matrix),
    }
    if let Some(command) = &block.from {
        let commands: Vec<String> = command.split(", ").map(code).collect();
        page.push_str(&format!("\n<sub>printed by {}</sub>\n", commands.join(" and ")));
    }
}

fn push_content(page: &mut String, content: &Content) {
    match content {
        Content::Paragraph(words) => page.push_str(&format!("{}\n", text(words))),
        Content::Warning(words) => page.push_str(&format!("> **Attention:** {}\n", text(words))),
        Content::List(items) => items.iter().for_each(|item| page.push_str(&format!("- {}\n", text(item)))),
        Content::Tiles(tiles) => tiles.iter().for_each(|tile| put_tile(page, tile)),
        Content::Timeline(moments) => moments.iter().for_each(|moment| put_moment(page, moment)),
        Content::Table(table) => put_table(page, table),
        Content::Charts(charts) => charts.iter().for_each(|chart| put_chart(page, chart)),
    }
}

fn put_tile(page: &mut String, tile: &Tile) {
    let note = if tile.note.is_empty() { String::new() } else { format!(" ({})", plain(&tile.note)) };
    page.push_str(&format!("- **{}** {}{note}\n", plain(&tile.value), tile.label));
}

fn put_moment(page: &mut String, moment: &TimelineCall) {
    let why = if moment.why.0.is_empty() { String::new() } else { format!(": {}", text(&moment.why)) };
    let of = plain(&format!("{}, {}", moment.tool, moment.agent));
    page.push_str(&format!("- {} **{}** {} {of}{why}\n", moment.time, moment.word, text(&moment.call)));
}

fn put_table(page: &mut String, table: &Table) {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    page.push_str(&line(&table.header.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>()));
    page.push('|');
    for column in 0..table.header.len() {
        let is_number = |row: &Vec<Text>| row.get(column).is_some_and(Text::is_figure);
        page.push_str(if table.rows.iter().all(is_number) { "---:|" } else { "---|" });
    }
    page.push('\n');
    for row in &table.rows {
        // A `|` ends a cell, even inside code.
        page.push_str(&line(&row.iter().map(|cell| text(cell).replace('|', "\\|")).collect::<Vec<_>>()));
    }
}

fn put_matrix(page: &mut String, matrix: &Matrix) {
    for block in matrix.collapsed() {
        page.push_str(&format!("\n**{}**: {}\n\n", block.operation, block.what));
        put_table(page, &block.table);
    }
}

/// One bar per label; a chart with several series shows each on its own line.
fn put_chart(page: &mut String, chart: &Chart) {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = chart.top.unwrap_or_else(|| chart.largest()).max(f64::MIN_POSITIVE);
    for series in &chart.series {
        let bar = |value: &Option<f64>| match value {
            Some(value) => {
                let step = (value / top * 7.0).round().clamp(0.0, 7.0) as usize;
                BARS.get(step).copied().unwrap_or('█')
            }
            None => '·',
        };
        let bars: String = series.values.iter().map(bar).collect();
        page.push_str(&format!("- {}, {}: {bars}\n", chart.title, series.name));
    }
}

fn text(words: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Plain(words) => plain(words),
        Span::Figure(words) => plain(words),
        Span::Code(words) => code(words),
        Span::Link { words, .. } => plain(words),
        Span::Word(_, word) => format!("**{}**", plain(word)),
    };
    words.0.iter().map(span).collect()
}

/// Text with all Markdown and HTML escaped.
fn plain(words: &str) -> String {
    let mut escaped = String::with_capacity(words.len() + 8);
    for character in one_line(words).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '#' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// Code between more backticks than it contains in a row.
fn code(words: &str) -> String {
    let words = one_line(words);
    if words.trim().is_empty() {
        return "–".to_owned();
    }
    let longest = words.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad = if words.starts_with('`') || words.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{words}{pad}{fence}")
}

fn one_line(words: &str) -> String {
    visible(words).replace('\n', " ⏎ ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        for (words, wanted) in [
            ("<script>alert(1)</script> & more", "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"),
            ("[a](javascript:x) *b* _c_ ~d~ `e`", "\\[a\\](javascript:x) \\*b\\* \\_c\\_ \\~d\\~ \\`e\\`"),
            ("one\n# two", "one ⏎ \\# two"),
            ("a\u{202e}b", "a\\\\u{202e}b"),
        ] {
            assert_eq!(plain(words), wanted);
        }
        for (words, wanted) in
            [("rm -rf x", "`rm -rf x`"), ("echo `id`", "`` echo `id` ``"), ("a ``` b", "````a ``` b````"), (" ", "–")]
        {
            assert_eq!(code(words), wanted);
        }
    }
}
