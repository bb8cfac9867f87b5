//! Programs that a build makes from sources of the trusted project: they may do what those sources may do.

use std::rc::Rc;

use doorward_vocabulary::{Degree, Mark, Operation};

use super::Invocation;
use super::file_trust::{fetched_here, is_changed, was_there};
use crate::effect::{Effect, Target};
use crate::facts::Built;
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::recipes::arrived::{foreign_place, has_arrivals, is_inert};
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::{State, WrittenFile, WrittenFiles};
use crate::path::{self, Follow};
use crate::world::{Kind, Tracking, World};

/// More files beside the builds of a call are not told apart from what was built.
const OTHERS: usize = 64;

/// How a program turns sources into others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Builder {
    /// It reads the sources that it is given, and runs nothing: `gcc main.c -o app`.
    Compiler,
    /// It follows a recipe of the project: `make`, `go build`.
    Recipe,
}

/// What an invocation built, if everything that went into it is the project's own. `before` are the files that the call had
/// written until then.
pub(super) fn note_build(
    out: &mut Observer<'_>,
    invocation: &Invocation,
    before: &WrittenFiles,
    state: &mut State<'_>,
) {
    let Some(builder) = builder_of(invocation) else { return };
    let inputs = Inputs { world: out.world, builder, invocation, before, state };
    if !is_sound(out, invocation, state) || !inputs.are_own() {
        return;
    }
    for path in &invocation.stored {
        let is_directory = builder == Builder::Recipe && out.world.look(path).kind == Kind::Directory;
        let is_brought = state.written.get(path).is_some_and(|file| file.origin.download || file.origin.brought);
        if !is_brought && (is_directory || may_be_replaced(out.world, path, before)) {
            mark_built(state, path);
        }
    }
    match builder {
        Builder::Compiler if invocation.stored.is_empty() => unnamed_outputs(out.world, invocation, before, state),
        Builder::Compiler => {}
        // What comes over the network while a recipe runs may be what lies there afterwards.
        Builder::Recipe if out.effects().iter().any(brings_code) => {}
        Builder::Recipe => out.built.extend(out.world.project().map(str::to_owned)),
    }
}

/// The file is what a build of this session made of the project: in this call or an earlier one.
pub(crate) fn is_built(out: &Observer<'_>, file: &str, state: &State<'_>) -> bool {
    let world = out.world;
    if !world.project_trusted() || is_shared(out, file) {
        return false;
    }
    if let Some(written) = state.written.get(file) {
        return written.is_built;
    }
    // Whoever fills the directory around it may have put something else there.
    let is_filled = state.written.iter().any(|(place, written)| path::under(file, place) && !written.is_kept());
    let look = world.look(file);
    if is_filled || look.is_built {
        return look.is_built && !is_filled;
    }
    let is_output = || matches!(world.tracking(file), Tracking::Rebuildable | Tracking::Ignored | Tracking::Untracked);
    look.kind == Kind::Missing && out.built.iter().any(|root| path::under(file, root)) && is_output()
}

/// What the builds of a call leave for later ones.
pub(crate) fn left_built(out: &Observer<'_>, state: &State<'_>) -> Option<Built> {
    let files: Vec<String> =
        state.written.iter().filter(|(_, file)| file.is_built).map(|(path, _)| path.clone()).collect();
    let mut root = out.built.first().cloned();
    let mut others: Vec<String> =
        state.written.iter().filter(|(_, file)| !file.is_kept()).map(|(path, _)| path.clone()).collect();
    for effect in out.effects() {
        // A deletion leaves nothing that could pass for the build's own: `make clean && make`.
        let changes = matches!(effect.operation, Operation::Write | Operation::Mutate);
        if let Target::Path(path) = &effect.target
            && changes
            && !state.written.get(path).is_some_and(WrittenFile::is_kept)
        {
            others.push(path.clone());
        }
        root = root.filter(|_| !brings_code(effect));
    }
    others.sort_unstable();
    others.dedup();
    let root = root.filter(|_| others.len() <= OTHERS);
    let is_known = out.degree() <= Degree::Delegated && out.world.project_trusted();
    (is_known && (root.is_some() || !files.is_empty())).then_some(Built { files, root, others })
}

