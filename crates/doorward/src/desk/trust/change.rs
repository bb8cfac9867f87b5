//! One change of trust: what it asks, what it records, what it does.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use doorward_engine::Mode;
use doorward_ledger::PolicyBody;

use crate::desk::setup;
use crate::machine::paths::Dirs;
use crate::machine::record::{LogEntry, Recorder};
use crate::memory::session::Session;
use crate::policy::config::Agent;
use crate::policy::trust::inventory;
use crate::policy::trust::inventory::Inventory;
use crate::policy::trust::pin::{PinnedFile, PinnedProject};
use crate::policy::trust::tool_pins::ToolPins;
use crate::policy::trust::{Trust, mcp};

/// A change, with everything it pins resolved.
#[derive(Debug)]
pub(crate) enum TrustChange {
    Project {
        root: String,
        pinned: Option<PinnedProject>,
    },
    Binary {
        path: String,
        pinned: Option<PinnedFile>,
    },
    Domain {
        name: String,
        is_trusted: bool,
    },
    /// With the tools as they were shown.
    Server {
        name: String,
        definition: Option<String>,
        tools: Box<ToolPins>,
    },
    Agent {
        name: String,
        mode: Mode,
    },
    Tools {
        programs: Vec<PathBuf>,
    },
}

impl TrustChange {
    pub(crate) fn project(path: &Path, trusts: bool, now: u64) -> Result<TrustChange> {
        let root = real(path)?;
        if matches!(root.as_str(), "/" | "/home" | "/root" | "/tmp" | "/etc" | "/usr" | "/var") {
            bail!("`{root}` is not a single project");
        }
        let pinned = trusts.then(|| PinnedProject::of(Path::new(&root), now));
        Ok(TrustChange::Project { root, pinned })
    }

    pub(crate) fn binary(path: &Path, trusts: bool) -> Result<TrustChange> {
        if !trusts {
            let path = real(path).unwrap_or_else(|_| path.display().to_string());
            return Ok(TrustChange::Binary { path, pinned: None });
        }
        let path = real(path)?;
        let pinned = PinnedFile::of(Path::new(&path)).with_context(|| format!("`{path}` is not a readable file"))?;
        Ok(TrustChange::Binary { path, pinned: Some(pinned) })
    }

    pub(crate) fn domain(name: &str, is_trusted: bool) -> Result<TrustChange> {
        let name = name.to_ascii_lowercase();
        let is_label =
            |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !name.contains('.') || !name.split('.').all(is_label) {
            bail!("`{name}` is not the bare name of a host, such as `docs.example.org`");
        }
        Ok(TrustChange::Domain { name, is_trusted })
    }

    pub(crate) fn server(name: &str, trusts: bool, dirs: &Dirs, project: Option<&str>) -> TrustChange {
        let definition = trusts.then(|| mcp::hash(&mcp::definitions(name, dirs.home(), project)));
        TrustChange::Server { name: name.to_owned(), definition, tools: Box::new(ToolPins::load(dirs, name)) }
    }

    pub(crate) fn agent(name: &str, trusts: bool) -> TrustChange {
        TrustChange::Agent { name: name.to_owned(), mode: if trusts { Mode::Auto } else { Mode::ConfirmAll } }
    }

    /// The programs of toolchains; no longer trusting them means listing none.
    pub(crate) fn tools(dirs: &Dirs, directories: &[String], trusts: bool) -> TrustChange {
        let programs = if trusts { inventory::programs(dirs.home(), directories) } else { Vec::new() };
        TrustChange::Tools { programs }
    }

