//! The protocols: a prompt to a request, a response to text. Pure.

use serde::Serialize;
use serde_json::{Value, json};

use super::chosen::UsableModel;
use super::fault::Fault;
use super::prompt::Prompt;
use super::reply::{grammar, schema};
use crate::policy::config::reviewer::Kind;

/// Tokens of an answer in the reasoned stage, and in the fast one.
// A few sentences of reasoning plus the object. A model that needs more is not answering the question.
const REASONED_TOKENS: u32 = 700;
const FAST_TOKENS: u32 = 250;

/// The two stages of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReviewStage {
    /// Can only approve or pass.
    Fast,
    Reasoned,
}

/// One request.
#[derive(Debug, PartialEq)]
pub(crate) struct ModelRequest {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Value,
}

/// What a model said, and what it counted.
#[derive(Debug, PartialEq)]
pub(crate) struct ModelAnswer {
    pub text: String,
    pub usage: Usage,
}

/// Tokens as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Usage {
    pub tokens_read: u64,
    pub tokens_written: u64,
    /// How many input tokens were cached.
    pub tokens_kept: u64,
}

/// The request for a prompt.
pub(crate) fn request(chosen: &UsableModel, prompt: &Prompt, stage: ReviewStage) -> ModelRequest {
    let tokens = match stage {
        ReviewStage::Fast => FAST_TOKENS,
        ReviewStage::Reasoned => REASONED_TOKENS,
    };
    let (path, mut body) = match chosen.kind {
        Kind::Anthropic => ("/v1/messages", anthropic(chosen, prompt, tokens)),
        Kind::Openai => ("/chat/completions", openai(chosen, prompt, tokens)),
        Kind::Ollama => ("/api/chat", ollama(chosen, prompt, tokens)),
        Kind::LlamaCpp => ("/v1/chat/completions", llama(chosen, prompt, tokens)),
    };
    let place = match chosen.kind {
        Kind::Anthropic | Kind::Openai | Kind::LlamaCpp => "",
        Kind::Ollama => "/options",
    };
    if chosen.provider.temperature != Some(false)
        && let Some(Value::Object(fields)) = body.pointer_mut(place)
    {
        fields.insert("temperature".to_owned(), json!(0));
    }
    ModelRequest { url: format!("{}{path}", chosen.url), headers: headers(chosen), body }
}

fn headers(chosen: &UsableModel) -> Vec<(&'static str, String)> {
    let key = chosen.key.clone();
    match chosen.kind {
        Kind::Anthropic => {
            let version = ("anthropic-version", "2023-06-01".to_owned());
            std::iter::once(version).chain(key.map(|key| ("x-api-key", key))).collect()
        }
        Kind::Openai | Kind::Ollama | Kind::LlamaCpp => {
            key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
        }
    }
}

fn messages(prompt: &Prompt) -> Value {
    json!([{ "role": "system", "content": prompt.system }, { "role": "user", "content": prompt.message }])
}

fn anthropic(chosen: &UsableModel, prompt: &Prompt, tokens: u32) -> Value {
    json!({
        "model": chosen.model, "max_tokens": tokens,
        "system": [{ "type": "text", "text": prompt.system, "cache_control": { "type": "ephemeral" } }],
        "messages": [{ "role": "user", "content": prompt.message }],
    })
}

fn openai(chosen: &UsableModel, prompt: &Prompt, tokens: u32) -> Value {
    // OpenAI's newer models know only the longer name, most others only the shorter one.
    let limit = if chosen.url.starts_with("https://api.openai.com/") { "max_completion_tokens" } else { "max_tokens" };
    let schema = json!({ "name": "review", "strict": true, "schema": schema() });
    json!({
        "model": chosen.model, limit: tokens, "messages": messages(prompt),
        "response_format": { "type": "json_schema", "json_schema": schema },
    })
}

fn ollama(chosen: &UsableModel, prompt: &Prompt, tokens: u32) -> Value {
    json!({
        "model": chosen.model, "stream": false, "think": false, "messages": messages(prompt),
        "format": grammar(&prompt.nonce), "options": { "num_predict": tokens },
    })
}

