//! The smaller commands: help, rules, defaults, expectations, demonstration.

use crate::support::Home;

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

/// The demonstration, in a surrounding that would show if it were looked at.
fn demonstrated(home: &Home, arguments: &[&str], path: &str) -> String {
    let scratch = home.path("scratch");
    let _ = std::fs::create_dir(&scratch);
    home.write(".gitconfig", "[core]\n\tfsmonitor = ./watch\n[credential]\n\thelper = !mine\n");
    let mut command = home.command(arguments);
    command
        .env("TMPDIR", &scratch)
        .env("PATH", path)
        .env("GIT_DIR", "/nowhere")
        .env("COLUMNS", "40")
        .env("NO_COLOR", "1");
    let ran = crate::support::feed(&mut command, b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(home.read(".local").is_none() && !home.path(".local").exists(), "the real home is not touched");
    ran.stdout
}

#[test]
fn the_demonstration_tells_its_stories_and_shows_nothing_of_the_machine() {
    let home = Home::new();
    let shown = demonstrated(&home, &["demo"], "/usr/bin:/bin");
    assert!(shown.lines().count() <= 40, "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    for part in [
        "block    T=~; $(echo rm) -rf \"$T\"",
        "deletes the root or the home directory (~)",
        "writes something that looks like a secret",
        "approve  git reset --hard && git clean -fdx",
        "3 paths restored, byte for byte",
        "the record is intact: ",
    ] {
        assert!(shown.contains(part), "`{part}`:\n{shown}");
    }
    assert!(
        !shown.contains("in a row") && !shown.contains("/tmp") && !shown.contains("tell what this does"),
        "{shown}"
    );
    let left: Vec<_> = std::fs::read_dir(home.path("scratch")).unwrap().collect();
    assert!(left.is_empty(), "nothing is left: {left:?}");
    let steady = |shown: String| shown.lines().filter(|line| !line.contains(" ms: ")).collect::<Vec<_>>().join("\n");
    assert_eq!(steady(shown), steady(demonstrated(&Home::new(), &["demo"], "")), "whatever the machine has");
}

#[test]
fn the_report_of_the_demonstration_is_kept_if_somebody_asks() {
    let home = Home::new();
    let shown = demonstrated(&home, &["demo", "--keep"], "/usr/bin:/bin");
    let (_, report) = shown.split_once("Report of this session: ").unwrap();
    let page = std::fs::read_to_string(report.lines().next().unwrap()).unwrap();
    assert!(
        page.contains("<h2>8. Migration Path</h2>") && page.contains("class=\"opening\""),
        "the report can be opened"
    );
    let left: Vec<_> = std::fs::read_dir(home.path("scratch")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing but the report is left: {left:?}");
}

#[test]
fn help_is_in_groups_and_every_page_of_the_manual_that_is_listed_is_there() {
    let home = Home::new();
    let help = home.run(&["--help"], b"").stdout;
    for title in ["Every day:", "Answering:", "Record:", "Tuning:", "Administration:", "Options:"] {
        assert!(help.contains(title), "{help}");
    }
    assert!(help.lines().skip(1).all(|line| line.chars().count() <= 100), "{help}");
    let to = home.path("pages");
    assert_eq!(home.run(&["man", "--install", to.to_str().unwrap()], b"").code, 0);
    let main = home.run(&["man"], b"").stdout;
    let listed: Vec<&str> = main.split_whitespace().filter_map(|word| word.strip_suffix("(1)")).collect();
    assert!(listed.len() > 20, "{listed:?}");
    for page in listed {
        let name = page.replace("\\-", "-");
        assert!(to.join("man1").join(format!("{name}.1")).exists(), "{name}");
        let words: Vec<&str> = ["man"].into_iter().chain(name.split('-').skip(1)).collect();
        // A command may have a hyphen in its name, like `mcp-server`.
        let whole = ["man", name.strip_prefix("doorward-").unwrap_or(&name)];
        let is_there = |words: &[&str]| home.run(words, b"").stdout.contains(".TH");
        assert!(name == "doorward-help" || is_there(&words) || is_there(&whole), "{words:?}");
    }
    assert_eq!(home.run(&["man", "nonsense"], b"").code, 1);
}
