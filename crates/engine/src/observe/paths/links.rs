//! Links that nobody names: a pattern matches them, or a walk through a tree meets them.

use std::collections::{BTreeMap, VecDeque};

use doorward_vocabulary::{Degree, Marks, Sensitivity};

use super::carried::carried_roots;
use super::globs;
use super::ruled::leads_to_ruled;
use super::touch::Touch;
use crate::knowledge::schema::Facet;
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::stream::Shape;
use crate::path::{self, Follow};
use crate::place;
use crate::world::{Kind, World};

/// Entries that are looked at for one call. Breadth first, so that what lies near the named directory is always seen.
// The agent waits while the disk is read. Links that lead out are near the top in practice; a larger tree asks.
const ENTRIES: usize = 2_000;

/// Patterns and directories whose names are kept; with more, any name may be meant.
// One loop has one or two patterns. The list is compared with every entry that is met.
const MOST: usize = 64;

/// Parts of a pattern that nested loops may add up to.
// `a/*/b/*/…`: each level multiplies the directories to list.
const DEPTH: usize = 8;

/// Entries below directories that a loop names, all of them together.
// All loops of a call together, so that ten small loops cannot do what one large one may not.
const NAMED: usize = 40_000;

/// More keys than anybody keeps in one directory.
// A hard link to a key has another path. Only comparing it with every file in the usual key directories finds it.
const KEYS: usize = 64;

/// Links that a walk through a tree met.
struct Walk {
    found: Vec<String>,
    /// Nothing was left out for want of time.
    is_whole: bool,
}

/// What a pattern stands for, and how many entries were looked at.
struct Places {
    found: Vec<String>,
    looked: usize,
    /// Nothing was left out, and every directory could be listed.
    is_whole: bool,
    /// There are more than were asked for.
    is_cut: bool,
}

