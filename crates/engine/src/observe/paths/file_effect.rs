//! One path, one operation: where it leads, what class of place it is, whether it can be had back.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Scope, Sensitivity};

use super::absent::is_own_ground;
use super::carried::{touch_carried, touch_carried_glob};
use super::dependents::note_dependents;
use super::expanded::touch_ruled;
use super::links::{is_name_of_secret, leads_through_link};
use super::location_marks::{mark_standing, note_tree};
use super::ruled::{reads_ruled, ruled_listed};
use super::touch::{MATCHED, Touch, Touched};
use super::tracked::{count_matched, few_tracked, is_all_clean, note_tracked};
use super::words::is_ours;
use super::{absent, tracked};
use crate::effect::{Effect, Target};
use crate::observe::field::Field;
use crate::observe::sheet::caused::hand_over;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::stream::Shape;
use crate::path::{self, Follow};
use crate::place;
use crate::world::{Kind, World};

impl Observer<'_> {
    /// Writes down what happens to the path that a field names.
    pub(crate) fn touch(&mut self, touch: Touch, field: &Field, cwd: Option<&str>, by: &By) -> Touched {
        if field.process.is_some() {
            return Touched { path: None, sensitive: field.origin.secret };
        }
        if field.dynamic {
            return self.touch_dynamic(touch, field, cwd, by);
        }
        if field.text.is_empty() {
            return Touched::default();
        }
        let Some(absolute) = self::absolute(&field.text, cwd) else {
            self.lower(Degree::Opaque, format!("`{}` in a directory doorward doesn't know", field.shown()));
            self.unknown(touch.operation(), by, Marks::default());
            return Touched::default();
        };
        if touch == Touch::List {
            self.note_listed(&absolute);
        }
        if field.glob {
            return self.touch_glob(touch, &absolute, by);
        }
        // Such a file turns the operands of a later command into flags.
        if touch.operation() == Operation::Write && path::looks_like_words(new_part(self.world, &absolute)) {
            self.lower(Degree::Unknown, format!("a file whose name looks like a flag, `{}`", field.shown()));
        }
        self.touch_path(touch, &absolute, by, Marks::default())
    }
}

/// What of the path is not there yet; a directory that is there turns nothing into a flag that it did not before.
fn new_part<'p>(world: &dyn World, absolute: &'p str) -> &'p str {
    // Agents name directories of their own after projects: `/tmp/agent/-home-dev-shop/notes.md`.
    if place::classify(&path::lexical(absolute), world).scope == Scope::Scratch {
        return path::name(absolute);
    }
    let is_directory =
        |at: usize| absolute.get(..at).is_some_and(|above| world.look(&path::lexical(above)).kind == Kind::Directory);
    let ends: Vec<usize> = absolute.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0).collect();
    let there = ends.into_iter().rev().find(|at| is_directory(*at));
    there.and_then(|at| absolute.get(at..)).unwrap_or(absolute)
}

