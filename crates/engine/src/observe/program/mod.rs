//! Programs: who is run, how its arguments read, and what they make happen.

pub mod args;
mod arriving;
mod builds;
mod conditions;
mod containers;
pub mod destination;
pub mod environments;
pub mod grammar;
mod handed;
mod identity;
pub mod inner;
mod listing;
mod named_tasks;
mod naming;
pub mod notes;
mod patch_hunk;
mod patch_text;
mod patches;
mod positions;
mod reached;
pub mod recipe;
pub mod roles;
pub mod sinks;
#[cfg(test)]
mod spellings;
pub mod sweeps;
mod switches;
pub mod tasks;
mod tokens;
pub mod written;

use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation};

use crate::effect::{Effect, Part, Target};
use crate::knowledge::schema::{Does, Entry, Grammar, Operand, Role};
use crate::observe::lingering::{remembered, unwaited};
use crate::observe::links::follows;
use crate::observe::observer::{By, Observer};
use crate::observe::program::arriving::note_arrivals;
use crate::observe::program::builds::leads_to;
use crate::observe::program::containers::containers;
use crate::observe::program::destination::place_effect;
use crate::observe::program::grammar::echo::listed;
use crate::observe::program::grammar::git_extra::git_extra_named;
use crate::observe::program::grammar::git_remote::gh_fetches;
use crate::observe::program::grammar::grammar;
use crate::observe::program::grammar::prepare::prepare;
use crate::observe::program::handed::handed_on;
use crate::observe::program::identity::{program_named, unknown_program};
use crate::observe::program::notes::{
    asks_loopback_only, environment_dump, host_marks, made_by_mktemp, note_arguments, note_guard, note_hunting,
    note_links, note_picks,
};
use crate::observe::program::patches::note_patches;
use crate::observe::program::reached::note_reached;
use crate::observe::program::recipe::recipe;
use crate::observe::program::roles::{flag_values, operands};
use crate::observe::program::sinks::note_sinks;
use crate::observe::program::switches::note_switches;
use crate::observe::program::tasks::tasks;
use crate::observe::shell::background::outlives_call;
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Shape, Stream};
use args::Args;
use conditions::{asks_a_subcommand, asks_anything, flags_are_harmless, happens};
use naming::{normalised, shown_name, target};
use positions::{environment_first, match_positions, without_change};

/// Wrappers inside wrappers deeper than this are not peeled.
const WRAPPERS: u32 = 16;

/// One run of a program while it is being judged.
#[derive(Debug)]
pub struct Invocation {
    pub args: Args,
    pub by: By,
    /// The role of each operand.
    pub roles: Vec<Role>,
    pub does: Vec<Does>,
    pub input: Stream,
    /// What it prints, as far as it is known.
    pub output: Stream,
    /// Its own working directory.
    pub cwd: Option<String>,
    /// Standard input is the program's material, so what arrives there goes out again.
    pub passes_input: bool,
    /// Variables that it sets for the command it starts.
    pub environment: Vec<(String, Stream)>,
    /// Files that it wrote so far.
    pub stored: Vec<String>,
    /// The work tree whose changes it throws away, if it does.
    pub work_tree: Option<String>,
    /// The grammar has dealt with everything.
    pub done: bool,
}

impl Invocation {
    pub fn operand(&self, at: usize) -> Option<&Field> {
        self.args.operands.get(at)
    }
}

/// Runs a list of words as a command.
pub fn run<'a>(
    runner: &mut Runner<'_, '_>,
    fields: Vec<Field>,
    state: &mut State<'a>,
    input: Stream,
    part: Part,
) -> Stream {
    let cwd = state.cwd.clone();
    unwaited(runner, outlives_call(&fields), |runner| {
        remembered(runner, &fields, cwd.as_deref(), |runner| run_words(runner, &fields, state, input, part))
    })
}

fn run_words<'a>(
    runner: &mut Runner<'_, '_>,
    fields: &[Field],
    state: &mut State<'a>,
    input: Stream,
    part: Part,
) -> Stream {
    let Some(first) = fields.first() else { return Stream::empty() };
    let by = By { name: first.shown(), part };
    runner.out.command(normalised(fields), state.cwd.as_ref());
    let Some(name) = first.exact().map(str::to_owned) else {
        return unknown_program(runner.out, fields, &by, input);
    };
    if doorward_shell::lookalike(&name) {
        runner.out.lower(Degree::Opaque, format!("`{name}` mixes letters that look alike"));
        runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::Hidden));
        return Stream::default();
    }
    if state.shadowed.contains(&name) {
        runner.out.lower(Degree::Opaque, format!("`{name}` was given another meaning before"));
    }
    if let Some(body) = state.functions.get(&name).copied() {
        return function(runner, &name, body, fields, state, input);
    }
    let words = fields.get(1..).unwrap_or_default();
    if let Some(output) = runner.builtin(&name, words, state, &input, &by) {
        return output;
    }
    program_named(runner, &name, words, state, input, part)
}

