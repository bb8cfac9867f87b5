//! The language model that may clear soft questions: which one, how to reach it, and what it judges by.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DEFAULTS;

/// Maximum time for the fast stage, in milliseconds.
// A person waits for every call; a slower answer is worse than the question it spares.
pub(crate) const FAST_MS: u32 = 1_500;

/// Maximum time for the reasoned stage, in milliseconds.
// Only used if no one can be asked, or if the user chose it: there, waiting beats a refusal.
pub(crate) const REASONED_MS: u32 = 10_000;

/// A language model to ask when layer 2 is unsure; off unless `model` or `models` is set. A repository can't set this.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Reviewer {
    /// `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// More models that Pi's local file, or a session where `model` is not set, may choose from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// When to ask the slower stage after the fast one; default: `headless`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoned: Option<Reasoned>,
    /// Milliseconds for the fast stage; at most 1500, 0 skips it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_ms: Option<u32>,
    /// Milliseconds for the reasoned stage; at most 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoned_ms: Option<u32>,
    /// Whether the reviewer sees the project's instruction files, quoted; default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<bool>,
    /// What is trusted, in sentences; `$defaults` stands for the built-in ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// Exceptions to soft-deny rules, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// What blocks unless the user named it, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub soft_deny: Vec<String>,
    /// What always blocks, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hard_deny: Vec<String>,
    /// One table per provider; `anthropic`, `openai`, `ollama` and `llama-cpp` are built in.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, Provider>,
}

/// When to ask the slower stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reasoned {
    /// In unattended sessions.
    Headless,
    Always,
    Never,
}

/// The protocol a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Messages of Anthropic.
    Anthropic,
    /// OpenAI chat completions, and compatible providers.
    Openai,
    Ollama,
    /// The server of llama.cpp.
    LlamaCpp,
}

/// How to reach a provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Provider {
    /// Its protocol, if the name does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Its base URL; `http` only on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The environment variable with the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// The file with the key; only you may write to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<String>,
    /// A program by absolute path, with arguments, that prints the key.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key_command: Vec<String>,
    /// Certificates (PEM) to trust instead of the built-in ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// Whether to request temperature 0; some models reject requests that set it. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<bool>,
    /// Dollars per million input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_input: Option<f64>,
    /// Dollars per million output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_output: Option<f64>,
}

impl Reviewer {
    /// A model is configured.
    pub(crate) fn is_on(&self) -> bool {
        self.model.is_some() || !self.models.is_empty()
    }

    /// Says anything at all.
    pub(crate) fn is_set(&self) -> bool {
        *self != Reviewer::default()
    }

    /// The user has configured this model.
    pub(crate) fn offers(&self, model: &str) -> bool {
        self.model.as_deref() == Some(model) || self.models.iter().any(|offered| offered == model)
    }

    /// Picks one of the user's configured models; any other is ignored.
    pub(crate) fn choose(&mut self, model: &str) {
        if self.offers(model) {
            self.model = Some(model.to_owned());
        }
    }

    /// These choices, falling back to the others; lists are combined.
    #[must_use]
    pub(crate) fn over(mut self, other: Reviewer) -> Reviewer {
        self.model = self.model.or(other.model);
        self.models.extend(other.models);
        self.reasoned = self.reasoned.or(other.reasoned);
        self.fast_ms = self.fast_ms.or(other.fast_ms);
        self.reasoned_ms = self.reasoned_ms.or(other.reasoned_ms);
        self.instructions = self.instructions.or(other.instructions);
        self.environment = together(self.environment, other.environment);
        self.allow = together(self.allow, other.allow);
        self.soft_deny = together(self.soft_deny, other.soft_deny);
        self.hard_deny = together(self.hard_deny, other.hard_deny);
        for (name, provider) in other.providers {
            self.providers.entry(name).or_insert(provider);
        }
        self
    }

