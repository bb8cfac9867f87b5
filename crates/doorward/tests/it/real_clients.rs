//! Real coding agents with doorward set up for them; `tests/real_clients` has the scenarios. Not run by default: npm fetches the agents.

use std::path::Path;
use std::process::Command;

/// What the script says where an agent cannot be installed.
const CANNOT: i32 = 77;

fn run(client: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real_clients/run.py");
    let output = Command::new("python3")
        .arg(script)
        .args(["--doorward", env!("CARGO_BIN_EXE_doorward"), client])
        .output()
        .unwrap_or_else(|error| panic!("python3 cannot be run: {error}"));
    let text = String::from_utf8_lossy(&output.stdout);
    eprintln!("{text}{}", String::from_utf8_lossy(&output.stderr));
    // A visitor may lack a client; where everything is to be tested, that is a failure.
    let may_lack = std::env::var_os("CI").is_none_or(|value| value.is_empty());
    let is_fine = match output.status.code() {
        Some(0) => true,
        Some(CANNOT) => may_lack,
        Some(_) | None => false,
    };
    assert!(is_fine, "{client} did not do as it should");
}

#[test]
#[ignore = "fetches Claude Code with npm, and takes minutes"]
fn claude_code_does_as_it_should() {
    run("claude");
}

#[test]
#[ignore = "fetches Codex with npm, and takes minutes"]
fn codex_does_as_it_should() {
    run("codex");
}

#[test]
#[ignore = "fetches Pi with npm, and takes minutes"]
fn pi_does_as_it_should() {
    run("pi");
}

#[test]
#[ignore = "fetches Gemini CLI with npm, and takes minutes"]
fn gemini_does_as_it_should() {
    run("gemini");
}

#[test]
#[ignore = "fetches Qwen Code with npm, and takes minutes"]
fn qwen_does_as_it_should() {
    run("qwen");
}

#[test]
#[ignore = "fetches Copilot CLI with npm, and takes minutes"]
fn copilot_does_as_it_should() {
    run("copilot");
}

#[test]
#[ignore = "fetches OpenCode with npm, and takes minutes"]
fn opencode_does_as_it_should() {
    run("opencode");
}
