//! Trees that are read as a whole: which files in them are secrets, or files that a rule of the user's is about.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use doorward_vocabulary::{Degree, Marks, Sensitivity};

use super::carried::carried_roots;
use super::expanded::spellings;
use super::touch::Touch;
use crate::observe::paths::sweep::Sweep;
use crate::observe::sheet::notes::Told;
use crate::observe::sheet::observer::{By, Observer};
use crate::permissions::Pattern;
use crate::world::{Kind, REBUILDABLE, World};
use crate::{path, place};

/// Entries that are looked at below one directory. Breadth first, so that what lies near the top is always seen.
// A copied project is that large. Breadth first finds `.env` at the top of every package before the limit.
const ENTRIES: usize = 50_000;

/// So many entries cost as much as one step of a command.
// A look at one entry is much cheaper than running a command in the reader, but not free.
const ENTRIES_A_STEP: usize = 25;

/// More files are not written down: a few say what the call shows.
// One secret decides the verdict, a few explain it.
const TOLD: usize = 8;

/// More than a file of settings or a key has.
// Keys and settings are small; a longer file is not read to see whether it holds one.
const CONTENT: usize = 64 * 1024;

/// Endings of names that no secret has, so that most files of a project need no closer look.
// A name ends the question for most files of a project, without opening them.
const SOURCES: &[&str] = &[
    "rs", "go", "py", "js", "jsx", "ts", "tsx", "mjs", "cjs", "java", "kt", "rb", "c", "h", "cc", "cpp", "hpp", "cs",
    "swift", "md", "html", "css", "scss", "svg", "png", "jpg", "gif", "vue", "snap", "map",
];

/// What a walk met.
struct Walk {
    files: Vec<(String, Kind)>,
    looked: usize,
    is_whole: bool,
}

/// Any name may be among the files, and what they hold comes out.
fn is_broad(sweep: &Sweep) -> bool {
    let is_picked = !sweep.picks.is_empty() && sweep.picks.iter().all(|pattern| is_source(pattern));
    sweep.shows_secrets() && !(sweep.is_shy && sweep.is_ignoring) && !is_picked
}

impl Observer<'_> {
    /// Reads by their own names those files below a directory which the sweep would show; yields whether a secret is among them.
    pub(crate) fn touch_told_below(&mut self, root: &str, sweep: &Sweep, by: &By) -> bool {
        let mut shown = self.reached_below(root, sweep);
        self.note_cut(root, sweep);
        for before in carried_roots(self, root) {
            shown.extend(self.reached_below(&before, sweep));
        }
        if sweep.copies() {
            self.copied.extend(shown.iter().cloned());
            return self.touch_told(&shown, sweep, by);
        }
        // What this call copied before lies where the world does not know it yet.
        let copied = self.copied.iter().filter(|told| sweep.reaches(path::parent(&told.path), &told.path));
        let shown: Vec<Told> = copied.cloned().chain(shown).collect();
        self.touch_told(&shown, sweep, by)
    }

    /// What was not looked at may be a secret.
    pub(crate) fn note_cut(&mut self, root: &str, sweep: &Sweep) {
        if is_broad(sweep) && self.cut.iter().any(|cut| cut == root) {
            self.lower(Degree::Unknown, "too many files to check for secrets");
        }
    }

    pub(crate) fn reached_below(&mut self, root: &str, sweep: &Sweep) -> Vec<Told> {
        let told = self.told_below(root);
        told.iter().filter(|told| sweep.reaches(root, &told.path)).cloned().collect()
    }

    /// The same for files that are known already.
    pub(crate) fn touch_told(&mut self, told: &[Told], sweep: &Sweep, by: &By) -> bool {
        let shown: Vec<Told> =
            told.iter().filter(|told| is_shown(self.world, told, sweep)).take(TOLD).cloned().collect();
        let outer = std::mem::replace(&mut self.follows, false);
        let mut is_sensitive = false;
        for Told { path, kind, .. } in &shown {
            let touch = if *kind == Kind::Directory { Touch::ReadTree } else { Touch::Read };
            is_sensitive |= self.touch_path(touch, path, by, Marks::default()).sensitive;
        }
        self.follows = outer;
        is_sensitive
    }

    /// Secrets and files of rules at and below a directory.
    pub(crate) fn told_below(&mut self, root: &str) -> Rc<[Told]> {
        if let Some((_, told)) = self.told.iter().find(|(known, _)| known == root) {
            return told.clone();
        }
        let told: Rc<[Told]> = if is_walked(self.world, root) { self.look_through(root).into() } else { Rc::new([]) };
        self.told.push((root.to_owned(), told.clone()));
        told
    }

    fn look_through(&mut self, root: &str) -> Vec<Told> {
        let walk = walk(self.world, root);
        self.spend(u32::try_from(walk.looked / ENTRIES_A_STEP).unwrap_or(u32::MAX));
        if !walk.is_whole {
            self.cut.push(root.to_owned());
        }
        found_in(self.world, root, walk)
    }

    /// Secrets that git tracks in this work tree; where there are too many files to say, those that lie in it.
    pub(crate) fn secrets_in_index(&mut self, root: &str, cwd: &str) -> Vec<Told> {
        let world = self.world;
        let Some(files) = world.tracked_files(cwd, root) else {
            return self.told_below(root).iter().filter(|told| told.is_secret).cloned().collect();
        };
        let mut plain = BTreeMap::new();
        let secrets = files.into_iter().filter(|file| is_secret_file(world, file, &mut plain));
        secrets.map(|path| Told { path, kind: Kind::File, is_secret: true, is_ruled: false }).collect()
    }
}

