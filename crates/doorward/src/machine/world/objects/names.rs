//! What a revision on a command line means: branches, tags, commits and their suffixes.

use super::references::is_valid;
use super::{Id, ObjectKind, Objects, Unread};

/// Bytes of a name; each may mean another step back.
const NAME: usize = 1000;

/// How many commits one `~N` goes back.
// Every step reads a commit, and `HEAD~500` is further back than anyone means.
const BACK: usize = 500;

/// The fewest digits git accepts as an abbreviated object id.
// With fewer, git itself reports an unknown revision.
const DIGITS: usize = 4;

const OTHER: Unread = Unread::Unsupported("this way of naming a revision");

/// The reference a branch tracks, by configuration.
pub(super) type Upstream<'a> = &'a dyn Fn(&str) -> Result<Option<String>, Unread>;

/// A suffix of a name.
enum Suffix {
    /// `^N`
    Parent(usize),
    /// `~N`
    Ancestor(usize),
    /// `^{KIND}`, or without a kind anything that is not a tag.
    Peel(Option<ObjectKind>),
    /// `^{object}`
    Any,
    /// `^{/text}` and whatever else git may know.
    Unknown,
}

impl Objects {
    /// The object that `git rev-parse` finds for a name, except that `-` means the previous checkout.
    pub(crate) fn resolve(&self, name: &str) -> Result<Id, Unread> {
        self.resolve_with(name, &|_| Err(Unread::Unsupported("what a branch follows")))
    }

    /// The same, with `@{upstream}` known too.
    pub(crate) fn resolve_with(&self, name: &str, upstream: Upstream<'_>) -> Result<Id, Unread> {
        if name.len() > NAME {
            return Err(Unread::OverBudget);
        }
        let Some(colon) = colon(name) else { return self.revision(name, upstream) };
        let (revision, path) = (name.get(..colon).unwrap_or_default(), name.get(colon + 1..).unwrap_or_default());
        if revision.is_empty() || path.starts_with("./") || path.starts_with("../") || matches!(path, "." | "..") {
            return Err(OTHER);
        }
        let tree = self.tree_of(&self.revision(revision, upstream)?)?;
        if path.is_empty() {
            return Ok(tree);
        }
        self.entry_at(&tree, path)?.map(|(_, id)| id).ok_or(Unread::NoSuchName)
    }

    /// The commit that `git switch NAME` and `git checkout NAME` go to: there branches take precedence over tags.
    pub(crate) fn resolve_branch(&self, name: &str) -> Result<Id, Unread> {
        let prior = prior(name).map(|nth| self.nth_prior(nth)).transpose()?;
        let name = prior.as_deref().unwrap_or(name);
        match self.reference(&format!("refs/heads/{name}"))? {
            Some(found) => Ok(found.id),
            None => self.resolve(name),
        }
    }

    fn revision(&self, name: &str, upstream: Upstream<'_>) -> Result<Id, Unread> {
        let mut name = name;
        let mut suffixes = Vec::new();
        while let Some((before, suffix)) = suffix(name) {
            suffixes.push(suffix?);
            name = before;
        }
        let mut id = self.simple(name, upstream)?;
        while let Some(suffix) = suffixes.pop() {
            id = self.follow(&id, &suffix)?;
        }
        Ok(id)
    }

    fn follow(&self, id: &Id, suffix: &Suffix) -> Result<Id, Unread> {
        match suffix {
            Suffix::Parent(0) => self.peel(id, ObjectKind::Commit),
            Suffix::Parent(nth) => self.parents(id)?.get(nth - 1).copied().ok_or(Unread::NoSuchName),
            Suffix::Ancestor(count) if *count > BACK => Err(Unread::OverBudget),
            Suffix::Ancestor(count) => (0..*count).try_fold(self.peel(id, ObjectKind::Commit)?, |id, _| {
                self.parents(&id)?.first().copied().ok_or(Unread::NoSuchName)
            }),
            Suffix::Peel(Some(kind)) => self.peel(id, *kind),
            Suffix::Peel(None) => self.without_tags(id),
            Suffix::Any => self.object(id, super::TREE).map(|_| *id),
            Suffix::Unknown => Err(OTHER),
        }
    }

