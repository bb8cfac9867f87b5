//! Trees that this call copies or moves: the world still has them where they were, so what is done at the new place is looked up
//! at the old one as well.

use super::links::leads_through_link;
use doorward_vocabulary::{Degree, Marks};

use super::observer::{By, Observer};
use super::touch::{Touch, Touched};
use super::wild;
use crate::path::{self, Follow};
use crate::world::Kind;

/// More trees than a call has reason to copy or move.
const MOST: usize = 64;

/// Places at which the same thing was before, over all copies of copies.
const EARLIER: usize = 32;

/// Links followed on one way, and ways that are followed at all.
const LINKS: usize = 40;
const WAYS: usize = 16;

/// One tree or file, and where this call puts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    pub place: String,
    /// Where the world has it; `None` if that cannot be said.
    pub source: Option<String>,
    /// The source is gone, so that what is lost at the new place is lost for good.
    pub is_moved: bool,
    /// Both names are one file: what is written to one of them is in the other.
    pub is_shared: bool,
}

/// Where something was before.
#[derive(Clone)]
struct Earlier {
    path: String,
    is_moved: bool,
    is_shared: bool,
}

/// A path on its way through links.
#[derive(Clone)]
struct Way {
    real: String,
    /// The components that are left, the next one last.
    rest: Vec<String>,
    links: usize,
    /// Some link on the way came with a tree.
    is_led: bool,
}

/// Where a path leads through links that came with a tree.
#[derive(Default)]
struct Led {
    to: Vec<String>,
    is_lost: bool,
}

