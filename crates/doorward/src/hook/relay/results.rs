//! What a tool answered: secrets in it are remembered for the session, hidden text is noted.

use serde_json::Value;

/// What was seen in a result.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub is_error: bool,
    pub holds_secret: bool,
    hides: bool,
}

impl Seen {
    /// What the record says about it.
    pub(super) const fn detail(&self) -> Option<&'static str> {
        match (self.holds_secret, self.hides) {
            (true, true) => Some("the answer holds a secret and characters that you can't see"),
            (true, false) => Some("the answer holds a secret"),
            (false, true) => Some("the answer holds characters that you can't see"),
            (false, false) => None,
        }
    }
}

/// Longer answers are pictures and archives; their text is looked at as it stands, escapes and all.
const READ: usize = 4 << 20;

/// Looks at the texts of a result.
pub(super) fn look(result: &str) -> Seen {
    let mut seen = Seen::default();
    if result.len() > READ {
        seen.text(result);
        return seen;
    }
    let value: Value = serde_json::from_str(result).unwrap_or_default();
    seen.is_error = value.get("isError") == Some(&Value::Bool(true));
    seen.value(&value);
    seen
}

impl Seen {
    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().for_each(|item| self.value(item)),
            // Pictures and sounds are base64, in which random bytes look like many things.
            Value::Object(fields) => fields
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "blob" | "data"))
                .for_each(|(_, value)| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.holds_secret |= doorward_engine::holds_secret(text);
        self.hides |= doorward_engine::hides_text(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_hidden_text_are_seen_behind_escapes() {
        let plain = look(r#"{"content":[{"type":"text","text":"three files"}]}"#);
        assert!(!plain.holds_secret && plain.detail().is_none() && !plain.is_error);
        assert!(
            look(r#"{"content":[{"type":"text","text":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}]}"#).holds_secret
        );
        assert!(look("{\"content\":[{\"type\":\"text\",\"text\":\"a\\u200bb\"}]}").detail().is_some());
        assert!(look(r#"{"isError":true,"content":[]}"#).is_error);
    }
}
