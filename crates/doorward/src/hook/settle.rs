//! From a judgement to what the agent is told.

use doorward_engine::{Judgement, Mode, Opinion, Source, Verdict};

use super::waiting::{self, Asking};
use crate::agents::Decision;
use crate::screen::visible;

/// More reasons than an agent or a person reads.
const REASONS: usize = 3;

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
pub fn settle(judgement: &Judgement, terms: Terms<'_>) -> Decision {
    let verdict = match terms.mode {
        Mode::Off | Mode::Shadow => return Decision::Silent,
        Mode::ConfirmAll => judgement.verdict.max(Verdict::Confirm),
        Mode::Auto => judgement.verdict,
    };
    let why = why(judgement, terms);
    match (verdict, terms.asking) {
        (Verdict::AutoApprove, _) => Decision::Allow(format!("doorward approves: {why}")),
        (Verdict::Confirm, Asking::Here | Asking::Perhaps) if !crate::grants::is_for_one_key(judgement) => {
            Decision::Deny(format!("doorward needs more than a key: {why}"))
        }
        (Verdict::Confirm, Asking::Here) => Decision::Ask(format!("doorward asks: {why}")),
        (Verdict::Confirm, Asking::Perhaps | Asking::Elsewhere | Asking::Nobody) => {
            waiting::unanswered(&why, terms.asking)
        }
        (Verdict::Block, _) => Decision::Deny(format!("doorward blocks: {why}")),
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

fn why(judgement: &Judgement, terms: Terms<'_>) -> String {
    let mut reasons: Vec<String> =
        terms.problems.iter().map(|problem| format!("the configuration cannot be trusted: {problem}")).collect();
    if terms.mode == Mode::ConfirmAll {
        reasons.push("mode `confirm-all` approves nothing".to_owned());
    }
    // What a reviewer said comes first: it is about this very call.
    let (reviewed, others): (Vec<&Opinion>, Vec<&Opinion>) =
        judgement.reasons_to_read().partition(|opinion| opinion.source == Source::Review);
    reasons.extend(reviewed.into_iter().chain(others.into_iter().take(REASONS)).map(reason));
    reasons.dedup();
    visible(&reasons.join("; ")).into_owned()
}

fn reason(opinion: &Opinion) -> String {
    let mut text = opinion.because.clone();
    if let Some(rule) = &opinion.rule {
        text.push_str(&format!(" (rule {rule})"));
    }
    match &opinion.instead {
        Some(instead) if !instead.is_empty() => text.push_str(&format!("; instead: {instead}")),
        Some(_) | None => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_engine::Policy;

    fn judged(verdict: Verdict) -> Judgement {
        let mut judgement = crate::judging::asking("because", &Policy::built_in());
        judgement.verdict = verdict;
        judgement.settled_by = Source::Rule;
        for opinion in &mut judgement.opinions {
            opinion.verdict = verdict;
        }
        judgement
    }

    #[test]
    fn what_the_agent_is_told_depends_on_mode_and_on_whether_somebody_can_answer() {
        let said = |verdict, mode, asking| match settle(&judged(verdict), Terms { mode, asking, problems: &[] }) {
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
        let limit = Opinion::confirm(Source::Limit, doorward_engine::Clearance::Firm, "9 calls were denied in a row");
        judgement.opinions.insert(0, limit);
        let terms = Terms { mode: Mode::Auto, asking: Asking::Here, problems: &[] };
        let Decision::Ask(said) = settle(&judgement, terms) else { panic!("a question") };
        assert!(said.find("because").unwrap() < said.find("9 calls").unwrap(), "{said}");
    }
}
