//! The features that layer 2 weighs: each a yes or no about one effect and its call, all of them named.
//!
//! Dimensions with an order are steps: `reach shared+` holds for everything that reaches at least so far, and no step
//! weighs less than nothing. So more risk never lowers a score. What a person accepted out of history points the other way:
//! no step of it weighs more than nothing, so that a yes never raises a score.

use doorward_vocabulary::{Degree, FlowKind, Mark, Operation, Reach, Reversibility, Scope, Sensitivity, Verdict};

/// From these shares of overridden decisions on, in percent.
// Four steps instead of a number: a step has one weight that a person can read, and training needs fewer cases.
pub const OVERRIDDEN: [u8; 4] = [1, 25, 50, 75];

/// From so many effects of one call on.
// Most calls have one or two effects; six is a script, twelve a long one.
pub const MANY: [usize; 2] = [6, 12];

/// Marks that say what something is for, and may lower a score. All others only raise it.
// A mark may lower a score only if it says what the call is *for*. Everything else can only add risk, so that adding
// a flag never makes a call look safer.
pub const SETTLING: &[Mark] = &[
    Mark::Test,
    Mark::Build,
    Mark::Lint,
    Mark::RunsProject,
    Mark::InstallDeclared,
    Mark::Commit,
    Mark::OwnRemote,
    Mark::ListedHost,
    Mark::Loopback,
    Mark::McpReadOnly,
    Mark::HarnessOnly,
    Mark::AgentNotes,
    Mark::Registry,
    Mark::Creates,
    Mark::SubagentTask,
    Mark::SessionFile,
];

/// How many features there are.
pub const COUNT: usize = MARKS + Mark::ALL.len();

// Where each group of features begins.
const SCOPES: usize = Operation::ALL.len();
const LOSSES: usize = SCOPES + Scope::ALL.len() - 1;
const REACHES: usize = LOSSES + Reversibility::ALL.len() - 1;
const SENSITIVITIES: usize = REACHES + Reach::ALL.len() - 1;
const DEGREES: usize = SENSITIVITIES + Sensitivity::ALL.len() - 1;
const OVERRIDES: usize = DEGREES + Degree::ALL.len() - 1;
const TAINT: usize = OVERRIDES + OVERRIDDEN.len();
const EFFECTS: usize = TAINT + 1;
const FLOWS: usize = EFFECTS + MANY.len();
const PURPOSE: usize = FLOWS + FlowKind::ALL.len();
const LOSS: usize = PURPOSE + 1;
const BROUGHT: usize = LOSS + 1;
const STAGES: usize = BROUGHT + 1;
const MARKS: usize = STAGES + Verdict::ALL.len() - 1;

const _: () = assert!(COUNT <= 256);

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Features([u64; 4]);

impl Features {
    pub fn add(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    pub fn has(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// The numbers in the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(index * 64 + bit as usize)
            })
        })
    }

    pub fn add_operation(&mut self, operation: Operation) {
        self.add(operation as usize);
    }

    /// External is elsewhere rather than wider.
    pub fn add_scope(&mut self, scope: Scope) {
        match scope {
            Scope::External => self.add(LOSSES - 1),
            Scope::Scratch | Scope::File | Scope::Directory | Scope::Project | Scope::OtherRepo | Scope::System => {
                self.add_steps(SCOPES, scope as usize);
            }
        }
    }

    pub fn add_reversibility(&mut self, reversibility: Reversibility) {
        self.add_steps(LOSSES, reversibility as usize);
    }

    /// Beyond is elsewhere rather than farther.
    pub fn add_reach(&mut self, reach: Reach) {
        match reach {
            Reach::Beyond => self.add(SENSITIVITIES - 1),
            Reach::Workspace | Reach::Project | Reach::Shared | Reach::Machine | Reach::Identity => {
                self.add_steps(REACHES, reach as usize);
            }
        }
    }

    pub fn add_sensitivity(&mut self, sensitivity: Sensitivity) {
        self.add_steps(SENSITIVITIES, sensitivity as usize);
    }

    pub fn add_coverage(&mut self, degree: Degree) {
        self.add_steps(DEGREES, degree as usize);
    }

    /// How often people let such calls run, where a person accepted that this counts.
    pub fn add_override_rate(&mut self, rate: f64) {
        let reached = OVERRIDDEN.iter().filter(|percent| rate * 100.0 >= f64::from(**percent)).count();
        self.add_steps(OVERRIDES, reached);
    }

    pub fn add_taint(&mut self) {
        self.add(TAINT);
    }

    pub fn add_effect_count(&mut self, count: usize) {
        self.add_steps(EFFECTS, MANY.iter().filter(|many| count >= **many).count());
    }

    pub fn add_flow(&mut self, kind: FlowKind) {
        self.add(FLOWS + kind as usize);
    }

    /// Something runs, and nothing says what for.
    pub fn add_no_purpose(&mut self) {
        self.add(PURPOSE);
    }

    /// Something is deleted that no build makes again.
    pub fn add_loss(&mut self) {
        self.add(LOSS);
    }

    /// What is put into the project unseen comes from outside it.
    pub fn add_brought_in(&mut self) {
        self.add(BROUGHT);
    }

    /// What the other stages say.
    pub fn add_stages(&mut self, strictest: Verdict) {
        self.add_steps(STAGES, strictest as usize);
    }

    pub fn add_mark(&mut self, mark: Mark) {
        self.add(MARKS + mark as usize);
    }

    /// The same without what a person accepted out of history.
    #[must_use]
    pub fn without_history(mut self) -> Features {
        for number in OVERRIDES..TAINT {
            self.0.get_mut(number / 64).into_iter().for_each(|word| *word &= !(1 << (number % 64)));
        }
        self
    }

    fn add_steps(&mut self, start: usize, reached: usize) {
        (start..start + reached).for_each(|number| self.add(number));
    }
}

