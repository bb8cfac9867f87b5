//! Collects what a call would do: effects, flows, coverage, the normalised commands, within a budget.

use std::rc::Rc;

use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation, Reach, Reversibility, Scope, Verdict};

use super::caused::Caused;
use super::found::Found;
use super::lingering::Lingering;
use super::notes::{self, Absent, Carried, Search, Told};
use crate::coverage::Coverage;
use crate::effect::{Effect, Part, Target};
use crate::facts::{Built, Directory, Flow};
use crate::knowledge::rule::{Rule, Stage};
use crate::knowledge::{self, packed::Packed};
use crate::world::World;

/// Work units for one call: commands run, words read, lines looked at.
// The call's text decides how much there is to follow (functions that call functions, loops, recipes), so the cost
// must not. Running out counts as not understood and asks.
const BUDGET: u32 = 20_000;

/// Work units for all recipes of a trusted project that a call runs; what lies behind them is the project's own.
// Less than the whole budget: what the call itself says must still be read after a large Makefile.
const RECIPES: u32 = 12_000;

/// More effects than a judgement needs; the rest only counts as not understood.
// A judgement needs the strictest few; the rest would only make records large.
const EFFECTS: usize = 2_000;

/// The sheet on which everything observed is written down.
pub(crate) struct Observer<'w> {
    pub world: &'w dyn World,
    pub knowledge: Packed,
    effects: Vec<Effect>,
    flows: Vec<Flow>,
    coverage: Coverage,
    commands: Vec<String>,
    directories: Vec<Directory>,
    /// The directory of the last command.
    directory: Option<Rc<str>>,
    /// Where `mktemp` of this call made something new, with a name that nobody can foresee.
    pub made: Vec<String>,
    /// Projects whose recipes this call has built.
    pub built: Vec<String>,
    /// What its builds leave for later calls.
    pub left_built: Option<Built>,
    /// Where this call makes links.
    pub links: Vec<String>,
    /// Patterns of deletions that match nothing yet.
    pub absent: Vec<Absent>,
    /// Files and directories of the project that this call fills with content nobody has read.
    pub arrivals: Vec<String>,
    /// What outlives the call.
    pub lingering: Lingering,
    /// The program at hand reads through links that it meets on its way.
    pub follows: bool,
    /// Directories and patterns whose names this call lists.
    pub listed: Vec<(String, String)>,
    /// Searches whose hits other commands of this call may read.
    pub searches: Vec<Search>,
    /// Trees that were looked through, with what is secret or ruled in them.
    pub told: Vec<(String, Rc<[Told]>)>,
    /// Where this call puts trees, and where they were.
    pub carried: Vec<Carried>,
    /// What it packs.
    pub packed: Vec<notes::Packed>,
    /// Secrets and files of rules in trees that this call copies.
    pub copied: Vec<Told>,
    /// Trees that were too large to be looked through to their end.
    pub cut: Vec<String>,
    /// Links met on the way that stay in the project.
    pub inner_links: Vec<String>,
    /// Secrets and files of rules among the names that git or a search lists.
    pub told_listed: Vec<Told>,
    /// Some command prints a list of files that another one may read.
    pub prints_lists: bool,
    /// How many entries of directories were looked at for links.
    pub looked: usize,
    /// How many files patterns were expanded to for the same reason.
    pub matched: usize,
    budget: u32,
    /// Work units that are left for recipes of a trusted project.
    allowance: u32,
    /// The block rules, once somebody asked for them.
    block_rules: Option<Rc<[Rule]>>,
    /// How many recipes are being looked through of which only what plainly harms counts.
    pub asides: u32,
    /// Nested code has no place in the text that a person sees; its effects point at the outer command.
    pub outer: Option<Part>,
}

impl std::fmt::Debug for Observer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer")
            .field("effects", &self.effects)
            .field("coverage", &self.coverage)
            .finish_non_exhaustive()
    }
}

/// What the sheet held before something was looked at of which most does not count.
#[derive(Debug)]
pub(crate) struct Before {
    opened: Opened,
    commands: usize,
    directories: usize,
    directory: Option<Rc<str>>,
    made: usize,
    links: usize,
    budget: u32,
}

/// A part of the call whose effects, flows and doubts are judged by themselves.
#[derive(Debug)]
pub(crate) struct Opened {
    effects: Beginning,
    flows: usize,
    coverage: Coverage,
}

/// What was found in such a part.
#[must_use = "findings that are not merged are lost"]
#[derive(Debug)]
pub(crate) struct Findings {
    pub caused: Caused,
    pub flows: Vec<Flow>,
    /// The part lowered the coverage beyond what a trusted project may keep to itself.
    pub is_doubtful: bool,
}

/// The place on the sheet behind which everything belongs to one part of the call.
#[derive(Debug)]
pub(crate) struct Beginning(usize);

/// An effect on the sheet that somebody may have more to say about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line(usize);

/// Who causes an effect, and where it stands in the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct By {
    pub name: String,
    pub part: Part,
}