fn llama(chosen: &UsableModel, prompt: &Prompt, tokens: u32) -> Value {
    let schema = json!({ "name": "review", "strict": true, "schema": grammar(&prompt.nonce) });
    json!({
        "model": chosen.model, "max_tokens": tokens, "messages": messages(prompt), "cache_prompt": true,
        "chat_template_kwargs": { "enable_thinking": false },
        "response_format": { "type": "json_schema", "json_schema": schema },
    })
}

/// The text of a response. Only a complete response counts.
pub(crate) fn read_answer(kind: Kind, body: &Value) -> Result<ModelAnswer, Fault> {
    match kind {
        Kind::Anthropic => from_anthropic(body),
        Kind::Openai | Kind::LlamaCpp => from_openai(body),
        Kind::Ollama => from_ollama(body),
    }
}

fn from_anthropic(body: &Value) -> Result<ModelAnswer, Fault> {
    let stop = text(body, "/stop_reason").ok_or_else(|| absent("stop_reason"))?;
    if stop != "end_turn" {
        return Err(Fault::Stopped(stop.to_owned()));
    }
    let parts = body.get("content").and_then(Value::as_array).ok_or_else(|| absent("content"))?;
    let spoken: Vec<&Value> = parts.iter().filter(|part| text(part, "/type") != Some("thinking")).collect();
    let [part] = spoken.as_slice() else { return Err(Fault::NoAnswer("it does not have exactly one part".to_owned())) };
    let is_text = text(part, "/type") == Some("text");
    let said = text(part, "/text").filter(|_| is_text).ok_or_else(|| absent("text"))?;
    let count = |name: &str| count(body, &format!("/usage/{name}"));
    let kept = count("cache_read_input_tokens");
    let usage = Usage {
        tokens_read: count("input_tokens") + kept + count("cache_creation_input_tokens"),
        tokens_written: count("output_tokens"),
        tokens_kept: kept,
    };
    Ok(ModelAnswer { text: said.to_owned(), usage })
}

fn from_openai(body: &Value) -> Result<ModelAnswer, Fault> {
    let choices = body.get("choices").and_then(Value::as_array).ok_or_else(|| absent("choices"))?;
    let [choice] = choices.as_slice() else {
        return Err(Fault::NoAnswer("it does not have exactly one choice".to_owned()));
    };
    let stop = text(choice, "/finish_reason").ok_or_else(|| absent("finish_reason"))?;
    if stop != "stop" {
        return Err(Fault::Stopped(stop.to_owned()));
    }
    let said = text(choice, "/message/content").ok_or_else(|| absent("content"))?;
    let count = |path: &str| count(body, path);
    let usage = Usage {
        tokens_read: count("/usage/prompt_tokens"),
        tokens_written: count("/usage/completion_tokens"),
        tokens_kept: count("/usage/prompt_tokens_details/cached_tokens"),
    };
    Ok(ModelAnswer { text: said.to_owned(), usage })
}

fn from_ollama(body: &Value) -> Result<ModelAnswer, Fault> {
    if body.get("done") != Some(&Value::Bool(true)) {
        return Err(Fault::Stopped("not done".to_owned()));
    }
    let stop = text(body, "/done_reason").ok_or_else(|| absent("done_reason"))?;
    if stop != "stop" {
        return Err(Fault::Stopped(stop.to_owned()));
    }
    let said = text(body, "/message/content").ok_or_else(|| absent("content"))?;
    let count = |name: &str| count(body, &format!("/{name}"));
    let usage = Usage { tokens_read: count("prompt_eval_count"), tokens_written: count("eval_count"), tokens_kept: 0 };
    Ok(ModelAnswer { text: said.to_owned(), usage })
}

fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path).and_then(Value::as_str)
}

fn count(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}

fn absent(field: &str) -> Fault {
    Fault::NoAnswer(format!("`{field}` is missing or has the wrong type"))
}
