//! A request as the routes see it, and their answer: no connection, no bytes on the wire.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::tokens::Visitor;

/// A request that passed the gate.
#[derive(Debug)]
pub(super) struct Ask {
    pub is_post: bool,
    pub path: String,
    pub query: BTreeMap<String, String>,
    pub body: Vec<u8>,
    /// The origin of our own that it was sent to.
    pub origin: String,
    /// It comes from this machine.
    pub is_local: bool,
    /// Who asks, once that is known.
    pub visitor: Option<Visitor>,
}

/// The answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub status: u16,
    pub kind: &'static str,
    pub body: Vec<u8>,
}

/// Why there is no better answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: u16,
    pub text: String,
}

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const JSON: &str = "application/json";

impl Ask {
    /// The body as JSON.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(&self.body).map_err(|error| Refusal::new(400, format!("the body does not fit: {error}")))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// A number of the query; anything else is an error, not a default.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let parsed = self.text(name).map(|text| text.parse::<u64>().ok().filter(|number| *number <= i64::MAX as u64));
        match parsed {
            None => Ok(None),
            Some(Some(number)) => Ok(Some(number)),
            Some(None) => Err(Refusal::new(400, format!("`{name}` must be a whole number"))),
        }
    }

    /// How many entries a page has.
    pub(super) fn limit(&self, usual: u32) -> Result<u32, Refusal> {
        let most = 1_000;
        match self.number("limit")? {
            None => Ok(usual),
            Some(limit) if (1..=most).contains(&limit) => Ok(u32::try_from(limit).unwrap_or(usual)),
            Some(_) => Err(Refusal::new(400, format!("`limit` must be between 1 and {most}"))),
        }
    }
}

impl Answer {
    pub(super) fn html(text: String) -> Answer {
        Answer { status: 200, kind: HTML, body: text.into_bytes() }
    }

    pub(super) fn json(value: &impl Serialize) -> Result<Answer, Refusal> {
        let body = serde_json::to_vec(value).map_err(|error| Refusal::new(500, error.to_string()))?;
        Ok(Answer { status: 200, kind: JSON, body })
    }
}

impl Refusal {
    pub(super) fn new(status: u16, text: impl Into<String>) -> Refusal {
        Refusal { status, text: text.into() }
    }

    pub(super) fn not_found() -> Refusal {
        Refusal::new(404, "there is nothing here")
    }

    pub(super) fn answer(&self) -> Answer {
        let body = json!({ "error": self.text }).to_string().into_bytes();
        Answer { status: self.status, kind: JSON, body }
    }
}

/// What went wrong inside is told as it is: only the user reads it.
impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Refusal {
        Refusal::new(503, format!("{error:#}"))
    }
}

/// The fields of a query string.
pub(super) fn query(text: &str) -> BTreeMap<String, String> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name, true), decoded(value, true))
        })
        .collect()
}

/// Percent signs resolved; what is no text becomes the replacement character.
pub(super) fn decoded(text: &str, plus_is_space: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' if plus_is_space => bytes.push(b' '),
            b'%' => {
                let digits: Vec<u8> = rest.clone().take(2).collect();
                let value =
                    std::str::from_utf8(&digits).ok().filter(|digits| digits.len() == 2 && !digits.starts_with('+'));
                match value.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    Some(value) => {
                        bytes.push(value);
                        rest.nth(1);
                    }
                    None => bytes.push(b'%'),
                }
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded_once() {
        let fields = query("a=1&b=x+y%20z&c&d=%2525&e=%zz%4&=v");
        for (name, value) in [("a", "1"), ("b", "x y z"), ("c", ""), ("d", "%25"), ("e", "%zz%4"), ("", "v")] {
            assert_eq!(fields.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert_eq!(decoded("a+b%ff", false), "a+b\u{fffd}");
    }
}
