//! A person at a terminal, played by tmux.

use super::{Home, program};

/// A terminal of a person's own, without anything that an agent leaves behind.
pub struct Terminal {
    pub socket: std::path::PathBuf,
}

impl Terminal {
    /// A terminal, if there is a program to drive one.
    pub fn new(home: &Home) -> Option<Terminal> {
        let is_there = std::process::Command::new("tmux").arg("-V").output().is_ok();
        is_there.then(|| Terminal { socket: home.path("tmux.socket") })
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = std::process::Command::new("tmux");
        for name in ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI"] {
            command.env_remove(name);
        }
        command.env_remove("OPENCODE").env_remove("PI_CODING_AGENT").env_remove("TMUX").env("TERM", "xterm");
        let ran = command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(arguments).output().unwrap();
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    pub fn run(&self, home: &Home, line: &str) {
        let line = line.replace("doorward", program().to_str().unwrap());
        let home_variable = format!("HOME={}", home.path("").display().to_string().trim_end_matches('/'));
        let line =
            format!("cd {} && env {home_variable} {line}; echo ended with $?; sleep 30", home.project().display());
        // Without a session that stays, the server would end with the one that is replaced.
        self.tmux(&["new-session", "-d", "-s", "stays", "sleep 600"]);
        self.tmux(&["kill-session", "-t", "person"]);
        self.tmux(&["new-session", "-d", "-s", "person", "-x", "120", "-y", "60", &line]);
    }

    /// Waits until the screen shows a text.
    pub fn shows(&self, text: &str) -> String {
        let mut screen = String::new();
        for _ in 0..200 {
            screen = self.tmux(&["capture-pane", "-p", "-t", "person"]);
            if screen.contains(text) {
                return screen;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("`{text}` does not appear: {screen}");
    }

    pub fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "person", "-l", text]);
        self.tmux(&["send-keys", "-t", "person", "Enter"]);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
