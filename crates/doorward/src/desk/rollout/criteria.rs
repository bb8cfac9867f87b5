//! The criteria for promotion to the next stage, each with the required and the actual figure.

use std::collections::BTreeSet;

use doorward_vocabulary::{Mode, Verdict};
use serde::Serialize;

use crate::memory::rollout_evidence::{Answer, Comparison, JudgedCall};
use crate::policy::rollout::stage::RolloutStage;
use crate::policy::rollout::state::{Subject, Trial};
use crate::policy::rollout::trial::{Arm, Pairing, TrialResult, TrialState};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Older evidence does not count for a promotion.
// Rules, models and habits change; what someone agreed to last quarter does not show that they agree today.
pub(crate) const WINDOW_MS: u64 = 30 * DAY_MS;

/// What an agent needs to leave `confirm-all` and `shadow`: this many agreements, over this many patterns, and no
/// disagreements. A normal first day has them.
// With no disagreement in 20, the true rate is below 14 % at 95 % confidence: enough for a step that still asks.
const AGREEMENTS: usize = 20;
// Twenty times `cargo test` would prove nothing about anything else.
const PATTERNS: usize = 5;

/// What it needs to leave a canary: decisions, sessions, decisions that the user reacted to, and the share of these that
/// matched what the user wanted.
// The canary is the last step before all sessions, so it needs ten times the evidence.
const CANARY_DECISIONS: usize = 200;
// Calls of one session resemble each other; five sessions are the fewest that vary.
const CANARY_SESSIONS: usize = 5;
// Silence is no agreement. Only calls the user reacted to count for the rate below.
const CANARY_ANSWERED: usize = 50;
// One mistake in fifty is what people put up with before they switch a guard off.
const CANARY_AGREEMENT: f64 = 0.98;

/// What a rule needs: decisions it saw, how many it had an opinion on, and the maximum number of questions it would add.
const RULE_DECISIONS: usize = 100;
const RULE_SPOKE: usize = 3;
// A rule that asks about more than two calls in a hundred trains people to say yes.
const RULE_ADDS: f64 = 0.02;
// A question answered with yes more often than not is noise.
const RULE_OVERRIDDEN: f64 = 0.5;

/// One condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Criterion {
    pub what: String,
    pub wanted: String,
    pub found: String,
    pub met: bool,
}

impl Criterion {
    fn least(what: &str, wanted: usize, found: usize) -> Criterion {
        let (met, wanted, found) = (found >= wanted, format!("at least {wanted}"), found.to_string());
        Criterion { what: what.to_owned(), wanted, found, met }
    }

    fn none(what: &str, found: usize) -> Criterion {
        Criterion { what: what.to_owned(), wanted: "none".to_owned(), found: found.to_string(), met: found == 0 }
    }

    /// What is missing, in a few words.
    pub(crate) fn missing(&self) -> String {
        format!("{}: {} (needs: {})", self.what, self.found, self.wanted)
    }
}

/// The criteria of an agent at a stage; none at the last.
pub(crate) fn of_agent(name: &str, stage: RolloutStage, seen: &[JudgedCall]) -> Vec<Criterion> {
    let mine: Vec<&JudgedCall> = seen.iter().filter(|seen| seen.agent == name).collect();
    match stage {
        RolloutStage::ConfirmAll | RolloutStage::Shadow => of_answers(&mine),
        RolloutStage::Canary => {
            of_canary(&mine.into_iter().filter(|seen| seen.mode == Some(Mode::Auto)).collect::<Vec<&JudgedCall>>())
        }
        RolloutStage::Auto => Vec::new(),
    }
}