/// Files that a rule is about and that git tracks in this work tree.
pub(crate) fn ruled_in_index(world: &dyn World, root: &str, cwd: &str) -> Vec<Told> {
    let mut found = BTreeMap::new();
    for rule in &world.settings().file_patterns {
        let Some(start) = rule.start(world.home(), world.project()) else { continue };
        let below = if path::under(&start, root) { start.as_str() } else { root };
        if below == root && !path::under(root, &start) {
            continue;
        }
        match world.tracked_files(cwd, below) {
            Some(files) => {
                let ruled = files.into_iter().filter(|file| self::is_ruled(world, file));
                found.extend(ruled.map(|file| (file, Kind::File)));
            }
            None if below != root => {
                found.insert(start, Kind::Directory);
            }
            None => {}
        }
    }
    found.into_iter().map(|(path, kind)| Told { path, kind, is_secret: false, is_ruled: true }).collect()
}

/// Home and system directories as a whole are sensitive by themselves; nobody walks through them.
fn is_walked(world: &dyn World, root: &str) -> bool {
    let roots = [world.project(), world.home()];
    let is_below = roots.iter().flatten().any(|above| path::under(root, above));
    let is_temporary = world.temporary().iter().chain(world.scratch()).any(|above| path::under(root, above));
    let is_home = world.home() == Some(root);
    (is_below || is_temporary) && !is_home && matches!(world.look(root).kind, Kind::Directory | Kind::Unlisted)
}

fn found_in(world: &dyn World, root: &str, walk: Walk) -> Vec<Told> {
    let mut found: BTreeMap<String, Kind> = walk.files.into_iter().collect();
    for rule in &world.settings().file_patterns {
        let start = rule.start(world.home(), world.project());
        if let Some(start) = start.filter(|start| start != root && path::under(start, root)) {
            found.extend(walk_ruled(world, &start, rule));
        }
    }
    let mut plain = BTreeMap::new();
    let told = |(path, kind): (String, Kind)| {
        let is_secret = kind != Kind::Directory && is_secret_file(world, &path, &mut plain);
        let is_ruled = kind == Kind::Directory || self::is_ruled(world, &path);
        (is_secret || is_ruled).then_some(Told { path, kind, is_secret, is_ruled })
    };
    found.into_iter().filter_map(told).collect()
}

/// What lies where a rule begins, in whatever tree that is. A place of too many files counts as a whole.
fn walk_ruled(world: &dyn World, start: &str, rule: &Pattern) -> Vec<(String, Kind)> {
    let kind = world.look(start).kind;
    match kind {
        Kind::Missing => Vec::new(),
        Kind::Directory if !is_ruled(world, start) => {
            let walk = self::walk(world, start);
            if walk.is_whole { walk.files } else { vec![(start.to_owned(), Kind::Directory)] }
        }
        Kind::Unlisted if rule.is_open() => Vec::new(),
        Kind::Directory | Kind::Unlisted | Kind::File | Kind::Link | Kind::Special | Kind::Unreadable => {
            vec![(start.to_owned(), kind)]
        }
    }
}