impl Observer<'_> {
    /// What a pattern matches may be a link: it is opened under that name, and leads elsewhere.
    pub(crate) fn links_matched(&mut self, touch: Touch, base: &str, pattern: &str, by: &By) -> bool {
        if !opens(touch) {
            return false;
        }
        let links =
            if pattern.contains("**") { self.links_below(base, by) } else { self.matching_links(base, pattern) };
        self.touch_links(touch, &links, by)
    }

    /// The same for every link at and below a directory.
    pub(crate) fn links_met(&mut self, touch: Touch, base: &str, by: &By) -> bool {
        if touch == Touch::List {
            // Names alone: only those of a directory elsewhere are more than the link says.
            let is_directory = |link: &String| {
                self.world.look(&path::resolve(link, self.world, Follow::Last).real).kind == Kind::Directory
            };
            let links: Vec<String> = self.walk_links(base).found.into_iter().filter(is_directory).collect();
            return self.touch_links(touch, &links, by);
        }
        if !opens(touch) {
            return false;
        }
        let links = self.links_below(base, by);
        self.touch_links(touch, &links, by)
    }

    /// The names that a pattern or a directory stands for may be the words of a later command.
    pub(crate) fn note_listed(&mut self, absolute: &str) {
        let at = absolute.find(['*', '?', '[', '(', '{']).unwrap_or(absolute.len());
        let fixed = absolute.get(..at).unwrap_or_default();
        let base = if at == absolute.len() {
            absolute
        } else {
            fixed.rfind('/').and_then(|slash| fixed.get(..slash)).filter(|base| !base.is_empty()).unwrap_or("/")
        };
        let pattern = absolute.get(base.len()..).unwrap_or_default().trim_start_matches('/').to_owned();
        if self.listed.len() < MOST {
            let base = path::lexical(base);
            let before = carried_roots(self, &base).into_iter().map(|root| (root, pattern.clone())).collect::<Vec<_>>();
            self.listed.push((base, pattern));
            self.listed.extend(before);
        }
    }

    /// Links among the names that this call lists; where that may be any file of the directory, among all of them.
    pub(crate) fn links_listed(&mut self, touch: Touch, base: &str, by: &By, field: &Field) -> bool {
        // Names that are then opened by something else, and no list of them exists to compare with.
        let knowledge = self.knowledge;
        let prints = |command: &String| {
            command.split_whitespace().next().is_some_and(|name| knowledge.facets(name).has(Facet::PrintsNames))
        };
        // What a pattern matched was printed by nobody; but a walk goes on below it.
        let is_matched = field.shape == Shape::Matched && self.listed.len() < MOST;
        let is_anything = self.listed.is_empty() || self.commands().iter().any(prints);
        let mut sensitive = false;
        if is_anything && !(is_matched && touch == Touch::Read) {
            sensitive |= self.links_reached(touch, base, by, field);
        }
        if is_anything && !is_matched {
            return sensitive;
        }
        let is_followed = field.prefix().is_empty() && field.text != UNKNOWN.to_string();
        let patterns = if is_followed { self.patterns_of(field) } else { self.listed.clone() };
        if patterns.is_empty() {
            return sensitive | self.links_reached(touch, base, by, field);
        }
        for (directory, pattern) in patterns {
            sensitive |= match pattern.is_empty() {
                true => self.links_met(touch, &directory, by),
                false => self.links_matched(touch, &directory, &pattern, by),
            };
        }
        sensitive
    }

    /// Links below a directory that names of a list may lead through. Where the tree is too large for a walk, a search that goes
    /// on behind a listed name must know every place that it can stand for; one that reads the listed files only finds less.
    fn links_reached(&mut self, touch: Touch, base: &str, by: &By, field: &Field) -> bool {
        if !opens(touch) {
            return false;
        }
        let walk = self.walk_links(base);
        let goes_on = field.text.strip_prefix(UNKNOWN).is_some_and(|rest| !rest.is_empty());
        let finds_less = || self.finds_less(by) && (!goes_on || self.stays_inside(field));
        if !walk.is_whole && !finds_less() {
            self.lower(Degree::Unknown, "whether links lead out of a tree this large");
        }
        self.touch_links(touch, &walk.found, by)
    }

    /// The name begins with a loop variable, and no file that it can stand for lies behind a link out of the project.
    fn stays_inside(&self, field: &Field) -> bool {
        let is_inside = |(directory, pattern): &(String, String)| {
            let places = places_of(self.world, directory, pattern, NAMED);
            places.is_whole && leading_out(self.world, &places.found).is_empty()
        };
        let patterns = self.patterns_of(field);
        !self.prints_lists && !patterns.is_empty() && patterns.len() < MOST && patterns.iter().all(is_inside)
    }

    /// `$d/*` for every pattern that `$d` can stand for.
    pub(crate) fn patterns_of(&self, field: &Field) -> Vec<(String, String)> {
        let Some(rest) = field.text.strip_prefix(UNKNOWN).filter(|rest| !rest.contains(UNKNOWN)) else {
            return Vec::new();
        };
        // A directory that was listed stands for whatever lies in it.
        let behind = |pattern: &str| if pattern.is_empty() { String::new() } else { format!("{pattern}{rest}") };
        self.listed.iter().map(|(directory, pattern)| (directory.clone(), behind(pattern))).collect()
    }

    /// What the names that were listed stand for; `None` if that is not known.
    pub(crate) fn listed_places(&self) -> Option<Vec<String>> {
        let places: Vec<Places> =
            self.listed.iter().map(|(directory, pattern)| places_of(self.world, directory, pattern, MOST)).collect();
        let is_known = !places.is_empty() && !self.prints_lists && places.iter().all(|places| places.is_whole);
        is_known.then(|| places.into_iter().flat_map(|places| places.found).collect())
    }

    /// The same for a loop over what such a name matches.
    pub(crate) fn note_listed_below(&mut self, field: &Field) {
        let mut patterns = self.patterns_of(field);
        patterns.retain(|listed| listed.1.matches('/').count() < DEPTH && !self.listed.contains(listed));
        patterns.truncate(MOST.saturating_sub(self.listed.len()));
        self.listed.extend(patterns);
    }

    fn touch_links(&mut self, touch: Touch, links: &[String], by: &By) -> bool {
        let outer = std::mem::replace(&mut self.follows, false);
        let mut sensitive = false;
        for link in links {
            sensitive |= self.touch_path(touch, link, by, Marks::default()).sensitive;
        }
        self.follows = outer;
        sensitive
    }

    /// The files that a pattern stands for, as far as a link leads from them out of the project.
    fn matching_links(&mut self, base: &str, pattern: &str) -> Vec<String> {
        let places = places_of(self.world, base, pattern, NAMED.saturating_sub(self.matched));
        self.matched += places.looked;
        if places.is_cut {
            self.lower(Degree::Unknown, "whether links lead out of a tree this large");
        }
        leading_out(self.world, &places.found)
    }
}

