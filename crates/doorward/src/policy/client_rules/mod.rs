//! The permission rules in agents' own settings: what they deny or ask about tightens ours, what they allow is only offered.
//!
//! Rules are translated to `permissions` patterns of doorward's own configuration. Deny and ask rules may come out wider than
//! written, allow rules never: what can't be translated exactly is left out, with the reason.

mod claude;
mod codex;
mod gemini;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use doorward_engine::{Facts, Pattern, Permissions};

use crate::machine::agent::Agent;
use crate::machine::checked_read;
use crate::policy::config::{Config, Note};

/// Longer settings are not read, and unread settings ask.
const LIMIT: u64 = 1 << 20;

/// Why an unclosed rule is left to the agent, which ignores it too.
const UNCLOSED: &str = "its bracket does not close";

/// More rule files than anyone keeps in one folder.
// Each one is read for every call of that agent.
const FILES: usize = 64;

/// One of an agent's rule files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleFile {
    /// The name among the sources of the configuration.
    pub name: &'static str,
    pub path: PathBuf,
    format: RuleFormat,
    /// The file can come with a repository.
    is_projects: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuleFormat {
    Claude,
    Codex,
    GeminiSettings,
    GeminiPolicy,
}

/// What one file says, as our patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    pub deny: Vec<String>,
    pub ask: Vec<String>,
    /// Hosts that may not be contacted.
    pub denied_hosts: Vec<String>,
    pub allow: Vec<ImportableRule>,
    /// Rules that only the agent itself can enforce, and why.
    pub left: Vec<SkippedRule>,
}

/// A rule that is left to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SkippedRule {
    pub rule: String,
    pub why: String,
}

impl SkippedRule {
    fn new(rule: &str, why: &str) -> SkippedRule {
        SkippedRule { rule: rule.to_owned(), why: why.to_owned() }
    }
}

/// An agent's allow rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportableRule {
    pub theirs: String,
    /// The same as our patterns, never wider; or the reason why that is not possible.
    pub ours: Result<Vec<String>, String>,
}

/// The existing rule files of an agent: the administrator's, the user's, the project's.
pub(crate) fn files(agent: &str, home: &str, project: Option<&str>) -> Vec<RuleFile> {
    let mut found = match Agent::parse(agent) {
        Some(Agent::Claude) => claude::files(home, project),
        Some(Agent::Codex) => codex::files(home, project),
        Some(Agent::Gemini) => gemini::files(home, project),
        Some(Agent::Pi | Agent::Qwen | Agent::Copilot | Agent::Opencode | Agent::Cursor) => Vec::new(),
        Some(Agent::Vscode | Agent::Windsurf | Agent::Generic) | None => Vec::new(),
    };
    found.retain(|file| !is_absent(&file.path));
    found
}

/// An allow rule from a repository's file applies to the call: the agent might run it without asking.
pub(crate) fn project_allows(agent: &str, home: &str, project: Option<&str>, facts: &Facts) -> bool {
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
pub(crate) struct RulesFault {
    pub text: String,
    /// The whole file can't be read, and it also contains the user's hooks.
    pub is_of_settings: bool,
}

/// There are rules that only the agent itself can apply, or that can't be read.
pub(crate) fn leave_any(agent: &str, home: &str, project: Option<&str>) -> bool {
    let leaves = |file: &RuleFile| match file.read() {
        Ok(Some(text)) => file.parse(&text).map_or(true, |rules| !rules.left.is_empty()),
        Ok(None) => false,
        Err(_) => true,
    };
    files(agent, home, project).iter().any(leaves)
}

/// What is wrong with the rules of these agents, one sentence each, for `status` and `doctor`.
pub(crate) fn faults<'a>(agents: impl Iterator<Item = &'a str>, home: &str, project: Option<&str>) -> Vec<RulesFault> {
    let mut found = Vec::new();
    for file in agents.flat_map(|agent| files(agent, home, project)) {
        let (name, path) = (file.name, file.path.display());
        match file.read().and_then(|text| text.map(|text| file.parse(&text)).transpose()) {
            Err(problem) => found.push(RulesFault {
                text: format!(
                    "the rules of {name} in `{path}` can't be read, so doorward asks about every call of that agent: {problem}"
                ),
                is_of_settings: !file.is_projects && file.path.ends_with("settings.json"),
            }),
            Ok(rules) => {
                let unclosed = rules.iter().flat_map(|rules| &rules.left).filter(|rule| rule.why == UNCLOSED);
                found.extend(unclosed.map(|SkippedRule { rule, .. }| RulesFault {
                    text: format!("`{rule}` in `{path}` ({name}) has no closing bracket, so it has no effect"),
                    is_of_settings: false,
                }));
            }
        }
    }
    found
}

