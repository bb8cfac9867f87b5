//! The report as one self-contained HTML file, with style and charts inside.

use doorward_engine::{Clearance, Floor, Reach, Reversibility, Scope, Verdict};

use super::chart;
use super::document::{Block, Content, Document, Span, Table, Text, Tile, TimelineCall, Tone, Topic};
use super::matrix::{Matrix, MatrixRow, cell_words, tone};
use crate::machine::visible;

const STYLE: &str = include_str!("style.css");

/// Loads nothing and runs nothing, whatever the browser makes of the content.
// Reports quote commands and file names that an agent chose. Escaping should suffice; this holds if it does not.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The whole page.
pub(super) fn render(document: &Document) -> String {
    let title = escaped(document.title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n"
    );
    document.about.iter().for_each(|block| push_block(&mut page, block, "about"));
    page.push_str("</header>\n<div class=\"columns\">\n<nav aria-label=\"sections\">\n<ol>\n");
    for (number, part) in document.opening.iter().enumerate() {
        page.push_str(&format!("<li><a href=\"#opening-{number}\">{}</a></li>\n", escaped(part.title)));
    }
    for section in &document.sections {
        let (number, title) = (section.number, escaped(section.title));
        page.push_str(&format!("<li><a href=\"#section-{number}\">{number}. {title}</a></li>\n"));
    }
    page.push_str("</ol>\n</nav>\n<main>\n");
    for (number, part) in document.opening.iter().enumerate() {
        put_opening(&mut page, number, part);
    }
    for section in &document.sections {
        let (number, title) = (section.number, escaped(section.title));
        page.push_str(&format!("<section id=\"section-{number}\">\n<h2>{number}. {title}</h2>\n"));
        for part in &section.parts {
            page.push_str(&format!("<h3>{}</h3>\n", escaped(part.title)));
            part.blocks.iter().for_each(|block| push_block(&mut page, block, part.title));
        }
        page.push_str("</section>\n");
    }
    page.push_str("</main>\n</div>\n</body>\n</html>\n");
    page
}

fn put_opening(page: &mut String, number: usize, part: &Topic) {
    page.push_str(&format!("<section id=\"opening-{number}\" class=\"opening\">\n<h2>{}</h2>\n", escaped(part.title)));
    part.blocks.iter().for_each(|block| push_block(page, block, part.title));
    page.push_str("</section>\n");
}

/// `about` names the scrolling region, for screen readers.
fn push_block(page: &mut String, block: &Block, about: &str) {
    match &block.content {
        Content::Paragraph(words) => page.push_str(&format!("<p>{}</p>\n", text(words))),
        Content::Warning(words) => page.push_str(&format!("<p class=\"warning\">{}</p>\n", text(words))),
        Content::List(items) => {
            page.push_str("<ul>\n");
            items.iter().for_each(|item| page.push_str(&format!("<li>{}</li>\n", text(item))));
            page.push_str("</ul>\n");
        }
        Content::Tiles(tiles) => {
            page.push_str("<div class=\"tiles\">\n");
            tiles.iter().for_each(|tile| put_tile(page, tile));
            page.push_str("</div>\n");
        }
        Content::Timeline(moments) => put_timeline(page, moments),
        Content::Table(table) => match table.folded {
            Some(summary) => {
                page.push_str(&format!("<details>\n<summary>{}</summary>\n", escaped(summary)));
                put_table(page, table, about);
                page.push_str("</details>\n");
            }
            None => put_table(page, table, about),
        },
        Content::Matrix(matrix) => put_matrix(page, matrix),
        Content::Charts(charts) => {
            page.push_str("<div class=\"charts\">\n");
            charts.iter().for_each(|of| page.push_str(&chart::figure(of)));
            page.push_str("</div>\n");
        }
    }
    if let Some(command) = &block.from {
        let commands: Vec<String> =
            command.split(", ").map(|command| format!("<code>{}</code>", escaped(command))).collect();
        page.push_str(&format!("<p class=\"from\">printed by {}</p>\n", commands.join(" and ")));
    }
}

fn put_tile(page: &mut String, tile: &Tile) {
    let (value, label, note) = (escaped(&tile.value), escaped(tile.label), escaped(&tile.note));
    let note = if note.is_empty() { note } else { format!(" <small>{note}</small>") };
    page.push_str(&format!(
        "<p class=\"tile\"><b class=\"{}\">{value}</b>{note}<span>{label}</span></p>\n",
        class(tile.tone)
    ));
}

/// A band with a mark for each call, and below it the calls themselves.
fn put_timeline(page: &mut String, moments: &[TimelineCall]) {
    page.push_str("<p class=\"strip\" aria-hidden=\"true\">");
    for moment in moments {
        page.push_str(&format!("<i class=\"f-{}\" title=\"{}\"></i>", class(moment.tone), escaped(&moment.time)));
    }
    page.push_str("</p>\n<ol class=\"timeline\">\n");
    for TimelineCall { time, tone, word, agent, tool, call, why } in moments {
        let (tone, agent) = (class(*tone), escaped(&format!("{tool}, {agent}")));
        page.push_str(&format!(
            "<li class=\"{tone}\"><time>{}</time><span class=\"word {tone}\">{word}</span> <span class=\"call\">{}</span>\
             <small>{agent}</small><span class=\"why\">{}</span></li>\n",
            escaped(time),
            text(call),
            text(why)
        ));
    }
    page.push_str("</ol>\n");
}

