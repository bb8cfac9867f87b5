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

pub fn command_line() -> String {
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
    ("", "strict", "unlisted hosts and unknown tool servers block, every external read asks"),
    (
        "",
        "wait_seconds",
        "seconds that a call waits for a person where its agent cannot ask; 45 unless set, 0 refuses at once",
    ),
    ("", "agents", "one table per agent"),
    ("", "permissions", "patterns that deny, ask or allow"),
    ("", "hosts", "which hosts may be contacted"),
    ("", "paths", "on top of the built-in lists"),
    ("", "projects", "agents may run the tests, builds and scripts of these"),
    ("", "programs", "toolchains outside the system directories"),
    ("", "thresholds", "numbers that layer 2 and the limits go by"),
    (
        "",
        "rules",
        "stages of built-in rules, `push = \"shadow\"`; `doorward rules retire` writes it, and a repository can only tighten",
    ),
    ("", "notify", "how a person is told that a call waits or an alert went off; a repository cannot set it"),
    ("", "snapshots", "copies of what a call deletes or overwrites, made before it runs"),
    ("", "reviewer", "a language model that may clear soft questions; off unless set, and a repository cannot set it"),
    ("", "profile", "what the agents are for, as `doorward report --new` asks; a repository cannot set it"),
    ("agents.claude", "mode", "`confirm-all` (default), `shadow`, `auto` or `off`"),
    (
        "agents.claude",
        "staged",
        "`doorward rollout` says how far the agent is trusted, instead of the mode; it sets this itself",
    ),
    (
        "agents.claude",
        "questions",
        "who answers where the agent's own mode would let nobody ask: `client` (its prompt), `queue`, or `classifier` for soft ones",
    ),
    ("permissions", "deny", "a call that matches is blocked"),
    ("permissions", "ask", "a call that matches is confirmed"),
    ("permissions", "allow", "clears a soft confirm if every command of the call matches"),
    ("hosts", "allowed", "may be fetched from and sent to; without `$defaults` in it the built-in list does not count"),
    ("hosts", "denied", "never"),
    ("paths", "protected", "a write there is never settled by layer 1 or an allow pattern"),
    ("paths", "denied", "neither read nor written"),
    ("projects", "trusted", "roots of projects, absolute"),
    ("programs", "directories", "directories whose programs are trusted as they are when the file is written"),
    ("thresholds", "confidence", "layer 2 asks below this confidence; at least 0.85"),
    ("thresholds", "irreversible", "the same for what cannot be undone; at least 0.95"),
    ("thresholds", "reads_per_minute", "more reads in a minute ask; at most 300"),
    ("thresholds", "read_burst", "more reads in a few seconds ask; at most 60"),
    ("thresholds", "denials_in_a_row", "after this many refusals in a row a person decides; at most 3"),
    ("thresholds", "denials", "after this many refusals in a session a person decides; at most 20"),
    ("thresholds", "bulk_files", "a call that deletes more files that nothing restores is blocked; at most 20"),
    ("thresholds", "bulk_bytes", "the same for the bytes in them; at most 20971520 (20 MiB)"),
    ("thresholds", "read_bytes", "a read that hands over more bytes at once asks; at most 10485760 (10 MiB)"),
    ("thresholds", "by_operation", "the confidence that one kind of operation wants; at least 0.85"),
    ("thresholds.by_operation", "read", "for reads"),
    ("thresholds.by_operation", "write", "for writes"),
    ("thresholds.by_operation", "execute", "for what runs"),
    ("thresholds.by_operation", "network", "for what contacts another machine"),
    ("thresholds.by_operation", "delete", "for deletions"),
    ("thresholds.by_operation", "mutate", "for changes of what is no file"),
    (
        "notify",
        "desktop",
        "`true` shows a notification with `notify-send` or `osascript`, `false` never does; unless set, where there is a desktop and the agent cannot ask by itself",
    ),
    ("notify", "command", "a program by its absolute path, and its arguments; it reads JSON on standard input"),
    ("notify", "webhook", "an address that the same JSON is posted to, with `curl`"),
    ("snapshots", "enabled", "`false` takes no snapshots, so doorward asks about every such call"),
    ("snapshots", "files", "a call that changes more files asks; 2,000 unless set"),
    ("snapshots", "megabytes", "a call that changes more megabytes asks; 200 unless set"),
    ("snapshots", "keep_days", "copies older than this many days may be removed; 30 unless set"),
    ("snapshots", "store_megabytes", "all copies together; when it is full, calls ask; 2,000 unless set"),
    ("reviewer", "model", "`provider/model`; `doorward model use` sets it"),
    ("reviewer", "models", "further models that Pi's local file, or a session where `model` is not set, may choose"),
    ("reviewer", "reasoned", "the slower stage after the fast one: `headless` (default), `always` or `never`"),
    ("reviewer", "fast_ms", "milliseconds of the fast stage; at most 1500, 0 leaves it out"),
    ("reviewer", "reasoned_ms", "milliseconds of the slower stage; at most 10000"),
    ("reviewer", "instructions", "`false` keeps the project's instruction files from the reviewer"),
    ("reviewer", "environment", "what is trusted, in sentences; `$defaults` stands for the built-in ones"),
    ("reviewer", "allow", "exceptions from soft-deny rules, in sentences"),
    ("reviewer", "soft_deny", "what blocks unless the user named it, in sentences"),
    ("reviewer", "hard_deny", "what always blocks, in sentences"),
    (
        "reviewer",
        "providers",
        "one table per provider; `anthropic`, `openai`, `openrouter`, `ollama` and `llama-cpp` are known",
    ),
    ("reviewer.providers.mine", "kind", "what it speaks: `anthropic`, `openai`, `ollama` or `llama-cpp`"),
    ("reviewer.providers.mine", "url", "its address without the path of a request; `http` only on this machine"),
    ("reviewer.providers.mine", "key_env", "the environment variable with the key"),
    ("reviewer.providers.mine", "key_file", "the file with the key; nobody else may write it"),
    ("reviewer.providers.mine", "key_command", "a program by its absolute path, and its arguments; it prints the key"),
    ("reviewer.providers.mine", "ca_file", "certificates (PEM) that are trusted instead of the built-in ones"),
    ("reviewer.providers.mine", "temperature", "`false` leaves the temperature out, for models that refuse it"),
    ("reviewer.providers.mine", "price_input", "dollars for a million tokens read"),
    ("reviewer.providers.mine", "price_output", "dollars for a million tokens written"),
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

pub fn configuration() -> String {
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
        "# Configuration\n\n`~/.config/doorward/config.toml` is the user's own; `/etc/doorward/config.toml` comes from an administrator and counts first; \
         `.doorward.toml` at the top of a repository may only tighten. A key that is not known, or a file that others may write, is an error, and \
         an error means that every call is confirmed. `doorward config` prints every value in force with its source; `doorward config --schema` \
         prints `config.schema.json`. `~/.config/doorward/thresholds.toml` holds the keys of `[thresholds]` alone; where both say something, the \
         stricter counts. What was trusted by name is kept apart and changed with `doorward trust` and `doorward untrust`.\n\n\
         For the agent `pi` its own files are read as well: `~/.pi/agent/automode.json` like the user's, `.pi/automode.local.json`, \
         `.pi/automode.json` and `PI_AUTOMODE_SETTINGS_JSON` may only tighten.\n\n{}\n## While nothing is configured\n\n```toml\n{}\n```\n",
        table(&["table", "key", "meaning"], &rows),
        defaults.trim_end()
    )
}

/// When alerts go off, as the program says it.
pub fn alerts() -> String {
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
        "# Alerts\n\n{}\nAlerts {looked}. The record is verified and transcripts are held against it when a session ends, and in between \
         where that is quick. Each alert is told once by each way that is set, until it stands no longer; a way that fails is tried again \
         at the next look.\n\nA command or webhook is given one JSON object with what `doorward alerts` shows:\n\n```json\n{json:#}\n```\n\n\
         A call that waits has `\"event\": \"call\"`. `doorward alerts` lists what stands, `ack` and `resolve` answer it.\n",
        table(&["alert", "fires when"], &rows)
    )
}
