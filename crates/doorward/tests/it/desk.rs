//! The desk as a person uses it: a real terminal, a real browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::terminal::{self, Terminal};
use crate::support::{Home, program, skip};

/// Chromium, and a Node that can talk to it.
fn browser_is_there() -> bool {
    let chromium = std::env::var("DOORWARD_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    for (name, is_there) in [("chromium", runs(&chromium)), ("node", runs("node"))] {
        if !is_there {
            skip(&format!("`{name}` is not installed, so the desk is not tested in a browser"));
            return false;
        }
    }
    terminal::is_there("the desk is not tested in a browser")
}

/// The checker of accessibility, if it was fetched; `.ci/run` does.
fn axe() -> Option<PathBuf> {
    let path = std::env::var("DOORWARD_AXE")
        .map_or_else(|_| workspace().join("target/axe/node_modules/axe-core/axe.min.js"), PathBuf::from);
    if !path.exists() {
        skip(&format!("axe-core is not at `{}`, so accessibility is not tested", path.display()));
        return None;
    }
    Some(path)
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a script of `tests/desk` and shows what it said if it fails.
fn play(script: &str, about: &serde_json::Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desk").join(script);
    let ran = Command::new("node").arg("--experimental-websocket").arg(path).arg(about.to_string()).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains("all good"), "{said}");
}

#[test]
fn a_person_answers_in_a_browser() {
    if !browser_is_there() {
        return;
    }
    let home = Home::trusting();
    let ran = home.run(&["setup", "codex", "--yes", "--mode", "auto", "--without-hooks"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let terminal = Terminal::new(&home);
    terminal.run(&home, "doorward serve --pair --port 0");
    let about = json!({
        "program": program(), "home": home.path(""), "project": home.project(), "tmux": home.path("tmux.socket"),
        "pictures": std::env::var("DOORWARD_PICTURES").ok(), "axe": axe(),
    });
    play("end_to_end.mjs", &about);
}
