//! `doorward rules` and `doorward defaults`: the built-in rules and the user's own, in words, and changes to them.

mod arguments;
mod change;
mod decide;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use doorward_engine::{Mode, Policy, Rule, Stage, Verdict};
use doorward_ledger::AlertKind;
use serde_json::{Value, json};

use crate::desk::screen::verdict_style;
use crate::machine::paths::Dirs;
use crate::policy::load;
pub(crate) use arguments::{List, RulesArguments};
pub(crate) use change::RuleEdit;
pub(crate) use decide::{carry_out, take_over};

/// Lists the rules, or shows one.
pub(crate) fn run(arguments: &RulesArguments) -> Result<ExitCode> {
    if let Some(what) = &arguments.what {
        return decide::run(what);
    }
    let policy = with_own_rules();
    let chosen: Vec<&Rule> =
        policy.rules.iter().filter(|rule| arguments.id.as_deref().is_none_or(|id| rule.id == id)).collect();
    if let (Some(id), true) = (&arguments.id, chosen.is_empty()) {
        bail!("no rule `{id}`; `doorward rules` lists all of them");
    }
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let all: Vec<Value> = chosen.iter().map(|rule| as_json(rule)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
    } else if arguments.id.is_some() {
        for rule in chosen {
            show(&mut out, rule)?;
        }
    } else {
        list(&mut out, &chosen, &policy.version)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The built-in rules and the user's own; problems with the latter go to standard error.
fn with_own_rules() -> Policy {
    let Ok(dirs) = Dirs::find() else { return Policy::built_in() };
    let loaded = load::load(&dirs, None, "");
    loaded.tell_problems();
    loaded.policy(Mode::Auto).unwrap_or_else(|_| Policy::built_in())
}

fn list(out: &mut dyn Write, rules: &[&Rule], version: &str) -> std::io::Result<()> {
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    for rule in rules {
        let style = verdict_style(rule.verdict);
        let about = format!("v{} {} {}", rule.version, rule.stage, rule.audited);
        writeln!(out, "{style}{:<7}{style:#} {:<width$}  {about}  {}", rule.verdict.as_str(), rule.id, rule.what)?;
    }
    writeln!(out, "{}, policy {version}", counts(rules))
}

/// `103 rules: 4 approve, 62 confirm, 37 block; 103 active; last audited between … and …`
fn counts(rules: &[&Rule]) -> String {
    let of = |verdict: Verdict| rules.iter().filter(|rule| rule.verdict == verdict).count();
    let verdicts: Vec<String> = Verdict::ALL.iter().map(|verdict| format!("{} {verdict}", of(*verdict))).collect();
    let at = |stage: Stage| rules.iter().filter(|rule| rule.stage == stage).count();
    let stages: Vec<String> =
        Stage::ALL.iter().filter(|stage| at(**stage) > 0).map(|stage| format!("{} {stage}", at(*stage))).collect();
    let oldest = rules.iter().map(|rule| rule.audited.as_ref()).min().unwrap_or("never");
    format!("{} rules: {}; {}; oldest audit {oldest}", rules.len(), verdicts.join(", "), stages.join(", "))
}

fn show(out: &mut dyn Write, rule: &Rule) -> std::io::Result<()> {
    let style = verdict_style(rule.verdict);
    writeln!(out, "{} {style}{}{style:#}", rule.id, rule.verdict)?;
    writeln!(out, "  {}", rule.what)?;
    writeln!(out, "  why      {}", rule.why)?;
    if !rule.instead.is_empty() {
        writeln!(out, "  instead  {}", rule.instead)?;
    }
    if let Some(clearance) = rule.clears {
        writeln!(out, "  clears   {clearance}: {}", clearance.what())?;
    }
    writeln!(out, "  stage    {}, version {}, since {}, audited {}", rule.stage, rule.version, rule.since, rule.audited)
}

pub(crate) fn as_json(rule: &Rule) -> Value {
    json!({
        "id": rule.id, "verdict": rule.verdict, "stage": rule.stage, "version": rule.version, "clears": rule.clears,
        "what": rule.what, "why": rule.why, "instead": rule.instead, "since": rule.since, "audited": rule.audited,
    })
}

/// Prints the defaults, in the format of the configuration file.
pub(crate) fn defaults() -> Result<ExitCode> {
    let policy = Policy::built_in();
    let limits = policy.thresholds;
    let mut out = anstream::stdout().lock();
    writeln!(out, "# the defaults; put your changes in ~/.config/doorward/config.toml")?;
    writeln!(out, "strict = {}\n\n[agents.claude]", policy.strict)?;
    for mode in Mode::ALL {
        writeln!(out, "# {mode}: {}", mode.what())?;
    }
    writeln!(out, "mode = \"{}\"\n", crate::policy::config::Config::default().mode("claude"))?;
    writeln!(
        out,
        "[permissions]            # patterns such as \"bash(git push --force*)\"\ndeny = []\nask = []\nallow = []\n"
    )?;
    writeln!(
        out,
        "[hosts]                  # `$defaults` stands for the built-in list\nallowed = [\"$defaults\"]\ndenied = []\n"
    )?;
    writeln!(out, "[paths]                  # on top of the built-in lists\nprotected = []\ndenied = []\n")?;
    writeln!(out, "[projects]               # agents may run the tests, builds and scripts of these\ntrusted = []\n")?;
    writeln!(
        out,
        "[programs]               # toolchains outside the system directories, pinned as they are when you write this\ndirectories = []\n"
    )?;
    writeln!(out, "# built in: confidence {} ({} for what can't be undone)", limits.confidence, limits.irreversible)?;
    writeln!(out, "\n[thresholds]             # limits: you can lower them, never raise them")?;
    for (name, limit, what) in crate::policy::config::built_in_limits() {
        writeln!(out, "{:<25}# {what}", format!("{name} = {limit}"))?;
    }
    writeln!(out)?;
    writeln!(out, "# built in: {} rules, policy {}", policy.rules.len(), policy.version)?;
    for kind in AlertKind::ALL {
        writeln!(out, "# alert {}: {}", kind.word(), kind.definition())?;
    }
    writeln!(
        out,
        "# alerts are checked when a session ends and at least every {} decisions; [notify] says how they are delivered",
        crate::machine::record::LOOK_EVERY
    )?;
    crate::desk::reviewer::print_defaults(&mut out)?;
    Ok(ExitCode::SUCCESS)
}
