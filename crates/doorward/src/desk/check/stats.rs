//! Totals over many checked calls: verdicts, coverage, the most frequent reasons and unknown words.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::answer::CheckAnswer;
use crate::memory::evaluation::Evaluation;

/// How many entries of each ranking are shown.
const TOP: usize = 20;

/// Only this many different phrases are counted, to bound memory.
// A corpus with a unique reason per line (paths, hosts) would otherwise keep every line in memory.
const PHRASES: usize = 50_000;

/// Counts over all calls.
#[derive(Debug, Default)]
pub(super) struct Stats {
    calls: u64,
    malformed: u64,
    verdicts: BTreeMap<&'static str, u64>,
    coverage: BTreeMap<&'static str, u64>,
    settled_by: BTreeMap<&'static str, u64>,
    reasons: Ranking,
    unknown: Ranking,
    opaque: Ranking,
}

#[derive(Debug, Default)]
struct Ranking(BTreeMap<String, u64>);

impl Ranking {
    fn add(&mut self, phrase: String) {
        let phrase = if self.0.len() < PHRASES || self.0.contains_key(&phrase) { phrase } else { "(others)".into() };
        *self.0.entry(phrase).or_default() += 1;
    }

    fn top(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<(&str, u64)> = self.0.iter().map(|(phrase, count)| (phrase.as_str(), *count)).collect();
        all.sort_by(|(a, x), (b, y)| y.cmp(x).then(a.cmp(b)));
        all.truncate(TOP);
        all
    }
}

impl Stats {
    pub(super) fn add(&mut self, answer: &CheckAnswer, evaluation: Option<&Evaluation>) {
        self.calls += 1;
        *self.verdicts.entry(answer.verdict).or_default() += 1;
        *self.coverage.entry(answer.coverage).or_default() += 1;
        *self.settled_by.entry(answer.settled_by).or_default() += 1;
        let Some(evaluation) = evaluation else {
            self.malformed += 1;
            return;
        };
        let reason = answer.rule.clone().or_else(|| answer.reasons.first().map(|reason| without_quotes(reason)));
        self.reasons.add(format!("{}: {}", answer.verdict, reason.unwrap_or_else(|| "no reason".into())));
        let coverage = &evaluation.facts.coverage;
        let ranking = match coverage.degree {
            doorward_engine::Degree::Full | doorward_engine::Degree::Delegated => return,
            doorward_engine::Degree::Unknown => &mut self.unknown,
            doorward_engine::Degree::Opaque => &mut self.opaque,
        };
        for because in &coverage.because {
            ranking.add(because.clone());
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let ranking = |ranking: &Ranking| -> Value {
            ranking.top().into_iter().map(|(phrase, count)| json!({ "what": phrase, "count": count })).collect()
        };
        json!({
            "calls": self.calls, "malformed": self.malformed, "verdicts": self.verdicts, "coverage": self.coverage,
            "settled_by": self.settled_by, "reasons": ranking(&self.reasons), "unknown": ranking(&self.unknown),
            "opaque": ranking(&self.opaque),
        })
    }

    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} calls, {} of them malformed", self.calls, self.malformed)?;
        for (title, counts) in
            [("verdict", &self.verdicts), ("coverage", &self.coverage), ("settled by", &self.settled_by)]
        {
            writeln!(out, "\n{title}")?;
            for (word, count) in counts {
                writeln!(out, "  {count:>8}  {:>5.1} %  {word}", self.percent(*count))?;
            }
        }
        for (title, ranking) in [
            ("most frequent reasons", &self.reasons),
            ("most frequent unknown programs, subcommands and flags", &self.unknown),
            ("most frequent causes of opaque coverage", &self.opaque),
        ] {
            writeln!(out, "\n{title}")?;
            for (phrase, count) in ranking.top() {
                writeln!(out, "  {count:>8}  {}", crate::machine::visible(phrase))?;
            }
        }
        Ok(())
    }

    fn percent(&self, count: u64) -> f64 {
        if self.calls == 0 { 0.0 } else { 100.0 * count as f64 / self.calls as f64 }
    }
}

/// The sentence without anything in backticks, so that similar reasons count as one.
fn without_quotes(reason: &str) -> String {
    let mut kept = String::new();
    for (index, piece) in reason.split('`').enumerate() {
        kept.push_str(if index % 2 == 0 { piece } else { "`…`" });
    }
    kept
}

#[cfg(test)]
mod tests {
    #[test]
    fn alike_reasons_count_as_one() {
        assert_eq!(super::without_quotes("deletes `a b` and `c`"), "deletes `…` and `…`");
    }
}
