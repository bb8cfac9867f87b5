//! Who is run: which file a name stands for, and what its identity alone settles.

use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation, Reversibility};

use super::WRAPPERS;
use super::behind::look_behind;
use super::console::{console_input, console_of};
use super::environments::{is_provided, program_of_environment};
use super::file_trust::{FileRun, How, executes_file};
use super::invocation::{Known, Start};
use super::invoke::invoke;
use super::provenance::is_built;
use super::recipe::{project_program, run_file};
use crate::effect::{Effect, Target};
use crate::observe::field::{Field, positional};
use crate::observe::paths::carried::{carried_file, note_carried_run};
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Stream};
use crate::world::Identity;

pub(super) fn unknown_program(out: &mut Observer<'_>, fields: &[Field], by: &By, input: Stream) -> Stream {
    out.lower(Degree::Opaque, format!("which program `{}` is", by.name));
    let origin = fields.iter().fold(input.origin, |all, field| all.and(field.origin));
    let mut marks = Marks::default().with(Mark::Obfuscated);
    if origin.download {
        marks.add(Mark::RemoteCode);
        out.flow(FlowKind::DownloadToExecute, by.part, by.part);
    }
    out.unknown(Operation::Execute, by, marks);
    Stream::unknown(origin)
}

/// A program by name or path: its identity first, then what it does.
pub(super) fn program_named<'a>(
    runner: &mut Runner<'_, '_>,
    name: &str,
    start: Start<'_>,
    state: &mut State<'a>,
) -> Stream {
    let (words, part) = (start.words, start.part);
    let by = By { name: crate::path::name(name).to_owned(), part };
    if runner.depth > WRAPPERS * 3 {
        runner.out.lower(Degree::Opaque, "programs that start other programs, nested too deeply to follow");
        runner.out.unknown(Operation::Execute, &by, Marks::default());
        return Stream::default();
    }
    if name.contains("://") {
        runner.out.lower(Degree::Opaque, format!("`{name}`, fetched and run"));
        runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::RemoteCode));
        return Stream::unknown(start.input.origin);
    }
    let carried = state.cwd.as_deref().filter(|_| name.contains('/')).map(|cwd| crate::path::join(cwd, name));
    let carried = carried.filter(|absolute| !state.written.contains_key(absolute)).and_then(|absolute| {
        note_carried_run(runner.out, &absolute);
        carried_file(runner.out, &absolute)
    });
    let name = carried.as_deref().unwrap_or(name);
    let called = Called { identity: self::identity(runner.out, name, state), name, by: &by };
    let outer = std::mem::replace(&mut state.positional, positional(words));
    let is_nobodys = matches!(called.identity, Identity::Unlisted(_) | Identity::Missing);
    let known = judge_identity(runner, called, &start, state);
    state.positional = outer;
    let unlisted = if is_nobodys && known.is_none() { look_behind(runner, &start, state) } else { Origin::default() };
    let Some(known) = known else {
        // Wherever it lies, what only a person may do stays so.
        if let Some(entry) = runner.out.knowledge.entry("doorward").filter(|_| by.name == "doorward") {
            return invoke(runner, Known { entry, name: by.name }, start, state);
        }
        return Stream::unknown(start.input.origin.and(unlisted));
    };
    // The keys of subcommands hold spaces; a program's name that does is another program.
    match Some(&known).filter(|name| !name.contains(' ')).and_then(|name| runner.out.knowledge.entry(name)) {
        Some(entry) => invoke(runner, Known { entry, name: known }, start, state),
        None => {
            runner.out.lower(Degree::Unknown, format!("the program `{known}`"));
            let mut effect = Effect::new(Operation::Execute, Target::Program(known.clone()));
            effect.scope = doorward_vocabulary::Scope::Project;
            effect.reach = doorward_vocabulary::Reach::Project;
            effect.reversibility = Reversibility::Irreversible;
            effect.marks = Marks::default().with(Mark::UnknownProgram);
            if super::switches::is_unguarded_agent(words) {
                effect.marks.add(Mark::UnguardedAgent);
            }
            effect.by = known;
            effect.part = part;
            runner.out.effect(effect);
            let behind = look_behind(runner, &start, state);
            let origin = words.iter().fold(start.input.origin.and(behind), |all, field| all.and(field.origin));
            Stream::unknown(origin)
        }
    }
}

