//! The arguments of `doorward replay`, and the policy they describe.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use doorward_engine::Scorer;

use crate::policy::config::{Config, Numbers};
use crate::policy::load::Overrides;
use crate::policy::user_files::{self, Extensions};

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Use your own rules from this folder of TOML files instead of the active ones
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    /// Use these thresholds instead of the current ones
    #[arg(long, value_name = "FILE")]
    pub thresholds: Option<PathBuf>,
    /// Use this risk model instead of the current one
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Use this configuration instead of yours; only patterns, stages, thresholds and `strict` have an effect here
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// From this time on: 2026-11-15, "2026-11-15 09:30" (UTC), or an age such as 12h or 30d
    #[arg(long, default_value = "30d", value_name = "WHEN")]
    pub since: String,
    /// Show what upgrading doorward would change in recorded decisions
    #[arg(long, conflicts_with_all = ["rules", "thresholds", "model", "config"])]
    pub upgrade: bool,
    /// Exit with 0 even if something gets laxer; with --upgrade, accept the upgrade (not for agents)
    #[arg(long)]
    pub accept: bool,
    /// How many changes of each kind to list; 0 lists all
    #[arg(long, default_value_t = 100, value_name = "NUMBER")]
    pub limit: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl ReplayArguments {
    /// The replacements for the current policy.
    pub(crate) fn overrides(&self) -> Result<Overrides> {
        Ok(Overrides {
            config: self.config.as_deref().map(config).transpose()?,
            thresholds: self.thresholds.as_deref().map(thresholds).transpose()?,
            own: self.rules.as_deref().map(rules).transpose()?,
            scorer: self.model.as_deref().map(model).transpose()?,
            history: None,
        })
    }
}

/// Reads a thresholds file, or says what is wrong with it.
fn thresholds(path: &Path) -> Result<Numbers> {
    Numbers::parse(&text(path)?).map_err(|problem| wrong(path, "is not a valid thresholds file", &problem))
}

fn config(path: &Path) -> Result<Config> {
    Config::parse(&text(path)?).map_err(|problem| wrong(path, "is not a valid configuration", &problem))
}

fn model(path: &Path) -> Result<Scorer> {
    Scorer::parse(&text(path)?).map_err(|problem| wrong(path, "is not a valid model", &problem))
}

fn rules(folder: &Path) -> Result<Extensions> {
    if !folder.is_dir() {
        bail!("`{}` is not a folder of rules", folder.display());
    }
    let rules = user_files::rules_in(folder).map_err(|problems| anyhow!(problems.join("; ")))?;
    Ok(Extensions { rules, ..Extensions::default() })
}

fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("can't read `{}`", path.display()))
}

fn wrong(path: &Path, what: &str, problem: &str) -> anyhow::Error {
    anyhow!("`{}` {what}: {problem}; nothing was changed", path.display())
}
