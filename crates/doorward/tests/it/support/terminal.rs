//! A terminal that a test types into and reads from, with tmux.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{Home, program};

#[path = "../../../src/machine/agent_variables.rs"]
mod agent_variables;

/// What an agent, or a terminal within a terminal, leaves in the environment of the commands it runs.
pub(crate) fn left_by_agents() -> impl Iterator<Item = &'static str> {
    agent_variables::LEFT_BY_AGENTS.iter().copied().chain(["TMUX"])
}

/// On a machine that does a lot else, a screen may take so long.
const PATIENCE: Duration = Duration::from_secs(90);

/// A person's terminal.
pub(crate) struct Terminal {
    socket: PathBuf,
}

/// Whether there is a terminal to be had; says loudly if not.
pub(crate) fn is_there(what: &str) -> bool {
    let is_there = Command::new("tmux").arg("-V").output().is_ok();
    if !is_there {
        super::skip(&format!("`tmux` is not installed, so {what}"));
    }
    is_there
}

impl Terminal {
    pub(crate) fn new(home: &Home) -> Terminal {
        Terminal { socket: home.path("tmux.socket") }
    }

    /// A person runs a command, sees the question and says yes.
    pub(crate) fn say_yes(home: &Home, line: &str, question: &str) {
        let terminal = Terminal::new(home);
        terminal.run(home, line);
        terminal.shows(question);
        terminal.types("y");
        terminal.shows("ended with 0");
    }

    pub(crate) fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        for name in left_by_agents() {
            command.env_remove(name);
        }
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
        let ran = command.args(["-u", "-S"]).arg(&self.socket).args(["-f", "/dev/null"]).args(arguments).output();
        String::from_utf8_lossy(&ran.unwrap().stdout).into_owned()
    }

    pub(crate) fn run(&self, home: &Home, line: &str) {
        self.run_at(home, line, (120, 60));
    }

    /// Runs a line in a window of so many columns and rows.
    pub(crate) fn run_at(&self, home: &Home, line: &str, (columns, rows): (u16, u16)) {
        let line = line.replace("doorward", program().to_str().unwrap());
        let home_variable = format!("HOME={}", home.path("").display().to_string().trim_end_matches('/'));
        let line =
            format!("cd {} && env {home_variable} {line}; echo ended with $?; sleep 300", home.project().display());
        // Without a session that stays, the server would end with the one that is replaced.
        self.tmux(&["new-session", "-d", "-s", "stays", "sleep 600"]);
        self.tmux(&["kill-session", "-t", "person"]);
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["new-session", "-d", "-s", "person", "-x", &columns, "-y", &rows, &line]);
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.tmux(&["resize-window", "-t", "person", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "person"])
    }

    /// Waits until the screen shows a text.
    pub(crate) fn shows(&self, text: &str) -> String {
        self.shows_all(&[text])
    }

    /// Waits until the screen shows all of these at once: a screen that is half drawn shows some of them.
    pub(crate) fn shows_all(&self, texts: &[&str]) -> String {
        self.wait(&format!("{texts:?} to appear"), |screen| texts.iter().all(|text| screen.contains(text)))
    }

    /// Waits until the screen does not show a text any more.
    pub(crate) fn loses(&self, text: &str) -> String {
        self.wait(&format!("`{text}` to go"), |screen| !screen.contains(text))
    }

    /// Waits for a screen; nothing is asserted on one that may be half drawn.
    pub(crate) fn wait(&self, what: &str, is_wanted: impl Fn(&str) -> bool) -> String {
        let mut screen = String::new();
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            screen = self.screen();
            if is_wanted(&screen) {
                return screen;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("waited for {what}\n{screen}");
    }

    /// Types a line.
    pub(crate) fn types(&self, text: &str) {
        self.press(text);
        self.tmux(&["send-keys", "-t", "person", "Enter"]);
    }

    /// Types signs and no Enter.
    pub(crate) fn press(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "person", "-l", text]);
    }

    /// Presses a key that has a name.
    pub(crate) fn key(&self, name: &str) {
        self.tmux(&["send-keys", "-t", "person", name]);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
