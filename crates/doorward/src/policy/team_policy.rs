//! The team's policy on this machine: the last good bundle, authenticated, as the hook reads it.
//!
//! Where a bundle has expired, was revoked or can't be read, it can still tighten and nothing else, and doorward is strict.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use doorward_engine::Rule;
use doorward_ledger::{MacFiles, StateKey};
use doorward_team::{Bundle, Known, Refused, Root, Standing};
use serde::{Deserialize, Serialize};

use crate::machine::paths::Dirs;
use crate::policy::config::Config;
use crate::policy::rollout::Share;
use crate::policy::user_files;

/// The file of a bundle that is configuration; every other one is a rule.
const CONFIG: &str = "config.toml";
const RULES: &str = "rules/";
/// The name of the state in its directory.
const NAME: &str = "policy";

/// What this machine has of its team's policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TeamPolicy {
    /// Which bundle comes next, and who must sign it.
    pub known: Known,
    /// Where bundles come from: `hub`, a directory, or an `https://` address.
    pub source: String,
    /// What counts now.
    pub in_force: Option<InForce>,
}

/// A bundle that counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InForce {
    pub version: u64,
    pub revokes: bool,
    pub expires_ms: u64,
    files: BTreeMap<String, String>,
}

/// What a bundle brings that was read.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub config: Config,
    pub rules: Vec<Rule>,
}

impl TeamPolicy {
    /// A team whose keys a person trusts.
    pub(crate) fn new(root: Root, source: &str) -> TeamPolicy {
        TeamPolicy { known: Known::new(root), source: source.to_owned(), in_force: None }
    }

    /// What this machine has; `None` if it follows no team's policy. Untrustworthy state is an error that says what to do.
    pub(crate) fn load(dirs: &Dirs) -> Result<Option<TeamPolicy>, String> {
        if !directory(dirs).exists() {
            return Ok(None);
        }
        let broken = |why: &str| {
            let place = directory(dirs);
            format!(
                "the team's policy in `{}` can't be used: {why}; `doorward bundle trust` sets it up again",
                place.display()
            )
        };
        let key = StateKey::load(&key_file(dirs)).map_err(|error| broken(&error.to_string()))?;
        match MacFiles::at(&directory(dirs), key).find(NAME) {
            Ok(Some(policy)) => Ok(Some(policy)),
            Ok(None) => Err(broken("its file is missing")),
            Err(error) => Err(broken(&error.to_string())),
        }
    }

    pub(crate) fn save(&self, dirs: &Dirs) -> Result<(), String> {
        let key = StateKey::load_or_create(&key_file(dirs)).map_err(|error| error.to_string())?;
        let place = directory(dirs);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&place);
        made.map_err(|error| format!("can't create `{}`: {error}", place.display()))?;
        MacFiles::at(&place, key).keep(NAME, self).map_err(|error| error.to_string())
    }

    /// Follows a bundle, if it may be followed. Whether it counts here is up to its share.
    pub(crate) fn follow(&mut self, bundle: &Bundle, (now_ms, drawn): (u64, u64)) -> Result<Followed, NotFollowed> {
        let known = self.known.accept(bundle, now_ms).map_err(NotFollowed::Refused)?;
        if known.last == self.known.last {
            self.known = known;
            return Ok(Followed::Known);
        }
        let mut in_force = InForce::of(bundle).map_err(NotFollowed::Unreadable)?;
        let manifest = &bundle.manifest;
        let is_for_all = manifest.share >= 100 || manifest.revokes;
        let is_in_share = is_for_all || Share::new(manifest.share).is_some_and(|share| share.covers(drawn));
        if let (true, Some(before)) = (manifest.revokes, &self.in_force) {
            // What the policy denied stays denied: taking it back must not turn a refusal into a question.
            in_force.files.clone_from(&before.files);
        }
        self.known = known;
        if !is_in_share {
            return Ok(Followed::OutsideShare(manifest.version));
        }
        self.in_force = Some(in_force);
        Ok(Followed::InForce(manifest.version))
    }

    /// What counts now, and what is wrong with it.
    pub(crate) fn contents(&self, now_ms: u64) -> (Contents, Option<String>) {
        let Some(in_force) = &self.in_force else {
            let problem = "no bundle of the team's policy has arrived yet: `doorward bundle fetch`";
            return (Contents::default(), Some(problem.to_owned()));
        };
        let version = in_force.version;
        let contents = match in_force.contents() {
            Ok(contents) => contents,
            Err(problem) => return (Contents::default(), Some(problem)),
        };
        let problem = match self.known.standing((in_force.revokes, in_force.expires_ms), now_ms) {
            Standing::Holds => return (contents, None),
            Standing::Expired => {
                format!("version {version} of the team's policy has expired: `doorward bundle fetch` gets a newer one")
            }
            Standing::Revoked => format!("the team's policy was revoked by version {version}"),
        };
        (Contents { config: contents.config.tightening_only(), rules: contents.rules }, Some(problem))
    }
}

