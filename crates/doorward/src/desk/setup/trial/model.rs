//! A model on this machine that makes one call and is done: what an agent sees of it is as from its own provider.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// The longest request that is read.
// An agent sends its whole prompt and all its tools: some hundred kilobytes.
const LONGEST: u64 = 16 << 20;

/// A server that ends with this.
#[derive(Debug)]
pub(super) struct Model {
    pub url: String,
    is_over: Arc<AtomicBool>,
    address: std::net::SocketAddr,
}

/// What an agent speaks with its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Messages,
    Responses,
    Chat,
    Generate,
}

impl Model {
    /// Answers every conversation with one shell call of `command`, and with a few words once that has a result.
    pub(super) fn start(command: &str) -> Result<Model> {
        let listener = TcpListener::bind("127.0.0.1:0").context("can't listen on this machine")?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, command) = (Arc::clone(&is_over), command.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let command = command.clone();
                std::thread::spawn(move || answer(&stream, &command));
            }
        });
        Ok(Model { url: format!("http://{address}"), is_over, address })
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread up, so that it sees the end.
        let _ = TcpStream::connect(self.address);
    }
}

/// One request per connection. What is no question to the model gets an empty object.
fn answer(stream: &TcpStream, command: &str) -> Option<()> {
    let (path, body) = request(stream)?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let wire = wire(&path);
    let (kind, said) = match wire {
        Some(wire) => ("text/event-stream", said(wire, &asked, command)),
        None if path.contains("count_tokens") || path.contains("countTokens") => {
            ("application/json", json!({ "input_tokens": 10, "totalTokens": 10 }).to_string())
        }
        None => ("application/json", json!({ "object": "list", "data": [], "models": [] }).to_string()),
    };
    let mut out = stream;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        said.len()
    );
    out.write_all(head.as_bytes()).and_then(|()| out.write_all(said.as_bytes())).ok()
}

fn request(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream.take(LONGEST));
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        length = header.strip_prefix("content-length:").and_then(|text| text.trim().parse().ok()).unwrap_or(length);
        is_chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let mut body = Vec::new();
    if is_chunked {
        chunks(&mut reader, &mut body)?;
    } else {
        reader.take(length).read_to_end(&mut body).ok()?;
    }
    Some((path, body))
}

fn chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> Option<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let size = u64::from_str_radix(line.trim().split(';').next()?, 16).ok()?;
        if size == 0 {
            return Some(());
        }
        reader.take(size).read_to_end(body).ok()?;
        reader.read_line(&mut line).ok()?;
    }
}

fn wire(path: &str) -> Option<Wire> {
    let path = path.split('?').next().unwrap_or(path);
    match path {
        _ if path.ends_with(":streamGenerateContent") => Some(Wire::Generate),
        _ if path.ends_with("/messages") => Some(Wire::Messages),
        _ if path.ends_with("/responses") => Some(Wire::Responses),
        _ if path.ends_with("/chat/completions") => Some(Wire::Chat),
        _ => None,
    }
}

/// A call while there is a shell tool and no result yet.
fn said(wire: Wire, asked: &Value, command: &str) -> String {
    let text = asked.to_string();
    let has_result = ["tool_result", "function_call_output", "functionResponse", "\"role\":\"tool\""]
        .iter()
        .any(|sign| text.contains(sign));
    let call = tool(asked).filter(|_| !has_result).map(|name| {
        let field = if name == "exec_command" { "cmd" } else { "command" };
        // All want one but Codex and Pi, where it would be an unknown field.
        let is_described = name != "exec_command" && (name != "bash" || text.contains("\"description\":{"));
        let input =
            if is_described { json!({ field: command, "description": "test" }) } else { json!({ field: command }) };
        (name.to_owned(), input)
    });
    match wire {
        Wire::Messages => messages(call),
        Wire::Responses => responses(call),
        Wire::Chat => chat(call),
        Wire::Generate => generate(call),
    }
}

/// The shell tool that the agent offers.
fn tool(asked: &Value) -> Option<&'static str> {
    let text = asked.get("tools")?.to_string();
    ["Bash", "exec_command", "run_shell_command", "bash"]
        .into_iter()
        .find(|name| text.contains(&format!("\"name\":\"{name}\"")))
}

type Call = Option<(String, Value)>;