impl Observer<'_> {
    /// Writes down what happens to an absolute path.
    pub(super) fn touch_path(&mut self, touch: Touch, absolute: &str, by: &By, marks: Marks) -> Touched {
        let is_carried = self.touch_carried(touch, absolute, by, marks);
        let touched = self.touch_here(touch, absolute, by, marks);
        Touched { sensitive: touched.sensitive | is_carried, ..touched }
    }

    /// The same for a path with wildcards.
    pub(super) fn touch_glob(&mut self, touch: Touch, absolute: &str, by: &By) -> Touched {
        let is_carried = self.touch_carried_glob(touch, absolute, by);
        let touched = self.touch_matched(touch, absolute, by);
        Touched { sensitive: touched.sensitive | is_carried, ..touched }
    }

    /// From now on `place` has what `source` has.
    pub(super) fn note_carried(&mut self, carried: Carried) {
        if carried.source.as_deref() == Some(carried.place.as_str()) || self.carried.contains(&carried) {
            return;
        }
        if self.carried.len() == MOST {
            return self.lower(Degree::Opaque, "so many trees that are copied or moved");
        }
        self.carried.push(carried);
    }

    /// Does the same to what lies behind the path once the trees of this call are where it puts them; yields whether something
    /// sensitive is read by that.
    fn touch_carried(&mut self, touch: Touch, absolute: &str, by: &By, marks: Marks) -> bool {
        if self.carried.is_empty() {
            return false;
        }
        let follow = if absolute.ends_with('/') { Follow::Last } else { touch.follow() };
        let led = self.leads_carried(absolute, follow);
        if led.is_lost || self.is_of_unknown(absolute) {
            self.lower(Degree::Opaque, format!("what lies at `{absolute}`: this call put it there"));
        }
        let lexical = path::lexical(absolute);
        let starts = std::iter::once(&lexical).chain(&led.to);
        let mut paths: Vec<String> =
            starts.flat_map(|at| self.earlier(at)).filter(|at| self.is_meant(touch, at)).map(|at| at.path).collect();
        if touch.is_tree() {
            paths.extend(self.carried_below(touch, &lexical));
        }
        paths.extend(led.to);
        paths.sort();
        paths.dedup();
        self.without_carried(|observer| {
            let touched = paths.iter().map(|path| observer.touch_path(touch, path, by, marks).sensitive);
            touched.fold(false, |any, sensitive| any | sensitive)
        })
    }

    /// The same for a path with wildcards.
    fn touch_carried_glob(&mut self, touch: Touch, absolute: &str, by: &By) -> bool {
        if self.carried.is_empty() {
            return false;
        }
        let (base, pattern) = parted(absolute);
        let led = self.leads_carried(base, Follow::Last);
        let mut globs: Vec<String> = led.to.iter().map(|to| path::join(to, pattern)).collect();
        let mut is_lost = led.is_lost || self.is_of_unknown(absolute);
        for earlier in self.earlier_globs(absolute) {
            let (base, pattern) = parted(&earlier.path);
            let resolved = path::resolve(base, self.world, Follow::Last);
            if reads(touch) || (earlier.is_moved && deletes(touch)) || resolved.linked {
                globs.push(path::join(&resolved.real, pattern));
            } else {
                // A search goes through no link that it meets, unless it is told to.
                is_lost |= by.name != "find" && leads_through_link(self.world, &resolved.real, pattern);
            }
        }
        if is_lost {
            self.lower(Degree::Opaque, format!("where `{absolute}` leads: it may go through a link"));
            self.unknown(touch.operation(), by, Marks::default());
        }
        globs.sort();
        globs.dedup();
        self.without_carried(|observer| {
            let touched = globs.iter().map(|glob| observer.touch_glob(touch, glob, by).sensitive);
            touched.fold(false, |any, sensitive| any | sensitive)
        })
    }

    /// What is run from a tree that this call put there must not be a link to somewhere else.
    pub(super) fn note_carried_run(&mut self, absolute: &str) {
        if self.carried.is_empty() {
            return;
        }
        let led = self.leads_carried(absolute, Follow::Last);
        let real = |path: &String| path::resolve(path, self.world, Follow::Last).real;
        let earlier = self.earlier(&path::lexical(absolute)).into_iter().map(|earlier| earlier.path);
        let sources: Vec<String> = earlier.filter(|path| self.world.look(path).kind != Kind::Missing).collect();
        let is_inside = |path: &String| self.world.project().is_some_and(|project| path::under(&real(path), project));
        let is_known = led.to.iter().chain(&sources).all(is_inside);
        if !is_known || led.is_lost || self.is_of_unknown(absolute) {
            self.lower(Degree::Opaque, format!("what `{absolute}` runs: this call put it there, and a link leads on"));
        }
    }

    /// Where the world has a file that this call put somewhere else.
    pub(super) fn carried_file(&self, absolute: &str) -> Option<String> {
        let lexical = path::lexical(absolute);
        let is_absent = !self.carried.is_empty() && self.world.look(&lexical).kind == Kind::Missing;
        let earlier = if is_absent { self.earlier(&lexical) } else { Vec::new() };
        earlier.into_iter().map(|earlier| earlier.path).find(|path| self.world.look(path).kind == Kind::File)
    }

    /// Where the tree at or below this place was before.
    pub(super) fn carried_roots(&self, root: &str) -> Vec<String> {
        let below = self.carried.iter().filter(|carried| path::under(&carried.place, root));
        let below = below.filter_map(|carried| carried.source.clone());
        self.earlier(root).into_iter().map(|earlier| earlier.path).chain(below).collect()
    }

    /// Runs something during which every path is what the world says.
    fn without_carried<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let carried = std::mem::take(&mut self.carried);
        let result = run(self);
        self.carried = carried;
        result
    }

    /// What is read has the content of what lay there before. What is changed is another file, unless it was moved or the way
    /// to it leads through a link.
    fn is_meant(&self, touch: Touch, earlier: &Earlier) -> bool {
        let resolved = path::resolve(&earlier.path, self.world, touch.follow());
        let is_there = self.world.look(&resolved.real).kind != Kind::Missing;
        let is_linked = resolved.lost || resolved.real != resolved.lexical;
        let is_written = matches!(touch, Touch::Write | Touch::Append);
        let is_lost =
            (earlier.is_moved && (deletes(touch) || touch == Touch::Write)) || (earlier.is_shared && is_written);
        (is_there || resolved.lost) && (reads(touch) || is_lost || is_linked)
    }

    /// Trees that this call put below a directory of which everything is read or deleted.
    fn carried_below(&self, touch: Touch, directory: &str) -> Vec<String> {
        let is_meant = |carried: &&Carried| {
            let counts = reads(touch) || (deletes(touch) && carried.is_moved);
            counts && carried.place != directory && path::under(&carried.place, directory)
        };
        let sources = self.carried.iter().filter(is_meant).filter_map(|carried| carried.source.clone());
        sources.filter(|source| self.world.look(source).kind != Kind::Missing).collect()
    }

    fn is_of_unknown(&self, absolute: &str) -> bool {
        let lexical = path::lexical(absolute);
        self.carried.iter().any(|carried| carried.source.is_none() && path::under(&lexical, &carried.place))
    }

    /// Where a path without dots was before, also before that.
    fn earlier(&self, path: &str) -> Vec<Earlier> {
        self.earlier_by(path, |path, place| path::under(path, place).then(|| path.get(place.len()..)).flatten())
    }

    /// The same where the place itself may be named by wildcards.
    fn earlier_globs(&self, absolute: &str) -> Vec<Earlier> {
        self.earlier_by(absolute, behind)
    }

    fn earlier_by(&self, path: &str, rest: impl for<'t> Fn(&'t str, &str) -> Option<&'t str>) -> Vec<Earlier> {
        let mut found = vec![Earlier { path: path.to_owned(), is_moved: true, is_shared: false }];
        let mut at = 0;
        while let Some(Earlier { path, is_moved, is_shared }) = found.get(at).cloned() {
            at += 1;
            for carried in &self.carried {
                let Some((rest, source)) = rest(&path, &carried.place).zip(carried.source.as_deref()) else { continue };
                // Below a file there is nothing.
                if !rest.is_empty() && self.world.look(source).kind == Kind::File {
                    continue;
                }
                let path = format!("{}{rest}", source.trim_end_matches('/'));
                if found.len() < EARLIER && !found.iter().any(|known| known.path == path) {
                    let is_shared = is_shared || carried.is_shared;
                    found.push(Earlier { path, is_moved: is_moved && carried.is_moved, is_shared });
                }
            }
        }
        found.remove(0);
        found
    }

    /// Follows a path through the links of the world and those that came with a tree, which lead on from their new place.
    fn leads_carried(&self, absolute: &str, follow: Follow) -> Led {
        let parts = |text: &str| text.split('/').rev().filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let mut ways = vec![Way { real: String::new(), rest: parts(absolute), links: 0, is_led: false }];
        let mut led = Led::default();
        let mut taken = 0;
        while let Some(mut way) = ways.pop() {
            let Some(component) = way.rest.pop() else {
                if way.is_led {
                    led.to.push(if way.real.is_empty() { "/".to_owned() } else { way.real });
                }
                continue;
            };
            if component == ".." {
                way.real.truncate(way.real.rfind('/').unwrap_or(0));
            } else if component != "." {
                let directory = way.real.len();
                way.real.push('/');
                way.real.push_str(&component);
                let is_last = way.rest.iter().all(|part| part == ".");
                let targets =
                    if is_last && follow == Follow::NotLast { Vec::new() } else { self.targets(&way.real, &mut led) };
                if !targets.is_empty() {
                    taken += targets.len();
                    if way.links >= LINKS || taken > WAYS {
                        led.is_lost = true;
                        continue;
                    }
                    for (target, is_carried) in targets {
                        let mut next = way.clone();
                        next.links += 1;
                        next.is_led |= is_carried;
                        next.real.truncate(if target.starts_with('/') { 0 } else { directory });
                        next.rest.extend(parts(&target));
                        ways.push(next);
                    }
                    continue;
                }
            }
            ways.push(way);
        }
        led
    }

    /// Where links at this place lead, and whether they came with a tree.
    fn targets(&self, real: &str, led: &mut Led) -> Vec<(String, bool)> {
        let mut targets = Vec::new();
        let here = std::iter::once((real.to_owned(), false));
        for (at, is_carried) in here.chain(self.earlier(real).into_iter().map(|earlier| (earlier.path, true))) {
            match self.world.look(&at).kind {
                Kind::Link => match self.world.link(&at) {
                    Some(target) => targets.push((target, is_carried)),
                    None => led.is_lost |= is_carried,
                },
                Kind::Unreadable => led.is_lost |= is_carried,
                Kind::Missing | Kind::File | Kind::Directory | Kind::Special | Kind::Unlisted => {}
            }
        }
        targets
    }
}

