//! Judging stored facts again: what two policies make of the same call, and which of them is the laxer.

use doorward_vocabulary::{Clearance, Source, Verdict, words};

use crate::facts::Facts;
use crate::judge::judge;
use crate::policy::Policy;
use crate::verdict::Judgement;

words! {
    /// Which way a judgement moves from one policy to another.
    Shift {
        Laxer = "laxer" : "a laxer verdict, or the same one that is easier to clear",
        Stricter = "stricter" : "a stricter verdict, or the same one that is harder to clear",
    }
}

words! {
    /// What a change of policy means for the version of a ruleset.
    SemverBump {
        Patch = "patch" : "no verdict moves",
        Minor = "minor" : "some get stricter, none gets laxer",
        Major = "major" : "some get laxer",
    }
}

/// What decides about a call: the verdict, and who may clear it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    pub verdict: Verdict,
    pub cleared_by: Option<Clearance>,
    pub settled_by: Source,
    pub rule: Option<String>,
}

impl Ruling {
    pub fn of(judgement: &Judgement) -> Ruling {
        Ruling {
            verdict: judgement.verdict,
            cleared_by: judgement.cleared_by,
            settled_by: judgement.settled_by,
            rule: judgement.rule.clone(),
        }
    }

    /// Which way it is from this one to the other; `None` if neither is laxer.
    pub fn shift_to(&self, after: &Ruling) -> Option<Shift> {
        let strictness = |ruling: &Ruling| (ruling.verdict, ruling.cleared_by);
        match strictness(after).cmp(&strictness(self)) {
            std::cmp::Ordering::Less => Some(Shift::Laxer),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(Shift::Stricter),
        }
    }
}

/// The same facts under two policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub before: Judgement,
    pub after: Judgement,
    pub shift: Option<Shift>,
}

/// Judges the same facts by two policies.
pub fn compare(facts: &Facts, old: &Policy, new: &Policy) -> Comparison {
    let (before, after) = (judge(facts, old), judge(facts, new));
    let shift = Ruling::of(&before).shift_to(&Ruling::of(&after));
    Comparison { before, after, shift }
}

impl SemverBump {
    /// What so many laxer and stricter verdicts mean.
    pub fn of(laxer: u64, stricter: u64) -> SemverBump {
        match (laxer, stricter) {
            (0, 0) => SemverBump::Patch,
            (0, _) => SemverBump::Minor,
            (_, _) => SemverBump::Major,
        }
    }

    /// The version that follows.
    pub fn after(self, [major, minor, patch]: [u32; 3]) -> [u32; 3] {
        match self {
            SemverBump::Patch => [major, minor, patch.saturating_add(1)],
            SemverBump::Minor => [major, minor.saturating_add(1), 0],
            SemverBump::Major => [major.saturating_add(1), 0, 0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DescribedWorld, Description, Pattern, ToolCall, observe};

    fn shift(command: &str, change: impl Fn(&mut Policy)) -> Option<Shift> {
        let world = DescribedWorld::new(Description::default(), "/home/me/project");
        let facts = observe(&ToolCall::bash(command, "/home/me/project"), &world);
        let old = Policy::built_in();
        let mut new = old.clone();
        change(&mut new);
        let there = compare(&facts, &old, &new).shift;
        let back = compare(&facts, &new, &old).shift;
        assert_eq!(there.is_none(), back.is_none(), "{command}");
        assert!(there.is_none() || there != back, "{command}");
        there
    }

    #[test]
    fn a_change_of_policy_moves_what_it_is_about_and_nothing_else() {
        let deny = |policy: &mut Policy| policy.permissions.deny.extend(Pattern::parse("bash(ls*)"));
        assert_eq!(shift("ls -la", deny), Some(Shift::Stricter));
        assert_eq!(shift("git push", deny), None);
        assert_eq!(shift("git status", |_| {}), None);
    }

    #[test]
    fn the_version_follows_from_behaviour() {
        let next = |laxer, stricter| SemverBump::of(laxer, stricter).after([1, 2, 3]);
        assert_eq!(next(0, 0), [1, 2, 4]);
        assert_eq!(next(0, 9), [1, 3, 0]);
        assert_eq!(next(1, 9), [2, 0, 0]);
    }
}
