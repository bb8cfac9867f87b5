//! Patches that a command applies: the files that they name are changed as if they were written out.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::Invocation;
use super::patch_hunk::applied;
use super::patch_text::{self, End, FilePatch, Name};
use crate::knowledge::schema::Facet;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::recipes::files;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::aftermath::store;
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Stream};
use crate::path;
use crate::world::{Content, World};

/// More files than a person would read are not listed one by one.
// A person reads a handful. A larger patch asks as a whole.
const FILES: usize = 200;

/// Longer patches are not read.
// The same limit as for other text that is read during a call.
const LIMIT: usize = 256 * 1024;

/// The program that applies a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Applier {
    /// `git apply`
    Apply,
    /// `git am`
    Mail,
    /// `git quiltimport`: a list of patches in a directory.
    Quilt,
    /// `patch`
    Patch,
}

/// How much of the beginning of a name does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strip {
    /// So many of its first parts.
    First(usize),
    /// Everything but the name of the file itself.
    AllButName,
}

impl Strip {
    /// One part less, for a name without the prefix that git puts before it.
    fn one_less(self) -> Strip {
        match self {
            Strip::First(parts) => Strip::First(parts.saturating_sub(1)),
            Strip::AllButName => Strip::AllButName,
        }
    }
}

/// Where and how the names of a patch are read.
struct Reading<'i> {
    applier: Applier,
    /// How many leading parts of a name do not count: each number that is possible.
    strips: Vec<Strip>,
    cwd: &'i str,
    /// `--directory` of git.
    directory: String,
    /// The one file that all of it goes into, whatever the patch says.
    into: Option<String>,
    is_reversed: bool,
    /// The text is the agent's own: it stands in the call, or in files of this session.
    is_own: bool,
}

/// `git apply`, `git am`, `patch`: every file that the patch names; a text that is not known could name any.
pub(super) fn note_patches(out: &mut Observer<'_>, invocation: &Invocation, state: &mut State<'_>) {
    let Some(applier) = applier(invocation) else { return };
    if changes_nothing(applier, invocation) {
        return;
    }
    let Some(mut reading) = reading(applier, invocation) else {
        return unread_patch(out, "where the patch goes", invocation);
    };
    reading.is_own = is_own_patch(out.world, invocation, state);
    patch_elsewhere(out, &reading, invocation);
    let Some(texts) = patch_texts(out.world, applier, invocation, state) else {
        return unread_patch(out, "a patch whose text doorward can't see", invocation);
    };
    for text in texts.iter().filter(|text| !text.trim().is_empty()) {
        patch_text(out, &Patch { text, reading: &reading, invocation }, state);
    }
}

fn unread_patch(out: &mut Observer<'_>, what: &str, invocation: &Invocation) {
    out.lower(Degree::Opaque, format!("{what}, applied by `{}`", invocation.by.name));
    out.unknown(Operation::Write, &invocation.by, Marks::default().with(Mark::Unseen));
}

/// One patch, and who applies it.
struct Patch<'p> {
    text: &'p str,
    reading: &'p Reading<'p>,
    invocation: &'p Invocation,
}

/// One file of a patch, at a path that its name may stand for.
struct Patched<'p> {
    path: String,
    name: Option<&'p Name>,
    file: &'p FilePatch,
}

fn patch_text(out: &mut Observer<'_>, patch: &Patch<'_>, state: &mut State<'_>) {
    let invocation = patch.invocation;
    let read = patch_text::read(patch.text);
    if let Some(doubt) = read.doubt {
        unread_patch(out, doubt, invocation);
    }
    if read.files.is_empty() {
        return unread_patch(out, "a patch in a format doorward can't read", invocation);
    }
    if read.files.len() > FILES {
        unread_patch(out, "a patch with more files than doorward checks", invocation);
    }
    for file in read.files.iter().take(FILES) {
        if file.is_binary {
            unread_patch(out, "packed content", invocation);
        }
        for (path, name) in patched_paths(out.world, file, patch.reading) {
            patch_file(out, &Patched { path, name, file }, patch, state);
        }
    }
}

