//! What `doorward replay` is asked, and the policy that follows from it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use doorward_engine::Scorer;

use crate::policy::config::{Config, Numbers};
use crate::policy::load::Instead;
use crate::policy::user_files::{self, Own};

#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// Rules of your own, a folder of TOML files, instead of those in force
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    /// Thresholds instead of those in force
    #[arg(long, value_name = "FILE")]
    pub thresholds: Option<PathBuf>,
    /// A risk model of your own instead of the one in force
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// A configuration instead of your own; only patterns, stages, thresholds and `strict` show an effect
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Not before: 2026-11-15, "2026-11-15 09:30" (UTC), or how long ago: 12h, 30d
    #[arg(long, default_value = "30d", value_name = "WHEN")]
    pub since: String,
    /// What an upgrade of doorward changes, held against the record
    #[arg(long, conflicts_with_all = ["rules", "thresholds", "model", "config"])]
    pub upgrade: bool,
    /// Exit with 0 although something gets laxer; with --upgrade, let the upgrade count: only a person may
    #[arg(long)]
    pub accept: bool,
    /// So many changes of each kind are listed; 0 lists all
    #[arg(long, default_value_t = 100, value_name = "NUMBER")]
    pub limit: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl ReplayArguments {
    /// What is read instead of what is in force.
    pub fn instead(&self) -> Result<Instead> {
        Ok(Instead {
            config: self.config.as_deref().map(config).transpose()?,
            thresholds: self.thresholds.as_deref().map(thresholds).transpose()?,
            own: self.rules.as_deref().map(rules).transpose()?,
            scorer: self.model.as_deref().map(model).transpose()?,
            history: None,
        })
    }
}

/// A file of thresholds, or what is wrong with it.
fn thresholds(path: &Path) -> Result<Numbers> {
    Numbers::parse(&text(path)?).map_err(|problem| wrong(path, "is no file of thresholds", &problem))
}

fn config(path: &Path) -> Result<Config> {
    Config::parse(&text(path)?).map_err(|problem| wrong(path, "is not a configuration", &problem))
}

fn model(path: &Path) -> Result<Scorer> {
    Scorer::parse(&text(path)?).map_err(|problem| wrong(path, "is not a model", &problem))
}

fn rules(folder: &Path) -> Result<Own> {
    if !folder.is_dir() {
        bail!("`{}` is no folder of rules", folder.display());
    }
    let rules = user_files::rules_in(folder).map_err(|problems| anyhow!(problems.join("; ")))?;
    Ok(Own { rules, ..Own::default() })
}

fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("`{}` cannot be read", path.display()))
}

fn wrong(path: &Path, what: &str, problem: &str) -> anyhow::Error {
    anyhow!("`{}` {what}: {problem}; nothing was changed", path.display())
}
