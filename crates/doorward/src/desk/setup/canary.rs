//! Proof that the hooks work: a trial call through the installed line, and the client's own report on the hooks.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::machine::agent::Agent;
use crate::machine::visible;

/// How long Codex may take to list its hooks.
// `codex app-server` loads its whole configuration first, which takes seconds on a cold disk.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends a call that no mode may approve through the line in the settings; returns the answer.
pub(super) fn trial(agent: Agent, line: &str) -> Result<String> {
    let payload = payload(agent);
    let mut child = Command::new("sh")
        .args(["-c", line])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("can't run the installed hook")?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(payload.to_string().as_bytes())?;
    }
    let answer = child.wait_with_output()?;
    let (text, words) = (String::from_utf8_lossy(&answer.stdout), String::from_utf8_lossy(&answer.stderr));
    match refused(&text, &words, answer.status.code()) {
        Some(reason) => Ok(format!("denied: {}", visible(reason.trim()))),
        None => bail!(
            "the hook is installed, but did not deny a trial call; it exited with {:?} and said: {} {}",
            answer.status.code(),
            visible(text.trim()),
            visible(words.trim())
        ),
    }
}

/// The reason of a refusal, in whatever format the agent expects; `None` if it is not a refusal.
fn refused(stdout: &str, stderr: &str, code: Option<i32>) -> Option<String> {
    if code == Some(2) && stdout.is_empty() && stderr.starts_with("doorward blocks") {
        return Some(stderr.to_owned());
    }
    let said: Value = serde_json::from_str(stdout).ok()?;
    let said = said.get("hookSpecificOutput").unwrap_or(&said);
    let field = |names: &[&str]| names.iter().find_map(|name| said.get(name)?.as_str()).unwrap_or_default().to_owned();
    let is_refusal = field(&["permissionDecision", "decision", "permission"]) == "deny";
    (is_refusal && code == Some(0)).then(|| field(&["permissionDecisionReason", "reason", "agent_message"]))
}

/// The trial call in an agent's format.
fn payload(agent: Agent) -> Value {
    let command = json!({ "command": "rm -rf /" });
    // Marks the trial; sessions with this name raise no alert.
    let whose = if agent == Agent::Claude { String::new() } else { format!("-{}", agent.name()) };
    let session = format!("doorward-setup{whose}");
    let dialect = |tool: &str| {
        json!({
            "hook_event_name": "PreToolUse", "session_id": session, "cwd": "/", "has_ui": true,
            "tool_name": tool, "tool_input": command, "tool_use_id": session,
        })
    };
    match agent {
        Agent::Claude | Agent::Codex | Agent::Generic => dialect("Bash"),
        Agent::Pi | Agent::Opencode => dialect("bash"),
        Agent::Qwen => dialect("run_shell_command"),
        Agent::Vscode => dialect("run_in_terminal"),
        Agent::Gemini => json!({
            "hook_event_name": "BeforeTool", "session_id": session, "cwd": "/",
            "tool_name": "run_shell_command", "tool_input": command,
        }),
        Agent::Copilot => json!({ "sessionId": session, "cwd": "/", "toolName": "bash", "toolArgs": command }),
        Agent::Cursor => json!({
            "hook_event_name": "preToolUse", "conversation_id": session, "cwd": "/",
            "tool_name": "Shell", "tool_input": command, "tool_use_id": session,
        }),
        Agent::Windsurf => json!({
            "agent_action_name": "pre_run_command", "trajectory_id": session,
            "tool_info": { "command_line": "rm -rf /", "cwd": "/" },
        }),
    }
}

/// Sends the same call through the installed plugin, as OpenCode would.
pub(super) fn through_plugin(node: &Path, plugin: &Path) -> Result<String> {
    const OPENCODE: &str = "\
        const plugin = await import(process.argv[1]); \
        const hooks = await Object.values(plugin)[0]({ client: {}, directory: '/', worktree: '/' }); \
        const call = { tool: 'bash', sessionID: 'doorward-setup-opencode', callID: 'doorward-setup' }; \
        let said = {}; \
        try { await hooks['tool.execute.before'](call, { args: { command: 'rm -rf /' } }); } \
        catch (error) { said = { block: true, reason: error.message }; } \
        console.log(JSON.stringify(said)); process.exit(0);";
    in_node(node, OPENCODE, plugin)
}

