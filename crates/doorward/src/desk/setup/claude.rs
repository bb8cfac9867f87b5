//! What is changed for Claude Code.

use std::path::{Path, PathBuf};

use super::hooks::{HookFormat, Hooks};
use super::pi::part;
use super::{AgentFile, Wishes, client, plugin, status_line};
use crate::hook::agents::claude::ASKING;
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;
use crate::policy::config::Questions;

/// What `/doorward status|why|pending` tells the model; the path of the program goes into it.
const COMMAND: &str = include_str!("../../../extensions/claude/setup/doorward.md");

pub(super) const HOOKS: Hooks = Hooks {
    agent: Agent::Claude,
    deciding: &["PreToolUse"],
    recorded: &[
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionDenied",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
    ],
    shape: HookFormat::Seconds,
};

/// The path of the user's settings.
pub(super) fn settings_file(home: &str) -> PathBuf {
    directory_of(Agent::Claude, home).join("settings.json")
}

/// If the user wants to be asked in Claude Code's own prompt, sets a mode that asks; uninstalling restores the old mode.
/// A plugin that brings the hooks is left to do so.
pub(super) fn parts(home: &str, program: &str, wishes: Wishes) -> Vec<AgentFile> {
    let (program, named) = (program.to_owned(), program.to_owned());
    let asks = wishes.questions == Some(Questions::Client);
    let saved = crate::machine::atomic_file::text(&super::backup(&settings_file(home))).ok().flatten();
    let before = saved.as_deref().and_then(client::default_mode);
    let settings = AgentFile {
        file: settings_file(home),
        with: Box::new(move |settings| {
            let on = super::json_meaning(settings);
            if on.and_then(|settings| settings.get("disableAllHooks").cloned()).is_some_and(|off| off == true) {
                return Err("`disableAllHooks` switches every hook off; remove it first".into());
            }
            let has_hooks = plugin::is_enabled_in(settings) && HOOKS.find_ours(settings).is_empty();
            let text = if has_hooks { settings.to_owned() } else { HOOKS.with_ours(settings, &program)? };
            let is_wanted = wishes.status_line || status_line::is_ours(&text);
            let text = if is_wanted { status_line::with_ours(&text, &program)? } else { text };
            let is_quiet = client::default_mode(&text).is_none_or(|mode| !ASKING.contains(&mode.as_str()));
            if asks && is_quiet { client::with_mode(&text, Some(client::ASKS)) } else { Ok(text) }
        }),
        without: Box::new(move |settings| {
            let text = status_line::without_ours(&HOOKS.without_ours(settings)?, saved.as_deref())?;
            let is_ours = text != settings && client::default_mode(&text).as_deref() == Some(client::ASKS);
            if asks && is_ours { client::with_mode(&text, before.as_deref()) } else { Ok(text) }
        }),
        meaning: super::json_meaning,
    };
    vec![settings, command(home, &named)]
}

/// The file of `/doorward`. One that names another program which is there stays.
fn command(home: &str, program: &str) -> AgentFile {
    let text = |program: &str| COMMAND.replace("@DOORWARD@", &status_line::quoted(program));
    let AgentFile { file, with, without, meaning } = part(command_file(home), text(program));
    let is_good = move |found: &str| {
        let named = found.split_once("Bash(").and_then(|(_, rest)| status_line::unquoted(rest));
        named.is_some_and(|(program, _)| Path::new(&program).is_file() && text(&program) == found)
    };
    let with = Box::new(move |found: &str| if is_good(found) { Ok(found.to_owned()) } else { with(found) });
    AgentFile { file, with, without, meaning }
}

/// The user's own command `/doorward`.
fn command_file(home: &str) -> PathBuf {
    directory_of(Agent::Claude, home).join("commands/doorward.md")
}