/// For stages where doorward does not decide alone yet: the user's answers compared with what `auto` would have said.
fn of_answers(seen: &[&JudgedCall]) -> Vec<Criterion> {
    let held = |wanted: Comparison| seen.iter().filter(move |seen| seen.agreement() == Some(wanted));
    let patterns: BTreeSet<&str> = held(Comparison::Agreement).map(|seen| seen.pattern.as_str()).collect();
    let mut criteria = vec![
        Criterion::least("agreements: yes to what `auto` approves", AGREEMENTS, held(Comparison::Agreement).count()),
        Criterion::least("patterns of calls among them", PATTERNS, patterns.len()),
        Criterion::none("disagreements: no to what `auto` approves", held(Comparison::Disagreement).count()),
    ];
    criteria.push(Criterion {
        what: "friction: yes to what `auto` stops".to_owned(),
        wanted: "any number".to_owned(),
        found: held(Comparison::Friction).count().to_string(),
        met: true,
    });
    criteria
}

fn of_canary(seen: &[&JudgedCall]) -> Vec<Criterion> {
    let sessions: BTreeSet<&str> = seen.iter().map(|seen| seen.session.as_str()).collect();
    let answered: Vec<bool> = seen.iter().filter_map(|seen| seen.agrees()).collect();
    let agreed = answered.iter().filter(|agrees| **agrees).count();
    vec![
        Criterion::least("decisions", CANARY_DECISIONS, seen.len()),
        Criterion::least("sessions", CANARY_SESSIONS, sessions.len()),
        Criterion::least("approvals and blocks you reacted to", CANARY_ANSWERED, answered.len()),
        share("of these, as you wanted", (agreed, answered.len()), Requirement::Least(CANARY_AGREEMENT)),
        Criterion::none("regretted approvals", regretted(seen)),
    ]
}

/// The criteria for one of the user's rules.
pub(crate) fn of_rule(id: &str, stage: RolloutStage, seen: &[JudgedCall]) -> Vec<Criterion> {
    if stage == RolloutStage::Auto {
        return Vec::new();
    }
    let subject = Subject::Rule(id.to_owned());
    let counts = |seen: &&JudgedCall| stage != RolloutStage::Canary || seen.is_for(&subject);
    let seen: Vec<&JudgedCall> = seen.iter().filter(counts).collect();
    let speaks = |seen: &&&JudgedCall| seen.watched.iter().any(|rule| rule == id) || seen.rule.as_deref() == Some(id);
    let spoke: Vec<&&JudgedCall> = seen.iter().filter(speaks).collect();
    let adds = spoke.iter().filter(|seen| match stage {
        RolloutStage::Canary => seen.rule.as_deref() == Some(id),
        RolloutStage::ConfirmAll | RolloutStage::Shadow | RolloutStage::Auto => seen.would == Verdict::AutoApprove,
    });
    // The user wrote the rule, so answering yes to its question is not an override; but it shows the rule is not wanted.
    let is_let_run = |seen: &&&&JudgedCall| {
        seen.mode == Some(Mode::Auto) && seen.verdict != Verdict::AutoApprove && seen.answer == Some(Answer::LetRun)
    };
    let overridden = spoke.iter().filter(is_let_run).count();
    vec![
        Criterion::least("decisions", RULE_DECISIONS, seen.len()),
        Criterion::least("calls it has an opinion on", RULE_SPOKE, spoke.len()),
        share("questions that only this rule adds", (adds.count(), seen.len()), Requirement::Most(RULE_ADDS)),
        share(
            "of the calls it has an opinion on, overridden",
            (overridden, spoke.len()),
            Requirement::Most(RULE_OVERRIDDEN),
        ),
    ]
}

/// The criteria of thresholds on trial.
pub(crate) fn of_trial(trial: &Trial, stage: RolloutStage, seen: &[JudgedCall]) -> Vec<Criterion> {
    if stage == RolloutStage::Auto {
        return Vec::new();
    }
    let standing = standing(trial, seen);
    let regretted = regretted(&seen.iter().filter(|seen| seen.arm() == Some(Arm::B)).collect::<Vec<&JudgedCall>>());
    let is_enough = trial.only_asks_more && standing.verdict == TrialResult::Alike;
    vec![
        Criterion {
            what: "verdict of the stopping rule".to_owned(),
            wanted: if trial.only_asks_more { "better or alike" } else { "better" }.to_owned(),
            found: standing.verdict.as_str().to_owned(),
            met: standing.verdict == TrialResult::Better || is_enough,
        },
        Criterion::none("regretted approvals", regretted),
    ]
}

