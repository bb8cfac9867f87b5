//! Ledgers made up to set off one alert each, or none.

use doorward_ledger::{AnswerBody, Body, By, DecisionBody, Index, Log, Reply, SessionBody, SessionStep};
use doorward_vocabulary::{Mode, Verdict};

use super::*;
use crate::memory::alerts::{new_alert, standing};

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;

/// A ledger, and a clock that says when something happened before now.
struct Story {
    dir: tempfile::TempDir,
    log: Log,
    now_ms: u64,
    number: u32,
}

impl Story {
    fn new() -> Story {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::create(&dir.path().join("log")).unwrap();
        Story { dir, log, now_ms: clock::now_ms(), number: 0 }
    }

    fn add(&mut self, body: &impl Body, ago_ms: u64) {
        let _receipt = self.log.append(body, self.now_ms - ago_ms).unwrap();
    }

    /// A decision in a session; the name of it.
    fn decide(&mut self, session: &str, category: &str, verdict: Verdict, ago_ms: u64) -> String {
        self.number += 1;
        let id = format!("d{}", self.number);
        let body = DecisionBody {
            id: id.clone().into(),
            session: Some(session.into()),
            category: Some(category.into()),
            pattern: Some(format!("pattern {}", self.number).into()),
            mode: Some(Mode::Auto),
            verdict,
            ..DecisionBody::default()
        };
        self.add(&body, ago_ms);
        id
    }

    fn yes(&mut self, decision: String, ago_ms: u64) {
        self.add(&AnswerBody { decision: decision.into(), reply: Reply::Approved, by: By::Person, why: None }, ago_ms);
    }

    /// What went off, and what it is about.
    fn alerts(&self) -> Vec<(&'static str, String)> {
        let (index, _) = Index::rebuild(&self.dir.path().join("index"), &self.log).unwrap();
        let alerts = standing(&index, self.now_ms).unwrap();
        let mut found: Vec<_> = alerts.into_iter().map(|alert| (alert.kind.word(), alert.about)).collect();
        found.sort();
        found
    }
}

