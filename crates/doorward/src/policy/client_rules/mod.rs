//! The permission rules in agents' own settings: what they deny or ask about tightens ours, what they allow is only offered.
//!
//! A rule is said in the words of `permissions` in doorward's own configuration. Deny and ask rules may come out wider than
//! they were written, allow rules never: what cannot be said exactly is left out, with the reason.

mod claude;
mod codex;
mod gemini;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use doorward_engine::{Facts, Pattern, Permissions};

use crate::machine::agent::Agent;
use crate::machine::checked_read;
use crate::policy::config::{Config, Note};

/// Longer settings are not read, and what is not read asks.
const LIMIT: u64 = 1 << 20;

/// Why a rule without its end is left to the agent, which does not heed it either.
const UNCLOSED: &str = "its bracket does not close";

/// More files of rules than anybody keeps in one folder.
const FILES: usize = 64;

/// One file of an agent's that holds rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// The name among the sources of the configuration.
    pub name: &'static str,
    pub path: PathBuf,
    format: Format,
    /// A repository can bring the file along.
    is_projects: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Claude,
    Codex,
    GeminiSettings,
    GeminiPolicy,
}

/// What one file says, in our words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub deny: Vec<String>,
    pub ask: Vec<String>,
    /// Hosts that may not be contacted.
    pub denied_hosts: Vec<String>,
    pub allow: Vec<Offer>,
    /// Rules that only the agent itself can heed, and why.
    pub left: Vec<(String, String)>,
}

/// A rule of an agent's that allows something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub theirs: String,
    /// The same in our words, never wider; the reason where that cannot be said.
    pub ours: Result<Vec<String>, String>,
}

/// The files in which an agent keeps rules: the administrator's, the user's, the project's. Only those that are there.
pub fn files(agent: &str, home: &str, project: Option<&str>) -> Vec<RuleFile> {
    let mut found = match Agent::named(agent) {
        Some(Agent::Claude) => claude::files(home, project),
        Some(Agent::Codex) => codex::files(home, project),
        Some(Agent::Gemini) => gemini::files(home, project),
        Some(Agent::Pi | Agent::Qwen | Agent::Copilot | Agent::Opencode | Agent::Cursor) => Vec::new(),
        Some(Agent::Vscode | Agent::Windsurf | Agent::Generic) | None => Vec::new(),
    };
    found.retain(|file| !is_absent(&file.path));
    found
}

/// An allow rule in a file that a repository can bring along touches the call: the agent might run it without asking anybody.
pub fn project_allows(agent: &str, home: &str, project: Option<&str>, facts: &Facts) -> bool {
    files(agent, home, project).iter().filter(|file| file.is_projects).any(|file| {
        let text = file.read().ok().flatten();
        let Some(Ok(rules)) = text.map(|text| file.parse(&text)) else { return true };
        let patterns = rules.allow.iter().map(|offer| offer.ours.clone().ok());
        let Some(patterns) = patterns.collect::<Option<Vec<Vec<String>>>>() else { return true };
        let ask = patterns.iter().flatten().filter_map(|text| Pattern::parse(text).ok()).collect();
        !Permissions { ask, ..Permissions::default() }.opinions(facts).is_empty()
    })
}

/// Something wrong with the rules of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub text: String,
    /// The whole file cannot be read, and it is the one that holds the user's hooks too.
    pub is_of_settings: bool,
}

/// What is wrong with the rules of these agents, one sentence each, for whoever looks at how doorward stands.
pub fn faults<'a>(agents: impl Iterator<Item = &'a str>, home: &str, project: Option<&str>) -> Vec<Fault> {
    let mut found = Vec::new();
    for file in agents.flat_map(|agent| files(agent, home, project)) {
        let (name, path) = (file.name, file.path.display());
        match file.read().and_then(|text| text.map(|text| file.parse(&text)).transpose()) {
            Err(problem) => found.push(Fault {
                text: format!(
                    "the rules of {name} in `{path}` cannot be read, so every call of that agent asks: {problem}"
                ),
                is_of_settings: !file.is_projects && file.path.ends_with("settings.json"),
            }),
            Ok(rules) => {
                let unclosed = rules.iter().flat_map(|rules| &rules.left).filter(|(_, why)| why == UNCLOSED);
                found.extend(unclosed.map(|(rule, _)| Fault {
                    text: format!("`{rule}` in `{path}` ({name}) has no closing bracket, so nobody heeds it"),
                    is_of_settings: false,
                }));
            }
        }
    }
    found
}