fn function<'a>(
    runner: &mut Runner<'_, '_>,
    name: &str,
    body: &'a doorward_shell::Command,
    fields: &[Field],
    state: &mut State<'a>,
    input: Stream,
) -> Stream {
    runner.called.insert(name.to_owned());
    if runner.calling.iter().filter(|calling| *calling == name).count() > 0 {
        if runner.calling.len() > 1 || runner.out.coverage.degree >= Degree::Opaque {
            runner.out.call_mark(Mark::ForkBomb);
        }
        runner.out.lower(Degree::Opaque, format!("the function `{name}` calls itself"));
        return Stream::default();
    }
    let words: Option<Vec<String>> =
        fields.get(1..).unwrap_or_default().iter().map(|field| field.exact().map(str::to_owned)).collect();
    let outer = std::mem::replace(&mut state.positional, words.map(std::rc::Rc::new));
    let locals = std::mem::take(&mut state.locals);
    let (jumps, skips, looping) = (runner.jumps.len(), runner.exits.skips, std::mem::take(&mut runner.looping));
    runner.calling.push(name.to_owned());
    let output = runner.command(body, state, input);
    runner.calling.pop();
    runner.looping = looping;
    runner.exits.skips = skips;
    runner.land_function(jumps, state);
    state.drop_locals(locals);
    state.positional = outer;
    output
}

/// Judges a known program with its words.
pub fn invoke<'a>(
    runner: &mut Runner<'_, '_>,
    entry: Entry,
    words: &[Field],
    state: &mut State<'a>,
    input: Stream,
    by: By,
) -> Stream {
    if let Some(extra) = git_extra_named(runner.out, &entry, words, state) {
        return program_named(runner, &extra, words.get(1..).unwrap_or_default(), state, input, by.part);
    }
    runner.depth += 1;
    let prepared = prepare(runner.out, &entry, words, state);
    let args = args::read(entry, prepared.as_deref().unwrap_or(words), runner.out.knowledge);
    let name = by.name.clone();
    let mut invocation = Invocation {
        by: By { name: shown_name(&name, &args), part: by.part },
        does: args.entry().map(|entry| entry.does.clone()).unwrap_or_default(),
        roles: Vec::new(),
        output: Stream::unknown(Origin::default()),
        cwd: state.cwd.as_deref().map(str::to_owned),
        passes_input: true,
        environment: Vec::new(),
        stored: Vec::new(),
        work_tree: None,
        done: false,
        input,
        args,
    };
    if is_information(&invocation) {
        if asks_anything(&invocation.args) {
            invocation.args.unknown_sub = None;
        }
        note_unknown(runner.out, &invocation);
        runner.depth -= 1;
        return Stream::unknown(Origin::default());
    }
    let ((), mut caused) = runner.collect(|runner| act(runner, &mut invocation, state));
    note_guard(&mut caused, &invocation);
    note_switches(runner.out, &mut caused, &invocation);
    note_downloads(runner.out, &invocation, state);
    note_arrivals(runner.out, &caused, &invocation);
    runner.out.write(caused);
    if let Some(shape) = listing::shape(&invocation, runner.out.world) {
        invocation.output.shape = shape;
    }
    if tokens::prints_a_token(&invocation) {
        invocation.output.shape = Shape::Token;
    }
    finish(runner.out, invocation)
}

/// Everything that the words of an invocation make happen.
fn act(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    assign_roles(runner.out, invocation);
    directory_flags(runner.out, invocation);
    let outer = std::mem::replace(&mut runner.out.follows, follows(invocation));
    grammar(runner, invocation, state);
    note_unknown(runner.out, invocation);
    note_reached(runner.out, invocation);
    if invocation.args.chain.first().is_some_and(|entry| entry.key == "mktemp") {
        invocation.output.text = made_by_mktemp(runner.out, invocation, state);
    }
    if !invocation.done {
        flag_values(runner, invocation, state);
        words(runner, invocation, state);
        effects_of(runner, invocation, state);
    }
    runner.out.follows = outer;
    runner.depth -= 1;
    note_hunting(runner.out, invocation);
    note_picks(runner.out, invocation);
    note_arguments(runner.out, invocation);
    note_sinks(runner.out, invocation);
    gh_fetches(runner.out, invocation, state);
    note_patches(runner.out, invocation, state);
}

