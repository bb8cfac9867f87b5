//! Layer 2 scores what layer 1 leaves open: an additive scorecard whose weights a person can read.

use crate::coverage::Degree;
use crate::effect::{Effect, Operation, Reach, Reversibility, Scope, Sensitivity};
use crate::facts::Facts;
use crate::marks::Mark;
use crate::policy::Policy;
use crate::taint;
use crate::verdict::{Clearance, Confidence, Opinion, Source};

/// The score of a call with no risk at all, in log-odds.
const BASE: f64 = -4.2;

/// What it adds, in log-odds, if everything similar was overridden in the last 30 days.
const OVERRIDDEN: f64 = 1.5;

/// What it adds, in log-odds, if something happened before in the session that makes the next calls riskier.
const TAINTED: f64 = 1.0;

/// Marks that add risk of their own, in log-odds. What is not listed adds nothing.
const MARKS: &[(Mark, f64)] = &[
    (Mark::UnlistedHost, 3.0),
    (Mark::UnknownProgram, 2.5),
    (Mark::InlineCode, 2.5),
    (Mark::ChangedRecipe, 3.5),
    (Mark::UntrustedProject, 4.0),
    (Mark::InstallChosen, 3.0),
    (Mark::EnvironmentPoison, 4.0),
    (Mark::Push, 3.0),
    (Mark::DefaultBranch, 1.0),
    (Mark::HistoryRewrite, 2.0),
    (Mark::DiscardsWork, 2.5),
    (Mark::GitConfig, 2.5),
    (Mark::GitRemoteChange, 3.0),
    (Mark::Recursive, 0.2),
    (Mark::CountUnknown, 0.2),
    (Mark::SecretInContent, 3.0),
    (Mark::LifecycleScript, 2.5),
    (Mark::RunsOnLoad, 1.0),
    (Mark::UnlistedBinary, 4.0),
    (Mark::ChangedBinary, 3.5),
    (Mark::SessionFile, 0.5),
    (Mark::Privileged, 3.0),
    (Mark::Remote, 3.0),
    (Mark::OutsideProject, 1.5),
    (Mark::LinkedElsewhere, 2.0),
    (Mark::HardLinked, 1.5),
    (Mark::Plaintext, 2.0),
    (Mark::OddAddress, 3.0),
    (Mark::OddPort, 2.0),
    (Mark::RareDomain, 2.0),
    (Mark::AddressLiteral, 2.5),
    (Mark::PrivateAddress, 2.5),
    (Mark::Upload, 2.5),
    (Mark::Cloud, 1.0),
    (Mark::Database, 2.0),
    (Mark::McpUntrusted, 3.0),
    (Mark::McpChanged, 4.0),
    (Mark::McpDestructive, 3.0),
    (Mark::UnknownTool, 4.0),
    (Mark::LargeRead, 2.0),
    (Mark::AgentStart, 3.0),
    (Mark::Listens, 2.5),
    (Mark::ProtectedPath, 2.5),
    (Mark::Obfuscated, 4.0),
    (Mark::GrantsPermission, 3.0),
    (Mark::ProcAlias, 2.5),
    (Mark::Device, 3.0),
    (Mark::SubagentTask, 0.5),
    (Mark::Interactive, 1.5),
    (Mark::InstructionFile, 1.5),
    (Mark::SystemPackages, 3.0),
    (Mark::RemoteCode, 4.0),
    (Mark::NameQuery, 2.0),
];

/// The most telling contributions to a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Probability that a person would want to be asked.
    pub ask: f64,
    pub contributions: Vec<(String, f64)>,
    /// The effect cannot be undone.
    pub irreversible: bool,
}

/// One line of the scorecard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    pub feature: &'static str,
    pub value: &'static str,
    pub log_odds: f64,
}

