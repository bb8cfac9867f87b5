//! The configuration files of `pi-automode`, source by source, and the questions about paths and patterns that need no model.
//! `docs/pi-automode.md` lists where doorward differs on purpose.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::Home;

/// A home and a project with Pi's files in them: all projects, this project and this machine, this project.
fn configured(global: Value, local: Value, shared: Value) -> Value {
    let home = Home::new();
    home.write(".pi/agent/automode.json", &global.to_string());
    for (name, said) in [(".pi/automode.local.json", local), (".pi/automode.json", shared)] {
        let path = home.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, said.to_string()).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    }
    let ran = home.run(&["config", "--agent", "pi", "--json"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.json()
}

/// The values of a key, each with the source that it comes from.
fn values(shown: &Value, key: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = shown["values"].as_array().unwrap().iter();
    all.filter(|entry| entry["key"] == key).map(|entry| (text(&entry["value"]), text(&entry["source"]))).collect()
}

/// What is said about a source, as `key text`.
fn notes(shown: &Value, source: &str) -> Vec<String> {
    let sources = shown["sources"].as_array().unwrap();
    let source = sources.iter().find(|one| one["name"] == source).unwrap();
    let notes = source["notes"].as_array().unwrap().iter();
    notes.map(|note| format!("{} {}", note["key"].as_str().unwrap(), note["text"].as_str().unwrap())).collect()
}

#[test]
fn files_of_the_project_add_refusals_and_nothing_else() {
    let shared = json!({
        "autoMode": { "classifierModel": "some/model", "allow": ["anything"], "hard_deny": ["nothing"] },
        "permissions": { "deny": ["bash(terraform destroy*)"], "allow": ["bash(make deploy)"] },
    });
    let shown = configured(json!({}), json!({}), shared);
    assert_eq!(values(&shown, "permissions.deny"), [("bash(terraform destroy*)".to_owned(), "Pi, shared".to_owned())]);
    assert!(values(&shown, "permissions.allow").is_empty());
    let said = notes(&shown, "Pi, shared").join("\n");
    for key in ["autoMode `allow`, `classifierModel`, `hard_deny` are ignored", "permissions.allow"] {
        assert!(said.contains(key), "{key}: {said}");
    }
}

#[test]
fn the_model_of_all_projects_counts_once_accepted_and_a_project_brings_none_along() {
    let model = |name: &str| json!({ "autoMode": { "classifierModel": name } });
    let shown = configured(model("for/all"), model("for/this"), json!({}));
    assert_eq!(values(&shown, "reviewer.model"), [("for/all".to_owned(), "Pi, global".to_owned())]);
    assert!(shown["unaccepted"].to_string().contains("`reviewer`"), "{}", shown["unaccepted"]);
    assert!(notes(&shown, "Pi, local")[0].contains("reviewer is ignored here"), "{:?}", notes(&shown, "Pi, local"));
    assert_eq!(shown["strict"], false);
}

#[test]
fn a_list_replaces_the_built_in_entries_of_its_own_key_only() {
    let local = json!({ "autoMode": { "allow": ["only this"], "protectedPaths": ["deploy"] } });
    let shown = configured(json!({}), local, json!({}));
    assert_eq!(values(&shown, "paths.protected"), [("deploy".to_owned(), "Pi, local".to_owned())]);
    assert_eq!(values(&shown, "hosts.allowed"), [("$defaults".to_owned(), "built in".to_owned())]);
}

#[test]
fn lists_of_all_sources_count_together() {
    let deny = |pattern: &str| json!({ "permissions": { "deny": [pattern] } });
    let shown = configured(deny("bash(one*)"), deny("bash(two*)"), deny("bash(three*)"));
    let found: Vec<String> = values(&shown, "permissions.deny").into_iter().map(|(value, _)| value).collect();
    assert_eq!(found, ["bash(one*)", "bash(two*)", "bash(three*)"]);
}

#[test]
fn a_value_that_means_nothing_is_named_and_the_others_stay() {
    let global = json!({ "autoMode": { "classifierReasoningLevel": "low" }, "permissions": { "ask": ["fetch"] } });
    let local =
        json!({ "autoMode": { "classifierReasoningLevel": "utmost", "maxUserTranscriptTokens": "many", "frob": 1 } });
    let shown = configured(global, local, json!({}));
    let said = notes(&shown, "Pi, local").join("\n");
    for key in ["classifierReasoningLevel", "maxUserTranscriptTokens", "frob"] {
        assert!(said.contains(key), "{key}: {said}");
    }
    assert_eq!(values(&shown, "permissions.ask"), [("fetch".to_owned(), "Pi, global".to_owned())]);
}

#[test]
fn a_project_decides_nothing_about_the_record() {
    let shared = json!({ "autoMode": { "log": { "enabled": false, "classifierIo": true } } });
    let shown = configured(json!({}), json!({}), shared);
    assert!(notes(&shown, "Pi, shared").join("\n").contains("autoMode `log` is ignored"));
    assert!(shown["values"].as_array().unwrap().iter().all(|entry| !entry["key"].to_string().contains("log")));
}

#[test]
fn a_path_that_can_never_match_is_named() {
    let local = json!({ "autoMode": { "deniedPaths": ["settings.json", "src/private.txt", "~other"] } });
    let said = notes(&configured(json!({}), local, json!({})), "Pi, local");
    // The first two match in doorward: at any depth, and below the top of the project.
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("~other") && said[0].contains("can never match"));
}

/// What is said about a call on a machine whose homes lie below `/var/home`.
fn judged(tool: &str, input: Value, config: Value) -> Value {
    let line = json!({
        "id": 1, "agent": "pi", "tool": tool, "input": input, "cwd": "/srv/app", "config": config,
        "world": { "home": "/var/home/jo", "project": "/srv/app", "git": { "root": "/srv/app" } },
    });
    Home::new().run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json()
}

#[test]
fn root_home_and_system_are_protected_and_so_are_whole_directories_of_the_home() {
    let verdict = |path: &str| {
        let answer = judged("bash", json!({ "command": format!("rm -rf {path}") }), json!({}));
        answer["verdict"].as_str().unwrap().to_owned()
    };
    for path in
        ["/", "/var", "/var/home", "/var/home/jo", "/var/log", "/var/lib/db", "/etc", "/etc/hosts", "/usr/share/y"]
    {
        assert_eq!(verdict(path), "block", "{path}");
    }
    assert_eq!(verdict("/var/home/jo/code/site/build"), "confirm");
    assert_eq!(verdict("/var/home/jo/src"), "block", "stricter on purpose: a person's other work is not the agent's");
    assert_eq!(verdict("/opt/tool"), "block", "stricter on purpose: software for the whole machine");
}

#[test]
fn a_pattern_covers_the_words_it_names_whatever_the_case_of_the_tool() {
    let is_denied = |pattern: &str, command: &str| {
        let config = json!({ "permissions": { "deny": [pattern] } });
        judged("bash", json!({ "command": command }), config)["settled_by"] == "permission"
    };
    assert!(is_denied("bash(git log*)", "git log --oneline"));
    assert!(is_denied("Bash(git log*)", "git log --oneline"));
    assert!(!is_denied("bash(git log*)", "git push --force"));
}

#[test]
fn backslashes_separate_names_too() {
    let write = |path: &str| judged("write", json!({ "path": path, "content": "x" }), json!({}));
    let git = write(".git\\config");
    assert_ne!(git["verdict"], "approve", "{git}");
    assert_ne!(write("src\\main.ts")["verdict"], "block");
}
