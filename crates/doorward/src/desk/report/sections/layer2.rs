//! Section 3: what layer 2 weighs, how much, and how confident it has to be.

use std::collections::BTreeMap;

use doorward_engine::{Operation, Scorer, Weight};

use super::super::document::{Text, Tone, Topic};
use super::super::gather::Gathered;
use super::METRICS;
use super::count;

const WEIGHTS: &str = "doorward model weights";

pub(super) fn parts(gathered: &Gathered) -> Vec<Topic> {
    let weights = gathered.policy.scorer.table().map(|numbers| numbers.scorecard());
    match weights {
        Ok(weights) => {
            vec![features(gathered, &weights), importance(&weights), thresholds(gathered), escalation(gathered)]
        }
        Err(problem) => vec![
            Topic::new("Features used").warn(
                Text::plain("Layer 2 is not available, so doorward asks about every call it would have scored: ")
                    .and(Text::plain(problem.to_owned())),
            ),
            thresholds(gathered),
            escalation(gathered),
        ],
    }
}

/// What a group of features is about.
fn about(group: &str) -> &'static str {
    match group {
        "operation" => "action type",
        "scope" => "resource scope",
        "reversibility" => "whether it can be undone",
        "reach" => "blast radius",
        "sensitivity" => "content sensitivity: secrets, personal data, keys",
        "overridden" => "override rate of a pattern, where you accepted that it counts; never a live count",
        "coverage" => "how well the call was understood",
        "session" => "what the session touched before",
        "effects" => "how many things it does at once",
        "flow" => "data that flows from one part of the call to another",
        "purpose" => "whether its purpose is known",
        "loss" => "whether it deletes what no build can recreate",
        "content" => "whether it brings in unseen content",
        "stages" => "what the other stages say",
        "mark" => "what a program, flag or file is known for",
        _ => "",
    }
}

