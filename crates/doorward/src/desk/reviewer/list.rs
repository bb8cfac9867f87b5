//! `doorward model list`: which models can review, which one does, and what another one lacks.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::configured;
use crate::hook::reviewer::chosen;
use crate::hook::reviewer::chosen::{KNOWN, ModelAddress};
use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::machine::world::project_root;
use crate::policy::config::Reviewer;
use crate::policy::load;
use crate::policy::load::Loaded;

/// What to list, and for whom.
#[derive(Debug, Args)]
pub(crate) struct ReviewerListArguments {
    /// Say why this model can't review
    #[arg(long, value_name = "PROVIDER/MODEL")]
    wanted: Option<String>,
    /// For this Pi session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// That session's model, which is used if none is configured
    #[arg(long, value_name = "PROVIDER/MODEL")]
    session_model: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Everything there is to say about the reviewer.
#[derive(Debug, Serialize)]
struct ReviewerState {
    /// The model that is asked.
    in_force: Option<String>,
    /// Where it is.
    url: Option<String>,
    models: Vec<ModelRow>,
    /// What the requested model, or the current one, lacks.
    missing: Vec<Missing>,
}

#[derive(Debug, Serialize)]
struct ModelRow {
    name: String,
    in_force: bool,
    state: String,
}

/// One thing that is missing.
#[derive(Debug, Serialize)]
struct Missing {
    what: MissingPart,
    sentence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum MissingPart {
    /// Not chosen, or not accepted yet.
    Choice,
    /// Its address is unknown.
    Provider,
    Key,
}

pub(super) fn list(out: &mut dyn Write, wanted: &ReviewerListArguments, dirs: &Dirs) -> Result<ExitCode> {
    let project = std::env::current_dir().ok().and_then(|here| project_root(here.to_str()?));
    let mut loaded = load::load(dirs, project.as_deref(), "pi");
    if let Some(session) = &wanted.session {
        crate::policy::session_policy::hold(dirs, session, &mut loaded);
    }
    let listed = reviewer_state(&loaded, wanted, dirs);
    match wanted.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&listed)?)?,
        false => print(out, &listed, &loaded)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn reviewer_state(loaded: &Loaded, wanted: &ReviewerListArguments, dirs: &Dirs) -> ReviewerState {
    let (counts, all) = (&loaded.config.reviewer, configured(loaded));
    let in_force = chosen::name(counts, wanted.session_model.as_deref()).ok().map(str::to_owned);
    let mut names: Vec<&String> = all.model.iter().chain(&all.models).chain(&in_force).collect();
    names.sort();
    names.dedup();
    let row = |name: &&String| ModelRow {
        name: (*name).clone(),
        in_force: in_force.as_ref() == Some(name),
        state: state(&all, name, dirs),
    };
    let reached = in_force.as_deref().and_then(|name| chosen::reached(counts, name).ok());
    ReviewerState {
        models: names.iter().map(row).collect(),
        missing: missing(&all, in_force.as_deref(), wanted.wanted.as_deref(), dirs),
        url: reached.map(|reached| reached.url),
        in_force,
    }
}

fn state(reviewer: &Reviewer, name: &str, dirs: &Dirs) -> String {
    match chosen::usable_model(reviewer, name, dirs.home()) {
        Ok(found) if found.key.is_some() => format!("{}, key found", found.url),
        Ok(found) => format!("{}, needs no key", found.url),
        Err(fault) => fault.to_string(),
    }
}

fn missing(all: &Reviewer, in_force: Option<&str>, wanted: Option<&str>, dirs: &Dirs) -> Vec<Missing> {
    let mut missing = Vec::new();
    let Some(name) = wanted.or(in_force) else { return missing };
    if in_force != Some(name) {
        let sentence = match in_force {
            Some(other) => format!(
                "`{other}` reviews, because the configuration overrides Pi's choice. Run `doorward model use {name}` in a terminal to use `{name}` instead"
            ),
            None => format!(
                "you have not accepted `{name}` yet: run `doorward model use {name}` in a terminal, and it reviews from the next call on"
            ),
        };
        missing.push(Missing { what: MissingPart::Choice, sentence });
    }
    match chosen::reached(all, name).map(|reached: ModelAddress| reached.with_key(dirs.home(), None)) {
        Ok(Ok(_)) => {}
        Ok(Err(fault)) => missing.push(Missing { what: MissingPart::Key, sentence: fault.detail() }),
        Err(fault) => missing.push(Missing { what: MissingPart::Provider, sentence: fault.detail() }),
    }
    missing
}

fn print(out: &mut dyn Write, listed: &ReviewerState, loaded: &Loaded) -> Result<()> {
    for ModelRow { name, in_force, state } in &listed.models {
        let mark = if *in_force { "in use" } else { "configured" };
        writeln!(out, "{:<40} {mark:<11} {}", visible(name), visible(state))?;
    }
    if listed.models.is_empty() {
        writeln!(out, "no reviewer: what layer 2 leaves open goes to you")?;
    }
    for Missing { sentence, .. } in &listed.missing {
        writeln!(out, "{}", visible(sentence))?;
    }
    let known: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    writeln!(out, "providers known by name: {}", known.join(", "))?;
    if loaded.config.reviewer != configured(loaded) {
        writeln!(out, "some of this is not accepted yet: run `doorward reload`")?;
    }
    Ok(())
}
