//! What belongs to the hub stays in the hub.

use std::process::Command;

#[test]
fn nothing_of_the_hub_is_linked_into_doorward() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = |package: &str| {
        let output = Command::new(&cargo)
            .args(["tree", "--locked", "--offline", "--package", package, "--edges", "normal", "--prefix", "none"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)).collect::<Vec<_>>()
    };
    let (hub, edge) = (tree("doorward-hub"), tree("doorward"));
    // The list is made of what the hub has, so a renamed package can't empty the test.
    for own in ["doorward-hub", "axum", "tokio-postgres", "postgres-types"] {
        assert!(hub.iter().any(|name| name == own), "the hub has no `{own}`");
        assert!(!edge.iter().any(|name| name == own), "`{own}` is linked into doorward");
    }
    assert!(edge.iter().any(|name| name == "doorward-engine") && !hub.iter().any(|name| name == "doorward-engine"));
}
