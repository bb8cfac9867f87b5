//! Reads the fields of a JSON object strictly: a wrong type is an error, and so is an unknown field.

use serde_json::{Map, Value};

/// The fields of one object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value) -> Result<Fields<'a>, String> {
        match value {
            Value::Object(fields) => Ok(Fields(fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err("it is not an object".into())
            }
        }
    }

    /// Optional text.
    pub(crate) fn may(self, name: &str) -> Result<Option<&'a str>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Err(format!("`{name}` is not a string"))
            }
        }
    }

    /// Optional text, owned.
    pub(crate) fn optional_text(self, name: &str) -> Result<Option<String>, String> {
        self.may(name).map(|found| found.map(str::to_owned))
    }

    /// Required text.
    pub(crate) fn need(self, name: &str) -> Result<String, String> {
        self.optional_text(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// Text under one of two names. If both are present, it is unknown which one the agent reads.
    pub(crate) fn either(self, one: &str, another: &str) -> Result<Option<String>, String> {
        match (self.optional_text(one)?, self.optional_text(another)?) {
            (Some(_), Some(_)) => Err(format!("it has both `{one}` and `{another}`")),
            (found, None) | (None, found) => Ok(found),
        }
    }

    /// A switch; off if it is missing.
    pub(crate) fn flag(self, name: &str) -> Result<bool, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) => {
                Err(format!("`{name}` is not true or false"))
            }
        }
    }

    /// A non-empty list of objects.
    pub(crate) fn objects(self, name: &str) -> Result<Vec<Fields<'a>>, String> {
        let Some(Value::Array(items)) = self.0.get(name) else { return Err(format!("`{name}` is not a list")) };
        if items.is_empty() {
            return Err(format!("`{name}` is empty"));
        }
        items
            .iter()
            .map(|item| Fields::of(item).map_err(|_| format!("an entry of `{name}` is not an object")))
            .collect()
    }

    /// All fields, as the original value.
    pub(crate) fn whole(self) -> Value {
        Value::Object(self.0.clone())
    }

    pub(crate) fn value(self, name: &str) -> Option<&'a Value> {
        self.0.get(name)
    }

    pub(crate) fn has(self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Fails if there are other fields: it is unknown what they change about the call.
    pub(crate) fn only(self, known: &str) -> Result<Fields<'a>, String> {
        match self.0.keys().find(|name| !known.split(' ').any(|known| known == name.as_str())) {
            Some(unknown) => Err(format!("unknown field `{unknown}`")),
            None => Ok(self),
        }
    }
}
