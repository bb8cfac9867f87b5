//! What has to hold before a stage may be left for the next, each with the figure that was wanted and the one there is.

use std::collections::BTreeSet;

use doorward_ledger::Verdict as Decided;
use serde::Serialize;

use super::evidence::{Answer, Seen};
use super::stage::Stage;
use super::state::{Subject, Trial};
use super::trial::{Arm, Pairing, Standing, Verdict};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Nothing older counts for a promotion.
pub const WINDOW_MS: u64 = 30 * DAY_MS;

/// What an agent has to show.
struct Wanted {
    decisions: usize,
    sessions: usize,
    /// Decisions of which a person showed what they thought.
    answered: usize,
    agreement: f64,
}

/// To leave `confirm-all`, `shadow`, `canary`.
const fn wanted(stage: Stage) -> Wanted {
    match stage {
        Stage::ConfirmAll => Wanted { decisions: 50, sessions: 3, answered: 20, agreement: 0.95 },
        Stage::Shadow => Wanted { decisions: 100, sessions: 5, answered: 30, agreement: 0.97 },
        Stage::Canary | Stage::Auto => Wanted { decisions: 200, sessions: 5, answered: 50, agreement: 0.98 },
    }
}

/// What a rule has to show: decisions that it saw, on how many it spoke, and how many questions it would add at most.
const RULE_DECISIONS: usize = 100;
const RULE_SPOKE: usize = 3;
const RULE_ADDS: f64 = 0.02;
const RULE_OVERRIDDEN: f64 = 0.5;

/// One condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Criterion {
    pub what: String,
    pub wanted: String,
    pub found: String,
    pub met: bool,
}

impl Criterion {
    fn least(what: &str, wanted: usize, found: usize) -> Criterion {
        let (met, wanted, found) = (found >= wanted, format!("{wanted} or more"), found.to_string());
        Criterion { what: what.to_owned(), wanted, found, met }
    }

    fn none(what: &str, found: usize) -> Criterion {
        Criterion { what: what.to_owned(), wanted: "none".to_owned(), found: found.to_string(), met: found == 0 }
    }

    /// What is missing, in a few words.
    pub fn missing(&self) -> String {
        format!("{}: {} (wanted: {})", self.what, self.found, self.wanted)
    }
}

/// The criteria of an agent at a stage; none at the last.
pub fn of_agent(name: &str, stage: Stage, seen: &[Seen]) -> Vec<Criterion> {
    if stage == Stage::Auto {
        return Vec::new();
    }
    let wanted = wanted(stage);
    let counts = |seen: &&Seen| seen.agent == name && (stage != Stage::Canary || seen.mode == "auto");
    let seen: Vec<&Seen> = seen.iter().filter(counts).collect();
    let sessions: BTreeSet<&str> = seen.iter().map(|seen| seen.session.as_str()).collect();
    let answered: Vec<bool> = seen.iter().filter_map(|seen| seen.agrees()).collect();
    let agreed = answered.iter().filter(|agrees| **agrees).count();
    vec![
        Criterion::least("decisions", wanted.decisions, seen.len()),
        Criterion::least("sessions", wanted.sessions, sessions.len()),
        Criterion::least("approvals and blocks that a person answered", wanted.answered, answered.len()),
        share("of these, as the person wanted", (agreed, answered.len()), Bound::Least(wanted.agreement)),
        Criterion::none("regretted approvals", regretted(&seen)),
    ]
}

