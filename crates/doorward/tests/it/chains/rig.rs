//! The box from outside: bubblewrap without network, an ordinary user in it, and this very program as its first process.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::inside::{ORDER, REPORT};

const USER: u32 = 1000;
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The template, and what boxes are made of.
#[derive(Debug)]
pub(super) struct Rig {
    base: TempDir,
    reports: AtomicU64,
}

impl Rig {
    /// Makes the template; `None` where there is no box to be had, which is loud, and in continuous integration a failure.
    pub(super) fn new(what: &str) -> Option<Rig> {
        if !is_there() {
            let said = format!("bubblewrap is missing or may not work here, so {what}");
            assert!(std::env::var_os("CI").is_none(), "{said}");
            eprintln!("SKIPPED: {said}");
            return None;
        }
        let base = tempfile::tempdir().unwrap();
        fs::set_permissions(base.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["home", "tmp", "etc"] {
            fs::create_dir(base.path().join(name)).unwrap();
        }
        fs::set_permissions(base.path().join("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
        if is_root() {
            chown(base.path().join("home"), Some(USER), Some(USER)).unwrap();
        }
        let root = "root:x:0:0:root:/root:/bin/bash\n";
        fs::write(base.path().join("etc/passwd"), format!("{root}dev:x:{USER}:{USER}:Dev:/home/dev:/bin/bash\n"))
            .unwrap();
        fs::write(base.path().join("etc/group"), format!("root:x:0:\ndev:x:{USER}:\n")).unwrap();
        fs::write(base.path().join("etc/gitconfig"), "").unwrap();
        fs::write(base.path().join("template.sh"), include_str!("template.sh")).unwrap();
        let rig = Rig { base, reports: AtomicU64::new(0) };
        rig.run(&json!({ "what": "build" }));
        Some(rig)
    }

    /// Has an order carried out in a box of its own, and gives the report.
    pub(super) fn run(&self, order: &Value) -> Value {
        let report = self.base.path().join(format!("report-{}", self.reports.fetch_add(1, Ordering::Relaxed)));
        fs::write(&report, "").unwrap();
        fs::set_permissions(&report, fs::Permissions::from_mode(0o666)).unwrap();
        let mut command = self.bare();
        command.arg("--bind").arg(&report).arg(REPORT);
        if order["what"] == "build" {
            command.args(["--perms", "0755", "--dir", "/home"]);
            for (source, place) in [("home", "/home/dev"), ("tmp", "/tmp")] {
                command.arg("--bind").arg(self.base.path().join(source)).arg(place);
            }
        } else {
            command.args(["--perms", "1777", "--tmpfs", "/home", "--perms", "1777", "--tmpfs", "/tmp"]);
            command.args(["--perms", "0755", "--dir", "/run/template"]);
            for name in ["home", "tmp"] {
                command.arg("--ro-bind").arg(self.base.path().join(name)).arg(format!("/run/template/{name}"));
            }
        }
        command.args(["--setenv", ORDER, &order.to_string(), "--chdir", "/"]);
        if is_root() {
            let user = USER.to_string();
            command.args(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--bounding-set=-all"]);
            command.args(["--inh-caps=-all", "--no-new-privs"]);
        }
        command.args([
            "/opt/doorward/bin/chains",
            "--exact",
            "chains::the_box",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ]);
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(output.status.success(), "the box did not end well:\n{said}");
        serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// A box with the system read-only, no network, and nothing of this machine's homes.
    fn bare(&self) -> Command {
        let mut command = Command::new("bwrap");
        command.args([
            "--die-with-parent",
            "--new-session",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--unshare-uts",
        ]);
        if !is_root() {
            command.args(["--unshare-user", "--uid", "1000", "--gid", "1000"]);
        }
        for place in ["/usr", "/etc"] {
            command.args(["--ro-bind", place, place]);
        }
        for place in ["/bin", "/sbin", "/lib", "/lib64", "/lib32"] {
            match fs::read_link(place) {
                Ok(target) => command.arg("--symlink").arg(target).arg(place),
                Err(_) if Path::new(place).exists() => command.args(["--ro-bind", place, place]),
                Err(_) => &mut command,
            };
        }
        // What this machine says about git and users is not the chain's matter.
        for place in ["gitconfig", "passwd", "group"] {
            let inside = Path::new("/etc").join(place);
            if inside.exists() {
                command.arg("--ro-bind").arg(self.base.path().join("etc").join(place)).arg(inside);
            }
        }
        command.args([
            "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--tmpfs", "/var", "--perms", "1777", "--dir",
            "/var/tmp",
        ]);
        for place in ["/opt", "/opt/doorward", "/opt/doorward/bin"] {
            command.args(["--perms", "0755", "--dir", place]);
        }
        command.arg("--ro-bind").arg(binary()).arg("/opt/doorward/bin/doorward");
        command.arg("--ro-bind").arg(std::env::current_exe().unwrap()).arg("/opt/doorward/bin/chains");
        command.arg("--ro-bind").arg(self.base.path().join("template.sh")).arg("/run/template.sh");
        command.arg("--clearenv");
        let values = [
            ("HOME", "/home/dev"),
            ("PATH", PATH),
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm"),
            ("USER", "dev"),
            ("SHELL", "/bin/bash"),
        ];
        for (name, value) in values {
            command.args(["--setenv", name, value]);
        }
        command
    }
}

/// The program under test; another one to see whether its faults are found.
fn binary() -> PathBuf {
    std::env::var_os("DOORWARD_BINARY").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_doorward")), PathBuf::from)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn is_there() -> bool {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "true"]);
    if !is_root() {
        command.arg("--unshare-user");
    }
    command.output().is_ok_and(|output| output.status.success())
}
