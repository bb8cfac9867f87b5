//! Looking at bundles: what one is, who signed it, what changes, and which one counts here.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use doorward_team::{Bundle, Known};
use serde_json::json;

use super::read;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::policy::team_policy::{self, TeamPolicy};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

pub(super) fn verify(path: &Path, previous: Option<&Path>) -> Result<ExitCode> {
    let bundle = read(path)?;
    let previous = previous.map(read).transpose()?;
    let manifest = &bundle.manifest;
    let known = match &previous {
        Some(before) => Known {
            team: Some(before.manifest.team.clone()),
            last: Some((before.manifest.version, before.digest())),
            ..Known::new(before.manifest.root.clone())
        },
        None => Known::new(manifest.root.clone()),
    };
    let mut out = anstream::stdout().lock();
    let team = visible(&manifest.team);
    writeln!(out, "Version {} for `{team}`, for {} % of machines", manifest.version, manifest.share)?;
    writeln!(out, "{} of {} signatures needed:", bundle.signed_by(&known.root), known.root.threshold)?;
    for signer in &known.root.signers {
        let has_signed = bundle.signatures.iter().any(|signed| signed.key == *signer);
        writeln!(out, "  {signer} {}", if has_signed { "signed" } else { "did not sign" })?;
    }
    let refused = known.accept(&bundle, now_ms()).err().map(|refused| refused.to_string());
    match refused.or_else(|| team_policy::contents_of(&bundle).err()) {
        None => {
            let days = manifest.expires_ms.saturating_sub(now_ms()) / DAY_MS;
            let by = if previous.is_some() { "after the one before" } else { "by whoever trusts these keys" };
            writeln!(out, "It would be followed {by}, for {days} days.")?;
            Ok(ExitCode::SUCCESS)
        }
        Some(problem) => {
            writeln!(out, "It would be refused: {}", visible(&problem))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

pub(super) fn diff(before: &Path, after: &Path) -> Result<ExitCode> {
    let (before, after) = (read(before)?, read(after)?);
    let mut out = anstream::stdout().lock();
    for line in changes(&before, &after) {
        writeln!(out, "{}", visible(&line))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lines that go, and lines that come, file by file.
fn changes(before: &Bundle, after: &Bundle) -> Vec<String> {
    let mut lines = vec![format!("version {} → {}", before.manifest.version, after.manifest.version)];
    let (old, new) = (&before.manifest.root, &after.manifest.root);
    if old != new {
        let of = |root: &doorward_team::Root| format!("{} of {}", root.threshold, root.signers.len());
        lines.push(format!("keys needed: {} → {}", of(old), of(new)));
        lines.extend(old.signers.iter().filter(|key| !new.signers.contains(key)).map(|key| format!("- {key}")));
        lines.extend(new.signers.iter().filter(|key| !old.signers.contains(key)).map(|key| format!("+ {key}")));
    }
    if after.manifest.revokes {
        lines.push("takes back the policy: machines are strict until there is a newer bundle".to_owned());
    }
    let text = |bundle: &Bundle, name: &str| {
        let bytes = bundle.files.get(name).cloned().unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let names: BTreeSet<&String> = before.files.keys().chain(after.files.keys()).collect();
    for name in names {
        let (old, new) = (text(before, name), text(after, name));
        if old != new {
            lines.push(format!("{name}:"));
            lines.extend(old.iter().filter(|line| !new.contains(line)).map(|line| format!("- {line}")));
            lines.extend(new.iter().filter(|line| !old.contains(line)).map(|line| format!("+ {line}")));
        }
    }
    lines
}

pub(super) fn status(dirs: &Dirs, as_json: bool) -> Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    let Some(policy) = TeamPolicy::load(dirs).map_err(anyhow::Error::msg)? else {
        match as_json {
            true => writeln!(out, "{}", json!({"followed": false}))?,
            false => writeln!(out, "This machine follows no team's policy. `doorward bundle trust FILE` starts that.")?,
        }
        return Ok(ExitCode::SUCCESS);
    };
    let (_, problem) = policy.contents(now_ms());
    let counts = policy
        .in_force
        .as_ref()
        .map(|in_force| (in_force.version, in_force.expires_ms.saturating_sub(now_ms()) / DAY_MS));
    let team = policy.known.team.clone().unwrap_or_default();
    if as_json {
        let (version, days) = counts.unzip();
        let seen = policy.known.last.map(|(version, _)| version);
        let shown = json!({
            "followed": true, "team": team, "source": policy.source, "version": version, "seen": seen,
            "days_left": days, "problem": problem,
        });
        writeln!(out, "{shown}")?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some((version, days)) = counts {
        writeln!(out, "Version {version} of the policy of `{}`, for {days} more days.", visible(&team))?;
    }
    if let Some(problem) = problem {
        writeln!(out, "doorward is strict: {}", visible(&problem))?;
    }
    writeln!(out, "Bundles come from {}.", visible(&policy.source))?;
    Ok(ExitCode::SUCCESS)
}
