//! Paths as text: joining, dot segments, component boundaries, and links followed one by one through the world.

use std::borrow::Cow;

use crate::world::{Kind, World};

/// More links than any honest path has.
const LINKS: usize = 40;

/// `path` if it is absolute, otherwise `path` inside `directory`.
pub fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let mut joined = String::with_capacity(directory.len() + path.len() + 1);
    joined.push_str(directory);
    if !directory.ends_with('/') {
        joined.push('/');
    }
    joined.push_str(path);
    joined
}

/// Resolves `.`, `..` and repeated slashes by text alone. The result has no trailing slash.
pub fn lexical(path: &str) -> String {
    let has_dots = || path.as_bytes().windows(2).any(|pair| matches!(pair, [b'/', b'/' | b'.']));
    if path.starts_with('/') && !path.ends_with('/') && !has_dots() {
        return path.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            name => kept.push(name),
        }
    }
    let mut result = String::with_capacity(path.len() + 1);
    for component in kept {
        result.push('/');
        result.push_str(component);
    }
    if result.is_empty() {
        result.push('/');
    }
    result
}

/// `path` is `directory` or lies below it, at a component boundary.
pub fn under(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// The last component.
pub fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The path without its last component.
pub fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rfind('/') {
        Some(0) | None => "/",
        Some(at) => path.get(..at).unwrap_or("/"),
    }
}

/// Where a path really leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Dots resolved by text alone.
    pub lexical: String,
    /// Dots and links resolved one by one, as the kernel does; also for files that do not exist yet.
    pub real: String,
    /// Links were followed to somewhere that the text does not say.
    pub linked: bool,
    /// The links form a cycle, are too many or cannot be read: it is not known where the path leads.
    pub lost: bool,
}

/// Resolves an absolute path through the world's links.
///
/// `Follow::Last` is what opening a file does; deleting or renaming acts on the link itself, unless a slash behind its
/// name asks for the directory.
pub fn resolve(path: &str, world: &dyn World, follow: Follow) -> Resolved {
    let lexical_path = lexical(path);
    if !world.may_have_links() && !path.contains("/proc/") && !path.contains("/dev/fd/") {
        return Resolved { real: lexical_path.clone(), lexical: lexical_path, linked: false, lost: false };
    }
    let mut rest: Vec<Cow<'_, str>> =
        path.split('/').rev().filter(|part| !part.is_empty()).map(Cow::Borrowed).collect();
    let mut real = String::with_capacity(path.len() + 1);
    let mut links = 0;
    let follow = if path.ends_with('/') { Follow::Last } else { follow };
    while let Some(component) = rest.pop() {
        match component.as_ref() {
            "." => continue,
            ".." => {
                real.truncate(real.rfind('/').unwrap_or(0));
                continue;
            }
            _ => {}
        }
        let directory = real.len();
        real.push('/');
        real.push_str(&component);
        let is_last = rest.iter().all(|part| part == ".");
        let step = match process_step(&real, is_last) {
            Some(step) => step,
            None if is_last && follow == Follow::NotLast => Step::Stays,
            None => step_at(&real, world),
        };
        match step {
            Step::Stays => {}
            Step::Lost => return Resolved { lexical: lexical_path, real, linked: true, lost: true },
            Step::Leads(_) if links >= LINKS => {
                return Resolved { lexical: lexical_path, real, linked: true, lost: true };
            }
            Step::Leads(target) => {
                links += 1;
                real.truncate(if target.starts_with('/') { 0 } else { directory });
                rest.extend(target.split('/').rev().filter(|part| !part.is_empty()).map(|part| part.to_owned().into()));
            }
        }
    }
    if real.is_empty() {
        real.push('/');
    }
    Resolved { linked: real != lexical_path, lexical: lexical_path, real, lost: false }
}

/// Whether a link in the last component is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    Last,
    NotLast,
}

/// What one component of a path does to the way.
enum Step {
    Stays,
    Leads(String),
    /// A link whose text cannot be read, or something that cannot be looked at: it may lead anywhere.
    Lost,
}

/// Links that mean something else to each process: what ours says of them is not what the command will see.
fn process_step(path: &str, is_last: bool) -> Option<Step> {
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(descriptor) = path.strip_prefix("/dev/fd/") {
        return (is_number(descriptor) && !is_last).then_some(Step::Lost);
    }
    let (process, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    let is_own = matches!(process, "self" | "thread-self");
    if !is_own && !is_number(process) {
        return None;
    }
    let rest = rest.strip_prefix("task/").and_then(|rest| rest.split_once('/')).map_or(rest, |(_, inner)| inner);
    match rest.split_once('/') {
        None if rest == "root" && is_own => Some(Step::Leads("/".to_owned())),
        None if matches!(rest, "root" | "cwd" | "exe") => Some(Step::Lost),
        // Where a descriptor leads, the redirect says that opened it.
        Some(("fd", number)) if is_number(number) && is_last => Some(Step::Stays),
        Some(("fd" | "map_files", _)) => Some(Step::Lost),
        Some(_) | None => None,
    }
}

fn step_at(path: &str, world: &dyn World) -> Step {
    match world.look(path).kind {
        Kind::Link => world.link(path).map_or(Step::Lost, Step::Leads),
        Kind::Unreadable => Step::Lost,
        Kind::Missing | Kind::File | Kind::Directory | Kind::Special | Kind::Unlisted => Step::Stays,
    }
}
/// Some part of the path is a flag to whoever lists it, or becomes a flag or another path when it is split at its blanks.
pub fn looks_like_words(path: &str) -> bool {
    let blank = |character: char| character.is_whitespace();
    path.split('/').any(|part| {
        part.starts_with('-') || part.split(blank).skip(1).any(|word| word.len() > 1 && word.starts_with('-'))
    }) || path.split(blank).skip(1).any(|word| word.starts_with(['/', '~']))
}