/// The criteria of a rule of the user's own.
pub fn of_rule(id: &str, stage: Stage, seen: &[Seen]) -> Vec<Criterion> {
    if stage == Stage::Auto {
        return Vec::new();
    }
    let subject = Subject::Rule(id.to_owned());
    let counts = |seen: &&Seen| stage != Stage::Canary || seen.is_for(&subject);
    let seen: Vec<&Seen> = seen.iter().filter(counts).collect();
    let speaks = |seen: &&&Seen| seen.watched.iter().any(|rule| rule == id) || seen.rule.as_deref() == Some(id);
    let spoke: Vec<&&Seen> = seen.iter().filter(speaks).collect();
    let adds = spoke.iter().filter(|seen| match stage {
        Stage::Canary => seen.rule.as_deref() == Some(id),
        Stage::ConfirmAll | Stage::Shadow | Stage::Auto => seen.would == Decided::Approve,
    });
    // The user demands what such a rule asks, so a yes is no override; but it says that the rule is not wanted.
    let is_let_run = |seen: &&&&Seen| seen.verdict != Decided::Approve && seen.answer == Some(Answer::LetRun);
    let overridden = spoke.iter().filter(is_let_run).count();
    vec![
        Criterion::least("decisions", RULE_DECISIONS, seen.len()),
        Criterion::least("calls that it speaks about", RULE_SPOKE, spoke.len()),
        share("questions that only it adds", (adds.count(), seen.len()), Bound::Most(RULE_ADDS)),
        share("of what it speaks about, let run by a person", (overridden, spoke.len()), Bound::Most(RULE_OVERRIDDEN)),
    ]
}

/// The criteria of thresholds on trial.
pub fn of_trial(trial: &Trial, stage: Stage, seen: &[Seen]) -> Vec<Criterion> {
    if stage == Stage::Auto {
        return Vec::new();
    }
    let standing = standing(trial, seen);
    let regretted = regretted(&seen.iter().filter(|seen| seen.arm() == Some(Arm::B)).collect::<Vec<&Seen>>());
    let is_enough = trial.only_asks_more && standing.verdict == Verdict::Alike;
    vec![
        Criterion {
            what: "verdict of the stopping rule".to_owned(),
            wanted: if trial.only_asks_more { "better or alike" } else { "better" }.to_owned(),
            found: standing.verdict.word().to_owned(),
            met: standing.verdict == Verdict::Better || is_enough,
        },
        Criterion::none("regretted approvals", regretted),
    ]
}

/// How a trial stands by the decisions since it began.
pub fn standing(trial: &Trial, seen: &[Seen]) -> Standing {
    let mut pairing = Pairing::new(&trial.stopping);
    // Where every call is asked about, or none, no threshold makes a difference.
    for seen in seen.iter().filter(|seen| seen.mode == "auto" && !seen.session.is_empty()) {
        if let Some(arm) = seen.arm() {
            pairing.see(&seen.session, arm, seen.verdict == Decided::Confirm);
        }
    }
    let mut standing = trial.stopping.follow(pairing.pairs().iter().copied());
    let of = |arm: Arm| regretted(&seen.iter().filter(|seen| seen.arm() == Some(arm)).collect::<Vec<&Seen>>());
    if of(Arm::B) > of(Arm::A) {
        standing.verdict = Verdict::Regretted;
    }
    standing
}

/// Calls that were approved, or would have been, and that somebody was sorry about.
fn regretted(seen: &[&Seen]) -> usize {
    seen.iter().filter(|seen| seen.would == Decided::Approve && seen.regretted_ms.is_some()).count()
}

enum Bound {
    Least(f64),
    Most(f64),
}

fn share(what: &str, (part, whole): (usize, usize), bound: Bound) -> Criterion {
    let rate = if whole == 0 { None } else { Some(part as f64 / whole as f64) };
    let percent = |rate: f64| format!("{:.0} %", rate * 100.0);
    let (wanted, met) = match bound {
        Bound::Least(least) => (format!("{} or more", percent(least)), rate.is_some_and(|rate| rate >= least)),
        Bound::Most(most) => (format!("{} or less", percent(most)), rate.is_none_or(|rate| rate <= most)),
    };
    let found = rate.map_or("-".to_owned(), |rate| format!("{:.1} % ({part} of {whole})", rate * 100.0));
    Criterion { what: what.to_owned(), wanted, found, met }
}

