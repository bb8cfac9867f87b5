//! Blocks of a page as HTML.

use crate::chart;
use crate::document::{Content, Span, Table, Text, Tile, TimelineCall, Tone};
use crate::escape::escaped;

/// One block; `about` names its scrolling region for screen readers.
#[must_use]
pub fn rendered(content: &Content, about: &str) -> String {
    let mut page = String::new();
    match content {
        Content::Paragraph(words) => page.push_str(&format!("<p>{}</p>\n", text(words))),
        Content::Warning(words) => page.push_str(&format!("<p class=\"warning\">{}</p>\n", text(words))),
        Content::List(items) => {
            page.push_str("<ul>\n");
            items.iter().for_each(|item| page.push_str(&format!("<li>{}</li>\n", text(item))));
            page.push_str("</ul>\n");
        }
        Content::Tiles(tiles) => {
            page.push_str("<div class=\"tiles\">\n");
            tiles.iter().for_each(|tile| put_tile(&mut page, tile));
            page.push_str("</div>\n");
        }
        Content::Timeline(moments) => put_timeline(&mut page, moments),
        Content::Table(table) => match table.folded {
            Some(summary) => {
                page.push_str(&format!("<details>\n<summary>{}</summary>\n", escaped(summary)));
                put_table(&mut page, table, about);
                page.push_str("</details>\n");
            }
            None => put_table(&mut page, table, about),
        },
        Content::Charts(charts) => {
            page.push_str("<div class=\"charts\">\n");
            charts.iter().for_each(|of| page.push_str(&chart::figure(of)));
            page.push_str("</div>\n");
        }
    }
    page
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

/// Opens a region that scrolls sideways; it can be reached and moved with the keyboard.
#[must_use]
pub fn scroll_region(about: &str) -> String {
    format!("<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n", escaped(about))
}

fn put_table(page: &mut String, table: &Table, about: &str) {
    let numbers: Vec<bool> = (0..table.header.len())
        .map(|column| table.rows.iter().all(|row| row.get(column).is_some_and(Text::is_figure)))
        .collect();
    page.push_str(&scroll_region(about));
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

/// Words as HTML.
#[must_use]
pub fn text(words: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Plain(words) => escaped(words),
        Span::Figure(words) => format!("<span class=\"figure\">{}</span>", escaped(words)),
        Span::Code(words) if words.trim().is_empty() => "–".to_owned(),
        Span::Code(words) => format!("<code>{}</code>", escaped(words)),
        Span::Link { to, words } => format!("<a href=\"{}\">{}</a>", escaped(to), escaped(words)),
        Span::Word(tone, word) => format!("<span class=\"word {}\">{}</span>", class(*tone), escaped(word)),
    };
    words.0.iter().map(span).collect()
}

/// The class of a tone.
#[must_use]
pub const fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Approve => "approve",
        Tone::Confirm => "confirm",
        Tone::Block => "block",
        Tone::Plain => "plain",
        Tone::Faint => "faint",
    }
}
