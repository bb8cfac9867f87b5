//! Plays an agent in the box: asks the installed hook about each call, and performs what it approves.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::generator::is_prelude;
use super::grammar::Grammar;
use super::tools;
use super::world::{HOME, PROJECT};

const DOORWARD: &str = "/opt/doorward/bin/doorward";

/// Where the agent's programs come from. The driver itself does not look into the home.
const PATH: &str = "/home/dev/.local/bin:/usr/local/bin:/usr/bin:/bin";

/// Programs that stand in for the network when a call is performed; the hook does not see them.
const NETWORK: &str = "/var/tmp/network";

/// What comes from code hosts, comes from the disk.
const HOSTS: &[(&str, &str)] = &[
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "url./home/dev/outside/.insteadOf"),
    ("GIT_CONFIG_VALUE_0", "https://github.com/a/"),
];

const DOWNLOAD: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in -o|-O) to=$2; shift ;; -sLO) to=. ;; http*) from=/tmp/incoming/${1##*/} ;; esac; shift; done
case $0 in *wget) to=${to:-.} ;; esac
if [ -n "$to" ]; then cp "$from" "$to"; else cat "$from"; fi
"#;

/// After this long a command is ended.
const PATIENCE: Duration = Duration::from_secs(8);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Approved,
    Asked,
    Blocked,
}

#[derive(Debug)]
pub(super) struct Player<'a> {
    grammar: &'a Grammar,
    hooks: BTreeMap<String, String>,
    session: usize,
    calls: usize,
    cwd: PathBuf,
}

/// What the hook said.
#[derive(Debug)]
pub(super) struct Answer {
    pub verdict: Verdict,
    pub reason: String,
}