/// Those of the places that are links out of the project, or lie behind one. Each directory is followed only once.
fn leading_out(world: &dyn World, places: &[String]) -> Vec<String> {
    let mut behind: BTreeMap<&str, bool> = BTreeMap::new();
    let mut found = Vec::new();
    for place in places {
        let directory = path::parent(place);
        let is_behind = *behind.entry(directory).or_insert_with(|| leads_out(world, directory));
        let is_link = !is_behind && world.look(place).kind == Kind::Link;
        if is_behind || (is_link && (leads_out(world, place) || leads_to_ruled(world, place))) {
            found.push(place.clone());
        }
    }
    found
}

/// Every path that a pattern stands for, without going over a number of entries.
fn places_of(world: &dyn World, base: &str, pattern: &str, most: usize) -> Places {
    let mut places =
        Places { found: vec![base.to_owned()], looked: 0, is_whole: !pattern.contains("**"), is_cut: false };
    for component in pattern.split('/').filter(|component| !component.is_empty()) {
        let mut next = Vec::new();
        for place in &places.found {
            if !component.contains(['*', '?', '[', '(', '{']) {
                next.push(path::join(place, component));
                continue;
            }
            let through = || world.entries(&path::resolve(place, world, Follow::Last).real);
            let names = world.entries(place).or_else(through);
            places.is_whole &= names.is_some() || world.look(place).kind != Kind::Directory;
            // Hidden names count as well: the shell may be set to match them.
            let hits = |name: &&String| {
                component.contains(['(', '{']) || globs::matches(component, name.trim_start_matches('.'))
            };
            next.extend(names.iter().flatten().filter(hits).map(|name| path::join(place, name)));
        }
        let left = most.saturating_sub(places.looked);
        places.is_cut |= next.len() > left;
        places.is_whole &= !places.is_cut;
        next.truncate(left);
        places.looked += next.len();
        places.found = next;
    }
    places
}
impl Observer<'_> {
    /// A directory that is named by what was listed at or below the base may lie behind a link that leads out of the project, or
    /// have such a link somewhere in it. In a tree of too many files only the named directories are walked through.
    pub(crate) fn may_lead_out(&mut self, base: &str, shape: Shape) -> bool {
        let walk = self.walk_links(base);
        if walk.is_whole || walk.found.iter().any(|link| shows_more(self.world, link)) {
            return walk.found.iter().any(|link| shows_more(self.world, link));
        }
        let is_known = shape == Shape::Matched && (1..MOST).contains(&self.listed.len());
        let places: Vec<Places> =
            self.listed.iter().map(|(directory, pattern)| places_of(self.world, directory, pattern, ENTRIES)).collect();
        let is_whole = places.iter().all(|places| places.is_whole);
        let roots: Vec<String> = places.into_iter().flat_map(|places| places.found).collect();
        !is_known || !is_whole || may_lead_out_below(self.world, &roots)
    }
}

/// Some link at or below these places leads out of the project, or to a directory that is none of theirs.
fn may_lead_out_below(world: &dyn World, roots: &[String]) -> bool {
    let mut left = NAMED;
    let leads = |link: &String| {
        let real = path::resolve(link, world, Follow::Last).real;
        let is_walked = roots.iter().any(|root| path::under(&real, root));
        let is_directory = world.look(&real).kind != Kind::File;
        (leads_out(world, link) && shows_more(world, link)) || (is_directory && !is_walked)
    };
    for root in roots {
        match world.look(root).kind {
            Kind::Link if leads(root) => return true,
            Kind::Directory => {
                let Some(below) = world.below(root).filter(|below| below.len() <= left) else { return true };
                left -= below.len();
                if below.iter().any(|(place, kind)| *kind == Kind::Link && leads(place)) {
                    return true;
                }
            }
            Kind::Link | Kind::File | Kind::Missing | Kind::Special => {}
            Kind::Unlisted | Kind::Unreadable => return true,
        }
    }
    false
}

