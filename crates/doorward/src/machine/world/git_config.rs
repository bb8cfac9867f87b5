//! Git's effective configuration: system, user, repository and work tree, includes followed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::glob::{GlobMatch, fits};
use super::{bounds, ownership};
use crate::machine::checked_read;

/// Keys in lower case with their last value, and the remotes with their names as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GitConfig {
    pub values: BTreeMap<String, String>,
    pub remotes: BTreeMap<String, String>,
    /// Keys set by the repository's files, or by files they include.
    pub local: BTreeSet<String>,
    /// Keys set only by system files.
    pub system: BTreeSet<String>,
}

/// What include conditions depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct IncludeContext<'a> {
    pub home: &'a str,
    pub git_directory: &'a str,
    pub branch: Option<&'a str>,
}

/// Possible paths of the system configuration; which one counts depends on how git was built.
// All are read: taking the wrong one for the only one could miss a setting that runs a program.
const SYSTEM: &[&str] = &["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

/// Names for which git uses every value, or whose subsections differ only in case; for others the last value counts.
// For these, keeping only the last value would hide an earlier one that git still obeys.
const EVERY: &[&str] = &[
    "helper",
    "insteadof",
    "pushinsteadof",
    "url",
    "pushurl",
    "clean",
    "smudge",
    "process",
    "textconv",
    "command",
    "cmd",
    "driver",
    "uploadpack",
    "receivepack",
    "fetch",
    "merge",
    "remote",
];

/// Reads the effective configuration of a repository. The error says why it is unknown.
pub(super) fn effective(common: &Path, git_directory: &Path, around: IncludeContext<'_>) -> Result<GitConfig, String> {
    let mut reader = ConfigReader { config: GitConfig::default(), around, files: 0, whose: Author::System };
    for path in SYSTEM.iter().filter(|_| !crate::machine::paths::is_stage()) {
        reader.file(Path::new(path), 0)?;
    }
    reader.whose = Author::User;
    reader.file(&Path::new(around.home).join(".config/git/config"), 0)?;
    reader.file(&Path::new(around.home).join(".gitconfig"), 0)?;
    reader.whose = Author::Repository;
    reader.file(&common.join("config"), 0)?;
    if reader.config.values.get("extensions.worktreeconfig").is_some_and(|value| is_true(value)) {
        reader.file(&git_directory.join("config.worktree"), 0)?;
    }
    Ok(reader.config)
}

pub(super) fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
}

/// Who wrote the current file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Author {
    System,
    User,
    Repository,
}

struct ConfigReader<'a> {
    config: GitConfig,
    around: IncludeContext<'a>,
    files: usize,
    whose: Author,
}