/// How a trial is doing, by the decisions since it started.
pub(crate) fn standing(trial: &Trial, seen: &[JudgedCall]) -> TrialState {
    let mut pairing = Pairing::new(&trial.stopping);
    // If every call is asked about, or none, thresholds make no difference.
    for seen in seen.iter().filter(|seen| seen.mode == Some(Mode::Auto) && !seen.session.is_empty()) {
        if let Some(arm) = seen.arm() {
            pairing.count_call(&seen.session, arm, seen.verdict == Verdict::Confirm);
        }
    }
    let mut standing = trial.stopping.follow(pairing.pairs().iter().copied());
    let of = |arm: Arm| regretted(&seen.iter().filter(|seen| seen.arm() == Some(arm)).collect::<Vec<&JudgedCall>>());
    if of(Arm::B) > of(Arm::A) {
        standing.verdict = TrialResult::Regretted;
    }
    standing
}

/// Calls that were approved, or would have been, and were regretted.
fn regretted(seen: &[&JudgedCall]) -> usize {
    seen.iter().filter(|seen| seen.would == Verdict::AutoApprove && seen.regretted_ms.is_some()).count()
}

enum Requirement {
    Least(f64),
    Most(f64),
}

fn share(what: &str, (part, whole): (usize, usize), bound: Requirement) -> Criterion {
    let rate = if whole == 0 { None } else { Some(part as f64 / whole as f64) };
    let percent = |rate: f64| format!("{:.0} %", rate * 100.0);
    let (wanted, met) = match bound {
        Requirement::Least(least) => (format!("at least {}", percent(least)), rate.is_some_and(|rate| rate >= least)),
        Requirement::Most(most) => (format!("at most {}", percent(most)), rate.is_none_or(|rate| rate <= most)),
    };
    let found = rate.map_or("-".to_owned(), |rate| format!("{:.1} % ({part} of {whole})", rate * 100.0));
    Criterion { what: what.to_owned(), wanted, found, met }
}

