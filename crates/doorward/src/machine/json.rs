//! Reads JSON strictly: no duplicate keys, a limited number of values, and no more depth than serde_json allows.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// More values than any honest tool call has; each costs far more memory than its text.
// Sixty megabytes of `[[[[` would expand to gigabytes of values before anything is judged.
const VALUES: usize = 2_000_000;

/// Reads one JSON value that fills all of `bytes`.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let mut left = VALUES;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { left: &mut left }.deserialize(&mut deserializer).map_err(|error| describe(&error))?;
    deserializer.end().map_err(|error| describe(&error))?;
    Ok(value)
}

/// The error, without a line number if there is only one line.
fn describe(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// Builds a [`Value`] and counts down how many more values it may contain.
struct Strict<'a> {
    left: &'a mut usize,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Strict { left: spend(self.left)? })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Strict { left: spend(self.left)? })?;
            // Parsers differ in which of two equal keys they take. The agent could take the other one and run what
            // was not judged.
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` appears twice in one object")));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

fn spend<E: Error>(left: &mut usize) -> Result<&mut usize, E> {
    *left = left.checked_sub(1).ok_or_else(|| E::custom(format!("it has more than {VALUES} values")))?;
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_what_serde_json_reads_and_refuses_what_is_ambiguous() {
        for good in [r#"{"a":[1,-2,0.5,null,true,"x"],"b":{"a":{}}}"#, "[]", "\"\\u00e9\"", "12345678901234567890"] {
            assert_eq!(parse(good.as_bytes()).unwrap(), serde_json::from_str::<serde_json::Value>(good).unwrap());
        }
        for bad in [r#"{"a":1,"a":2}"#, r#"{"x":{"a":1,"a":1}}"#, "{} {}", "", "{", "\"\\ud800\"", "1e999"] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(parse(&[b'"', 0xff, b'"']).is_err());
        assert!(parse("[".repeat(10_000).as_bytes()).is_err());
    }

    #[test]
    fn a_line_of_very_many_values_is_refused_before_it_fills_the_memory() {
        let line = format!("[{}0]", "0,".repeat(3_000_000));
        assert!(parse(line.as_bytes()).unwrap_err().contains("more than"));
    }
}
