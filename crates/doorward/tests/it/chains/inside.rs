//! What happens in the box: orders come as JSON, chains are played one after the other, a report goes back.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::benign;
use super::generator::{Generator, is_prelude};
use super::grammar::Grammar;
use super::player::{self, Player, Verdict};
use super::report::{Report, Violation};
use super::watch::{Finding, Known, Watch};
use super::world::{CANARY, TEMPLATE, World};

/// The variable that holds the order.
pub(super) const ORDER: &str = "DOORWARD_CHAINS_ORDER";

/// Where the report goes.
pub(super) const REPORT: &str = "/run/report";

/// Carries out an order.
pub(super) fn obey(order: &str) {
    let order: Value = serde_json::from_str(order).unwrap();
    let report = match order["what"].as_str().unwrap() {
        "build" => build(),
        "fuzz" => fuzz(order["seed"].as_u64().unwrap(), order["count"].as_u64().unwrap()),
        "benign" => benign::play(&mut Stage::new(), order["half"].as_u64().unwrap()),
        _ => replay(&order["chain"]),
    };
    fs::write(REPORT, report.to_string()).unwrap();
}

/// Makes the template in a home that stays.
fn build() -> Value {
    let output = Command::new("bash").arg("/run/template.sh").output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "the template could not be made:\n{said}");
    let grammar = Grammar::load("");
    Player::new(&grammar).begin();
    json!({})
}

/// Everything a chain is played on.
#[derive(Debug)]
pub(super) struct Stage {
    pub grammar: Grammar,
    world: World,
    known: Known,
}

/// What one chain did.
#[derive(Debug)]
pub(super) struct Played {
    /// The calls that ran.
    ran: Vec<String>,
    pub verdicts: Vec<(Option<Verdict>, String)>,
    pub findings: Vec<Finding>,
}

impl Stage {
    pub(super) fn new() -> Stage {
        let words = fs::read_to_string(Path::new(TEMPLATE).join("tmp/words")).unwrap();
        player::network();
        let mut world = World::new();
        world.reset();
        let known = Known::read(&world);
        Stage { grammar: Grammar::load(&words), world, known }
    }

    /// Plays a chain on a fresh disk until something is wrong.
    pub(super) fn play(&mut self, chain: &[String]) -> Played {
        self.world.reset();
        let mut player = Player::new(&self.grammar);
        let (first, rest) = chain.split_at(chain.iter().take_while(|call| is_prelude(call)).count());
        for call in first {
            player.play(call);
        }
        let _ = fs::remove_file(CANARY);
        let mut watch = Watch::new(&self.known, &self.world);
        let mut played =
            Played { ran: first.to_vec(), verdicts: vec![(None, String::new()); first.len()], findings: Vec::new() };
        for call in rest {
            let answer = player.play(call);
            let is_event = answer.is_none();
            let verdict = answer.as_ref().map(|answer| answer.verdict);
            played.verdicts.push((verdict, answer.map(|answer| answer.reason).unwrap_or_default()));
            if verdict == Some(Verdict::Approved) || is_event {
                played.ran.push(call.clone());
                let is_edit = call.starts_with('@') && call.contains("Edit ");
                played.findings = if is_edit { watch.look_at_edit() } else { watch.look() };
            }
            if !played.findings.is_empty() {
                return played;
            }
        }
        played.findings = watch.end();
        played
    }

    /// The chain without the calls, and parts of calls, that it does not need for the same kind of violation.
    fn minimal(&mut self, chain: &[String], kind: &str) -> Option<Violation> {
        let mut best = None;
        let mut chain = chain.to_vec();
        while let Some((shorter, finding)) = shorter(&chain).into_iter().find_map(|shorter| {
            let found = self.play(&shorter).findings.into_iter().find(|finding| finding.kind == kind);
            found.map(|finding| (shorter, finding))
        }) {
            best = Some(Violation::new(&finding, &shorter));
            chain = shorter;
        }
        best
    }
}

/// The chain with one call less, or with one part of a call less.
fn shorter(chain: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for at in 0..chain.len() {
        let mut without = chain.to_vec();
        without.remove(at);
        found.push(without);
    }
    for (at, call) in chain.iter().enumerate() {
        for between in ["\n", "; ", " && ", " || "] {
            let parts = call.split_once(between).map(|(first, second)| [first, second]);
            for part in parts.into_iter().flatten() {
                let mut less = chain.to_vec();
                less[at] = part.to_owned();
                found.push(less);
            }
        }
    }
    found
}

fn fuzz(seed: u64, count: u64) -> Value {
    let mut stage = Stage::new();
    let words = fs::read_to_string(Path::new(TEMPLATE).join("tmp/words")).unwrap();
    let grammar = Grammar::load(&words);
    let mut generator = Generator::new(&grammar, seed);
    let mut report = Report::default();
    let mut seen = BTreeSet::new();
    for _ in 0..count {
        let calls = generator.chain();
        let chain: Vec<String> = calls.iter().map(|call| call.text.clone()).collect();
        let played = stage.play(&chain);
        for (call, (verdict, _)) in calls.iter().zip(&played.verdicts) {
            if let Some(verdict) = verdict {
                report.count(&call.text, *verdict);
                generator.learn(call, *verdict == Verdict::Approved);
            }
        }
        report.chains += 1;
        for finding in played.findings.iter().take(1) {
            let mut violation = Violation::new(finding, &played.ran);
            // Making it short takes time; once for each way that looks the same is enough.
            if seen.insert(violation.signature()) {
                violation = stage.minimal(&played.ran, finding.kind).unwrap_or(violation);
                seen.insert(violation.signature());
            }
            report.violations.push(violation);
        }
    }
    report.json()
}

/// Plays one chain and tells everything.
fn replay(chain: &Value) -> Value {
    let chain: Vec<String> = chain.as_array().unwrap().iter().map(|call| call.as_str().unwrap().to_owned()).collect();
    let played = Stage::new().play(&chain);
    let calls: Vec<Value> = chain
        .iter()
        .zip(&played.verdicts)
        .map(|(call, (verdict, reason))| json!({ "call": call, "verdict": format!("{verdict:?}"), "reason": reason }))
        .collect();
    json!({ "calls": calls, "findings": format!("{:?}", played.findings) })
}
