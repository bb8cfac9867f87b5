//! Simple commands: assignments, words, redirects.

use std::rc::Rc;

use doorward_shell::{
    Assignment, Command, Dialect, Fd, Part, Redirect, RedirectOperator, RedirectTarget, Simple, Value,
};
use doorward_vocabulary::{Degree, FlowKind, Mark};

use super::aftermath::{store, unless_refused};
use super::arrays::{declared_arrays, declares, is_declared};
use super::exports::{assign, exported};
use super::grammar::Builtin;
use super::list::opens_files;
use super::runner::Runner;
use super::shape::of_lines;
use super::state::{State, WrittenFile};
use super::zsh::note_table;
use crate::observe::field::Field;
use crate::observe::files::note_weakening;
use crate::observe::paths::touch::Touch;
use crate::observe::program::{Start, run};
use crate::observe::sheet::observer::{By, Line, Observer};
use crate::observe::stream::{FileText, Origin, Stream, TEXT_LIMIT};
use crate::world::World;

/// What redirects do to the streams of a command.
#[derive(Debug)]
pub(crate) struct Redirected {
    pub input: Stream,
    /// Files that take the output.
    outputs: Vec<Output>,
}

#[derive(Debug)]
struct Output {
    path: Option<String>,
    network: bool,
    /// Standard output goes there; otherwise only another descriptor.
    standard: bool,
    append: bool,
    by: By,
    /// The effect that it has; a harmless device has none.
    effect: Option<Line>,
}

