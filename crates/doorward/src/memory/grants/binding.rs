//! What an approval is bound to: the exact call, where it runs, what it would touch, and the rules it was judged by.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use doorward_engine::{Effect, Facts, Mode, Operation, Target, Tool, ToolCall};
use doorward_ledger::Hash;
use serde::{Deserialize, Serialize};

use crate::memory::evaluation::Evaluation;
use crate::memory::grants::operands::{Depth, Fingerprint, fingerprints};
use crate::policy::load::Loaded;
use crate::policy::trust::pin;

/// How many words of a command are looked up as files; beyond that only effects are known.
// A generated command can have tens of thousands of words, each a lookup on the disk.
const WORDS: usize = 4_096;

/// Larger directories are not listed.
// Listing a large directory costs more than looking the words up one by one.
const NAMES: usize = 500;

/// A call in its context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrantSubject<'a> {
    pub call: &'a ToolCall,
    pub evaluation: &'a Evaluation,
    pub mode: Mode,
    pub loaded: &'a Loaded,
    pub project: Option<&'a str>,
    pub home: &'a str,
}

/// Hashes of everything that must be the same when the approval is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Binding {
    /// Agent, session, subagent, tool, input and directory.
    pub call: String,
    /// What was understood: effects, flows, coverage.
    pub effects: String,
    /// Rules, configuration, trust and mode.
    pub policy: String,
    pub operands: BTreeMap<String, Fingerprint>,
}

impl Binding {
    /// What an approval of this call is bound to; `None` if it is unknown what exactly would run.
    pub(crate) fn of(subject: GrantSubject<'_>) -> Option<Binding> {
        let facts = &subject.evaluation.facts;
        Some(Binding {
            call: exact_call(subject.call)?,
            effects: hash(&(&facts.effects, &facts.flows, &facts.coverage))?,
            policy: policy(subject)?,
            operands: fingerprints(&operands(subject)),
        })
    }

    /// What is not the same, in words.
    pub(crate) fn difference(&self, now: &Binding) -> Option<String> {
        if self.call != now.call {
            return Some("it is a different call".to_owned());
        }
        if self.policy != now.policy {
            return Some("rules, configuration, trust or mode have changed".to_owned());
        }
        let paths = self.operands.keys().chain(now.operands.keys());
        if let Some(path) = paths.into_iter().find(|path| self.operands.get(*path) != now.operands.get(*path)) {
            return Some(format!("`{path}` has changed"));
        }
        (self.effects != now.effects).then(|| "it would now do something else".to_owned())
    }
}

/// The name of exactly this call: agent, session, subagent, tool, input and directory. An approval covers only the session or
/// subagent that asked, not another one that makes the same call. `None` if it is unknown what exactly would run.
pub(crate) fn exact_call(call: &ToolCall) -> Option<String> {
    let is_known = !matches!(call.tool, Tool::Malformed { .. });
    // What was not seen in full can't be approved as "exactly this".
    if !is_known || call.truncated || call.cancelled {
        return None;
    }
    hash(&(&call.agent, &call.session, &call.subagent, &call.tool, &call.cwd, &call.places))
}

/// The rules a call was judged by.
pub(crate) fn policy(subject: GrantSubject<'_>) -> Option<String> {
    let Loaded { config, trust, problems, .. } = subject.loaded;
    // Another version may judge the same call differently, so its approvals don't carry over.
    hash(&(env!("CARGO_PKG_VERSION"), &subject.evaluation.judgement.policy, subject.mode, config, trust, problems))
}

fn hash(value: &impl Serialize) -> Option<String> {
    Some(Hash::of(&serde_json::to_vec(value).ok()?).to_string())
}

/// Every path the call names or touches.
fn operands(subject: GrantSubject<'_>) -> BTreeMap<String, Depth> {
    let facts = &subject.evaluation.facts;
    let mut paths = BTreeMap::new();
    let mut add = |path: String, depth: Depth| {
        let known = paths.entry(path).or_insert(depth);
        *known = depth.max(*known);
    };
    // A directory that was moved away and replaced makes the same words mean other files.
    add(subject.call.cwd.clone(), Depth::Itself);
    for effect in &facts.effects {
        if let Some(path) = path_of(effect) {
            add(path.to_owned(), depth_of(effect.operation));
        }
    }
    for path in operand_words(subject) {
        add(path, Depth::Itself);
    }
    // `make test` names no file, yet what it does is in the Makefile.
    if facts.effects.iter().any(|effect| effect.operation == Operation::Execute) {
        for path in subject.project.map(|root| pin::recipes(Path::new(root))).unwrap_or_default() {
            add(path.display().to_string(), Depth::Itself);
        }
    }
    for path in git_state(facts, subject.project) {
        add(path, Depth::Itself);
    }
    paths
}

