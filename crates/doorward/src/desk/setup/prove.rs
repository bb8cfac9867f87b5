//! Tests that an agent is stopped, and sums up the result in a few words.

use anyhow::{Result, bail};
use doorward_engine::Mode;

use super::{canary, find, hooks, inspect, opencode, pi, plugin, search_path};
use crate::machine::agent::Agent;
use crate::machine::atomic_file;
use crate::machine::paths::Dirs;

/// The result of a trial call.
const DENIED: &str = "trial rm -rf / denied";

/// Sends a call that no mode may approve through the installed hooks; fails unless it is refused.
pub(super) fn prove(agent: Agent, dirs: &Dirs, program: &str, mode: Mode) -> Result<String> {
    let judges = matches!(mode, Mode::Auto | Mode::ConfirmAll);
    let Some((hooks, file)) = super::hooks(agent, dirs) else { return prove_other(agent, dirs, judges) };
    let written = atomic_file::text(&file)?.unwrap_or_default();
    let placed = hooks.find_ours(&written);
    let line = hooks.deciding_command(program);
    let command = |placed: &hooks::InstalledHook| {
        let handler = placed.content.pointer(&format!("/hooks/{}", placed.handler));
        hooks::command_of(handler.unwrap_or(&placed.content)) == line
    };
    let has_plugin = placed.is_empty() && inspect::has_plugin(agent, dirs);
    if !has_plugin && !placed.iter().any(command) {
        bail!("`{}` does not contain the hooks that setup just wrote", file.display());
    }
    if judges {
        let _seen = canary::trial(agent, &line)?;
    }
    let seen = if judges { DENIED } else { "this mode stops nothing" };
    if has_plugin && plugin::program(dirs.home()).is_none() {
        bail!("the plugin doesn't find doorward: `mkdir -p ~/.local/bin && ln -s {program} ~/.local/bin/doorward`");
    }
    if has_plugin {
        return Ok(format!("{seen}; the hooks are the plugin's"));
    }
    Ok(match (agent, find::program("codex", &search_path())) {
        (Agent::Codex, Some(codex)) => {
            canary::codex_sees(&codex, &file.display().to_string(), placed.len())?;
            format!("{seen}, Codex trusts all {} hooks", placed.len())
        }
        (Agent::Codex, None) => format!("{seen}; `codex` is not on the search path, so it was not tested itself"),
        (Agent::Cursor | Agent::Vscode | Agent::Windsurf, _) => {
            format!("{seen}; based on its documentation only, never tested with the program itself")
        }
        (Agent::Claude | Agent::Pi | Agent::Gemini | Agent::Qwen | Agent::Copilot, _) => seen.to_owned(),
        (Agent::Opencode | Agent::Generic, _) => seen.to_owned(),
    })
}

/// Tests an agent that is not guarded by a line in its settings.
fn prove_other(agent: Agent, dirs: &Dirs, judges: bool) -> Result<String> {
    let _seen = match (agent, find::program("node", &search_path())) {
        (Agent::Pi, Some(node)) if judges => canary::through_extension(&node, &pi::extension(dirs.home()))?,
        (Agent::Opencode, Some(node)) if judges => canary::through_plugin(&node, &opencode::plugin(dirs.home()))?,
        (Agent::Pi | Agent::Opencode, None) => {
            return Ok("not tested, because `node` is not on the search path".to_owned());
        }
        (Agent::Generic, _) => return Ok("nothing is installed".to_owned()),
        (Agent::Pi | Agent::Opencode | Agent::Claude | Agent::Codex, _) => return Ok("nothing is stopped".to_owned()),
        (Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf, _) => {
            return Ok(String::new());
        }
    };
    Ok(DENIED.to_owned())
}