/// The user's allow rules, for `setup` to offer.
pub(crate) fn offers(agent: &str, home: &str) -> Vec<ImportableRule> {
    let files = files(agent, home, None).into_iter().filter(|file| !file.is_projects);
    let mut found: Vec<ImportableRule> = Vec::new();
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
    fn new(name: &'static str, path: PathBuf, format: RuleFormat) -> RuleFile {
        RuleFile { name, path, format, is_projects: false }
    }

    fn of_project(self) -> RuleFile {
        RuleFile { is_projects: true, ..self }
    }

    /// The text; it can only tighten, so links and owners do not matter.
    pub(crate) fn read(&self) -> Result<Option<String>, String> {
        if is_absent(&self.path) {
            return Ok(None);
        }
        let text = checked_read::start_of(&self.path, LIMIT);
        text.map(Some).ok_or_else(|| format!("`{}` can't be read, so its rules are unknown", self.path.display()))
    }

    pub(crate) fn parse(&self, text: &str) -> Result<Rules, String> {
        match self.format {
            RuleFormat::Claude => claude::parse(text),
            RuleFormat::Codex => codex::parse(text),
            RuleFormat::GeminiSettings => gemini::settings(text),
            RuleFormat::GeminiPolicy => gemini::policy(text),
        }
    }

    /// What the file tightens, and notes for the user.
    pub(crate) fn tightening(&self, text: &str) -> Result<(Config, Vec<Note>), String> {
        let rules = self.parse(text)?;
        let mut config = Config::default();
        config.permissions.deny = rules.deny;
        config.permissions.ask = rules.ask;
        config.hosts.denied = rules.denied_hosts;
        // An unreadable pattern of ours is an error here too.
        config.policy(doorward_engine::Mode::ConfirmAll)?;
        let left = rules
            .left
            .into_iter()
            .map(|SkippedRule { rule, why }| Note::new(rule, format!("is left to the agent: {why}")));
        Ok((config, left.collect()))
    }
}

/// Nothing exists under this name; a name that can't be looked up is not absent.
fn is_absent(path: &Path) -> bool {
    let kind = std::fs::metadata(path).err().map(|error| error.kind());
    matches!(kind, Some(ErrorKind::NotFound | ErrorKind::NotADirectory))
}

/// The files of a folder with this extension, in order. A folder with too many counts as unreadable.
fn files_ending_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
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

/// A command, and the same with more words after it.
fn beginning_with(words: &str) -> [String; 2] {
    [format!("bash({words})"), format!("bash({words} *)")]
}

/// An offer as our patterns; one that allows too much is dropped.
fn offered(theirs: &str, ours: Result<Vec<String>, &str>) -> ImportableRule {
    let narrow = |texts: Vec<String>| {
        for text in &texts {
            let pattern = Pattern::parse(text)?;
            if let Some(why) = pattern.too_broad().or_else(|| pattern.never_matches()) {
                return Err(why.to_owned());
            }
        }
        Ok(texts)
    };
    ImportableRule { theirs: theirs.to_owned(), ours: ours.map_err(str::to_owned).and_then(narrow) }
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
