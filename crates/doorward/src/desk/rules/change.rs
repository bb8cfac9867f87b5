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
use crate::policy::load::{Loaded, Overrides};
use crate::policy::user_files::Extensions;

/// A change, with everything it refers to resolved.
#[derive(Clone, Debug)]
pub(crate) enum RuleEdit {
    /// A built-in rule gets another stage, in the user's configuration.
    BuiltIn { rule: Rule, stage: Stage },
    /// One of the user's rules gets another stage, in its own file.
    Own { rule: Rule, stage: Stage },
    /// A pattern is added to the user's configuration.
    Pattern { list: List, text: String },
}

impl RuleEdit {
    /// A rule gets another stage.
    pub(crate) fn stage(rules: &[Rule], id: &str, stage: Stage) -> Result<RuleEdit> {
        let Some(rule) = rules.iter().find(|rule| rule.id == id).cloned() else {
            bail!("no rule `{id}`; `doorward rules` lists all of them");
        };
        if stages::is_fixed(&rule) && stage != Stage::Active {
            bail!("`{id}` is always active and can't be retired: {}", stages::why_fixed(&rule));
        }
        if rule.stage == stage {
            bail!("`{id}` is already {stage}");
        }
        Ok(if rule.id.starts_with("own/") { RuleEdit::Own { rule, stage } } else { RuleEdit::BuiltIn { rule, stage } })
    }

    /// A pattern is added.
    pub(crate) fn pattern(list: List, text: &str) -> Result<RuleEdit> {
        let pattern = Pattern::parse(text).map_err(anyhow::Error::msg)?;
        if let Some(why) = pattern.never_matches() {
            bail!("`{text}` can never match: {why}");
        }
        if let (List::Allow, Some(why)) = (list, pattern.too_broad()) {
            bail!("`{text}` allows too much: {why}");
        }
        Ok(RuleEdit::Pattern { list, text: text.to_owned() })
    }

    /// The text shown and recorded.
    pub(crate) fn describe(&self) -> String {
        match self {
            RuleEdit::BuiltIn { rule, stage } | RuleEdit::Own { rule, stage } => {
                format!("rule `{}` is {stage}", rule.id)
            }
            RuleEdit::Pattern { list, text } => format!("`{text}` is in permissions.{}", list.name()),
        }
    }

    /// The word to type before something is no longer blocked.
    pub(crate) fn rule_id(&self) -> Option<&str> {
        match self {
            RuleEdit::BuiltIn { rule, stage } | RuleEdit::Own { rule, stage } => {
                (rule.verdict == Verdict::Block && *stage != Stage::Active).then_some(rule.id.as_ref())
            }
            RuleEdit::Pattern { .. } => None,
        }
    }

    /// The policy with the change, for replay.
    pub(crate) fn overrides(&self, loaded: &Loaded) -> Overrides {
        match self {
            RuleEdit::Own { rule, stage } => {
                let with = |known: &Rule| Rule {
                    stage: if known.id == rule.id { *stage } else { known.stage },
                    ..known.clone()
                };
                let rules = loaded.own.rules.iter().map(with).collect();
                Overrides { own: Some(Extensions { rules, ..Extensions::default() }), ..Overrides::default() }
            }
            RuleEdit::BuiltIn { .. } | RuleEdit::Pattern { .. } => {
                let user = loaded.covered().find(|(name, _)| *name == USER).map(|(_, covered)| covered.config.clone());
                let mut config = user.unwrap_or_default();
                self.enter(&mut config);
                Overrides { config: Some(config), ..Overrides::default() }
            }
        }
    }

    /// Writes it to the user's files and activates it. It is recorded first.
    pub(crate) fn apply(&self, dirs: &Dirs) -> Result<()> {
        let path = self.file(dirs);
        let before = atomic_file::text(&path)?.unwrap_or_default();
        let mut document: DocumentMut = before.parse().with_context(|| format!("`{}` is not TOML", path.display()))?;
        match self {
            RuleEdit::Own { stage, .. } => {
                document.insert("stage", value(stage.as_str()));
            }
            RuleEdit::BuiltIn { rule, stage } => {
                table(&mut document, "rules")?.insert(&rule.id, value(stage.as_str()));
            }
            RuleEdit::Pattern { list, text } => {
                let patterns = table(&mut document, "permissions")?;
                let entry = patterns.entry(list.name()).or_insert_with(|| value(Array::new()));
                entry.as_array_mut().context("this key is not a list in the configuration")?.push(text.as_str());
            }
        }
        let text = document.to_string();
        match self {
            RuleEdit::Own { .. } => atomic_file::replace(&path, &text),
            RuleEdit::BuiltIn { .. } | RuleEdit::Pattern { .. } => {
                Config::parse(&text).map_err(anyhow::Error::msg)?;
                atomic_file::replace(&path, &text)?;
                approved_config::accept_in(dirs, USER, |config| self.enter(config))
            }
        }
    }

    fn file(&self, dirs: &Dirs) -> PathBuf {
        match self {
            RuleEdit::BuiltIn { .. } | RuleEdit::Pattern { .. } => dirs.config_file(),
            RuleEdit::Own { rule, .. } => {
                let stem = rule.id.strip_prefix("own/").unwrap_or(&rule.id);
                dirs.config_directory().join("rules").join(format!("{stem}.toml"))
            }
        }
    }

    fn enter(&self, config: &mut Config) {
        match self {
            RuleEdit::BuiltIn { rule, stage } => {
                config.rules.insert(rule.id.to_string(), *stage);
            }
            RuleEdit::Pattern { list, text } => match list {
                List::Deny => config.permissions.deny.push(text.clone()),
                List::Ask => config.permissions.ask.push(text.clone()),
                List::Allow => config.permissions.allow.push(text.clone()),
            },
            RuleEdit::Own { .. } => {}
        }
    }
}

fn table<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut Table> {
    let item = document.as_table_mut().entry(name).or_insert_with(|| Item::Table(Table::new()));
    item.as_table_mut().with_context(|| format!("`{name}` is not a separate table in the configuration"))
}
