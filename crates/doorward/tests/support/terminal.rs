//! A terminal that a test types into and reads from, with tmux.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::{Home, program};

/// What an agent leaves in the environment of the commands it runs.
pub const LEFT_BY_AGENTS: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "OPENCODE",
    "PI_CODING_AGENT",
    "TMUX",
];

/// A person's terminal.
pub struct Terminal {
    socket: PathBuf,
}

/// Whether there is a terminal to be had; says loudly if not.
#[allow(clippy::print_stderr, reason = "what is not tested has to be said")]
pub fn is_there(what: &str) -> bool {
    let is_there = Command::new("tmux").arg("-V").output().is_ok();
    if !is_there {
        eprintln!("SKIPPED: `tmux` is not installed, so {what}");
    }
    is_there
}

impl Terminal {
    pub fn new(home: &Home) -> Terminal {
        Terminal { socket: home.path("tmux.socket") }
    }

    pub fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        for name in LEFT_BY_AGENTS {
            command.env_remove(name);
        }
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
        let ran = command.args(["-u", "-S"]).arg(&self.socket).args(["-f", "/dev/null"]).args(arguments).output();
        String::from_utf8_lossy(&ran.unwrap().stdout).into_owned()
    }

    pub fn run(&self, home: &Home, line: &str) {
        self.run_at(home, line, (120, 60));
    }

    /// Runs a line in a window of so many columns and rows.
    pub fn run_at(&self, home: &Home, line: &str, (columns, rows): (u16, u16)) {
        let line = line.replace("doorward", program().to_str().unwrap());
        let home_variable = format!("HOME={}", home.path("").display().to_string().trim_end_matches('/'));
        let line =
            format!("cd {} && env {home_variable} {line}; echo ended with $?; sleep 30", home.project().display());
        // Without a session that stays, the server would end with the one that is replaced.
        self.tmux(&["new-session", "-d", "-s", "stays", "sleep 600"]);
        self.tmux(&["kill-session", "-t", "person"]);
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["new-session", "-d", "-s", "person", "-x", &columns, "-y", &rows, &line]);
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.tmux(&["resize-window", "-t", "person", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "person"])
    }

    /// Waits until the screen shows a text.
    pub fn shows(&self, text: &str) -> String {
        self.wait(text, true)
    }

    /// Waits until the screen does not show a text any more.
    pub fn loses(&self, text: &str) -> String {
        self.wait(text, false)
    }

    fn wait(&self, text: &str, wanted: bool) -> String {
        let mut screen = String::new();
        for _ in 0..400 {
            screen = self.screen();
            if screen.contains(text) == wanted {
                return screen;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("`{text}` on the screen: wanted {wanted}\n{screen}");
    }

    /// Types a line.
    pub fn types(&self, text: &str) {
        self.press(text);
        self.tmux(&["send-keys", "-t", "person", "Enter"]);
    }

    /// Types signs and no Enter.
    pub fn press(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "person", "-l", text]);
    }

    /// Presses a key that has a name.
    pub fn key(&self, name: &str) {
        self.tmux(&["send-keys", "-t", "person", name]);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
