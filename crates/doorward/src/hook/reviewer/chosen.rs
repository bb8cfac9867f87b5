//! Which model is asked, at which address, with which key.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::fault::Fault;
use crate::hook::agents::LentKey;
use crate::policy::config::Reviewer;
use crate::policy::config::reviewer::{Kind, Provider};

/// How long a key command may take.
// It runs inside the hook's deadline; a password manager that prompts the user would take longer and must fail.
const COMMAND: Duration = Duration::from_secs(1);

/// Longer than any key.
const KEY: u64 = 8 << 10;

/// A built-in provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltInProvider {
    pub name: &'static str,
    pub kind: Kind,
    pub url: &'static str,
    pub key_env: Option<&'static str>,
}

// Only these names can be used without writing a URL, so a typo can't send a key to another host.
pub(crate) const KNOWN: [BuiltInProvider; 5] = [
    BuiltInProvider {
        name: "anthropic",
        kind: Kind::Anthropic,
        url: "https://api.anthropic.com",
        key_env: Some("ANTHROPIC_API_KEY"),
    },
    BuiltInProvider {
        name: "openai",
        kind: Kind::Openai,
        url: "https://api.openai.com/v1",
        key_env: Some("OPENAI_API_KEY"),
    },
    BuiltInProvider {
        name: "openrouter",
        kind: Kind::Openai,
        url: "https://openrouter.ai/api/v1",
        key_env: Some("OPENROUTER_API_KEY"),
    },
    BuiltInProvider { name: "ollama", kind: Kind::Ollama, url: "http://127.0.0.1:11434", key_env: None },
    BuiltInProvider { name: "llama-cpp", kind: Kind::LlamaCpp, url: "http://127.0.0.1:8080", key_env: None },
];

/// A model that can be asked.
#[derive(Clone)]
pub(crate) struct UsableModel {
    /// `provider/model`.
    pub name: String,
    pub model: String,
    pub kind: Kind,
    pub url: String,
    pub key: Option<String>,
    pub provider: Provider,
}

impl std::fmt::Debug for UsableModel {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key stays out of every message.
        out.debug_struct("Chosen").field("name", &self.name).field("url", &self.url).finish_non_exhaustive()
    }
}

/// The name of the current model: the configured one, or else the session's, if the user allowed it.
pub(crate) fn name<'a>(reviewer: &'a Reviewer, session: Option<&'a str>) -> Result<&'a str, Fault> {
    let offered = session.filter(|model| reviewer.offers(model));
    reviewer.model.as_deref().or(offered).ok_or_else(|| match session {
        Some(model) => Fault::NoModel(format!("the session's model `{model}` is not among `reviewer.models`")),
        None => Fault::NoModel("no model is chosen: run `doorward model use PROVIDER/MODEL`".to_owned()),
    })
}

/// A model's address, without its key.
#[derive(Debug)]
pub(crate) struct ModelAddress {
    name: String,
    provider_name: String,
    model: String,
    kind: Kind,
    pub url: String,
    /// Where the key is unless the user says otherwise.
    key_env: Option<&'static str>,
    provider: Provider,
}

/// The named model, ready to be asked with a key from this machine.
pub(crate) fn usable_model(reviewer: &Reviewer, name: &str, home: &str) -> Result<UsableModel, Fault> {
    reached(reviewer, name)?.with_key(home, None)
}

/// The address of the named model.
pub(crate) fn reached(reviewer: &Reviewer, name: &str) -> Result<ModelAddress, Fault> {
    let missing = |why: String| Fault::NoModel(why);
    let (provider_name, model) =
        name.split_once('/').ok_or_else(|| missing(format!("`{name}` is not `provider/model`")))?;
    let provider = reviewer.providers.get(provider_name).cloned().unwrap_or_default();
    let known = KNOWN.iter().find(|known| known.name == provider_name);
    let kind = provider.kind.or(known.map(|known| known.kind));
    let kind = kind
        .ok_or_else(|| missing(format!("the provider `{provider_name}` is unknown: set its protocol with `kind`")))?;
    let url = provider.url.clone().or_else(|| known.map(|known| known.url.to_owned()));
    let url = url.ok_or_else(|| missing(format!("`reviewer.providers.{provider_name}` has no `url`")))?;
    let is_usual = provider.url.is_none();
    let key_env = known.and_then(|known| known.key_env).filter(|_| is_usual);
    let url = url.trim_end_matches('/').to_owned();
    let (name, provider_name, model) = (name.to_owned(), provider_name.to_owned(), model.to_owned());
    Ok(ModelAddress { name, provider_name, model, kind, url, key_env, provider })
}

impl ModelAddress {
    /// Finds the key: where the user configured it, else the one the agent lends, else in the usual variable.
    pub(crate) fn with_key(self, home: &str, handed: Option<&LentKey>) -> Result<UsableModel, Fault> {
        let key = match handed.filter(|handed| self.takes(handed)) {
            Some(handed) => Some(clean(&handed.key).map_err(Fault::NoModel)?),
            None => key(&self.provider, self.key_env, home).map_err(Fault::NoModel)?,
        };
        let ModelAddress { name, model, kind, url, provider, .. } = self;
        Ok(UsableModel { name, model, kind, url, key, provider })
    }

