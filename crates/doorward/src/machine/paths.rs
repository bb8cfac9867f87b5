//! Where doorward keeps its own files, and whose home that is.
//!
//! Everything is below the home directory: `~/.config/doorward` and `~/.local/state/doorward`. The XDG variables are
//! ignored: otherwise anything that can set an environment variable could supply its own, laxer configuration.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Set during a demo: the machine's configuration is ignored.
// A switch in memory and nowhere else: a variable or a file would be a way to leave the real configuration behind.
static IS_STAGE: AtomicBool = AtomicBool::new(false);

/// From here on this process ignores the machine's configuration. No variable and no file can do this.
pub(crate) fn leave_the_machine() {
    IS_STAGE.store(true, Ordering::Relaxed);
}

/// This process is a demo.
pub(crate) fn is_stage() -> bool {
    IS_STAGE.load(Ordering::Relaxed)
}

/// The directories of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dirs {
    home: String,
    /// The home directory is the one in the password file.
    is_own_home: bool,
}

impl Dirs {
    /// The current user's: `HOME`, or what the password file says.
    pub(crate) fn find() -> Result<Dirs, String> {
        let recorded = recorded_home();
        // `HOME` comes first because containers and tests set it; `may_loosen` limits what it can do.
        let named = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
        let home = named
            .or_else(|| recorded.clone())
            .ok_or("the home directory is unknown: `HOME` is not an absolute path")?;
        let home = trimmed(&home);
        Ok(Dirs { is_own_home: recorded.is_some_and(|recorded| trimmed(&recorded) == home), home })
    }

    /// A home made for a demo or a test.
    pub(crate) fn at(home: &str) -> Dirs {
        Dirs { home: trimmed(home), is_own_home: false }
    }

    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        Path::new(&self.home).join(".config/doorward/config.toml")
    }

    /// The accepted thresholds.
    pub(crate) fn thresholds_file(&self) -> PathBuf {
        Path::new(&self.home).join(".config/doorward/thresholds.toml")
    }

    /// Pi's own settings for all projects.
    pub(crate) fn pi_file(&self) -> PathBuf {
        Path::new(&self.home).join(".pi/agent/automode.json")
    }

    /// The directory of the user's own files, next to the configuration file.
    pub(crate) fn config_directory(&self) -> PathBuf {
        Path::new(&self.home).join(".config/doorward")
    }

    pub(crate) fn state(&self) -> PathBuf {
        Path::new(&self.home).join(".local/state/doorward")
    }

    /// The configuration in this home may loosen the rules for work in `project`.
    ///
    /// A repository can set `HOME` for an agent that trusts its settings, but only to a directory inside the repository.
    pub(crate) fn may_loosen(&self, project: Option<&str>) -> bool {
        self.is_own_home || project.is_none_or(|project| !Path::new(&self.home).starts_with(project))
    }
}

fn trimmed(path: &str) -> String {
    match path.trim_end_matches('/') {
        "" => "/".to_owned(),
        path => path.to_owned(),
    }
}

/// The home directory in the password file.
fn recorded_home() -> Option<String> {
    let text = crate::machine::checked_read::start_of("/etc/passwd", 1 << 20)?;
    home_in(&text, rustix::process::geteuid().as_raw())
}

fn home_in(passwd: &str, uid: u32) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let recorded: u32 = fields.nth(2)?.parse().ok()?;
        let home = fields.nth(2)?;
        (recorded == uid && home.starts_with('/')).then(|| home.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_file_names_the_home() {
        let text = "root:x:0:0:root:/root:/bin/bash\nme:x:1000:1000:Me,,,:/home/me:/bin/sh\nbroken\n";
        assert_eq!(home_in(text, 1000).as_deref(), Some("/home/me"));
        assert_eq!(home_in(text, 7), None);
    }

    #[test]
    fn a_home_that_a_project_brings_along_cannot_loosen() {
        let foreign = Dirs::at("/srv/project/home/");
        assert!(!foreign.may_loosen(Some("/srv/project")));
        assert!(foreign.may_loosen(Some("/srv/project2")));
        assert!(foreign.may_loosen(None));
    }
}