/// The link leads to a directory or to something sensitive; one to a plain file, such as the interpreter of a virtual
/// environment, shows no more than naming that file would.
fn shows_more(world: &dyn World, link: &str) -> bool {
    let resolved = path::resolve(link, world, Follow::Last);
    let is_plain = world.look(&resolved.real).kind == Kind::File
        && place::classify(&resolved.real, world).sensitivity == Sensitivity::None;
    resolved.lost || !is_plain
}
impl Observer<'_> {
    /// Links below a directory that lead out of the project.
    fn links_below(&mut self, base: &str, by: &By) -> Vec<String> {
        let walk = self.walk_links(base);
        if !walk.is_whole && !self.finds_less(by) {
            self.lower(Degree::Unknown, "whether links lead out of a tree this large");
        }
        walk.found
    }

    /// A search that stops early only finds less; a copy would hold what nobody saw.
    fn finds_less(&self, by: &By) -> bool {
        // Subcommands are called by all their words.
        !by.name.contains(' ') && self.knowledge.facets(&by.name).has(Facet::Searches)
    }

    fn walk_links(&mut self, base: &str) -> Walk {
        let mut found = Vec::new();
        if !self.world.may_have_links() {
            return Walk { found, is_whole: true };
        }
        let mut waiting = VecDeque::from([base.to_owned()]);
        let mut is_whole = true;
        while let Some(directory) = waiting.pop_front() {
            let listing = self.world.listing(&directory);
            is_whole &= listing.is_whole;
            for (name, kind) in listing.names {
                if self.looks_left() == 0 {
                    return Walk { found, is_whole: false };
                }
                self.looked += 1;
                let place = path::join(&directory, &name);
                match kind {
                    Kind::Link
                        if leads_out(self.world, &place) || (self.follows && leads_to_ruled(self.world, &place)) =>
                    {
                        found.push(place);
                    }
                    Kind::Link if self.inner_links.len() < MOST => self.inner_links.push(place),
                    Kind::Directory | Kind::Unlisted if name != ".git" => waiting.push_back(place),
                    Kind::Link
                    | Kind::Directory
                    | Kind::Unlisted
                    | Kind::Missing
                    | Kind::File
                    | Kind::Special
                    | Kind::Unreadable => {}
                }
            }
        }
        Walk { found, is_whole }
    }
}

/// Another name of a file that holds a secret.
pub(crate) fn is_name_of_secret(world: &dyn World, real: &str) -> bool {
    place::usual_secrets(world).iter().any(|secret| {
        world.is_same_file(real, secret)
            || (matches!(world.look(secret).kind, Kind::Directory | Kind::Unlisted)
                && world.entries(secret).is_some_and(|names| {
                    let mut files = names.iter().take(KEYS).map(|name| path::join(secret, name));
                    files.any(|file| world.is_same_file(real, &file))
                }))
    })
}
impl Observer<'_> {
    fn looks_left(&self) -> usize {
        ENTRIES.saturating_sub(self.looked)
    }
}

fn leads_out(world: &dyn World, link: &str) -> bool {
    let resolved = path::resolve(link, world, Follow::Last);
    let is_inside = world.project().is_some_and(|project| path::under(&resolved.real, project));
    let is_secret = || place::classify(&resolved.real, world).sensitivity > Sensitivity::None;
    resolved.linked && (resolved.lost || !is_inside || is_secret())
}

/// Whatever is done is done to what the link leads to.
fn opens(touch: Touch) -> bool {
    match touch {
        Touch::Read
        | Touch::ReadTree
        | Touch::Upload
        | Touch::Write
        | Touch::Append
        | Touch::Edit
        | Touch::Create
        | Touch::Metadata
        | Touch::MetadataTree => true,
        Touch::List | Touch::Delete | Touch::DeleteTree | Touch::Move => false,
    }
}

impl Observer<'_> {
    /// The path lies below such a link, or is one and what it leads to would change.
    pub(crate) fn leads_through_own_link(&self, touch: Touch, lexical: &str, absolute: &str) -> bool {
        let changes = matches!(
            touch,
            Touch::Write | Touch::Append | Touch::Edit | Touch::Metadata | Touch::MetadataTree | Touch::Upload
        );
        self.links
            .iter()
            .any(|link| path::under(lexical, link) && (changes || lexical != link || absolute.ends_with('/')))
    }
}

/// A directory that the pattern leaves open may be a link.
pub(crate) fn leads_through_link(world: &dyn World, base: &str, pattern: &str) -> bool {
    let Some((first, _)) = pattern.split_once('/') else { return false };
    let Some(names) = world.entries(base) else { return false };
    let is_link = |name: &String| world.look(&path::join(base, name)).kind == Kind::Link;
    let start = first.split(['*', '?', '[', '(']).next().unwrap_or_default();
    names.iter().any(|name| name.starts_with(start) && is_link(name)) || leads_through_deeper(world, base, pattern)
}

/// The same further down: `*/aws/*` goes through `l/aws`.
fn leads_through_deeper(world: &dyn World, base: &str, pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    (2..parts.len()).any(|depth| {
        let above = parts.get(..depth).unwrap_or_default().join("/");
        let places = places_of(world, base, &above, ENTRIES);
        places.found.iter().any(|place| world.look(place).kind == Kind::Link)
    })
}
