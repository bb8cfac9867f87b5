//! Which trees a command copies, moves, packs or unpacks, and where to.

use super::Invocation;
use crate::knowledge::schema::{Facet, Role, Sense};
use crate::observe::field::Field;
use crate::observe::paths::carried::note_carried;
use crate::observe::paths::expanded::expanded_names;
use crate::observe::sheet::notes::{Carried, Packed};
use crate::observe::sheet::observer::Observer;
use crate::path::{self, Follow};
use crate::world::Kind;

/// Flags that put other names into an archive, or take them out under others.
// Under these the names inside the archive are no longer those on the command line, so what comes out is not known.
const RENAMING: &[&str] = &["--transform", "--xform", "-s"];

/// Notes what lies somewhere else after the command than the world knows.
pub(crate) fn note_carrying(out: &mut Observer<'_>, invocation: &Invocation) {
    let Some(cwd) = invocation.cwd.as_deref() else { return };
    if invocation.args.is(Facet::Archives) {
        return note_archive(out, cwd, invocation);
    }
    match invocation.args.entry().map(|entry| &*entry.key) {
        Some("git archive") => note_git_archive(out, cwd, invocation),
        Some("git worktree add") => {
            let place = invocation.args.operands.first().and_then(Field::exact);
            let root = out.world.git(cwd).map(|git| git.root);
            if let Some((place, root)) = place.zip(root) {
                carry_to(out, &path::join(cwd, place), Some(root), false);
            }
        }
        Some(_) | None => note_copy(out, cwd, invocation),
    }
}

/// Code that renames or copies, with the path that it is given first and then.
pub(crate) fn note_carried_fields(out: &mut Observer<'_>, (from, to): (&Field, &Field), cwd: &str, is_moved: bool) {
    if let Some(to) = to.exact() {
        note_pair(out, from, cwd, &Carrying { place: &path::join(cwd, to), is_moved });
    }
}

/// Where something is put, and whether it leaves the place where it was.
struct Carrying<'p> {
    place: &'p str,
    is_moved: bool,
}

fn note_copy(out: &mut Observer<'_>, cwd: &str, invocation: &Invocation) {
    // A kept link still leads where it led, so the copy is another door to the same secret (secrets-1911). Where what it leads
    // to is copied, that is an ordinary read.
    let keeps_links = invocation.args.is(Facet::Copies) && invocation.args.gives(Sense::KeepLinks);
    let is_shared = invocation.args.gives(Sense::HardLink);
    let is_source = |role: &Role| {
        *role == Role::Move || (keeps_links && matches!(role, Role::Read | Role::ReadTree | Role::RemotePath))
    };
    let operands = || invocation.args.operands.iter().zip(&invocation.roles);
    let is_place = |role: &Role| matches!(role, Role::Into | Role::RemoteInto);
    let given = invocation.args.given.iter().filter(|given| is_place(&given.role));
    let given = given.filter_map(|given| given.value.as_ref());
    let places: Vec<&Field> =
        operands().filter(|(_, role)| is_place(role)).map(|(field, _)| field).chain(given).collect();
    let is_relative = invocation.args.gives(Sense::KeepPath);
    let from = out.carried.len();
    for (source, role) in operands().filter(|(_, role)| is_source(role)) {
        for place in places.iter().filter_map(|place| place.exact()) {
            let place = path::join(cwd, place);
            note_pair(out, source, cwd, &Carrying { place: &place, is_moved: *role == Role::Move });
            if is_relative {
                carry_to(out, &place, Some(cwd.to_owned()), false);
            }
        }
    }
    out.carried.iter_mut().skip(from).for_each(|carried| carried.is_shared = is_shared);
}

