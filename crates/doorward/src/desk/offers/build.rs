//! Builds the narrowest rule from approved calls: their exact text, or with one plain word left open.

use std::collections::BTreeSet;

use doorward_engine::{
    AcceptedHistory, Clearance, Effect, Facts, Intent, Mark, Operation, Policy, Reversibility, Scope, Source, Verdict,
    is_plain_word, judge, kind, question, texts_of,
};

use super::{OverriddenCall, Remedy};
use crate::hook::offer_hint::may_be_offered;
use crate::machine::clock::now_ms;
use crate::policy::from_history::{AcceptedOffer, CallMatch, id_of};

/// More different texts than this are not a habit.
// An offer binds the texts letter for letter; a person can check a dozen of them before accepting, not fifty.
const TEXTS: usize = 12;

/// How many words of a command never vary: the program and its subcommand.
// `git push` and `git reset` differ in the second word. If that could vary, a rule for one would cover the other.
const FIXED: usize = 2;

/// Why nothing can be offered, if so.
pub(super) fn without_item(answers: &[OverriddenCall], policy: &Policy) -> Option<Remedy> {
    if answers.iter().any(|yes| !yes.facts.project_trusted) {
        return Some(Remedy::Trust);
    }
    let is_soft = |yes: &OverriddenCall| {
        let judgement = judge(&yes.facts, policy);
        judgement.verdict == Verdict::Confirm && judgement.cleared_by == Some(Clearance::Soft)
    };
    (!answers.iter().any(is_soft)).then_some(Remedy::Nothing("no rule may answer this question, only you"))
}

/// Possible offers, the most helpful first.
pub(super) fn ways((pattern, project): (&str, &str), answers: &[OverriddenCall], policy: &Policy) -> Vec<Remedy> {
    let item = |calls: Option<CallMatch>| AcceptedOffer {
        id: id_of(pattern, Some(project)),
        pattern: pattern.into(),
        project: Some(project.to_owned()),
        calls,
        let_run: u32::try_from(answers.len()).unwrap_or(u32::MAX),
        at_ms: now_ms(),
        ..AcceptedOffer::default()
    };
    let asked: Vec<AskedAbout> = answers.iter().filter_map(|yes| AskedAbout::of(&yes.facts, policy)).collect();
    let tool = answers.first().map(|yes| yes.facts.tool.clone()).unwrap_or_default();
    let calls = |texts: Vec<String>| CallMatch {
        tool: tool.clone(),
        texts,
        kinds: joined(asked.iter().flat_map(|one| one.kinds.iter())),
        questions: joined(asked.iter().flat_map(|one| one.questions.iter())),
    };
    let mut ways = Vec::new();
    if asked.is_empty() {
        return ways;
    }
    let texts = joined(asked.iter().flat_map(|one| one.texts.iter()));
    if asked.iter().all(|one| one.is_mild)
        && let Some(open) = with_open_word(&texts)
    {
        ways.push(Remedy::Rule(item(Some(calls(vec![open])))));
    }
    // A word that already looks like a pattern would match anything.
    let is_open = texts.iter().any(|text| text.split(' ').any(|word| word == "*"));
    if !texts.is_empty() && texts.len() <= TEXTS && !is_open {
        ways.push(Remedy::Rule(item(Some(calls(texts)))));
    }
    if asked.iter().all(|one| one.questions.iter().all(|asked| asked == Source::Score.as_str())) {
        ways.push(Remedy::Past(item(None)));
    }
    ways
}

/// The facts as they would be if the pattern's history counted.
pub(super) fn with_past(facts: &Facts, item: &AcceptedOffer) -> Facts {
    let mut with = facts.clone();
    if item.calls.is_none() {
        let past = AcceptedHistory { let_run: item.let_run, decisions: item.let_run, on: item.date() };
        (with.counts.override_rate, with.counts.accepted) = (Some(past.rate()), Some(past));
    }
    with
}

/// What is asked about in one call.
struct AskedAbout {
    texts: Vec<String>,
    kinds: Vec<String>,
    questions: Vec<String>,
    /// It can be undone inside the project.
    is_mild: bool,
}

impl AskedAbout {
    /// `None` if a rule can't answer all of it.
    fn of(facts: &Facts, policy: &Policy) -> Option<AskedAbout> {
        let judgement = judge(facts, policy);
        if !may_be_offered(&judgement) {
            return None;
        }
        let asking = judgement.opinions.iter().filter(|opinion| opinion.verdict != Verdict::AutoApprove);
        let is_asked = |effect: &&Effect| {
            let alone = Facts { effects: vec![(*effect).clone()], intent: Intent::default(), ..facts.clone() };
            judge(&alone, policy).verdict != Verdict::AutoApprove
        };
        let mut effects: Vec<&Effect> = facts.effects.iter().filter(is_asked).collect();
        if effects.is_empty() {
            effects = facts.effects.iter().collect();
        }
        let texts = effects.iter().filter_map(|effect| texts_of(facts, effect).into_iter().next());
        Some(AskedAbout {
            texts: texts.collect(),
            kinds: effects.iter().map(|effect| kind(facts, effect)).collect(),
            questions: asking.map(question).collect(),
            is_mild: facts.tool == "bash" && effects.iter().all(|effect| is_mild(effect)),
        })
    }
}

/// Any other operand would be just as harmless: nothing is lost, nothing unknown runs, nothing comes from outside.
fn is_mild(effect: &Effect) -> bool {
    let is_own = matches!(effect.scope, Scope::Scratch | Scope::File | Scope::Directory | Scope::Project);
    match effect.operation {
        Operation::Read | Operation::Write | Operation::Mutate => {
            is_own && effect.reversibility < Reversibility::Irreversible && !effect.marks.has(Mark::InstallChosen)
        }
        Operation::Network | Operation::Execute | Operation::Delete => false,
    }
}

/// The texts merged into one, if they differ only in one plain word after the subcommand.
fn with_open_word(texts: &[String]) -> Option<String> {
    let words: Vec<Vec<&str>> = texts.iter().map(|text| text.split(' ').collect()).collect();
    let first = words.first()?;
    if texts.len() < 2 || words.iter().any(|all| all.len() != first.len() || all.contains(&"*")) {
        return None;
    }
    let at = |place: usize| words.iter().filter_map(move |all| all.get(place).copied());
    let differs = |place: &usize| at(*place).any(|word| first.get(*place) != Some(&word));
    let places: Vec<usize> = (0..first.len()).filter(differs).collect();
    let [place] = places.as_slice() else { return None };
    if *place < FIXED || !at(*place).all(is_plain_word) {
        return None;
    }
    let open = first.iter().enumerate().map(|(at, word)| if at == *place { "*" } else { word });
    Some(open.collect::<Vec<&str>>().join(" "))
}

fn joined<'a>(all: impl Iterator<Item = &'a String>) -> Vec<String> {
    all.collect::<BTreeSet<&String>>().into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plain_word_behind_the_subcommand_may_vary() {
        let open = |texts: &[&str]| with_open_word(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(open(&["git push origin a", "git push origin b"]).as_deref(), Some("git push origin *"));
        for texts in [
            &["git push origin a"][..],
            &["git push origin a", "git push upstream b"],
            &["git push origin", "git fetch origin"],
            &["git push origin a", "git push origin --force"],
            &["git push origin a", "git push origin b c"],
        ] {
            assert_eq!(open(texts), None, "{texts:?}");
        }
    }
}
