//! The relay over HTTP: `--listen` takes clients on this machine, `--to` is the server; JSON and event streams, with and
//! without sessions.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use ureq::http;

use super::envelope::{Read as Message, read};
use super::exchange::{Back, Conversation, Exchange, Held, Step};
use super::http_message::{self, Request};
use super::{answers, events};
use crate::hook::LIMIT;

/// More clients at once than one user has; each costs a thread.
const CLIENTS: usize = 256;

/// More sessions than clients keep open; the oldest are forgotten, and their calls are judged without what came before.
const SESSIONS: usize = 1_000;

/// The stack of a thread that judges, as the hook has it.
const STACK: usize = 16 * 1024 * 1024;

/// What a connection adds by itself, or what is about one connection only.
const OWN: &[&str] = &[
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "accept-encoding",
    "origin",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "proxy-authorization",
    "proxy-connection",
];

const SESSION: &str = "mcp-session-id";

/// A relay between clients of this machine and one server.
struct Relay {
    /// Scheme and host of the server.
    origin: String,
    /// Its path, for clients that ask for `/`.
    path: String,
    agent: ureq::Agent,
    make: Box<dyn Fn() -> Result<Exchange> + Send + Sync>,
    sessions: Mutex<BTreeMap<String, Arc<Exchange>>>,
    clients: AtomicUsize,
}