/// What following a bundle did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Followed {
    /// It was followed before.
    Known,
    /// It counts from now on.
    InForce(u64),
    /// It is for a share of machines that this one is not in; the one before counts.
    OutsideShare(u64),
}

/// Why a bundle is not followed.
#[derive(Debug)]
pub(crate) enum NotFollowed {
    Refused(Refused),
    /// This version of doorward can't read it.
    Unreadable(String),
}

impl InForce {
    fn of(bundle: &Bundle) -> Result<InForce, String> {
        let manifest = &bundle.manifest;
        let text = |(name, bytes): (&String, &Vec<u8>)| {
            let text = String::from_utf8(bytes.clone()).map_err(|_| format!("`{name}` is no text"))?;
            Ok((name.clone(), text))
        };
        let files = bundle.files.iter().map(text).collect::<Result<_, String>>()?;
        let (version, revokes, expires_ms) = (manifest.version, manifest.revokes, manifest.expires_ms);
        let in_force = InForce { version, revokes, expires_ms, files };
        // What can't be read must not take the place of what can.
        in_force.contents().map(|_contents| in_force)
    }

    fn contents(&self) -> Result<Contents, String> {
        let said = |name: &str, problem: &str| {
            format!("`{name}` in version {} of the team's policy can't be read: {problem}", self.version)
        };
        let mut contents = Contents::default();
        for (name, text) in &self.files {
            if name == CONFIG {
                contents.config = Config::parse(text).map_err(|problem| said(name, &problem))?;
                continue;
            }
            let stem = name.strip_prefix(RULES).and_then(|name| name.strip_suffix(".toml"));
            let stem = stem.ok_or_else(|| said(name, "it is neither `config.toml` nor `rules/NAME.toml`"))?;
            // A name of their own: rollouts and stages of the user change only the user's rules.
            let rule = user_files::rule_of_a_team((name, text), &format!("team/{stem}"));
            contents.rules.push(rule.map_err(|problem| said(name, &problem))?);
        }
        Ok(contents)
    }
}

/// The contents of a bundle, or why this version of doorward can't read it.
pub(crate) fn contents_of(bundle: &Bundle) -> Result<Contents, String> {
    InForce::of(bundle)?.contents()
}

/// Where this machine stands among all for shares: the same for every version, so a wider share takes in the narrower one.
pub(crate) fn drawn(dirs: &Dirs) -> Result<u64, String> {
    let key = StateKey::load_or_create(&key_file(dirs)).map_err(|error| error.to_string())?;
    let code = key.code("share of a team", b"");
    Ok(u64::from_le_bytes(std::array::from_fn(|at| code.get(at).copied().unwrap_or_default())))
}

/// Stops following.
pub(crate) fn forget(dirs: &Dirs) -> std::io::Result<()> {
    std::fs::remove_dir_all(directory(dirs))
}

fn directory(dirs: &Dirs) -> PathBuf {
    dirs.state().join("team")
}

fn key_file(dirs: &Dirs) -> PathBuf {
    dirs.state().join("team.key")
}

#[cfg(test)]
#[path = "team_policy_tests.rs"]
mod tests;
