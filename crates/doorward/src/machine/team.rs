//! The team's hub, as this machine enrolled with it: one file, and the key that signs requests.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use doorward_ledger::{PublicKey, SigningKey};
use doorward_team::{Hub, Transport, Welcome};
use serde::Deserialize;

use crate::machine::paths::Dirs;
use crate::machine::{atomic_file, checked_read};

/// What is known of the hub.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Membership {
    /// Where the hub is.
    pub url: String,
    /// What this machine is called there.
    pub edge: String,
    /// The hub's key: no answer counts that it did not sign.
    pub hub: PublicKey,
    /// What the team is called.
    pub team: String,
    /// A file with the certificates to trust instead of the public ones.
    #[serde(default)]
    pub ca: Option<PathBuf>,
}

impl Membership {
    pub(crate) fn new(url: &str, ca: Option<PathBuf>, welcome: Welcome) -> Membership {
        let Welcome { edge, hub, team } = welcome;
        Membership { url: url.trim_end_matches('/').to_owned(), edge, hub, team, ca }
    }

    /// What this machine enrolled with; `None` if with nothing.
    pub(crate) fn load(dirs: &Dirs) -> Result<Option<Membership>> {
        let path = file(dirs);
        let Some(text) = checked_read::read(&path).map_err(anyhow::Error::msg)? else { return Ok(None) };
        let read = toml::from_str(&text).with_context(|| format!("`{}` can't be read", path.display()));
        read.map(Some)
    }

    pub(crate) fn save(&self, dirs: &Dirs) -> Result<()> {
        let Membership { url, edge, hub, team, ca } = self;
        let mut text = toml_edit::DocumentMut::new();
        let hub = hub.to_string();
        for (key, word) in [("url", url), ("edge", edge), ("hub", &hub), ("team", team)] {
            text.insert(key, toml_edit::value(word));
        }
        if let Some(ca) = ca {
            text.insert("ca", toml_edit::value(ca.to_str().context("the path of the certificates is no text")?));
        }
        atomic_file::replace(&file(dirs), &text.to_string())
    }

    /// The hub, ready to be asked.
    pub(crate) fn hub(&self, dirs: &Dirs) -> Result<Hub> {
        let key = SigningKey::load(&key_file(dirs)).context("the key of this enrolment can't be used")?;
        Ok(Hub::new(transport(&self.url, self.ca.as_deref())?, self.edge.clone(), key, self.hub))
    }
}

/// The way to a hub.
pub(crate) fn transport(url: &str, ca: Option<&Path>) -> Result<Transport> {
    let certificates = match ca {
        None => None,
        Some(path) => match checked_read::read(path).map_err(anyhow::Error::msg)? {
            Some(text) => Some(text),
            None => bail!("the certificate file `{}` does not exist", path.display()),
        },
    };
    Ok(Transport::new(url, certificates.as_deref().map(str::as_bytes))?)
}

/// The file that says which hub.
pub(crate) fn file(dirs: &Dirs) -> PathBuf {
    dirs.config_directory().join("team.toml")
}

/// The key that signs requests.
pub(crate) fn key_file(dirs: &Dirs) -> PathBuf {
    dirs.state().join("edge.key")
}