/// Listens until it is stopped.
pub(super) fn run(
    listen: &str,
    to: &str,
    make: impl Fn() -> Result<Exchange> + Send + Sync + 'static,
) -> Result<ExitCode> {
    let address: SocketAddr =
        listen.parse().with_context(|| format!("`{listen}` is no address such as 127.0.0.1:7400"))?;
    if !address.ip().is_loopback() {
        bail!("`{listen}` can be reached from other machines; use 127.0.0.1 or [::1]");
    }
    let (origin, path) = split(to)?;
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(10)))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("doorward/", env!("CARGO_PKG_VERSION")));
    let relay = Arc::new(Relay {
        origin,
        path,
        agent: config.build().new_agent(),
        make: Box::new(make),
        sessions: Mutex::default(),
        clients: AtomicUsize::new(0),
    });
    let listener = TcpListener::bind(address).with_context(|| format!("can't listen on `{listen}`"))?;
    writeln!(std::io::stderr(), "doorward: relaying http://{}{} to {to}", listener.local_addr()?, relay.path)?;
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        let seat = Arc::clone(&relay);
        if relay.clients.fetch_add(1, Ordering::Relaxed) >= CLIENTS {
            relay.clients.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let serve = move || {
            // However the client leaves: nothing that it did not get was let through.
            let _ = seat.serve(&stream);
            seat.clients.fetch_sub(1, Ordering::Relaxed);
        };
        if std::thread::Builder::new().stack_size(STACK).spawn(serve).is_err() {
            relay.clients.fetch_sub(1, Ordering::Relaxed);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `https://host/path` → origin and path.
fn split(to: &str) -> Result<(String, String)> {
    let after = to.strip_prefix("https://").or_else(|| to.strip_prefix("http://"));
    let Some(after) = after else { bail!("`{to}` is no address of a server: use http:// or https://") };
    let host = after.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() || host.contains('@') {
        bail!("`{to}` names no host");
    }
    let start = to.len() - after.len();
    let (origin, path) = to.split_at(start + host.len());
    Ok((origin.to_owned(), if path.starts_with('/') { path.to_owned() } else { "/".to_owned() }))
}

/// An answer of the server, before its body.
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Box<dyn Read>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn streams(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
    }
}

impl Relay {
    /// Answers one client until it leaves.
    fn serve(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(300)))?;
        let mut input = BufReader::new(stream);
        loop {
            let request = match http_message::next(&mut input) {
                Ok(Some(request)) => request,
                Ok(None) => return Ok(()),
                Err(problem) => return write_text(stream, 400, &answers::unreadable(&problem)),
            };
            if let Some(problem) = foreign(&request) {
                return write_text(stream, 403, &answers::unreadable(problem));
            }
            let stays = match request.method.as_str() {
                "POST" => self.post(stream, &request)?,
                "GET" => self.get(stream, &request)?,
                "DELETE" => self.delete(stream, &request)?,
                _ => write_text(stream, 405, &answers::unreadable("this method is not used here")).map(|()| true)?,
            };
            if !stays || request.closes() {
                return Ok(());
            }
        }
    }

    fn known(&self, request: &Request) -> Option<Arc<Exchange>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let by_name = request.header(SESSION).and_then(|name| sessions.get(name));
        by_name.or_else(|| sessions.get(&format!("at {}", request.target))).cloned()
    }

    fn remember(&self, name: String, exchange: &Arc<Exchange>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= SESSIONS {
            sessions.pop_first();
        }
        sessions.insert(name, Arc::clone(exchange));
    }

    /// A message of the client. Returns whether the connection stays.
    fn post(&self, stream: &TcpStream, request: &Request) -> std::io::Result<bool> {
        if let Some(problem) = disagrees(request) {
            return write_text(stream, 400, &answers::unreadable(problem)).map(|()| true);
        }
        let exchange = match self.known(request) {
            Some(exchange) => exchange,
            None => match (self.make)() {
                Ok(exchange) => Arc::new(exchange),
                Err(error) => {
                    return write_text(stream, 500, &answers::unreadable(&format!("{error:#}"))).map(|()| true);
                }
            },
        };
        match exchange.client_sent(&request.body) {
            Step::Forward => self.forward(stream, request, &exchange),
            Step::Answer(text) => write_text(stream, 200, &text).map(|()| true),
            Step::Drop => write_head(stream, 202, &[], Some(0)).map(|()| true),
            Step::Hold(held) => self.hold(stream, request, &exchange, *held).map(|()| false),
        }
    }

    /// Sends a request on and its answer back.
    fn forward(&self, stream: &TcpStream, request: &Request, exchange: &Arc<Exchange>) -> std::io::Result<bool> {
        let answer = match self.ask(request, &request.body) {
            Ok(answer) => answer,
            Err(problem) => {
                let lost = exchange.lost(&request.body);
                let text = lost.first().cloned().unwrap_or_else(|| answers::unreadable(&problem));
                return write_text(stream, if lost.is_empty() { 502 } else { 200 }, &text).map(|()| true);
            }
        };
        if let Some(name) = answer.header(SESSION) {
            self.remember(name.to_owned(), exchange);
        }
        self.copy(stream, request, exchange, answer)
    }

    /// An answer of the server on its way back. A redirection would lead the client past us.
    fn copy(
        &self,
        stream: &TcpStream,
        request: &Request,
        exchange: &Arc<Exchange>,
        answer: Answer,
    ) -> std::io::Result<bool> {
        if (300..400).contains(&answer.status) {
            let lost = exchange.lost(&request.body);
            let text = lost.first().cloned().unwrap_or_else(|| answers::unreadable("the server is elsewhere now"));
            return write_text(stream, 502, &text).map(|()| true);
        }
        let headers = answer.headers.clone();
        if answer.streams() {
            write_head(stream, answer.status, &headers, None)?;
            self.stream_back(stream, request, exchange, answer.body)?;
            for text in exchange.lost(&request.body) {
                (&*stream).write_all(&events::message(&text))?;
            }
            return Ok(false);
        }
        let mut body = Vec::new();
        let whole = answer.body.take(LIMIT + 1).read_to_end(&mut body).is_ok() && body.len() as u64 <= LIMIT;
        if !whole {
            let lost = exchange.lost(&request.body).concat();
            return write_text(stream, 502, &lost).map(|()| true);
        }
        let is_message = request.method == "POST" && !body.is_empty() && (200..300).contains(&answer.status);
        let step = if is_message { exchange.server_sent(&body) } else { Back::Forward };
        // An error of HTTP is the end of the request, too.
        // With 202 it comes later, on the stream of the session.
        let ended = if answer.status == 202 { Vec::new() } else { exchange.lost(&request.body) };
        match step {
            Back::Forward => {
                drop(ended);
                write_head(stream, answer.status, &headers, Some(body.len()))?;
                (&*stream).write_all(&body)?;
            }
            Back::Replace(text) => {
                write_head(stream, answer.status, &headers, Some(text.len()))?;
                (&*stream).write_all(text.as_bytes())?;
            }
            Back::Drop(what) => write_text(stream, 502, &answers::unreadable(what))?,
            Back::Return(_) | Back::Later(_) => {
                write_text(stream, 502, &answers::unreadable("a request of the server where an answer belongs"))?
            }
        }
        Ok(true)
    }

    /// Passes events on, each judged before a byte of it is written.
    fn stream_back(
        &self,
        stream: &TcpStream,
        request: &Request,
        exchange: &Arc<Exchange>,
        body: Box<dyn Read>,
    ) -> std::io::Result<()> {
        let mut body = BufReader::new(body);
        self.events(&mut body, stream, request, exchange)
    }

    fn events(
        &self,
        body: &mut impl BufRead,
        mut stream: &TcpStream,
        request: &Request,
        exchange: &Arc<Exchange>,
    ) -> std::io::Result<()> {
        while let Some(event) = events::next(body)? {
            let Some(data) = &event.data else {
                stream.write_all(&event.raw)?;
                continue;
            };
            if event.name == "endpoint" {
                // Where the client sends its messages: past us, if it were an address.
                let target = data.strip_prefix(&self.origin).unwrap_or(data);
                if target.starts_with('/') {
                    self.remember(format!("at {target}"), exchange);
                    stream.write_all(&event.with(target))?;
                }
                continue;
            }
            if !event.is_message() {
                stream.write_all(&event.raw)?;
                continue;
            }
            match exchange.server_sent(data.as_bytes()) {
                Back::Forward => stream.write_all(&event.raw)?,
                Back::Replace(text) => stream.write_all(&event.with(&text))?,
                Back::Drop(_) | Back::Later(_) => {}
                // The server hears of it, or waits until its own time is over.
                Back::Return(text) => drop(self.ask(request, text.as_bytes())),
            }
        }
        Ok(())
    }

    /// A call that waits for a person: the client gets a stream, so that questions and progress reach it.
    fn hold(
        &self,
        mut stream: &TcpStream,
        request: &Request,
        exchange: &Arc<Exchange>,
        held: Held,
    ) -> std::io::Result<()> {
        let kind = [("content-type".to_owned(), "text/event-stream".to_owned())];
        write_head(stream, 200, &kind, None)?;
        let writer = Mutex::new(stream);
        let tell = |text: &str| {
            let mut stream = writer.lock().unwrap_or_else(PoisonError::into_inner);
            stream.write_all(&events::message(text)).is_ok()
        };
        match exchange.resolve(held, &tell) {
            Step::Forward => {}
            Step::Answer(text) => return stream.write_all(&events::message(&text)),
            Step::Drop | Step::Hold(_) => return Ok(()),
        }
        let answer = match self.ask(request, &request.body) {
            Ok(answer) => answer,
            Err(_) => {
                return exchange
                    .lost(&request.body)
                    .iter()
                    .try_for_each(|text| stream.write_all(&events::message(text)));
            }
        };
        if answer.streams() {
            self.stream_back(stream, request, exchange, answer.body)?;
        } else {
            let mut body = Vec::new();
            answer.body.take(LIMIT).read_to_end(&mut body)?;
            match exchange.server_sent(&body) {
                Back::Forward => stream.write_all(&events::message(&String::from_utf8_lossy(&body)))?,
                Back::Replace(text) => stream.write_all(&events::message(&text))?,
                Back::Drop(_) | Back::Return(_) | Back::Later(_) => {}
            }
        }
        exchange.lost(&request.body).iter().try_for_each(|text| stream.write_all(&events::message(text)))
    }

    /// The stream on which a server speaks first.
    fn get(&self, stream: &TcpStream, request: &Request) -> std::io::Result<bool> {
        let exchange = match self.known(request) {
            Some(exchange) => exchange,
            None => match (self.make)() {
                Ok(exchange) => Arc::new(exchange),
                Err(error) => {
                    return write_text(stream, 500, &answers::unreadable(&format!("{error:#}"))).map(|()| true);
                }
            },
        };
        match self.ask(request, &[]) {
            Ok(answer) => self.copy(stream, request, &exchange, answer),
            Err(problem) => write_text(stream, 502, &answers::unreadable(&problem)).map(|()| true),
        }
    }

    fn delete(&self, stream: &TcpStream, request: &Request) -> std::io::Result<bool> {
        let Some(exchange) = self.known(request) else {
            return write_text(stream, 404, &answers::unreadable("there is no such session")).map(|()| true);
        };
        if let Some(name) = request.header(SESSION) {
            self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        }
        match self.ask(request, &[]) {
            Ok(answer) => self.copy(stream, request, &exchange, answer),
            Err(problem) => write_text(stream, 502, &answers::unreadable(&problem)).map(|()| true),
        }
    }

    /// One request to the server.
    fn ask(&self, request: &Request, body: &[u8]) -> Result<Answer, String> {
        let target = if request.target == "/" { &self.path } else { &request.target };
        let mut builder =
            http::Request::builder().method(request.method.as_str()).uri(format!("{}{target}", self.origin));
        for (name, value) in request.headers.iter().filter(|(name, _)| !OWN.contains(&name.as_str())) {
            builder = builder.header(name, value);
        }
        builder = builder.header("accept-encoding", "identity");
        let sent = if request.method == "POST" {
            builder
                .body(body.to_vec())
                .map_err(|error| error.to_string())
                .and_then(|ready| self.agent.run(ready).map_err(|error| error.to_string()))
        } else {
            builder
                .body(())
                .map_err(|error| error.to_string())
                .and_then(|ready| self.agent.run(ready).map_err(|error| error.to_string()))
        };
        let (head, body) = sent?.into_parts();
        let text = |value: &http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let headers = head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        Ok(Answer { status: head.status.as_u16(), headers, body: Box::new(body.into_reader()) })
    }
}

