//! Section 4: the decision matrix.

use doorward_engine::Verdict;

use super::super::document::{BlockContent, Text, Topic};
use super::super::matrix::{Matrix, tone, verdict_word};
use super::count;

const CSV: &str = "doorward report --matrix-csv -";

pub(super) fn parts() -> Vec<Topic> {
    let matrix = Matrix::whole();
    let row = |verdict: &Verdict| {
        vec![
            Text::word(tone(*verdict), verdict_word(*verdict)),
            count(matrix.count(*verdict) as u64),
            Text::plain(verdict.what()),
        ]
    };
    let rows = Verdict::ALL.iter().map(row).collect();
    vec![
        Topic::new("Rows: action types × scopes")
            .with_text("Each cell is the least strict verdict possible. Rules and layer 2 may be stricter, never laxer.")
            .table(&["verdict", "cells", "meaning"], rows)
            .from(CSV),
        Topic::new("Columns: reversibility × blast radius")
            .with_text("Reversibility ranges from nothing changes to irreversible; the blast radius from the agent's own work to people and systems elsewhere."),
        Topic::new("Cells: AUTO_APPROVE / CONFIRM / BLOCK")
            .with_text("The second word says who may clear it: `soft` an allow rule, the user's own words, the reviewer or one key; `firm` one key for this call only; `hard` the target typed; `dual` typed twice.")
            .with(BlockContent::Matrix { matrix })
            .from(CSV),
    ]
}
