//! Pages about what a person types: commands, and keys of the configuration.

use serde_json::{Value, json};

use super::table;
use crate::support::Home;

/// The names under `Commands:` of a help text.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| line.starts_with("  "));
    listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The names in all groups of the main help text; what a name does may go on below it, further in.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().take_while(|line| *line != "Options:");
    let named = lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    named.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

pub(super) fn command_line() -> String {
    let home = Home::new();
    let help = home.run(&["--help"], b"").stdout;
    let names = commands(&help);
    assert!(names.len() > 30, "{help}");
    let mut text = format!("# Commands\n\n```text\n{}\n```\n", help.trim_end());
    for name in names {
        let help = home.run(&[name.as_str(), "--help"], b"").stdout;
        text.push_str(&section("##", &name, &help));
        for part in subcommands(&help) {
            let help = home.run(&[name.as_str(), part.as_str(), "--help"], b"").stdout;
            text.push_str(&section("###", &format!("{name} {part}"), &help));
        }
    }
    text
}

fn section(depth: &str, name: &str, help: &str) -> String {
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!("\n{depth} doorward {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end())
}

/// What every key of the configuration means. The program is asked whether these are all keys there are.
const KEYS: &[(&str, &str, &str)] = &[
    ("", "strict", "block unlisted hosts and unknown tool servers, and ask about every external read"),
    ("", "wait_seconds", "seconds a call waits for your answer if its agent can't ask; default 45, 0 refuses at once"),
    ("", "agents", "one table per agent"),
    ("", "permissions", "patterns that deny, ask or allow"),
    ("", "hosts", "which hosts may be contacted"),
    ("", "paths", "on top of the built-in lists"),
    ("", "projects", "agents may run the tests, builds and scripts of these"),
    ("", "programs", "toolchains outside the system directories"),
    ("", "thresholds", "thresholds of layer 2 and limits"),
    (
        "",
        "rules",
        "stages of built-in rules, `push = \"shadow\"`; `doorward rules retire` writes it, and a repository can only tighten",
    ),
    ("", "notify", "how you are notified of waiting calls and alerts; a repository can't set it"),
    ("", "snapshots", "snapshots of what a call deletes or overwrites, taken before it runs"),
    ("", "run", "how calls get to the box of a contained run"),
    ("", "reviewer", "a language model that may clear soft questions; off by default, and a repository can't set it"),
    ("", "profile", "what the agents are for, as `doorward report --new` asks; a repository can't set it"),
    ("agents.claude", "mode", "`confirm-all` (default), `shadow`, `auto` or `off`"),
    (
        "agents.claude",
        "staged",
        "`doorward rollout` decides how far the agent is trusted, instead of the mode; it sets this itself",
    ),
    (
        "agents.claude",
        "questions",
        "who answers questions if the agent's own mode has no prompt: `client` (its prompt), `queue`, or `classifier` for soft ones",
    ),
    ("permissions", "deny", "block calls that match"),
    ("permissions", "ask", "ask about calls that match"),
    ("permissions", "allow", "clear soft questions about calls in which every command matches"),
    (
        "hosts",
        "allowed",
        "hosts that may be fetched from and sent to; without `$defaults` this replaces the built-in list",
    ),
    ("hosts", "denied", "never"),
    ("paths", "protected", "paths where no write is approved by layer 1 or an allow pattern"),
    ("paths", "denied", "paths that may be neither read nor written"),
    ("projects", "trusted", "project roots, absolute"),
    ("programs", "directories", "directories whose programs are trusted as they are when the file is written"),
    ("thresholds", "confidence", "layer 2 asks below this confidence; at least 0.85"),
    ("thresholds", "irreversible", "the same for what can't be undone; at least 0.95"),
    ("thresholds", "reads_per_minute", "reads per minute before doorward asks; at most 300"),
    ("thresholds", "read_burst", "reads within a few seconds before doorward asks; at most 60"),
    ("thresholds", "denials_in_a_row", "after this many denials in a row doorward asks about every call; at most 3"),
    ("thresholds", "denials", "after this many denials in a session doorward asks about every call; at most 20"),
    ("thresholds", "bulk_files", "a call that would permanently delete more files is blocked; at most 20"),
    ("thresholds", "bulk_bytes", "the same for their bytes; at most 20971520 (20 MiB)"),
    ("thresholds", "read_bytes", "bytes one read may return before doorward asks; at most 10485760 (10 MiB)"),
    ("thresholds", "by_operation", "the confidence needed for one kind of operation; at least 0.85"),
    ("thresholds.by_operation", "read", "for reads"),
    ("thresholds.by_operation", "write", "for writes"),
    ("thresholds.by_operation", "execute", "for what runs"),
    ("thresholds.by_operation", "network", "for what contacts another machine"),
    ("thresholds.by_operation", "delete", "for deletions"),
    ("thresholds.by_operation", "mutate", "for changes to anything but files"),
    (
        "notify",
        "desktop",
        "`true` notifies with `notify-send` or `osascript`, `false` never does; by default, if there is a desktop and the agent can't ask itself",
    ),
    ("notify", "command", "a program by absolute path, with arguments; it reads JSON on standard input"),
    ("notify", "webhook", "a URL to post the same JSON to, with `curl`"),
    ("snapshots", "enabled", "`false` takes no snapshots, so doorward asks about every such call"),
    ("snapshots", "files", "doorward asks about calls that change more files; default 2,000"),
    ("snapshots", "megabytes", "doorward asks about calls that change more megabytes; default 200"),
    ("snapshots", "keep_days", "snapshots older than this many days may be removed; default 30"),
    ("snapshots", "store_megabytes", "maximum megabytes of all snapshots; when full, doorward asks; default 2,000"),
    (
        "run",
        "mode",
        "`off` (default), `rehearse`, `steer` or `rewrite`; `doorward setup` chooses it after testing the box",
    ),
    ("reviewer", "model", "`provider/model`; `doorward model use` sets it"),
    ("reviewer", "models", "more models that Pi's local file, or a session where `model` is not set, may choose from"),
    ("reviewer", "reasoned", "the slower stage after the fast one: `headless` (default), `always` or `never`"),
    ("reviewer", "fast_ms", "milliseconds for the fast stage; at most 1500, 0 skips it"),
    ("reviewer", "reasoned_ms", "milliseconds for the slower stage; at most 10000"),
    ("reviewer", "instructions", "`false` keeps the project's instruction files from the reviewer"),
    ("reviewer", "environment", "what is trusted, in sentences; `$defaults` stands for the built-in ones"),
    ("reviewer", "allow", "exceptions to soft-deny rules, in sentences"),
    ("reviewer", "soft_deny", "what blocks unless the user named it, in sentences"),
    ("reviewer", "hard_deny", "what always blocks, in sentences"),
    (
        "reviewer",
        "providers",
        "one table per provider; `anthropic`, `openai`, `openrouter`, `ollama` and `llama-cpp` are built in",
    ),
    ("reviewer.providers.mine", "kind", "its protocol: `anthropic`, `openai`, `ollama` or `llama-cpp`"),
    ("reviewer.providers.mine", "url", "its base URL; `http` only on this machine"),
    ("reviewer.providers.mine", "key_env", "the environment variable with the key"),
    ("reviewer.providers.mine", "key_file", "the file with the key; only you may write to it"),
    ("reviewer.providers.mine", "key_command", "a program by absolute path, with arguments, that prints the key"),
    ("reviewer.providers.mine", "ca_file", "certificates (PEM) to trust instead of the built-in ones"),
    ("reviewer.providers.mine", "temperature", "`false` omits the temperature, for models that reject it"),
    ("reviewer.providers.mine", "price_input", "dollars per million input tokens"),
    ("reviewer.providers.mine", "price_output", "dollars per million output tokens"),
    ("profile", "agents", "`coding`, `research`, `browsing`, `ops`"),
    ("profile", "trust", "whose work it is: `personal`, `team` or `enterprise`"),
    ("profile", "compliance", "`gdpr`, `hipaa`, `pci-dss`, `sox`, `soc2`, `iso27001`, `internal`"),
    ("profile", "retain_days", "minimum number of days `doorward audit retain` keeps bodies; at least 90"),
];

/// The keys of one table, as the program names them when it meets one that it does not know.
fn known_keys(home: &Home, section: &str) -> Vec<String> {
    let mut config = json!({ "no-such-key": 1 });
    for name in section.split('.').rev().filter(|name| !name.is_empty()) {
        config = json!({ name: config });
    }
    let line = json!({ "id": 1, "tool": "bash", "input": { "command": "ls" }, "config": config });
    let answer: Value = home.run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json();
    let complaint = answer["reasons"][0].as_str().unwrap().to_owned();
    let (_, expected) = complaint.split_once("expected").unwrap_or_else(|| panic!("{complaint}"));
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

pub(super) fn configuration() -> String {
    let home = Home::new();
    let mut sections: Vec<&str> = KEYS.iter().map(|key| key.0).collect();
    sections.dedup();
    for section in sections {
        let documented: Vec<&str> = KEYS.iter().filter(|key| key.0 == section).map(|key| key.1).collect();
        assert_eq!(known_keys(&home, section), documented, "keys of `[{section}]`");
    }
    let rows: Vec<Vec<String>> = KEYS
        .iter()
        .map(|(section, key, what)| {
            let section = if section.is_empty() { String::new() } else { format!("`[{section}]`") };
            vec![section, format!("`{key}`"), (*what).to_owned()]
        })
        .collect();
    let defaults = home.run(&["defaults"], b"").stdout;
    format!(
        "# Configuration\n\n`~/.config/doorward/config.toml` is the user's own; `/etc/doorward/config.toml` is the administrator's and takes precedence; \
        `.doorward.toml` at the root of a repository may only tighten. An unknown key, or a file that others may write, is an error, and \
        with an error doorward asks about every call. `doorward config` prints every effective value with its source; `doorward config --schema` \
        prints `config.schema.json`. `~/.config/doorward/thresholds.toml` has only the keys of `[thresholds]`; if both set a value, the \
        stricter one applies. What you trust by name is stored separately and changed with `doorward trust` and `doorward untrust`.\n\n\
        For the agent `pi`, doorward also reads Pi's own files: `~/.pi/agent/automode.json` like the user's, `.pi/automode.local.json`, \
         `.pi/automode.json` and `PI_AUTOMODE_SETTINGS_JSON` may only tighten.\n\n{}\n## Defaults\n\n```toml\n{}\n```\n",
        table(&["table", "key", "meaning"], &rows),
        defaults.trim_end()
    )
}

/// When alerts go off, as the program says it.
pub(super) fn alerts() -> String {
    let home = Home::new();
    let defaults = home.run(&["defaults"], b"").stdout;
    let lines = || defaults.lines().filter_map(|line| line.strip_prefix("# alert"));
    let rows: Vec<Vec<String>> = lines()
        .filter_map(|line| line.strip_prefix(' ')?.split_once(": "))
        .map(|(kind, when)| vec![format!("`{kind}`"), when.to_owned()])
        .collect();
    let looked = lines().find_map(|line| line.strip_prefix("s ")).unwrap();
    let json = json!({
        "event": "alert", "id": "1a2b3c4d", "kind": "spike", "about": "the session", "text": "what happened", "time": "when",
        "answer": "the command",
    });
    format!(
        "# Alerts\n\n{}\nAlerts {looked}. The record is verified and compared with transcripts when a session ends, and in between \
        if that is quick. Each notifier delivers an alert once while it is open; a notifier that fails is retried \
        at the next check.\n\nA command or webhook gets one JSON object with what `doorward alerts` shows:\n\n```json\n{json:#}\n```\n\n\
         A waiting call has `\"event\": \"call\"`. `doorward alerts` lists open alerts, `ack` and `resolve` answer them.\n",
        table(&["alert", "fires when"], &rows)
    )
}
