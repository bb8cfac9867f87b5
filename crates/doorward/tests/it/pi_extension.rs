//! The Pi extension: its own tests run by node, and `setup pi` puts it in and takes it out.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Home, program};

fn extension() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../extensions/pi")
}

#[test]
fn the_tests_of_the_plugin_for_opencode_pass() {
    let Some(node) = node() else { return };
    let test = extension().join("../opencode/test/plugin.test.js");
    let output = Command::new(node).arg("--test").arg(test).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("# pass 10"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

/// Node in the version that the extension wants; says loudly what is left out without it.
fn node() -> Option<&'static str> {
    let version = Command::new("node").arg("--version").output().ok();
    let text = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let major: Option<u32> =
        text.trim_start_matches('v').split('.').next().and_then(|number| number.trim().parse().ok());
    let found = major.is_some_and(|major| major >= 20).then_some("node");
    if found.is_none() {
        crate::support::skip(&format!(
            "Node 20 or later is not here (`{}`), so the Pi extension is NOT TESTED",
            text.trim()
        ));
    }
    found
}

#[test]
fn the_tests_of_the_extension_pass() {
    let Some(node) = node() else { return };
    let mut tests: Vec<PathBuf> = std::fs::read_dir(extension().join("test"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(".test.js"))
        .collect();
    tests.sort();
    assert!(tests.len() >= 3, "{tests:?}");
    let output = Command::new(node).arg("--test").args(&tests).env("DOORWARD", program()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines().filter(|line| line.contains("SKIPPED")) {
        crate::support::skip(line.trim_start_matches(['#', ' ']).trim_start_matches("SKIPPED: "));
    }
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

const INSTALLED: &str = ".pi/agent/extensions/doorward/index.js";

#[test]
fn setup_puts_the_extension_in_tries_it_and_takes_it_out() {
    let home = Home::new();
    home.write(".pi/agent/settings.json", "{ \"theme\": \"dark\" }");
    home.write(".pi/agent/extensions/other.ts", "export default () => {};");
    let ran = home.run(&["setup", "--yes", "--mode", "auto", "pi"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    if node().is_some() {
        assert!(ran.stdout.contains("✓ Pi: auto, trial rm -rf / denied"), "{}", ran.stdout);
    }
    let named = home.read(".pi/agent/extensions/doorward/program.json").unwrap();
    assert!(named.contains(program().to_str().unwrap()), "{named}");
    assert_eq!(home.read(INSTALLED).unwrap(), std::fs::read_to_string(extension().join("index.js")).unwrap());
    let again = home.run(&["setup", "--yes", "pi"], b"");
    assert!(again.code == 0 && !again.stdout.contains("\n+ "), "{}", again.stdout);
    assert_eq!(home.run(&["setup", "--uninstall", "--yes", "pi"], b"").code, 0);
    assert!(!home.path(".pi/agent/extensions/doorward").exists());
    assert_eq!(home.read(".pi/agent/settings.json").unwrap(), "{ \"theme\": \"dark\" }");
    assert_eq!(home.read(".pi/agent/extensions/other.ts").unwrap(), "export default () => {};");
}

#[test]
fn a_dry_run_and_a_file_of_somebody_else_change_nothing() {
    let home = Home::new();
    let ran = home.run(&["setup", "pi", "--dry-run"], b"");
    assert!(ran.code == 0 && ran.stdout.contains("tool_call"), "{}", ran.stderr);
    assert!(!home.path(".pi").exists());
    home.write(INSTALLED, "export default () => {};");
    let ran = home.run(&["setup", "pi", "--yes"], b"");
    assert!(ran.code == 1 && ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    assert!(home.read(".pi/agent/extensions/doorward/program.json").is_none());
    assert_eq!(home.read(INSTALLED).unwrap(), "export default () => {};");
}

#[test]
fn an_agent_of_ones_own_is_told_what_to_do() {
    let home = Home::new();
    let ran = home.run(&["setup", "generic", "--yes", "--mode", "auto"], b"");
    assert!(ran.code == 0 && ran.stdout.contains("doorward hook generic"), "{} {}", ran.stdout, ran.stderr);
}