impl<'w> Observer<'w> {
    pub(crate) fn new(world: &'w dyn World) -> Observer<'w> {
        Observer {
            world,
            knowledge: knowledge::built_in().beside(world.own_programs()),
            effects: Vec::new(),
            flows: Vec::new(),
            coverage: Coverage::full(),
            commands: Vec::new(),
            directories: Vec::new(),
            directory: None,
            made: Vec::new(),
            built: Vec::new(),
            left_built: None,
            links: Vec::new(),
            absent: Vec::new(),
            arrivals: Vec::new(),
            lingering: Default::default(),
            follows: false,
            listed: Vec::new(),
            searches: Vec::new(),
            told: Vec::new(),
            carried: Vec::new(),
            packed: Vec::new(),
            copied: Vec::new(),
            cut: Vec::new(),
            inner_links: Vec::new(),
            told_listed: Vec::new(),
            prints_lists: false,
            looked: 0,
            matched: 0,
            budget: BUDGET,
            allowance: RECIPES,
            block_rules: None,
            asides: 0,
            outer: None,
        }
    }

    /// Writes down that a command runs in a directory.
    pub(crate) fn command(&mut self, words: String, directory: Option<&Rc<str>>) {
        if self.directory.as_ref() != directory {
            let from = u32::try_from(self.commands.len()).unwrap_or(u32::MAX);
            self.directories.push(Directory { from, path: directory.map(ToString::to_string) });
            self.directory = directory.cloned();
        }
        self.commands.push(words);
    }

    /// The call begins in this directory.
    pub(crate) fn start_in(&mut self, directory: Option<&Rc<str>>) {
        self.directory = directory.cloned();
    }

    /// Writes down something beside the commands that a pattern for them says nothing about.
    pub(crate) fn beside_commands(&mut self, text: String) {
        self.commands.push(text);
    }

    /// The effects so far.
    pub(crate) fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// The commands so far.
    pub(crate) fn commands(&self) -> &[String] {
        &self.commands
    }

    /// How much of the call is understood so far.
    pub(crate) fn degree(&self) -> Degree {
        self.coverage.degree
    }

    /// Looks at every effect so far again, because of something that holds for all of them.
    pub(crate) fn revise(&mut self, change: impl FnMut(&mut Effect)) {
        self.effects.iter_mut().for_each(change);
    }

    /// Nothing more is looked at.
    pub(crate) fn finish(self) -> Found {
        Found {
            effects: self.effects,
            flows: self.flows,
            coverage: self.coverage,
            commands: self.commands,
            directories: self.directories,
            arrivals: self.arrivals,
            lingers: self.lingering.is_any,
            left: self.lingering.runs,
            built: self.left_built,
        }
    }

    /// Takes work units; when they are used up the call counts as not understood.
    pub(crate) fn spend(&mut self, units: u32) -> bool {
        match self.budget.checked_sub(units) {
            Some(rest) => {
                self.budget = rest;
                true
            }
            None => {
                if self.asides > 0 {
                    self.budget = 0;
                }
                self.lower(Degree::Opaque, "the call is too large to follow to the end");
                false
            }
        }
    }

    /// From here on the allowance for recipes is spent, and nothing counts until [`Observer::step_back`] says what does.
    pub(crate) fn step_aside(&mut self) -> Before {
        let before = Before {
            opened: self.open(),
            commands: self.commands.len(),
            directories: self.directories.len(),
            directory: self.directory.clone(),
            made: self.made.len(),
            links: self.links.len(),
            budget: self.budget,
        };
        self.budget = if self.asides == 0 { self.allowance } else { self.budget };
        self.asides += 1;
        before
    }

    /// The built-in rules that block, read once for all recipes of a call.
    pub(crate) fn block_rules(&mut self) -> Rc<[Rule]> {
        let knowledge = self.knowledge;
        let read = || {
            let rules = knowledge.rules().unwrap_or_default().into_iter();
            rules.filter(|rule| rule.verdict == Verdict::Block && rule.stage == Stage::Active).collect()
        };
        Rc::clone(self.block_rules.get_or_insert_with(read))
    }

    /// Takes everything off the sheet that was written down since then, as if nobody had looked.
    pub(crate) fn step_back(&mut self, before: Before) -> Findings {
        self.asides = self.asides.saturating_sub(1);
        let found = self.close(before.opened);
        self.commands.truncate(before.commands);
        self.directories.truncate(before.directories);
        self.directory = before.directory;
        self.made.truncate(before.made);
        self.links.truncate(before.links);
        if self.asides == 0 {
            self.allowance = std::mem::replace(&mut self.budget, before.budget);
        }
        found
    }

    /// From here on effects, flows and doubts belong to a part, until [`Observer::close`].
    pub(crate) fn open(&self) -> Opened {
        Opened { effects: self.begin(), flows: self.flows.len(), coverage: self.coverage.clone() }
    }

    /// Takes what was found in a part off the sheet.
    pub(crate) fn close(&mut self, opened: Opened) -> Findings {
        let is_doubtful = self.coverage.degree > opened.coverage.degree.max(Degree::Delegated);
        self.coverage = opened.coverage;
        let flows = self.flows.split_off(opened.flows.min(self.flows.len()));
        Findings { caused: self.end(opened.effects), flows, is_doubtful }
    }

    /// Puts what counts of a part onto the sheet.
    pub(crate) fn merge(&mut self, found: Findings) {
        self.write(found.caused);
        self.flows.extend(found.flows);
    }

    /// What the work causes, by value; `write` puts it onto the sheet.
    pub(crate) fn collect<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, Caused) {
        let beginning = self.begin();
        let done = work(self);
        (done, self.end(beginning))
    }