impl<'a> Player<'a> {
    pub(super) fn new(grammar: &'a Grammar) -> Player<'a> {
        let settings = fs::read_to_string(format!("{HOME}/.claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let command = |groups: &Value| groups[0]["hooks"][0]["command"].as_str().unwrap().to_owned();
        let hooks = settings["hooks"].as_object().unwrap();
        let hooks = hooks.iter().map(|(event, groups)| (event.clone(), command(groups))).collect();
        Player { grammar, hooks, session: 1, calls: 0, cwd: PathBuf::from(PROJECT) }
    }

    /// A session begins and a person says something.
    pub(super) fn begin(&self) {
        self.event("SessionStart", json!({ "source": "startup" }));
        self.event("UserPromptSubmit", json!({ "prompt": "Go on with the work on this project." }));
    }

    /// Plays one call; `None` if it is none that the hook is asked about.
    pub(super) fn play(&mut self, call: &str) -> Option<Answer> {
        match call {
            "@Session" => self.next_session(),
            _ if is_prelude(call) => tools::before(call),
            _ => return Some(self.ask_and_perform(call)),
        }
        None
    }

    fn next_session(&mut self) {
        self.event("SessionEnd", json!({ "reason": "other" }));
        self.session += 1;
        self.cwd = PathBuf::from(PROJECT);
        self.begin();
    }

    fn ask_and_perform(&mut self, call: &str) -> Answer {
        self.calls += 1;
        let (tool, input) = tools::call(call, self.grammar);
        let mut fields =
            json!({ "tool_name": tool, "tool_input": input, "tool_use_id": format!("toolu_{:06}", self.calls) });
        let mut answer = self.event("PreToolUse", fields.clone());
        // A row of denials would hide what comes after it; an agent can begin again.
        if answer.verdict == Verdict::Asked && answer.reason.contains("denied in a row") {
            self.next_session();
            answer = self.event("PreToolUse", fields.clone());
        }
        if answer.verdict == Verdict::Approved {
            let done = if tool == "Bash" { self.bash(call) } else { tools::perform(tool, &input) };
            fields["duration_ms"] = 5.into();
            match done {
                Ok(response) => {
                    fields["tool_response"] = response;
                    self.event("PostToolUse", fields);
                }
                Err(error) => {
                    fields["error"] = error.into();
                    fields["is_interrupt"] = false.into();
                    self.event("PostToolUseFailure", fields);
                }
            }
        }
        answer
    }

    /// Runs a command; the directory it ends in is kept if it lies in the project.
    fn bash(&mut self, call: &str) -> Result<Value, String> {
        let place = "/var/tmp/cwd";
        let script = format!("eval \"$CHAIN_CALL\" < /dev/null; code=$?; pwd -P >| {place}; exit $code");
        let mut command = Command::new("bash");
        command
            .args(["-c", &script])
            .env("CHAIN_CALL", call)
            .env("CLAUDECODE", "1")
            .envs(HOSTS.iter().copied())
            .env("PATH", format!("{NETWORK}:{PATH}"));
        command
            .current_dir(self.cwd())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let code = ended(command.spawn().unwrap());
        let end = fs::read_to_string(place).unwrap_or_default();
        let end = Path::new(end.trim());
        self.cwd = if end.starts_with(PROJECT) { end.to_owned() } else { PathBuf::from(PROJECT) };
        let response =
            json!({ "stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false });
        if code == Some(0) { Ok(response) } else { Err(format!("Exit code {}", code.unwrap_or(-1))) }
    }

    fn cwd(&self) -> &Path {
        if self.cwd.is_dir() { &self.cwd } else { Path::new(PROJECT) }
    }

    fn event(&self, name: &str, fields: Value) -> Answer {
        let Some(hook) = self.hooks.get(name) else {
            return Answer { verdict: Verdict::Approved, reason: String::new() };
        };
        let id = format!("00000000-0000-4000-8000-{:012}", self.session);
        let mut payload = json!({
            "session_id": id, "transcript_path": format!("{HOME}/.claude/projects/-home-dev-project/{id}.jsonl"), "cwd": self.cwd,
            "permission_mode": "default", "hook_event_name": name,
        });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut command = Command::new("/bin/sh");
        command.args(["-c", hook]).current_dir(self.cwd());
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_PROJECT_DIR", PROJECT)
            .env("CLAUDE_CODE_SESSION_ID", id)
            .env("PATH", PATH);
        command.env("CLAUDE_CODE_ENTRYPOINT", "cli").env("CLAUDE_CODE_SESSION_ATTENDED", "1").stderr(Stdio::null());
        meaning(&fed(command, payload.to_string().as_bytes()))
    }
}

/// Puts programs in place that get files from the disk instead of the network.
pub(super) fn network() {
    fs::create_dir_all(NETWORK).unwrap();
    for name in ["curl", "wget"] {
        let path = Path::new(NETWORK).join(name);
        fs::write(&path, DOWNLOAD).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// What Claude Code takes from an answer; silence leaves the question to Claude's own way, which is no approval of ours.
fn meaning(said: &str) -> Answer {
    let said: Value = serde_json::from_str(said).unwrap_or_default();
    let said = &said["hookSpecificOutput"];
    let verdict = match said["permissionDecision"].as_str() {
        Some("allow") => Verdict::Approved,
        Some("deny") => Verdict::Blocked,
        Some(_) | None => Verdict::Asked,
    };
    Answer { verdict, reason: said["permissionDecisionReason"].as_str().unwrap_or_default().to_owned() }
}

/// What a command prints when it is given an input.
pub(super) fn fed(mut command: Command, input: &[u8]) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may have answered without reading everything.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The exit code; a command that does not end is killed with everything it started.
fn ended(mut child: Child) -> Option<i32> {
    let begin = Instant::now();
    let group = rustix::process::Pid::from_child(&child);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if begin.elapsed() > PATIENCE {
            break None;
        }
        std::thread::sleep(Duration::from_micros(400));
    };
    // What it left in the background is ended, too; mostly there is nothing.
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    if status.is_none() {
        let _ = child.wait();
    }
    status?.code()
}

/// The copies that were made before calls, newest first.
pub(super) fn copies() -> Vec<String> {
    let mut command = Command::new(DOORWARD);
    command.args(["snapshots", "list", "--json"]).current_dir(PROJECT).stderr(Stdio::null());
    let said: Value = serde_json::from_str(&fed(command, b"")).unwrap_or_default();
    let mut found: Vec<(u64, String)> = Vec::new();
    for copy in said.as_array().into_iter().flatten() {
        found.push((copy["taken_ms"].as_u64().unwrap_or_default(), copy["id"].as_str().unwrap_or_default().to_owned()));
    }
    found.sort();
    found.into_iter().rev().map(|(_, id)| id).collect()
}

/// A person takes a call back.
pub(super) fn undo(id: &str) {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{DOORWARD} undo {id} --yes --overwrite"), "/dev/null"]).current_dir(PROJECT);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Where nothing changed there is nothing to bring back, which is said with an error.
    let _ = command.status().unwrap();
}
