//! Patterns that match nothing: what a wildcard really hits on this disk, as far as that is certain before the call runs.

use doorward_vocabulary::{Degree, Operation, Reversibility};

use super::touch::Touched;
use crate::effect::{Effect, Target};
use crate::observe::sheet::notes::Absent;
use crate::observe::sheet::observer::{By, Observer};
use crate::world::World;
use crate::{path, place};

/// Directories that one pattern may lead through.
// Each `*` in the middle of a pattern lists another level. Hand-written patterns meet a handful of directories;
// beyond that the answer is "unknown", which asks.
const DIRECTORIES: usize = 64;

impl Observer<'_> {
    /// The disk is what the command will find: the call has only looked and deleted so far, all of that is understood, and no
    /// other call is at work.
    pub(crate) fn is_still(&self) -> bool {
        let adds_nothing = |effect: &Effect| match effect.operation {
            Operation::Read | Operation::Delete => true,
            Operation::Write | Operation::Execute | Operation::Network | Operation::Mutate => false,
        };
        self.degree() == Degree::Full
            && self.effects().iter().all(adds_nothing)
            && self.world.lists_everything()
            && !self.world.is_busy()
    }
}

/// Every name that the pattern may match in the directory, and perhaps some more; `None` if that is not known.
///
/// Which names count depends on the shell and its options, so hidden names and other cases are taken as hits as well.
pub(crate) fn hits(world: &dyn World, directory: &str, pattern: &str) -> Option<Vec<String>> {
    const SPECIAL: &[char] = &['[', ']', '(', ')', '{', '}', '!', '^', '~', '#', '<', '>', '|', '\\', '@', '+'];
    if pattern.contains(SPECIAL) || !pattern.is_ascii() {
        return None;
    }
    if pattern.contains("**") {
        return hits_deep(world, directory, pattern);
    }
    let mut found = vec![directory.to_owned()];
    for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." || found.len() > DIRECTORIES {
            return None;
        }
        let mut next = Vec::new();
        for above in &found {
            next.extend(hits_in(world, above, part)?);
        }
        found = next;
    }
    Some(found)
}

/// `**` is one directory in some shells and any number of them in others.
fn hits_deep(world: &dyn World, directory: &str, pattern: &str) -> Option<Vec<String>> {
    use crate::world::Kind;
    let pattern = pattern.to_ascii_lowercase();
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.iter().any(|part| *part == ".." || (part.contains("**") && *part != "**")) {
        return None;
    }
    let below = world.below(directory)?;
    let leads_on = |path: &str| {
        let end = path::resolve(path, world, path::Follow::Last).real;
        !matches!(world.look(&end).kind, Kind::File | Kind::Missing)
    };
    let links: Vec<&String> = below.iter().filter(|(_, kind)| *kind == Kind::Link).map(|(path, _)| path).collect();
    if links.len() > DIRECTORIES || links.iter().any(|link| leads_on(link)) {
        return None;
    }
    let inner =
        |path: &str| path.strip_prefix(directory).map(|inner| inner.trim_start_matches('/').to_ascii_lowercase());
    let is_hit =
        |path: &str| inner(path).is_none_or(|inner| !inner.is_ascii() || super::globs::fits(&parts, &inner, false));
    Some(below.into_iter().map(|(path, _)| path).filter(|path| is_hit(path)).collect())
}

fn hits_in(world: &dyn World, directory: &str, part: &str) -> Option<Vec<String>> {
    use crate::world::Kind;
    // What is no directory holds nothing; what cannot be read may hold anything.
    match world.look(directory).kind {
        Kind::Directory | Kind::Link => {}
        Kind::File | Kind::Missing => return Some(Vec::new()),
        Kind::Special | Kind::Unlisted | Kind::Unreadable => return None,
    }
    let wanted = part.trim_start_matches('.').to_ascii_lowercase();
    let hits = |name: &String| {
        let name = name.trim_start_matches('.').to_ascii_lowercase();
        !name.is_ascii() || super::globs::matches(&wanted, &name)
    };
    let names = world.entries(directory)?;
    Some(names.iter().filter(|name| hits(name)).map(|name| path::join(directory, name)).collect())
}

/// The directory lies in the project or in the agent's own corner, so that a mistake about it costs little.
pub(crate) fn is_own_ground(world: &dyn World, directory: &str) -> bool {
    super::words::is_ours(Some(directory), world) && !directory.split('/').any(|part| part == ".git")
}
impl Observer<'_> {
    /// Writes down a deletion that finds nothing to delete.
    pub(crate) fn touch_nothing(&mut self, directory: &str, pattern: &str, by: &By) -> Touched {
        let target = path::join(directory, pattern);
        let here = place::classify(&target, self.world);
        let mut effect = Effect::new(Operation::Delete, Target::Path(target));
        effect.scope = here.scope;
        effect.reach = here.reach;
        effect.reversibility = Reversibility::NothingChanges;
        effect.by.clone_from(&by.name);
        effect.part = by.part;
        self.effect(effect);
        self.absent.push(Absent { directory: directory.to_owned(), pattern: pattern.to_owned() });
        Touched::default()
    }

    /// In loops, traps and the background a deletion may run after what the call makes further on.
    pub(crate) fn settle_absent(&mut self) {
        let absent = std::mem::take(&mut self.absent);
        let is_made = |absent: &&Absent| self.effects().iter().any(|effect| absent.may_match(effect));
        let Some(pattern) = absent.iter().find(is_made).map(|absent| absent.pattern.clone()) else { return };
        self.lower(Degree::Opaque, format!("`{pattern}`, which matches only what this call creates"));
    }
}

impl Absent {
    /// The effect may put something there that the pattern matches.
    fn may_match(&self, effect: &Effect) -> bool {
        match effect.operation {
            Operation::Write | Operation::Mutate => {}
            Operation::Read | Operation::Delete | Operation::Execute | Operation::Network => return false,
        }
        match &effect.target {
            Target::Path(made) => match made.strip_prefix(self.directory.as_str()) {
                Some(inner) if inner.starts_with('/') => self.matches(inner.trim_start_matches('/')),
                Some("") => true,
                Some(_) | None => path::under(&self.directory, made),
            },
            Target::Unknown => true,
            Target::Host(_) | Target::Program(_) | Target::Resource(_) => false,
        }
    }

    fn matches(&self, inner: &str) -> bool {
        let last = self.pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        // Whatever lies deeper may match a pattern with several parts, or a search through a tree.
        let mut names = inner.split('/');
        names.any(|name| {
            let name = name.trim_start_matches('.').to_ascii_lowercase();
            !name.is_ascii() || super::globs::matches(last.trim_start_matches('.'), &name)
        })
    }
}