/// The whole scorecard, for the documentation.
pub fn weights() -> Vec<Weight> {
    fn of<T: Copy>(feature: &'static str, all: &[T], name: fn(T) -> &'static str, weigh: fn(T) -> f64) -> Vec<Weight> {
        all.iter().map(|word| Weight { feature, value: name(*word), log_odds: weigh(*word) }).collect()
    }
    let mut list = vec![Weight { feature: "base", value: "every call", log_odds: BASE }];
    list.extend(of("action type", Operation::ALL, Operation::as_str, operation));
    list.extend(of("resource scope", Scope::ALL, Scope::as_str, scope));
    list.extend(of("reversibility", Reversibility::ALL, Reversibility::as_str, reversibility));
    list.extend(of("blast radius", Reach::ALL, Reach::as_str, reach));
    list.extend(of("content sensitivity", Sensitivity::ALL, Sensitivity::as_str, sensitivity));
    list.push(Weight { feature: "override rate", value: "all similar calls of 30 days", log_odds: OVERRIDDEN });
    list.extend(of("coverage", Degree::ALL, Degree::as_str, coverage));
    list.push(Weight { feature: "session", value: "tainted by something that is about the effect", log_odds: TAINTED });
    list.extend(MARKS.iter().map(|(mark, weight)| Weight { feature: "mark", value: mark.as_str(), log_odds: *weight }));
    list
}

/// What layer 2 says, and how sure it is.
pub fn opinion(facts: &Facts, policy: &Policy) -> (Opinion, Confidence) {
    let wanted =
        |score: &Score| if score.irreversible { policy.thresholds.irreversible } else { policy.thresholds.confidence };
    let margin = |score: &Score| 1.0 - score.ask - wanted(score);
    let scores = scores(facts);
    let Some(score) = scores.iter().min_by(|a, b| margin(a).total_cmp(&margin(b))) else {
        let because = "layer 2 has nothing to score";
        return (Opinion::confirm(Source::Score, Clearance::Soft, because), Confidence::HALF);
    };
    let wanted = wanted(score);
    let approve = 1.0 - score.ask;
    let sure = Confidence::new(approve.max(score.ask)).unwrap_or(Confidence::HALF);
    let top = describe(score);
    if approve >= wanted {
        return (Opinion::approve(Source::Score, format!("scored {approve:.2} safe ({top})")), sure);
    }
    let because = format!("only {approve:.2} sure that it is safe, {wanted:.2} is wanted ({top})");
    (Opinion::confirm(Source::Score, Clearance::Soft, because), sure)
}

/// One score for each effect; a call without effects is scored by how well it was understood.
pub fn scores(facts: &Facts) -> Vec<Score> {
    let mut shared = shared(facts);
    if facts.effects.is_empty() {
        shared.extend(tainted(facts, None));
        return vec![sum(shared, false)];
    }
    let one = |effect: &Effect| {
        let mut contributions = contributions(effect);
        // A recipe of the project makes its run uncertain, not the file that takes its output.
        let counts = |name: &str| name != "delegated" || effect.operation == Operation::Execute;
        contributions.extend(shared.iter().filter(|(name, _)| counts(name)).cloned());
        contributions.extend(tainted(facts, Some(effect)));
        sum(contributions, effect.reversibility == Reversibility::Irreversible)
    };
    facts.effects.iter().map(one).collect()
}

/// What counts for every effect of the call.
fn shared(facts: &Facts) -> Vec<(String, f64)> {
    let name = match facts.coverage.degree {
        Degree::Full => "understood",
        Degree::Delegated => "delegated",
        Degree::Unknown => "partly unknown",
        Degree::Opaque => "opaque",
    };
    let mut shared = vec![(name.to_owned(), coverage(facts.coverage.degree))];
    if let Some(rate) = facts.counts.override_rate {
        shared.push(("overridden before".to_owned(), OVERRIDDEN * rate));
    }
    shared
}

/// What happened before in the session and is about this effect; of a call without effects, everything.
fn tainted(facts: &Facts, effect: Option<&Effect>) -> Option<(String, f64)> {
    let weighs = |taint: &&String| effect.is_none_or(|effect| taint::weighs_on(taint, effect));
    let words: Vec<&str> = facts.taint.iter().filter(weighs).map(String::as_str).collect();
    (!words.is_empty()).then(|| (format!("session: {}", words.join(", ")), TAINTED))
}

