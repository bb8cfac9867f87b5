//! Paths as text: joining, dot segments, component boundaries, and links followed one by one through the world.

use std::borrow::Cow;

pub use crate::lexical::{join, lexical, looks_like_words, name, parent, under};
use crate::world::{Kind, World};

/// More links than any honest path has.
// The kernel's own limit (`MAXSYMLINKS`): a path with more cannot be opened.
const LINKS: usize = 40;

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
