//! A private PostgreSQL for trying the hub: a directory, a Unix socket, nobody else.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::store::pool::Pool;

/// How long PostgreSQL may take to start, recovery after a crash included.
const PATIENCE: Duration = Duration::from_secs(60);
/// The kernel's limit for the path of a socket is 108 bytes, and PostgreSQL adds a name of up to 20.
const LONGEST_PATH: usize = 85;

/// A PostgreSQL that ends with this process.
#[derive(Debug)]
pub(crate) struct Postgres(Option<Child>);

impl Postgres {
    /// Lets it finish what it does, and waits for it.
    pub(crate) fn stop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        // SIGINT is what PostgreSQL calls a fast shutdown.
        let _asked = pid.map(|pid| kill_process(pid, Signal::INT));
        let _ended = child.wait();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The address of the database in a directory.
pub(crate) fn address(state: &Path) -> String {
    // A quote ends a value; a path with one is refused by `start`.
    format!("host='{}' dbname=postgres user=doorward", socket(state).display())
}

fn socket(state: &Path) -> PathBuf {
    state.join("socket")
}

/// Starts it, making the database first where there is none. One that still runs is used as it is.
pub(crate) async fn start(state: &Path) -> Result<Postgres> {
    if rustix::process::geteuid().is_root() {
        bail!("PostgreSQL refuses to run as root: start `doorward-hub dev` as an ordinary user");
    }
    let shown = state.display().to_string();
    if shown.contains(['\'', '\\']) || shown.len() > LONGEST_PATH {
        bail!("`{shown}` can't hold PostgreSQL's socket: give a shorter `--state DIR` without quotes");
    }
    let programs = programs()?;
    for directory in [state.to_owned(), socket(state)] {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .with_context(|| format!("can't create `{}`", directory.display()))?;
    }
    let data = state.join("postgres");
    if is_running(state).await {
        return Ok(Postgres(None));
    }
    if !data.join("PG_VERSION").exists() {
        make(&programs, &data)?;
    }
    let mut child = Command::new(programs.join("postgres"))
        .arg("-D")
        .arg(&data)
        .args(["-c", "listen_addresses=", "-c", "shared_buffers=128MB", "-c", "max_wal_size=1GB", "-k"])
        .arg(socket(state))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("can't start `postgres`")?;
    let started = Instant::now();
    while !is_running(state).await {
        if let Some(status) = child.try_wait()? {
            bail!("`postgres` ended with {status}; `{}/bin/postgres -D {}` says why", shown, data.display());
        }
        if started.elapsed() > PATIENCE {
            let _killed = child.kill();
            bail!("`postgres` did not answer within a minute");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(Postgres(Some(child)))
}

async fn is_running(state: &Path) -> bool {
    match Pool::new(&address(state)) {
        Ok(pool) => pool.get().await.is_ok(),
        Err(_) => false,
    }
}

/// Only this user's processes can enter the directory with the socket, so there is no password.
fn make(programs: &Path, data: &Path) -> Result<()> {
    let made = Command::new(programs.join("initdb"))
        .arg("-D")
        .arg(data)
        .args(["--username=doorward", "--auth=trust", "--encoding=UTF8", "--locale=C"])
        .stdin(Stdio::null())
        .output()
        .context("can't run `initdb`")?;
    if !made.status.success() {
        bail!("`initdb` failed: {}", String::from_utf8_lossy(&made.stderr).trim());
    }
    Ok(())
}

/// The directory with PostgreSQL's programs: the search path, or where Debian keeps them, the newest first.
fn programs() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.filter_map(Result::ok).map(|entry| entry.path().join("bin")).collect())
        .unwrap_or_default();
    found.sort();
    let all = std::env::split_paths(&path).chain(found.into_iter().rev());
    all.into_iter().find(|directory| ["initdb", "postgres"].iter().all(|name| directory.join(name).is_file())).context(
        "PostgreSQL's `initdb` and `postgres` are not installed: `apt install postgresql`, or use a database \
             of yours with `doorward-hub serve --database …`",
    )
}
