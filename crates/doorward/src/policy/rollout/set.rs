//! Reads thresholds for a trial: a file in the format of the built-in one.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use doorward_engine::Thresholds;

use super::state::ThresholdSet;
use crate::machine::checked_read;
use crate::policy::config;

/// The thresholds in a file, and their name; missing ones stay as they are. A number below its floor is an error.
pub(crate) fn read(path: &Path, in_force: &Thresholds) -> Result<(String, ThresholdSet)> {
    let text = checked_read::read(path).map_err(anyhow::Error::msg)?;
    let text = text.with_context(|| format!("`{}` does not exist", path.display()))?;
    let written = config::Numbers::parse(&text).map_err(|problem| anyhow!("`{}`: {problem}", path.display()))?;
    let set = written.or(config::Numbers::from(*in_force)).over(Thresholds::default());
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name, set.into()))
}
