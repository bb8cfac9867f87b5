//! The release script and `install.sh`, with a stand-in for the program: nothing unverified is run, and what is installed goes again.

use std::path::Path;
use std::process::Command;

use crate::support::skip;

#[test]
fn the_installer_verifies_before_it_runs_and_the_artefacts_are_the_same_each_time() {
    let release = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../release");
    let is_there = |program: &str| {
        Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output()
            .is_ok_and(|found| found.status.success())
    };
    if let Some(missing) = ["openssl", "ssh-keygen", "setpriv"].into_iter().find(|program| !is_there(program)) {
        return skip(&format!("release/test_release.py: `{missing}` is not installed"));
    }
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(python).args(["-B", "-m", "unittest", "test_release"]).current_dir(release).output();
    let Ok(output) = output else { return skip("release/test_release.py: python3 is not installed") };
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
