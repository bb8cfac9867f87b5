//! What an expression of `find` hits on this disk: each entry is tried against the tests, and what cannot be told counts as a hit.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::stats::Stat;
use super::words::{BARE, COMPARED, RUNNERS, VALUED};
use crate::observe::field::Field;
use crate::path;
use crate::world::{Kind, World};

/// Whether a test holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    No,
    Perhaps,
    Yes,
}

/// One part of an expression.
#[derive(Debug)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    /// Parts with commas between them: each is tried, the last one counts.
    Each(Vec<Node>),
    Not(Box<Node>),
    Name {
        pattern: String,
        folds: bool,
    },
    Path {
        pattern: String,
        folds: bool,
    },
    Type(String),
    Stat(Stat),
    Known(Holds),
    /// Deletes or hands on what has come so far.
    Act,
}

/// An expression with the depths that it is limited to.
#[derive(Debug, Default)]
struct Limits {
    least: usize,
    most: Option<usize>,
}

/// One entry as `find` sees it.
pub(crate) struct Entry<'a> {
    shown: &'a str,
    pub kind: Kind,
    pub absolute: &'a str,
    /// Directories that cannot become empty.
    pub full: &'a BTreeSet<String>,
    pub world: &'a dyn World,
    /// Some test could not be told.
    is_unsure: Cell<bool>,
}

/// What an action may reach.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    pub paths: Vec<(String, Kind)>,
    /// Every test could be told, so that these are all of them and no more.
    pub is_exact: bool,
}

/// What lies below a start, with its kind.
pub(crate) type Entries<'e> = dyn Fn(&str) -> Option<Vec<(String, Kind)>> + 'e;

/// Every path that an action of the expression may reach; `None` if that cannot be told.
pub(crate) fn hits(words: &[Field], starts: &[Field], cwd: &str, world: &dyn World) -> Option<Hits> {
    hits_among(words, starts, cwd, world, &|root| world.below(root))
}

/// The same for entries that are given for each start.
pub(crate) fn hits_among(
    words: &[Field],
    starts: &[Field],
    cwd: &str,
    world: &dyn World,
    entries: &Entries<'_>,
) -> Option<Hits> {
    let words: Vec<&str> = words.iter().map(Field::exact).collect::<Option<_>>()?;
    let mut parser = Parser { words: &words, at: 0, limits: Limits::default(), cwd, world };
    let node = parser.list()?;
    if parser.at != words.len() {
        return None;
    }
    let (limits, mut is_exact) = (parser.limits, true);
    let asks_empty = words.contains(&"-empty");
    let mut found = Vec::new();
    for start in starts {
        let shown = start.exact()?;
        let root = path::lexical(&path::join(cwd, shown));
        let kind = world.look(&root).kind;
        match kind {
            Kind::Missing => continue,
            Kind::File | Kind::Directory => {}
            Kind::Link | Kind::Special | Kind::Unlisted | Kind::Unreadable => return None,
        }
        let below = if kind == Kind::Directory { entries(&root)? } else { Vec::new() };
        let full = if asks_empty { full(&below, world) } else { BTreeSet::new() };
        let mut consider = |absolute: &str, inner: &str, kind: Kind| {
            let depth = if inner.is_empty() { 0 } else { inner.split('/').count() };
            let is_deep = depth < limits.least || limits.most.is_some_and(|most| depth > most);
            let shown =
                if inner.is_empty() { shown.to_owned() } else { format!("{}/{inner}", shown.trim_end_matches('/')) };
            let entry = Entry { shown: &shown, kind, absolute, full: &full, world, is_unsure: Cell::new(false) };
            if !is_deep && node.reaches(&entry).1 {
                is_exact &= !entry.is_unsure.get();
                found.push((absolute.to_owned(), kind));
            }
        };
        consider(&root, "", kind);
        for (below, kind) in &below {
            let inner = below.strip_prefix(root.as_str())?.trim_start_matches('/').to_owned();
            consider(below, &inner, *kind);
        }
    }
    Some(Hits { paths: found, is_exact })
}

