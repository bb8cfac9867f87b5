//! From a judgement to what the agent is told.

use doorward_engine::{Facts, Judgement, Mode, Verdict};

use super::waiting::{self, Asking};
use crate::hook::agents::Decision;
use crate::hook::grant_check::Settled;
use crate::machine::visible;
use crate::memory::wording::{Telling, of_problem, tell};

/// How a call is settled besides the judgement.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    pub mode: Mode,
    /// Who can answer a question, and where.
    pub asking: Asking,
    /// What is wrong with the configuration.
    pub problems: &'a [String],
}

/// What the agent is told. Where the agent cannot ask, the answer must come from elsewhere.
pub fn settle(judgement: &Judgement, facts: &Facts, terms: Terms<'_>) -> Settled {
    let told = told(judgement, facts, terms);
    let decision = decided(judgement, terms, |start| visible(&told.after(start)).into_owned());
    Settled { decision, way: told.way }
}

fn decided(judgement: &Judgement, terms: Terms<'_>, say: impl Fn(&str) -> String) -> Decision {
    let verdict = match terms.mode {
        Mode::Off | Mode::Shadow => return Decision::Silent,
        Mode::ConfirmAll => judgement.verdict.max(Verdict::Confirm),
        Mode::Auto => judgement.verdict,
    };
    match (verdict, terms.asking) {
        (Verdict::AutoApprove, _) => Decision::Allow(say("doorward approves:")),
        (Verdict::Confirm, Asking::Here | Asking::Perhaps) if !crate::hook::grant_check::is_for_one_key(judgement) => {
            Decision::Deny(say("doorward needs more than a key because"))
        }
        (Verdict::Confirm, Asking::Classifier) if terms.mode == Mode::Auto => Decision::Silent,
        (Verdict::Confirm, Asking::Here | Asking::Perhaps) => Decision::Ask(say("doorward asks because")),
        (Verdict::Confirm, Asking::Classifier | Asking::Elsewhere | Asking::Nobody) => {
            Decision::Deny(say(waiting::NEEDED))
        }
        (Verdict::Block, _) => {
            Decision::Deny(say("doorward blocks this because").replacen("because this ", "because it ", 1))
        }
    }
}

/// A person elsewhere may still answer what the agent is about to be told.
pub fn may_wait(judgement: &Judgement, terms: Terms<'_>) -> bool {
    let is_question = match terms.mode {
        Mode::Off | Mode::Shadow => false,
        Mode::ConfirmAll => judgement.verdict <= Verdict::Confirm,
        Mode::Auto => judgement.verdict == Verdict::Confirm,
    };
    is_question && matches!(terms.asking, Asking::Elsewhere | Asking::Nobody)
}

/// What is wrong with the configuration comes first: it is why everything is asked about.
fn told(judgement: &Judgement, facts: &Facts, terms: Terms<'_>) -> Telling {
    if let Some(problem) = terms.problems.first() {
        return of_problem(problem, facts.home.as_deref());
    }
    if terms.mode == Mode::ConfirmAll && judgement.verdict == Verdict::AutoApprove {
        return Telling {
            reason: "this agent is in mode `confirm-all`; in `auto` it would just run".to_owned(),
            way: None,
        };
    }
    tell(judgement, facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_engine::{Policy, Source};

    fn judged(verdict: Verdict) -> Judgement {
        let mut judgement = crate::memory::evaluation::asking("because", &Policy::built_in());
        judgement.verdict = verdict;
        judgement.settled_by = Source::Rule;
        for opinion in &mut judgement.opinions {
            opinion.verdict = verdict;
        }
        judgement
    }

    fn facts() -> Facts {
        let world = doorward_engine::DescribedWorld::new(doorward_engine::Description::default(), "/");
        crate::memory::evaluation::consider(&doorward_engine::ToolCall::bash("ls", "/"), &world, &Policy::built_in())
            .facts
    }

    #[test]
    fn what_the_agent_is_told_depends_on_mode_and_on_whether_somebody_can_answer() {
        let said =
            |verdict, mode, asking| match settle(&judged(verdict), &facts(), Terms { mode, asking, problems: &[] })
                .decision
            {
                Decision::Allow(_) => "allow",
                Decision::Ask(_) => "ask",
                Decision::Deny(_) => "deny",
                Decision::Silent => "silent",
            };
        for (verdict, mode, asking, expected) in [
            (Verdict::AutoApprove, Mode::Auto, Asking::Here, "allow"),
            (Verdict::AutoApprove, Mode::Auto, Asking::Nobody, "allow"),
            (Verdict::AutoApprove, Mode::ConfirmAll, Asking::Here, "ask"),
            (Verdict::AutoApprove, Mode::ConfirmAll, Asking::Nobody, "deny"),
            (Verdict::Confirm, Mode::Auto, Asking::Here, "ask"),
            (Verdict::Confirm, Mode::Auto, Asking::Nobody, "deny"),
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
        let Decision::Ask(said) = settle(&judgement, &facts(), terms).decision else { panic!("a question") };
        assert!(!said.contains("9 calls"), "{said}");
    }
}