impl Runner<'_, '_> {
    pub(crate) fn simple<'a>(
        &mut self,
        simple: &'a Simple,
        command: &'a Command,
        state: &mut State<'a>,
        input: Stream,
    ) -> Stream {
        let mut fields: Vec<Field> = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            // A declaration takes its values whole.
            if fields.first().is_some_and(declares) && is_assignment(word) {
                let field = self.text(word, state);
                fields.push(field);
                continue;
            }
            let expanded = self.expand(word, state);
            fields.extend(expanded);
        }
        if !self.out.spend(u32::try_from(fields.len()).unwrap_or(u32::MAX)) {
            return Stream::default();
        }
        let redirected = self.redirects(&command.redirects, state, input);
        if fields.is_empty() {
            let before = opens_files(&command.redirects).then(|| state.clone());
            for assignment in &simple.assignments {
                self.assignment(assignment, state);
            }
            unless_refused(before, state);
            if simple.words.iter().any(|word| !word.parts.is_empty()) {
                // `$cmd` that expanded to nothing runs nothing.
                self.out.spend(1);
            }
            // `$(< file)` is what the file holds.
            let reads = |redirect: &Redirect| redirect.operator == RedirectOperator::Read;
            let prints = simple.assignments.is_empty() && command.redirects.iter().any(reads);
            let output = if prints { redirected.input.clone() } else { Stream::empty() };
            return finish_redirects(self.out, redirected, output, state);
        }
        let arrays = declared_arrays(self, simple, &mut fields, state);
        // A copy only where the command has variables of its own: as long as there are two states, each change of one copies
        // its tables whole.
        let mut inner = (simple.assignments.len() != arrays.len()).then(|| state.clone());
        for assignment in &simple.assignments {
            if let Some(inner) = inner.as_mut().filter(|_| !is_declared(assignment, simple, &fields)) {
                self.prefix_assignment(assignment, inner, &fields);
            }
        }
        let part = self.out.part(command.span);
        let untouched = opens_files(&command.redirects).then(|| state.clone());
        let (output, mut caused) = self.collect(|runner| {
            let start = Start { words: &fields, input: redirected.input.clone(), part };
            let output = match inner {
                None => run(runner, start, state),
                Some(inner) => runner.run_with(simple, start, state, inner),
            };
            for (name, value) in arrays {
                assign(runner.out, name, value, state);
            }
            output
        });
        unless_refused(untouched, state);
        if command.redirects.iter().any(takes_output) {
            caused.hand_on();
        }
        self.out.write(caused);
        let rerouted = rerouted(&command.redirects, &output);
        let rest = finish_redirects(self.out, redirected, output, state);
        rerouted.unwrap_or(rest)
    }

    /// Runs a command whose assignments hold for it alone.
    fn run_with<'a>(
        &mut self,
        simple: &'a Simple,
        start: Start<'_>,
        state: &mut State<'a>,
        mut inner: State<'a>,
    ) -> Stream {
        let before = inner.clone();
        let output = run(self, start, &mut inner);
        state.keep_changes(&before, &inner, simple.assignments.iter().map(|assignment| &*assignment.name));
        if is_special(simple) {
            state.path_changed |= inner.path_changed;
            simple.assignments.iter().for_each(|assignment| state.forget(&assignment.name));
        }
        output
    }

    /// `name=value` on its own.
    fn assignment<'a>(&mut self, assignment: &'a Assignment, state: &mut State<'a>) {
        if let (Some(_), Value::Scalar(_)) = (&assignment.subscript, &assignment.value) {
            note_table(self.out, &assignment.name, state);
        }
        if let Some(subscript) = &assignment.subscript {
            self.element(&assignment.name, subscript, state);
        }
        let mut value = self.value(&assignment.value, state);
        if assignment.append || assignment.subscript.is_some() {
            value = Stream::unknown(value.origin);
        }
        assign(self.out, &assignment.name, value, state);
    }

    /// `name=value command`: goes into the environment of the command.
    fn prefix_assignment<'a>(&mut self, assignment: &'a Assignment, state: &mut State<'a>, fields: &[Field]) {
        let program = fields.first().and_then(Field::exact).unwrap_or_default().to_owned();
        let value = self.value(&assignment.value, state);
        exported(self.out, &assignment.name, &value, state, &program);
        state.set(&assignment.name, value);
        state.export(&assignment.name);
    }

    pub(crate) fn redirects<'a>(
        &mut self,
        redirects: &'a [Redirect],
        state: &mut State<'a>,
        input: Stream,
    ) -> Redirected {
        let mut redirected = Redirected { input, outputs: Vec::new() };
        for redirect in redirects {
            self.redirect(redirect, state, &mut redirected);
        }
        redirected
    }

    fn redirect<'a>(&mut self, redirect: &'a Redirect, state: &mut State<'a>, redirected: &mut Redirected) {
        if let Some(doorward_shell::Fd::Variable(name)) = &redirect.fd {
            assign(self.out, name, Stream::default(), state);
        }
        let word = match &redirect.target {
            RedirectTarget::Document(document) => {
                let field = self.text(&document.body, state);
                redirected.input = Stream {
                    text: field.known().map(str::to_owned),
                    shape: of_lines(field.shape),
                    origin: field.origin,
                    files: None,
                };
                return;
            }
            RedirectTarget::Word(word) => word,
        };
        let by = By { name: String::new(), part: self.out.part(redirect.span) };
        if redirect.operator == RedirectOperator::HereString {
            let field = self.text(word, state);
            redirected.input = Stream {
                text: field.known().map(|text| format!("{text}\n")),
                shape: of_lines(field.shape),
                origin: field.origin,
                files: None,
            };
            return;
        }
        let fields = self.expand(word, state);
        let [field] = fields.as_slice() else {
            self.out.lower(Degree::Opaque, "a redirect to more than one word");
            return;
        };
        redirect_to(self.out, redirect, field, by, state, redirected);
    }
}

