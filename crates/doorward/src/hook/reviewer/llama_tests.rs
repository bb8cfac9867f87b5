//! A real llama.cpp server, with a model that knows nothing but keeps to a grammar.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use doorward_engine::{DescribedWorld, Description, Policy, ToolCall};

use super::chosen::UsableModel;
use super::client::{self, Exchange};
use super::fault::Fault;
use super::lists::Lists;
use super::prompt::{Prompt, PromptInput};
use super::provider::ReviewStage;
use super::tests::Room;
use crate::policy::config::Reviewer;
use crate::policy::config::reviewer::{Kind, Provider};

/// Long enough for a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(120);

struct Llama {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Python with what the server needs, installed beside the build; `None` if it cannot be had.
fn python() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/local-model");
    let python = folder.join("bin/python");
    let runs = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let has_all = || runs(&python, &["-c", "import xllamacpp, gguf, numpy"]);
    let installed = has_all()
        || (runs(Path::new("python3"), &["-m", "venv", folder.to_str()?])
            && runs(&python, &["-m", "pip", "install", "-q", "xllamacpp", "gguf", "numpy"])
            && has_all());
    installed.then_some(python)
}

fn start() -> Option<Llama> {
    let python = python()?;
    let folder = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/local_model/serve.py");
    let mut command = Command::new(python);
    command.args([script, folder.path().to_str()?, &port.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let llama = Llama { child: command.spawn().ok()?, port, _folder: folder };
    for _ in 0..600 {
        if is_ready(port).unwrap_or(false) {
            return Some(llama);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    None
}

/// It listens before it has loaded its model.
fn is_ready(port: u16) -> std::io::Result<bool> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.contains(" 200 "))
}

fn ask(llama: &Llama, kind: Kind, nonce: &str, time: Duration) -> Exchange {
    let world = DescribedWorld::new(Description::default(), "/srv/app");
    let call = ToolCall::bash("git push origin topic", "/srv/app");
    let evaluation = crate::memory::evaluation::evaluate(&call, &world, &Policy::built_in());
    let matter = PromptInput {
        call: &call,
        facts: &evaluation.facts,
        judgement: &evaluation.judgement,
        instructions: &[],
        transcript: &[],
        key: &[1; 16],
    };
    let prompt = Prompt::new(Lists::of(&Reviewer::default()).policy(), matter, nonce).unwrap();
    let base = format!("http://127.0.0.1:{}", llama.port);
    let url = match kind {
        Kind::Openai => format!("{base}/v1"),
        Kind::Anthropic | Kind::LlamaCpp | Kind::Ollama => base,
    };
    let chosen =
        UsableModel { name: "l/m".into(), model: "m".into(), kind, url, key: None, provider: Provider::default() };
    client::ask(&chosen, &prompt, ReviewStage::Reasoned, time, "/")
}

#[test]
fn a_real_server_understands_every_request_it_speaks() {
    let Some(llama) = start() else {
        let said = "no llama.cpp server could be installed or started, so no real one was asked";
        eprintln!("SKIPPED: {said}");
        assert!(std::env::var_os("CI").is_none_or(|value| value.is_empty()), "nothing may be skipped here: {said}");
        return;
    };
    let first = ask(&llama, Kind::LlamaCpp, "0011223344556677", PATIENCE);
    let reply = first.result.unwrap();
    assert_eq!(reply.nonce, "0011223344556677");
    assert!(first.usage.tokens_read > 1000 && first.usage.tokens_written > 20, "{:?}", first.usage);
    let second = ask(&llama, Kind::LlamaCpp, "8899aabbccddeeff", PATIENCE);
    assert!(second.result.is_ok());
    assert!(second.usage.tokens_kept > 1000, "the policy was not kept: {:?}", second.usage);
    // These two are not held to the nonce: the model knows nothing, so its answers are refused, each for its own reason.
    let openai = ask(&llama, Kind::Openai, "0011223344556677", PATIENCE);
    assert!(matches!(openai.result, Err(Fault::Invalid(_) | Fault::Stopped(_))), "{:?}", openai.result);
    let anthropic = ask(&llama, Kind::Anthropic, "0011223344556677", PATIENCE);
    assert!(matches!(anthropic.result, Err(Fault::Invalid(_) | Fault::Stopped(_))), "{:?}", anthropic.result);
    let late = ask(&llama, Kind::LlamaCpp, "0123012301230123", Duration::from_millis(20));
    assert_eq!(late.result, Err(Fault::Late(Duration::from_millis(20))));
    assert!(late.took < Duration::from_secs(1), "{:?}", late.took);
    through_the_hook(&llama);
}

/// Whatever the model says, the record has an answer of it, or that it was late.
fn through_the_hook(llama: &Llama) {
    let room = Room::with(&format!(
        "[agents.claude]\nmode = \"auto\"\n[reviewer]\nmodel = \"llama-cpp/m\"\nreasoned = \"always\"\nfast_ms = 0\n\
         [reviewer.providers.llama-cpp]\nurl = \"http://127.0.0.1:{}\"\n",
        llama.port
    ));
    let (decision, reason) = room.hook("curl https://some-unlisted-host.com/x");
    let review = room.review();
    let is_late = review["fault"] == "late";
    assert!(is_late || review["answer"] == "allow" || review["answer"] == "block", "{review}");
    // An answer that is not sure enough clears nothing.
    let clears = review["answer"] == "allow" && review["confidence"].as_f64().unwrap() >= 0.85;
    assert_eq!(decision == "allow", clears, "{review} {reason}");
}
