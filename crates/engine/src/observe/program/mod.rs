//! Programs: who is run, how its arguments read, and what they make happen.

use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation};

pub mod args;
mod arriving;
mod builds;
pub mod carrying;
mod conditions;
mod containers;
mod destination;
mod environments;
pub mod grammar;
mod handed;
mod identity;
mod inner;
mod listing;
mod named_tasks;
mod naming;
mod notes;
mod patch_hunk;
mod patch_text;
mod patches;
mod positions;
mod reached;
pub mod recipe;
pub mod roles;
mod sinks;
#[cfg(test)]
mod spellings;
pub mod sweeps;
mod switches;
pub mod tasks;
mod tokens;
pub mod written;

use crate::effect::{Effect, Part, Target};
use crate::knowledge::schema::{Does, Entry, Grammar, Operand, Role};
use crate::observe::links::follows;
use crate::observe::observer::By;
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

impl Runner<'_, '_> {
    /// Runs a list of words as a command.
    pub fn run<'a>(&mut self, fields: Vec<Field>, state: &mut State<'a>, input: Stream, part: Part) -> Stream {
        let cwd = state.cwd.clone();
        self.unwaited(outlives_call(&fields), |runner| {
            runner.remembered(&fields, cwd.as_deref(), |runner| runner.run_words(&fields, state, input, part))
        })
    }

    fn run_words<'a>(&mut self, fields: &[Field], state: &mut State<'a>, input: Stream, part: Part) -> Stream {
        let Some(first) = fields.first() else { return Stream::empty() };
        let by = By { name: first.shown(), part };
        self.out.command(normalised(fields), state.cwd.as_ref());
        let Some(name) = first.exact().map(str::to_owned) else {
            return self.unknown_program(fields, &by, input);
        };
        if doorward_shell::lookalike(&name) {
            self.out.lower(Degree::Opaque, format!("`{name}` mixes letters that look alike"));
            self.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::Hidden));
            return Stream::default();
        }
        if state.shadowed.contains(&name) {
            self.out.lower(Degree::Opaque, format!("`{name}` was given another meaning before"));
        }
        if let Some(body) = state.functions.get(&name).copied() {
            return self.function(&name, body, fields, state, input);
        }
        let words = fields.get(1..).unwrap_or_default();
        if let Some(output) = self.builtin(&name, words, state, &input, &by) {
            return output;
        }
        self.program_named(&name, words, state, input, part)
    }

    fn function<'a>(
        &mut self,
        name: &str,
        body: &'a doorward_shell::Command,
        fields: &[Field],
        state: &mut State<'a>,
        input: Stream,
    ) -> Stream {
        self.called.insert(name.to_owned());
        if self.calling.iter().filter(|calling| *calling == name).count() > 0 {
            if self.calling.len() > 1 || self.out.coverage.degree >= Degree::Opaque {
                self.out.call_mark(Mark::ForkBomb);
            }
            self.out.lower(Degree::Opaque, format!("the function `{name}` calls itself"));
            return Stream::default();
        }
        let words: Option<Vec<String>> =
            fields.get(1..).unwrap_or_default().iter().map(|field| field.exact().map(str::to_owned)).collect();
        let outer = std::mem::replace(&mut state.positional, words.map(std::rc::Rc::new));
        let locals = std::mem::take(&mut state.locals);
        let (jumps, skips, looping) = (self.jumps.len(), self.exits.skips, std::mem::take(&mut self.looping));
        self.calling.push(name.to_owned());
        let output = self.command(body, state, input);
        self.calling.pop();
        self.looping = looping;
        self.exits.skips = skips;
        self.land_function(jumps, state);
        state.drop_locals(locals);
        state.positional = outer;
        output
    }

    /// Judges a known program with its words.
    pub fn invoke<'a>(
        &mut self,
        entry: Entry,
        words: &[Field],
        state: &mut State<'a>,
        input: Stream,
        by: By,
    ) -> Stream {
        if let Some(extra) = self.git_extra_named(&entry, words, state) {
            return self.program_named(&extra, words.get(1..).unwrap_or_default(), state, input, by.part);
        }
        self.depth += 1;
        let started = self.out.effects.len();
        let prepared = self.prepare(&entry, words, state);
        let args = args::read(entry, prepared.as_deref().unwrap_or(words), self.out.knowledge);
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
        if self.is_information(&invocation) {
            if asks_anything(&invocation.args) {
                invocation.args.unknown_sub = None;
            }
            self.note_unknown(&invocation);
            self.depth -= 1;
            return Stream::unknown(Origin::default());
        }
        self.assign_roles(&mut invocation);
        self.directory_flags(&mut invocation);
        let outer = std::mem::replace(&mut self.out.follows, follows(&invocation));
        self.grammar(&mut invocation, state);
        self.note_unknown(&invocation);
        self.note_reached(&invocation);
        if invocation.args.chain.first().is_some_and(|entry| entry.key == "mktemp") {
            invocation.output.text = self.made_by_mktemp(&invocation, state);
        }
        if !invocation.done {
            self.flag_values(&mut invocation, state);
            let at = self.out.effects.len();
            self.operands(&mut invocation, state);
            self.default_operand(&mut invocation, state);
            self.note_links(&invocation);
            let marks = flag_marks(&invocation);
            self.mark_since(at, marks);
            if !marks.is_empty() && invocation.does.is_empty() && self.out.effects.len() == at {
                invocation.does.push(Does { marks, ..Does::usual(Operation::Read) });
            }
            self.effects_of(&mut invocation, state);
        }
        self.out.follows = outer;
        self.depth -= 1;
        self.note_hunting(&invocation);
        self.note_picks(&invocation);
        self.note_arguments(&invocation);
        self.note_sinks(&invocation);
        self.gh_fetches(&invocation, state);
        self.note_patches(&invocation, state);
        self.note_guard(started, &invocation);
        self.note_switches(started, &invocation);
        self.note_downloads(&invocation, state);
        self.note_arrivals(started, &invocation);
        if let Some(shape) = listing::shape(&invocation, self.out.world) {
            invocation.output.shape = shape;
        }
        if tokens::prints_a_token(&invocation) {
            invocation.output.shape = Shape::Token;
        }
        self.finish(invocation)
    }

    /// Flags, words and subcommands that the tables do not know.
    fn note_unknown(&mut self, invocation: &Invocation) {
        let name = &invocation.by.name;
        for flag in &invocation.args.unknown {
            self.out.lower(Degree::Unknown, format!("the flag `{flag}` of `{name}`"));
        }
        if let Some(sub) = &invocation.args.unknown_sub {
            self.out.lower(Degree::Unknown, format!("the subcommand `{sub}` of `{name}`"));
            let own = invocation.args.chain.first().is_some_and(|entry| entry.key == "doorward");
            let mark = if own { Mark::PersonOnly } else { Mark::UnknownProgram };
            self.out.unknown(Operation::Execute, &invocation.by, Marks::default().with(mark));
        }
        if !invocation.args.unknown.is_empty() {
            let mut effect = Effect::new(Operation::Execute, Target::Program(name.clone()));
            effect.marks.add(Mark::UnknownProgram);
            effect.by.clone_from(name);
            effect.part = invocation.by.part;
            self.out.effect(effect);
        }
        if let Some(word) = invocation.args.unreadable.first()
            && !flags_are_harmless(&invocation.args)
        {
            self.out.lower(Degree::Opaque, format!("`{word}` may be a flag of `{name}`"));
        }
        for given in &invocation.args.given {
            if given.changes.opaque {
                self.out.lower(Degree::Opaque, format!("what `{}` of `{name}` does", given.name));
            }
            if given.changes.unknown {
                self.out.lower(Degree::Unknown, format!("the flag `{}` of `{name}`", given.name));
            }
        }
    }

    /// `--help`, `--version`: nothing else happens.
    fn is_information(&self, invocation: &Invocation) -> bool {
        let args = &invocation.args;
        args.given.iter().any(|given| given.changes.info)
            && args.unknown.is_empty()
            && args.given.iter().all(|given| given.value.is_none())
            && (args.operands.is_empty() || asks_a_subcommand(args) || asks_anything(args))
    }

    /// Matches the operands with the positions that the entry lists.
    fn assign_roles(&mut self, invocation: &mut Invocation) {
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
            self.out.lower(Degree::Unknown, format!("so many operands of `{}`", invocation.by.name));
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
            let kept =
                [Role::Data, Role::Into, Role::RemoteInto, Role::Resource, Role::Command, Role::Shell, Role::Env];
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
    fn directory_flags(&mut self, invocation: &mut Invocation) {
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
                (Some(path), Some(cwd)) => self.leads_to(&crate::path::join(cwd, path)),
                (Some(path), None) if path.starts_with('/') => self.leads_to(path),
                (Some(_), None) => None,
                (None, _) => {
                    self.out.lower(
                        Degree::Opaque,
                        format!("the directory `{}` of `{}`", value.shown(), invocation.by.name),
                    );
                    None
                }
            };
        }
    }

    /// Programs that work on the current directory if no path is named.
    fn default_operand(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let Some(default) = invocation.args.entry().and_then(|entry| entry.default.clone()) else { return };
        let is_path = |role: &Role| {
            matches!(
                role,
                Role::Read | Role::Print | Role::ReadTree | Role::List | Role::Edit | Role::Create | Role::Write
            )
        };
        let wanted = default.given.is_empty() || default.given.iter().any(|flag| invocation.args.has(flag));
        let unwanted = default.unless.iter().any(|flag| invocation.args.has(flag));
        if wanted && !unwanted && !invocation.roles.iter().any(is_path) {
            self.role(&Field::literal(".", doorward_shell::Span::default()), default.role, invocation, state);
        }
    }

    /// The effects that the entry states for the whole command.
    fn effects_of(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        note_packages(invocation);
        named_tasks::note_named_tasks(invocation);
        self.tasks(invocation, state);
        self.handed_on(invocation, state);
        if invocation.does.iter().any(|does| does.operation == Operation::Execute) {
            self.recipe(invocation, state);
        }
        self.containers(invocation, state);
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
            if does.marks.has(Mark::NameQuery) && self.asks_loopback_only(invocation) {
                continue;
            }
            if does.operation == Operation::Execute && does.marks.has(Mark::ShellCode) {
                self.out.lower(Degree::Opaque, format!("the code that `{}` is given", invocation.by.name));
            }
            if does.marks.has(Mark::EnvironmentDump) {
                self.environment_dump(&mut does, invocation);
            }
            let mut effect = Effect::new(does.operation, target(&does, invocation));
            effect.scope = does.scope;
            effect.reversibility = does.reversibility;
            effect.reach = does.reach;
            effect.sensitivity = does.sensitivity;
            effect.marks = does.marks;
            effect.by.clone_from(&invocation.by.name);
            effect.part = invocation.by.part;
            self.place_effect(&mut effect, invocation);
            if does.operation == Operation::Network && does.marks.has(Mark::Upload) {
                effect.marks.union(self.host_marks(invocation));
            }
            if does.operation == Operation::Network {
                self.network_flows(secret || invocation.input.origin.secret, &invocation.by);
                invocation.output.origin.download = true;
            }
            if does.sensitivity > doorward_vocabulary::Sensitivity::None || does.marks.has(Mark::SecretReturning) {
                invocation.output.origin.secret = true;
            }
            self.out.effect(effect);
        }
    }

    /// Secret data reaches a program that talks to the network.
    pub fn network_flows(&mut self, secret: bool, by: &By) {
        if secret {
            self.out.flow(FlowKind::SecretToNetwork, by.part, by.part);
        }
    }

    /// Whatever a program stores while it talks to the network came from there, in whatever order its words stand.
    pub fn note_downloads(&mut self, invocation: &Invocation, state: &mut State<'_>) {
        let is_kept = invocation.stored.iter().any(|path| path != "/dev/null");
        if !invocation.output.origin.download || !is_kept {
            return;
        }
        self.out.flow(FlowKind::DownloadToFile, invocation.by.part, invocation.by.part);
        let written = std::rc::Rc::make_mut(&mut state.written);
        for path in &invocation.stored {
            if let Some(file) = written.get_mut(path) {
                file.origin.download = true;
            }
        }
    }

    /// What comes out: what was read, what was passed through, and where it came from.
    fn finish(&mut self, invocation: Invocation) -> Stream {
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
                output.shape = self.listed(words, invocation.cwd.as_deref());
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
        self.out.prints_lists |= matches!(output.shape, Shape::ProjectPaths | Shape::ProjectNames);
        output
    }
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
