//! A provider for tests that answers as it is told: well, badly, slowly or not at all.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum ServerBehavior {
    /// Answers in the words of chat completions with this text; `NONCE` stands for the nonce of the request.
    Says(String),
    /// The same with another reason to stop.
    Stops(&'static str),
    /// Sends these bytes and closes.
    Sends(Vec<u8>),
    /// Says nothing and keeps the connection.
    Hangs,
    /// Sends a byte now and then.
    Trickles,
    /// Closes the connection at once, the first time only; then it says this.
    ClosesOnce(String),
}

/// A server on the loopback interface.
pub(crate) struct Server {
    pub port: u16,
    asked: Arc<AtomicUsize>,
    bodies: Arc<Mutex<Vec<Value>>>,
}

/// A reply that lets a call run.
pub(crate) fn allows() -> Value {
    json!({ "reason": "the user asked for it", "tier": "explicit_intent", "decision": "allow", "confidence": 0.99,
        "nonce": "NONCE" })
}

/// A reply that does not.
pub(crate) fn declines() -> Value {
    json!({ "reason": "nobody asked for it", "tier": "soft_deny", "decision": "block", "confidence": 0.9, "nonce": "NONCE" })
}

impl Server {
    pub(crate) fn new(does: ServerBehavior) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server =
            Server { port: listener.local_addr().unwrap().port(), asked: Arc::default(), bodies: Arc::default() };
        let (asked, bodies) = (Arc::clone(&server.asked), Arc::clone(&server.bodies));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let number = asked.fetch_add(1, Ordering::SeqCst);
                let (does, bodies) = (does.clone(), Arc::clone(&bodies));
                std::thread::spawn(move || serve(stream, &does, number, &bodies));
            }
        });
        server
    }

    /// How many connections were made.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// What was sent last.
    pub(crate) fn last(&self) -> Value {
        self.bodies.lock().unwrap().last().cloned().unwrap()
    }
}

fn serve(mut stream: TcpStream, does: &ServerBehavior, number: usize, bodies: &Mutex<Vec<Value>>) {
    if number == 0 && matches!(does, ServerBehavior::ClosesOnce(_)) {
        return;
    }
    // Whoever speaks TLS sends no line that ends like one of HTTP.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
    let body = request(&stream);
    let nonce = body.as_ref().map(nonce).unwrap_or_default();
    bodies.lock().unwrap().extend(body);
    let chat = |text: &str, stop: &str| {
        let text = text.replace("NONCE", &nonce);
        json!({ "choices": [{ "finish_reason": stop, "message": { "role": "assistant", "content": text } }],
            "usage": { "prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": { "cached_tokens": 900 } } })
    };
    let _ = match does {
        ServerBehavior::Says(text) | ServerBehavior::ClosesOnce(text) => {
            stream.write_all(&ok(&chat(text, "stop").to_string()))
        }
        ServerBehavior::Stops(why) => stream.write_all(&ok(&chat(&allows().to_string(), why).to_string())),
        ServerBehavior::Sends(bytes) => stream.write_all(bytes),
        ServerBehavior::Hangs => {
            std::thread::sleep(Duration::from_secs(20));
            Ok(())
        }
        ServerBehavior::Trickles => trickle(&mut stream),
    };
}

/// A response with this body.
pub(crate) fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn trickle(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n")?;
    for _ in 0..200 {
        stream.write_all(b" ")?;
        stream.flush()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

fn request(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut key) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if let Some(value) = line.strip_prefix("authorization:") {
            key = Some(value.trim().to_owned());
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut body: Value = serde_json::from_slice(&body).ok()?;
    if let Some(key) = key {
        body["authorization"] = key.into();
    }
    Some(body)
}

/// The nonce that a request names at its end.
fn nonce(body: &Value) -> String {
    let message = body["messages"].as_array().and_then(|all| all.last()).map(|last| last["content"].to_string());
    let message = message.unwrap_or_default();
    let named = message.rsplit("The nonce of this request is ").next().unwrap_or_default();
    named.chars().take_while(char::is_ascii_hexdigit).collect()
}
