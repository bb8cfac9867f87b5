//! One change to the rules: what it would have done, what it records, what it does.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use doorward_engine::{Pattern, Rule, Stage, Verdict};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::arguments::List;
use crate::machine::atomic_file;
use crate::machine::paths::Dirs;
use crate::policy::approved_config::{self, USER};
use crate::policy::config::{Config, stages};
use crate::policy::load::{Instead, Loaded};
use crate::policy::user_files::Own;

/// A change, with everything it refers to resolved.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A built-in rule gets another stage, in the user's configuration.
    BuiltIn { rule: Rule, stage: Stage },
    /// One of the user's rules gets another stage, in its own file.
    Own { rule: Rule, stage: Stage },
    /// A pattern is added to the user's configuration.
    Pattern { list: List, text: String },
}

impl Change {
    /// A rule gets another stage.
    pub(crate) fn stage(rules: &[Rule], id: &str, stage: Stage) -> Result<Change> {
        let Some(rule) = rules.iter().find(|rule| rule.id == id).cloned() else {
            bail!("no rule `{id}`; `doorward rules` lists all of them");
        };
        if stages::is_fixed(&rule) && stage != Stage::Active {
            bail!("`{id}` is always active and can't be retired: {}", stages::why_fixed(&rule));
        }
        if rule.stage == stage {
            bail!("`{id}` is already {stage}");
        }
        Ok(if rule.id.starts_with("own/") { Change::Own { rule, stage } } else { Change::BuiltIn { rule, stage } })
    }

    /// A pattern is added.
    pub(crate) fn pattern(list: List, text: &str) -> Result<Change> {
        let pattern = Pattern::parse(text).map_err(anyhow::Error::msg)?;
        if let Some(why) = pattern.never_matches() {
            bail!("`{text}` can never match: {why}");
        }
        if let (List::Allow, Some(why)) = (list, pattern.too_broad()) {
            bail!("`{text}` allows too much: {why}");
        }
        Ok(Change::Pattern { list, text: text.to_owned() })
    }

    /// The text shown and recorded.
    pub(crate) fn what(&self) -> String {
        match self {
            Change::BuiltIn { rule, stage } | Change::Own { rule, stage } => format!("rule `{}` is {stage}", rule.id),
            Change::Pattern { list, text } => format!("`{text}` is in permissions.{}", list.name()),
        }
    }

    /// The word to type before something is no longer blocked.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Change::BuiltIn { rule, stage } | Change::Own { rule, stage } => {
                (rule.verdict == Verdict::Block && *stage != Stage::Active).then_some(rule.id.as_ref())
            }
            Change::Pattern { .. } => None,
        }
    }

    /// The policy with the change, for replay.
    pub(crate) fn instead(&self, loaded: &Loaded) -> Instead {
        match self {
            Change::Own { rule, stage } => {
                let with = |known: &Rule| Rule {
                    stage: if known.id == rule.id { *stage } else { known.stage },
                    ..known.clone()
                };
                let rules = loaded.own.rules.iter().map(with).collect();
                Instead { own: Some(Own { rules, ..Own::default() }), ..Instead::default() }
            }
            Change::BuiltIn { .. } | Change::Pattern { .. } => {
                let user = loaded.covered().find(|(name, _)| *name == USER).map(|(_, covered)| covered.config.clone());
                let mut config = user.unwrap_or_default();
                self.enter(&mut config);
                Instead { config: Some(config), ..Instead::default() }
            }
        }
    }

    /// Writes it to the user's files and activates it. It is recorded first.
    pub(crate) fn apply(&self, dirs: &Dirs) -> Result<()> {
        let path = self.file(dirs);
        let before = atomic_file::text(&path)?.unwrap_or_default();
        let mut document: DocumentMut = before.parse().with_context(|| format!("`{}` is not TOML", path.display()))?;
        match self {
            Change::Own { stage, .. } => {
                document.insert("stage", value(stage.as_str()));
            }
            Change::BuiltIn { rule, stage } => {
                table(&mut document, "rules")?.insert(&rule.id, value(stage.as_str()));
            }
            Change::Pattern { list, text } => {
                let patterns = table(&mut document, "permissions")?;
                let entry = patterns.entry(list.name()).or_insert_with(|| value(Array::new()));
                entry.as_array_mut().context("this key is not a list in the configuration")?.push(text.as_str());
            }
        }
        let text = document.to_string();
        match self {
            Change::Own { .. } => atomic_file::replace(&path, &text),
            Change::BuiltIn { .. } | Change::Pattern { .. } => {
                Config::parse(&text).map_err(anyhow::Error::msg)?;
                atomic_file::replace(&path, &text)?;
                approved_config::accept_in(dirs, USER, |config| self.enter(config))
            }
        }
    }

    fn file(&self, dirs: &Dirs) -> PathBuf {
        match self {
            Change::BuiltIn { .. } | Change::Pattern { .. } => dirs.config_file(),
            Change::Own { rule, .. } => {
                let stem = rule.id.strip_prefix("own/").unwrap_or(&rule.id);
                dirs.config_directory().join("rules").join(format!("{stem}.toml"))
            }
        }
    }

    fn enter(&self, config: &mut Config) {
        match self {
            Change::BuiltIn { rule, stage } => {
                config.rules.insert(rule.id.to_string(), *stage);
            }
            Change::Pattern { list, text } => match list {
                List::Deny => config.permissions.deny.push(text.clone()),
                List::Ask => config.permissions.ask.push(text.clone()),
                List::Allow => config.permissions.allow.push(text.clone()),
            },
            Change::Own { .. } => {}
        }
    }
}

fn table<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut Table> {
    let item = document.as_table_mut().entry(name).or_insert_with(|| Item::Table(Table::new()));
    item.as_table_mut().with_context(|| format!("`{name}` is not a separate table in the configuration"))
}