    /// INVARIANT: what passes here never sends a key unencrypted.
    pub(crate) fn check(&self) -> Result<(), String> {
        for model in self.model.iter().chain(&self.models) {
            let is_named = model.split_once('/').is_some_and(|(provider, name)| {
                !provider.is_empty() && !name.is_empty() && !model.contains(char::is_whitespace)
            });
            if !is_named {
                return Err(format!("`{model}` is not a reviewer model: write `provider/model`"));
            }
        }
        self.providers.iter().try_for_each(|(name, provider)| provider.check(name))
    }
}

impl Provider {
    fn check(&self, name: &str) -> Result<(), String> {
        if let Some(url) = self.url.as_deref().filter(|url| !is_safe(url)) {
            return Err(format!("`reviewer.providers.{name}.url` is `{url}`: only `https`, or `http` on this machine"));
        }
        if self.key_command.first().is_some_and(|program| !program.starts_with('/')) {
            return Err(format!(
                "`reviewer.providers.{name}.key_command` must start with the absolute path of a program"
            ));
        }
        let files = [("key_file", &self.key_file), ("ca_file", &self.ca_file)];
        match files.iter().find(|(_, file)| file.as_ref().is_some_and(|path| !path.starts_with(['/', '~']))) {
            Some((key, _)) => Err(format!("`reviewer.providers.{name}.{key}` is not an absolute path")),
            None => Ok(()),
        }
    }
}

/// What is sent can't be read or changed on the way.
fn is_safe(url: &str) -> bool {
    if url.contains(['@', '\\', '#', '?']) || url.contains(char::is_whitespace) {
        return false;
    }
    if let Some(rest) = url.strip_prefix("https://") {
        return !rest.is_empty() && !rest.starts_with('/');
    }
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|digit| digit.is_ascii_digit()) => host,
        Some(_) | None => authority,
    };
    matches!(host, "localhost" | "[::1]") || host.parse().is_ok_and(|address: std::net::Ipv4Addr| address.is_loopback())
}

/// Both lists; the built-in entries are included if either names them, or if both are empty.
fn together(one: Vec<String>, other: Vec<String>) -> Vec<String> {
    let mut all = one;
    let added: Vec<String> = other.into_iter().filter(|entry| !all.contains(entry)).collect();
    all.extend(added);
    all
}

/// A list with `$defaults` expanded; an empty list means all built-in entries.
pub(crate) fn spliced(list: &[String], built_in: &[String]) -> Vec<String> {
    if list.is_empty() {
        return built_in.to_vec();
    }
    let entry = |entry: &String| if entry == DEFAULTS { built_in.to_vec() } else { vec![entry.clone()] };
    list.iter().flat_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_encrypted_or_a_local_address_is_taken() {
        for url in ["https://api.example", "http://127.0.0.1:8080", "http://localhost:11434/x", "http://[::1]:80"] {
            assert!(is_safe(url), "{url}");
        }
        for url in [
            "http://api.example",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example:80",
            "http://localhost@evil.example",
            "http://10.0.0.7:11434",
            "ftp://localhost",
            "https:///x",
            "https://a b",
            "http://localhost\\@evil.example",
            "localhost:80",
        ] {
            assert!(!is_safe(url), "{url}");
        }
    }

    #[test]
    fn a_list_takes_the_built_in_entries_where_it_says_so() {
        let built_in = ["a".to_owned(), "b".to_owned()];
        let of = |list: &[&str]| spliced(&list.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>(), &built_in);
        assert_eq!(of(&[]), ["a", "b"]);
        assert_eq!(of(&["x"]), ["x"]);
        assert_eq!(of(&["x", "$defaults", "y"]), ["x", "a", "b", "y"]);
    }

    #[test]
    fn only_a_model_that_the_user_configured_can_be_chosen() {
        let mut reviewer =
            Reviewer { model: Some("a/one".into()), models: vec!["b/two".into()], ..Reviewer::default() };
        reviewer.choose("c/three");
        assert_eq!(reviewer.model.as_deref(), Some("a/one"));
        reviewer.choose("b/two");
        assert_eq!(reviewer.model.as_deref(), Some("b/two"));
    }
}