fn check(what: &str, tell: impl FnOnce(&mut Story), expected: &[(&'static str, &str)]) {
    let mut story = Story::new();
    tell(&mut story);
    let expected: Vec<(&str, String)> = expected.iter().map(|(kind, about)| (*kind, (*about).to_owned())).collect();
    assert_eq!(story.alerts(), expected, "{what}");
}

/// Work as usual: mostly approved, now and then a question that is sometimes answered with yes.
fn quiet(story: &mut Story, days: u64) {
    for number in 0..days * 12 {
        let ago = number * DAY / 12;
        let verdict = match number % 12 {
            5 => Verdict::Block,
            7 | 11 => Verdict::Confirm,
            _ => Verdict::AutoApprove,
        };
        let id = story.decide(&format!("s{}", number / 12), "write", verdict, ago);
        if number % 24 == 7 {
            story.yes(id, ago);
        }
    }
}

#[test]
fn a_quiet_ledger_sets_off_nothing() {
    check("nothing at all", |_| {}, &[]);
    check("three weeks of work", |story| quiet(story, 21), &[]);
    let blocks = |gap: u64, count: u64| {
        move |story: &mut Story| {
            for number in 0..count {
                story.decide("s", "write", Verdict::Block, DAY - number * gap);
                story.decide("s", "read", Verdict::AutoApprove, DAY - number * gap);
            }
        }
    };
    check("four blocks at once", blocks(1, 4), &[]);
    check("five blocks in eleven minutes", blocks(11 * MINUTE / 4, 5), &[]);
    let in_two_sessions = |story: &mut Story| {
        for number in 0..6 {
            let session = format!("s{}", number % 2);
            story.decide(&session, "write", Verdict::Block, 500 - number);
            story.decide(&session, "read", Verdict::AutoApprove, 500 - number);
        }
    };
    check("six blocks in two sessions", in_two_sessions, &[]);
    check("long ago", |story| (0..9).for_each(|_| drop(story.decide("s", "write", Verdict::Block, 8 * DAY))), &[]);
}

#[test]
fn a_spike_of_blocks_is_noticed() {
    let tell = |story: &mut Story| {
        quiet(story, 16);
        for number in 0..5 {
            story.decide("loud", "write", Verdict::Block, DAY - number * 10 * MINUTE / 4);
            story.decide("loud", "read", Verdict::AutoApprove, DAY - number * 10 * MINUTE / 4);
        }
    };
    check("five blocks in ten minutes", tell, &[("spike", "loud")]);
}

#[test]
fn a_breaker_is_noticed_and_a_yes_or_a_reset_starts_anew() {
    let three = |story: &mut Story| {
        for number in 0..3 {
            story.decide("s", "write", Verdict::Block, DAY - number * MINUTE);
        }
    };
    check("three in a row", three, &[("breaker", "s")]);
    let twenty = |story: &mut Story| {
        for number in 0..20 {
            story.decide("s", "write", Verdict::Block, DAY - number * 11 * MINUTE);
            story.decide("s", "read", Verdict::AutoApprove, DAY - number * 11 * MINUTE);
        }
    };
    check("twenty in all", twenty, &[("breaker", "s")]);
    let begun_anew = |again: fn(&mut Story)| {
        move |story: &mut Story| {
            for _ in 0..2 {
                story.decide("s", "write", Verdict::Block, DAY);
                story.decide("s", "write", Verdict::Block, DAY);
                again(story);
            }
        }
    };
    let reset = |story: &mut Story| {
        let step = SessionStep::Reset;
        story.add(&SessionBody { session: "s".into(), agent: None, step }, DAY);
    };
    check("a reset", begun_anew(reset), &[]);
    let yes = |story: &mut Story| {
        let id = story.decide("s", "write", Verdict::Confirm, DAY);
        story.yes(id, DAY);
    };
    check("a yes", begun_anew(yes), &[]);
    let shadow = |story: &mut Story| {
        for number in 0..4 {
            let mode = Some(Mode::Shadow);
            let body = DecisionBody {
                id: format!("w{number}").into(),
                session: Some("s".into()),
                mode,
                verdict: Verdict::Block,
                ..DecisionBody::default()
            };
            story.add(&body, DAY);
        }
    };
    check("in shadow nothing is denied", shadow, &[]);
}

#[test]
fn a_drop_of_the_approval_rate_is_noticed_where_there_is_enough_to_go_by() {
    /// So many per hundred were approved before, and today.
    fn tell(before: u32, today: u32, count: u32) -> impl FnOnce(&mut Story) {
        move |story| {
            for number in 0..count {
                let verdict = |rate: u32| if number % 100 < rate { Verdict::AutoApprove } else { Verdict::Confirm };
                story.decide(&format!("a{number}"), "execute", verdict(before), 3 * DAY + u64::from(number) * MINUTE);
            }
            for number in 0..count {
                let verdict = |rate: u32| if number % 100 < rate { Verdict::AutoApprove } else { Verdict::Confirm };
                story.decide(&format!("b{number}"), "execute", verdict(today), u64::from(number) * MINUTE);
            }
        }
    }
    check("from 95 to 79 %", tell(95, 79, 100), &[("drop", "execute")]);
    check("from 95 to 80 %", tell(95, 80, 100), &[]);
    check("99 decisions only", tell(95, 50, 99), &[]);
    check("a rise", tell(50, 95, 100), &[]);
    let mixed = |story: &mut Story| {
        for number in 0..100 {
            story.decide(&format!("a{number}"), "read", Verdict::AutoApprove, 3 * DAY);
            let category = if number % 2 == 0 { "network" } else { "delete" };
            story.decide(&format!("b{number}"), category, Verdict::Confirm, DAY / 2);
        }
    };
    check("other work than before", mixed, &[("drop", "all decisions")]);
}

#[test]
fn a_category_that_is_overridden_too_often_is_noticed() {
    fn tell(decisions: u32, overridden: u32) -> impl FnOnce(&mut Story) {
        move |story| {
            for number in 0..decisions {
                let ago = DAY * 20 - u64::from(number) * MINUTE;
                let is_let_run = number < overridden;
                let verdict = if is_let_run { Verdict::Confirm } else { Verdict::AutoApprove };
                let id = story.decide(&format!("s{number}"), "network", verdict, ago);
                if is_let_run {
                    story.yes(id, ago);
                }
            }
        }
    }
    check("9 of 50", tell(50, 9), &[("overrides", "network")]);
    check("8 of 50", tell(50, 8), &[("overrides", "network")]);
    check("15 %", tell(60, 9), &[]);
    check("49 decisions only", tell(49, 20), &[]);
}

#[test]
fn a_pattern_that_is_overridden_again_and_again_is_a_ticket_and_no_alert() {
    let tell = |count: u32| {
        move |story: &mut Story| {
            for number in 0..count {
                let id = format!("p{number}");
                let pattern = Some("bash network push".to_owned());
                story.add(
                    &DecisionBody {
                        id: id.clone().into(),
                        pattern: pattern.map(Into::into),
                        ..DecisionBody::default()
                    },
                    DAY,
                );
                story.yes(id, DAY);
            }
        }
    };
    check("three times", tell(3), &[]);
    check("ten times", tell(10), &[]);
}

#[test]
fn a_resolved_alert_comes_back_only_when_it_goes_off_again() {
    let mut story = Story::new();
    let block = |story: &mut Story, ago: u64| {
        story.decide("s", "write", Verdict::Block, ago);
        story.decide("s", "read", Verdict::AutoApprove, ago);
    };
    (0..5).for_each(|_| block(&mut story, 30 * MINUTE));
    assert_eq!(story.alerts(), [("spike", "s".to_owned())]);
    let id = new_alert(AlertKind::Spike, "s", "").id;
    let word = |step| AlertBody { name: "spike".into(), step, id: id.clone(), ..AlertBody::default() };
    story.add(&word(AlertStep::Acknowledged), 29 * MINUTE);
    assert_eq!(story.alerts().len(), 1, "seen is not resolved");
    story.add(&word(AlertStep::Resolved), 28 * MINUTE);
    assert_eq!(story.alerts(), []);
    (0..5).for_each(|_| block(&mut story, MINUTE));
    assert_eq!(story.alerts(), [("spike", "s".to_owned())]);
}
