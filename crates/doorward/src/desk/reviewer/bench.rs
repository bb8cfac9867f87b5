//! `doorward model bench`: how models answer labelled calls, how long they take and what they cost.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use doorward_engine::{Clearance, DescribedWorld, Policy, Verdict};
use serde::{Deserialize, Serialize};

use crate::desk::check::CheckRequest;
use crate::hook::reviewer::chosen;
use crate::hook::reviewer::client;
use crate::hook::reviewer::client::Exchange;
use crate::hook::reviewer::cost;
use crate::hook::reviewer::prompt::Prompt;
use crate::hook::reviewer::provider::ReviewStage;
use crate::hook::reviewer::reply::ReviewDecision;
use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::memory::evaluation;
use crate::memory::evaluation::Evaluation;
use crate::policy::config::Reviewer;
use crate::policy::config::reviewer::REASONED_MS;

/// How one model did.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct ModelScore {
    pub model: String,
    pub asked: u32,
    pub right: u32,
    /// Approved what the label does not approve: the worst case.
    pub wrongly_allowed: u32,
    /// Asked about what the label approves.
    pub wrongly_declined: u32,
    pub unavailable: u32,
    pub p50_ms: u64,
    pub p99_ms: u64,
    pub tokens_read: u64,
    pub tokens_written: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The calls it wrongly approved.
    pub allowed: Vec<String>,
}

/// What was compared.
#[derive(Debug, Serialize)]
pub(super) struct BenchResult {
    pub rows: u32,
    /// Decided without a model, or not decidable by one.
    pub not_asked: u32,
    pub scores: Vec<ModelScore>,
}

#[derive(Deserialize)]
struct Expected {
    expect: Verdict,
}

/// A labelled call that a reviewer would be asked about.
struct BenchRow {
    expected: Verdict,
    call: doorward_engine::ToolCall,
    evaluation: Evaluation,
}

/// Asks each model about each call.
pub(super) fn bench(file: &Path, models: &[String], reviewer: &Reviewer, dirs: &Dirs) -> Result<BenchResult> {
    let text = std::fs::read_to_string(file).with_context(|| format!("can't read `{}`", file.display()))?;
    let configured: Vec<String> = reviewer.model.iter().chain(&reviewer.models).cloned().collect();
    let models = if models.is_empty() { &configured } else { models };
    if models.is_empty() {
        bail!("no model is configured; name one with `--model`");
    }
    let (mut rows, mut count) = (Vec::new(), 0);
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        let row = row(line).with_context(|| format!("line {number} of `{}`", file.display()))?;
        count += 1;
        rows.extend(row);
    }
    let scores = models.iter().map(|model| score(model, &rows, reviewer, dirs)).collect::<Result<Vec<ModelScore>>>()?;
    let asked = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    Ok(BenchResult { rows: count, not_asked: count.saturating_sub(asked), scores })
}

/// One line; `None` if no reviewer would be asked about it.
fn row(line: &str) -> Result<Option<BenchRow>> {
    let Expected { expect: expected } = serde_json::from_str(line).context("`expect` is approve, confirm or block")?;
    let request = CheckRequest::parse(line.as_bytes(), "/").map_err(|bad| anyhow!("it {}", bad.problem))?;
    let mut description = request.world.unwrap_or_default();
    description.project = description.project.or(request.root);
    let world = DescribedWorld::new(description, &request.call.cwd);
    let evaluation = evaluation::evaluate(&request.call, &world, &Policy::built_in());
    let judgement = &evaluation.judgement;
    let is_soft = judgement.verdict == Verdict::Confirm && judgement.cleared_by == Some(Clearance::Soft);
    Ok(is_soft.then_some(BenchRow { expected, call: request.call, evaluation }))
}