/// The allow rules that the user wrote, for `setup` to offer.
pub fn offers(agent: &str, home: &str) -> Vec<Offer> {
    let files = files(agent, home, None).into_iter().filter(|file| !file.is_projects);
    let mut found: Vec<Offer> = Vec::new();
    for file in files {
        let rules = file.read().ok().flatten().and_then(|text| file.parse(&text).ok()).unwrap_or_default();
        for offer in rules.allow {
            if !found.contains(&offer) {
                found.push(offer);
            }
        }
    }
    found
}

impl RuleFile {
    fn new(name: &'static str, path: PathBuf, format: Format) -> RuleFile {
        RuleFile { name, path, format, is_projects: false }
    }

    fn of_project(self) -> RuleFile {
        RuleFile { is_projects: true, ..self }
    }

    /// The text; whoever wrote it, it can only tighten, so that links and owners do not matter.
    pub fn read(&self) -> Result<Option<String>, String> {
        if is_absent(&self.path) {
            return Ok(None);
        }
        let text = checked_read::start_of(&self.path, LIMIT);
        text.map(Some).ok_or_else(|| format!("`{}` cannot be read, so its rules are not known", self.path.display()))
    }

    pub fn parse(&self, text: &str) -> Result<Rules, String> {
        match self.format {
            Format::Claude => claude::parse(text),
            Format::Codex => codex::parse(text),
            Format::GeminiSettings => gemini::settings(text),
            Format::GeminiPolicy => gemini::policy(text),
        }
    }

    /// What the file tightens, and what a person should know about it.
    pub fn tightening(&self, text: &str) -> Result<(Config, Vec<Note>), String> {
        let rules = self.parse(text)?;
        let mut config = Config::default();
        config.permissions.deny = rules.deny;
        config.permissions.ask = rules.ask;
        config.hosts.denied = rules.denied_hosts;
        // A pattern of ours that cannot be read is an error here too.
        config.policy(doorward_engine::Mode::ConfirmAll)?;
        let left = rules.left.into_iter().map(|(rule, why)| Note::new(rule, format!("is left to the agent: {why}")));
        Ok((config, left.collect()))
    }
}

/// Nothing is there under this name; a name that cannot be looked up is not absent.
fn is_absent(path: &Path) -> bool {
    let kind = std::fs::metadata(path).err().map(|error| error.kind());
    matches!(kind, Some(ErrorKind::NotFound | ErrorKind::NotADirectory))
}

/// The files of a folder that end like this, in order. A folder with too many of them is read as one that cannot be.
fn listed(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_meant = |path: &PathBuf| path.extension().is_some_and(|found| found == ending);
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_meant).take(FILES + 1).collect();
    if paths.len() > FILES {
        return vec![folder.to_owned()];
    }
    paths.sort();
    paths
}

/// A command, and the same with more words behind it.
fn beginning_with(words: &str) -> [String; 2] {
    [format!("bash({words})"), format!("bash({words} *)")]
}

/// An offer in patterns of ours; one that allows too much is none.
fn offered(theirs: &str, ours: Result<Vec<String>, &str>) -> Offer {
    let narrow = |texts: Vec<String>| {
        for text in &texts {
            let pattern = Pattern::parse(text)?;
            if let Some(why) = pattern.too_broad().or_else(|| pattern.never_matches()) {
                return Err(why.to_owned());
            }
        }
        Ok(texts)
    };
    Offer { theirs: theirs.to_owned(), ours: ours.map_err(str::to_owned).and_then(narrow) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_and_cannot_be_read_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".claude/settings.json");
        let found = || files("claude", home.path().to_str().unwrap(), None);
        assert!(found().iter().all(|file| file.path != path));
        std::fs::create_dir_all(&path).unwrap();
        let file = found().into_iter().find(|file| file.path == path).unwrap();
        assert!(file.read().is_err(), "a folder in its place");
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(file.read().is_err(), "no text");
        std::fs::write(&path, "{\"permissions\": {\"deny\": \"Bash\"}}").unwrap();
        assert!(file.tightening(&file.read().unwrap().unwrap()).is_err(), "no list");
        assert!(files("pi", home.path().to_str().unwrap(), None).is_empty());
    }

    #[test]
    fn a_folder_with_too_many_files_cannot_be_read() {
        let home = tempfile::tempdir().unwrap();
        let rules = home.path().join(".codex/rules");
        std::fs::create_dir_all(&rules).unwrap();
        for number in 0..=FILES {
            std::fs::write(rules.join(format!("{number}.rules")), "").unwrap();
        }
        let found = codex::files(home.path().to_str().unwrap(), None);
        assert!(found.len() == 1 && found[0].read().is_err(), "{found:?}");
    }
}