fn events(list: &[(&str, Value)]) -> String {
    let one = |(kind, data): &(&str, Value)| {
        let mut data = data.clone();
        if let Some(fields) = data.as_object_mut() {
            fields.insert("type".to_owned(), (*kind).into());
        }
        format!("event: {kind}\ndata: {data}\n\n")
    };
    list.iter().map(one).collect()
}

fn messages(call: Call) -> String {
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let end = if call.is_some() { "tool_use" } else { "end_turn" };
    let (block, delta) = match call {
        Some((name, input)) => (
            json!({ "type": "tool_use", "id": "toolu_1", "name": name, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
        ),
        None => (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": "done" })),
    };
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage });
    events(&[
        ("message_start", json!({ "message": message })),
        ("content_block_start", json!({ "index": 0, "content_block": block })),
        ("content_block_delta", json!({ "index": 0, "delta": delta })),
        ("content_block_stop", json!({ "index": 0 })),
        (
            "message_delta",
            json!({ "delta": { "stop_reason": end, "stop_sequence": null }, "usage": { "output_tokens": 1 } }),
        ),
        ("message_stop", json!({})),
    ])
}

fn responses(call: Call) -> String {
    let item = match call {
        Some((name, input)) => json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name,
            "arguments": input.to_string(), "status": "completed" }),
        None => json!({ "type": "message", "id": "m_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "done", "annotations": [] }] }),
    };
    let of = |status: &str, output: Vec<Value>| {
        json!({ "id": "resp_1", "object": "response", "model": "m",
        "status": status, "output": output, "usage": { "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": { "cached_tokens": 0 }, "output_tokens_details": { "reasoning_tokens": 0 } } })
    };
    events(&[
        ("response.created", json!({ "response": of("in_progress", Vec::new()) })),
        ("response.output_item.added", json!({ "output_index": 0, "item": item })),
        ("response.output_item.done", json!({ "output_index": 0, "item": item })),
        ("response.completed", json!({ "response": of("completed", vec![item]) })),
    ])
}

fn chat(call: Call) -> String {
    let end = if call.is_some() { "tool_calls" } else { "stop" };
    let delta = match call {
        Some((name, input)) => {
            json!({ "role": "assistant", "tool_calls": [{ "index": 0, "id": "call_1", "type": "function",
            "function": { "name": name, "arguments": input.to_string() } }] })
        }
        None => json!({ "role": "assistant", "content": "done" }),
    };
    let chunk = |delta: Value, end: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": end });
        let whole =
            json!({ "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice] });
        format!("data: {whole}\n\n")
    };
    format!("{}{}data: [DONE]\n\n", chunk(delta, Value::Null), chunk(json!({}), end.into()))
}

fn generate(call: Call) -> String {
    let part = match call {
        Some((name, input)) => json!({ "functionCall": { "id": "fc_1", "name": name, "args": input } }),
        None => json!({ "text": "done" }),
    };
    let content = json!({ "role": "model", "parts": [part] });
    let answer = json!({ "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }], "modelVersion": "m",
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 } });
    format!("data: {answer}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(model: &Model, path: &str, body: &Value) -> String {
        let mut stream = TcpStream::connect(model.address).unwrap();
        let body = body.to_string();
        write!(stream, "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    }

    #[test]
    fn every_agent_is_asked_to_make_one_call() {
        let model = Model::start("the command").unwrap();
        for (path, tool, result) in [
            ("/v1/messages?beta=true", json!({ "name": "Bash" }), json!({ "type": "tool_result" })),
            ("/v1/responses", json!({ "name": "exec_command" }), json!({ "type": "function_call_output" })),
            ("/v1/chat/completions", json!({ "function": { "name": "bash" } }), json!({ "role": "tool" })),
            (
                "/v1beta/models/m:streamGenerateContent?alt=sse",
                json!({ "functionDeclarations": [{ "name": "run_shell_command" }] }),
                json!({ "functionResponse": {} }),
            ),
        ] {
            let first = ask(&model, path, &json!({ "tools": [tool], "messages": [] }));
            assert!(first.contains("the command"), "{path}: {first}");
            let then = ask(&model, path, &json!({ "tools": [tool], "messages": [result] }));
            assert!(then.contains("done") && !then.contains("the command"), "{path}: {then}");
            assert!(!ask(&model, path, &json!({ "messages": [] })).contains("the command"), "{path}: a title");
        }
    }
}