fn path_of(effect: &Effect) -> Option<&str> {
    match &effect.target {
        Target::Path(path) | Target::Program(path) if path.starts_with('/') => Some(path),
        Target::Path(_) | Target::Program(_) | Target::Host(_) | Target::Resource(_) | Target::Unknown => None,
    }
}

const fn depth_of(operation: Operation) -> Depth {
    match operation {
        Operation::Read | Operation::Network => Depth::Itself,
        // Approving `rm -r dir` approves what is in it now, not what is put there later.
        Operation::Write | Operation::Execute | Operation::Delete | Operation::Mutate => Depth::Below,
    }
}

/// Files named by words of the call, whatever the engine made of them.
fn operand_words(subject: GrantSubject<'_>) -> Vec<String> {
    let text = match &subject.call.tool {
        Tool::Bash { command, .. } | Tool::PowerShell { command } => command,
        Tool::Python { code } => code,
        Tool::Write { path, .. } | Tool::Read { path } => path,
        Tool::Search { path, .. } => path.as_deref().unwrap_or_default(),
        Tool::Edit { .. }
        | Tool::Fetch { .. }
        | Tool::WebSearch { .. }
        | Tool::Mcp { .. }
        | Tool::Task { .. }
        | Tool::Other { .. }
        | Tool::Malformed { .. } => "",
    };
    let is_sign = |character| {
        matches!(
            character,
            '"' | '\'' | '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '=' | ',' | ':' | '@' | '{' | '}' | '$'
        )
    };
    let ends = |character: char| character.is_whitespace() || is_sign(character);
    let here = DirectoryNames::of(Path::new(&subject.call.cwd));
    // Both ways of cutting: `a=b` may be a file of that name, or name the file `b`.
    let whole = text.split_whitespace().map(|word| word.trim_matches(['"', '\'', '`', ';', '(', ')']));
    let words = whole.chain(text.split(ends)).take(WORDS);
    let mut words: Vec<&str> = words.filter(|word| !word.is_empty() && here.may_have(word)).collect();
    words.sort_unstable();
    words.dedup();
    let edited = super::pending::changes(&subject.call.tool).iter().map(|change| change.path.as_str());
    let words = words.into_iter().chain(edited);
    let mut found: Vec<String> = words
        .map(|word| absolute(word, subject))
        .filter(|path| path.symlink_metadata().is_ok())
        .filter_map(|path| path.into_os_string().into_string().ok())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The names in a directory, lowercase and sorted, so that not every word of a long command has to be looked up.
struct DirectoryNames(Option<Vec<String>>);

impl DirectoryNames {
    fn of(directory: &Path) -> DirectoryNames {
        DirectoryNames(names(directory))
    }

    /// The word may mean a file: a path from elsewhere, or an existing name, in whatever case.
    fn may_have(&self, word: &str) -> bool {
        let DirectoryNames(Some(names)) = self else { return true };
        let first = || word.bytes().take_while(|byte| *byte != b'/').map(|byte| byte.to_ascii_lowercase());
        let is_there = || names.binary_search_by(|name| name.bytes().cmp(first())).is_ok();
        !word.is_ascii() || matches!(word.as_bytes(), [b'/' | b'~' | b'.', ..]) || is_there()
    }
}

/// `None` if they are unknown or too many.
fn names(directory: &Path) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(directory).ok()?.take(NAMES + 1);
    let names: Option<Vec<String>> =
        entries.map(|entry| Some(entry.ok()?.file_name().to_str()?.to_ascii_lowercase())).collect();
    let mut names = names.filter(|names| names.len() <= NAMES)?;
    names.sort_unstable();
    Some(names)
}

/// The path without dots; links stay and are followed when it is fingerprinted.
fn absolute(word: &str, subject: GrantSubject<'_>) -> PathBuf {
    let joined = match word.strip_prefix("~/") {
        Some(rest) => Path::new(subject.home).join(rest),
        None => Path::new(&subject.call.cwd).join(word),
    };
    joined.components().filter(|part| *part != Component::CurDir).collect()
}

/// Which commit is checked out: approving a push approves these commits.
fn git_state(facts: &Facts, project: Option<&str>) -> Vec<String> {
    let Some(project) = project.filter(|_| facts.effects.iter().any(|effect| effect.by.starts_with("git"))) else {
        return Vec::new();
    };
    let git = Path::new(project).join(".git");
    let head = crate::machine::checked_read::start_of(git.join("HEAD"), 4096).unwrap_or_default();
    // `HEAD` is a file of the repository; `..` in it could point the hash at any file.
    let branch = head.trim().strip_prefix("ref: ").filter(|name| name.starts_with("refs/") && !name.contains(".."));
    // The branch is a loose file or a line in `packed-refs`; which one changes with every `git gc`.
    let files = ["HEAD", "packed-refs"].into_iter().chain(branch);
    files.map(|name| git.join(name).display().to_string()).collect()
}