/// Whatever the patch names lies below a directory, and that one is none of the project's.
fn patch_elsewhere(out: &mut Observer<'_>, reading: &Reading<'_>, invocation: &Invocation) {
    let base = path::lexical(&path::join(reading.cwd, &reading.directory));
    let is_inside = out.world.project().is_some_and(|project| path::under(&base, project));
    if !is_inside {
        out.touch_path(Touch::Create, &base, &invocation.by, Marks::default());
    }
}

/// The texts of all patches, or nothing if one of them is not known.
fn patch_texts(world: &dyn World, applier: Applier, invocation: &Invocation, state: &State<'_>) -> Option<Vec<String>> {
    let args = &invocation.args;
    let flags: Vec<&Field> = args
        .given
        .iter()
        .filter(|given| matches!(given.name.as_str(), "-i" | "--input") && !given.role.is_plain())
        .filter_map(|given| given.value.as_ref())
        .collect();
    let named: Vec<&Field> = match applier {
        Applier::Quilt => return None,
        // What is applied was given to an earlier call.
        Applier::Mail if args.has_any(RESUMING) => return Some(Vec::new()),
        Applier::Apply | Applier::Mail => args.operands.iter().collect(),
        Applier::Patch => flags.into_iter().chain(args.operands.iter().skip(1)).collect(),
    };
    if named.is_empty() {
        return stream_text(world, &invocation.input).map(|text| vec![text]);
    }
    named.into_iter().map(|field| patch_named(world, field, invocation, state)).collect()
}

fn patch_named(world: &dyn World, field: &Field, invocation: &Invocation, state: &State<'_>) -> Option<String> {
    if let Some(stream) = &field.process {
        return stream_text(world, stream);
    }
    match field.exact()? {
        "-" | "/dev/stdin" | "/dev/fd/0" => stream_text(world, &invocation.input),
        text => {
            let file = path::lexical(&path::join(invocation.cwd.as_deref()?, text));
            let real = path::resolve(&file, world, path::Follow::Last);
            files::text(&real.real, world, state).filter(|_| !real.lost)
        }
    }
}

/// The text of a stream: known, or that of files that this call has not written.
fn stream_text(world: &dyn World, stream: &Stream) -> Option<String> {
    if stream.origin.download {
        return None;
    }
    if let Some(text) = &stream.text {
        return Some(text.clone());
    }
    let mut whole = String::new();
    for file in stream.files.as_deref()? {
        if let Some(written) = &file.written {
            whole.push_str(written);
            continue;
        }
        match world.content(&file.path, LIMIT) {
            Content::Text(text) if whole.len() + text.len() <= LIMIT => whole.push_str(&text),
            Content::Text(_)
            | Content::TooLong
            | Content::NotText
            | Content::Missing
            | Content::Unreadable
            | Content::Unlisted => return None,
        }
    }
    Some(whole)
}

/// Every path that the names of a patch may stand for.
fn patched_paths<'f>(world: &dyn World, file: &'f FilePatch, reading: &Reading<'_>) -> Vec<(String, Option<&'f Name>)> {
    if let Some(into) = &reading.into {
        return vec![(into.clone(), None)];
    }
    let top = match reading.applier {
        Applier::Patch => None,
        Applier::Apply if !file.is_git => None,
        Applier::Apply | Applier::Mail | Applier::Quilt => world.git(reading.cwd).map(|git| git.root),
    };
    let base = path::join(top.as_deref().unwrap_or(reading.cwd), &reading.directory);
    let mut found: Vec<(String, Option<&Name>)> = Vec::new();
    for name in &file.names {
        for strip in &reading.strips {
            let strip = if name.is_bare { strip.one_less() } else { *strip };
            let absolute = path::join(&base, &stripped(&name.text, strip));
            if !found.iter().any(|(known, other)| *known == absolute && other.map(|name| name.end) == Some(name.end)) {
                found.push((absolute, Some(name)));
            }
        }
    }
    found
}