    /// Everything from here on belongs to one part, until [`Observer::end`].
    pub(crate) fn begin(&self) -> Beginning {
        Beginning(self.effects.len())
    }

    /// Takes the effects of a part off the sheet.
    pub(crate) fn end(&mut self, beginning: Beginning) -> Caused {
        // Beyond the limit the last effects are replaced, so there may be fewer than in the beginning.
        match self.effects.len().checked_sub(beginning.0) {
            None | Some(0) => Caused::default(),
            Some(_) => Caused::of(self.effects.split_off(beginning.0)),
        }
    }

    /// Puts the effects of a part onto the sheet.
    pub(crate) fn write(&mut self, caused: Caused) {
        self.effects.append(&mut caused.into_effects());
    }

    /// Writes the effects of a part down; yields the first of them.
    pub(crate) fn write_first(&mut self, caused: Caused) -> Option<Line> {
        let line = (!caused.is_empty()).then_some(Line(self.effects.len()));
        self.write(caused);
        line
    }

    /// The effect on that line.
    pub(crate) fn line(&mut self, line: Line) -> Option<&mut Effect> {
        self.effects.get_mut(line.0)
    }

    pub(crate) fn lower(&mut self, degree: Degree, because: impl Into<String>) {
        self.coverage.lower(degree, because);
    }

    pub(crate) fn part(&self, span: doorward_shell::Span) -> Part {
        self.outer.unwrap_or(Part { start: span.start, end: span.end })
    }

    /// Writes an effect down. Beyond the limit only what is graver than reading is kept.
    pub(crate) fn effect(&mut self, effect: Effect) {
        if self.effects.len() >= EFFECTS {
            self.lower(Degree::Opaque, "the call has too many effects to list");
            if effect.operation == Operation::Read {
                return;
            }
            self.effects.truncate(EFFECTS);
            self.effects.pop();
        }
        if self.effects.last() != Some(&effect) {
            self.effects.push(effect);
        }
    }

    /// Writes an effect down with marks that do not count when it is compared with the effect before it.
    pub(crate) fn marked_effect(&mut self, effect: Effect, marks: Marks) {
        self.effect(effect);
        if let Some(last) = self.effects.last_mut() {
            last.marks.union(marks);
        }
    }

    /// An effect on something that is not known.
    pub(crate) fn unknown(&mut self, operation: Operation, by: &By, marks: Marks) {
        // Servers do much that is not known; the programs that code starts are noted where it starts them.
        if operation == Operation::Execute && !marks.has(Mark::InlineCode) {
            self.note_unknown_run();
        }
        let mut effect = Effect::new(operation, Target::Unknown);
        effect.scope = Scope::System;
        effect.reach = Reach::Machine;
        effect.reversibility = match operation {
            Operation::Read => Reversibility::NothingChanges,
            Operation::Write | Operation::Execute | Operation::Network | Operation::Delete | Operation::Mutate => {
                Reversibility::Irreversible
            }
        };
        effect.marks = marks;
        effect.by.clone_from(&by.name);
        effect.part = by.part;
        self.effect(effect);
    }

    pub(crate) fn flow(&mut self, kind: FlowKind, from: Part, to: Part) {
        let flow = Flow { kind, from, to };
        if !self.flows.contains(&flow) && self.flows.len() < EFFECTS {
            self.flows.push(flow);
        }
    }

    /// Marks the call as a whole.
    pub(crate) fn call_mark(&mut self, mark: Mark) {
        let part = self.outer.unwrap_or_default();
        self.unknown(Operation::Execute, &By { name: String::new(), part }, Marks::default().with(mark));
    }

    /// The client's own sandbox is switched off for the call, whatever it does.
    pub(crate) fn leaves_sandbox(&mut self) {
        let mut effect = Effect::new(Operation::Mutate, Target::Resource("the agent's sandbox".to_owned()));
        effect.scope = Scope::Project;
        effect.reach = Reach::Workspace;
        effect.reversibility = Reversibility::Rebuildable;
        effect.marks = Marks::default().with(Mark::SandboxOff);
        self.effect(effect);
    }

    /// What the call prints holds a secret that no file was read for: a variable, most often.
    pub(crate) fn prints_secret(&mut self) {
        let mut effect = Effect::new(Operation::Read, Target::Resource("a secret variable".into()));
        effect.marks.add(Mark::SecretReturning);
        self.effect(effect);
    }

    /// Some effect so far read something sensitive.
    pub(crate) fn has_read_secret(&self) -> bool {
        self.effects.iter().any(|effect| {
            effect.sensitivity > doorward_vocabulary::Sensitivity::None || effect.marks.has(Mark::SecretReturning)
        })
    }
}