/// What is wanted at each stage, in sentences.
pub fn stated() -> Vec<(String, String)> {
    let agent = |stage: Stage| {
        let Wanted { decisions, sessions, answered, agreement } = wanted(stage);
        let next = stage.next().unwrap_or(stage);
        let text = format!(
            "{decisions} decisions or more in {sessions} sessions or more, {answered} approvals and blocks or more that a person \
             answered, {:.0} % or more of these as the person wanted, and no regretted approval; since the stage began, at most \
             {} days back",
            agreement * 100.0,
            WINDOW_MS / DAY_MS
        );
        (format!("agent {stage} → {next}"), text)
    };
    let mut stated: Vec<(String, String)> = [Stage::ConfirmAll, Stage::Shadow, Stage::Canary].map(agent).into();
    let rule = format!(
        "{RULE_DECISIONS} decisions or more, {RULE_SPOKE} calls or more that the rule speaks about, at most {:.0} % more questions, \
         and at most {:.0} % of what it speaks about let run by a person",
        RULE_ADDS * 100.0,
        RULE_OVERRIDDEN * 100.0
    );
    stated.push(("rule shadow → canary → auto".to_owned(), rule));
    let trial = "the stopping rule says `better`, or `alike` for a set that lets nothing more pass, and nothing that the set approved \
                 was regretted"
        .to_owned();
    stated.push(("thresholds canary → auto".to_owned(), trial));
    stated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: usize, would: Decided, answer: Option<Answer>) -> Seen {
        let session = format!("s{}", number % 7);
        Seen { agent: "claude".into(), session, mode: "confirm-all".into(), would, answer, ..Seen::default() }
    }

    /// So many calls that the person wanted like the judgement, and so many not.
    fn story(right: usize, wrong: usize, questions: usize) -> Vec<Seen> {
        let right = (0..right).map(|number| call(number, Decided::Approve, Some(Answer::LetRun)));
        let wrong = (0..wrong).map(|number| call(number, Decided::Approve, Some(Answer::Refused)));
        let asked = (0..questions).map(|number| call(number, Decided::Confirm, Some(Answer::LetRun)));
        right.chain(wrong).chain(asked).collect()
    }

    fn missing(criteria: &[Criterion]) -> Vec<&str> {
        criteria.iter().filter(|criterion| !criterion.met).map(|criterion| criterion.what.as_str()).collect()
    }

    #[test]
    fn an_agent_is_promoted_on_enough_decisions_agreement_and_no_regret() {
        let few = ["decisions", "approvals and blocks that a person answered"];
        let unwanted = ["of these, as the person wanted"];
        for (right, wrong, questions, want) in
            [(60, 0, 0, &[][..]), (19, 0, 10, &few), (57, 3, 0, &[]), (56, 4, 0, &unwanted), (30, 0, 30, &[])]
        {
            let criteria = of_agent("claude", Stage::ConfirmAll, &story(right, wrong, questions));
            assert_eq!(missing(&criteria), want, "{right} {wrong} {questions}");
        }
        let mut regretted = story(200, 0, 0);
        regretted[0].regretted_ms = Some(1);
        assert_eq!(missing(&of_agent("claude", Stage::Shadow, &regretted)), ["regretted approvals"]);
        assert_eq!(missing(&of_agent("codex", Stage::ConfirmAll, &story(60, 0, 0))).len(), 4);
        // In a canary only what ran as in `auto` counts.
        assert_eq!(missing(&of_agent("claude", Stage::Canary, &story(600, 0, 0))).len(), 4);
    }

    #[test]
    fn a_rule_is_promoted_if_it_speaks_and_adds_little() {
        let watched = |count: usize, all: usize| {
            let mut seen = story(all, 0, 0);
            seen.iter_mut().take(count).for_each(|seen| seen.watched.push("mine".into()));
            missing(&of_rule("mine", Stage::Shadow, &seen)).len()
        };
        assert_eq!((watched(4, 200), watched(5, 200), watched(2, 200), watched(3, 50)), (0, 1, 1, 2));
    }
}