/// A page of the browser must not reach servers of this machine through us.
fn foreign(request: &Request) -> Option<&'static str> {
    let is_here = |host: &str| {
        let name = if host.starts_with('[') {
            host.split_inclusive(']').next().unwrap_or(host)
        } else {
            host.split(':').next().unwrap_or(host)
        };
        matches!(name, "localhost" | "127.0.0.1" | "[::1]")
    };
    if !request.header("host").is_some_and(is_here) {
        return Some("the `Host` is not this machine");
    }
    let origin = request
        .header("origin")
        .and_then(|origin| origin.split_once("://").map(|(_, host)| host.to_owned()).or(Some(String::new())));
    origin.filter(|host| !is_here(host)).map(|_| "a page of another site asks")
}

/// What the headers say of a message, against the message itself: proxies and servers may go by either.
fn disagrees(request: &Request) -> Option<&'static str> {
    let Message::One(envelope) = read(&request.body) else { return None };
    let method = request.header("mcp-method");
    if method.is_some_and(|said| said != envelope.method()) {
        return Some("the header `Mcp-Method` names another method than the message");
    }
    let params = envelope.params().unwrap_or_default();
    let named = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str);
    if request.header("mcp-name").is_some_and(|said| named != Some(said)) {
        return Some("the header `Mcp-Name` names another tool than the message");
    }
    let version = params
        .pointer("/_meta")
        .and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"))
        .and_then(Value::as_str);
    match (request.header("mcp-protocol-version"), version) {
        (Some(said), Some(version)) if said != version => {
            Some("the header `MCP-Protocol-Version` is not that of the message")
        }
        _ => None,
    }
}

