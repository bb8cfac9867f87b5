//! `doorward model weights`: the scorecard in force.

use std::io::Write;

use anyhow::{Result, anyhow};
use doorward_engine::{Mode, Weight};
use serde_json::{Value, json};

use crate::machine::paths::Dirs;
use crate::policy::load;

pub(super) fn print(out: &mut dyn Write, json: bool) -> Result<()> {
    let places = Dirs::find().map_err(anyhow::Error::msg)?;
    let policy = load::load(&places, None, "").policy(Mode::Auto).map_err(anyhow::Error::msg)?;
    let numbers = policy.scorer.table().map_err(|problem| anyhow!("layer 2 is not available: {problem}"))?;
    let weights = numbers.scorecard();
    if json {
        let of = |weight: &Weight| {
            json!({ "feature": weight.feature, "value": weight.value, "ask": weight.ask, "block": weight.block,
                "mayLower": !weight.is_risk })
        };
        writeln!(out, "{:#}", weights.iter().map(of).collect::<Value>())?;
        return Ok(());
    }
    writeln!(out, "{:<40}{:>9}{:>9}", "feature", "ask", "block")?;
    for weight in &weights {
        let name = format!("{} {}", weight.feature, weight.value);
        writeln!(out, "{name:<40}{:>+9.3}{:>+9.3}", weight.ask, weight.block)?;
    }
    Ok(())
}
