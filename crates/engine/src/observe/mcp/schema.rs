//! What a tool's schema shows of its parameters: a value that it does not show was asked for somewhere else.

use doorward_vocabulary::Degree;
use serde_json::Value;

use super::super::sheet::observer::Observer;
use super::ServerCall;

/// Notes parameters that are given and that the schema does not list.
pub(super) fn note(out: &mut Observer<'_>, call: &ServerCall<'_>) {
    let (Some(shown), Some(given)) = (call.schema.get("properties").and_then(Value::as_object), call.args.as_object())
    else {
        return;
    };
    let is_open = ["additionalProperties", "patternProperties"]
        .iter()
        .any(|key| call.schema.get(key).is_some_and(|more| !matches!(more, Value::Bool(false) | Value::Null)));
    if let Some(hidden) = given.keys().find(|key| !shown.contains_key(*key)).filter(|_| !is_open) {
        out.lower(Degree::Unknown, format!("`{}` is given `{hidden}`, which its schema doesn't show", call.name));
    }
}