impl ConfigReader<'_> {
    fn file(&mut self, path: &Path, depth: usize) -> Result<(), String> {
        self.files += 1;
        if depth > bounds::INCLUDES || self.files > bounds::CONFIG_FILES {
            return Err("git's configuration includes too many files".into());
        }
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(_) => return Err(format!("`{}` can't be inspected", path.display())),
            Ok(_) => {}
        }
        let text =
            checked_read::start_of(path, bounds::TEXT).ok_or_else(|| format!("`{}` can't be read", path.display()))?;
        let mut section = ConfigSection::default();
        let outer = self.whose;
        // A system file that others can write, or that such a file includes, does not count as the administrator's.
        if outer == Author::System && !ownership::belongs_to_system(path) {
            self.whose = Author::User;
        }
        for (key, value) in
            settings(&text, &mut section).map_err(|problem| format!("`{}` {problem}", path.display()))?
        {
            self.setting(&key, value, path, depth)?;
        }
        self.whose = outer;
        Ok(())
    }

    /// Stores a value and who set it.
    fn keep(&mut self, key: String, value: String) {
        match self.whose {
            Author::System => {
                self.config.system.insert(key.clone());
            }
            Author::User => {
                self.config.system.remove(&key);
            }
            Author::Repository => {
                self.config.system.remove(&key);
                self.config.local.insert(key.clone());
            }
        }
        self.config.values.insert(key, value);
    }

    fn setting(&mut self, key: &ConfigKey, value: String, file: &Path, depth: usize) -> Result<(), String> {
        if key.name == "path" && self.includes(key, file)? {
            return self.file(&self.expanded(&value, file)?, depth + 1);
        }
        if key.section == "remote" && key.name == "url" {
            self.config.remotes.insert(key.subsection.clone(), value.clone());
        }
        let known = self.config.values.get(&key.whole());
        if known.is_some_and(|known| *known != value) && EVERY.contains(&key.name.as_str()) {
            // A separate subsection, so that no later value hides an earlier one.
            let subsection = format!("{}#{}", key.subsection, self.config.values.len());
            let further = ConfigKey { section: key.section.clone(), subsection, name: key.name.clone() };
            self.keep(further.whole(), value);
            return Ok(());
        }
        self.keep(key.whole(), value);
        Ok(())
    }

    fn includes(&self, key: &ConfigKey, file: &Path) -> Result<bool, String> {
        match key.section.as_str() {
            "include" => Ok(true),
            "includeif" => self.holds(&key.subsection, file),
            _ => Ok(false),
        }
    }

    fn holds(&self, condition: &str, file: &Path) -> Result<bool, String> {
        let unsure = || format!("git's configuration depends on `{condition}`");
        let (kind, pattern) = condition.split_once(':').ok_or_else(unsure)?;
        let (pattern, text) = match kind {
            "gitdir" => (self.directory_pattern(pattern, file), format!("{}/", self.around.git_directory)),
            "gitdir/i" => (
                self.directory_pattern(pattern, file).to_lowercase(),
                format!("{}/", self.around.git_directory).to_lowercase(),
            ),
            "onbranch" => match self.around.branch {
                Some(branch) => (with_all_below(pattern.to_owned()), branch.to_owned()),
                None => return Ok(false),
            },
            _ => return Err(unsure()),
        };
        let plain = text.trim_end_matches('/');
        match (fits(&pattern, &text), fits(&pattern, plain)) {
            (GlobMatch::Yes, _) | (_, GlobMatch::Yes) => Ok(true),
            (GlobMatch::No, GlobMatch::No) => Ok(false),
            (GlobMatch::Unsure, _) | (_, GlobMatch::Unsure) => Err(unsure()),
        }
    }

    fn directory_pattern(&self, pattern: &str, file: &Path) -> String {
        let absolute = match pattern.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", self.around.home),
            None => match pattern.strip_prefix("./") {
                Some(rest) => format!("{}/{rest}", file.parent().unwrap_or(file).display()),
                None if pattern.starts_with('/') => pattern.to_owned(),
                None => format!("**/{pattern}"),
            },
        };
        with_all_below(absolute)
    }

    fn expanded(&self, value: &str, file: &Path) -> Result<PathBuf, String> {
        match value.strip_prefix("~/") {
            Some(rest) => Ok(Path::new(self.around.home).join(rest)),
            // The home of another user, or where git was installed.
            None if value.starts_with(['~', '%']) => Err(format!("git's configuration includes `{value}`")),
            None => Ok(file.parent().unwrap_or(file).join(value)),
        }
    }
}

fn with_all_below(pattern: String) -> String {
    if pattern.ends_with('/') { format!("{pattern}**") } else { pattern }
}

#[derive(Clone, Debug, Default)]
struct ConfigSection {
    name: String,
    subsection: String,
}

struct ConfigKey {
    section: String,
    subsection: String,
    name: String,
}

impl ConfigKey {
    fn whole(&self) -> String {
        let whole = if self.subsection.is_empty() {
            format!("{}.{}", self.section, self.name)
        } else {
            format!("{}.{}.{}", self.section, self.subsection, self.name)
        };
        whole.to_lowercase()
    }
}

