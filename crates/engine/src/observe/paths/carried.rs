//! Trees that this call copies or moves: the world still has them where they were, so what is done at the new place is looked up
//! at the old one as well.

use doorward_vocabulary::{Degree, Marks};

use super::globs;
use super::links::leads_through_link;
use super::touch::Touch;
use crate::observe::sheet::notes::Carried;
use crate::observe::sheet::observer::{By, Observer};
use crate::path::{self, Follow};
use crate::world::Kind;

/// More trees than a call has reason to copy or move.
// A rename script moves a few dozen trees. Each one makes every later path lookup longer, so past this the call asks.
const MOST: usize = 64;

/// Places at which the same thing was before, over all copies of copies.
// `cp a b; cp b c; …` doubles the places one file may have come from; a loop of copies must not make lookups
// quadratic.
const EARLIER: usize = 32;

/// Links followed on one way, and ways that are followed at all.
// The kernel gives up after 40 links (`MAXSYMLINKS`), so a longer chain cannot be opened anyway.
const LINKS: usize = 40;
// Where a moved link leads depends on which copy is meant. A few readings are compared; more are left to a person
// (secrets-1911).
const WAYS: usize = 16;

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

/// From now on `place` has what `source` has.
pub(crate) fn note_carried(out: &mut Observer<'_>, carried: Carried) {
    if carried.source.as_deref() == Some(carried.place.as_str()) || out.carried.contains(&carried) {
        return;
    }
    if out.carried.len() == MOST {
        return out.lower(Degree::Opaque, "there are more copied or moved trees than doorward follows");
    }
    out.carried.push(carried);
}

/// Does the same to what lies behind the path once the trees of this call are where it puts them; yields whether something
/// sensitive is read by that.
pub(crate) fn touch_carried(out: &mut Observer<'_>, touch: Touch, absolute: &str, by: &By, marks: Marks) -> bool {
    if out.carried.is_empty() {
        return false;
    }
    let follow = if absolute.ends_with('/') { Follow::Last } else { touch.follow() };
    let led = leads_carried(out, absolute, follow);
    if led.is_lost || is_of_unknown(out, absolute) {
        out.lower(Degree::Opaque, format!("what is at `{absolute}`, because this call puts it there"));
    }
    let lexical = path::lexical(absolute);
    let starts = std::iter::once(&lexical).chain(&led.to);
    let mut paths: Vec<String> =
        starts.flat_map(|at| earlier(out, at)).filter(|at| is_meant(out, touch, at)).map(|at| at.path).collect();
    if touch.is_tree() {
        paths.extend(carried_below(out, touch, &lexical));
    }
    paths.extend(led.to);
    paths.sort();
    paths.dedup();
    without_carried(out, |observer| {
        let touched = paths.iter().map(|path| observer.touch_path(touch, path, by, marks).sensitive);
        touched.fold(false, |any, sensitive| any | sensitive)
    })
}

/// The same for a path with wildcards.
pub(crate) fn touch_carried_glob(out: &mut Observer<'_>, touch: Touch, absolute: &str, by: &By) -> bool {
    if out.carried.is_empty() {
        return false;
    }
    let (base, pattern) = parted(absolute);
    let led = leads_carried(out, base, Follow::Last);
    let mut globs: Vec<String> = led.to.iter().map(|to| path::join(to, pattern)).collect();
    let mut is_lost = led.is_lost || is_of_unknown(out, absolute);
    for earlier in earlier_globs(out, absolute) {
        let (base, pattern) = parted(&earlier.path);
        let resolved = path::resolve(base, out.world, Follow::Last);
        if touch.reads() || (earlier.is_moved && deletes(touch)) || resolved.linked {
            globs.push(path::join(&resolved.real, pattern));
        } else {
            // A search goes through no link that it meets, unless it is told to.
            is_lost |= by.name != "find" && leads_through_link(out.world, &resolved.real, pattern);
        }
    }
    if is_lost {
        out.lower(Degree::Opaque, format!("where `{absolute}` leads, because it may go through a link"));
        out.unknown(touch.operation(), by, Marks::default());
    }
    globs.sort();
    globs.dedup();
    without_carried(out, |observer| {
        let touched = globs.iter().map(|glob| observer.touch_glob(touch, glob, by).sensitive);
        touched.fold(false, |any, sensitive| any | sensitive)
    })
}

/// What is run from a tree that this call put there must not be a link to somewhere else.
pub(crate) fn note_carried_run(out: &mut Observer<'_>, absolute: &str) {
    if out.carried.is_empty() {
        return;
    }
    let led = leads_carried(out, absolute, Follow::Last);
    let real = |path: &String| path::resolve(path, out.world, Follow::Last).real;
    let earlier = earlier(out, &path::lexical(absolute)).into_iter().map(|earlier| earlier.path);
    let sources: Vec<String> = earlier.filter(|path| out.world.look(path).kind != Kind::Missing).collect();
    let is_inside = |path: &String| out.world.project().is_some_and(|project| path::under(&real(path), project));
    let is_known = led.to.iter().chain(&sources).all(is_inside);
    if !is_known || led.is_lost || is_of_unknown(out, absolute) {
        out.lower(
            Degree::Opaque,
            format!("what `{absolute}` runs, because this call puts it there and a link leads on"),
        );
    }
}

