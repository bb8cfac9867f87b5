//! The SDKs for Python and JavaScript against this program; the frameworks they adapt to are fetched only on demand.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{program, skip};

/// What a script says where a framework cannot be installed.
const CANNOT: i32 = 77;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk").join(name).canonicalize().unwrap()
}

fn run(command: &mut Command) -> Option<Output> {
    command.env("DOORWARD_BINARY", program()).env("PYTHONDONTWRITEBYTECODE", "1").env_remove("SDK_MODULES");
    command.output().ok()
}

fn expect(output: Option<Output>, what: &str) {
    let Some(output) = output else { return skip(&format!("{what}: the language is not installed")) };
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(CANNOT) {
        return skip(&format!("{what}: {said}"));
    }
    assert!(output.status.success(), "{what}: {said}");
}

#[test]
fn the_python_client_never_lets_a_call_run_unjudged() {
    let tests = folder("python/tests");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    expect(
        run(Command::new(python).args(["-W", "ignore", "-m", "unittest", "test_client"]).current_dir(tests)),
        "sdk/python",
    );
}

#[test]
fn the_javascript_client_never_lets_a_call_run_unjudged() {
    let tests = folder("typescript/test");
    expect(run(Command::new("node").args(["--test", "sdk.test.js"]).current_dir(tests)), "sdk/typescript");
}

#[test]
#[ignore = "fetches agent frameworks with pip, and takes minutes"]
fn python_frameworks_do_as_they_should() {
    expect(run(Command::new("./adapters.sh").current_dir(folder("python/tests"))), "sdk/python adapters");
}

#[test]
#[ignore = "fetches agent frameworks with npm, and takes minutes"]
fn javascript_frameworks_do_as_they_should() {
    expect(run(Command::new("./adapters.sh").current_dir(folder("typescript/test"))), "sdk/typescript adapters");
}

#[test]
fn the_versions_of_the_packages_are_the_programs() {
    let text = |name: &str| std::fs::read_to_string(folder(name)).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(text("python/pyproject.toml").contains(&format!("\nversion = \"{version}\"\n")));
    assert!(text("python/src/doorward/__init__.py").contains(&format!("__version__ = \"{version}\"")));
    let package: serde_json::Value = serde_json::from_str(&text("typescript/package.json")).unwrap();
    let platforms = package["optionalDependencies"].as_object().unwrap().values();
    assert!(std::iter::once(&package["version"]).chain(platforms).all(|found| found == version), "{package}");
}