/// Directories that hold something which `-empty` never takes, so that they stay.
fn full(below: &[(String, Kind)], world: &dyn World) -> BTreeSet<String> {
    let stays = |path: &str, kind: Kind| match kind {
        Kind::Directory => false,
        Kind::File => world.stats(path).is_none_or(|stats| stats.size > 0),
        Kind::Missing | Kind::Link | Kind::Special | Kind::Unlisted | Kind::Unreadable => true,
    };
    let mut full = BTreeSet::new();
    for (path, _) in below.iter().filter(|(path, kind)| stays(path, *kind)) {
        let mut above = path::parent(path);
        while above != "/" && full.insert(above.to_owned()) {
            above = path::parent(above);
        }
    }
    full
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
    limits: Limits,
    cwd: &'a str,
    world: &'a dyn World,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).copied()
    }

    fn take(&mut self) -> Option<String> {
        let word = self.peek()?.to_owned();
        self.at += 1;
        Some(word)
    }

    fn list(&mut self) -> Option<Node> {
        let mut parts = vec![self.any()?];
        while self.peek() == Some(",") {
            self.at += 1;
            parts.push(self.any()?);
        }
        Some(Node::Each(parts))
    }

    fn any(&mut self) -> Option<Node> {
        let mut parts = vec![self.all()?];
        while matches!(self.peek(), Some("-o" | "-or")) {
            self.at += 1;
            parts.push(self.all()?);
        }
        Some(Node::Any(parts))
    }

    fn all(&mut self) -> Option<Node> {
        let mut parts = Vec::new();
        while !matches!(self.peek(), None | Some("-o" | "-or" | "," | ")")) {
            if matches!(self.peek(), Some("-a" | "-and")) {
                self.at += 1;
                continue;
            }
            parts.push(self.one()?);
        }
        Some(Node::All(parts))
    }

    fn one(&mut self) -> Option<Node> {
        let word = self.take()?;
        Some(match word.as_str() {
            "!" | "-not" => Node::Not(Box::new(self.one()?)),
            "(" => {
                let inner = self.list()?;
                (self.take()? == ")").then_some(inner)?
            }
            "-name" | "-iname" => Node::Name { pattern: self.take()?, folds: word == "-iname" },
            "-path" | "-ipath" | "-wholename" | "-iwholename" => {
                Node::Path { pattern: self.take()?, folds: word.starts_with("-i") }
            }
            "-type" => Node::Type(self.take()?),
            "-maxdepth" => {
                self.limits.most = Some(self.take()?.parse().ok()?);
                Node::Known(Holds::Yes)
            }
            "-mindepth" => {
                self.limits.least = self.take()?.parse().ok()?;
                Node::Known(Holds::Yes)
            }
            "-delete" => Node::Act,
            "-true" | "-print" | "-print0" | "-prune" | "-depth" | "-xdev" | "-mount" | "-noleaf" => {
                Node::Known(Holds::Yes)
            }
            "-false" => Node::Known(Holds::No),
            "-empty" => Node::Stat(Stat::Empty),
            "-size" | "-perm" | "-newer" | "-mtime" | "-mmin" => {
                let value = self.take()?;
                let by_day = self.words.contains(&"-daystart");
                Stat::read(&word, &value, self.cwd, self.world)
                    .filter(|stat| !(by_day && stat.is_about_age()))
                    .map_or(Node::Known(Holds::Perhaps), Node::Stat)
            }
            // Links lead out of what was walked.
            "-follow" | "-quit" => return None,
            _ if RUNNERS.contains(&word.as_str()) => {
                while !matches!(self.take()?.as_str(), ";" | "+") {}
                Node::Act
            }
            _ if VALUED.contains(&word.as_str()) || COMPARED.contains(&word.as_str()) || word.starts_with("-newer") => {
                self.take()?;
                Node::Known(Holds::Perhaps)
            }
            _ if BARE.contains(&word.as_str()) => Node::Known(Holds::Perhaps),
            _ => return None,
        })
    }
}

impl Node {
    /// Whether the part holds for the entry, and whether an action may have been reached on the way.
    fn reaches(&self, entry: &Entry<'_>) -> (Holds, bool) {
        match self {
            Node::All(parts) => {
                let (mut holds, mut acts) = (Holds::Yes, false);
                for part in parts {
                    if holds == Holds::No {
                        break;
                    }
                    let (next, acted) = part.reaches(entry);
                    (holds, acts) = (holds.and(next), acts || acted);
                }
                (holds, acts)
            }
            Node::Any(parts) => {
                let (mut holds, mut acts) = (Holds::No, false);
                for part in parts {
                    if holds == Holds::Yes {
                        break;
                    }
                    let (next, acted) = part.reaches(entry);
                    (holds, acts) = (holds.or(next), acts || acted);
                }
                (holds, acts)
            }
            Node::Each(parts) => {
                let all: Vec<(Holds, bool)> = parts.iter().map(|part| part.reaches(entry)).collect();
                (all.last().map_or(Holds::Yes, |(holds, _)| *holds), all.iter().any(|(_, acts)| *acts))
            }
            Node::Not(part) => {
                let (holds, acts) = part.reaches(entry);
                (holds.not(), acts)
            }
            Node::Act => (Holds::Perhaps, true),
            Node::Name { .. } | Node::Path { .. } | Node::Type(_) | Node::Stat(_) | Node::Known(_) => {
                let holds = self.holds(entry);
                entry.is_unsure.set(entry.is_unsure.get() || holds == Holds::Perhaps);
                (holds, false)
            }
        }
    }

    /// A test without parts.
    fn holds(&self, entry: &Entry<'_>) -> Holds {
        match self {
            Node::Name { pattern, folds } => {
                let name = path::name(entry.shown.trim_end_matches('/'));
                fits(pattern, if name.is_empty() { entry.shown } else { name }, *folds)
            }
            Node::Path { pattern, folds } => fits(pattern, entry.shown, *folds),
            Node::Type(wanted) => entry.is_of(wanted),
            Node::Stat(stat) => stat.holds(entry),
            Node::Known(holds) => *holds,
            Node::All(_) | Node::Any(_) | Node::Each(_) | Node::Not(_) | Node::Act => Holds::Perhaps,
        }
    }
}

