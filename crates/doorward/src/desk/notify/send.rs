//! The three notifiers: each is a child process with a few seconds to finish.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::hook::notifier::has_desktop;
use crate::policy::config::Notify;

/// How long a notifier may take. Nothing waits for this process, and giving up too early means notifying twice.
// Above the sixty seconds that webhook receivers commonly allow themselves.
const PATIENCE: Duration = Duration::from_secs(65);

/// The system's program directories: a search path set by an agent does not count.
// The hook inherits the agent's `PATH`, and a `notify-send` or `curl` in a project directory would run as the user.
const DIRECTORIES: &[&str] = &["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// A notifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    Desktop,
    Command,
    Webhook,
}

/// The message: title and text for people, JSON for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notification {
    pub title: String,
    pub text: String,
    pub json: String,
}

impl Channel {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Channel::Desktop => "desktop",
            Channel::Command => "command",
            Channel::Webhook => "webhook",
        }
    }

    /// The configured notifiers.
    pub(super) fn configured(notify: &Notify) -> Vec<Channel> {
        let is_set = [
            (Channel::Desktop, notify.desktop == Some(true)),
            (Channel::Command, !notify.command.is_empty()),
            (Channel::Webhook, notify.webhook.is_some()),
        ];
        is_set.into_iter().filter(|(_, is_set)| *is_set).map(|(channel, _)| channel).collect()
    }

    /// The configured notifiers, plus the desktop if there is one, because a call is waiting.
    pub(super) fn for_calls(notify: &Notify) -> Vec<Channel> {
        let desktop = Some(Channel::Desktop).filter(|_| has_desktop(notify));
        desktop.into_iter().chain(Channel::configured(notify)).collect()
    }

    /// Notifies this way, if configured.
    pub(super) fn send(self, notify: &Notify, note: &Notification) -> Result<(), String> {
        match (self, notify.command.split_first(), &notify.webhook) {
            (Channel::Desktop, ..) => desktop(note),
            (Channel::Command, Some((program, arguments)), _) => fed(Command::new(program).args(arguments), &note.json),
            (Channel::Webhook, _, Some(address)) => webhook(address, note),
            (Channel::Command, None, _) | (Channel::Webhook, _, None) => Ok(()),
        }
    }
}

fn desktop(Notification { title, text, .. }: &Notification) -> Result<(), String> {
    if let Some(program) = find_program("osascript") {
        // The text is passed as arguments, not as part of the script.
        let script = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
        let mut command = Command::new(program);
        command.args(script.iter().flat_map(|line| ["-e", line]));
        return fed(command.args([title, text]), "");
    }
    let program = find_program("notify-send").ok_or("neither `notify-send` nor `osascript` is installed")?;
    // The text may be interpreted as markup.
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    fed(Command::new(program).args(["--app-name=doorward", "--", title, &text]), "")
}

fn webhook(address: &str, note: &Notification) -> Result<(), String> {
    let program = find_program("curl").ok_or("`curl` is not installed")?;
    let mut command = Command::new(program);
    // Read no settings file, follow no redirects, send standard input.
    command.args(["-q", "--silent", "--show-error", "--fail", "--proto", "=http,https"]);
    // A receiver may be slow to answer, but not to connect.
    command.args(["--connect-timeout", "8", "--max-time", "60"]);
    command.args(["--header", "Content-Type: application/json", "--data-binary", "@-", "--output", "/dev/null"]);
    fed(command.args(["--url", address]), &note.json)
}

fn find_program(name: &str) -> Option<std::path::PathBuf> {
    DIRECTORIES.iter().map(|directory| Path::new(directory).join(name)).find(|path| path.exists())
}

/// Runs a program with an input.
fn fed(command: &mut Command, input: &str) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let started = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = started.map_err(|error| format!("can't start `{name}`: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ignores its input may still notify.
        let _ = stdin.write_all(input.as_bytes());
    }
    wait_for(&mut child).map_err(|problem| format!("`{name}` {problem}"))
}

fn wait_for(child: &mut Child) -> Result<(), String> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("failed: {status}")),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(format!("can't wait for it: {error}")),
        }
    }
    // It is our child, and nothing else waits for it.
    let _ = child.kill().and_then(|()| child.wait().map(drop));
    Err(format!("took longer than {} seconds", PATIENCE.as_secs()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// A receiver that reads everything, and answers only after a while.
    #[test]
    fn a_receiver_that_takes_its_time_has_been_told() {
        const AFTER: Duration = Duration::from_secs(11);
        if find_program("curl").is_none() {
            assert!(std::env::var_os("CI").is_none(), "curl is not installed");
            let _ = writeln!(std::io::stderr(), "skipped: curl is not installed, webhooks are not tested");
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let receiver = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut told = Vec::new();
            while !told.ends_with(b"}") {
                let mut bytes = [0; 1024];
                let count = stream.read(&mut bytes).unwrap();
                assert!(count > 0, "the sender hung up");
                told.extend_from_slice(&bytes[..count]);
            }
            std::thread::sleep(AFTER);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        });
        let note = Notification { title: String::new(), text: String::new(), json: "{\"event\": \"alert\"}".into() };
        assert_eq!(webhook(&address, &note), Ok(()));
        receiver.join().unwrap();
    }
}