/// The operands, with the marks that flags give them.
fn words(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let ((), mut caused) = runner.collect(|runner| {
        operands(runner, invocation, state);
        default_operand(runner, invocation, state);
        note_links(runner.out, invocation);
    });
    let marks = flag_marks(invocation);
    caused.mark(marks);
    if !marks.is_empty() && invocation.does.is_empty() && caused.is_empty() {
        invocation.does.push(Does { marks, ..Does::usual(Operation::Read) });
    }
    runner.out.write(caused);
}

/// Flags, words and subcommands that the tables do not know.
fn note_unknown(out: &mut Observer<'_>, invocation: &Invocation) {
    let name = &invocation.by.name;
    for flag in &invocation.args.unknown {
        out.lower(Degree::Unknown, format!("the flag `{flag}` of `{name}`"));
    }
    if let Some(sub) = &invocation.args.unknown_sub {
        out.lower(Degree::Unknown, format!("the subcommand `{sub}` of `{name}`"));
        let own = invocation.args.chain.first().is_some_and(|entry| entry.key == "doorward");
        let mark = if own { Mark::PersonOnly } else { Mark::UnknownProgram };
        out.unknown(Operation::Execute, &invocation.by, Marks::default().with(mark));
    }
    if !invocation.args.unknown.is_empty() {
        let mut effect = Effect::new(Operation::Execute, Target::Program(name.clone()));
        effect.marks.add(Mark::UnknownProgram);
        effect.by.clone_from(name);
        effect.part = invocation.by.part;
        out.effect(effect);
    }
    if let Some(word) = invocation.args.unreadable.first()
        && !flags_are_harmless(&invocation.args)
    {
        out.lower(Degree::Opaque, format!("`{word}` may be a flag of `{name}`"));
    }
    for given in &invocation.args.given {
        if given.changes.opaque {
            out.lower(Degree::Opaque, format!("what `{}` of `{name}` does", given.name));
        }
        if given.changes.unknown {
            out.lower(Degree::Unknown, format!("the flag `{}` of `{name}`", given.name));
        }
    }
}

/// `--help`, `--version`: nothing else happens.
fn is_information(invocation: &Invocation) -> bool {
    let args = &invocation.args;
    args.given.iter().any(|given| given.changes.info)
        && args.unknown.is_empty()
        && args.given.iter().all(|given| given.value.is_none())
        && (args.operands.is_empty() || asks_a_subcommand(args) || asks_anything(args))
}

/// Matches the operands with the positions that the entry lists.
fn assign_roles(out: &mut Observer<'_>, invocation: &mut Invocation) {
    let Some(entry) = invocation.args.entry() else { return };
    let args = &invocation.args;
    let positions: Vec<&Operand> = entry
        .operands
        .iter()
        .filter(|operand| operand.given.is_empty() || operand.given.iter().any(|flag| args.has(flag)))
        .filter(|operand| !operand.unless.iter().any(|flag| args.has(flag)))
        .collect();
    let mut roles = match positions.first() {
        Some(first) if first.role == Role::Env => environment_first(&positions, &args.operands),
        Some(_) | None => match_positions(&positions, args.operands.len()),
    };
    let tables_say_all = matches!(entry.grammar, None | Some(Grammar::GitExtra));
    if tables_say_all && roles.len() < args.operands.len() && args.unknown_sub.is_none() {
        out.lower(Degree::Unknown, format!("so many operands of `{}`", invocation.by.name));
        roles.resize(args.operands.len(), Role::Resource);
    }
    roles.resize(args.operands.len(), Role::Data);
    let effects = args
        .given
        .iter()
        .filter(|given| given.changes.has_effect() || (given.value.is_some() && given.role != Role::Data))
        .count();
    let dry_run = args.always(|changes| changes.dry_run);
    let read_only = effects == 0 && args.always(|changes| changes.read_only);
    if let Some(role) = args.given.iter().find_map(|given| given.changes.operands) {
        let kept = [Role::Data, Role::Into, Role::RemoteInto, Role::Resource, Role::Command, Role::Shell, Role::Env];
        let changes = |slot: &Role| !kept.contains(slot);
        for slot in roles.iter_mut().filter(|slot| changes(slot)) {
            *slot = role;
        }
    }
    if dry_run || read_only {
        roles.iter_mut().for_each(|role| *role = without_change(*role));
        invocation.does.clear();
        add_extras(invocation, |changes| changes.dry_run || changes.read_only);
    } else {
        add_flag_effects(invocation);
    }
    invocation.roles = roles;
}

