//! `doorward setup claude`: the change is shown, made, made only once, and taken back byte for byte.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod support;

use support::Home;

const SETTINGS: &str = ".claude/settings.json";

#[test]
fn uninstalling_brings_back_every_byte() {
    for before in [
        None,
        Some("{}"),
        Some("{\"model\":\"opus\"}"),
        Some("{\n    \"permissions\": {\"allow\": [\"Bash(ls)\"]},\n\n    \"hooks\": {}\n}\n"),
        Some(
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"theirs\" } ] }\n    ]\n  }\n}",
        ),
    ] {
        let home = Home::new();
        if let Some(text) = before {
            home.write(SETTINGS, text);
        }
        let ran = home.run(&["setup", "claude", "--yes"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let with = home.read(SETTINGS).unwrap();
        assert!(
            with.contains("hook claude")
                && before.is_none_or(|text| !text.contains("theirs") || with.contains("theirs"))
        );
        assert_eq!(home.run(&["setup", "claude", "--yes"], b"").code, 0);
        assert_eq!(home.read(SETTINGS).unwrap(), with, "setting up twice changes nothing");
        assert_eq!(home.run(&["setup", "claude", "--uninstall", "--yes"], b"").code, 0);
        assert_eq!(home.read(SETTINGS).as_deref(), before);
        assert!(home.read(".claude/settings.json.before-doorward").is_none());
    }
}

#[test]
fn changes_made_in_between_survive() {
    let home = Home::new();
    home.write(SETTINGS, "{\n  \"model\": \"a\"\n}\n");
    home.run(&["setup", "claude", "--yes"], b"");
    let edited = home.read(SETTINGS).unwrap().replace("\"a\"", "\"b\"");
    home.write(SETTINGS, &edited);
    home.run(&["setup", "claude", "--uninstall", "--yes"], b"");
    assert_eq!(home.read(SETTINGS).unwrap(), "{\n  \"model\": \"b\"\n}\n");
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let home = Home::new();
    let ran = home.run(&["setup", "claude", "--dry-run"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("+ ") && ran.stdout.contains("hook claude || {"));
    assert!(home.read(SETTINGS).is_none() && home.read(".config/doorward/config.toml").is_none());
}

#[test]
fn broken_settings_are_left_alone() {
    let home = Home::new();
    home.write(SETTINGS, "{\"hooks\": ");
    let ran = home.run(&["setup", "claude", "--yes"], b"");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    assert_eq!(home.read(SETTINGS).unwrap(), "{\"hooks\": ");
    assert!(home.read(".config/doorward/config.toml").is_none());
}

#[test]
fn nobody_is_trusted_without_being_asked() {
    let home = Home::new();
    let ran = home.run(&["setup", "claude"], b"a\n");
    assert_eq!(ran.code, 1);
    assert!(home.read(SETTINGS).is_none());
    home.run(&["setup", "claude", "--yes"], b"");
    assert!(home.read(".config/doorward/config.toml").unwrap().contains("mode = \"confirm-all\""));
    home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"");
    assert!(home.read(".config/doorward/config.toml").unwrap().contains("mode = \"auto\""));
    home.run(&["setup", "claude", "--yes"], b"");
    assert!(
        home.read(".config/doorward/config.toml").unwrap().contains("mode = \"auto\""),
        "a choice that was made stays"
    );
}
