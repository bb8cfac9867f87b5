//! Payloads of every event and tool of each agent: the answer of the real program is the one that the fixture expects.

use std::path::Path;

use serde_json::Value;

use crate::support::{Home, Ran};

#[test]
fn claude_gets_the_expected_answers() {
    check("claude");
}

#[test]
fn codex_gets_the_expected_answers() {
    check("codex");
}

#[test]
fn pi_gets_the_expected_answers() {
    check("pi");
}

#[test]
fn gemini_gets_the_expected_answers() {
    check("gemini");
}

#[test]
fn qwen_gets_the_expected_answers() {
    check("qwen");
}

#[test]
fn copilot_gets_the_expected_answers() {
    check("copilot");
}

#[test]
fn opencode_gets_the_expected_answers() {
    check("opencode");
}

#[test]
fn agents_known_from_their_documentation_get_the_expected_answers() {
    for agent in ["cursor", "vscode", "windsurf"] {
        check(agent);
    }
}

fn check(agent: &str) {
    let home = Home::new();
    let ran = home.run(&["setup", agent, "--yes", "--mode", "auto", "--without-hooks"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads").join(agent);
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("@PROJ@", home.project().to_str().unwrap());
        let text = text.replace("@HOME@", home.path("").to_str().unwrap().trim_end_matches('/'));
        let fixture: Value = serde_json::from_str(&text).unwrap();
        let ran = home.run(&["hook", agent], fixture["payload"].to_string().as_bytes());
        let (said, expected) = (said(&ran), fixture["answer"].as_str().unwrap());
        let fits = match expected {
            "any" => matches!(said.as_str(), "allow" | "ask" | "deny") || (agent == "codex" && said.is_empty()),
            "not allow" => matches!(said.as_str(), "ask" | "deny"),
            exactly => said == exactly,
        };
        assert!(fits, "{}: expected `{expected}`, got `{said}`: {} {}", path.display(), ran.stdout, ran.stderr);
        seen += 1;
    }
    let is_whole = matches!(agent, "claude" | "codex" | "pi" | "gemini" | "opencode");
    assert!(seen > if is_whole { 15 } else { 3 }, "{agent}: {seen}");
}

/// The answer in a word.
fn said(ran: &Ran) -> String {
    if ran.code == 2 && ran.stdout.is_empty() && !ran.stderr.is_empty() {
        return "refusal".to_owned();
    }
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    if ran.stdout.is_empty() {
        return String::new();
    }
    let answer = ran.json();
    let output = &answer["hookSpecificOutput"];
    if output.is_null() && answer["systemMessage"].as_str().is_some_and(|text| text.contains(" calls, ")) {
        // What the session did, for the person.
        return String::new();
    }
    if output.is_null() {
        // Gemini CLI, Copilot CLI and Cursor each have a word of their own for it.
        let words = ["decision", "permissionDecision", "permission"];
        return words.iter().find_map(|word| answer[word].as_str()).unwrap().to_owned();
    }
    match output["hookEventName"].as_str().unwrap() {
        "PreToolUse" => output["permissionDecision"].as_str().unwrap().to_owned(),
        "PermissionRequest" => format!("permission {}", output["decision"]["behavior"].as_str().unwrap()),
        "SessionStart" => "context".to_owned(),
        other => panic!("{other}"),
    }
}