    /// INVARIANT: an agent's key goes only to the host the agent itself sends it to.
    fn takes(&self, handed: &LentKey) -> bool {
        let is_own = self.provider.key_env.is_some()
            || self.provider.key_file.is_some()
            || !self.provider.key_command.is_empty();
        !is_own
            && handed.provider == self.provider_name
            && origin(&handed.url).is_some_and(|url| Some(url) == origin(&self.url))
    }
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> Option<&str> {
    let host = url.find("://")?.checked_add(3)?;
    let end = url.get(host..)?.find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    url.get(..end).filter(|origin| !origin.contains(['@', '\\']))
}

/// The key from where the user configured it; `None` if none is needed.
fn key(provider: &Provider, usual: Option<&str>, home: &str) -> Result<Option<String>, String> {
    let found = if let Some(name) = provider.key_env.as_deref() {
        variable(name)?
    } else if let Some(file) = provider.key_file.as_deref() {
        let path = expanded(file, home);
        crate::machine::checked_read::read(Path::new(&path))?
            .ok_or_else(|| format!("the key file `{path}` does not exist"))?
    } else if let Some((program, arguments)) = provider.key_command.split_first() {
        printed(program, arguments)?
    } else if let Some(name) = usual {
        variable(name)?
    } else {
        return Ok(None);
    };
    clean(&found).map(Some)
}

fn clean(found: &str) -> Result<String, String> {
    let key = found.trim();
    if key.is_empty() || !key.chars().all(|character| character.is_ascii_graphic()) {
        return Err("the key is empty or malformed".to_owned());
    }
    Ok(key.to_owned())
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("the variable `{name}` with the key is not set"))
}

/// A path with `~/` expanded.
pub(crate) fn expanded(path: &str, home: &str) -> String {
    path.strip_prefix("~/").map_or_else(|| path.to_owned(), |rest| format!("{}/{rest}", home.trim_end_matches('/')))
}

fn printed(program: &str, arguments: &[String]) -> Result<String, String> {
    let failed = |why: String| format!("the key command `{program}` failed: {why}");
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let end = Instant::now() + COMMAND;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed("it took too long".to_owned()));
            }
        }
    };
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    let mut text = String::new();
    let pipe = child.stdout.take().ok_or_else(|| failed("it has no output".to_owned()))?;
    pipe.take(KEY).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reviewer(text: &str) -> Reviewer {
        crate::policy::config::Config::parse(text).unwrap().reviewer
    }

    #[test]
    fn the_configured_model_counts_before_that_of_the_session() {
        let both = reviewer("[reviewer]\nmodel = \"a/one\"\nmodels = [\"b/two\"]");
        assert_eq!(name(&both, Some("b/two")).unwrap(), "a/one");
        let offered = reviewer("[reviewer]\nmodels = [\"b/two\"]");
        assert_eq!(name(&offered, Some("b/two")).unwrap(), "b/two");
        for session in [None, Some("evil/yes")] {
            let said = name(&offered, session).unwrap_err().to_string();
            assert!(said.starts_with("No classifier model/API key available; auto mode fails closed."), "{said}");
        }
    }

    #[test]
    fn keys_come_from_where_the_user_says() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("key");
        std::fs::write(&file, "from-a-file\n").unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let of = |provider: &str| {
            let text = format!(
                "[reviewer]\nmodel = \"p/m\"\n[reviewer.providers.p]\nkind = \"openai\"\nurl = \"https://x.example\"\n{provider}"
            );
            usable_model(&reviewer(&text), "p/m", home.path().to_str().unwrap()).map(|chosen| chosen.key)
        };
        assert_eq!(of("").unwrap(), None);
        assert_eq!(of("key_file = \"~/key\"").unwrap().as_deref(), Some("from-a-file"));
        assert_eq!(of("key_command = [\"/bin/echo\", \"from-a-program\"]").unwrap().as_deref(), Some("from-a-program"));
        for wrong in [
            "key_env = \"DOORWARD_NO_SUCH_KEY\"",
            "key_file = \"/nowhere/key\"",
            "key_command = [\"/bin/false\"]",
            "key_command = [\"/bin/sleep\", \"9\"]",
            "key_command = [\"/bin/echo\", \"two words\"]",
        ] {
            assert!(matches!(of(wrong), Err(Fault::NoModel(_))), "{wrong}");
        }
    }

    #[test]
    fn the_key_of_an_agent_goes_only_where_the_agent_sends_it() {
        let lent =
            |provider: &str, url: &str| LentKey { provider: provider.into(), url: url.into(), key: "lent".into() };
        let mine =
            "[reviewer]\nmodel = \"p/m\"\n[reviewer.providers.p]\nkind = \"openai\"\nurl = \"https://x.example/v1\"\n";
        let of = |text: &str, handed: &LentKey| {
            let found = reached(&reviewer(text), "p/m").unwrap().with_key("/", Some(handed));
            found.map(|chosen| chosen.key)
        };
        assert_eq!(of(mine, &lent("p", "https://x.example/other")).unwrap().as_deref(), Some("lent"));
        for (provider, url) in [
            ("q", "https://x.example/v1"),
            ("p", "https://x.example.evil.example/v1"),
            ("p", "https://x.example@evil.example/v1"),
            ("p", "http://x.example/v1"),
            ("p", "https://x.example:444/v1"),
            ("p", "x.example"),
        ] {
            assert_eq!(of(mine, &lent(provider, url)).unwrap(), None, "{provider} {url}");
        }
        let own = format!("{mine}key_command = [\"/bin/echo\", \"own\"]");
        assert_eq!(of(&own, &lent("p", "https://x.example/v1")).unwrap().as_deref(), Some("own"));
        assert!(of(mine, &LentKey { key: "two words".into(), ..lent("p", "https://x.example") }).is_err());
        assert!(!format!("{:?}", lent("p", "https://x.example")).contains("lent"));
    }

    #[test]
    fn a_provider_that_nobody_knows_is_no_model() {
        let said = usable_model(&reviewer(""), "frob/x", "/").unwrap_err().to_string();
        assert!(said.contains("`frob` is unknown"), "{said}");
    }
}