    /// The question to the user.
    pub(crate) fn question(&self) -> String {
        match self {
            TrustChange::Project { root, pinned: Some(pinned) } => {
                format!(
                    "Let agents run tests, builds and scripts of `{root}` ({} recipes as they are now)?",
                    pinned.files.len()
                )
            }
            TrustChange::Project { root, pinned: None } => format!("Ask again about everything that `{root}` runs?"),
            TrustChange::Binary { path, pinned: Some(pinned) } => {
                format!("Let agents run `{path}` (sha256 {})?", pinned.hash.get(..16).unwrap_or(&pinned.hash))
            }
            TrustChange::Binary { path, pinned: None } => format!("Stop trusting `{path}`?"),
            TrustChange::Domain { name, is_trusted: true } => format!("Let agents fetch from and send to `{name}`?"),
            TrustChange::Domain { name, is_trusted: false } => format!("Stop trusting `{name}`?"),
            TrustChange::Server { name, definition: Some(_), .. } => {
                format!("Let agents call read-only tools of the server `{name}`, as it is configured now?")
            }
            TrustChange::Server { name, definition: None, .. } => format!("Ask again about every call to `{name}`?"),
            TrustChange::Agent { name, mode } => format!("Run `{name}` in mode `{mode}` ({})?", mode.what()),
            TrustChange::Tools { programs } if programs.is_empty() => {
                "Ask about every program of the toolchains in your home directory?".to_owned()
            }
            TrustChange::Tools { programs } => {
                format!("Let agents run the {} programs of your toolchains, pinned as they are now?", programs.len())
            }
        }
    }

    /// What the record says.
    fn body(&self) -> PolicyBody {
        let (what, after) = match self {
            TrustChange::Project { root, pinned } => {
                (format!("project `{root}`"), pinned.as_ref().map(|pinned| format!("{} recipes", pinned.files.len())))
            }
            TrustChange::Binary { path, pinned } => {
                (format!("binary `{path}`"), pinned.as_ref().map(|pinned| pinned.hash.clone()))
            }
            TrustChange::Domain { name, is_trusted } => (format!("domain `{name}`"), is_trusted.then(|| name.clone())),
            TrustChange::Server { name, definition, .. } => (format!("tool server `{name}`"), definition.clone()),
            TrustChange::Agent { name, mode } => (format!("agent `{name}`"), Some(mode.as_str().to_owned())),
            TrustChange::Tools { programs } => {
                ("what tool chains hold".to_owned(), Some(format!("{} programs", programs.len())))
            }
        };
        let verb = if self.trusts() { "trusted" } else { "no longer trusted" };
        let project = match self {
            TrustChange::Project { root, .. } => Some(root.clone()),
            TrustChange::Binary { .. }
            | TrustChange::Domain { .. }
            | TrustChange::Server { .. }
            | TrustChange::Agent { .. }
            | TrustChange::Tools { .. } => None,
        };
        let user = crate::machine::user();
        PolicyBody { what: format!("{what} is {verb}"), before: None, after, user, project }
    }

    fn trusts(&self) -> bool {
        match self {
            TrustChange::Project { pinned, .. } => pinned.is_some(),
            TrustChange::Binary { pinned, .. } => pinned.is_some(),
            TrustChange::Domain { is_trusted, .. } => *is_trusted,
            TrustChange::Server { definition, .. } => definition.is_some(),
            TrustChange::Agent { mode, .. } => *mode == Mode::Auto,
            TrustChange::Tools { programs } => !programs.is_empty(),
        }
    }

    /// INVARIANT: the record is durable before anything is loosened.
    pub(crate) fn apply(self, dirs: &Dirs, ledger: &mut dyn Recorder) -> Result<()> {
        let _receipt =
            ledger.append(LogEntry::new(&self.body())?).context("can't record the change, so nothing was changed")?;
        if let TrustChange::Agent { name, mode } = &self {
            return setup::set_mode(dirs, name, &Agent::fixed(*mode));
        }
        if let TrustChange::Tools { programs } = &self {
            return Inventory::open(dirs).make(programs).map(|_| ()).map_err(anyhow::Error::msg);
        }
        if let TrustChange::Server { definition: Some(_), tools, .. } = &self {
            tools.accept(dirs).map_err(anyhow::Error::msg)?;
        }
        let began = match &self {
            TrustChange::Project { root, pinned: Some(pinned) } => Some((root.clone(), pinned.at)),
            TrustChange::Project { pinned: None, .. }
            | TrustChange::Binary { .. }
            | TrustChange::Domain { .. }
            | TrustChange::Server { .. }
            | TrustChange::Agent { .. }
            | TrustChange::Tools { .. } => None,
        };
        Trust::update(dirs, |trust| self.enter(trust)).map_err(anyhow::Error::msg)?;
        match began {
            Some((root, at)) => Session::open(dirs, "").begin_arrivals(&root, at),
            None => Ok(()),
        }
    }

