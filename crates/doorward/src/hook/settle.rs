//! Turns a judgement into the answer for the agent.

use doorward_engine::{Mode, Verdict};

use super::recorded::Draft;
use super::waiting::{self, Asking};
use crate::hook::grant_check::is_for_one_key;
use crate::machine::visible;
use crate::memory::evaluation::Evaluation;
use crate::memory::wording::{Explanation, explain, of_problem};

/// What the answer depends on besides the judgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms<'a> {
    pub mode: Mode,
    /// Who can answer a question, and where.
    pub asking: Asking,
    /// Problems with the configuration.
    pub problems: &'a [String],
}

/// The answer, and what else can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) struct Settled {
    /// The answer with nothing but its reason.
    pub draft: Draft,
    /// What to do instead, or about it.
    pub advice: Option<String>,
}

/// The answer. If the agent can't ask, a question becomes a refusal that says where to answer it.
pub(super) fn settle(evaluation: &Evaluation, terms: Terms<'_>) -> Settled {
    let explanation = explain_call(evaluation, terms);
    let draft = drafted(evaluation, terms, |start| visible(&explanation.after(start)).into_owned());
    Settled { draft, advice: explanation.way }
}

fn drafted(evaluation: &Evaluation, terms: Terms<'_>, say: impl Fn(&str) -> String) -> Draft {
    let Some(verdict) = evaluation.counts_as(terms.mode) else { return Draft::Silent };
    match (verdict, terms.asking) {
        (Verdict::AutoApprove, _) => Draft::Allow(say("doorward approves:")),
        // The client's prompt takes one key. What needs the target typed must not be offered there.
        (Verdict::Confirm, Asking::Here | Asking::Perhaps) if !is_for_one_key(&evaluation.judgement) => {
            Draft::Deny(say("doorward needs more than a key because"))
        }
        // Silence hands the call to the client, whose classifier decides; any word of ours would decide it.
        (Verdict::Confirm, Asking::Classifier) if terms.mode == Mode::Auto => Draft::Silent,
        (Verdict::Confirm, Asking::Here | Asking::Perhaps) => Draft::Ask(say("doorward asks because")),
        (Verdict::Confirm, Asking::Classifier | Asking::Elsewhere | Asking::NoOne) => Draft::Deny(say(waiting::NEEDED)),
        (Verdict::Block, _) => {
            Draft::Deny(say("doorward blocks this because").replacen("because this ", "because it ", 1))
        }
    }
}

/// Someone elsewhere may still answer the question, so the call can wait.
pub(super) fn may_wait(evaluation: &Evaluation, mode: Mode, asking: Asking) -> bool {
    evaluation.counts_as(mode) == Some(Verdict::Confirm) && matches!(asking, Asking::Elsewhere | Asking::NoOne)
}

/// A problem with the configuration comes first: it is why everything is asked about.
fn explain_call(evaluation: &Evaluation, terms: Terms<'_>) -> Explanation {
    let Evaluation { facts, judgement, .. } = evaluation;
    if let Some(problem) = terms.problems.first() {
        return of_problem(problem, facts.home.as_deref());
    }
    if terms.mode == Mode::ConfirmAll && judgement.verdict == Verdict::AutoApprove {
        return Explanation {
            reason: "this agent is in mode `confirm-all`; in `auto` it would just run".to_owned(),
            way: None,
        };
    }
    explain(judgement, facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_engine::{Judgement, Policy, Source};

    fn judged(verdict: Verdict) -> Judgement {
        let mut judgement = crate::memory::evaluation::ask_because("because", &Policy::built_in());
        judgement.verdict = verdict;
        judgement.settled_by = Source::Rule;
        for opinion in &mut judgement.opinions {
            opinion.verdict = verdict;
        }
        judgement
    }

    fn evaluated(judgement: Judgement) -> Evaluation {
        let world = doorward_engine::DescribedWorld::new(doorward_engine::Description::default(), "/");
        let call = doorward_engine::ToolCall::bash("ls", "/");
        Evaluation { judgement, ..crate::memory::evaluation::evaluate(&call, &world, &Policy::built_in()) }
    }

    #[test]
    fn what_the_agent_is_told_depends_on_mode_and_on_whether_somebody_can_answer() {
        let said =
            |verdict, mode, asking| match settle(&evaluated(judged(verdict)), Terms { mode, asking, problems: &[] })
                .draft
            {
                Draft::Allow(_) => "allow",
                Draft::Ask(_) => "ask",
                Draft::Deny(_) => "deny",
                Draft::Silent => "silent",
            };
        for (verdict, mode, asking, expected) in [
            (Verdict::AutoApprove, Mode::Auto, Asking::Here, "allow"),
            (Verdict::AutoApprove, Mode::Auto, Asking::NoOne, "allow"),
            (Verdict::AutoApprove, Mode::ConfirmAll, Asking::Here, "ask"),
            (Verdict::AutoApprove, Mode::ConfirmAll, Asking::NoOne, "deny"),
            (Verdict::Confirm, Mode::Auto, Asking::Here, "ask"),
            (Verdict::Confirm, Mode::Auto, Asking::NoOne, "deny"),
            (Verdict::Confirm, Mode::Auto, Asking::Elsewhere, "deny"),
            (Verdict::Confirm, Mode::Auto, Asking::Perhaps, "ask"),
            (Verdict::Confirm, Mode::Auto, Asking::Classifier, "silent"),
            (Verdict::Confirm, Mode::ConfirmAll, Asking::Classifier, "deny"),
            (Verdict::Block, Mode::Auto, Asking::Classifier, "deny"),
            (Verdict::Block, Mode::Auto, Asking::Here, "deny"),
            (Verdict::Block, Mode::ConfirmAll, Asking::Here, "deny"),
            (Verdict::Block, Mode::Shadow, Asking::Here, "silent"),
            (Verdict::Block, Mode::Off, Asking::Here, "silent"),
        ] {
            assert_eq!(said(verdict, mode, asking), expected, "{verdict} {mode} {asking:?}");
        }
    }

    #[test]
    fn what_is_wrong_with_the_call_comes_before_how_often_others_were_denied() {
        let mut judgement = judged(Verdict::Confirm);
        let limit = doorward_engine::Opinion::confirm(
            Source::Limit,
            doorward_engine::Clearance::Firm,
            "9 calls were denied in a row",
        );
        judgement.opinions.insert(0, limit);
        let terms = Terms { mode: Mode::Auto, asking: Asking::Here, problems: &[] };
        let Draft::Ask(said) = settle(&evaluated(judgement), terms).draft else { panic!("a question") };
        assert!(!said.contains("9 calls"), "{said}");
    }
}
