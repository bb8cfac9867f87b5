//! PostgreSQL in a directory of its own, as an ordinary user, killed and started again as a test likes.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// PostgreSQL refuses to be root; a test that is root lends it this user, which owns nothing else.
const NOBODY: u32 = 65534;

pub(crate) struct Postgres {
    dir: tempfile::TempDir,
    child: Option<Child>,
    small_disk: Option<(PathBuf, u32)>,
}

impl Postgres {
    pub(crate) fn start() -> Self {
        let mut postgres = Self::prepared();
        postgres.run();
        postgres
    }

    fn prepared() -> Self {
        let dir = tempfile::Builder::new().prefix("dwpg").tempdir_in("/tmp").unwrap();
        if is_root() {
            std::os::unix::fs::chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let postgres = Self { dir, child: None, small_disk: None };
        let data = postgres.dir.path().join("data");
        let made = postgres
            .program("initdb")
            .arg("-D")
            .arg(&data)
            .args(["--no-sync", "--username=doorward", "--auth=trust", "--encoding=UTF8", "--locale=C"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        postgres
    }

    pub(crate) fn directory(&self) -> String {
        self.dir.path().display().to_string()
    }

    pub(crate) fn url(&self) -> String {
        format!("host={} dbname=postgres user=doorward", self.dir.path().display())
    }

    /// A small disk that only this PostgreSQL sees, as the place of every table made from now on.
    pub(crate) fn on_a_small_disk(megabytes: u32) -> Self {
        let mut postgres = Self::prepared();
        let disk = postgres.dir.path().join("disk");
        std::fs::create_dir(&disk).unwrap();
        if is_root() {
            std::os::unix::fs::chown(&disk, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        postgres.small_disk = Some((disk, megabytes));
        postgres.run();
        let disk = postgres.dir.path().join("disk");
        postgres.sql(&format!("create tablespace small location '{}'", disk.display()));
        postgres.sql("alter role doorward set default_tablespace = 'small'");
        postgres
    }

    /// Starts it and waits until it answers; what a killed one left behind may need a moment.
    pub(crate) fn run(&mut self) {
        let started = Instant::now();
        loop {
            assert!(started.elapsed() < Duration::from_secs(60), "PostgreSQL does not start");
            let log = std::fs::File::options().append(true).create(true).open(self.dir.path().join("log")).unwrap();
            let mut child = self
                .server()
                .arg("-D")
                .arg(self.dir.path().join("data"))
                .args(["-c", "listen_addresses=", "-c", "max_wal_size=2GB", "-c", "shared_buffers=128MB", "-k"])
                .arg(self.dir.path())
                .stdout(Stdio::null())
                .stderr(log)
                .spawn()
                .unwrap();
            while child.try_wait().unwrap().is_none() {
                if self.program("pg_isready").args(["-q", "-h"]).arg(self.dir.path()).status().unwrap().success() {
                    self.child = Some(child);
                    return;
                }
                std::thread::sleep(Duration::from_millis(30));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Runs statements; the rows of the last one, unaligned.
    pub(crate) fn sql(&self, text: &str) -> String {
        let mut psql = self
            .program("psql")
            .args(["-qAtX", "-v", "ON_ERROR_STOP=1", "-U", "doorward", "-d", "postgres", "-h"])
            .arg(self.dir.path())
            // Statements may be longer than an argument can be.
            .args(["-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        psql.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = psql.wait_with_output().unwrap();
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn count(&self, text: &str) -> u64 {
        self.sql(text).parse().unwrap()
    }

    /// The server, in a mount namespace of its own if it has a disk of its own.
    fn server(&self) -> Command {
        let Some((disk, megabytes)) = &self.small_disk else { return self.program("postgres") };
        let mut command = Command::new("unshare");
        let (who, becomes) = match is_root() {
            true => (&["--mount"][..], format!("setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups")),
            false => (&["--map-current-user", "--keep-caps", "--mount"][..], String::new()),
        };
        let owner = if is_root() { NOBODY } else { rustix::process::geteuid().as_raw() };
        let script = format!(
            "mount -t tmpfs -o size={megabytes}m,mode=700,uid={owner},gid={owner} none {} && exec {becomes} {} \"$@\"",
            disk.display(),
            programs().join("postgres").display()
        );
        command.args(who).args(["sh", "-c", &script, "postgres"]).current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(programs().join(name));
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _killed = child.kill();
            let _ended = child.wait();
        }
        // Its workers end by themselves once they notice; until then they may still write into the directory.
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn programs() -> PathBuf {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.map(|entry| entry.unwrap().path().join("bin")).collect())
        .unwrap_or_default();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = found.into_iter().rev().chain(std::env::split_paths(&path));
    let all: Vec<PathBuf> = all.collect();
    let programs =
        all.into_iter().find(|dir| ["initdb", "postgres", "psql"].iter().all(|name| dir.join(name).is_file()));
    programs.expect("these tests need PostgreSQL's programs (`apt install postgresql`): without them nothing is tested")
}