fn sum(mut contributions: Vec<(String, f64)>, irreversible: bool) -> Score {
    let log_odds = BASE + contributions.iter().map(|(_, weight)| weight).sum::<f64>();
    contributions.retain(|(_, weight)| *weight > 0.0);
    contributions.sort_by(|a, b| b.1.total_cmp(&a.1));
    Score { ask: 1.0 / (1.0 + exponential(-log_odds)), contributions, irreversible }
}

/// e to the power of `x`, by additions and multiplications alone, so that every machine gets the same bits.
fn exponential(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let halvings = 10;
    let reduced = x / f64::from(1 << halvings);
    let mut sum = 1.0;
    let mut term = 1.0;
    for n in 1..=12 {
        term *= reduced / f64::from(n);
        sum += term;
    }
    (0..halvings).fold(sum, |power, _| power * power)
}

/// The contributions of one effect.
fn contributions(effect: &Effect) -> Vec<(String, f64)> {
    let mut list = vec![
        (effect.operation.to_string(), operation(effect.operation)),
        (format!("scope {}", effect.scope), scope(effect.scope)),
        (effect.reversibility.to_string(), reversibility(effect.reversibility)),
        (format!("reach {}", effect.reach), reach_of(effect)),
        (effect.sensitivity.to_string(), sensitivity(effect.sensitivity)),
    ];
    list.extend(
        MARKS.iter().filter(|(mark, _)| effect.marks.has(*mark)).map(|(mark, weight)| (mark.to_string(), *weight)),
    );
    list
}

fn operation(operation: Operation) -> f64 {
    match operation {
        Operation::Read => 0.0,
        Operation::Write => 0.5,
        Operation::Network => 0.6,
        Operation::Execute => 0.7,
        Operation::Mutate => 0.8,
        Operation::Delete => 1.0,
    }
}

fn scope(scope: Scope) -> f64 {
    match scope {
        Scope::Scratch => -0.8,
        Scope::File => 0.0,
        Scope::Directory => 0.3,
        Scope::Project => 0.4,
        Scope::External => 0.6,
        Scope::OtherRepo => 1.0,
        Scope::System => 1.2,
    }
}

fn reversibility(reversibility: Reversibility) -> f64 {
    match reversibility {
        Reversibility::NothingChanges => 0.0,
        Reversibility::Rebuildable => 0.1,
        Reversibility::Snapshotted => 0.15,
        Reversibility::Tracked => 0.2,
        Reversibility::Irreversible => 0.6,
    }
}

/// Reading something that others share changes nothing for them.
fn reach_of(effect: &Effect) -> f64 {
    match (effect.operation, effect.reach) {
        (Operation::Read, Reach::Workspace | Reach::Project | Reach::Shared | Reach::Machine | Reach::Beyond) => 0.0,
        (Operation::Read, Reach::Identity) => reach(Reach::Identity),
        (Operation::Write | Operation::Execute | Operation::Network | Operation::Delete | Operation::Mutate, other) => {
            reach(other)
        }
    }
}

fn reach(reach: Reach) -> f64 {
    match reach {
        Reach::Workspace => 0.0,
        Reach::Project => 0.3,
        Reach::Shared => 2.5,
        Reach::Machine => 3.0,
        Reach::Identity => 5.0,
        Reach::Beyond => 2.5,
    }
}

fn sensitivity(sensitivity: Sensitivity) -> f64 {
    match sensitivity {
        Sensitivity::None => 0.0,
        Sensitivity::SecretShaped => 3.0,
        Sensitivity::Personal => 3.0,
        Sensitivity::Credential => 5.0,
        Sensitivity::Key => 6.0,
    }
}

fn coverage(degree: Degree) -> f64 {
    match degree {
        Degree::Full => 0.0,
        Degree::Delegated => 0.3,
        Degree::Unknown => 2.5,
        Degree::Opaque => 4.0,
    }
}

fn describe(score: &Score) -> String {
    let parts: Vec<&str> = score.contributions.iter().take(3).map(|(name, _)| name.as_str()).collect();
    if parts.is_empty() { "no risk factor".to_owned() } else { parts.join(", ") }
}
