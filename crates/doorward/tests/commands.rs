//! The smaller commands: help, rules, defaults, expectations, demonstration.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod support;

use support::Home;

#[test]
fn every_command_explains_itself() {
    let home = Home::new();
    for command in ["check", "demo", "rules", "defaults", "test", "audit", "setup", "hook", "completions", "man"] {
        assert!(home.run(&["--help"], b"").stdout.contains(command), "{command}");
    }
    assert!(home.run(&["--version"], b"").stdout.starts_with("doorward "));
    assert!(home.run(&["man"], b"").stdout.contains(".TH doorward"));
    assert!(home.run(&["completions", "zsh"], b"").stdout.contains("#compdef doorward"));
}

#[test]
fn the_defaults_are_a_valid_configuration() {
    let home = Home::new();
    let defaults = home.run(&["defaults"], b"").stdout;
    home.write(".config/doorward/config.toml", &defaults);
    let ran = home.run(&["setup", "claude", "--yes"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_rule_that_does_not_exist_is_an_error() {
    let home = Home::new();
    assert_eq!(home.run(&["rules"], b"").code, 0);
    assert!(home.run(&["rules", "--json"], b"").json().is_array());
    assert_eq!(home.run(&["rules", "no-such-rule"], b"").code, 1);
}

#[test]
fn expectations_are_compared_row_by_row() {
    let home = Home::new();
    home.write("good.md", "| call | verdict |\n|---|---|\n| `ls` | approve |\n| `rm -rf ~` | at least confirm |\n| read `~/.ssh/id_rsa` | at least confirm |\n");
    home.write("bad.md", "text\n\n| call | verdict |\n|---|---|\n| `rm -rf ~` | approve |\n");
    home.write("none.md", "nothing here\n");
    let test = |name: &str| home.run(&["test", home.path(name).to_str().unwrap()], b"");
    let good = test("good.md");
    assert_eq!(good.code, 0, "{}", good.stdout);
    let bad = test("bad.md");
    assert_eq!(bad.code, 1);
    assert!(bad.stdout.contains("bad.md:5: `rm -rf ~` is "), "{}", bad.stdout);
    assert_eq!(test("none.md").code, 2);
}

#[test]
fn the_demonstration_judges_and_records_every_call() {
    let home = Home::new();
    let started = std::time::Instant::now();
    let scratch = home.path("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let ran = support::feed(home.command(&["demo"]).env("TMPDIR", &scratch), b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(started.elapsed().as_secs() < 5);
    assert!(ran.stdout.contains("40 calls: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("the record holds: 53 records\nanchored: "), "{}", ran.stdout);
    let (_, report) = ran.stdout.split_once("to be opened in a browser: ").unwrap();
    let page = std::fs::read_to_string(report.lines().next().unwrap()).unwrap();
    assert!(
        page.contains("<h2>8. Migration Path</h2>") && page.contains("class=\"opening\""),
        "the report can be opened"
    );
    let left: Vec<_> = std::fs::read_dir(&scratch).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing but the report is left: {left:?}");
    assert!(home.read(".local").is_none() && !home.path(".local").exists(), "the real home is not touched");
}