/// What each stage requires, in sentences.
pub(crate) fn sentences() -> Vec<(String, String)> {
    let since = format!("since the stage started, at most {} days back", WINDOW_MS / DAY_MS);
    let answers = format!(
        "each answer is compared with what `auto` would have said: at least {AGREEMENTS} agreements (yes to what it approves) over \
        at least {PATTERNS} patterns of calls, and no disagreements (no to what it approves, or regret); friction (yes to what it \
        stops) is shown but does not count against it; {since}"
    );
    let canary = format!(
        "at least {CANARY_DECISIONS} decisions in at least {CANARY_SESSIONS} sessions, at least {CANARY_ANSWERED} approvals and blocks \
        you reacted to, at least {:.0} % of these as you wanted, and no regretted approvals; {since}",
        CANARY_AGREEMENT * 100.0
    );
    let agent = |stage: RolloutStage, text: &str| {
        let next = stage.next().unwrap_or(stage);
        (format!("agent {stage} → {next}"), text.to_owned())
    };
    let mut stated = vec![
        agent(RolloutStage::ConfirmAll, &answers),
        agent(RolloutStage::Shadow, &answers),
        agent(RolloutStage::Canary, &canary),
    ];
    let rule = format!(
        "at least {RULE_DECISIONS} decisions, at least {RULE_SPOKE} calls the rule has an opinion on, at most {:.0} % more questions, \
        and at most {:.0} % of the calls it has an opinion on overridden",
        RULE_ADDS * 100.0,
        RULE_OVERRIDDEN * 100.0
    );
    stated.push(("rule shadow → canary → auto".to_owned(), rule));
    let trial = "the stopping rule says `better`, or `alike` for a set that never approves more, and no call that the set approved \
    was regretted"
        .to_owned();
    stated.push(("thresholds canary → auto".to_owned(), trial));
    stated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: usize, would: Verdict, answer: Option<Answer>) -> JudgedCall {
        let (session, pattern) = (format!("s{}", number % 7), format!("p{}", number % 6));
        JudgedCall {
            pattern: pattern.into(),
            agent: "claude".into(),
            session: session.into(),
            mode: Some(Mode::ConfirmAll),
            would,
            answer,
            ..JudgedCall::default()
        }
    }

    /// This many calls in which the user agreed with the judgement, and this many in which they did not.
    fn story(right: usize, wrong: usize, questions: usize) -> Vec<JudgedCall> {
        let right = (0..right).map(|number| call(number, Verdict::AutoApprove, Some(Answer::LetRun)));
        let wrong = (0..wrong).map(|number| call(number, Verdict::AutoApprove, Some(Answer::Refused)));
        let asked = (0..questions).map(|number| call(number, Verdict::Confirm, Some(Answer::LetRun)));
        right.chain(wrong).chain(asked).collect()
    }

    fn missing(criteria: &[Criterion]) -> Vec<&str> {
        criteria.iter().filter(|criterion| !criterion.met).map(|criterion| criterion.what.as_str()).collect()
    }

    #[test]
    fn an_agent_is_promoted_on_agreement_over_patterns_and_no_disagreement() {
        let (few, no) = ("agreements: yes to what `auto` approves", "disagreements: no to what `auto` approves");
        let patterns = "patterns of calls among them";
        for (right, wrong, questions, want) in [
            (20, 0, 0, &[][..]),
            (19, 0, 10, &[few]),
            (60, 1, 0, &[no]),
            (4, 1, 0, &[few, patterns, no]),
            (20, 0, 300, &[]),
        ] {
            for stage in [RolloutStage::ConfirmAll, RolloutStage::Shadow] {
                let criteria = of_agent("claude", stage, &story(right, wrong, questions));
                assert_eq!(missing(&criteria), want, "{right} {wrong} {questions}");
            }
        }
        let mut alike = story(50, 0, 0);
        alike.iter_mut().for_each(|seen| seen.pattern = "one".into());
        assert_eq!(missing(&of_agent("claude", RolloutStage::ConfirmAll, &alike)), [patterns]);
        let mut regretted = story(200, 0, 0);
        regretted[0].regretted_ms = Some(1);
        assert_eq!(missing(&of_agent("claude", RolloutStage::Shadow, &regretted)), [no]);
        assert_eq!(missing(&of_agent("codex", RolloutStage::ConfirmAll, &story(60, 0, 0))).len(), 2);
    }

    #[test]
    fn in_a_canary_only_what_ran_as_in_auto_counts() {
        let mut inside = story(600, 0, 0);
        assert_eq!(missing(&of_agent("claude", RolloutStage::Canary, &inside)).len(), 4);
        inside.iter_mut().for_each(|seen| seen.mode = Some(Mode::Auto));
        assert_eq!(missing(&of_agent("claude", RolloutStage::Canary, &inside)), [""; 0]);
        inside[0].regretted_ms = Some(1);
        assert_eq!(missing(&of_agent("claude", RolloutStage::Canary, &inside)), ["regretted approvals"]);
    }

    #[test]
    fn a_rule_is_promoted_if_it_speaks_and_adds_little() {
        let watched = |count: usize, all: usize| {
            let mut seen = story(all, 0, 0);
            seen.iter_mut().take(count).for_each(|seen| seen.watched.push("mine".into()));
            missing(&of_rule("mine", RolloutStage::Shadow, &seen)).len()
        };
        assert_eq!((watched(4, 200), watched(5, 200), watched(2, 200), watched(3, 50)), (0, 1, 1, 2));
    }
}
