//! What a run found: counts, and one example for each kind of violation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::grammar::verbs_in;
use super::player::Verdict;
use super::watch::Finding;

/// A chain after which the disk was not as it should be.
#[derive(Debug, Clone)]
pub(super) struct Violation {
    pub kind: String,
    pub what: String,
    pub chain: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Report {
    pub chains: usize,
    pub approved: usize,
    pub asked: usize,
    pub blocked: usize,
    /// How often each verb was proposed and approved.
    pub verbs: BTreeMap<String, (usize, usize)>,
    pub violations: Vec<Violation>,
    /// The signatures of them.
    seen: BTreeSet<String>,
}

impl Violation {
    pub(super) fn new(finding: &Finding, chain: &[String]) -> Violation {
        Violation { kind: finding.kind.to_owned(), what: finding.what.clone(), chain: chain.to_vec() }
    }

    /// Violations with the same signature are the same way in.
    pub(super) fn signature(&self) -> String {
        let verbs = self.chain.iter().map(|call| {
            let verbs = verbs_in(call);
            let first = call.split_whitespace().next().unwrap_or_default().to_owned();
            if verbs.is_empty() { first } else { verbs.join("+") }
        });
        format!("{}: {}", self.kind, verbs.collect::<Vec<_>>().join(" → "))
    }

    fn json(&self) -> Value {
        json!({ "kind": self.kind, "what": self.what, "chain": self.chain })
    }

    fn read(value: &Value) -> Violation {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let chain = value["chain"].as_array().unwrap().iter().map(|call| call.as_str().unwrap().to_owned()).collect();
        Violation { kind: text("kind"), what: text("what"), chain }
    }
}

impl Report {
    pub(super) fn count(&mut self, call: &str, verdict: Verdict) {
        let is_approved = verdict == Verdict::Approved;
        match verdict {
            Verdict::Approved => self.approved += 1,
            Verdict::Asked => self.asked += 1,
            Verdict::Blocked => self.blocked += 1,
        }
        for verb in verbs_in(call) {
            let (proposed, approved) = self.verbs.entry(verb).or_default();
            *proposed += 1;
            *approved += usize::from(is_approved);
        }
    }

    pub(super) fn json(&self) -> Value {
        let verbs: BTreeMap<_, _> =
            self.verbs.iter().map(|(verb, counts)| (verb, json!([counts.0, counts.1]))).collect();
        let violations: Vec<Value> = self.violations.iter().map(Violation::json).collect();
        json!({
            "chains": self.chains, "approved": self.approved, "asked": self.asked, "blocked": self.blocked, "verbs": verbs,
            "violations": violations,
        })
    }

    /// Adds what another box reported; gives the violations of kinds that were not there before.
    pub(super) fn add(&mut self, report: &Value) -> Vec<String> {
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        self.chains += number(&report["chains"]);
        self.approved += number(&report["approved"]);
        self.asked += number(&report["asked"]);
        self.blocked += number(&report["blocked"]);
        for (verb, counts) in report["verbs"].as_object().unwrap() {
            let (proposed, approved) = self.verbs.entry(verb.clone()).or_default();
            *proposed += number(&counts[0]);
            *approved += number(&counts[1]);
        }
        let mut fresh = Vec::new();
        for violation in report["violations"].as_array().unwrap().iter().map(Violation::read) {
            if self.seen.insert(violation.signature()) {
                fresh.push(format!("{} ({}) {}", violation.kind, violation.what, json!(violation.chain)));
            }
            self.violations.push(violation);
        }
        fresh
    }

    /// The violations by signature: how many, and the shortest example of each.
    pub(super) fn kinds(&self) -> Vec<(usize, &Violation)> {
        let mut kinds: BTreeMap<String, (usize, &Violation)> = BTreeMap::new();
        for violation in &self.violations {
            let (count, shortest) = kinds.entry(violation.signature()).or_insert((0, violation));
            *count += 1;
            if length(violation) < length(shortest) {
                *shortest = violation;
            }
        }
        let mut kinds: Vec<_> = kinds.into_values().collect();
        kinds.sort_by_key(|(count, violation)| (violation.kind.clone(), usize::MAX - count));
        kinds
    }

    /// Everything for people.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{} chains; calls: {} approved, {} asked, {} blocked; {} violations\n",
            self.chains,
            self.approved,
            self.asked,
            self.blocked,
            self.violations.len()
        );
        let verbs: Vec<String> =
            self.verbs.iter().map(|(verb, counts)| format!("{verb} {}/{}", counts.1, counts.0)).collect();
        text.push_str(&format!("verbs, approved/proposed: {}\n", verbs.join(", ")));
        for (count, violation) in self.kinds() {
            text.push_str(&format!("\n{count} × {} ({})\n", violation.kind, violation.what));
            text.push_str(&format!("  {}\n", json!(violation.chain)));
        }
        text
    }
}

fn length(violation: &Violation) -> (usize, usize) {
    (violation.chain.len(), violation.chain.iter().map(String::len).sum())
}
