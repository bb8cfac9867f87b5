//! One line of `check --jsonl`: a tool call and the machine it would run on.

use doorward_engine::{Description, Mode, ToolCall, tool_from_json};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::policy::config::Config;

/// A call to be checked.
#[derive(Debug)]
pub(crate) struct CheckRequest {
    pub id: Value,
    pub call: ToolCall,
    pub world: Option<Description>,
    /// The root of the project, if the world does not say it.
    pub root: Option<String>,
    pub mode: Mode,
    pub config: Option<Config>,
}

/// A line that is not a call, with its id if that could be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub id: Value,
    /// What is wrong, to follow "line 3 ".
    pub problem: String,
}

impl CheckRequest {
    /// Reads a line. `cwd` is used if the line names no directory.
    pub(crate) fn parse(line: &[u8], cwd: &str) -> Result<CheckRequest, Malformed> {
        let malformed = |problem: String| Malformed { id: salvaged_id(line), problem };
        if std::str::from_utf8(line).is_err() {
            return Err(malformed("is not UTF-8".into()));
        }
        let value = crate::machine::json::parse(line)
            .map_err(|error| malformed(format!("is not a valid JSON object: {error}")))?;
        let Value::Object(fields) = value else { return Err(malformed("is not an object".into())) };
        CheckRequest::from_fields(fields, cwd).map_err(|problem| malformed(format!("is not a tool call: {problem}")))
    }

    fn from_fields(mut fields: Map<String, Value>, cwd: &str) -> Result<CheckRequest, String> {
        let id = fields.remove("id").unwrap_or(Value::Null);
        let tool = text(&mut fields, "tool")?.ok_or("`tool` is missing")?;
        let input = fields.remove("input").ok_or("`input` is missing")?;
        let world: Option<Description> = typed(&mut fields, "world")?;
        let project = world.as_ref().and_then(|world| world.project.clone());
        let cwd = text(&mut fields, "cwd")?.or(project).unwrap_or_else(|| cwd.to_owned());
        if !cwd.starts_with('/') {
            return Err(format!("`cwd` is not an absolute path: `{cwd}`"));
        }
        let mut call = ToolCall::new(tool_from_json(&tool, &input), cwd);
        call.user_message = text(&mut fields, "user_message")?;
        call.agent = text(&mut fields, "agent")?.unwrap_or_default();
        call.session = text(&mut fields, "session")?.unwrap_or_default().into();
        call.attended = flag(&mut fields, "attended")?.unwrap_or(true);
        Ok(CheckRequest {
            id,
            call,
            world,
            root: text(&mut fields, "root")?,
            mode: typed(&mut fields, "mode")?.unwrap_or(Mode::Auto),
            config: typed(&mut fields, "config")?,
        })
    }
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{name}` must be a string")),
    }
}

fn flag(fields: &mut Map<String, Value>, name: &str) -> Result<Option<bool>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(value)),
        Some(_) => Err(format!("`{name}` must be true or false")),
    }
}

fn typed<T: for<'de> Deserialize<'de>>(fields: &mut Map<String, Value>, name: &str) -> Result<Option<T>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_json::from_value(value).map(Some).map_err(|error| format!("`{name}`: {error}")),
    }
}

/// The longest id that is echoed for an unreadable line.
// An unreadable line is untrusted input; its id goes back to the caller only so that the answer can be matched.
const ID: usize = 256;

/// The id of a line that is not a call, so that the caller can match the answer.
pub(super) fn salvaged_id(line: &[u8]) -> Value {
    #[derive(Deserialize)]
    struct OnlyId<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    let text = String::from_utf8_lossy(line);
    let raw = match serde_json::from_str::<OnlyId<'_>>(&text) {
        Ok(OnlyId { id }) => id.map(|raw| raw.get().to_owned()),
        Err(_) => torn_id(&text),
    };
    raw.filter(|raw| raw.len() <= ID)
        .and_then(|raw| serde_json::from_str::<Value>(&raw).ok())
        .filter(|id| id.is_string() || id.is_number())
        .unwrap_or(Value::Null)
}

/// The first `"id": …` at the start of a line that is cut off or broken further on.
fn torn_id(text: &str) -> Option<String> {
    let rest =
        text.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"id\"")?.trim_start().strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    rest.get(..values.byte_offset()).map(|raw| raw.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of(line: &str) -> Value {
        CheckRequest::parse(line.as_bytes(), "/p").unwrap_err().id
    }

    #[test]
    fn a_line_that_is_no_call_keeps_its_id_where_it_can_be_found() {
        assert_eq!(id_of(r#"{"id":"a","tool":3,"input":{}}"#), "a");
        assert_eq!(id_of(r#"{"id":7,"tool":"bash"}"#), 7);
        assert_eq!(id_of(r#"{"tool":"bash","input":{"command":"\ud800"},"id":"late"}"#), "late");
        assert_eq!(id_of(r#"{"id":"cut","tool":"bash","input":{"comm"#), "cut");
        assert_eq!(id_of(r#"{"id":"a","id":"b","tool":"bash","input":{}}"#), "a");
        assert_eq!(id_of(r#"{"id":{"x":1},"tool":"bash"}"#), Value::Null);
        assert_eq!(id_of("nonsense"), Value::Null);
        assert_eq!(id_of(&format!("{{\"id\":\"deep\",\"input\":{}", "[".repeat(10_000))), "deep");
    }

    #[test]
    fn a_call_is_read_with_everything_around_it() {
        let line = r#"{"id":1,"tool":"bash","input":{"command":"ls","abridged":true},"world":{"project":"/w"},"attended":false,"mode":"confirm-all"}"#;
        let request = CheckRequest::parse(line.as_bytes(), "/p").unwrap();
        assert_eq!((request.call.cwd.as_str(), request.call.attended, request.mode), ("/w", false, Mode::ConfirmAll));
    }
}