fn patch_file(out: &mut Observer<'_>, patched: &Patched<'_>, patch: &Patch<'_>, state: &mut State<'_>) {
    let Patched { path: absolute, name, file } = patched;
    let Patch { reading, invocation, .. } = patch;
    let is_reversed = reading.is_reversed;
    let (creates, deletes, added) = match is_reversed {
        true => (file.deletes, file.creates, &file.removed),
        false => (file.creates, file.deletes, &file.added),
    };
    let touch = match name.map(|name| name.end) {
        Some(End::Copied) if !is_reversed => Touch::Read,
        Some(End::Leaves) if !is_reversed => Touch::Move,
        Some(End::Changed | End::Leaves | End::Copied) | None if deletes => Touch::Delete,
        Some(End::Changed | End::Leaves | End::Copied) | None if creates => Touch::Write,
        Some(End::Changed | End::Leaves | End::Copied) | None => Touch::Edit,
    };
    let before = files::text(&path::lexical(absolute), out.world, state);
    let ((), mut caused) = out.collect(|out| {
        let (_, mut caused) = out.collect(|out| out.touch_path(touch, absolute, &invocation.by, Marks::default()));
        caused.enter(absolute, patch.text);
        caused.enter(absolute, added);
        caused.replace(absolute, added, out.world, || before.clone());
        out.write(caused);
        if file.is_link {
            patched_link(out, absolute, added, invocation);
        }
    });
    let fits = !is_reversed && !file.is_link && !file.is_binary && matches!(touch, Touch::Write | Touch::Edit);
    let before = if creates { Some(String::new()) } else { before };
    let content = before.filter(|_| fits).and_then(|before| applied(&before, &file.hunks));
    if let Some(content) = &content {
        caused.enter(absolute, content);
    }
    out.write(caused);
    if touch != Touch::Read {
        let place = path::lexical(absolute);
        if !reading.is_own {
            out.arrivals.push(place.clone());
        }
        store(out, place, content, Origin { brought: !reading.is_own, ..Origin::default() }, state);
    }
}

/// Every file that the patch is read from was written in this session; what stands in the call itself is in no file.
fn is_own_patch(world: &dyn World, invocation: &Invocation, state: &State<'_>) -> bool {
    let cwd = invocation.cwd.as_deref().unwrap_or("/");
    let args = &invocation.args;
    let values = args.given.iter().filter_map(|given| given.value.as_ref());
    let named = args.operands.iter().chain(values).filter(|field| field.process.is_none());
    let named = named.map(|field| path::lexical(&path::join(cwd, &field.text)));
    let named = named.filter(|file| world.look(file).kind == crate::world::Kind::File);
    let streams = args.operands.iter().filter_map(|field| field.process.as_ref()).chain([&invocation.input]);
    let read = streams.flat_map(|stream| stream.files.iter().flat_map(|files| files.iter()));
    let is_own = |file: &str| match state.written.get(file) {
        Some(written) => written.content.is_some() && !written.origin.brought && !written.origin.download,
        None => world.look(file).created_this_session && world.arrival(file).is_none(),
    };
    !invocation.input.origin.brought && read.map(|file| file.path.clone()).chain(named).all(|file| is_own(&file))
}

/// A link that a patch makes: whoever goes through it is where it leads.
fn patched_link(out: &mut Observer<'_>, absolute: &str, target: &str, invocation: &Invocation) {
    let absolute = path::lexical(absolute);
    let leads = path::lexical(&path::join(path::parent(&absolute), target.trim_end_matches('\n')));
    let is_inside = out.world.project().is_some_and(|project| path::under(&leads, project));
    out.touch_path(Touch::Read, &leads, &invocation.by, Marks::default());
    if !is_inside {
        out.lower(Degree::Opaque, format!("a link to `{leads}` that the patch makes"));
    }
    out.links.push(absolute);
}