    /// A name without suffixes.
    fn simple(&self, name: &str, upstream: Upstream<'_>) -> Result<Id, Unread> {
        if name.len() == 2 * self.format.length()
            && let Some(id) = Id::parse(name)
        {
            return Ok(id);
        }
        if let Some(nth) = prior(name) {
            let name = self.nth_prior(nth)?;
            return self.resolve_base(&name);
        }
        if name == "@" {
            return self.resolve_base("HEAD");
        }
        match name.split_once("@{") {
            Some((name, inner)) => self.marked(name, inner.strip_suffix('}').ok_or(OTHER)?, upstream),
            None => self.resolve_base(name),
        }
    }

    /// `NAME@{N}` and `NAME@{upstream}`.
    fn marked(&self, name: &str, inner: &str, upstream: Upstream<'_>) -> Result<Id, Unread> {
        if name.contains('@') || name.starts_with('-') {
            return Err(OTHER);
        }
        if inner.eq_ignore_ascii_case("u") || inner.eq_ignore_ascii_case("upstream") {
            let branch = match name {
                "" | "HEAD" => self.current_branch()?.ok_or(Unread::NoSuchName)?,
                name => name.to_owned(),
            };
            let followed = upstream(&branch)?.ok_or(Unread::NoSuchName)?;
            return self.reference(&followed)?.map(|found| found.id).ok_or(Unread::NoSuchName);
        }
        let is_number = !inner.is_empty() && inner.len() <= 8 && inner.bytes().all(|digit| digit.is_ascii_digit());
        let nth = inner.parse().ok().filter(|_| is_number).ok_or(OTHER)?;
        self.nth_in_log(name, nth)
    }

    /// A reference, or the first digits of an object.
    fn resolve_base(&self, name: &str) -> Result<Id, Unread> {
        let hex = 2 * self.format.length();
        if name.len() == hex
            && let Some(id) = Id::parse(name)
        {
            return Ok(id);
        }
        if name.starts_with(['-', '^', ':']) || name.contains("..") || name.contains("@{") {
            return Err(OTHER);
        }
        if let Some(found) = self.short_reference(name)? {
            return Ok(found.id);
        }
        let is_hex = |digits: &str| digits.len() >= DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        // The output of `git describe` names a commit, whatever precedes it.
        if name.rsplit_once("-g").is_some_and(|(_, digits)| is_hex(digits)) {
            return Err(OTHER);
        }
        if !is_hex(name) || name.len() > hex {
            return Err(if is_valid(name) { Unread::NoSuchName } else { OTHER });
        }
        self.store.beginning_with(name)?.ok_or(Unread::NoSuchName)
    }
}

/// The place of the colon between a revision and a path.
fn colon(name: &str) -> Option<usize> {
    let mut depth = 0usize;
    name.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b':' && depth == 0
    })
}

/// The N of `@{-N}`; `-` alone is the last.
fn prior(name: &str) -> Option<usize> {
    if name == "-" {
        return Some(1);
    }
    let digits = name.strip_prefix("@{-")?.strip_suffix('}')?;
    let is_number = digits.len() <= 6 && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|nth| is_number && *nth > 0)
}

/// Removes the last suffix of a name.
fn suffix(name: &str) -> Option<(&str, Result<Suffix, Unread>)> {
    let start = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = name.get(start.len()..).unwrap_or_default();
    if let Some(before) = start.strip_suffix(['^', '~']) {
        let count = match digits {
            "" => Ok(1),
            digits => digits.parse::<i32>().ok().and_then(|count| usize::try_from(count).ok()).ok_or(OTHER),
        };
        let is_parent = start.ends_with('^');
        return Some((before, count.map(if is_parent { Suffix::Parent } else { Suffix::Ancestor })));
    }
    let (before, kind) = name.strip_suffix('}')?.rsplit_once("^{")?;
    let suffix = match kind {
        "" => Suffix::Peel(None),
        "object" => Suffix::Any,
        kind => ObjectKind::parse(kind.as_bytes()).map_or(Suffix::Unknown, |kind| Suffix::Peel(Some(kind))),
    };
    Some((before, Ok(suffix)))
}
