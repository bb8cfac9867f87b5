//! Labelled calls as features: what the model is trained and tested on. No text of any call is in it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use doorward_engine::Verdict;
use doorward_engine::layer2::feature::{self, Features};

/// The first line of a file.
const FORMAT: &str = "doorward facts 1";

/// What a source may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    Train,
    /// Never trained on.
    Test,
}

/// One labelled call on one machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LabelledCall {
    pub id: String,
    pub source: String,
    pub purpose: Purpose,
    /// `base`, or what is different about the machine: `dirty`, `untracked`, `untrusted`, `secrets`.
    pub world: String,
    pub label: Verdict,
    /// How many calls of the source's traffic the row stands for.
    pub weight: f64,
    /// The strictest verdict of all stages but layer 2.
    pub floor: Verdict,
    /// Layer 1 approved it by itself.
    pub settled: bool,
    /// The features of each effect.
    pub effects: Vec<Features>,
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Vec<LabelledCall>> {
    let mut lines = text.lines();
    if lines.next() != Some(FORMAT) {
        bail!("the first line is not `{FORMAT}`");
    }
    let known: BTreeMap<String, usize> = feature::names().into_iter().zip(0..).collect();
    let names: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    // Features that no longer exist are left out.
    let places: Vec<Option<usize>> = names.iter().map(|name| known.get(*name).copied()).collect();
    lines.map(|line| row(line, &places).with_context(|| format!("can't read the line `{line}`"))).collect()
}

fn row(line: &str, places: &[Option<usize>]) -> Result<LabelledCall> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [id, source, purpose, world, label, weight, floor, effects] = cells.as_slice() else {
        bail!("wrong number of columns: {}", cells.len());
    };
    Ok(LabelledCall {
        id: (*id).to_owned(),
        source: (*source).to_owned(),
        purpose: match *purpose {
            "train" => Purpose::Train,
            "test" => Purpose::Test,
            other => bail!("`{other}` is neither train nor test"),
        },
        world: (*world).to_owned(),
        label: Verdict::parse(label).context("no verdict")?,
        weight: weight.parse()?,
        floor: Verdict::parse(floor.trim_end_matches('!')).context("no verdict")?,
        settled: floor.ends_with('!'),
        effects: effects.split(';').map(|set| features(set, places)).collect::<Result<_>>()?,
    })
}

fn features(set: &str, places: &[Option<usize>]) -> Result<Features> {
    let mut features = Features::default();
    for number in set.split(',').filter(|number| !number.is_empty()) {
        let place = places.get(number.parse::<usize>()?).context("a number without a name")?;
        place.iter().for_each(|place| features.add(*place));
    }
    Ok(features)
}

/// The text of a file.
pub(super) fn print(rows: &[LabelledCall]) -> String {
    let mut text = format!("{FORMAT}\n{}\n", feature::names().join("\t"));
    for row in rows {
        let sets: Vec<String> = row.effects.iter().map(|set| joined(set.iter())).collect();
        let purpose = match row.purpose {
            Purpose::Train => "train",
            Purpose::Test => "test",
        };
        let settled = if row.settled { "!" } else { "" };
        text.push_str(&format!(
            "{}\t{}\t{purpose}\t{}\t{}\t{:.2}\t{}{settled}\t{}\n",
            row.id,
            row.source,
            row.world,
            row.label,
            row.weight,
            row.floor,
            sets.join(";")
        ));
    }
    text
}

fn joined(numbers: impl Iterator<Item = usize>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}