/// Where the world has a file that this call put somewhere else.
pub(crate) fn carried_file(out: &Observer<'_>, absolute: &str) -> Option<String> {
    let lexical = path::lexical(absolute);
    let is_absent = !out.carried.is_empty() && out.world.look(&lexical).kind == Kind::Missing;
    let earlier = if is_absent { earlier(out, &lexical) } else { Vec::new() };
    earlier.into_iter().map(|earlier| earlier.path).find(|path| out.world.look(path).kind == Kind::File)
}

/// Where the tree at or below this place was before.
pub(crate) fn carried_roots(out: &Observer<'_>, root: &str) -> Vec<String> {
    let below = out.carried.iter().filter(|carried| path::under(&carried.place, root));
    let below = below.filter_map(|carried| carried.source.clone());
    earlier(out, root).into_iter().map(|earlier| earlier.path).chain(below).collect()
}

/// Runs something during which every path is what the world says.
fn without_carried<T>(out: &mut Observer<'_>, run: impl FnOnce(&mut Observer<'_>) -> T) -> T {
    let carried = std::mem::take(&mut out.carried);
    let result = run(out);
    out.carried = carried;
    result
}

/// What is read has the content of what lay there before. What is changed is another file, unless it was moved or the way
/// to it leads through a link.
fn is_meant(out: &Observer<'_>, touch: Touch, earlier: &Earlier) -> bool {
    let resolved = path::resolve(&earlier.path, out.world, touch.follow());
    let is_there = out.world.look(&resolved.real).kind != Kind::Missing;
    let is_linked = resolved.lost || resolved.real != resolved.lexical;
    let is_written = matches!(touch, Touch::Write | Touch::Append);
    let is_lost = (earlier.is_moved && (deletes(touch) || touch == Touch::Write)) || (earlier.is_shared && is_written);
    (is_there || resolved.lost) && (touch.reads() || is_lost || is_linked)
}

/// Trees that this call put below a directory of which everything is read or deleted.
fn carried_below(out: &Observer<'_>, touch: Touch, directory: &str) -> Vec<String> {
    let is_meant = |carried: &&Carried| {
        let counts = touch.reads() || (deletes(touch) && carried.is_moved);
        counts && carried.place != directory && path::under(&carried.place, directory)
    };
    let sources = out.carried.iter().filter(is_meant).filter_map(|carried| carried.source.clone());
    sources.filter(|source| out.world.look(source).kind != Kind::Missing).collect()
}

fn is_of_unknown(out: &Observer<'_>, absolute: &str) -> bool {
    let lexical = path::lexical(absolute);
    out.carried.iter().any(|carried| carried.source.is_none() && path::under(&lexical, &carried.place))
}

/// Where a path without dots was before, also before that.
fn earlier(out: &Observer<'_>, path: &str) -> Vec<Earlier> {
    earlier_by(out, path, |path, place| path::under(path, place).then(|| path.get(place.len()..)).flatten())
}

/// The same where the place itself may be named by wildcards.
fn earlier_globs(out: &Observer<'_>, absolute: &str) -> Vec<Earlier> {
    earlier_by(out, absolute, behind)
}

fn earlier_by(out: &Observer<'_>, path: &str, rest: impl for<'t> Fn(&'t str, &str) -> Option<&'t str>) -> Vec<Earlier> {
    let mut found = vec![Earlier { path: path.to_owned(), is_moved: true, is_shared: false }];
    let mut at = 0;
    while let Some(Earlier { path, is_moved, is_shared }) = found.get(at).cloned() {
        at += 1;
        for carried in &out.carried {
            let Some((rest, source)) = rest(&path, &carried.place).zip(carried.source.as_deref()) else { continue };
            // Below a file there is nothing.
            if !rest.is_empty() && out.world.look(source).kind == Kind::File {
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
fn leads_carried(out: &Observer<'_>, absolute: &str, follow: Follow) -> Led {
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
                if is_last && follow == Follow::NotLast { Vec::new() } else { targets(out, &way.real, &mut led) };
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
fn targets(out: &Observer<'_>, real: &str, led: &mut Led) -> Vec<(String, bool)> {
    let mut targets = Vec::new();
    let here = std::iter::once((real.to_owned(), false));
    for (at, is_carried) in here.chain(earlier(out, real).into_iter().map(|earlier| (earlier.path, true))) {
        match out.world.look(&at).kind {
            Kind::Link => match out.world.link(&at) {
                Some(target) => targets.push((target, is_carried)),
                None => led.is_lost |= is_carried,
            },
            Kind::Unreadable => led.is_lost |= is_carried,
            Kind::Missing | Kind::File | Kind::Directory | Kind::Special | Kind::Unlisted => {}
        }
    }
    targets
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
            || (component.contains(['*', '?']) && globs::matches(component, name.trim_start_matches('.')));
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