/// `git am` goes on with what an earlier call began, or gives it up.
// The files were looked up when the patch was first applied.
const RESUMING: &[&str] =
    &["--abort", "--skip", "--continue", "-r", "--resolved", "--quit", "--retry", "--show-current-patch"];

/// `cat a b`: what comes out is what the files hold.
pub(super) fn prints_files(invocation: &Invocation) -> bool {
    let args = &invocation.args;
    let is_cat = args.is(Facet::CopiesInput) && args.given.is_empty();
    is_cat && args.unknown.is_empty() && args.operands.iter().all(|field| field.exact().is_some_and(|text| text != "-"))
}

fn applier(invocation: &Invocation) -> Option<Applier> {
    match &*invocation.args.entry()?.key {
        "git apply" => Some(Applier::Apply),
        "git am" => Some(Applier::Mail),
        "git quiltimport" => Some(Applier::Quilt),
        "patch" => Some(Applier::Patch),
        _ => None,
    }
}

/// Only looked at or tried.
fn changes_nothing(applier: Applier, invocation: &Invocation) -> bool {
    let args = &invocation.args;
    match applier {
        Applier::Apply => args.has_any(&["--stat", "--numstat", "--summary", "--check"]) && !args.has("--apply"),
        Applier::Patch => args.has_any(&["--dry-run", "-C", "--check"]),
        Applier::Quilt => args.has_any(&["-n", "--dry-run"]),
        Applier::Mail => false,
    }
}

/// How the command reads names, if all of that is known.
fn reading(applier: Applier, invocation: &Invocation) -> Option<Reading<'_>> {
    // `git -p` and `git -C` are others than those of `git apply`.
    let level = if applier == Applier::Patch { 1 } else { 2 };
    let own = || invocation.args.given.iter().filter(|given| given.level >= level);
    let values = |names: &'static [&'static str]| own().filter(move |given| names.contains(&given.name.as_str()));
    let mut strips = Vec::new();
    for given in values(&["-p", "--strip"]) {
        strips.push(Strip::First(given.value.as_ref()?.exact()?.parse().ok()?));
    }
    if strips.is_empty() {
        strips = match applier {
            Applier::Patch => vec![Strip::First(0), Strip::First(1), Strip::AllButName],
            Applier::Apply | Applier::Mail | Applier::Quilt => vec![Strip::First(1)],
        };
    }
    let cwd = invocation.cwd.as_deref()?;
    let directory = match values(&["--directory"]).next_back().filter(|_| applier != Applier::Patch) {
        Some(given) => given.value.as_ref()?.exact()?.to_owned(),
        None => String::new(),
    };
    let output = values(&["-o", "--output"]).next_back().and_then(|given| given.value.as_ref());
    let target = output.or_else(|| invocation.args.operands.first()).filter(|_| applier == Applier::Patch);
    let into = match target {
        Some(field) => Some(path::join(cwd, field.exact()?)),
        None => None,
    };
    let is_reversed = own().any(|given| matches!(given.name.as_str(), "-R" | "--reverse"));
    // Another work tree than the one around the directory: its top is not known here.
    let is_elsewhere = applier != Applier::Patch && invocation.args.has_any(&["--git-dir", "--work-tree"]);
    (!is_elsewhere).then_some(Reading { applier, strips, cwd, directory, into, is_reversed, is_own: false })
}

/// The path as it stands in the patch without its first components; all but the last for a number that is too large.
fn stripped(path: &str, strip: Strip) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let is_absolute = path.starts_with('/');
    let most = parts.len().saturating_sub(1);
    let skipped = match strip {
        // The empty part before the first slash of an absolute name counts as one.
        Strip::First(components) => components.saturating_sub(usize::from(is_absolute)).min(most),
        Strip::AllButName => most,
    };
    let rest = parts.get(skipped..).unwrap_or_default().join("/");
    if is_absolute && strip == Strip::First(0) { format!("/{rest}") } else { rest }
}
