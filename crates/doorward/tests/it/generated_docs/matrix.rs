//! The decision matrix with equal neighbours in one row.

use doorward_engine::{Floor, Operation, Reach, Reversibility, Scope, floor};

use super::table;

/// Scopes with the same cells, and their rows: losses with the same cells, one cell for each reach.
type Block = (Vec<Scope>, Vec<(Vec<Reversibility>, Vec<Floor>)>);

pub(super) fn matrix() -> String {
    let mut text = "# Decision matrix\n\nThe least strict verdict that operation, scope, reversibility and reach permit, and who may clear it. \
                    Rules and layer 2 may be stricter, never laxer. Equal neighbors share a row or column.\n"
        .to_owned();
    for operation in Operation::ALL {
        text.push_str(&format!("\n## {operation}: {}\n\n", operation.what()));
        text.push_str(&operation_table(*operation));
    }
    text
}

/// The floors of one scope and reversibility, over all reaches.
fn line(operation: Operation, scope: Scope, loss: Reversibility) -> Vec<Floor> {
    Reach::ALL.iter().map(|reach| floor(operation, scope, loss, *reach)).collect()
}

fn operation_table(operation: Operation) -> String {
    // Neighbouring losses with equal lines first, then neighbouring scopes with equal blocks.
    let mut blocks: Vec<Block> = Vec::new();
    for scope in Scope::ALL {
        let mut lines: Vec<(Vec<Reversibility>, Vec<Floor>)> = Vec::new();
        for loss in Reversibility::ALL {
            let floors = line(operation, *scope, *loss);
            match lines.last_mut() {
                Some((losses, known)) if *known == floors => losses.push(*loss),
                _ => lines.push((vec![*loss], floors)),
            }
        }
        match blocks.last_mut() {
            Some((scopes, known)) if *known == lines => scopes.push(*scope),
            _ => blocks.push((vec![*scope], lines)),
        }
    }
    let mut rows = Vec::new();
    for (scopes, lines) in &blocks {
        for (losses, floors) in lines {
            let mut row = vec![
                if scopes.len() == Scope::ALL.len() { "any".into() } else { joined(scopes, Scope::as_str) },
                if losses.len() == Reversibility::ALL.len() {
                    "any".into()
                } else {
                    joined(losses, Reversibility::as_str)
                },
            ];
            row.extend(floors.iter().map(|floor| shown(*floor)));
            rows.push(row);
        }
    }
    let reaches: Vec<String> = Reach::ALL.iter().map(|reach| format!("reach {reach}")).collect();
    let header: Vec<&str> = ["scope", "reversibility"].into_iter().chain(reaches.iter().map(String::as_str)).collect();
    table(&header, &rows)
}

fn joined<T: Copy>(words: &[T], name: fn(T) -> &'static str) -> String {
    words.iter().map(|word| name(*word)).collect::<Vec<_>>().join(", ")
}

fn shown(floor: Floor) -> String {
    match floor.clearance {
        Some(clearance) => format!("{} {clearance}", floor.verdict),
        None => floor.verdict.to_string(),
    }
}