/// The weights by group, in the order of the scorecard.
fn groups(weights: &[Weight]) -> Vec<(&'static str, Vec<&Weight>)> {
    let mut groups: Vec<(&'static str, Vec<&Weight>)> = Vec::new();
    for weight in weights.iter().filter(|weight| !matches!(weight.feature, "base" | "calibration")) {
        match groups.last_mut() {
            Some((name, list)) if *name == weight.feature => list.push(weight),
            _ => groups.push((weight.feature, vec![weight])),
        }
    }
    groups
}

fn features(gathered: &Gathered, weights: &[Weight]) -> Topic {
    let mut part = Topic::new("Features used");
    part = match gathered.policy.scorer {
        Scorer::BuiltIn => part.with_text("The built-in scorecard. `doorward model card` says what it was trained and tested on."),
        Scorer::Own(_) => part.with_text("Your own scorecard (`scorer.tsv`), which can only ask more often: where the built-in one is stricter, that one counts."),
        Scorer::Unavailable(_) => part,
    };
    let row = |(group, list): (&'static str, Vec<&Weight>)| {
        let words = list.iter().map(|weight| weight.value.as_str());
        let words: Vec<&str> = if list.len() <= 8 { words.collect() } else { Vec::new() };
        vec![Text::plain(group), about(group).into(), count(list.len() as u64), Text::plain(words.join(", "))]
    };
    part.table(&["feature", "meaning", "values", "which"], groups(weights).into_iter().map(row).collect()).from(WEIGHTS)
}

/// The most that one group can contribute to a score, in log-odds. Steps of an ordered dimension add up.
fn most(list: &[&Weight]) -> f64 {
    let is_steps = list.iter().any(|weight| weight.value.ends_with('+'));
    let rising = list.iter().map(|weight| weight.ask).filter(|ask| *ask > 0.0);
    if is_steps { rising.sum() } else { rising.fold(0.0, f64::max) }
}

fn importance(weights: &[Weight]) -> Topic {
    let least = |list: &[&Weight]| list.iter().map(|weight| weight.ask).fold(0.0, f64::min);
    let mut rows: Vec<(f64, Vec<Text>)> = groups(weights)
        .into_iter()
        .map(|(group, list)| {
            let (most, least) = (most(&list), least(&list));
            (most, vec![Text::plain(group), Text::figure(format!("{most:+.3}")), Text::figure(format!("{least:+.3}"))])
        })
        .collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    let all = weights.iter().map(|weight| {
        let kind = weight.way();
        vec![
            Text::plain(weight.feature),
            Text::plain(weight.value.clone()),
            Text::figure(format!("{:+.3}", weight.ask)),
            Text::figure(format!("{:+.3}", weight.block)),
            Text::plain(kind),
        ]
    });
    Topic::new("Weight or importance of each feature")
        .with_text("Log-odds that you would want to be asked. For each effect of a call the weights of its features are added up; the riskiest effect counts. More risk never lowers a score. A value with a `+` applies to everything from that word on.")
        .table(&["feature", "raises a score by at most", "lowers it by at most"], rows.into_iter().map(|(_, row)| row).collect())
        .from(WEIGHTS)
        .folded("every weight", &["feature", "value", "ask", "block", "kind"], all.collect())
        .from(WEIGHTS)
}

fn thresholds(gathered: &Gathered) -> Topic {
    let limits = &gathered.policy.thresholds;
    let rates: BTreeMap<&str, _> = gathered
        .record
        .iter()
        .flat_map(|record| &record.metrics.categories)
        .map(|share| (share.name.as_str(), share))
        .collect();
    let row = |operation: &Operation| {
        let share = rates.get(operation.as_str());
        let figure = |wanted: f64| Text::figure(format!("{wanted:.3}"));
        vec![
            Text::plain(operation.as_str()),
            figure(limits.wanted(Some(*operation), false)),
            figure(limits.wanted(Some(*operation), true)),
            count(share.map_or(0, |share| share.decisions)),
            share.map_or(Text::plain("–"), |share| Text::percent(share.approval_rate)),
        ]
    };
    let approve = Text::word(Tone::Approve, "AUTO_APPROVE")
        .and(": at least as confident as the table says that you would not want to be asked");
    let confirm = Text::word(Tone::Confirm, "CONFIRM").and(": everything below");
    let block = Text::word(Tone::Block, "BLOCK").and(
        ": never by a score alone. If you more likely than not would not want it done, only you can clear the question",
    );
    Topic::new("Confidence thresholds per verdict class")
        .list(vec![approve, confirm, block])
        .table(
            &["category", "needed", "if it can't be undone, or has no known purpose", "decisions", "approved"],
            Operation::ALL.iter().map(row).collect(),
        )
        .from("doorward config, doorward metrics")
}

fn escalation(gathered: &Gathered) -> Topic {
    let reviewer = &gathered.loaded.config.reviewer;
    let mut part = Topic::new("Escalation policy for low-confidence cases").list(vec![
        "below the threshold doorward asks; a score never guesses".into(),
        "calls that can't be undone, or have no known purpose, need the higher threshold".into(),
        "no score is enough for a change outside the project".into(),
        "doorward asks about anything it does not fully understand, however high the score".into(),
        "a score can never lower a floor of the matrix or a rule".into(),
    ]);
    part = match &reviewer.model {
        Some(model) => part
            .with_text(Text::filled(
                "Soft questions go to the reviewer {} first; what it does not clear in time goes to you.",
                [Text::code(model)],
            ))
            .from("doorward config"),
        None => part.with_text("No reviewer is configured: whatever layer 2 leaves open goes to you."),
    };
    let reviews = gathered.record.iter().flat_map(|record| &record.metrics.reviews);
    let rows: Vec<Vec<Text>> = reviews.map(|(word, number)| vec![Text::plain(word.clone()), count(*number)]).collect();
    part.table(&["the reviewer said", "times"], rows).from(METRICS)
}