pub(super) fn identity(out: &mut Observer<'_>, name: &str, state: &State<'_>) -> Identity {
    if !name.contains('/') {
        if state.path_changed {
            out.lower(Degree::Opaque, format!("which `{name}` runs after the search path was changed"));
        }
        if let Some(own) = program_of_environment(out.world, name, state) {
            return identity(out, &own, state);
        }
        return out.world.program(name);
    }
    let Some(absolute) = (if name.starts_with('/') {
        Some(name.to_owned())
    } else {
        state.cwd.as_deref().map(|cwd| crate::path::join(cwd, name))
    }) else {
        return Identity::Unlisted(name.to_owned());
    };
    let resolved = crate::path::resolve(&absolute, out.world, crate::path::Follow::Last);
    let is_passed = ["/proc/", "/dev/"].iter().any(|directory| resolved.real.starts_with(directory));
    if resolved.lost || is_passed {
        return Identity::Unlisted(resolved.lexical);
    }
    if is_built(out, &resolved.real, state) {
        return Identity::Project(resolved.real);
    }
    if state.written.contains_key(&resolved.real) {
        return Identity::Changed(resolved.real);
    }
    out.world.program(&resolved.real)
}

/// A program as it was called, and whose it is.
struct Called<'a> {
    identity: Identity,
    name: &'a str,
    by: &'a By,
}

/// The name under which the program is known, or `None` if its identity settles what it is.
fn judge_identity(
    runner: &mut Runner<'_, '_>,
    Called { identity, name, by }: Called<'_>,
    start: &Start<'_>,
    state: &mut State<'_>,
) -> Option<String> {
    let run = |file| FileRun { file, input: &start.input, by, how: How::Itself };
    match identity {
        Identity::Trusted(_) => Some(crate::path::name(name).to_owned()),
        Identity::Project(path) => {
            console_input(runner.out, console_of(crate::path::name(&path)), start.words, &start.input, by);
            project_program(runner, &run(&path), start.words, state);
            None
        }
        Identity::Changed(path) => {
            run_file(runner, &run(&path), Mark::ChangedBinary, state);
            // It may still be what it is called, so the words are judged all the same.
            runner.out.knowledge.entry(crate::path::name(name)).map(|_| crate::path::name(name).to_owned())
        }
        Identity::Exchanged(path) => {
            runner
                .out
                .lower(Degree::Opaque, format!("what `{}` does, because its bytes changed", crate::path::name(&path)));
            executes_file(runner.out, &path, by, Marks::default().with(Mark::ExchangedBinary));
            runner.out.knowledge.entry(crate::path::name(name)).map(|_| crate::path::name(name).to_owned())
        }
        Identity::Unlisted(path) => {
            // Its bytes are nobody's promise, so it does not matter what they say now.
            runner.out.lower(Degree::Opaque, format!("what `{}` does", crate::path::name(&path)));
            executes_file(runner.out, &path, by, Marks::default().with(Mark::UnlistedBinary));
            // Under the strict profile even `rm` may be on no list, and is judged as what it is all the same.
            runner.out.world.settings().strict.then(|| crate::path::name(name).to_owned())
        }
        Identity::Missing if is_provided(runner.out, name, state) => Some(crate::path::name(name).to_owned()),
        Identity::Missing => {
            runner.out.lower(Degree::Unknown, format!("the program `{name}`, which is not installed"));
            if let Some(cwd) = state.cwd.as_deref().filter(|_| name.contains('/')) {
                // It may be there, and may be run, by then.
                runner.out.note_run(&crate::path::lexical(&crate::path::join(cwd, name)));
            }
            let mut effect = Effect::new(Operation::Execute, Target::Program(name.to_owned()));
            effect.marks = Marks::default().with(Mark::UnknownProgram);
            effect.part = by.part;
            runner.out.effect(effect);
            // The agent's shell may find what we do not, so the words are judged all the same.
            runner.out.knowledge.entry(crate::path::name(name)).map(|_| crate::path::name(name).to_owned())
        }
    }
}
