//! Facts by chance: seeded, so that a failure can be had again.

use doorward_engine::knowledge::rule::{Mask, Rule, When};
use doorward_engine::{
    Clearance, Counts, Coverage, Degree, Effect, Facts, Flow, FlowKind, Intent, Mark, Marks, Operation, Part, Reach,
    Reversibility, Scope, Sensitivity, Stage, Target, Verdict,
};

/// A small generator of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.number() % limit as u64).unwrap()
    }

    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(crate) fn marks(&mut self, most: usize) -> Marks {
        (0..self.below(most + 1)).map(|_| self.pick(Mark::ALL)).collect()
    }

    pub(crate) fn effect(&mut self) -> Effect {
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

    /// An effect that a rule is about: only there do rules and dimensions meet.
    pub(crate) fn effect_near(&mut self, rules: &[Rule]) -> Effect {
        let mut effect = self.effect();
        let when = &rules[self.below(rules.len())].when;
        effect.operation = self.asked(when.operation, Operation::ALL, effect.operation);
        effect.scope = self.asked(when.scope, Scope::ALL, effect.scope);
        effect.reversibility = self.asked(when.reversibility, Reversibility::ALL, effect.reversibility);
        effect.reach = self.asked(when.reach, Reach::ALL, effect.reach);
        effect.sensitivity = self.asked(when.sensitivity, Sensitivity::ALL, effect.sensitivity);
        let any: Vec<Mark> = when.any.iter().collect();
        effect.marks.union(when.all);
        if !any.is_empty() {
            effect.marks.add(self.pick(&any));
        }
        when.none.iter().for_each(|mark| effect.marks.remove(mark));
        effect
    }

    /// One of the words that a rule asks for, or the one that is there if it asks for none.
    fn asked<T: Copy>(&mut self, mask: Mask, all: &[T], now: T) -> T {
        let words: Vec<T> =
            all.iter().zip(0u8..).filter(|(_, index)| mask.0 & (1 << index) != 0).map(|(word, _)| *word).collect();
        if words.is_empty() { now } else { self.pick(&words) }
    }

    pub(crate) fn flow(&mut self) -> Flow {
        Flow { kind: self.pick(FlowKind::ALL), from: Part::default(), to: Part::default() }
    }

    /// Facts by chance, half of their effects near one of the rules.
    pub(crate) fn facts(&mut self, rules: &[Rule]) -> Facts {
        let degree = if self.one_in(3) { self.pick(Degree::ALL) } else { Degree::Full };
        let effects: Vec<Effect> =
            (0..self.below(4)).map(|_| if self.one_in(2) { self.effect_near(rules) } else { self.effect() }).collect();
        let flows = if self.one_in(4) { vec![self.flow()] } else { Vec::new() };
        let covers = (0u32..4).filter(|_| self.one_in(2)).collect();
        Facts {
            tool: self.pick(&["bash", "write", "read", "mcp", "Frobnicate"]).to_owned(),
            subject: "frob --all".into(),
            commands: vec!["frob --all".into()],
            directories: Vec::new(),
            effects,
            flows,
            arrivals: Vec::new(),
            lingers: false,
            built: None,
            left: Vec::new(),
            coverage: Coverage { degree, because: vec!["chance".into()] },
            taint: if self.one_in(6) { vec!["secret-read".into()] } else { Vec::new() },
            intent: Intent {
                consent: self.one_in(5).then(|| "yes, do it".into()),
                covers,
                boundary: self.one_in(9).then(|| "do not push".into()),
            },
            review: None,
            contained: None,
            boxed: false,
            counts: self.counts(),
            pattern: "bash · nothing".into(),
            agent: "claude".into(),
            attended: self.one_in(2),
            cancelled: self.one_in(20),
            project_trusted: !self.one_in(5),
            project: Some("/home/dev/project".into()),
            home: Some("/home/dev".into()),
        }
    }

    /// One effect near a rule and nothing else: whatever changes the verdict then is that effect.
    pub(crate) fn calm_facts(&mut self, rules: &[Rule]) -> Facts {
        let mut facts = self.facts(rules);
        facts.effects = vec![self.effect_near(rules)];
        facts.flows.clear();
        facts.taint.clear();
        facts.coverage = Coverage::full();
        facts.intent = Intent::default();
        facts.counts = Counts::default();
        facts.cancelled = false;
        facts
    }

    fn counts(&mut self) -> Counts {
        let much = self.one_in(8);
        Counts {
            reads_last_minute: if much { 500 } else { 3 },
            reads_last_seconds: 1,
            denials_in_a_row: u32::from(self.one_in(8)) * 4,
            restorable: u32::from(self.one_in(8)) * 70,
            denials: 4,
            override_rate: self.one_in(3).then(|| self.below(1000) as f64 / 1000.0),
            accepted: None,
            observed_overrides: None,
        }
    }

    /// A rule over a random conjunction that asks or blocks.
    pub(crate) fn stricter_rule(&mut self, stage: Stage) -> Rule {
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
