//! What can be wrong with one agent: its settings, its hooks, and the program they name.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use doorward_engine::Mode;

use super::{Checkup, Defect, exposed, foreign, project};
use crate::desk::setup::{self, AgentFile, FileState, Wishes};
use crate::machine::agent::Agent;

/// The usual remedy.
const AGAIN: &str = "run `doorward setup`, which fixes and tests it";

pub(super) fn defects(patient: &Checkup<'_>, agent: Agent) -> Vec<Defect> {
    let mut found = Vec::new();
    match patient.mode(agent) {
        Mode::Off => found.push(Defect::new(
            "mode-off",
            agent,
            "the mode is `off`: doorward judges and records nothing".to_owned(),
            "run `doorward setup --mode auto` to switch it on",
        )),
        Mode::Shadow => found.push(Defect::new(
            "mode-shadow",
            agent,
            "the mode is `shadow`: doorward stops nothing".to_owned(),
            "run `doorward setup --mode auto` to let it stop calls",
        )),
        Mode::Auto | Mode::ConfirmAll => {}
    }
    match setup::program_of(agent, patient.dirs) {
        None => found.extend(missing(patient, agent)),
        Some(program) => {
            found.extend(program_defect(agent, Path::new(&program)));
            found.extend(settings(patient, agent, &program));
        }
    }
    found.extend(foreign::defects(patient, agent));
    found.extend(project::defects(patient, agent));
    found
}

/// Our hook is missing: the settings can't be read, or have none.
fn missing(patient: &Checkup<'_>, agent: Agent) -> Option<Defect> {
    let parts = setup::parts(agent, patient.dirs, "/doorward", Wishes::default()).unwrap_or_default();
    let unread = parts.iter().find_map(|part| Some((part, part.fit().problem()?)));
    Some(match unread {
        Some((part, problem)) => unreadable(agent, part, &problem),
        None => Defect::new("hooks-missing", agent, "its settings have no doorward hook".to_owned(), AGAIN),
    })
}

fn unreadable(agent: Agent, part: &AgentFile, problem: &str) -> Defect {
    let file = part.file.display();
    if problem.contains("switches") || problem.contains("switched off") {
        let what = format!("`{file}`: {problem}");
        return Defect::new("hooks-off", agent, what, "remove that setting from the file");
    }
    let what = format!("can't parse `{file}`: {problem}");
    Defect::new("settings-unreadable", agent, what, "fix the file, or remove it and run `doorward setup`")
}

/// The program that the hooks run.
fn program_defect(agent: Agent, program: &Path) -> Option<Defect> {
    let shown = program.display();
    let Ok(metadata) = program.metadata() else {
        let what = format!("the hooks run `{shown}`, which does not exist, so every call is blocked");
        return Some(Defect::new("program-missing", agent, what, AGAIN));
    };
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        let what = format!("the hooks run `{shown}`, which is not executable, so every call is blocked");
        return Some(Defect::new("program-not-runnable", agent, what, AGAIN));
    }
    if let Some(problem) = exposed(program) {
        let what = format!("the hooks run `{shown}`, which {problem}");
        return Some(Defect::new("program-exposed", agent, what, "remove write permission for group and others"));
    }
    let own = std::env::current_exe().ok()?;
    let is_same = own.canonicalize().ok() == program.canonicalize().ok() || same_bytes(&own, program);
    (!is_same).then(|| {
        let what = format!("the hooks run `{shown}`, but this program is `{}`", own.display());
        Defect::new("program-other", agent, what, AGAIN)
    })
}

fn same_bytes(one: &Path, other: &Path) -> bool {
    let length = |path: &Path| path.metadata().map(|metadata| metadata.len()).ok();
    length(one) == length(other) && std::fs::read(one).ok() == std::fs::read(other).ok()
}

/// Compares the files that setup wrote with what it would write now.
fn settings(patient: &Checkup<'_>, agent: Agent, program: &str) -> Vec<Defect> {
    let mut found = Vec::new();
    let Ok(parts) = setup::parts(agent, patient.dirs, program, Wishes::default()) else { return found };
    for part in &parts {
        if let Some(problem) = exposed(&part.file) {
            let what = format!("`{}` {problem}", part.file.display());
            found.push(Defect::new("settings-exposed", agent, what, "remove write permission for group and others"));
        }
        match part.fit() {
            FileState::Same => {}
            FileState::Problem(problem) => found.push(unreadable(agent, part, &problem)),
            FileState::Changed => found.push(changed(patient, agent, part)),
        }
    }
    if agent == Agent::Opencode && !setup::opencode_asks(patient.dirs) {
        let what = "OpenCode does not ask on its own: if the plugin fails to load, calls run unchecked".to_owned();
        found.push(Defect::new(
            "opencode-unasked",
            agent,
            what,
            "set `\"permission\": {\"*\": \"ask\"}` in opencode.json",
        ));
    }
    found
}

/// What differs: trust, the extension, an event, or the line itself.
fn changed(patient: &Checkup<'_>, agent: Agent, part: &AgentFile) -> Defect {
    let file = part.file.display();
    let is_settings = setup::settings_of(agent, patient.dirs).is_some_and(|settings| settings == part.file);
    match (agent, is_settings) {
        (Agent::Codex, false) => {
            let what = format!("`{file}` does not trust the current hooks, so Codex silently skips them");
            Defect::new("hooks-untrusted", agent, what, AGAIN)
        }
        (_, false) => {
            let what = format!("`{file}` is not what this version of doorward installs");
            Defect::new("extension-changed", agent, what, AGAIN)
        }
        (_, true) => match setup::unhooked(agent, patient.dirs) {
            Some(event) => {
                let what = format!("`{file}` has no doorward hook for `{event}`");
                Defect::new("event-missing", agent, what, AGAIN)
            }
            None => {
                let what = format!("a hook line in `{file}` differs from what setup wrote");
                Defect::new("line-changed", agent, what, AGAIN)
            }
        },
    }
}
