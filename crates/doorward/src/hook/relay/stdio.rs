//! The relay on standard input and output: the server is a child, and one thread reads each side.

use std::io::{BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::exchange::{Back, Conversation, Held, Later, Step};
use super::lines::{self, Line};

/// How long a server may take to end once its client is gone.
const LEAVING: Duration = Duration::from_secs(5);

/// One side, written by several threads, a whole message at a time.
type Side<W> = Arc<Mutex<Option<W>>>;

/// Writes a message; whether it went out.
fn send<W: Write>(side: &Side<W>, bytes: &[u8]) -> bool {
    let mut side = side.lock().unwrap_or_else(PoisonError::into_inner);
    side.as_mut().is_some_and(|side| side.write_all(bytes).and_then(|()| side.flush()).is_ok())
}

/// Starts the server and relays until one side ends.
pub(super) fn run(program: &str, rest: &[String], exchange: impl Conversation) -> Result<ExitCode> {
    let mut child = Command::new(program)
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("can't start `{program}`"))?;
    let (input, output) = (child.stdin.take(), child.stdout.take().context("the server has no output")?);
    let exchange: Arc<dyn Conversation> = Arc::new(exchange);
    let (server, client): (Side<ChildStdin>, Side<_>) =
        (Arc::new(Mutex::new(input)), Arc::new(Mutex::new(Some(std::io::stdout()))));
    let ways = Ways { exchange: Arc::clone(&exchange), server: Arc::clone(&server), client: Arc::clone(&client) };
    std::thread::Builder::new().stack_size(STACK).spawn(move || ways.client_sent(std::io::stdin()))?;
    let back = Ways { exchange: Arc::clone(&exchange), server, client: Arc::clone(&client) };
    back.server_sent(output);
    for answer in exchange.server_ended() {
        send(&client, answer.as_bytes());
    }
    exchange.finish();
    Ok(ended(&mut child))
}

/// The same stack for nested commands as the hook has.
const STACK: usize = 16 * 1024 * 1024;

/// Both directions of one conversation.
struct Ways<S> {
    exchange: Arc<dyn Conversation>,
    server: Side<ChildStdin>,
    client: Side<S>,
}

impl<S: Write + Send + 'static> Ways<S> {
    /// Reads the client until it ends; then the server's input ends, too.
    fn client_sent(&self, input: impl Read) {
        let mut input = BufReader::with_capacity(1 << 16, input);
        loop {
            match lines::next(&mut input) {
                Ok(Line::Whole(line)) => self.pass(line),
                Ok(Line::TooLong) => {
                    send(&self.client, super::answers::unreadable("it is too long").as_bytes());
                }
                Ok(Line::End) | Err(_) => break,
            }
        }
        self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn pass(&self, line: Vec<u8>) {
        match self.exchange.client_sent(&line) {
            Step::Forward => {
                send(&self.server, &line);
            }
            Step::Answer(text) => {
                send(&self.client, text.as_bytes());
            }
            Step::Drop => {}
            Step::Hold(held) => self.hold(*held, line),
        }
    }

    /// Waits on a thread of its own: other calls go on meanwhile.
    fn hold(&self, held: Held, line: Vec<u8>) {
        let (exchange, server, client) =
            (Arc::clone(&self.exchange), Arc::clone(&self.server), Arc::clone(&self.client));
        let waits = move || {
            let step = exchange.resolve(held, &|text| send(&client, text.as_bytes()));
            match step {
                Step::Forward => send(&server, &line),
                Step::Answer(text) => send(&client, text.as_bytes()),
                Step::Drop | Step::Hold(_) => false,
            };
        };
        // Without a thread the call is never passed on, and the client's own time runs out.
        let _ = std::thread::Builder::new().stack_size(STACK).spawn(waits);
    }

    /// Reads the server until it ends.
    fn server_sent(&self, output: impl Read) {
        let mut output = BufReader::with_capacity(1 << 16, output);
        loop {
            match lines::next(&mut output) {
                Ok(Line::Whole(line)) => self.pass_back(&line),
                Ok(Line::TooLong) => note("a message of the server that is too long"),
                Ok(Line::End) | Err(_) => return,
            }
        }
    }

    fn pass_back(&self, line: &[u8]) {
        match self.exchange.server_sent(line) {
            Back::Forward => {
                send(&self.client, line);
            }
            Back::Replace(text) => {
                send(&self.client, text.as_bytes());
            }
            Back::Return(text) => {
                send(&self.server, text.as_bytes());
            }
            Back::Drop(what) => note(what),
            Back::Later(later) => self.later(later, line.to_vec()),
        }
    }

    fn later(&self, later: Later, line: Vec<u8>) {
        let (server, client) = (Arc::clone(&self.server), Arc::clone(&self.client));
        let waits = move || {
            match later(&|text| send(&client, text.as_bytes())) {
                Back::Forward => send(&client, &line),
                Back::Replace(text) => send(&client, text.as_bytes()),
                Back::Return(text) => send(&server, text.as_bytes()),
                Back::Drop(_) | Back::Later(_) => false,
            };
        };
        // Without a thread nothing is passed on, and whoever asked waits until its own time is over.
        let _ = std::thread::Builder::new().stack_size(STACK).spawn(waits);
    }
}

fn note(what: &str) {
    let _ = writeln!(std::io::stderr(), "doorward: {what} was not passed on");
}

/// The server's own exit code; a server that stays is ended.
fn ended(child: &mut Child) -> ExitCode {
    let until = Instant::now() + LEAVING;
    while Instant::now() < until {
        if let Ok(Some(status)) = child.try_wait() {
            return ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    ExitCode::from(1)
}
