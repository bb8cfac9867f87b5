//! Policy travels from the people who sign it, through the hub or a directory, to a machine, with the real programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Postgres, RunningHub};

/// A machine: a home, and the doorward that is built beside the hub.
struct Machine(tempfile::TempDir);

fn doorward() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_doorward-hub")).with_file_name("doorward");
    if !binary.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built =
            Command::new(cargo).args(["build", "--locked", "--package", "doorward", "--bin", "doorward"]).status();
        assert!(built.unwrap().success());
    }
    binary
}

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(doorward());
        command
            .args(words)
            .env_clear()
            .env("HOME", self.0.path())
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.0.path());
        command.output().unwrap()
    }

    fn says(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn refuses(&self, words: &[&str], want: &str) {
        let output = self.run(words);
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!output.status.success() && said.contains(want), "{words:?} should say `{want}`: {said}");
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The verdict of a call as the hook would judge it.
    fn verdict(&self, command: &str) -> String {
        let output = self.run(&["check", "--json", "--agent", "claude", command]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["verdict"].as_str().unwrap().to_owned()
    }

    fn version(&self) -> serde_json::Value {
        serde_json::from_str(&self.says(&["bundle", "status", "--json"])).unwrap()
    }
}

#[test]
fn policy_reaches_a_machine_and_nothing_laxer_does() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let (office, laptop) = (Machine::new(), Machine::new());
    let keys: Vec<String> =
        ["a", "b", "c"].iter().map(|name| office.says(&["bundle", "key", &format!("{name}.key")])).collect();
    office.write(
        "policy/config.toml",
        "[agents.claude]\nmode = \"auto\"\n[permissions]\ndeny = [\"bash(cargo publish*)\"]\n",
    );
    let first = [
        "bundle", "build", "policy", "--out", "1.tar", "--team", "ada", "--signer", &keys[0], "--signer", &keys[1],
        "--signer", &keys[2],
    ];
    office.says(&first);
    office.says(&["bundle", "sign", "1.tar", "--key", "a.key"]);
    office.refuses(&["bundle", "verify", "1.tar"], "1 of the 2 signatures needed");
    let file = |name: &str| office.0.path().join(name).display().to_string();
    assert!(!hub.say(&["publish", &file("1.tar")]).status.success());
    office.says(&["bundle", "sign", "1.tar", "--key", "c.key"]);
    assert!(office.says(&["bundle", "verify", "1.tar"]).contains("It would be followed"));
    assert!(hub.say(&["publish", &file("1.tar")]).status.success());

    laptop.says(&["ship", "enrol", &hub.url(), &hub.token(), "--yes"]);
    assert_eq!(laptop.verdict("ls -la"), "confirm", "nobody has trusted the agent");
    assert!(laptop.says(&["bundle", "trust", &file("1.tar"), "--yes"]).contains("Version 1 counts"));
    assert_eq!((laptop.verdict("ls -la"), laptop.verdict("cargo publish")), ("approve".into(), "block".into()));

    // The next version, from the same people; the first one again changes nothing.
    office.write("policy/config.toml", "[agents.claude]\nmode = \"auto\"\n[permissions]\ndeny = [\"bash(ls*)\"]\n");
    office.says(&["bundle", "build", "policy", "--out", "2.tar", "--previous", "1.tar"]);
    assert!(office.says(&["bundle", "diff", "1.tar", "2.tar"]).contains("+ deny = [\"bash(ls*)\"]"));
    for key in ["a.key", "b.key"] {
        office.says(&["bundle", "sign", "2.tar", "--key", key]);
    }
    assert!(hub.say(&["publish", &file("2.tar")]).status.success());
    assert!(!hub.say(&["publish", &file("1.tar")]).status.success());
    laptop.says(&["bundle", "fetch"]);
    assert_eq!((laptop.version()["version"].as_u64(), laptop.verdict("ls -la")), (Some(2), "block".into()));

    // A hub that was taken over: it hands out what k - 1 signed, what was in force before, and garbage.
    let put = |bytes: &[u8]| {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        postgres.sql(&format!(
            "delete from bundle where version = 3; insert into bundle values (3, 'x', decode('{hex}', 'hex'), 1)"
        ));
    };
    office.write("policy/config.toml", "[agents.claude]\nmode = \"auto\"\n");
    office.says(&["bundle", "build", "policy", "--out", "3.tar", "--previous", "2.tar"]);
    office.says(&["bundle", "sign", "3.tar", "--key", "a.key"]);
    for (bytes, want) in [
        (std::fs::read(file("3.tar")).unwrap(), "1 of the 2 signatures needed"),
        (std::fs::read(file("1.tar")).unwrap(), "an older policy is never put back"),
        (b"garbage".to_vec(), "malformed"),
        (vec![b'x'; 5 << 20], "longer than a bundle may be"),
    ] {
        put(&bytes);
        laptop.refuses(&["bundle", "fetch"], want);
        assert_eq!(
            (laptop.version()["version"].as_u64(), laptop.verdict("ls -la")),
            (Some(2), "block".into()),
            "{want}"
        );
    }
    assert!(String::from_utf8_lossy(&laptop.run(&["alerts"]).stdout).contains("team's policy"));

    // A revocation, by way of a directory that anybody can write to.
    let share = tempfile::tempdir().unwrap();
    let shared = share.path().display().to_string();
    office.says(&["bundle", "build", "policy", "--out", "revoked.tar", "--previous", "2.tar", "--revoke"]);
    for key in ["b.key", "c.key"] {
        office.says(&["bundle", "sign", "revoked.tar", "--key", key]);
    }
    for name in ["1.tar", "2.tar"] {
        office.says(&["bundle", "publish", name, "--to", &shared]);
    }
    let desktop = Machine::new();
    desktop.says(&["bundle", "trust", &file("1.tar"), "--from", &shared, "--yes"]);
    assert_eq!(desktop.verdict("ls -la"), "block");
    office.says(&["bundle", "publish", "revoked.tar", "--to", &shared]);
    desktop.says(&["bundle", "fetch"]);
    assert_eq!((desktop.verdict("git status"), desktop.version()["seen"].as_u64()), ("confirm".into(), Some(3)));
    assert_eq!(desktop.verdict("ls -la"), "block", "what the policy denied stays denied");
    std::fs::remove_dir_all(share.path()).unwrap();
    assert_eq!(desktop.run(&["bundle", "fetch"]).status.code(), Some(75));
}
