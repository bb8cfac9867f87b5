//! The report as one self-contained HTML file, with style and charts inside.

use doorward_engine::{Clearance, Floor, Reach, Reversibility, Scope, Verdict};

use doorward_pages::{STYLE, class, escaped};

use super::document::{Block, BlockContent, Document, Topic};
use super::matrix::{Matrix, MatrixRow, cell_words, tone};

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
        BlockContent::Shared(content) => page.push_str(&doorward_pages::rendered(content, about)),
        BlockContent::Matrix { matrix } => put_matrix(page, matrix),
    }
    if let Some(command) = &block.from {
        let commands: Vec<String> =
            command.split(", ").map(|command| format!("<code>{}</code>", escaped(command))).collect();
        page.push_str(&format!("<p class=\"from\">printed by {}</p>\n", commands.join(" and ")));
    }
}

/// The matrix alone.
pub(super) fn matrix(matrix: &Matrix) -> String {
    let mut page = String::new();
    put_matrix(&mut page, matrix);
    page
}

fn put_matrix(page: &mut String, matrix: &Matrix) {
    put_legend(page);
    page.push_str("<p class=\"hint\">Swipe sideways to see every column.</p>\n");
    page.push_str(&doorward_pages::scroll_region("decision matrix"));
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
