//! What users of `pi-automode` rely on, in the order of its checks. `docs/pi-automode.md` lists where doorward differs on purpose.

use serde_json::{Value, json};

use crate::support::Home;

/// What the check said about one call in `/srv/app` of the user in `/home/jo`.
struct Said {
    verdict: String,
    settled_by: String,
    reasons: String,
}

fn said(tool: &str, input: Value, config: Value) -> Said {
    let line = json!({
        "id": 1, "agent": "pi", "tool": tool, "input": input, "cwd": "/srv/app", "config": config,
        "world": {
            "home": "/home/jo", "project": "/srv/app", "git": { "root": "/srv/app" },
            "symlinks": {
                "/srv/app/alias": "/srv/app/vault", "/srv/app/plain.ts": "/srv/app/.pi/automode.json",
                "/srv/app/out": "/srv/elsewhere", "/srv/app/a": "/srv/app/b", "/srv/app/b": "/srv/app/a",
                "/srv/app/notgit": "/srv/app/.git",
            },
        },
    });
    let answer = Home::new().run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json();
    Said {
        verdict: answer["verdict"].as_str().unwrap().to_owned(),
        settled_by: answer["settled_by"].as_str().unwrap().to_owned(),
        reasons: answer["reasons"].to_string(),
    }
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

fn write(path: &str) -> Value {
    json!({ "path": path, "content": "x" })
}

/// The check that decided is named, and nothing was left to layer 2.
fn blocked(tool: &str, input: Value, config: Value, stage: &str, because: &str) {
    let said = said(tool, input.clone(), config);
    assert_eq!((said.verdict.as_str(), said.settled_by.as_str()), ("block", stage), "{tool} {input}: {}", said.reasons);
    assert!(said.reasons.contains(because), "{tool} {input}: {because} is not named: {}", said.reasons);
}

/// Layer 1 neither refuses nor approves: layer 2 and a person decide.
fn left_to_layer_2(tool: &str, input: Value) {
    let said = said(tool, input.clone(), json!({}));
    let by_layer_1 = said.verdict == "block" || (said.verdict == "approve" && said.settled_by == "layer-1");
    assert!(!by_layer_1, "{tool} {input} is {} by {}: {}", said.verdict, said.settled_by, said.reasons);
}

#[test]
fn deny_patterns_come_first() {
    let deny = |pattern: &str| json!({ "permissions": { "deny": [pattern] } });
    blocked(
        "bash",
        bash("git push --force origin trunk"),
        deny("bash(git push --force*)"),
        "permission",
        "permissions.deny",
    );
    blocked("read", json!({ "path": "README.md" }), deny("read(README.md)"), "permission", "permissions.deny");
    blocked(
        "bash",
        bash("true && git push --force"),
        deny("Bash(git push --force*)"),
        "permission",
        "permissions.deny",
    );
    let other = said("bash", bash("git log --oneline"), deny("bash(git push*)"));
    assert_ne!(other.settled_by, "permission", "{}", other.reasons);
}

#[test]
fn a_deny_pattern_is_named_even_where_a_rule_would_block_too() {
    let config = json!({ "permissions": { "deny": ["bash(rm *)"] } });
    let said = said("bash", bash("rm -rf ~"), config);
    assert_eq!(said.verdict, "block");
    assert!(said.reasons.contains("permissions.deny") && said.reasons.contains("home directory"), "{}", said.reasons);
}

#[test]
fn ask_patterns_ask_and_yes_does_not_skip_the_rest() {
    let config = json!({ "permissions": { "ask": ["bash(rm *)"], "allow": ["bash(rm -f notes.txt)"] } });
    let asked = said("bash", bash("rm -f notes.txt"), config.clone());
    assert_eq!(asked.verdict, "confirm");
    assert!(asked.reasons.contains("permissions.ask"), "{}", asked.reasons);
    assert_eq!(said("bash", bash("rm -rf ~"), config).verdict, "block");
}

#[test]
fn some_calls_are_refused_before_any_model_sees_them() {
    let rows = [
        (bash("echo x >> ~/.zshrc"), "shell runs at start"),
        (bash("printf x > \"$HOME/.bash_profile\""), "shell runs at start"),
        (bash("cat key.pub >> ~/.ssh/authorized_keys"), "authorized_keys"),
        (bash("true; echo k > \"$HOME/.ssh/authorized_keys\""), "authorized_keys"),
        (bash("git config --global http.sslVerify false"), "certificate checks"),
        (bash("ls && git -c http.sslVerify=false pull"), "certificate checks"),
        (bash("echo '{}' | tee .pi/automode.local.json"), "an AI agent's settings, hooks or permissions"),
        (bash("crontab jobs"), "run later"),
        (bash("systemctl enable x"), "run later"),
        (bash("rm -rf /"), "the root or the home directory"),
        (bash("rm -rf /home/jo"), "the root or the home directory"),
        (bash("rm -rf /var/log"), "system directory"),
        (bash("chmod -R 777 /etc"), "writable by everyone"),
        (bash("chown jo ~/.ssh/authorized_keys"), "authorized_keys"),
    ];
    for (input, because) in rows {
        blocked("bash", input, json!({}), "layer-1", because);
    }
    let settings = "an AI agent's settings, hooks or permissions";
    blocked("write", write(".pi/automode.local.json"), json!({}), "layer-1", settings);
    blocked("write", write("plain.ts"), json!({}), "layer-1", settings);
}

#[test]
fn denied_paths_are_compared_after_links_and_before_reads_are_let_through() {
    let config = json!({ "paths": { "denied": ["vault", "*.env", "~/.ssh/*"] } });
    for path in ["vault/token", "alias/token", ".env", "/home/jo/.ssh/id_ed25519", "src/../vault/x"] {
        blocked("read", json!({ "path": path }), config.clone(), "layer-1", "a path that the configuration denies");
    }
    assert_eq!(said("read", json!({ "path": "README.md" }), config).verdict, "approve");
}

#[test]
fn reading_tools_are_let_through_by_layer_1() {
    for (tool, input) in [
        ("read", json!({ "path": "README.md" })),
        ("search", json!({ "path": "src", "pattern": "x" })),
        ("read", json!({ "path": ".git/config" })),
        ("read", json!({ "path": "/etc/hosts" })),
    ] {
        let said = said(tool, input.clone(), json!({}));
        assert_eq!((said.verdict.as_str(), said.settled_by.as_str()), ("approve", "layer-1"), "{tool} {input}");
    }
}

#[test]
fn changes_and_commands_are_left_to_layer_2() {
    for path in [
        "src/index.ts",
        ".gitignore",
        ".vscode/settings.json",
        ".github/workflows/ci.yml",
        "/srv/elsewhere/file.txt",
        "out/new/file.txt",
        "a",
        "notgit/config",
        "/srv/other/.git/config",
        ".git/hooks/pre-commit",
        ".bashrc",
    ] {
        left_to_layer_2("write", write(path));
        left_to_layer_2("edit", json!({ "path": path, "old": "a", "new": "b" }));
    }
    left_to_layer_2("bash", bash("npm test"));
    left_to_layer_2("bash", bash("npm publish"));
    left_to_layer_2("bash", bash("rm -rf /srv/app/build"));
}

#[test]
fn a_protected_path_is_settled_neither_by_layer_1_nor_by_an_allow_pattern() {
    let config = json!({ "paths": { "protected": ["$defaults", "infra"] }, "permissions": { "allow": ["write(infra/*)", "write(.git/*)"] } });
    for path in ["infra/main.txt", ".git/config", "notgit/config"] {
        let said = said("write", write(path), config.clone());
        assert_eq!(said.verdict, "confirm", "{path}: {}", said.reasons);
    }
}
