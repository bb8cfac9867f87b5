//! Why there is no valid answer: one sentence for each way a reviewer can fail.

use std::time::Duration;

use super::reply::NOT_VALID;

/// pi-automode's sentence when there is no model to ask; its users know it.
pub(super) const NO_MODEL: &str = "No classifier model/API key available; auto mode fails closed.";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No model, no provider or no key.
    NoModel(String),
    /// It failed too often lately.
    Resting(Duration),
    /// The call can't be sent as it is.
    Unsendable(String),
    /// No time is left before the agent needs an answer.
    NoTime,
    Late(Duration),
    Unreachable(String),
    Tls(String),
    Limited,
    Status(u16),
    Redirected(String),
    TooLong(u64),
    /// The response does not follow the protocol.
    NoAnswer(String),
    /// The model stopped before it was done.
    Stopped(String),
    /// The reply is not what was asked for.
    Invalid(String),
}

impl Fault {
    /// One word for the record.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Fault::NoModel(_) => "no-model",
            Fault::Resting(_) => "resting",
            Fault::Unsendable(_) => "unsendable",
            Fault::NoTime => "no-time",
            Fault::Late(_) => "late",
            Fault::Unreachable(_) => "unreachable",
            Fault::Tls(_) => "tls",
            Fault::Limited => "limited",
            Fault::Status(_) => "status",
            Fault::Redirected(_) => "redirected",
            Fault::TooLong(_) => "too-long",
            Fault::NoAnswer(_) => "no-answer",
            Fault::Stopped(_) => "stopped",
            Fault::Invalid(_) => "invalid",
        }
    }

    /// The problem, without pi-automode's sentence.
    pub(crate) fn detail(&self) -> String {
        if let Fault::NoModel(why) = self { why.clone() } else { self.to_string() }
    }

    /// Asking again soon would fail again and keep people waiting.
    pub(crate) const fn tires(&self) -> bool {
        match self {
            Fault::NoModel(_) | Fault::Resting(_) | Fault::Unsendable(_) | Fault::NoTime => false,
            Fault::Late(_)
            | Fault::Unreachable(_)
            | Fault::Tls(_)
            | Fault::Limited
            | Fault::Status(_)
            | Fault::Redirected(_)
            | Fault::TooLong(_)
            | Fault::NoAnswer(_)
            | Fault::Stopped(_)
            | Fault::Invalid(_) => true,
        }
    }

    /// The slower stage may still come to an answer.
    pub(crate) const fn leaves_hope(&self) -> bool {
        matches!(self, Fault::Late(_))
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::NoModel(why) => write!(out, "{NO_MODEL} {why}"),
            Fault::Resting(left) => {
                write!(out, "it failed three times in a row and is paused for another {} s", left.as_secs().max(1))
            }
            Fault::Unsendable(why) => write!(out, "{why}"),
            Fault::NoTime => write!(out, "no time is left before the agent needs an answer"),
            Fault::Late(after) => write!(out, "it did not answer within {:.1} s", after.as_secs_f64()),
            Fault::Unreachable(why) => write!(out, "it can't be reached: {why}"),
            Fault::Tls(why) => write!(out, "its connection can't be trusted: {why}"),
            Fault::Limited => write!(out, "it is rate-limited (status 429)"),
            Fault::Status(status) => write!(out, "it answered with status {status}"),
            Fault::Redirected(to) => write!(out, "it redirects to `{to}`, which doorward does not follow"),
            Fault::TooLong(limit) => write!(out, "its answer is longer than {limit} bytes"),
            Fault::NoAnswer(why) => write!(out, "its response is invalid: {why}"),
            Fault::Stopped(why) => write!(out, "it stopped before it was done (`{why}`)"),
            Fault::Invalid(why) => write!(out, "{NOT_VALID} {why}"),
        }
    }
}