fn redirect_to(
    out: &mut Observer<'_>,
    redirect: &Redirect,
    field: &Field,
    by: By,
    state: &mut State<'_>,
    redirected: &mut Redirected,
) {
    let (reads, writes, append) = match redirect.operator {
        RedirectOperator::Read => (true, false, false),
        RedirectOperator::Write | RedirectOperator::Clobber | RedirectOperator::WriteBoth => (false, true, false),
        RedirectOperator::Append | RedirectOperator::AppendBoth => (false, true, true),
        RedirectOperator::ReadWrite => (true, true, true),
        RedirectOperator::DuplicateInput if is_descriptor(field) => return,
        RedirectOperator::DuplicateInput => (true, false, false),
        RedirectOperator::DuplicateOutput if is_descriptor(field) => return,
        RedirectOperator::DuplicateOutput => (false, true, false),
        RedirectOperator::HereDocument | RedirectOperator::HereString => return,
    };
    if let Some((host, port)) = crate::network::device_path(field.prefix()) {
        out.socket(host, port, &by, writes);
        if reads {
            redirected.input = Stream::unknown(Origin { secret: false, download: true, ..Origin::default() });
        }
        redirected.outputs.push(Output { path: None, network: true, standard: true, append, by, effect: None });
        return;
    }
    if let Some(behind) = &field.process {
        if reads {
            redirected.input = Stream { origin: behind.origin.and(field.origin), ..behind.clone() };
        }
        return;
    }
    let before = redirected.input.clone();
    if reads {
        let read = out.touch(Touch::Read, field, state.cwd.as_deref(), &by);
        redirected.input = file_stream(out.world, read.path.as_deref(), read.sensitive, state);
    }
    if reads && state.dialect == Dialect::Zsh && before != Stream::empty() {
        // zsh reads everything that it is given, one after the other.
        redirected.input = Stream::unknown(before.origin.and(redirected.input.origin));
    }
    if writes {
        let touch = if append { Touch::Append } else { Touch::Write };
        let cwd = state.cwd.as_deref();
        let (written, caused) = out.collect(|out| out.touch(touch, field, cwd, &by));
        let effect = out.write_first(caused);
        let standard = !matches!(redirect.fd, Some(doorward_shell::Fd::Number(number)) if number != 1);
        redirected.outputs.push(Output { path: written.path, network: false, standard, append, by, effect });
    }
}

/// What a file holds, as far as this call wrote it.
pub(crate) fn file_stream(world: &dyn World, path: Option<&str>, sensitive: bool, state: &State<'_>) -> Stream {
    let written = path.and_then(|path| state.written.get(path));
    let brought = path.is_some_and(|path| world.arrival(path).is_some());
    let secret = Origin { secret: sensitive, download: false, brought, ..Origin::default() };
    match written {
        Some(file) => {
            let text = file.content.clone();
            Stream { files: held(path, text.clone()), text, ..Stream::unknown(file.origin.and(secret)) }
        }
        None => {
            let of_session = path.filter(|path| {
                let look = world.look(path);
                look.created_this_session || look.changed_since_trust
            });
            let text = of_session.and_then(|path| crate::observe::recipes::files::text(path, world, state));
            let files = path.map(|path| [FileText { path: path.to_owned(), written: None }].into());
            Stream { text, files, ..Stream::unknown(secret) }
        }
    }
}

/// What comes out if streams are turned into each other, which is not followed: `3>&1 >/dev/null`, `>&2`, `> /dev/stdout`.
// `2>&1` alone adds to the output, and behind a file it goes there as well. Any other turn may bring out what another
// redirect seems to send away, or the other way round: `x=$( { echo rm >&2; } 2>&1 >/dev/null )` holds `rm`.
pub(super) fn rerouted(redirects: &[Redirect], output: &Stream) -> Option<Stream> {
    let mut is_merged = false;
    let turns = |redirect: &Redirect| {
        let target = literal(redirect);
        let target = target.as_deref().unwrap_or_default();
        let is_of = |number: u32| redirect.fd == Some(Fd::Number(number));
        match redirect.operator {
            RedirectOperator::DuplicateOutput if is_of(2) && target == "1" => {
                is_merged = true;
                false
            }
            RedirectOperator::DuplicateOutput => {
                !(is_of(2) && target == "-") && (target == "-" || target.bytes().all(|byte| byte.is_ascii_digit()))
            }
            RedirectOperator::Write
            | RedirectOperator::Clobber
            | RedirectOperator::Append
            | RedirectOperator::ReadWrite
            | RedirectOperator::WriteBoth
            | RedirectOperator::AppendBoth => {
                let takes_output = redirect.fd.is_none() || is_of(1);
                names_stream(target) || (is_merged && takes_output)
            }
            RedirectOperator::Read
            | RedirectOperator::DuplicateInput
            | RedirectOperator::HereDocument
            | RedirectOperator::HereString => false,
        }
    };
    redirects.iter().any(turns).then(|| Stream::unknown(output.origin))
}

/// A file name for a stream that is open already.
fn names_stream(path: &str) -> bool {
    matches!(path, "/dev/stdout" | "/dev/stderr")
        || path.starts_with("/dev/fd/")
        || (path.starts_with("/proc/") && path.contains("/fd/"))
}