/// The head of an answer; without a length the connection ends with the body.
fn write_head(
    mut stream: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    length: Option<usize>,
) -> std::io::Result<()> {
    let mut text = format!("HTTP/1.1 {status} {}\r\n", if status < 400 { "OK" } else { "Refused" });
    for (name, value) in headers.iter().filter(|(name, _)| !OWN.contains(&name.as_str())) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    match length {
        Some(length) => text.push_str(&format!("content-length: {length}\r\n\r\n")),
        None => text.push_str("connection: close\r\n\r\n"),
    }
    stream.write_all(text.as_bytes())
}

fn write_text(mut stream: &TcpStream, status: u16, text: &str) -> std::io::Result<()> {
    let kind = [("content-type".to_owned(), "application/json".to_owned())];
    write_head(stream, status, &kind, Some(text.len()))?;
    stream.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)], body: &str) -> Request {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Request { headers, body: body.as_bytes().to_vec(), ..Request::default() }
    }

    #[test]
    fn headers_have_to_say_what_the_message_says() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        for (name, value, agrees) in [
            ("mcp-method", "tools/call", true),
            ("mcp-method", "tools/list", false),
            ("mcp-name", "add", true),
            ("mcp-name", "sub", false),
            ("mcp-protocol-version", "2026-07-28", true),
            ("mcp-protocol-version", "2025-06-18", false),
        ] {
            assert_eq!(disagrees(&request(&[(name, value)], call)).is_none(), agrees, "{name}: {value}");
        }
    }

    #[test]
    fn only_this_machine_may_ask() {
        for (headers, is_foreign) in [
            (vec![("host", "127.0.0.1:7400")], false),
            (vec![("host", "localhost:7400"), ("origin", "http://localhost:3000")], false),
            (vec![("host", "[::1]:7400")], false),
            (vec![("host", "unlisted.example")], true),
            (vec![("host", "localhost.unlisted.example")], true),
            (vec![], true),
            (vec![("host", "127.0.0.1"), ("origin", "https://unlisted.example")], true),
            (vec![("host", "127.0.0.1"), ("origin", "null")], true),
        ] {
            assert_eq!(foreign(&request(&headers, "")).is_some(), is_foreign, "{headers:?}");
        }
    }

    #[test]
    fn an_address_is_cut_into_origin_and_path() {
        assert_eq!(split("https://mcp.example/a?b").unwrap(), ("https://mcp.example".to_owned(), "/a?b".to_owned()));
        assert_eq!(split("http://127.0.0.1:1").unwrap(), ("http://127.0.0.1:1".to_owned(), "/".to_owned()));
        assert!(split("ftp://x").is_err() && split("https://a@b/").is_err());
    }
}
