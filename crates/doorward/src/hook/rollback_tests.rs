//! Ledgers made up to take a rollout back, or not to.

use doorward_ledger::{AnswerBody, Became, Body, By, DecisionBody, Filter, Index, Kind, Log, OutcomeBody, Reply};
use doorward_vocabulary::Mode;
use std::collections::BTreeMap;

use super::*;
use crate::policy::rollout::assign::STAGE;
use crate::policy::rollout::stage::Track;

const MINUTE: u64 = 60_000;

/// A home whose agent `claude` is at a stage since two days ago, and a ledger written behind its back.
struct Story {
    _home: tempfile::TempDir,
    dirs: Dirs,
    now_ms: u64,
    number: u32,
}

impl Story {
    fn at(stage: RolloutStage) -> Story {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        crate::machine::record::begin(&dirs).unwrap();
        let now_ms = now_ms();
        let step = StageChange { stage, since_ms: now_ms - 2 * WINDOW_MS, ..StageChange::default() };
        let enter = |rollout: &mut Rollout| drop(rollout.agents.insert("claude".into(), Track::starting(step)));
        Rollout::update(&dirs, enter).unwrap();
        Story { _home: home, dirs, now_ms, number: 0 }
    }

    fn add(&mut self, body: &impl Body, ago_ms: u64) {
        let mut log = Log::open(&crate::machine::record::directory(&self.dirs)).unwrap();
        let _receipt = log.append(body, self.now_ms - ago_ms).unwrap();
    }

    fn decide(&mut self, session: &str, verdict: Verdict, ago_ms: u64) -> String {
        self.number += 1;
        let id = format!("d{}", self.number);
        let body = DecisionBody {
            id: id.clone().into(),
            agent: Some("claude".into()),
            session: Some(session.into()),
            mode: Some(Mode::Auto),
            verdict,
            versions: BTreeMap::from([(STAGE.to_owned(), "auto".to_owned())]),
            ..DecisionBody::default()
        };
        self.add(&body, ago_ms);
        id
    }

    /// A day of work: mostly approved, a question now and then that is mostly answered with yes, a rare block.
    fn quiet(&mut self) {
        for number in 0..120_u64 {
            let ago = WINDOW_MS - MINUTE - number * 11 * MINUTE;
            let (session, verdict) = match number % 20 {
                7 | 14 => ("work", Verdict::Confirm),
                19 => ("work", Verdict::Block),
                _ => ("work", Verdict::AutoApprove),
            };
            let id = self.decide(session, verdict, ago);
            match verdict {
                Verdict::Confirm if number % 40 < 20 => self.yes(id, ago),
                Verdict::AutoApprove => self.became(id, Became::Ran, ago),
                Verdict::Confirm | Verdict::Block => {}
            }
        }
    }

    fn yes(&mut self, decision: String, ago_ms: u64) {
        self.add(&AnswerBody { decision: decision.into(), reply: Reply::Approved, by: By::Client, why: None }, ago_ms);
    }

    fn became(&mut self, decision: String, became: Became, ago_ms: u64) {
        self.add(&OutcomeBody::new(decision.into(), became, None), ago_ms);
    }

    fn stage(&self) -> RolloutStage {
        Rollout::load(&self.dirs).unwrap().unwrap().agents["claude"].now().stage
    }

    /// What the record says about it.
    fn told(&self, kind: Kind) -> Vec<String> {
        let log = Log::open(&crate::machine::record::directory(&self.dirs)).unwrap();
        let (index, _) = Index::rebuild(&self.dirs.state().join("other.sqlite"), &log).unwrap();
        let rows = index.list(&Filter { kind: Some(kind), ..Filter::default() }).unwrap();
        rows.into_iter().filter_map(|row| row.text).collect()
    }
}

fn check(what: &str, tell: impl FnOnce(&mut Story), wanted: Option<&str>) {
    let mut story = Story::at(RolloutStage::Auto);
    story.quiet();
    tell(&mut story);
    let taken_back = watch(&story.dirs).unwrap();
    match wanted {
        None => assert!(taken_back.is_empty() && story.stage() == RolloutStage::Auto, "{what}: {taken_back:?}"),
        Some(why) => {
            assert!(taken_back.first().is_some_and(|(_, found)| found.contains(why)), "{what}: {taken_back:?}");
            assert_eq!(story.stage(), RolloutStage::ConfirmAll, "{what}");
            let (policy, alert) = (story.told(Kind::Policy).concat(), story.told(Kind::Alert).concat());
            assert!(policy.contains(why) && alert.contains(why), "{what}: {policy} {alert}");
            assert!(watch(&story.dirs).unwrap().is_empty(), "{what}: once is enough");
        }
    }
}

