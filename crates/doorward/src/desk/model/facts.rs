//! From labelled calls, each with a described machine, to rows of features.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use doorward_engine::layer2::feature::Features;
use doorward_engine::layer2::features;
use doorward_engine::{DescribedWorld, Facts, Mark, Operation, Policy, Source, Verdict, judge, observe};
use serde::Deserialize;

use super::rows::{LabelledCall, Purpose};
use crate::desk::check::CheckRequest;

/// What a line says besides the call itself.
#[derive(Debug, Deserialize)]
struct CallLabel {
    id: String,
    source: String,
    #[serde(rename = "use")]
    purpose: String,
    variant: String,
    label: Verdict,
    weight: f64,
}

/// A machine where people overrode questions about such calls: their answer is the label itself, so there is nothing to learn.
const OVERRIDDEN: &str = "overridden";

/// Judges every call of the file and keeps its features.
pub(super) fn collect(path: &Path) -> Result<Vec<LabelledCall>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("can't read `{}`", path.display()))?;
    let mut rows: Vec<LabelledCall> = Vec::new();
    for line in text.lines() {
        let Some(row) = row(line)? else { continue };
        // The same call often looks the same on several machines.
        let is_known = |known: &LabelledCall| {
            known.id == row.id && (known.label, known.floor, &known.effects) == (row.label, row.floor, &row.effects)
        };
        if !rows.iter().rev().take_while(|known| known.id == row.id).any(is_known) {
            rows.push(row);
        }
    }
    Ok(rows)
}

fn row(line: &str) -> Result<Option<LabelledCall>> {
    let label: CallLabel = serde_json::from_str(line).with_context(|| format!("no label: `{line}`"))?;
    if label.variant == OVERRIDDEN {
        return Ok(None);
    }
    let request = CheckRequest::parse(line.as_bytes(), "/").map_err(|bad| anyhow!("a line {}", bad.problem))?;
    let description = request.world.unwrap_or_default();
    let world = DescribedWorld::new(description, &request.call.cwd);
    let facts = observe(&request.call, &world);
    // Whether a plain GET after reading a secret should ask is undecided: no label, no row.
    if label.variant == "secrets" && facts.effects.iter().any(|effect| effect.operation == Operation::Network) {
        return Ok(None);
    }
    let ScorerInput { floor, settled, effects } = scorer_input(&facts, &Policy::built_in());
    Ok(Some(LabelledCall {
        id: label.id,
        source: label.source,
        purpose: if label.purpose == "train" { Purpose::Train } else { Purpose::Test },
        label: if label.variant == "secrets" && dumps(&facts) {
            label.label.max(Verdict::Confirm)
        } else {
            label.label
        },
        world: label.variant,
        weight: label.weight,
        floor,
        settled,
        effects,
    }))
}

/// What layer 2 sees of a call.
pub(super) struct ScorerInput {
    /// The strictest verdict of all stages but layer 2.
    pub floor: Verdict,
    /// Layer 1 approves it by itself.
    pub settled: bool,
    pub effects: Vec<Features>,
}

/// Looks at observed facts as layer 2 does.
pub(super) fn scorer_input(facts: &Facts, policy: &Policy) -> ScorerInput {
    let judgement = judge(facts, policy);
    let others = judgement.opinions.iter().filter(|opinion| opinion.source != Source::Score);
    let floor = others.map(|opinion| opinion.verdict).max().unwrap_or(Verdict::AutoApprove);
    let mut effects = features(facts, floor);
    effects.sort();
    effects.dedup();
    ScorerInput { floor, settled: judgement.confidence.is_none(), effects }
}

/// If the environment holds secrets, their owner wants to be asked before it is printed.
fn dumps(facts: &Facts) -> bool {
    facts.effects.iter().any(|effect| effect.marks.has(Mark::EnvironmentDump))
}