/// Every setting of a file, in order.
fn settings(text: &str, section: &mut ConfigSection) -> Result<Vec<(ConfigKey, String)>, String> {
    let mut found = Vec::new();
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    while let Some(line) = lines.next() {
        let mut rest = line.trim();
        if rest.starts_with('[') {
            let (read, after) = header(rest)?;
            *section = read;
            rest = after.trim();
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        let end =
            rest.find(|character: char| !character.is_ascii_alphanumeric() && character != '-').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let value = match after.trim_start().strip_prefix('=') {
            Some(value) => value_of(value, &mut lines)?,
            None if after.trim().is_empty() || after.trim_start().starts_with(['#', ';']) => "true".to_owned(),
            None => return Err("has a line that is not a setting".into()),
        };
        if name.is_empty() || section.name.is_empty() {
            return Err("has a setting without a name".into());
        }
        let key = ConfigKey {
            section: section.name.clone(),
            subsection: section.subsection.clone(),
            name: name.to_ascii_lowercase(),
        };
        found.push((key, value));
    }
    Ok(found)
}

/// `[section]`, `[section "sub"]` or `[section.sub]`, and what follows.
fn header(line: &str) -> Result<(ConfigSection, &str), String> {
    let broken = || "has a broken section header".to_owned();
    let inner = line.strip_prefix('[').ok_or_else(broken)?;
    let Some((name, quoted)) = inner.split_once('"').filter(|(name, _)| !name.contains(']')) else {
        let (name, after) = inner.split_once(']').ok_or_else(broken)?;
        let (name, subsection) = name.trim().split_once('.').unwrap_or((name.trim(), ""));
        return Ok((ConfigSection { name: name.to_ascii_lowercase(), subsection: subsection.to_owned() }, after));
    };
    let mut subsection = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => subsection.push(characters.next().ok_or_else(broken)?.1),
            '"' => {
                let after =
                    quoted.get(at + 1..).and_then(|after| after.trim_start().strip_prefix(']')).ok_or_else(broken)?;
                return Ok((ConfigSection { name: name.trim().to_ascii_lowercase(), subsection }, after));
            }
            other => subsection.push(other),
        }
    }
    Err(broken())
}

/// A value: quotes, escapes, comments, and continuation lines.
fn value_of(first: &str, lines: &mut std::str::Lines<'_>) -> Result<String, String> {
    let mut value = String::new();
    let mut kept = 0;
    let mut quoted = false;
    let mut line = first.trim_start();
    'line: loop {
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match character {
                '"' => quoted = !quoted,
                '#' | ';' if !quoted => break 'line,
                '\\' => match characters.next() {
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some(escaped @ ('"' | '\\')) => value.push(escaped),
                    Some(_) => return Err("has an unknown escape".into()),
                    None => match lines.next() {
                        Some(next) => {
                            line = next;
                            continue 'line;
                        }
                        None => break 'line,
                    },
                },
                other => value.push(other),
            }
            if quoted || !character.is_whitespace() {
                kept = value.len();
            }
        }
        break;
    }
    if quoted {
        return Err("has an open quote".into());
    }
    value.truncate(kept);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, String> {
        settings(text, &mut ConfigSection::default())
            .map(|all| all.into_iter().map(|(key, value)| (key.whole(), value)).collect())
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "[core]\n\tbare = false ; x\n fsmonitor\n[remote \"My\\\"R\"] url = \"a # b\" \n[Alias]\nx = !sh -c \\\n  'y'\n[a.b]c=1";
        let expected = [
            ("core.bare", "false"),
            ("core.fsmonitor", "true"),
            ("remote.my\"r.url", "a # b"),
            ("alias.x", "!sh -c   'y'"),
            ("a.b.c", "1"),
        ];
        assert_eq!(read(text).unwrap(), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    fn effective_of(text: &str) -> Result<GitConfig, String> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("config"), text).unwrap();
        let home = directory.path().to_str().unwrap();
        let around = IncludeContext { home, git_directory: home, branch: None };
        effective(directory.path(), directory.path(), around)
    }

    #[test]
    fn a_later_value_hides_no_earlier_one_that_git_uses_too() {
        let text = "[credential]\nhelper = !evil\nhelper = cache\n[filter \"LFS\"]\nclean = evil\n[filter \"lfs\"]\nclean = cat\n[user]\nname = a\nname = b\n";
        let config = effective_of(text).unwrap();
        let values = |end: &str| -> Vec<&str> {
            let mut found: Vec<&str> =
                config.values.iter().filter(|(key, _)| key.ends_with(end)).map(|(_, value)| value.as_str()).collect();
            found.sort_unstable();
            found
        };
        // The machine that runs the test may have settings of its own.
        for (end, wanted) in [(".helper", "!evil"), (".helper", "cache"), (".clean", "evil"), (".clean", "cat")] {
            assert!(values(end).contains(&wanted), "{end} {wanted}");
        }
        assert_eq!(values("user.name"), ["b"]);
    }

    #[test]
    fn an_include_that_cannot_be_placed_is_an_error() {
        assert!(effective_of("[include]\npath = ~other/x\n").is_err());
        assert!(effective_of("[include]\npath = %(prefix)/x\n").is_err());
    }

    #[test]
    fn what_git_would_refuse_is_an_error() {
        for text in ["[core", "[core]\nx = \"open", "x = 1", "[c]\n1 = \\z", "[c]\nkey !"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
