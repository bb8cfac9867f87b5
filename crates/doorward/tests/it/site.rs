//! The documentation site: it builds, no link is broken, the search knows every page; on demand, the engine in Chromium.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{program, skip};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/site")
}

fn python() -> Command {
    let mut python = Command::new(std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned()));
    python.arg("-B").current_dir(folder());
    python
}

fn can_render() -> bool {
    python().args(["-c", "import markdown_it"]).output().is_ok_and(|output| output.status.success())
}

fn expect(output: &Output) {
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_site_builds_and_no_link_is_broken() {
    if !can_render() {
        return skip("docs/site: the Python package `markdown-it-py` is not installed");
    }
    expect(&python().args(["-m", "unittest", "test_site"]).output().unwrap());
}

#[test]
#[ignore = "compiles the engine to WebAssembly and needs Chromium: minutes"]
fn the_page_in_chromium_judges_as_the_program_does() {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--release", "--locked", "--target", "wasm32-unknown-unknown"])
        .current_dir(folder().join("try"));
    expect(&cargo.env("CC_wasm32_unknown_unknown", "clang").output().unwrap());
    let engine = folder().join("try/target/wasm32-unknown-unknown/release/doorward_try.wasm").canonicalize().unwrap();
    let mut test = python();
    test.args(["-m", "unittest", "test_site"]).env("ENGINE", engine).env("DOORWARD_BINARY", program());
    expect(&test.output().unwrap());
}
