//! Runs the built program in a home of its own.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod terminal;
pub(crate) mod transcripts;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Says loudly what is not tested because something is missing; in continuous integration that is a failure.
#[allow(clippy::print_stderr, reason = "what is not tested has to be said")]
pub(crate) fn skip(why: &str) {
    eprintln!("SKIPPED: {why}");
    // What a test that passes prints is mostly not shown: `./test` shows this file at its end.
    if let Some(file) = std::env::var_os("DOORWARD_SKIPPED") {
        let written = std::fs::OpenOptions::new().create(true).append(true).open(file);
        let _ = written.and_then(|mut file| writeln!(file, "{why}"));
    }
    assert!(std::env::var_os("CI").is_none_or(|value| value.is_empty()), "nothing may be skipped here: {why}");
}

/// A home, and a project beside it.
pub(crate) struct Home {
    base: TempDir,
}

/// What the program did.
pub(crate) struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", self.stdout, self.stderr))
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Home {
    pub(crate) fn new() -> Home {
        let base = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            std::fs::create_dir(base.path().join(name)).unwrap();
        }
        assert!(Command::new("git").args(["init", "-q"]).arg(base.path().join("project")).status().unwrap().success());
        Home { base }
    }

    /// One in which Claude Code is set up in mode `auto`.
    pub(crate) fn trusting() -> Home {
        let home = Home::new();
        let ran = home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        home
    }

    /// What the hook says to a command of one session.
    pub(crate) fn bash(&self, session: &str, id: &str, command: &str) -> Ran {
        let mut payload = self.payload("Bash", json!({ "command": command }));
        payload["session_id"] = json!(session);
        payload["tool_use_id"] = json!(id);
        self.run(&["hook", "claude"], payload.to_string().as_bytes())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.path().join("home").join(name)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.base.path().join("project")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let private: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, private).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.project()).env("HOME", self.base.path().join("home"));
        command
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CLAUDE_CODE_SESSION_ATTENDED")
            .env_remove("XDG_CONFIG_HOME");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Ran {
        feed(&mut self.command(arguments), input)
    }

    /// The program in a session of its own, which has no terminal.
    pub(crate) fn without_terminal(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new("setsid");
        command.arg("--wait").arg(program()).args(arguments).current_dir(self.project());
        feed(command.env("HOME", self.base.path().join("home")), b"")
    }

    /// The hook, with a payload for a tool call in the project.
    pub(crate) fn hook(&self, tool: &str, input: Value) -> Ran {
        self.run(&["hook", "claude"], self.payload(tool, input).to_string().as_bytes())
    }

    pub(crate) fn payload(&self, tool: &str, input: Value) -> Value {
        serde_json::json!({
            "session_id": "0c1d", "transcript_path": "/nowhere.jsonl", "cwd": self.project(), "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_test",
        })
    }
}

pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_doorward"))
}

/// Runs a command with this on its standard input. A `setup --yes` is a person's, who sits at a terminal.
pub(crate) fn feed(command: &mut Command, input: &[u8]) -> Ran {
    let words: Vec<&OsStr> = command.get_args().collect();
    let is_setup = words.first().is_some_and(|word| *word == "setup") && words.iter().any(|word| *word == "--yes");
    if command.get_program() == program() && is_setup {
        let desk = Seat::new();
        return wait_for(desk.seated(command).stdin(desk.terminal()), b"");
    }
    wait_for(command.stdin(Stdio::piped()), input)
}

/// A terminal of its own for one program, with nobody who types.
struct Seat {
    /// As long as this end is open the terminal is there.
    _held: std::os::fd::OwnedFd,
    path: PathBuf,
}

impl Seat {
    fn new() -> Seat {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let held = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&held).unwrap();
        unlockpt(&held).unwrap();
        let path = PathBuf::from(ptsname(&held, Vec::new()).unwrap().into_string().unwrap());
        Seat { _held: held, path }
    }

    fn terminal(&self) -> std::fs::File {
        std::fs::OpenOptions::new().read(true).write(true).open(&self.path).unwrap()
    }

    /// The same command as the first process of that terminal.
    fn seated(&self, command: &Command) -> Command {
        let mut seated = Command::new("setsid");
        seated.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        terminal::left_by_agents().for_each(|name| {
            seated.env_remove(name);
        });
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => seated.env(name, value),
                None => seated.env_remove(name),
            };
        }
        command.get_current_dir().map(|directory| seated.current_dir(directory));
        seated
    }
}

fn wait_for(command: &mut Command, input: &[u8]) -> Ran {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may have answered without reading everything.
        let _ = stdin.map(|mut stdin| stdin.write_all(&input));
    });
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: status.code().unwrap_or(-1),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}