/// Every file below that may be a secret or one of a rule, except in directories that are made again by builds or kept by git.
fn walk(world: &dyn World, root: &str) -> Walk {
    let (mut files, mut is_whole) = (Vec::new(), true);
    let (mut waiting, mut looked) = (VecDeque::from([root.to_owned()]), 0);
    while let Some(directory) = waiting.pop_front() {
        let listing = world.listing(&directory);
        is_whole &= listing.is_whole;
        // Most names need no closer look, which is what makes large trees cheap.
        let mut is_plain = None;
        let mut is_plain = || *is_plain.get_or_insert_with(|| self::is_plain(world, &directory));
        for (name, kind) in listing.names {
            if looked == ENTRIES {
                return Walk { files, looked, is_whole: false };
            }
            looked += 1;
            if kind == Kind::File && is_source(&name) && is_plain() {
                continue;
            }
            let place = path::join(&directory, &name);
            match kind {
                Kind::Directory if name == ".git" || REBUILDABLE.contains(&name.as_str()) => {}
                Kind::Directory => waiting.push_back(place),
                Kind::File => files.push((place, Kind::File)),
                Kind::Link | Kind::Special | Kind::Missing | Kind::Unlisted | Kind::Unreadable => {}
            }
        }
    }
    Walk { files, looked, is_whole }
}

/// No rule is about anything in the directory, and only names make a secret of what lies in it.
fn is_plain(world: &dyn World, directory: &str) -> bool {
    let (home, project) = (world.home(), world.project());
    let starts = world.settings().file_patterns.iter().filter_map(|rule| rule.start(home, project));
    let is_ruled = |start: String| path::under(directory, &start) || path::parent(&start) == directory;
    let file = path::join(directory, "x.rs");
    !starts.into_iter().any(is_ruled) && place::classify(&file, world).sensitivity == Sensitivity::None
}

/// `plain` keeps for each directory whether only names make a secret of what lies in it.
fn is_secret_file(world: &dyn World, file: &str, plain: &mut BTreeMap<String, bool>) -> bool {
    let is_sensitive = |path: &str| place::classify(path, world).sensitivity > Sensitivity::None;
    if is_source(path::name(file)) {
        let directory = path::parent(file);
        let is_plain =
            *plain.entry(directory.to_owned()).or_insert_with(|| !is_sensitive(&path::join(directory, "x.rs")));
        if is_plain {
            return false;
        }
    }
    is_sensitive(file)
}
impl Observer<'_> {
    /// Another name of a file that a rule is about is that file.
    pub(crate) fn touch_other_name(&mut self, touch: Touch, real: &str, by: &By) {
        let is_read = matches!(touch, Touch::Read | Touch::ReadTree | Touch::Upload);
        if !is_read || self.world.settings().file_patterns.is_empty() {
            return;
        }
        let look = self.world.look(real);
        let Some(project) = self.world.project().filter(|_| look.kind == Kind::File && look.hard_links > 1) else {
            return;
        };
        if is_ruled(self.world, real) {
            return;
        }
        let told = self.told_below(project);
        let other = told.iter().find(|told| told.is_ruled && self.world.is_same_file(real, &told.path));
        if let Some(other) = other {
            self.touch_path(touch, &other.path, by, Marks::default());
        }
    }
}

pub(crate) fn is_ruled(world: &dyn World, file: &str) -> bool {
    let spellings = spellings(file, world.home(), world.project());
    let rules = &world.settings().file_patterns;
    rules.iter().any(|rule| spellings.iter().any(|spelling| rule.forbids_reading(spelling)))
}

/// What the file holds comes out, and matters.
fn is_shown(world: &dyn World, told: &Told, sweep: &Sweep) -> bool {
    let matters = told.is_ruled || (told.is_secret && sweep.shows_secrets());
    matters
        && !(sweep.is_ignoring() && sweep.is_ignored(world.tracking(&told.path)))
        && (told.kind == Kind::Directory || sweep.finds(&world.content(&told.path, CONTENT)))
}

/// Hidden names and those that begin like the keys of SSH are secrets with any ending.
pub(crate) fn is_source(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_odd = name.starts_with('.') || name.to_ascii_lowercase().starts_with("id_");
    name.is_ascii() && !is_odd && ending.is_some_and(|ending| SOURCES.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_a_project_has_the_name_of_source_text() {
        let description = crate::description::Description {
            home: Some("/home/dev".into()),
            project: Some("/home/dev/project".into()),
            ..Default::default()
        };
        let world = crate::described_world::DescribedWorld::new(description, "/home/dev/project");
        for ending in SOURCES {
            for stem in ["token", "secrets", "credentials", "server.key", "password", "prod.env", "a"] {
                let name = format!("{stem}.{ending}");
                let place = place::classify(&format!("/home/dev/project/{name}"), &world);
                assert_eq!(place.sensitivity, Sensitivity::None, "{name}");
            }
        }
        assert!(!is_source(".mongorc.js") && !is_source("id_rsa.rs") && !is_source("key.pem") && is_source("a.js"));
    }
}