    fn enter(self, trust: &mut Trust) {
        match self {
            TrustChange::Project { root, pinned: Some(pinned) } => {
                trust.projects.insert(root, pinned);
            }
            TrustChange::Project { root, pinned: None } => {
                trust.projects.remove(&root);
            }
            TrustChange::Binary { path, pinned: Some(pinned) } => {
                trust.binaries.insert(path, pinned);
            }
            TrustChange::Binary { path, pinned: None } => {
                trust.binaries.remove(&path);
            }
            TrustChange::Domain { name, is_trusted: true } => {
                trust.domains.insert(name);
            }
            TrustChange::Domain { name, is_trusted: false } => {
                trust.domains.remove(&name);
            }
            TrustChange::Server { name, definition: Some(definition), .. } => {
                trust.servers.insert(name, definition);
            }
            TrustChange::Server { name, definition: None, .. } => {
                trust.servers.remove(&name);
            }
            TrustChange::Agent { .. } | TrustChange::Tools { .. } => {}
        }
    }
}

fn real(path: &Path) -> Result<String> {
    let real = path.canonicalize().with_context(|| format!("can't find `{}`", path.display()))?;
    real.into_os_string().into_string().map_err(|path| anyhow::anyhow!("`{}` is not UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::record::Ledger;

    #[test]
    fn what_is_trusted_is_recorded_first_and_can_be_taken_back() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        let mut ledger = Ledger::open(&dirs);
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("Makefile"), "all:\n").unwrap();
        TrustChange::project(project.path(), true, 7).unwrap().apply(&dirs, &mut ledger).unwrap();
        TrustChange::domain("Wiki.Example.org", true).unwrap().apply(&dirs, &mut ledger).unwrap();
        TrustChange::binary(Path::new("/bin/sh"), true).unwrap().apply(&dirs, &mut ledger).unwrap();
        let trust = Trust::load(&dirs).unwrap();
        assert_eq!((trust.projects.len(), trust.binaries.len(), trust.domains.len()), (1, 1, 1));
        assert!(trust.domains.contains("wiki.example.org"));
        TrustChange::project(project.path(), false, 8).unwrap().apply(&dirs, &mut ledger).unwrap();
        TrustChange::domain("wiki.example.org", false).unwrap().apply(&dirs, &mut ledger).unwrap();
        let trust = Trust::load(&dirs).unwrap();
        assert!(trust.projects.is_empty() && trust.domains.is_empty());
    }

    #[test]
    fn a_domain_is_a_name_and_a_project_is_not_the_machine() {
        for name in ["com", "https://a.example", "a.example/x", "*.example.org", "", "a..b"] {
            assert!(TrustChange::domain(name, true).is_err(), "{name}");
        }
        assert!(TrustChange::project(Path::new("/"), true, 0).is_err());
        assert!(TrustChange::binary(Path::new("/no/such/file"), true).is_err());
    }

    struct Full;

    impl Recorder for Full {
        fn append(&mut self, _entry: LogEntry) -> Result<doorward_ledger::Receipt> {
            bail!("no space left")
        }
    }

    #[test]
    fn nothing_is_trusted_that_cannot_be_recorded() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        let change = TrustChange::domain("a.example", true).unwrap();
        assert!(change.apply(&dirs, &mut Full).is_err());
        assert_eq!(Trust::load(&dirs), Ok(Trust::default()));
    }
}
