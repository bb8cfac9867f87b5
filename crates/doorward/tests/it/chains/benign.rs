//! Ordinary work with git that must not ask.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::chance::Chance;
use super::grammar::Grammar;
use super::inside::Stage;
use super::player::Verdict;

/// How often each situation is played, with other names.
const ROUNDS: usize = 9;

/// All situations, none twice.
fn situations() -> Vec<Vec<String>> {
    let (lists, blocks) = include_str!("benign.txt").split_once("---\n").unwrap();
    let names = Grammar::of(lists);
    let mut chance = Chance::new(7);
    let mut seen = BTreeSet::new();
    for block in blocks.split("\n\n") {
        for _ in 0..ROUNDS {
            let filled = names.fill(block.trim(), &mut chance);
            seen.insert(filled.lines().map(str::to_owned).collect::<Vec<_>>());
        }
    }
    seen.into_iter().collect()
}

/// Plays one half of the situations; a situation asks if one of its calls does.
pub(super) fn play(stage: &mut Stage, half: u64) -> Value {
    let all = situations();
    let (first, second) = all.split_at(all.len() / 2);
    let situations = if half == 0 { first } else { second };
    let (mut asked, mut harm) = (Vec::new(), Vec::new());
    for situation in situations {
        let played = stage.play(situation);
        let is_stopped =
            |(verdict, _): &(Option<Verdict>, String)| verdict.is_some_and(|verdict| verdict != Verdict::Approved);
        let stopped = played.verdicts.iter().position(is_stopped);
        asked.extend(
            stopped.map(|at| json!({ "situation": situation, "call": situation[at], "reason": played.verdicts[at].1 })),
        );
        harm.extend(
            played.findings.iter().map(|finding| json!({ "situation": situation, "finding": format!("{finding:?}") })),
        );
    }
    json!({ "situations": situations.len(), "asked": asked, "harm": harm })
}
