//! Branches, tags and other references.

use std::ops::Range;
use std::path::Path;

use super::{Id, Objects, Unread, listed};

/// How many symbolic references git follows.
const SYMBOLIC: usize = 5;

/// Bytes of a file with one reference; `FETCH_HEAD` has a line for each branch that was fetched.
const FILE: u64 = 1 << 20;

/// Bytes of the file with all the others.
const PACKED: u64 = 16 << 20;

/// Where a short name is looked for, in git's order.
// The order decides which of two branches with one short name is meant; git takes the first that exists.
const PLACES: &[(&str, &str)] = &[
    ("", ""),
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

/// References of which every work tree has its own.
// Reading these from the main work tree would give the state of someone else's bisect.
const PER_WORK_TREE: &[&str] = &["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// The references in `packed-refs`: the text, and the position of each name in it.
#[derive(Debug)]
pub(super) struct Packed {
    text: String,
    places: Vec<(Range<usize>, Id)>,
}

/// A reference as its file has it.
enum Reference {
    Direct(Id),
    Symbolic(String),
}

/// A reference that was followed to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Followed {
    /// The name before any was followed.
    pub asked: String,
    pub name: String,
    pub id: Id,
}

impl Objects {
    /// What a short or full name of a reference means to git; `None` if there is no such reference.
    pub(super) fn short_reference(&self, name: &str) -> Result<Option<Followed>, Unread> {
        for full in full_names(name)? {
            if let Some(found) = self.reference(&full)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Follows a reference by its full name.
    pub(super) fn reference(&self, asked: &str) -> Result<Option<Followed>, Unread> {
        let mut name = asked.to_owned();
        for _ in 0..=SYMBOLIC {
            match self.unfollowed(&name)? {
                None => return Ok(None),
                Some(Reference::Direct(id)) => return Ok(Some(Followed { asked: asked.to_owned(), name, id })),
                Some(Reference::Symbolic(next)) => name = next,
            }
        }
        Err(Unread::Corrupt)
    }

    /// The branch that is checked out; `None` if a commit is.
    pub(super) fn current_branch(&self) -> Result<Option<String>, Unread> {
        match self.unfollowed("HEAD")? {
            Some(Reference::Symbolic(name)) => Ok(name.strip_prefix("refs/heads/").map(str::to_owned)),
            Some(Reference::Direct(_)) | None => Ok(None),
        }
    }

    /// The directory of a reference or its log.
    pub(super) fn directory_of(&self, name: &str) -> &Path {
        let is_root = name.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'));
        let is_own = is_root || PER_WORK_TREE.iter().any(|start| name.starts_with(start));
        if is_own { &self.git_directory } else { &self.common }
    }

    pub(super) fn packed(&self) -> Result<&Packed, Unread> {
        let read = || {
            if listed::exists(&self.common.join("reftable"))? {
                return Err(Unread::Unsupported("references in a table (reftable)"));
            }
            let text = listed::text(&self.common.join("packed-refs"), PACKED)?.unwrap_or_default();
            Packed::parse(text, self.format.length()).ok_or(Unread::Corrupt)
        };
        self.packed.get_or_init(read).as_ref().map_err(|problem| *problem)
    }

    fn unfollowed(&self, name: &str) -> Result<Option<Reference>, Unread> {
        if !is_valid(name) {
            return Ok(None);
        }
        let packed = self.packed()?;
        let path = self.directory_of(name).join(name);
        if let Some(text) = content(&path)? {
            return match parse(&text, self.format.length()) {
                Some(reference) => Ok(Some(reference)),
                // Git keeps other files there too: `config` is not a reference, but may be the name of a branch.
                None if !name.starts_with("refs/") && name != "HEAD" => Ok(None),
                None => Err(Unread::Corrupt),
            };
        }
        Ok(packed.get(name).map(Reference::Direct))
    }
}

impl Packed {
    fn parse(text: String, hash: usize) -> Option<Packed> {
        let mut places = Vec::new();
        let mut end = 0;
        for line in text.split_terminator('\n') {
            end += line.len() + 1;
            if line.starts_with(['#', '^']) {
                continue;
            }
            let (hex, name) = line.split_once(' ')?;
            let id = Id::parse(hex).filter(|id| id.bytes().len() == hash && !id.is_null())?;
            places.push((end - 1 - name.len()..end - 1, id));
        }
        let mut packed = Packed { text, places };
        let text = &packed.text;
        packed.places.sort_by(|(one, _), (other, _)| text.get(one.clone()).cmp(&text.get(other.clone())));
        let is_twice = |pair: &[(Range<usize>, Id)]| match pair {
            [(one, _), (other, _)] => text.get(one.clone()) == text.get(other.clone()),
            _ => false,
        };
        (!packed.places.windows(2).any(is_twice)).then_some(packed)
    }

    fn get(&self, name: &str) -> Option<Id> {
        let found = self.places.binary_search_by(|(place, _)| self.name(place).cmp(name)).ok()?;
        self.places.get(found).map(|(_, id)| *id)
    }

    /// The rest of all names with a common prefix.
    pub(super) fn below<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a str> {
        let first = self.places.partition_point(|(place, _)| self.name(place) < start);
        self.places.iter().skip(first).map_while(move |(place, _)| self.name(place).strip_prefix(start))
    }

    fn name(&self, place: &Range<usize>) -> &str {
        self.text.get(place.clone()).unwrap_or_default()
    }
}

/// Every full name that a short one may stand for, in git's order.
pub(super) fn full_names(name: &str) -> Result<Vec<String>, Unread> {
    if name.starts_with("main-worktree/") || name.starts_with("worktrees/") {
        return Err(Unread::Unsupported("references of other work trees"));
    }
    Ok(PLACES.iter().map(|(before, after)| format!("{before}{name}{after}")).collect())
}

/// The text of a loose reference; `None` if there is no such file.
fn content(path: &Path) -> Result<Option<String>, Unread> {
    match path.symlink_metadata() {
        Err(error) if listed::is_absence(&error) => Ok(None),
        // A name can be too long for a file; then it can only be in `packed-refs`.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidFilename => Ok(None),
        Err(_) => Err(Unread::Unreadable),
        Ok(metadata) if metadata.is_dir() => Ok(None),
        Ok(metadata) if metadata.is_symlink() => Err(Unread::Unsupported("a reference that is a link")),
        Ok(metadata) if metadata.len() > FILE => Ok(Some(String::new())),
        Ok(_) => {
            let bytes = listed::bytes(path, FILE)?.ok_or(Unread::Unreadable)?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
    }
}

fn parse(text: &str, hash: usize) -> Option<Reference> {
    if let Some(target) = text.strip_prefix("ref:") {
        let target = target.trim_matches(|letter: char| letter.is_ascii_whitespace());
        return is_valid(target).then(|| Reference::Symbolic(target.to_owned()));
    }
    let word = text.get(..2 * hash)?;
    let ends = text.as_bytes().get(2 * hash).is_none_or(u8::is_ascii_whitespace);
    let id = Id::parse(word).filter(|id| ends && !id.is_null())?;
    Some(Reference::Direct(id))
}

/// What `git check-ref-format --allow-onelevel` accepts.
pub(super) fn is_valid(name: &str) -> bool {
    let is_odd = |byte: u8| byte <= b' ' || matches!(byte, 0x7f | b'~' | b'^' | b':' | b'?' | b'*' | b'[' | b'\\');
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name != "@"
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.bytes().any(is_odd)
        && name.split('/').all(is_part)
}