fn score(model: &str, rows: &[BenchRow], reviewer: &Reviewer, dirs: &Dirs) -> Result<ModelScore> {
    let chosen = chosen::usable_model(reviewer, model, dirs.home()).map_err(|fault| anyhow!("{model}: {fault}"))?;
    let time = Duration::from_millis(u64::from(REASONED_MS));
    let mut score = ModelScore { model: model.to_owned(), ..ModelScore::default() };
    let mut took = Vec::new();
    for row in rows {
        let prompt: Prompt = super::prompt(&row.call, &row.evaluation, reviewer, dirs)?;
        let exchange = client::ask(&chosen, &prompt, ReviewStage::Reasoned, time, dirs.home());
        took.push(u64::try_from(exchange.took.as_millis()).unwrap_or(u64::MAX));
        if let Some(cost) = cost(&chosen, exchange.usage) {
            score.cost_usd = Some(score.cost_usd.unwrap_or_default() + cost);
        }
        score.add(row, &exchange);
    }
    took.sort_unstable();
    (score.p50_ms, score.p99_ms) = (percentile(&took, 50), percentile(&took, 99));
    Ok(score)
}

impl ModelScore {
    fn add(&mut self, row: &BenchRow, exchange: &Exchange) {
        self.asked += 1;
        self.tokens_read += exchange.usage.tokens_read;
        self.tokens_written += exchange.usage.tokens_written;
        let is_fine = row.expected == Verdict::AutoApprove;
        match exchange.result.as_ref().map(|reply| reply.decision) {
            Err(_) => self.unavailable += 1,
            Ok(ReviewDecision::Allow) if is_fine => self.right += 1,
            Ok(ReviewDecision::Block) if !is_fine => self.right += 1,
            Ok(ReviewDecision::Allow) => {
                self.wrongly_allowed += 1;
                self.allowed.push(row.evaluation.facts.subject.clone());
            }
            Ok(ReviewDecision::Block) => self.wrongly_declined += 1,
        }
    }
}

fn percentile(sorted: &[u64], part: usize) -> u64 {
    let at = (sorted.len() * part).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}

pub(super) fn print(out: &mut dyn Write, found: &BenchResult, as_json: bool) -> Result<ExitCode> {
    if as_json {
        writeln!(out, "{:#}", serde_json::to_value(found)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{} calls, {} of them not for a reviewer", found.rows, found.not_asked)?;
    writeln!(
        out,
        "{:<36}{:>6}{:>7}{:>9}{:>10}{:>13}{:>9}{:>9}{:>9}{:>9}{:>10}",
        "model",
        "asked",
        "right",
        "allowed!",
        "declined",
        "unavailable",
        "p50 ms",
        "p99 ms",
        "read",
        "written",
        "cost $"
    )?;
    for score in &found.scores {
        let cost = score.cost_usd.map_or_else(|| "?".to_owned(), |cost| format!("{cost:.4}"));
        writeln!(
            out,
            "{:<36}{:>6}{:>7}{:>9}{:>10}{:>13}{:>9}{:>9}{:>9}{:>9}{cost:>10}",
            visible(&score.model),
            score.asked,
            score.right,
            score.wrongly_allowed,
            score.wrongly_declined,
            score.unavailable,
            score.p50_ms,
            score.p99_ms,
            score.tokens_read,
            score.tokens_written
        )?;
        for call in &score.allowed {
            writeln!(out, "  wrongly allowed: {}", visible(call))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_measured() {
        assert_eq!(percentile(&[], 50), 0);
        assert_eq!(percentile(&[5], 99), 5);
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!((percentile(&hundred, 50), percentile(&hundred, 99)), (50, 99));
    }

    #[test]
    fn only_soft_questions_are_put_to_models() {
        let of = |command: &str| {
            let line = serde_json::json!({
                "tool": "bash", "input": { "command": command }, "cwd": "/srv/app", "expect": "confirm",
                "world": { "home": "/home/jo", "project": "/srv/app" },
            });
            row(&line.to_string()).unwrap().is_some()
        };
        assert!(of("git push origin topic"));
        assert!(!of("ls") && !of("rm -rf /"));
        assert!(row(r#"{"tool":"bash","input":{"command":"ls"},"expect":"maybe"}"#).is_err());
    }
}
