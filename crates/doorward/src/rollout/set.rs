//! Reads a set of thresholds that is to be tried: a file in the form of the built-in one.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use doorward_engine::{Operation, Thresholds};
use serde::Deserialize;

use super::state::Numbers;
use crate::trusted;

/// The numbers of a file; what it leaves out is as in force.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    confidence: Option<f64>,
    irreversible: Option<f64>,
    reads_per_minute: Option<u32>,
    read_burst: Option<u32>,
    denials_in_a_row: Option<u32>,
    denials: Option<u32>,
    #[serde(default)]
    by_operation: BTreeMap<String, f64>,
}

/// The set in a file, and what to call it. A number below its floor is an error, not silently raised.
pub fn read(path: &Path, in_force: &Thresholds) -> Result<(String, Numbers)> {
    let text = trusted::read(path).map_err(anyhow::Error::msg)?;
    let text = text.with_context(|| format!("`{}` is not there", path.display()))?;
    let set = parse(&text, in_force).with_context(|| format!("`{}`", path.display()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name, set.into()))
}

fn parse(text: &str, in_force: &Thresholds) -> Result<Thresholds> {
    let written: Written = toml::from_str(text).map_err(|error| anyhow!("{}", error.to_string().trim_end()))?;
    let floor = Thresholds::default();
    let mut set = Thresholds {
        confidence: written.confidence.unwrap_or(in_force.confidence),
        irreversible: written.irreversible.unwrap_or(in_force.irreversible),
        reads_per_minute: written.reads_per_minute.unwrap_or(in_force.reads_per_minute),
        read_burst: written.read_burst.unwrap_or(in_force.read_burst),
        denials_in_a_row: written.denials_in_a_row.unwrap_or(in_force.denials_in_a_row),
        denials: written.denials.unwrap_or(in_force.denials),
        by_operation: in_force.by_operation,
    };
    for (name, number) in &written.by_operation {
        let operation = Operation::parse(name).with_context(|| format!("`{name}` is no operation"))?;
        check(name, *number, floor.confidence)?;
        if let Some(slot) = set.by_operation.get_mut(operation as usize) {
            *slot = *number;
        }
    }
    check("confidence", set.confidence, floor.confidence)?;
    check("irreversible", set.irreversible, floor.irreversible)?;
    if set.denials_in_a_row > floor.denials_in_a_row || set.denials > floor.denials {
        bail!("`denials_in_a_row` is at most {} and `denials` at most {}", floor.denials_in_a_row, floor.denials);
    }
    Ok(set)
}

fn check(name: &str, number: f64, floor: f64) -> Result<()> {
    if !(floor..=1.0).contains(&number) {
        bail!("`{name}` is {number}; it has to lie between {floor} and 1");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_it_says_and_what_is_in_force_and_never_below_a_floor() {
        let set = parse("confidence = 0.9\n[by_operation]\nwrite = 0.99\n", &Thresholds::default()).unwrap();
        assert_eq!((set.confidence, set.irreversible), (0.9, 0.95));
        assert_eq!(set.wanted(Some(Operation::Write), false), 0.99);
        for text in [
            "confidence = 0.8",
            "irreversible = 0.9",
            "confidence = nan",
            "denials = 21",
            "[by_operation]\nwrite = 0.5",
            "[by_operation]\nflying = 0.9",
            "confidnce = 0.9",
            "= x",
        ] {
            assert!(parse(text, &Thresholds::default()).is_err(), "{text}");
        }
    }
}