/// `-C dir`: the program works elsewhere.
fn directory_flags(out: &mut Observer<'_>, invocation: &mut Invocation) {
    let operands = invocation.args.operands.iter().zip(&invocation.roles).filter(|(_, role)| **role == Role::Cwd);
    let values: Vec<Field> = invocation
        .args
        .given
        .iter()
        .filter(|given| given.role == Role::Cwd)
        .filter_map(|given| given.value.clone())
        .chain(operands.map(|(field, _)| field.clone()))
        .collect();
    for value in values {
        invocation.cwd = match (value.exact(), &invocation.cwd) {
            (Some(path), Some(cwd)) => leads_to(out, &crate::path::join(cwd, path)),
            (Some(path), None) if path.starts_with('/') => leads_to(out, path),
            (Some(_), None) => None,
            (None, _) => {
                out.lower(Degree::Opaque, format!("the directory `{}` of `{}`", value.shown(), invocation.by.name));
                None
            }
        };
    }
}

/// Programs that work on the current directory if no path is named.
fn default_operand(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let Some(default) = invocation.args.entry().and_then(|entry| entry.default.clone()) else { return };
    let is_path = |role: &Role| {
        matches!(role, Role::Read | Role::Print | Role::ReadTree | Role::List | Role::Edit | Role::Create | Role::Write)
    };
    let wanted = default.given.is_empty() || default.given.iter().any(|flag| invocation.args.has(flag));
    let unwanted = default.unless.iter().any(|flag| invocation.args.has(flag));
    if wanted && !unwanted && !invocation.roles.iter().any(is_path) {
        crate::observe::program::roles::role(
            runner,
            &Field::literal(".", doorward_shell::Span::default()),
            default.role,
            invocation,
            state,
        );
    }
}

/// The effects that the entry states for the whole command.
fn effects_of(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    note_packages(invocation);
    named_tasks::note_named_tasks(invocation);
    tasks(runner, invocation, state);
    handed_on(runner, invocation, state);
    if invocation.does.iter().any(|does| does.operation == Operation::Execute) {
        recipe(runner, invocation, state);
    }
    containers(runner.out, invocation, state);
    let secret = invocation
        .args
        .operands
        .iter()
        .chain(invocation.args.given.iter().filter_map(|given| given.value.as_ref()))
        .any(|field| field.origin.secret);
    let alone = invocation.roles.iter().all(|role| *role == Role::Env);
    for mut does in std::mem::take(&mut invocation.does) {
        if !happens(&does.condition, alone, invocation) {
            continue;
        }
        if does.marks.has(Mark::NameQuery) && asks_loopback_only(runner.out.world, invocation) {
            continue;
        }
        if does.operation == Operation::Execute && does.marks.has(Mark::ShellCode) {
            runner.out.lower(Degree::Opaque, format!("the code that `{}` is given", invocation.by.name));
        }
        if does.marks.has(Mark::EnvironmentDump) {
            environment_dump(runner.out.world, &mut does, invocation);
        }
        let mut effect = Effect::new(does.operation, target(&does, invocation));
        effect.scope = does.scope;
        effect.reversibility = does.reversibility;
        effect.reach = does.reach;
        effect.sensitivity = does.sensitivity;
        effect.marks = does.marks;
        effect.by.clone_from(&invocation.by.name);
        effect.part = invocation.by.part;
        place_effect(runner.out.world, &mut effect, invocation);
        if does.operation == Operation::Network && does.marks.has(Mark::Upload) {
            effect.marks.union(host_marks(runner.out.world, invocation));
        }
        if does.operation == Operation::Network {
            network_flows(runner.out, secret || invocation.input.origin.secret, &invocation.by);
            invocation.output.origin.download = true;
        }
        if does.sensitivity > doorward_vocabulary::Sensitivity::None || does.marks.has(Mark::SecretReturning) {
            invocation.output.origin.secret = true;
        }
        runner.out.effect(effect);
    }
}

/// Secret data reaches a program that talks to the network.
pub fn network_flows(out: &mut Observer<'_>, secret: bool, by: &By) {
    if secret {
        out.flow(FlowKind::SecretToNetwork, by.part, by.part);
    }
}