fn brings_code(effect: &Effect) -> bool {
    effect.marks.has_any(&[Mark::Download, Mark::RemoteCode])
}

fn builder_of(invocation: &Invocation) -> Option<Builder> {
    let entry = invocation.args.entry()?;
    let makes = |operation: Operation, marks: &[Mark]| {
        entry.does.iter().any(|does| does.operation == operation && does.marks.has_any(marks))
    };
    let runs = entry.does.iter().any(|does| does.operation == Operation::Execute);
    let follows = makes(Operation::Execute, &[Mark::Build])
        || (runs && invocation.flag_marks().has(Mark::Build))
        || (makes(Operation::Execute, &[Mark::RunsProject]) && !entry.delegates.is_empty());
    match (follows, runs) {
        (true, _) => Some(Builder::Recipe),
        (false, false) if makes(Operation::Write, &[Mark::Build]) => Some(Builder::Compiler),
        (false, _) => None,
    }
}

/// Nothing about the call so far is in doubt, and the build ends before what comes after it.
fn is_sound(out: &Observer<'_>, invocation: &Invocation, state: &State<'_>) -> bool {
    let is_known = |given: &super::args::Given| !given.changes.unknown && !given.changes.opaque && !given.role.is_run();
    let is_here = |cwd: &str| out.world.project().is_some_and(|project| path::under(cwd, project));
    let cwd = invocation.cwd.as_deref().map(|cwd| path::resolve(cwd, out.world, Follow::Last).real);
    out.world.project_trusted()
        && out.degree() <= Degree::Delegated
        && !out.lingering.is_inside()
        && !state.poisoned
        && invocation.args.unknown.is_empty()
        && invocation.args.given.iter().all(is_known)
        && cwd.as_deref().is_some_and(is_here)
        && fetched_here(cwd.as_deref(), state).is_none()
}

/// What goes into a build.
struct Inputs<'a, 'w> {
    world: &'a dyn World,
    builder: Builder,
    invocation: &'a Invocation,
    /// What the call had written until then.
    before: &'a WrittenFiles,
    state: &'a State<'w>,
}

impl Inputs<'_, '_> {
    /// All of it belongs to the project.
    fn are_own(&self) -> bool {
        let operands = &self.invocation.args.operands;
        match self.builder {
            Builder::Compiler => {
                let given = &self.invocation.args.given;
                let mut inputs =
                    given.iter().filter(|given| given.role == Role::Read).filter_map(|given| given.value.as_ref());
                !operands.is_empty()
                    && operands.iter().all(|field| self.is_own(field))
                    && inputs.all(|field| self.is_own(field))
                    && given.iter().all(is_plain_definition)
            }
            Builder::Recipe => {
                // `app`, `./cmd/app`, `DEBUG=1`; `CC=…` would choose another compiler.
                let is_task = |text: &str| {
                    let (name, value) = text.split_once('=').unwrap_or((text, ""));
                    is_word(value) && !name.starts_with(['/', '.', '~', '@']) && !name.contains(['.', '@'])
                };
                operands.iter().all(|field| {
                    // `example.com/tool` is a package that somebody else wrote.
                    let first = field.text.split('/').next().unwrap_or_default();
                    let is_address = first.len() != field.text.len() && first.trim_start_matches('.').contains('.');
                    let is_path = !is_address && !field.text.contains(['=', '@']);
                    field.exact().is_some_and(is_task) || (is_path && self.is_own(field))
                })
            }
        }
    }

    /// The word names a source or a directory of the project, or what a build made of it.
    fn is_own(&self, field: &Field) -> bool {
        let (Some(text), Some(cwd)) = (field.known(), self.invocation.cwd.as_deref()) else { return false };
        // `--extern name=path`, `-L native=path`, `./...`.
        let text = text.rsplit_once('=').map_or(text, |(_, path)| path);
        let text = text.strip_suffix("...").unwrap_or(text);
        if text.is_empty() || text == "-" || text.starts_with(['@', '~']) || field.process.is_some() {
            return false;
        }
        let fixed = text.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let is_pattern = fixed.len() != text.len();
        let start = if is_pattern { fixed.rfind('/').and_then(|at| fixed.get(..at)).unwrap_or(".") } else { text };
        let resolved = path::resolve(&path::join(cwd, start), self.world, Follow::Last);
        let is_inside = self.world.project().is_some_and(|project| path::under(&resolved.real, project));
        !resolved.lost
            && is_inside
            && foreign_place(self.world, &resolved.real, self.state).is_none()
            && fetched_here(Some(&resolved.real), self.state).is_none()
            // A header or library that arrived may be part of what is built, named or not.
            && !has_arrivals(self.world, self.state)
            && match (is_pattern, self.world.look(&resolved.real).kind) {
                (true, _) | (false, Kind::Directory) => !self.holds_loose(&resolved.real),
                (false, _) => self.is_own_file(&resolved.real),
            }
    }

