//! The decision matrix: complete for HTML and CSV, with equal neighbors merged for Markdown.

use doorward_engine::{Floor, Operation, Reach, Reversibility, Scope, Verdict, floor};
use serde::Serialize;

use super::document::{Table, Text, Tone};

/// All cells, computed by the engine itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Matrix {
    /// Operation and scope of each row, and its cells: reversibility by reach.
    pub rows: Vec<MatrixRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct MatrixRow {
    pub operation: Operation,
    pub scope: Scope,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Cell {
    pub reversibility: Reversibility,
    pub reach: Reach,
    #[serde(serialize_with = "worded")]
    pub floor: Floor,
}

/// The rows of one operation, with equal neighbors merged.
pub(super) struct MergedRows {
    pub operation: Operation,
    pub what: &'static str,
    pub table: Table,
}

/// The word of the specification.
pub(super) const fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::AutoApprove => "AUTO_APPROVE",
        Verdict::Confirm => "CONFIRM",
        Verdict::Block => "BLOCK",
    }
}

pub(super) const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::AutoApprove => Tone::Approve,
        Verdict::Confirm => Tone::Confirm,
        Verdict::Block => Tone::Block,
    }
}

/// `CONFIRM firm`.
pub(super) fn cell_words(floor: Floor) -> String {
    match floor.clearance {
        Some(clearance) => format!("{} {clearance}", verdict_word(floor.verdict)),
        None => verdict_word(floor.verdict).to_owned(),
    }
}

fn worded<S: serde::Serializer>(floor: &Floor, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&cell_words(*floor))
}

impl Matrix {
    pub(super) fn whole() -> Matrix {
        let mut rows = Vec::new();
        for operation in Operation::ALL {
            for scope in Scope::ALL {
                let cell = |loss: Reversibility, reach: Reach| Cell {
                    reversibility: loss,
                    reach,
                    floor: floor(*operation, *scope, loss, reach),
                };
                let cells =
                    Reversibility::ALL.iter().flat_map(|loss| Reach::ALL.iter().map(move |reach| cell(*loss, *reach)));
                rows.push(MatrixRow { operation: *operation, scope: *scope, cells: cells.collect() });
            }
        }
        Matrix { rows }
    }

    /// How many cells have this verdict.
    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.floor.verdict == verdict).count()
    }

    /// One line for each action and scope, one column for each reversibility and reach.
    pub(super) fn csv(&self) -> String {
        let mut text = "action,scope".to_owned();
        for cell in self.rows.first().map(|row| row.cells.as_slice()).unwrap_or_default() {
            text.push_str(&format!(",{} / {}", cell.reversibility, cell.reach));
        }
        text.push('\n');
        for row in &self.rows {
            text.push_str(&format!("{},{}", row.operation, row.scope));
            row.cells.iter().for_each(|cell| text.push_str(&format!(",{}", cell_words(cell.floor))));
            text.push('\n');
        }
        text
    }

    pub(super) fn collapsed(&self) -> Vec<MergedRows> {
        let of = |operation: &Operation| {
            let rows: Vec<&MatrixRow> = self.rows.iter().filter(|row| row.operation == *operation).collect();
            MergedRows { operation: *operation, what: operation.what(), table: collapsed(&rows) }
        };
        Operation::ALL.iter().map(of).collect()
    }
}

/// Losses with the same cells, and those cells, one for each reach.
type LossRow = (Vec<Reversibility>, Vec<Floor>);

fn collapsed(rows: &[&MatrixRow]) -> Table {
    let mut blocks: Vec<(Vec<Scope>, Vec<LossRow>)> = Vec::new();
    for row in rows {
        let lines = lines(row);
        match blocks.last_mut() {
            Some((scopes, known)) if *known == lines => scopes.push(row.scope),
            _ => blocks.push((vec![row.scope], lines)),
        }
    }
    let mut cells = Vec::new();
    for (scopes, lines) in &blocks {
        for (losses, floors) in lines {
            let mut row = vec![
                named(scopes, Scope::ALL.len(), Scope::as_str),
                named(losses, Reversibility::ALL.len(), Reversibility::as_str),
            ];
            row.extend(floors.iter().map(|floor| Text::word(tone(floor.verdict), cell_words(*floor))));
            cells.push(row);
        }
    }
    let header = ["scope", "reversibility"].into_iter().chain(Reach::ALL.iter().map(|reach| reach.as_str()));
    Table { header: header.collect(), rows: cells, folded: None }
}

fn lines(row: &MatrixRow) -> Vec<LossRow> {
    let mut lines: Vec<LossRow> = Vec::new();
    for loss in Reversibility::ALL {
        let of_loss = row.cells.iter().filter(|cell| cell.reversibility == *loss);
        let floors: Vec<Floor> = of_loss.map(|cell| cell.floor).collect();
        match lines.last_mut() {
            Some((losses, known)) if *known == floors => losses.push(*loss),
            _ => lines.push((vec![*loss], floors)),
        }
    }
    lines
}

fn named<T: Copy>(words: &[T], all: usize, name: fn(T) -> &'static str) -> Text {
    if words.len() == all {
        return Text::plain("any");
    }
    Text::plain(words.iter().map(|word| name(*word)).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_what_the_engine_says() {
        let matrix = Matrix::whole();
        let cells = Operation::ALL.len() * Scope::ALL.len() * Reversibility::ALL.len() * Reach::ALL.len();
        let counted: usize = Verdict::ALL.iter().map(|verdict| matrix.count(*verdict)).sum();
        assert_eq!(counted, cells);
        let csv = matrix.csv();
        assert_eq!(csv.lines().count(), 1 + Operation::ALL.len() * Scope::ALL.len());
        let line = csv.lines().find(|line| line.starts_with("delete,project,")).unwrap();
        let column = csv.lines().next().unwrap().split(',').position(|name| name == "irreversible / identity").unwrap();
        assert_eq!(line.split(',').nth(column), Some("BLOCK dual"));
    }

    #[test]
    fn what_is_collapsed_still_covers_every_row() {
        for block in Matrix::whole().collapsed() {
            assert!(block.table.rows.len() < Scope::ALL.len() * Reversibility::ALL.len());
            assert!(block.table.rows.iter().all(|row| row.len() == 2 + Reach::ALL.len()));
        }
    }
}
