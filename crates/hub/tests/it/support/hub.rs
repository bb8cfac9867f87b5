//! The hub's own binary, on a port of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use super::Postgres;

pub(crate) struct RunningHub {
    state: tempfile::TempDir,
    database: String,
    child: Option<Child>,
    pub(crate) address: SocketAddr,
}

impl RunningHub {
    pub(crate) fn start(postgres: &Postgres) -> Self {
        let state = tempfile::tempdir().unwrap();
        let database = postgres.url();
        let mut hub = Self { state, database, child: None, address: "127.0.0.1:0".parse().unwrap() };
        hub.run();
        hub
    }

    /// Starts it, the second time on the port it had.
    pub(crate) fn run(&mut self) {
        let mut child = self
            .command(&["serve", "--listen", &self.address.to_string(), "--name", "tests"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().unwrap().parse();
        self.address = address.unwrap_or_else(|_| panic!("the hub said: {line}"));
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || said.lines().map_while(Result::ok).for_each(|line| eprintln!("hub: {line}")));
        self.child = Some(child);
        let start = std::time::Instant::now();
        while std::net::TcpStream::connect(self.address).is_err() {
            assert!(start.elapsed().as_secs() < 30);
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    /// A subcommand of the hub.
    pub(crate) fn say(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub(crate) fn token(&self) -> String {
        let output = self.say(&["token"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doorward-hub"));
        command.args(words).args(["--database", &self.database, "--state"]).arg(self.state.path());
        command.stdin(Stdio::null());
        command
    }
}

impl Drop for RunningHub {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _killed = child.kill();
            let _ended = child.wait();
        }
    }
}
