//! The model card: what the built-in scorer is, what it learnt from, how it was tested, what it cannot do.

use std::collections::BTreeMap;
use std::fmt::Write;

use doorward_engine::Verdict;
use doorward_engine::layer2::table::Table;

use super::evaluate;
use super::rows::{LabelledCall, Purpose};

const HEAD: &str = include_str!("../../../model/card.md");

/// The card, as Markdown.
pub(super) fn card(rows: &[LabelledCall], prior: &Table) -> String {
    let mut text = format!("<!-- doorward {}: doorward model card -->\n\n{HEAD}\n", env!("CARGO_PKG_VERSION"));
    text.push_str("## Sources\n\n| source | use | calls | rows with variants | approve | confirm | block |\n|---|---|---|---|---|---|---|\n");
    let mut sources: BTreeMap<(Purpose, &str), [usize; 5]> = BTreeMap::new();
    for row in rows {
        let [calls, all, approve, confirm, block] = sources.entry((row.purpose, &row.source)).or_default();
        *all += 1;
        if row.world != "base" {
            continue;
        }
        *calls += 1;
        match row.label {
            Verdict::AutoApprove => *approve += 1,
            Verdict::Confirm => *confirm += 1,
            Verdict::Block => *block += 1,
        }
    }
    for ((purpose, source), [calls, all, approve, confirm, block]) in &sources {
        let purpose = match purpose {
            Purpose::Train => "trained on",
            Purpose::Test => "tested on only",
        };
        let _ = writeln!(text, "| {source} | {purpose} | {calls} | {all} | {approve} | {confirm} | {block} |");
    }
    text.push('\n');
    text.push_str(&evaluate::report(&evaluate::held_out(rows, prior, &mut |_| ())));
    text
}
