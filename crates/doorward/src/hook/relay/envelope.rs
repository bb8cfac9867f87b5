//! Reads a message aside: its id, method and parameters, without touching a byte of it.
//!
//! A reader that takes another of two keys than ours would act on a message that nobody judged, so a message with a key
//! twice, also in another case, is not readable.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// One message of JSON-RPC.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    /// As it stands in the message.
    pub id: Option<&'a RawValue>,
    pub method: Option<Cow<'a, str>>,
    pub params: Option<&'a RawValue>,
    pub result: Option<&'a RawValue>,
    pub error: Option<&'a RawValue>,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
    Response,
}

/// A line, read.
#[derive(Debug)]
pub(super) enum Read<'a> {
    /// Only white space.
    Nothing,
    One(Envelope<'a>),
    Many(Vec<(&'a RawValue, Envelope<'a>)>),
    Unreadable(String),
}

impl<'a> Envelope<'a> {
    pub(super) fn kind(&self) -> Kind {
        match (&self.method, self.id) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, _) => Kind::Response,
        }
    }

    /// The id in one spelling: `"a"` and `"\u0061"` are one id.
    pub(super) fn key(&self) -> Option<String> {
        let value: Value = serde_json::from_str(self.id?.get()).ok()?;
        matches!(value, Value::String(_) | Value::Number(_)).then(|| value.to_string())
    }

    /// The parameters, read strictly.
    pub(super) fn params(&self) -> Result<Value, String> {
        match self.params {
            Some(params) => crate::machine::json::parse(params.get().as_bytes()),
            None => Ok(Value::Null),
        }
    }

    /// A name of the parameters, without reading the rest of them.
    pub(super) fn method(&self) -> &str {
        self.method.as_deref().unwrap_or_default()
    }

    fn check(self) -> Result<Envelope<'a>, String> {
        let is_response = self.result.is_some() || self.error.is_some();
        if self.method.is_some() && is_response {
            return Err("it is a request and an answer in one".to_owned());
        }
        if self.method.is_none() && !is_response {
            return Err("it is neither a request nor an answer".to_owned());
        }
        Ok(self)
    }
}

/// Reads one line.
pub(super) fn read(line: &[u8]) -> Read<'_> {
    let Ok(text) = std::str::from_utf8(line) else { return Read::Unreadable("it is not UTF-8".to_owned()) };
    let trimmed = text.trim_matches(['\n', '\r', ' ', '\t']);
    if trimmed.is_empty() {
        return Read::Nothing;
    }
    // Some readers take a carriage return for the end of a line, and would see other messages than we do.
    if trimmed.contains('\r') {
        return Read::Unreadable("a carriage return stands in it".to_owned());
    }
    if trimmed.starts_with('[') {
        return many(trimmed).unwrap_or_else(Read::Unreadable);
    }
    match one(trimmed) {
        Ok(envelope) => Read::One(envelope),
        Err(problem) => Read::Unreadable(problem),
    }
}

fn one(text: &str) -> Result<Envelope<'_>, String> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    envelope.check()
}

fn many(text: &str) -> Result<Read<'_>, String> {
    let raw: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if raw.is_empty() {
        return Err("an empty batch".to_owned());
    }
    let read = raw.into_iter().map(|raw| one(raw.get()).map(|envelope| (raw, envelope)));
    Ok(Read::Many(read.collect::<Result<_, _>>()?))
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Envelope<'a>, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

/// The keys that mean something. Others pass unread, unless they are one of these in another case.
const KEYS: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];

impl<'de> Visitor<'de> for Fields {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message of JSON-RPC")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        let mut seen = [false; 6];
        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
            let Some(place) = KEYS.iter().position(|known| known.eq_ignore_ascii_case(&key)) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let is_first = seen.get_mut(place).is_some_and(|seen| !std::mem::replace(seen, true));
            if !is_first || !KEYS.contains(&key.as_ref()) {
                return Err(A::Error::custom(format!("`{key}` stands there twice, or in another case")));
            }
            match key.as_ref() {
                "id" => envelope.id = Some(map.next_value()?),
                "method" => envelope.method = Some(map.next_value::<Text<'de>>()?.0),
                "params" => envelope.params = Some(map.next_value()?),
                "result" => envelope.result = Some(map.next_value()?),
                "error" => envelope.error = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        // `null` is no id of a request.
        envelope.id = envelope.id.filter(|id| envelope.method.is_none() || id.get() != "null");
        Ok(envelope)
    }
}

/// A text that is borrowed where it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Result<Kind, ()> {
        match read(text.as_bytes()) {
            Read::One(envelope) => Ok(envelope.kind()),
            Read::Nothing | Read::Many(_) | Read::Unreadable(_) => Err(()),
        }
    }

    #[test]
    fn a_message_is_read_in_one_way_or_not_at_all() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Ok(Kind::Request)),
            (r#"{"jsonrpc":"2.0","id":"a","method":"tools\/call","params":{}}"#, Ok(Kind::Request)),
            (r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, Ok(Kind::Notification)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, Ok(Kind::Notification)),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Ok(Kind::Response)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#, Err(())),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#, Err(())),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, Err(())),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, Err(())),
            (r#"{"jsonrpc":"2.0","id":1}"#, Err(())),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, Err(())),
            (r#"{"id":1,"method":"pi"#, Err(())),
            ("not json", Err(())),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn ids_are_one_however_they_are_spelt() {
        let key = |text: &str| match read(text.as_bytes()) {
            Read::One(envelope) => envelope.key(),
            Read::Nothing | Read::Many(_) | Read::Unreadable(_) => panic!("{text}"),
        };
        assert_eq!(key(r#"{"id":"a","method":"x"}"#), key("{\"id\":\"\\u0061\",\"method\":\"x\"}"));
        assert_ne!(key(r#"{"id":"1","method":"x"}"#), key(r#"{"id":1,"method":"x"}"#));
        assert_eq!(key(r#"{"id":{},"method":"x"}"#), None);
    }
}
