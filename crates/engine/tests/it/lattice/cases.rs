//! The space of facts: every combination of dimensions for one effect, and combinations of effects by chance.

use doorward_engine::{
    Amount, Answer, Confidence, Contained, Coverage, Degree, Effect, Facts, Mark, Marks, Mode, Operation, Permissions,
    Policy, Reach, Reversibility, Review, Scope, Sensitivity, Target,
};

use crate::support::chance::Chance;

/// How many combinations of the dimensions there are for one effect with given marks.
pub(super) const CELLS: usize = Operation::ALL.len()
    * Scope::ALL.len()
    * Reversibility::ALL.len()
    * Reach::ALL.len()
    * Sensitivity::ALL.len()
    * Degree::ALL.len();

/// The place of one combination in the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) operation: usize,
    pub(super) scope: usize,
    pub(super) loss: usize,
    pub(super) reach: usize,
    pub(super) sensitivity: usize,
    pub(super) degree: usize,
}

impl Place {
    pub(super) fn of(mut number: usize) -> Place {
        let mut digit = |base: usize| {
            let digit = number % base;
            number /= base;
            digit
        };
        Place {
            operation: digit(Operation::ALL.len()),
            scope: digit(Scope::ALL.len()),
            loss: digit(Reversibility::ALL.len()),
            reach: digit(Reach::ALL.len()),
            sensitivity: digit(Sensitivity::ALL.len()),
            degree: digit(Degree::ALL.len()),
        }
    }

    pub(super) fn number(self) -> usize {
        let Place { operation, scope, loss, reach, sensitivity, degree } = self;
        let outer = (degree * Sensitivity::ALL.len() + sensitivity) * Reach::ALL.len() + reach;
        ((outer * Reversibility::ALL.len() + loss) * Scope::ALL.len() + scope) * Operation::ALL.len() + operation
    }

    /// The same a step worse in one dimension, wherever the vocabulary is an order: *external* is elsewhere rather than
    /// wider, *beyond* is farther than *identity* but not graver.
    pub(super) fn worse(self) -> impl Iterator<Item = Place> {
        let next = |now: usize, last: usize| (now < last).then_some(now + 1);
        let scope = next(self.scope, Scope::System as usize).map(|scope| Place { scope, ..self });
        let loss = next(self.loss, Reversibility::ALL.len() - 1).map(|loss| Place { loss, ..self });
        let reach = next(self.reach, Reach::Identity as usize).map(|reach| Place { reach, ..self });
        let sensitivity =
            next(self.sensitivity, Sensitivity::ALL.len() - 1).map(|sensitivity| Place { sensitivity, ..self });
        let degree = next(self.degree, Degree::ALL.len() - 1).map(|degree| Place { degree, ..self });
        [scope, loss, reach, sensitivity, degree].into_iter().flatten()
    }

    /// A call with this one effect.
    pub(super) fn facts(self, marks: Marks, calm: &Facts) -> Facts {
        let mut effect = Effect::new(Operation::ALL[self.operation], Target::Path("/home/dev/project/a".into()));
        effect.scope = Scope::ALL[self.scope];
        effect.reversibility = Reversibility::ALL[self.loss];
        effect.reach = Reach::ALL[self.reach];
        effect.sensitivity = Sensitivity::ALL[self.sensitivity];
        effect.marks = marks;
        let coverage = Coverage { degree: Degree::ALL[self.degree], because: Vec::new() };
        Facts { effects: vec![effect], coverage, ..calm.clone() }
    }
}

/// Facts of several effects, where everything that `judge` knows may vary.
pub(super) fn any(chance: &mut Chance, policy: &Policy) -> Facts {
    let mut facts = if chance.one_in(3) { chance.calm_facts(&policy.rules) } else { chance.facts(&policy.rules) };
    for effect in &mut facts.effects {
        let files = chance.pick(&[0, 1, 7, 20, 21, 4000]);
        let amount = Amount { files, bytes: files * chance.pick(&[1, 1 << 20]), at_least: chance.one_in(9) };
        effect.amount = chance.one_in(3).then_some(amount);
        effect.restorable = chance.pick(&[0, 0, 0, 1, 19, 21]);
        effect.by = chance.pick(&["", "frob"]).to_owned();
    }
    facts.review = chance.one_in(6).then(|| Review {
        answer: chance.pick(&[Answer::Allows, Answer::Declines, Answer::Unavailable]),
        model: "by/chance".into(),
        because: "by chance".into(),
        confidence: Confidence::new(chance.pick(&[0.1, 0.849, 0.85, 0.949, 0.95, 1.0])),
    });
    facts.contained = chance.one_in(9).then(|| Contained {
        wanted_network: chance.one_in(2),
        cut_off: chance.one_in(3).then(|| "too long".into()),
        ..Contained::default()
    });
    facts.counts.reads_last_seconds = chance.pick(&[0, 59, 60]);
    facts.counts.denials = chance.pick(&[0, 19, 20]);
    facts
}

/// A policy with the built-in rules, in any mode and profile.
pub(super) fn policy(chance: &mut Chance, built_in: &Policy) -> Policy {
    Policy {
        mode: chance.pick(&[Mode::Auto, Mode::Auto, Mode::Shadow, Mode::ConfirmAll]),
        strict: chance.one_in(4),
        permissions: Permissions::default(),
        ..built_in.clone()
    }
}

/// Pairs of marks, each once.
pub(super) fn pairs() -> impl Iterator<Item = Marks> {
    let all = Mark::ALL;
    (0..all.len()).flat_map(move |one| {
        (one + 1..all.len()).map(move |other| [all[one], all[other]].into_iter().collect::<Marks>())
    })
}