fn absolute(text: &str, cwd: Option<&str>) -> Option<String> {
    if text.starts_with('/') {
        return Some(text.to_owned());
    }
    cwd.map(|cwd| path::join(cwd, text))
}
impl Observer<'_> {
    /// A path that is not wholly known.
    fn touch_dynamic(&mut self, touch: Touch, field: &Field, cwd: Option<&str>, by: &By) -> Touched {
        if field.shape == Shape::Place && touch.reads() && touch != Touch::Upload {
            return self.touch_place(touch, by);
        }
        let contained = match field.shape {
            // The list was made in the project; elsewhere the same names are other files.
            Shape::ProjectPaths | Shape::Matched | Shape::ProjectNames => {
                field.prefix().is_empty() && is_ours(cwd, self.world)
            }
            Shape::Token | Shape::OwnJob | Shape::Below => true,
            Shape::Any | Shape::Begun | Shape::Place => false,
        };
        let touch = match (field.shape, touch) {
            // Any file below may be the one.
            (Shape::Below, Touch::Read) => Touch::ReadTree,
            (Shape::Below, touch) => touch.of_tree(),
            (
                Shape::ProjectPaths
                | Shape::Matched
                | Shape::ProjectNames
                | Shape::Token
                | Shape::OwnJob
                | Shape::Begun
                | Shape::Place
                | Shape::Any,
                touch,
            ) => touch,
        };
        if matches!(field.shape, Shape::ProjectPaths | Shape::Matched | Shape::ProjectNames)
            && matches!(touch, Touch::Write | Touch::Append | Touch::Edit | Touch::Move)
        {
            self.lower(Degree::Opaque, format!("which files of the project `{}` changes", by.name));
        }
        let base = if contained { absolute(base_of(field.prefix()), cwd) } else { None };
        match base {
            Some(base) => {
                let mut touched = self.touch_path(touch, &base, by, Marks::default().with(Mark::CountUnknown));
                touched.sensitive |= self.links_listed(touch, &path::lexical(&base), by, field);
                ruled_listed(self, touch, by, field);
                touched
            }
            None => {
                self.lower(Degree::Opaque, format!("which path `{}` is", field.shown()));
                // Wherever it lies, this name decides who may log in.
                let decides = field.text.ends_with("/.ssh/authorized_keys");
                let marks = if decides { Marks::default().with(Mark::AuthorizedKeys) } else { Marks::default() };
                self.unknown(touch.operation(), by, marks);
                Touched { path: None, sensitive: field.origin.secret }
            }
        }
    }

    /// Something that a tool chain keeps; what a rule of the user denies may lie there.
    fn touch_place(&mut self, touch: Touch, by: &By) -> Touched {
        if !self.world.settings().denied_paths.is_empty() {
            self.lower(Degree::Opaque, "which path a rule denies, among those of a tool chain");
        }
        let mut effect = Effect::new(Operation::Read, Target::Resource("files of a tool chain".into()));
        effect.scope = Scope::System;
        if touch.is_tree() {
            effect.marks.add(Mark::Recursive);
        }
        effect.by.clone_from(&by.name);
        effect.part = by.part;
        self.effect(effect);
        Touched::default()
    }

    /// A path with wildcards: judged as its fixed directory, and as the most sensitive name that it may match.
    pub(crate) fn touch_matched(&mut self, touch: Touch, absolute: &str, by: &By) -> Touched {
        let at = absolute.find(['*', '?', '[', '(']).unwrap_or(absolute.len());
        let base = absolute
            .get(..at)
            .and_then(|fixed| fixed.rfind('/').and_then(|slash| absolute.get(..slash)))
            .unwrap_or_default();
        let base = if base.is_empty() { "/" } else { base };
        let pattern = absolute.get(base.len()..).unwrap_or_default().trim_start_matches('/');
        // What lies in a directory is reached through its link, whatever becomes of it there.
        let led = path::resolve(base, self.world, Follow::Last);
        if self.links.iter().any(|link| path::under(&led.lexical, link))
            || leads_through_link(self.world, &led.real, pattern)
        {
            self.lower(Degree::Opaque, format!("where `{absolute}` leads, because it goes through a link"));
            self.unknown(touch.operation(), by, Marks::default().with(Mark::Wildcard));
        }
        let base = led.real.as_str();
        let mut marks = Marks::default().with(Mark::CountUnknown).with(Mark::Wildcard);
        if super::globs::is_narrow(pattern) {
            marks.add(Mark::Narrowed);
        }
        let resolved = path::lexical(base);
        touch_ruled(self, touch, &resolved, pattern, by);
        if self.matches_nothing(touch, &resolved, pattern) {
            return self.touch_nothing(&resolved, pattern, by);
        }
        if let Some(files) = self.matched(touch, &resolved, pattern) {
            let touched = files.iter().map(|file| self.touch_path(touch, file, by, Marks::default()));
            let sensitive = touched.fold(false, |any, touched| any | touched.sensitive);
            return Touched { path: None, sensitive };
        }
        let inside = self.world.project().is_some_and(|project| path::under(&resolved, project));
        // A name that is only listed gives nothing away.
        let sensitive = touch != Touch::List
            && (super::globs::may_match_sensitive(pattern, &resolved, self.world)
                || super::globs::lists_sensitive(pattern, &resolved, self.world));
        let everything = pattern.chars().all(|character| matches!(character, '*' | '?'));
        let sensitive =
            sensitive || (touch != Touch::List && everything && super::globs::holds_secrets(&resolved, self.world));
        if sensitive || (touch != Touch::List && !inside && is_wide(&resolved, self.world.home())) {
            self.lower(Degree::Opaque, format!("the wildcard `{pattern}` may match something sensitive"));
        }
        if pattern.split('/').count() > 1 || pattern.contains("**") {
            marks.add(Mark::Recursive);
        }
        // Outside of the project a directory further down may be one that holds secrets.
        let deep = !inside && touch == Touch::Read && pattern.contains("**") && !super::globs::is_source(pattern);
        let over = if deep { Touch::ReadTree } else { touch.of_tree() };
        let ((mut touched, loss), mut caused) = self.collect(|out| {
            let touched = out.touch_inside(over, base, by, marks);
            (touched, tracked::loss(out, touch, &resolved, pattern))
        });
        count_matched(self.world, &mut caused, touch, &resolved, pattern);
        loss.count(&mut caused);
        if touch == Touch::Delete && !marks.has(Mark::Recursive) {
            // Files of one directory, and nothing below it.
            caused.remove(Mark::Recursive);
        }
        let few = touch == Touch::Delete && marks.has(Mark::Narrowed) && !sensitive;
        if few && self.world.home() == Some(resolved.as_str()) {
            // Some files that lie directly in the home directory, and never a directory: not the home itself.
            caused.remove(Mark::HomeRoot);
        }
        self.write(caused);
        touched.sensitive |= sensitive | self.links_matched(touch, &resolved, pattern, by);
        touched.path = None;
        touched
    }

    /// A deletion in a place of one's own that would hit nothing, in whichever shell.
    fn matches_nothing(&self, touch: Touch, directory: &str, pattern: &str) -> bool {
        matches!(touch, Touch::Delete | Touch::DeleteTree)
            && is_own_ground(self.world, directory)
            && self.is_still()
            && absent::hits(self.world, directory, pattern).is_some_and(|hits| hits.is_empty())
    }

    /// The few files that a deletion would hit, if that is certain: one narrow pattern in a directory that can be listed, and
    /// nothing before it in the call that could have put more there.
    fn matched(&self, touch: Touch, directory: &str, pattern: &str) -> Option<Vec<String>> {
        let is_plain = touch == Touch::Delete && super::globs::is_narrow(pattern) && !pattern.contains(['{', '!', '^']);
        let is_first = self.effects().iter().all(|effect| effect.operation == Operation::Read);
        let is_edit = touch == Touch::Edit;
        let last = pattern.rsplit('/').next().unwrap_or_default();
        let is_tree = touch == Touch::DeleteTree && super::globs::is_narrow(last);
        let is_deep = touch == Touch::Delete
            && (last != pattern && super::globs::is_narrow(last) || is_all_clean(self.world, directory, pattern));
        if (is_edit || is_tree || is_deep) && is_own_ground(self.world, directory) && self.is_still() {
            let is_file = |hit: &String| match self.world.look(hit).kind {
                Kind::File => true,
                Kind::Link => !is_edit,
                Kind::Directory | Kind::Missing | Kind::Special | Kind::Unlisted | Kind::Unreadable => is_tree,
            };
            let hits = absent::hits(self.world, directory, pattern)?;
            return (!hits.is_empty() && hits.len() <= MATCHED && hits.iter().all(is_file)).then_some(hits);
        }
        if !is_plain || !is_first || self.degree() > Degree::Full {
            return None;
        }
        // Hidden names count as well: the shell may be set to match them.
        let hits = |name: &String| super::globs::matches(pattern, name.trim_start_matches('.'));
        let names: Vec<String> = self.world.entries(directory)?.into_iter().filter(hits).collect();
        let files: Vec<String> = names.iter().map(|name| path::join(directory, name)).collect();
        let all_files = files.iter().all(|file| matches!(self.world.look(file).kind, Kind::File | Kind::Link));
        (!files.is_empty() && files.len() <= MATCHED && all_files).then_some(files)
    }

    /// Something inside a directory: the directory itself is not the target.
    fn touch_inside(&mut self, touch: Touch, base: &str, by: &By, marks: Marks) -> Touched {
        let (touched, mut caused) = self.collect(|out| out.touch_path(touch, base, by, marks));
        if touch != Touch::DeleteTree {
            caused.only_inside();
        }
        self.write(caused);
        touched
    }

    /// Writes down what happens to an absolute path.
    pub(crate) fn touch_path(&mut self, touch: Touch, absolute: &str, by: &By, marks: Marks) -> Touched {
        let is_carried = touch_carried(self, touch, absolute, by, marks);
        let touched = self.touch_here(touch, absolute, by, marks);
        Touched { sensitive: touched.sensitive | is_carried, ..touched }
    }

    /// The same for a path with wildcards.
    pub(crate) fn touch_glob(&mut self, touch: Touch, absolute: &str, by: &By) -> Touched {
        let is_carried = touch_carried_glob(self, touch, absolute, by);
        let touched = self.touch_matched(touch, absolute, by);
        Touched { sensitive: touched.sensitive | is_carried, ..touched }
    }

    /// Writes down what happens to an absolute path of the world.
    pub(crate) fn touch_here(&mut self, touch: Touch, absolute: &str, by: &By, marks: Marks) -> Touched {
        // A slash at the end leads through a link, as far as the program goes along.
        let follow = if absolute.ends_with('/') { Follow::Last } else { touch.follow() };
        let resolved = path::resolve(absolute, self.world, follow);
        let is_led = absolute.ends_with('/') && touch.follow() == Follow::NotLast && {
            let link = path::resolve(absolute.trim_end_matches('/'), self.world, Follow::NotLast);
            link.real != resolved.real
        };
        if is_led || self.leads_through_own_link(touch, &resolved.lexical, absolute) {
            self.lower(Degree::Opaque, format!("where `{}` leads, because it goes through a link", resolved.lexical));
            self.unknown(touch.operation(), by, marks);
        }
        let real = resolved.real;
        let is_sink = place::is_harmless_device(&real);
        if is_sink && touch.passes_data() {
            return Touched { path: Some(real), sensitive: false };
        }
        let mut effect = Effect::new(touch.operation(), Target::Path(real.clone()));
        effect.by.clone_from(&by.name);
        effect.part = by.part;
        let here = if is_sink { place::device() } else { place::classify(&real, self.world) };
        effect.scope = here.scope;
        effect.reach = here.reach;
        effect.sensitivity = here.sensitivity;
        effect.marks = here.marks;
        effect.marks.union(marks);
        if resolved.linked && real != resolved.lexical {
            let said = place::classify(&resolved.lexical, self.world);
            if said.scope != here.scope || path::parent(&real) != path::parent(&resolved.lexical) {
                effect.marks.add(Mark::LinkedElsewhere);
            }
            effect.marks.union(said.marks);
            effect.reach = effect.reach.max(said.reach);
            effect.sensitivity = effect.sensitivity.max(said.sensitivity);
        }
        if resolved.lost {
            self.lower(Degree::Opaque, format!("where the links of `{}` end", resolved.lexical));
        }
        mark_standing(self.world, touch, &real, &mut effect);
        if touch.is_tree() {
            effect.marks.add(Mark::Recursive);
            if effect.scope == Scope::File {
                effect.scope = Scope::Directory;
            }
        }
        if matches!(touch, Touch::Metadata | Touch::MetadataTree) {
            effect.marks.add(Mark::LocksOut);
        }
        note_tree(self.world, touch, &real, &mut effect);
        effect.reversibility = self.reversibility(touch, &real, &mut effect);
        note_tracked(self.world, touch, &real, &mut effect);
        if let Some(files) = few_tracked(self.world, touch, &real, &effect) {
            let touched = files.iter().map(|file| self.touch_path(Touch::Delete, file, by, marks));
            return touched.fold(Touched { path: Some(real.clone()), sensitive: false }, |all, one| Touched {
                sensitive: all.sensitive | one.sensitive,
                ..all
            });
        }
        note_reading(self.world, touch, &real, &mut effect);
        note_dependents(self.world, &real, &mut effect);
        let sensitive = effect.sensitivity > Sensitivity::None && touch != Touch::List;
        if touch == Touch::List {
            effect.sensitivity = Sensitivity::None;
        }
        self.effect(effect);
        self.touch_other_name(touch, &real, by);
        if touch == Touch::Move {
            reads_ruled(self, &real, by);
        }
        let met = self.follows && matches!(touch, Touch::Read | Touch::ReadTree | Touch::Upload | Touch::List);
        let sensitive = sensitive | (met && self.links_met(touch, &real, by));
        Touched { path: Some(real), sensitive }
    }
}