/// The operation that a set speaks of.
pub fn operation_in(features: &Features) -> Option<Operation> {
    Operation::ALL.iter().copied().find(|operation| features.has(*operation as usize))
}

/// The set speaks of something that nothing brings back.
pub fn is_irreversible(features: &Features) -> bool {
    features.has(REACHES - 1)
}

/// The set speaks of something that runs, and nothing says what for.
pub fn has_no_purpose(features: &Features) -> bool {
    features.has(PURPOSE)
}

/// The set speaks of a change outside the project, on this machine.
pub fn changes_elsewhere(features: &Features) -> bool {
    let is_change = matches!(operation_in(features), Some(Operation::Write | Operation::Delete | Operation::Mutate));
    is_change && features.has(SCOPES + Scope::OtherRepo as usize - 1)
}

/// What a feature is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    pub group: &'static str,
    pub word: &'static str,
    /// It holds for everything from this word on.
    pub is_step: bool,
    /// It may only raise a score.
    pub is_risk: bool,
    /// It may only lower a score.
    pub is_calm: bool,
}

/// The feature with this number.
pub fn named(number: usize) -> Option<Named> {
    const SHARES: [&str; OVERRIDDEN.len()] = ["1%", "25%", "50%", "75%"];
    const COUNTS: [&str; MANY.len()] = ["6", "12"];
    let risk = |group, word, is_step| Some(Named { group, word, is_step, is_risk: true, is_calm: false });
    let at = |start: usize| number.checked_sub(start);
    if let Some(place) = at(MARKS) {
        let mark = Mark::ALL.get(place)?;
        let is_risk = !SETTLING.contains(mark);
        return Some(Named { group: "mark", word: mark.as_str(), is_step: false, is_risk, is_calm: false });
    }
    if let Some(place) = at(STAGES) {
        return risk("stages", Verdict::ALL.get(place + 1)?.as_str(), true);
    }
    if at(BROUGHT).is_some() {
        return risk("content", "from-outside", false);
    }
    if at(LOSS).is_some() {
        return risk("loss", "delete", false);
    }
    if at(PURPOSE).is_some() {
        return risk("purpose", "unknown", false);
    }
    if let Some(place) = at(FLOWS) {
        return risk("flow", FlowKind::ALL.get(place)?.as_str(), false);
    }
    if let Some(place) = at(EFFECTS) {
        return risk("effects", COUNTS.get(place)?, true);
    }
    if at(TAINT).is_some() {
        return risk("session", "taint", false);
    }
    if let Some(place) = at(OVERRIDES) {
        let word = SHARES.get(place)?;
        return Some(Named { group: "overridden", word, is_step: true, is_risk: false, is_calm: true });
    }
    if let Some(place) = at(DEGREES) {
        return risk("coverage", Degree::ALL.get(place + 1)?.as_str(), true);
    }
    if let Some(place) = at(SENSITIVITIES) {
        return risk("sensitivity", Sensitivity::ALL.get(place + 1)?.as_str(), true);
    }
    if let Some(place) = at(REACHES) {
        let reach = *Reach::ALL.get(place + 1)?;
        return risk("reach", reach.as_str(), reach != Reach::Beyond);
    }
    if let Some(place) = at(LOSSES) {
        return risk("reversibility", Reversibility::ALL.get(place + 1)?.as_str(), true);
    }
    if let Some(place) = at(SCOPES) {
        let scope = *Scope::ALL.get(place + 1)?;
        return risk("scope", scope.as_str(), scope != Scope::External);
    }
    risk("operation", Operation::ALL.get(number)?.as_str(), false)
}

/// Every feature, in order.
pub fn all() -> impl Iterator<Item = Named> {
    (0..COUNT).filter_map(named)
}

/// The name of each feature, as in the files of the model.
pub fn names() -> Vec<String> {
    all().map(|named| format!("{} {}{}", named.group, named.word, if named.is_step { "+" } else { "" })).collect()
}