/// So many approved calls that somebody was sorry about, minutes after each other.
fn burst(story: &mut Story, count: u64, ago_ms: u64, agent_is_trusted: bool) {
    for number in 0..count {
        let at = ago_ms - number * MINUTE;
        let id = story.decide("burst", if agent_is_trusted { Verdict::AutoApprove } else { Verdict::Confirm }, at);
        story.became(id, Became::Flagged, at - 1);
    }
}

#[test]
fn a_burst_of_regret_takes_the_agent_back_within_one_window_and_quiet_days_do_not() {
    check("quiet", |_| {}, None);
    check("one regret", |story| burst(story, 1, 60 * MINUTE, true), None);
    check("regret just now", |story| burst(story, 2, 5 * MINUTE, true), Some("2 approved calls were regretted"));
    check("regret at the edge", |story| burst(story, 4, WINDOW_MS - MINUTE, true), Some("4 approved calls"));
    check("regret the day before", |story| burst(story, 9, WINDOW_MS + 60 * MINUTE, true), None);
    check("what a person let run", |story| burst(story, 9, 60 * MINUTE, false), None);
    let late = |story: &mut Story| {
        for _ in 0..2 {
            let id = story.decide("old", Verdict::AutoApprove, WINDOW_MS + 60 * MINUTE);
            story.became(id, Became::Reverted, MINUTE);
        }
    };
    check("sorry today about yesterday", late, Some("2 approved calls were regretted"));
    let among_many = |became: Became| {
        move |story: &mut Story| {
            let ids: Vec<String> = (0..200).map(|_| story.decide("work", Verdict::AutoApprove, 60 * MINUTE)).collect();
            ids.into_iter().take(2).for_each(|id| story.became(id, became, MINUTE));
        }
    };
    check("two edits undone among hundreds", among_many(Became::Reverted), None);
    check("two flagged among hundreds", among_many(Became::Flagged), Some("2 approved calls were regretted"));
}

#[test]
fn many_overrides_take_the_agent_back_and_a_few_do_not() {
    let overrides = |count: u64| {
        move |story: &mut Story| {
            for number in 0..count {
                let id = story.decide("asked", Verdict::Confirm, 300 * MINUTE - number * MINUTE);
                story.yes(id, 300 * MINUTE - number * MINUTE);
            }
        }
    };
    check("nine more", overrides(9), None);
    check("thirty more", overrides(30), Some("36 of 150 calls were overridden"));
}

#[test]
fn many_blocks_of_one_session_take_the_agent_back_and_spread_ones_do_not() {
    let blocks = |count: u64, gap: u64, sessions: u64| {
        move |story: &mut Story| {
            for number in 0..count {
                story.decide(&format!("s{}", number % sessions), Verdict::Block, 300 * MINUTE - number * gap);
            }
        }
    };
    check("five at once", blocks(5, MINUTE, 1), Some("5 calls of one session were blocked"));
    check("five in an hour", blocks(5, 12 * MINUTE, 1), None);
    check("eight in two sessions", blocks(8, 1, 2), None);
}

#[test]
fn only_what_is_let_go_is_taken_back() {
    for (stage, is_taken_back) in [
        (RolloutStage::ConfirmAll, false),
        (RolloutStage::Shadow, false),
        (RolloutStage::Canary, true),
        (RolloutStage::Auto, true),
    ] {
        let mut story = Story::at(stage);
        burst(&mut story, 3, 60 * MINUTE, true);
        assert_eq!(!watch(&story.dirs).unwrap().is_empty(), is_taken_back, "{stage}");
    }
    let story = Story::at(RolloutStage::Auto);
    let mut ledger = Ledger::open(&story.dirs);
    on_spike(&story.dirs, "codex", &mut ledger);
    assert_eq!(story.stage(), RolloutStage::Auto);
    on_spike(&story.dirs, "claude", &mut ledger);
    assert_eq!(story.stage(), RolloutStage::ConfirmAll);
    assert_eq!(story.told(Kind::Alert).len(), 1);
}

#[test]
fn what_cannot_be_recorded_is_taken_back_all_the_same() {
    struct Full;
    impl Recorder for Full {
        fn append(&mut self, _entry: LogEntry) -> anyhow::Result<doorward_ledger::Receipt> {
            anyhow::bail!("no space left")
        }
    }
    let story = Story::at(RolloutStage::Auto);
    on_spike(&story.dirs, "claude", &mut Full);
    assert_eq!(story.stage(), RolloutStage::ConfirmAll);
}