/// Whatever a program stores while it talks to the network came from there, in whatever order its words stand.
pub fn note_downloads(out: &mut Observer<'_>, invocation: &Invocation, state: &mut State<'_>) {
    let is_kept = invocation.stored.iter().any(|path| path != "/dev/null");
    if !invocation.output.origin.download || !is_kept {
        return;
    }
    out.flow(FlowKind::DownloadToFile, invocation.by.part, invocation.by.part);
    let written = std::rc::Rc::make_mut(&mut state.written);
    for path in &invocation.stored {
        if let Some(file) = written.get_mut(path) {
            file.origin.download = true;
        }
    }
}

/// What comes out: what was read, what was passed through, and where it came from.
fn finish(out: &mut Observer<'_>, invocation: Invocation) -> Stream {
    let mut output = invocation.output;
    let program = invocation.args.chain.first().map(|entry| entry.key.to_string()).unwrap_or_default();
    if invocation.passes_input {
        output.origin = output.origin.and(invocation.input.origin);
        if matches!(program.as_str(), "cat" | "tee") && invocation.args.given.is_empty() {
            output.text = invocation.input.text;
            output.files = invocation.input.files;
        }
    }
    if program == "printf" {
        output.text = notes::printed(&invocation.args.operands);
        if let (Some("%s\\n"), None) = (invocation.args.operands.first().and_then(Field::known), &output.text) {
            let words = invocation.args.operands.get(1..).unwrap_or_default();
            output.shape = listed(out.world, words, invocation.cwd.as_deref());
        }
    }
    output.origin.endless |= program == "yes";
    output.origin.endless &=
        !matches!(program.as_str(), "head" | "dd" | "timeout" | "wc" | "grep" | "sha256sum" | "md5sum");
    if program == "date" {
        let values = invocation.args.given.iter().filter_map(|given| given.value.as_ref());
        output.origin = values.fold(output.origin, |all, value| all.and(value.origin));
    }
    for field in &invocation.args.operands {
        output.origin = output.origin.and(field.origin);
    }
    out.prints_lists |= matches!(output.shape, Shape::ProjectPaths | Shape::ProjectNames);
    output
}

fn flag_marks(invocation: &Invocation) -> Marks {
    invocation.args.given.iter().fold(Marks::default(), |mut all, given| {
        all.union(given.changes.marks);
        all
    })
}

fn add_flag_effects(invocation: &mut Invocation) {
    let marks = flag_marks(invocation);
    add_extras(invocation, |_| true);
    for does in &mut invocation.does {
        does.marks.union(marks);
    }
}

/// Adds the named effects of the flags that `which` picks.
fn add_extras(invocation: &mut Invocation, which: impl Fn(&crate::knowledge::schema::Changes) -> bool) {
    let given = invocation.args.given.iter().filter(|given| which(&given.changes));
    let wanted: Vec<&crate::knowledge::schema::Text> = given.filter_map(|given| given.changes.extra.as_ref()).collect();
    let mut extras = Vec::new();
    for entry in &invocation.args.chain {
        extras.extend(entry.extras.iter().filter(|(name, _)| wanted.contains(&name)).map(|(_, does)| does.clone()));
    }
    invocation.does.extend(extras);
}

/// A package that is named on the command line was chosen by the agent.
fn note_packages(invocation: &mut Invocation) {
    let is_project = |field: &Field| field.text == "." || field.text.starts_with(".[");
    let roles = invocation.args.operands.iter().zip(&invocation.roles);
    let operands = roles.filter(|(_, role)| **role == Role::Package).map(|(field, _)| field);
    let given = invocation.args.given.iter().filter(|given| given.role == Role::Package);
    let values = given.filter_map(|given| given.value.as_ref());
    let named: Vec<&Field> = operands.chain(values).collect();
    let builds_project = named.iter().any(|field| is_project(field));
    let is_all = named.iter().all(|field| is_project(field));
    // The project itself is built by its own recipe.
    if builds_project && !invocation.does.iter().any(|does| does.operation == Operation::Execute) {
        let mut does = Does::usual(Operation::Execute);
        does.marks.add(Mark::InstallDeclared);
        invocation.does.push(does);
    }
    if is_all || invocation.does.iter().any(|does| does.marks.has(Mark::InstallChosen)) {
        return;
    }
    let mut converted = false;
    for does in invocation.does.iter_mut().filter(|does| does.marks.has(Mark::InstallDeclared)) {
        does.marks.remove(Mark::InstallDeclared);
        does.marks.add(Mark::InstallChosen);
        converted = true;
    }
    if !converted {
        let mut does = Does::usual(Operation::Execute);
        does.marks.add(Mark::InstallChosen);
        invocation.does.push(does);
    }
}