/// The target as it stands, if nothing in it is expanded; an expansion counts as a number.
fn literal(redirect: &Redirect) -> Option<String> {
    let RedirectTarget::Word(word) = &redirect.target else { return None };
    let text = |part: &Part| if let Part::Text { text, .. } = part { Some(text.clone()) } else { None };
    word.parts.iter().map(text).collect()
}

/// Connects the output of a command with the files and sockets that take it.
pub(crate) fn finish_redirects(
    out: &mut Observer<'_>,
    redirected: Redirected,
    output: Stream,
    state: &mut State<'_>,
) -> Stream {
    // The last of several files takes the output; zsh writes it to all of them, and to a pipe as well.
    let all = state.dialect == Dialect::Zsh;
    let last = redirected.outputs.iter().rposition(|target| target.standard);
    let mut rest = output;
    for (at, target) in redirected.outputs.into_iter().enumerate() {
        let taken = match (target.standard, last == Some(at)) {
            (true, true) if !all => std::mem::replace(&mut rest, Stream::empty()),
            (true, false) if !all => Stream::empty(),
            (true, _) => rest.clone(),
            (false, _) => Stream::unknown(rest.origin),
        };
        if target.network {
            let kind = if taken.origin.secret { FlowKind::SecretToNetwork } else { FlowKind::DataToNetwork };
            out.flow(kind, target.by.part, target.by.part);
            continue;
        }
        if taken.text.as_deref().is_some_and(|text| !text.trim().is_empty())
            && let Some(effect) = target.effect.and_then(|line| out.line(line))
        {
            effect.marks.remove(Mark::Unseen);
        }
        match target.effect.filter(|_| taken.origin.endless).and_then(|line| out.line(line)) {
            Some(effect) => effect.marks.add(Mark::Exhaustion),
            None if taken.origin.endless => out.call_mark(Mark::Exhaustion),
            None => {}
        }
        if taken.origin.secret {
            out.flow(FlowKind::SecretToFile, target.by.part, target.by.part);
        }
        if taken.origin.download && target.path.as_deref() != Some("/dev/null") {
            out.flow(FlowKind::DownloadToFile, target.by.part, target.by.part);
        }
        if let Some(path) = target.path.filter(|path| !path.starts_with("/dev/")) {
            let earlier = state.written.get(&path).cloned();
            // What comes behind the old text weakens as much as a new one.
            if let Some(text) = taken.text.as_deref().filter(|_| target.append) {
                note_weakening(out, &path, text);
            }
            let content = match (&earlier, target.append) {
                (_, false) => taken.text,
                (Some(WrittenFile { content: Some(first), .. }), true) => {
                    let fits = |text: &String| first.len() + text.len() <= TEXT_LIMIT;
                    taken.text.filter(fits).map(|text| format!("{first}{text}"))
                }
                (Some(_) | None, true) => None,
            };
            let before = earlier.filter(|_| target.append).map_or(Origin::default(), |file| file.origin);
            store(out, path, content, taken.origin.and(before), state);
        }
    }
    rest
}

/// Assignments before a special builtin stay in force.
fn is_special(simple: &Simple) -> bool {
    simple.words.first().is_some_and(|word| {
        matches!(word.parts.as_slice(), [doorward_shell::Part::Text { text, .. }]
            if Builtin::named(text).is_some_and(Builtin::is_special))
    })
}

/// `> file`: what the command prints goes there and not to the agent.
fn takes_output(redirect: &Redirect) -> bool {
    let writes = [RedirectOperator::Write, RedirectOperator::Clobber, RedirectOperator::Append];
    redirect.fd.is_none() && writes.contains(&redirect.operator)
}

/// What a file holds that this call wrote, if that is known.
fn held(path: Option<&str>, written: Option<String>) -> Option<Rc<[FileText]>> {
    Some([FileText { path: path?.to_owned(), written: Some(written?) }].into())
}

/// `name=…`, with its name written out.
fn is_assignment(word: &doorward_shell::Word) -> bool {
    let Some(doorward_shell::Part::Text { text, .. }) = word.parts.first() else { return false };
    let is_name = |name: &str| {
        let name = name.trim_end_matches('+');
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn is_descriptor(field: &Field) -> bool {
    let text = field.text.strip_suffix('-').unwrap_or(&field.text);
    !field.dynamic && text.bytes().all(|byte| byte.is_ascii_digit())
}
