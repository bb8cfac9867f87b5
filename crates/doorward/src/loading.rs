//! Puts the configuration together: managed over user, and the project's own file only ever tightens.

use std::io::Write;
use std::path::Path;

use doorward_engine::{Mode, Policy};

use crate::config::Config;
use crate::own::{self, Own};
use crate::places::Places;
use crate::trusted;

/// What an administrator decides for the whole machine.
const MANAGED: &str = "/etc/doorward/config.toml";

/// What a repository may bring along.
const PROJECT: &str = ".doorward.toml";

/// The configuration in force, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    pub config: Config,
    /// Program and rule files of the user.
    pub own: Own,
    /// Each makes the configuration strict and the mode `confirm-all`.
    pub problems: Vec<String>,
}

impl Loaded {
    /// The mode of an agent; something unreadable trusts nobody.
    pub fn mode(&self, agent: &str) -> Mode {
        if self.problems.is_empty() { self.config.mode(agent) } else { Mode::ConfirmAll }
    }

    /// Says on standard error what is wrong, for commands that a person types.
    pub fn tell_problems(&self) {
        let mut out = anstream::stderr().lock();
        for problem in &self.problems {
            let problem = crate::screen::visible(problem);
            // Nobody is left to tell if this fails.
            let _ = writeln!(out, "doorward: {problem}; until then doorward is strict and confirms every call");
        }
    }

    /// The policy that follows from the configuration and the user's own rules.
    pub fn policy(&self, mode: Mode) -> Result<Policy, String> {
        let mut policy = self.config.policy(mode)?;
        if !self.own.rules.is_empty() {
            policy.version = format!("{}+own{}", policy.version, self.own.rules.len());
            policy.rules.extend(self.own.rules.iter().cloned());
        }
        Ok(policy)
    }
}

/// Reads all sources for work in a project.
pub fn load(places: &Places, project: Option<&str>) -> Loaded {
    let mut problems = Vec::new();
    let mut read = |path: &Path| -> Config {
        let parsed = match trusted::read(path) {
            Ok(None) => return Config::default(),
            Ok(Some(text)) => Config::parse(&text).map_err(|problem| format!("`{}`: {problem}", path.display())),
            Err(problem) => Err(problem),
        };
        parsed.unwrap_or_else(|problem| {
            problems.push(problem);
            Config { strict: true, ..Config::default() }
        })
    };
    let mut user = read(&places.config_file());
    let may_loosen = places.may_loosen(project);
    if !may_loosen {
        user = user.tightening_only();
    }
    let managed = read(Path::new(MANAGED));
    let brought = project.map(|project| read(&Path::new(project).join(PROJECT))).unwrap_or_default();
    let mut config = user.overruled_by(managed).tightened_by(brought);
    let own = own::load(&places.config_directory(), may_loosen, &mut problems);
    config.strict |= !problems.is_empty();
    Loaded { config, own, problems }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_unreadable_configuration_trusts_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let places = Places::at(directory.path().to_str().unwrap());
        let file = places.config_file();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "[agents.claude]\nmode = \"auto\"\n").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(load(&places, None).mode("claude"), Mode::Auto);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
        let loaded = load(&places, None);
        assert_eq!((loaded.mode("claude"), loaded.config.strict, loaded.problems.len()), (Mode::ConfirmAll, true, 1));
    }
}