/// One source, which may be a wildcard, and a place that is its new name or the directory around that.
fn note_pair(out: &mut Observer<'_>, source: &Field, cwd: &str, carrying: &Carrying<'_>) {
    let (world, is_moved) = (out.world, carrying.is_moved);
    let here = path::resolve(carrying.place, world, Follow::Last).real;
    let to = Carrying { place: &here, is_moved };
    let is_directory = world.look(&here).kind == Kind::Directory;
    let Some(text) = source.known() else {
        // Whatever a loop or a list named; more is not said about a word that is not known at all.
        // What a search found may be a link of any name.
        let hits = if out.searches.is_empty() { out.listed_places() } else { None };
        match hits {
            Some(hits) => hits.iter().for_each(|hit| carry_one(out, hit, &to, is_directory)),
            None => note_carried(out, Carried { place: here.clone(), source: None, is_moved, is_shared: false }),
        }
        return;
    };
    let absolute = path::join(cwd, text);
    if source.glob {
        let hits = expanded_names(out.world, &absolute);
        return hits.iter().for_each(|hit| carry_one(out, hit, &to, is_directory));
    }
    let is_inside = text.ends_with('/') || matches!(path::name(text), "." | "..");
    if is_inside {
        carry_to(out, &here, Some(path::lexical(&absolute)), is_moved);
    }
    carry_one(out, &path::lexical(&absolute), &to, is_directory && !is_inside);
}

fn carry_one(out: &mut Observer<'_>, source: &str, to: &Carrying<'_>, is_directory: bool) {
    let Carrying { place, is_moved } = *to;
    if !is_directory {
        carry_to(out, place, Some(source.to_owned()), is_moved);
    }
    carry_to(out, &path::join(place, path::name(source)), Some(source.to_owned()), is_moved);
}

fn carry_to(out: &mut Observer<'_>, place: &str, source: Option<String>, is_moved: bool) {
    let world = out.world;
    let place = path::resolve(place, world, Follow::NotLast).real;
    note_carried(out, Carried { place, source, is_moved, is_shared: false });
}

fn note_archive(out: &mut Observer<'_>, cwd: &str, invocation: &Invocation) {
    let args = &invocation.args;
    let verb = args.operands.first().and_then(Field::exact);
    let packs = args.is(Facet::Packs)
        || args.words(Sense::Pack).iter().any(|word| args.has(word) || verb.is_some_and(|verb| verb == word));
    if packs {
        let is_renamed = args.has_any(RENAMING);
        for member in args.operands.iter().map(|field| field.known().unwrap_or(".")) {
            let prefix = if is_renamed { "?" } else { "" };
            note_packed(out, cwd, member, prefix);
        }
        return;
    }
    if args.gives(Sense::ListArchive) || out.packed.is_empty() {
        return;
    }
    let place = args.fields(Sense::UnpackInto).into_iter().filter_map(Field::exact).next_back();
    let place = path::join(cwd, place.unwrap_or("."));
    let strip = args.given.iter().find(|given| given.name == "--strip-components");
    let strip = strip.and_then(|given| given.value.as_ref()?.exact()?.parse().ok()).unwrap_or(0);
    for packed in out.packed.clone() {
        if packed.prefix == "?" || args.has_any(RENAMING) {
            carry_to(out, &place, None, false);
        } else {
            unpacked(out, &packed, &place, strip);
        }
    }
}

/// Names in the archive begin at the base; `--strip-components` takes away what they begin with.
fn unpacked(out: &mut Observer<'_>, packed: &Packed, place: &str, strip: usize) {
    let place = path::lexical(&path::join(place, &packed.prefix));
    if strip == 0 {
        let base = if packed.member.starts_with('/') { "/" } else { packed.base.as_str() };
        return carry_to(out, &place, Some(base.to_owned()), false);
    }
    let source = path::lexical(&path::join(&packed.base, &packed.member));
    let parts: Vec<&str> = packed.member.split('/').filter(|part| !part.is_empty()).collect();
    let is_known = parts.len() >= strip;
    let inner = parts.get(strip..).unwrap_or_default().join("/");
    carry_to(out, &path::join(&place, &inner), is_known.then_some(source), false);
}

fn note_git_archive(out: &mut Observer<'_>, cwd: &str, invocation: &Invocation) {
    let given = invocation.args.given.iter().find(|given| given.name == "--prefix");
    let prefix = given.and_then(|given| given.value.as_ref()?.exact()).unwrap_or_default().to_owned();
    note_packed(out, cwd, ".", &prefix);
}

fn note_packed(out: &mut Observer<'_>, base: &str, member: &str, prefix: &str) {
    let packed = Packed { base: base.to_owned(), member: member.to_owned(), prefix: prefix.to_owned() };
    /// More words are packed only by wildcards, and all of those lie in one directory.
    // Every packed word is remembered as a name that may come back later.
    const MOST: usize = 32;
    if !out.packed.contains(&packed) && out.packed.len() < MOST {
        out.packed.push(packed);
    }
}
