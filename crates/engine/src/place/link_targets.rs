//! Places that only the environment or the settings of this machine name.

use doorward_vocabulary::Scope;

use super::class::{CREDENTIAL, Class, LOOKED_UP};
use super::fold::fold;
use super::under_home::{ANYWHERE, DEPTH};
use crate::path::{parent, under};
use crate::world::World;

/// Variables that move a directory, and where it usually is.
// Settings move with their variable; without this `XDG_CONFIG_HOME=/x` would hide the agent's own settings.
const MOVED: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("CODEX_HOME", ".codex"),
    ("CLAUDE_CONFIG_DIR", ".claude"),
    ("GNUPGHOME", ".gnupg"),
    ("CARGO_HOME", ".cargo"),
];

/// Variables that name one file of credentials; the first ones are used in projects too.
// From the manuals of the programs. The file may have any name, so only the variable gives it away.
const CREDENTIALS: &[&str] = &[
    "KUBECONFIG",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AWS_SHARED_CREDENTIALS_FILE",
    "NETRC",
    "PGPASSFILE",
    "NPM_CONFIG_USERCONFIG",
    "SSH_AUTH_SOCK",
];
// Test setups keep a `kubeconfig` or a fake service account in the project; the other five never are.
const IN_PROJECTS: usize = 2;

/// Calls `found` for what the environment says about a folded path.
pub(super) fn by_environment(folded: &str, scope: Scope, world: &dyn World, mut found: impl FnMut(&'static Class)) {
    let (moved, credentials) = match scope {
        Scope::Scratch | Scope::File | Scope::Directory | Scope::Project => (0, IN_PROJECTS),
        Scope::OtherRepo | Scope::System | Scope::External => (MOVED.len(), CREDENTIALS.len()),
    };
    for (variable, usual) in MOVED.iter().take(moved) {
        let Some(value) = world.environment(variable) else { continue };
        let root = fold(&value).text;
        if root.len() > 1 && under(folded, &root) {
            let rest = folded.get(root.trim_end_matches('/').len()..).unwrap_or_default();
            let entry = ANYWHERE.find_above(&format!("{usual}{rest}"), DEPTH);
            entry.into_iter().for_each(|(class, _)| found(class));
        }
    }
    let names = |value: &str| value.split(':').any(|file| fold(file).text == folded);
    if CREDENTIALS
        .iter()
        .take(credentials)
        .any(|variable| world.environment(variable).is_some_and(|value| names(&value)))
    {
        found(&CREDENTIAL);
    }
    if let Some(value) = world.environment("PATH") {
        let directory = parent(folded);
        let on_path = value.split(':').filter(|entry| entry.len() > 1 && entry.starts_with('/')).any(|entry| {
            let entry = entry.trim_end_matches('/');
            entry.eq_ignore_ascii_case(directory) || entry.eq_ignore_ascii_case(folded)
        });
        if on_path {
            found(&LOOKED_UP);
        }
    }
}

/// A path pattern of the settings: absolute, below `~/`, or relative to the project; a bare name counts at any
/// depth of the project. `*` stands for part of a component, `**` for any components.
pub(super) fn matches(pattern: &str, folded: &str, world: &dyn World) -> bool {
    let (root, pattern) = match pattern.strip_prefix("~/") {
        Some(rest) => (world.home(), rest),
        None if pattern.starts_with('/') => (Some("/"), pattern),
        None => (world.project(), pattern),
    };
    let Some(root) = root.map(|root| fold(root).text) else { return false };
    if !under(folded, &root) {
        return false;
    }
    let inner = folded.get(root.trim_end_matches('/').len()..).unwrap_or_default().trim_matches('/');
    let pattern = pattern.trim_start_matches("./").trim_matches('/');
    let pattern = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix("/*")).unwrap_or(pattern);
    if pattern.contains('/') || root == "/" || pattern == "**" {
        return leads(pattern, inner);
    }
    inner.split('/').any(|component| fits(pattern.as_bytes(), component.as_bytes()))
}

/// The pattern names `path` or a directory above it.
fn leads(pattern: &str, path: &str) -> bool {
    let wanted: Vec<&str> = pattern.split('/').collect();
    let given: Vec<&str> = path.split('/').collect();
    let (mut at, mut next) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (wanted.get(next), given.get(at)) {
            (None, _) => return true,
            (Some(&"**"), _) => {
                retry = Some((next + 1, at));
                next += 1;
            }
            (Some(part), Some(component)) if fits(part.as_bytes(), component.as_bytes()) => {
                next += 1;
                at += 1;
            }
            (Some(_), _) => match retry {
                Some((after, from)) if from < given.len() => {
                    retry = Some((after, from + 1));
                    (next, at) = (after, from + 1);
                }
                Some(_) | None => return false,
            },
        }
    }
}

/// One component against a pattern with `*`, ignoring case.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(next), name.get(at)) {
            (None, None) => return true,
            (Some(b'*'), _) => {
                retry = Some((next + 1, at));
                next += 1;
            }
            (Some(wanted), Some(given)) if wanted.eq_ignore_ascii_case(given) || *wanted == b'?' => {
                next += 1;
                at += 1;
            }
            (Some(_) | None, _) => match retry {
                Some((after, from)) if from < name.len() => {
                    retry = Some((after, from + 1));
                    (next, at) = (after, from + 1);
                }
                Some(_) | None => return false,
            },
        }
    }
}