/// Sends the same call through the installed extension, as Pi would.
pub(super) fn through_extension(node: &Path, extension: &Path) -> Result<String> {
    const PI: &str = "\
        const handlers = {}; \
        const pi = { on: (name, handler) => { handlers[name] = handler; }, registerCommand() {}, appendEntry() {} }; \
        (await import(process.argv[1])).default(pi); \
        const ctx = { cwd: '/', hasUI: false, sessionManager: { getSessionId: () => 'doorward-setup-pi', getSessionFile: () => undefined } }; \
        const call = { toolName: 'bash', toolCallId: 'doorward-setup', input: { command: 'rm -rf /' } }; \
        console.log(JSON.stringify((await handlers.tool_call(call, ctx)) ?? {}));";
    in_node(node, PI, extension)
}

/// Runs a script that sends the call through a module and prints the answer.
fn in_node(node: &Path, script: &str, module: &Path) -> Result<String> {
    let output = Command::new(node)
        .args(["--input-type=module", "-e", script])
        .arg(format!("file://{}", module.display()))
        .stdin(Stdio::null())
        .output()
        .context("can't run node")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let said: Option<Value> = serde_json::from_str(&text).ok();
    let reason = said.as_ref().and_then(|said| said.get("reason")).and_then(Value::as_str).unwrap_or_default();
    let is_blocked = said.as_ref().and_then(|said| said.get("block")) == Some(&Value::Bool(true));
    // A call blocked because nothing works would prove nothing.
    if !is_blocked || !reason.starts_with("doorward blocks") {
        bail!(
            "the extension is installed, but doorward did not deny a trial call; it said: {} {}",
            visible(text.trim()),
            visible(String::from_utf8_lossy(&output.stderr).trim())
        );
    }
    Ok(format!("denied: {}", visible(reason)))
}

/// Asks Codex itself about the hooks in a file: how many of `wanted` will it run?
pub(super) fn codex_sees(program: &Path, file: &str, wanted: usize) -> Result<()> {
    let mut child = Command::new(program)
        .arg("app-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("can't start Codex")?;
    let listed = list_hooks(&mut child);
    // It is our child, and it has answered.
    let _ = child.kill();
    let _ = child.wait();
    let listed = listed?;
    let hooks = listed.pointer("/result/data/0/hooks").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |hook: &Value, name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let ours: Vec<&Value> = hooks
        .iter()
        .filter(|hook| text(hook, "key").starts_with(file) && text(hook, "command").contains("hook codex"))
        .collect();
    let live =
        |hook: &&&Value| text(hook, "trustStatus") == "trusted" && hook.get("enabled") != Some(&Value::Bool(false));
    if ours.iter().filter(live).count() < wanted {
        let states: Vec<String> =
            ours.iter().map(|hook| format!("{} {}", text(hook, "key"), text(hook, "trustStatus"))).collect();
        bail!("Codex will not run all of the hooks: {}", visible(&states.join(", ")));
    }
    Ok(())
}

fn list_hooks(child: &mut Child) -> Result<Value> {
    let mut input = child.stdin.take().context("Codex takes no input")?;
    let output = child.stdout.take().context("Codex says nothing")?;
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    let client = json!({ "name": "doorward", "title": "doorward", "version": env!("CARGO_PKG_VERSION") });
    let about = json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } });
    writeln!(input, "{}", json!({ "id": 1, "method": "initialize", "params": about }))?;
    read_answer(&lines, 1)?;
    writeln!(input, "{}", json!({ "method": "initialized" }))?;
    writeln!(input, "{}", json!({ "id": 2, "method": "hooks/list", "params": { "cwds": ["/"] } }))?;
    read_answer(&lines, 2)
}

fn read_answer(lines: &Receiver<String>, id: u64) -> Result<Value> {
    loop {
        let line = lines.recv_timeout(PATIENCE).context("Codex does not answer")?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if message.get("id").and_then(Value::as_u64) == Some(id) && message.get("method").is_none() {
            return Ok(message);
        }
    }
}
