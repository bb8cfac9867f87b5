//! What setup offers once the hooks are in place: importing the agent's own allow rules, and trusting the current project.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Result;

use crate::desk::person;
use crate::desk::preview;
use crate::desk::rules;
use crate::desk::setup::arguments::SetupArguments;
use crate::desk::trust;
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::policy::client_rules::{self, ImportableRule};
use crate::policy::load;

/// How many rules are shown; the rest is counted.
const SHOWN: usize = 8;

/// Offers to import what the user allows in the agent's own settings, with what that would have changed.
pub(super) fn rules(dirs: &Dirs, agents: &[Agent], arguments: &SetupArguments) -> Result<()> {
    for agent in agents {
        let offers = client_rules::offers(agent.name(), dirs.home());
        let known = load::load(dirs, None, "").config.permissions.allow;
        let (fit, unfit): (Vec<&ImportableRule>, Vec<&ImportableRule>) =
            offers.iter().partition(|offer| offer.ours.is_ok());
        let mut patterns: Vec<String> = fit.iter().filter_map(|offer| offer.ours.clone().ok()).flatten().collect();
        patterns.retain(|pattern| !known.contains(pattern));
        if patterns.is_empty() || !(arguments.import_rules || is_asked(arguments)) {
            continue;
        }
        let mut out = anstream::stdout().lock();
        writeln!(out, "\n{} allows this in its own settings, and doorward could allow it too:", agent.title())?;
        for pattern in patterns.iter().take(SHOWN) {
            writeln!(out, "  {}", visible(pattern))?;
        }
        if patterns.len() > SHOWN {
            writeln!(out, "  and {} more", patterns.len() - SHOWN)?;
        }
        for offer in unfit.iter().take(SHOWN) {
            let why = offer.ours.as_ref().err().map(String::as_str).unwrap_or_default();
            writeln!(out, "  not {}: {}", visible(&offer.theirs), visible(why))?;
        }
        writeln!(out, "{}", preview::silenced_by(dirs, &patterns).sentence())?;
        drop(out);
        person::required()?;
        if arguments.import_rules || person::agrees("Import these rules? What doorward blocks stays blocked")? {
            rules::take_over(dirs, &patterns, agent.title())?;
            writeln!(anstream::stdout(), "✓ imported {} rules; `doorward config` lists them", patterns.len())?;
        }
    }
    Ok(())
}

/// Offers to trust the current project.
pub(super) fn trust(dirs: &Dirs, project: Option<&str>, arguments: &SetupArguments) -> Result<()> {
    let Some(project) = project.filter(|project| *project != dirs.home()) else { return Ok(()) };
    let loaded = load::load(dirs, None, "");
    if loaded.config.trusts(project) {
        return Ok(());
    }
    if arguments.trust {
        person::required()?;
        return trust::this_project(dirs, Path::new(project), true);
    }
    if is_asked(arguments) {
        return trust::this_project(dirs, Path::new(project), false);
    }
    writeln!(
        anstream::stdout(),
        "this project is not trusted yet; run `doorward trust` to let agents run its tests and builds"
    )?;
    Ok(())
}

/// The user is at the terminal and wants to be asked.
fn is_asked(arguments: &SetupArguments) -> bool {
    !arguments.yes && std::io::stdin().is_terminal() && person::required().is_ok()
}
