//! Facts by chance: seeded, so that a failure can be had again.

use doorward_engine::knowledge::rule::{Mask, Rule, When};
use doorward_engine::{
    Clearance, Counts, Coverage, Degree, Effect, Facts, Flow, FlowKind, Intent, Mark, Marks, Operation, Part, Reach,
    Reversibility, Scope, Sensitivity, Stage, Target, Verdict,
};

/// A small generator of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.number() % limit as u64).unwrap()
    }

    pub fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub fn marks(&mut self, most: usize) -> Marks {
        (0..self.below(most + 1)).map(|_| self.pick(Mark::ALL)).collect()
    }

    pub fn effect(&mut self) -> Effect {
        let target = match self.below(5) {
            0 => Target::Host("unlisted.example".into()),
            1 => Target::Program("frob".into()),
            2 => Target::Resource("thing".into()),
            3 => Target::Unknown,
            _ => Target::Path("/home/dev/project/src/lib.rs".into()),
        };
        let mut effect = Effect::new(self.pick(Operation::ALL), target);
        effect.scope = self.pick(Scope::ALL);
        effect.reversibility = self.pick(Reversibility::ALL);
        effect.reach = self.pick(Reach::ALL);
        // Most effects of most calls are harmless; without this nothing would ever be approved.
        if self.one_in(2) {
            effect.reversibility = Reversibility::NothingChanges;
            effect.reach = Reach::Workspace;
        }
        if self.one_in(4) {
            effect.sensitivity = self.pick(Sensitivity::ALL);
        }
        if self.one_in(2) {
            effect.marks = self.marks(3);
        }
        effect
    }

    pub fn flow(&mut self) -> Flow {
        Flow { kind: self.pick(FlowKind::ALL), from: Part::default(), to: Part::default() }
    }

    pub fn facts(&mut self) -> Facts {
        let degree = if self.one_in(3) { self.pick(Degree::ALL) } else { Degree::Full };
        let effects: Vec<Effect> = (0..self.below(4)).map(|_| self.effect()).collect();
        let flows = if self.one_in(4) { vec![self.flow()] } else { Vec::new() };
        Facts {
            tool: self.pick(&["bash", "write", "read", "mcp", "Frobnicate"]).to_owned(),
            subject: "frob --all".into(),
            commands: vec!["frob --all".into()],
            effects,
            flows,
            coverage: Coverage { degree, because: vec!["chance".into()] },
            taint: if self.one_in(6) { vec!["secret-read".into()] } else { Vec::new() },
            intent: Intent {
                consent: self.one_in(5).then(|| "yes, do it".into()),
                boundary: self.one_in(9).then(|| "do not push".into()),
            },
            counts: self.counts(),
            pattern: "bash · nothing".into(),
            agent: "claude".into(),
            attended: self.one_in(2),
            cancelled: self.one_in(20),
            project_trusted: !self.one_in(5),
        }
    }

    fn counts(&mut self) -> Counts {
        let much = self.one_in(8);
        Counts {
            reads_last_minute: if much { 500 } else { 3 },
            reads_last_seconds: 1,
            denials_in_a_row: u32::from(self.one_in(8)) * 4,
            denials: 4,
            override_rate: self.one_in(3).then(|| self.below(1000) as f64 / 1000.0),
        }
    }

    /// A rule over a random conjunction that asks or blocks.
    pub fn stricter_rule(&mut self, stage: Stage) -> Rule {
        let mut when = When { all: self.marks(1), any: self.marks(2), none: self.marks(1), ..When::default() };
        let mut mask = |words: usize| {
            let mut mask = Mask::default();
            if self.one_in(2) {
                (0..self.below(3)).for_each(|_| mask.add(u8::try_from(self.below(words)).unwrap()));
            }
            mask
        };
        when.operation = mask(Operation::ALL.len());
        when.scope = mask(Scope::ALL.len());
        when.reversibility = mask(Reversibility::ALL.len());
        when.reach = mask(Reach::ALL.len());
        when.coverage = mask(Degree::ALL.len());
        Rule {
            id: "by-chance".into(),
            verdict: self.pick(&[Verdict::Confirm, Verdict::Block]),
            version: 1,
            stage,
            clears: Some(self.pick(Clearance::ALL)),
            since: "0".into(),
            audited: "0".into(),
            what: "by chance".into(),
            why: "by chance".into(),
            instead: "nothing".into(),
            when,
        }
    }
}
