//! One exchange with a provider, over HTTP, within a deadline. Nothing is set up before a reviewer is asked.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::tls::{PemItem, RootCerts, TlsConfig};
use ureq::{Agent, Error};

use super::chosen::{UsableModel, expanded};
use super::fault::Fault;
use super::prompt::Prompt;
use super::provider::{self, ModelRequest, ReviewStage, Usage};
use super::reply::{self, ReviewReply};

/// Longer than any answer.
// Bounds memory against a server that streams without end; the deadline alone would allow gigabytes.
const LIMIT: u64 = 64 << 10;

/// Pause between a failed connection and the second attempt.
// A second attempt is made only if no connection was made: after a reply, asking again would give whoever
// wrote the action a second chance (decision 0019).
const PAUSE: Duration = Duration::from_millis(50);

/// The result of asking once.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub result: Result<ReviewReply, Fault>,
    pub usage: Usage,
    pub took: Duration,
    /// How many requests were sent.
    pub requests: u32,
}

/// Asks a model. Tries once more if the connection failed, and only then.
pub(crate) fn ask(chosen: &UsableModel, prompt: &Prompt, stage: ReviewStage, time: Duration, home: &str) -> Exchange {
    let start = Instant::now();
    let request = provider::request(chosen, prompt, stage);
    let (mut requests, mut usage) = (0, Usage::default());
    let result = loop {
        requests += 1;
        let left = time.saturating_sub(start.elapsed());
        let response = match left.is_zero() {
            true => Err(Fault::Late(time)),
            false => send(chosen, &request, left, home),
        };
        let is_unreachable = matches!(response, Err(Fault::Unreachable(_)));
        if is_unreachable && requests < 2 && start.elapsed() + PAUSE < time {
            std::thread::sleep(PAUSE);
            continue;
        }
        break response.and_then(|body| {
            let said = provider::read_answer(chosen.kind, &body)?;
            usage = said.usage;
            reply::parse(&said.text, &prompt.nonce).map_err(Fault::Invalid)
        });
    };
    let result = match result {
        // The time of the first attempt counts too.
        Err(Fault::Late(_)) => Err(Fault::Late(time)),
        other => other,
    };
    Exchange { result, usage, took: start.elapsed(), requests }
}

fn send(chosen: &UsableModel, request: &ModelRequest, time: Duration, home: &str) -> Result<Value, Fault> {
    let agent = agent(chosen, time, home)?;
    let mut post = agent.post(&request.url).header("content-type", "application/json");
    for (name, value) in &request.headers {
        post = post.header(*name, value);
    }
    let body = request.body.to_string();
    let mut response = post.send(body.as_bytes()).map_err(|error| fault(&error, time))?;
    match response.status().as_u16() {
        200 => {}
        429 => return Err(Fault::Limited),
        300..=399 => {
            let to = response.headers().get("location").and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            return Err(Fault::Redirected(to.chars().take(200).collect()));
        }
        other => return Err(Fault::Status(other)),
    }
    let read = response.body_mut().with_config().limit(LIMIT).read_to_vec();
    let bytes = read.map_err(|error| fault(&error, time))?;
    crate::machine::json::parse(&bytes).map_err(Fault::NoAnswer)
}

/// INVARIANT: no redirect is followed, no proxy of the environment is used, and no certificate is left unchecked.
fn agent(chosen: &UsableModel, time: Duration, home: &str) -> Result<Agent, Fault> {
    let tls = TlsConfig::builder().root_certs(roots(chosen, home)?).build();
    let config = Agent::config_builder()
        .timeout_global(Some(time))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .user_agent(concat!("doorward/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .build();
    Ok(config.new_agent())
}

fn roots(chosen: &UsableModel, home: &str) -> Result<RootCerts, Fault> {
    let Some(file) = chosen.provider.ca_file.as_deref() else { return Ok(RootCerts::WebPki) };
    let path = expanded(file, home);
    let text = crate::machine::checked_read::read(Path::new(&path)).map_err(Fault::Tls)?;
    let text = text.ok_or_else(|| Fault::Tls(format!("the certificate file `{path}` does not exist")))?;
    let certificate = |item: Result<PemItem<'static>, Error>| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        Ok(_) | Err(_) => None,
    };
    let certificates: Vec<_> = ureq::tls::parse_pem(text.as_bytes()).filter_map(certificate).collect();
    if certificates.is_empty() {
        return Err(Fault::Tls(format!("`{path}` contains no certificate")));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else goes wrong is no answer either, and approves nothing"
)]
fn fault(error: &Error, time: Duration) -> Fault {
    match error {
        Error::Timeout(_) => Fault::Late(time),
        Error::HostNotFound => Fault::Unreachable("its address has no host".to_owned()),
        Error::ConnectionFailed => Fault::Unreachable("the connection failed".to_owned()),
        Error::BodyExceedsLimit(_) => Fault::TooLong(LIMIT),
        Error::Tls(_) | Error::Pem(_) | Error::Rustls(_) => Fault::Tls(error.to_string()),
        Error::Io(cause) => match cause.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Fault::Late(time),
            // This is how TLS reports non-TLS bytes.
            ErrorKind::InvalidData => Fault::Tls(cause.to_string()),
            ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::NotConnected
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::AddrNotAvailable
            | ErrorKind::BrokenPipe => Fault::Unreachable(cause.to_string()),
            _ => Fault::NoAnswer(cause.to_string()),
        },
        _ => Fault::NoAnswer(error.to_string()),
    }
}
