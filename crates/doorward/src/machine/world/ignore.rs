//! Git's ignore rules: which untracked paths git does not care about.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use super::bounds;
use super::glob::{GlobMatch, fits};
use crate::machine::checked_read;

/// One line of an ignore file.
#[derive(Debug)]
struct IgnoreRule {
    pattern: String,
    negated: bool,
    directories_only: bool,
    /// Matched against the whole path below the file's directory, not just the name.
    anchored: bool,
}

/// One ignore file and its directory, relative to the root, empty or ending in a slash.
#[derive(Debug)]
pub(super) struct Ignores {
    base: String,
    rules: Vec<IgnoreRule>,
}

/// What the rules say about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ignored {
    Yes,
    No,
    Unsure,
}

impl Ignores {
    pub(super) fn parse(base: &str, text: &str) -> Ignores {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Ignores { base: base.to_owned(), rules: text.lines().filter_map(rule).collect() }
    }

    /// What this file alone says: the last matching rule counts.
    fn opinion(&self, path: &str, is_directory: bool) -> Option<Ignored> {
        let inner = path.strip_prefix(self.base.as_str())?;
        let name = inner.rsplit('/').next().unwrap_or(inner);
        for rule in self.rules.iter().rev() {
            if rule.directories_only && !is_directory {
                continue;
            }
            match fits(&rule.pattern, if rule.anchored { inner } else { name }) {
                GlobMatch::Yes if rule.negated => return Some(Ignored::No),
                GlobMatch::Yes => return Some(Ignored::Yes),
                GlobMatch::No => {}
                GlobMatch::Unsure => return Some(Ignored::Unsure),
            }
        }
        None
    }
}

/// The ignore files of a work tree, each read once: those near the root are needed again and again.
#[derive(Debug)]
pub(super) struct IgnoreFiles {
    root: PathBuf,
    known: RefCell<BTreeMap<String, Option<Rc<Ignores>>>>,
}

/// There is an ignore file that can't be read.
struct Unreadable;

impl IgnoreFiles {
    pub(super) fn below(root: &str) -> IgnoreFiles {
        IgnoreFiles { root: PathBuf::from(root), known: RefCell::default() }
    }

    /// The ignore file in the directory with this prefix.
    fn rules_below(&self, prefix: &str) -> Result<Option<Rc<Ignores>>, Unreadable> {
        if let Some(known) = self.known.borrow().get(prefix) {
            return Ok(known.clone());
        }
        let path = self.root.join(prefix).join(".gitignore");
        let file = match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Ok(metadata) if metadata.is_file() => {
                let text = checked_read::start_of(path, bounds::TEXT).ok_or(Unreadable)?;
                Some(Rc::new(Ignores::parse(prefix, &text)))
            }
            Ok(_) | Err(_) => return Err(Unreadable),
        };
        let mut known = self.known.borrow_mut();
        if known.len() < bounds::NAMES {
            known.insert(prefix.to_owned(), file.clone());
        }
        Ok(file)
    }
}

/// Decides about a path below the root; `general` are the files that count for the whole repository, weakest first.
pub(super) fn ignored(found: &IgnoreFiles, general: &[Ignores], path: &str, is_directory: bool) -> (Ignored, String) {
    let mut files: Vec<Rc<Ignores>> = Vec::new();
    let mut prefix = String::new();
    let components: Vec<&str> = path.split('/').collect();
    for (depth, component) in components.iter().enumerate().take(bounds::LEVELS) {
        match found.rules_below(&prefix) {
            Ok(file) => files.extend(file),
            Err(Unreadable) => return (Ignored::Unsure, prefix),
        }
        prefix.push_str(component);
        let is_last = depth + 1 == components.len();
        let opinion = files
            .iter()
            .map(Rc::as_ref)
            .rev()
            .chain(general.iter().rev())
            .find_map(|file| file.opinion(&prefix, is_directory || !is_last));
        match opinion {
            // Nothing below an ignored directory can be re-included.
            Some(found @ (Ignored::Yes | Ignored::Unsure)) => return (found, (*component).to_owned()),
            Some(Ignored::No) | None => {}
        }
        prefix.push('/');
    }
    (if components.len() > bounds::LEVELS { Ignored::Unsure } else { Ignored::No }, String::new())
}

fn rule(line: &str) -> Option<IgnoreRule> {
    let line = without_trailing_spaces(line.strip_suffix('\r').unwrap_or(line));
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (directories_only, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
    let anchored = line.contains('/');
    let pattern = line.strip_prefix('/').unwrap_or(line).to_owned();
    (!pattern.is_empty()).then_some(IgnoreRule { pattern, negated, directories_only, anchored })
}

fn without_trailing_spaces(line: &str) -> &str {
    let trimmed = line.trim_end_matches(' ');
    match trimmed.strip_suffix('\\') {
        Some(_) if trimmed.len() < line.len() => line.get(..=trimmed.len()).unwrap_or(line),
        Some(_) | None => trimmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: &str, path: &str, is_directory: bool) -> Ignored {
        let root = tempfile::tempdir().unwrap();
        ignored(&IgnoreFiles::below(root.path().to_str().unwrap()), &[Ignores::parse("", rules)], path, is_directory).0
    }

    #[test]
    fn rules_mean_what_git_says() {
        for (rules, path, is_directory, expected) in [
            ("*.log", "a/b.log", false, Ignored::Yes),
            ("/a.log", "x/a.log", false, Ignored::No),
            ("build/", "build", false, Ignored::No),
            ("build/", "build", true, Ignored::Yes),
            ("build/", "x/build/y/z", false, Ignored::Yes),
            ("*.log\n!keep.log", "keep.log", false, Ignored::No),
            ("d/\n!d/keep", "d/keep", false, Ignored::Yes),
            ("a/b", "x/a/b", false, Ignored::No),
            ("**/b", "x/a/b", false, Ignored::Yes),
            ("# x\n\n\\#x", "#x", false, Ignored::Yes),
            ("x\\ ", "x ", false, Ignored::Yes),
            ("x  ", "x", false, Ignored::Yes),
        ] {
            assert_eq!(check(rules, path, is_directory), expected, "{rules:?} {path}");
        }
    }
}