    /// A file that may go into a build: a build made it, or git tracks it. Edits of tracked sources were judged when they were
    /// made, as for `make test`; what the call itself writes was not.
    fn is_own_file(&self, file: &str) -> bool {
        match self.before.get(file) {
            Some(written) => written.is_built,
            None if self.world.look(file).is_built => true,
            None => match self.world.tracking(file) {
                Tracking::Clean | Tracking::Modified => true,
                Tracking::Rebuildable => !is_changed(self.world, file, self.state),
                Tracking::Outside => was_there(self.world, file, self.state),
                Tracking::Ignored | Tracking::Untracked | Tracking::Unknown => false,
            },
        }
    }

    /// Some file below is not the project's own.
    fn holds_loose(&self, directory: &str) -> bool {
        let is_loose = |file: &String| path::under(file, directory) && !is_inert(file) && !self.is_own_file(file);
        // A recipe takes what lies there, new or not, as `make test` and `go run .` do: those files were judged when they were
        // written, and what came from elsewhere has been looked for already.
        let is_taken = |file: &String| self.builder == Builder::Recipe && !self.before.contains_key(file);
        let changed = self.world.changed_files();
        changed.iter().chain(self.before.keys()).any(|file| is_loose(file) && !is_taken(file))
    }
}

/// A definition can rename a function of the program, so only numbers count.
// `-Dputs=system` makes another program of the same sources.
fn is_plain_definition(given: &super::args::Given) -> bool {
    if given.role != Role::Text {
        return true;
    }
    let Some(text) = given.value.as_ref().and_then(Field::exact) else { return false };
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    is_word(name) && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Should the build fail, what is there now is run: nothing, an earlier build, or a program of the project.
fn may_be_replaced(world: &dyn World, path: &str, before: &WrittenFiles) -> bool {
    if let Some(earlier) = before.get(path) {
        return earlier.is_built;
    }
    let look = world.look(path);
    let is_inside = world.project().is_some_and(|project| path::under(path, project));
    match look.kind {
        Kind::Missing => true,
        Kind::File => look.is_built || (is_inside && !look.changed_since_trust && !look.created_this_session),
        // A described machine that says nothing of it.
        Kind::Unlisted => is_inside,
        Kind::Directory => world.below(path).is_some_and(|below| below.is_empty()) && world.lists_everything(),
        Kind::Link | Kind::Special | Kind::Unreadable => false,
    }
}

/// Without `-o` a compiler calls its output `a.out`, or like the source.
fn unnamed_outputs(world: &dyn World, invocation: &Invocation, before: &WrittenFiles, state: &mut State<'_>) {
    let Some(cwd) = invocation.cwd.as_deref() else { return };
    let stems = invocation.args.operands.iter().filter_map(Field::exact).map(|text| {
        let name = path::name(text);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
    });
    for name in stems.chain(["a.out".to_owned()]) {
        let output = path::lexical(&path::join(cwd, &name));
        if world.look(&output).kind == Kind::Missing && !before.contains_key(&output) {
            mark_built(state, &output);
        }
    }
}

fn mark_built(state: &mut State<'_>, path: &str) {
    let new = || WrittenFile {
        content: None,
        origin: Default::default(),
        over: false,
        is_built: false,
        is_new_directory: false,
    };
    Rc::make_mut(&mut state.written).entry(path.to_owned()).or_insert_with(new).is_built = true;
}

/// Another name of the file may have been written since.
fn is_shared(out: &Observer<'_>, file: &str) -> bool {
    out.carried.iter().any(|carried| {
        carried.is_shared && (path::under(file, &carried.place) || carried.source.as_deref() == Some(file))
    })
}