impl Holds {
    fn and(self, other: Holds) -> Holds {
        match (self, other) {
            (Holds::No, _) | (_, Holds::No) => Holds::No,
            (Holds::Yes, Holds::Yes) => Holds::Yes,
            (Holds::Perhaps, _) | (_, Holds::Perhaps) => Holds::Perhaps,
        }
    }

    fn or(self, other: Holds) -> Holds {
        self.not().and(other.not()).not()
    }

    fn not(self) -> Holds {
        match self {
            Holds::No => Holds::Yes,
            Holds::Perhaps => Holds::Perhaps,
            Holds::Yes => Holds::No,
        }
    }
}

impl Entry<'_> {
    fn is_of(&self, wanted: &str) -> Holds {
        let letter = match self.kind {
            Kind::File => "f",
            Kind::Directory => "d",
            Kind::Link => "l",
            Kind::Missing | Kind::Special | Kind::Unlisted | Kind::Unreadable => return Holds::Perhaps,
        };
        if wanted.split(',').any(|kind| kind == letter) { Holds::Yes } else { Holds::No }
    }
}

/// Wildcards of `find` match slashes and leading dots; classes and escapes are left open.
fn fits(pattern: &str, text: &str, folds: bool) -> Holds {
    if pattern.contains(['[', '\\']) || !pattern.is_ascii() || !text.is_ascii() {
        return Holds::Perhaps;
    }
    let (pattern, text) = match folds {
        true => (pattern.to_ascii_lowercase(), text.to_ascii_lowercase()),
        false => (pattern.to_owned(), text.to_owned()),
    };
    if matches(pattern.as_bytes(), text.as_bytes()) { Holds::Yes } else { Holds::No }
}

/// Linear in the text for each star: what follows the last star is tried one byte further on.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(sign) if *sign == b'?' || text.get(from) == Some(sign) => (at, from) = (at + 1, from + 1),
            Some(_) | None => match star {
                Some((back, taken)) => {
                    star = Some((back, taken + 1));
                    (at, from) = (back + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|sign| *sign == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DescribedWorld, Description};

    fn check(expression: &str, expected: Option<&[&str]>) {
        let description: Description = serde_json::from_str(
            r#"{"project": "/p", "complete": true, "files": {"a.py": {}, "a.pyc": {}, "src/b.PYC": {}, "src/c.rs": {},
                ".venv/lib/d.pyc": {}, "src/.e.pyc": {}, "x/__pycache__/f.pyc": {}}, "symlinks": {"l.pyc": "/etc"}}"#,
        )
        .unwrap();
        let world = DescribedWorld::new(description, "/p");
        let field = |word: &str| Field::literal(word, doorward_shell::Span::default());
        let words: Vec<Field> = expression.split_whitespace().map(field).collect();
        let found = hits(&words, &[field(".")], "/p", &world);
        let mut found = found.map(|found| found.paths.into_iter().map(|(path, _)| path).collect::<Vec<_>>());
        found.iter_mut().for_each(|found| found.sort());
        assert_eq!(
            found,
            expected.map(|paths| paths.iter().map(|path| format!("/p/{path}")).collect()),
            "{expression}"
        );
    }

    #[test]
    fn what_an_action_may_reach_is_found_and_nothing_that_it_cannot() {
        let all = &[".venv/lib/d.pyc", "a.pyc", "l.pyc", "src/.e.pyc", "x/__pycache__/f.pyc"];
        check("-name *.pyc -delete", Some(all));
        check("-type f -name *.pyc -delete", Some(&[".venv/lib/d.pyc", "a.pyc", "src/.e.pyc", "x/__pycache__/f.pyc"]));
        check(
            "-name *.pyc -not -path ./.venv/* -type f -delete",
            Some(&["a.pyc", "src/.e.pyc", "x/__pycache__/f.pyc"]),
        );
        check("-maxdepth 1 -iname *.PYC -type f -delete", Some(&["a.pyc"]));
        check("-mindepth 3 -name *.pyc -delete", Some(&[".venv/lib/d.pyc", "x/__pycache__/f.pyc"]));
        check("-path ./src -prune -o -name *.rs -delete", Some(&["src/c.rs"]));
        check("( -name *.log -o -name *.tmp ) -delete", Some(&[]));
        check("-name *.log -exec rm {} ;", Some(&[]));
        check("-name *.rs -mtime +3 -delete", Some(&["src/c.rs"]));
        check("-type d -name __pycache__ -exec rm -rf {} +", Some(&["x/__pycache__"]));
        check("-name [ab].log -name *.rs -delete", Some(&["src/c.rs"]));
    }

    #[test]
    fn what_is_not_read_right_is_not_known() {
        for expression in ["-follow -name *.log -delete", "-frob -delete", "( -name x -delete", "-name", "-exec rm {}"]
        {
            check(expression, None);
        }
    }
}