fn scroll(page: &mut String, about: &str) {
    page.push_str(&format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n",
        escaped(about)
    ));
}

fn put_table(page: &mut String, table: &Table, about: &str) {
    let numbers: Vec<bool> = (0..table.header.len())
        .map(|column| table.rows.iter().all(|row| row.get(column).is_some_and(Text::is_figure)))
        .collect();
    scroll(page, about);
    page.push_str("<table class=\"cards\">\n<thead><tr>");
    for (title, is_number) in table.header.iter().zip(&numbers) {
        let class = if *is_number { " class=\"figure\"" } else { "" };
        page.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escaped(title)));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        page.push_str("<tr>");
        for ((cell, title), is_number) in row.iter().zip(&table.header).zip(&numbers) {
            let class = if *is_number { " class=\"figure\"" } else { "" };
            // A narrow screen shows each row as a card, where every cell names its column.
            page.push_str(&format!("<td{class} data-label=\"{}\"><div>{}</div></td>", escaped(title), text(cell)));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
}

fn put_matrix(page: &mut String, matrix: &Matrix) {
    put_legend(page);
    page.push_str("<p class=\"hint\">Swipe sideways to see every column.</p>\n");
    scroll(page, "decision matrix");
    page.push_str("<table class=\"matrix\">\n<thead>\n<tr><th class=\"action\" rowspan=\"2\" scope=\"col\">action</th><th class=\"corner\" rowspan=\"2\" scope=\"col\">scope</th>");
    for loss in Reversibility::ALL {
        page.push_str(&format!("<th colspan=\"{}\" scope=\"colgroup\">{loss}</th>", Reach::ALL.len()));
    }
    page.push_str("</tr>\n<tr>");
    for reach in Reversibility::ALL.iter().flat_map(|_| Reach::ALL) {
        page.push_str(&format!("<th scope=\"col\"><div class=\"reach\">{reach}</div></th>"));
    }
    page.push_str("</tr>\n</thead>\n<tbody>\n");
    matrix.rows.iter().for_each(|row| put_row(page, row));
    page.push_str("</tbody>\n</table>\n</div>\n");
}

fn put_row(page: &mut String, row: &MatrixRow) {
    page.push_str("<tr>");
    if row.scope == Scope::Scratch {
        page.push_str(&format!(
            "<th class=\"action\" rowspan=\"{}\" scope=\"rowgroup\">{}</th>",
            Scope::ALL.len(),
            row.operation
        ));
    }
    // A narrow screen has no column for the action, so each row names it.
    page.push_str(&format!("<th class=\"side\" scope=\"row\" data-action=\"{}\">{}</th>", row.operation, row.scope));
    for cell in &row.cells {
        let about = format!("{}, {}: {}", cell.reversibility, cell.reach, cell_words(cell.floor));
        page.push_str(&format!(
            "<td class=\"{}\" title=\"{about}\">{}</td>",
            class(tone(cell.floor.verdict)),
            short(cell.floor)
        ));
    }
    page.push_str("</tr>\n");
}

/// Forty-two by thirty cells have room for two letters each.
fn short(floor: Floor) -> &'static str {
    match (floor.verdict, floor.clearance) {
        (Verdict::AutoApprove, _) => "A",
        (Verdict::Confirm, Some(Clearance::Soft)) => "Cs",
        (Verdict::Confirm, Some(Clearance::Firm | Clearance::Hard | Clearance::Dual) | None) => "Cf",
        (Verdict::Block, Some(Clearance::Soft | Clearance::Firm | Clearance::Hard) | None) => "Bh",
        (Verdict::Block, Some(Clearance::Dual)) => "Bd",
    }
}

fn put_legend(page: &mut String) {
    page.push_str(
        "<p><span class=\"word approve\">A</span> AUTO_APPROVE · <span class=\"word confirm\">Cs</span> CONFIRM, cleared by a rule or one key · \
         <span class=\"word confirm\">Cf</span> CONFIRM, cleared by one key for this call only · <span class=\"word block\">Bh</span> BLOCK, cleared by typing the target · \
         <span class=\"word block\">Bd</span> BLOCK, typed twice; columns: reversibility, and below it the reach</p>\n",
    );
}

fn text(words: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Plain(words) => escaped(words),
        Span::Figure(words) => format!("<span class=\"figure\">{}</span>", escaped(words)),
        Span::Code(words) if words.trim().is_empty() => "–".to_owned(),
        Span::Code(words) => format!("<code>{}</code>", escaped(words)),
        Span::Word(tone, word) => format!("<span class=\"word {}\">{}</span>", class(*tone), escaped(word)),
    };
    words.0.iter().map(span).collect()
}

/// The class of a tone.
pub(super) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Approve => "approve",
        Tone::Confirm => "confirm",
        Tone::Block => "block",
        Tone::Plain => "plain",
        Tone::Faint => "faint",
    }
}

/// Text escaped for both elements and quoted attributes.
pub(super) fn escaped(words: &str) -> String {
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