fn note_reading(world: &dyn World, touch: Touch, real: &str, effect: &mut Effect) {
    if touch == Touch::List {
        return effect.marks.remove(Mark::Device);
    }
    if !matches!(touch, Touch::Read | Touch::Upload) {
        return;
    }
    let look = world.look(real);
    if touch == Touch::Upload {
        hand_over(effect, look.size);
    }
    if look.kind == Kind::Special {
        effect.marks.add(Mark::Device);
    }
    if look.kind == Kind::File && look.hard_links > 1 && is_name_of_secret(world, real) {
        effect.marks.add(Mark::HardLinked);
        effect.sensitivity = effect.sensitivity.max(Sensitivity::Credential);
    }
}

/// The directory part of a prefix.
fn base_of(prefix: &str) -> &str {
    match prefix.rfind('/') {
        Some(0) => "/",
        Some(at) => prefix.get(..at).unwrap_or("."),
        None => ".",
    }
}

/// A wildcard directly in one of these may match almost anything.
fn is_wide(directory: &str, home: Option<&str>) -> bool {
    directory == "/"
        || ["/etc", "/root", "/home", "/proc", "/Users"]
            .iter()
            .any(|wide| path::under(directory, wide) && !home.is_some_and(|home| path::under(directory, home)))
        || home.is_some_and(|home| directory == home || path::under(home, directory))
}