fn reads(touch: Touch) -> bool {
    match touch {
        Touch::Read | Touch::ReadTree | Touch::Upload | Touch::List => true,
        Touch::Write
        | Touch::Append
        | Touch::Create
        | Touch::Edit
        | Touch::Delete
        | Touch::DeleteTree
        | Touch::Move
        | Touch::Metadata
        | Touch::MetadataTree => false,
    }
}

fn deletes(touch: Touch) -> bool {
    matches!(touch, Touch::Delete | Touch::DeleteTree)
}

/// The directory before the first wildcard, and the rest.
fn parted(absolute: &str) -> (&str, &str) {
    let at = absolute.find(['*', '?', '[', '(']).unwrap_or(absolute.len());
    let slash = absolute.get(..at).and_then(|fixed| fixed.rfind('/')).unwrap_or_default();
    let (base, pattern) = absolute.split_at_checked(slash).unwrap_or((absolute, ""));
    (if base.is_empty() { "/" } else { base }, pattern.trim_start_matches('/'))
}

/// What stands behind the components that name, or may name, the place.
fn behind<'t>(absolute: &'t str, place: &str) -> Option<&'t str> {
    let mut rest = absolute;
    for name in place.split('/').filter(|name| !name.is_empty()) {
        let inner = rest.trim_start_matches('/');
        let end = inner.find('/').unwrap_or(inner.len());
        let component = inner.get(..end)?;
        let is_same = component == name
            || component.contains(['[', '(', '{'])
            || (component.contains(['*', '?']) && wild::matches(component, name.trim_start_matches('.')));
        if component.is_empty() || !is_same {
            return None;
        }
        rest = inner.get(end..)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_may_be_named_by_wildcards() {
        for (absolute, place, wanted) in [
            ("/tmp/q/l/*", "/tmp/q", Some("/l/*")),
            ("/tmp/*/l/k", "/tmp/q", Some("/l/k")),
            ("/tmp/?/l", "/tmp/q", Some("/l")),
            ("/tmp/r*/l", "/tmp/q", None),
            ("/tmp/*", "/tmp/q", Some("")),
            ("/tmp", "/tmp/q", None),
            ("/tmp//q/./a*", "/tmp/q", Some("/./a*")),
        ] {
            assert_eq!(behind(absolute, place), wanted, "{absolute} {place}");
        }
    }
}
