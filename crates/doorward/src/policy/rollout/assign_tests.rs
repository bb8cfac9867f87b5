//! Which sessions are given what: always the same ones, evenly, and nobody who was not to.

use super::super::stage::{Share, StageChange, Track};
use super::super::state::{ThresholdSet, Trial};
use super::super::trial::Stopping;
use super::*;
use crate::machine::paths::Dirs;

const SESSIONS: usize = 20_000;

/// Sessions with names as agents give them, and with names that are as alike as can be.
fn names() -> impl Iterator<Item = String> {
    (0..SESSIONS).map(|number| match number % 3 {
        0 => format!("{number:032x}"),
        1 => format!("session-{number}"),
        _ => format!("{number}"),
    })
}

fn at(stage: RolloutStage, percent: u8) -> Track {
    Track::starting(StageChange { stage, share: Share::new(percent).unwrap(), ..StageChange::default() })
}

/// A rollout with a salt of its own, as it is kept.
fn rollout(change: impl FnOnce(&mut Rollout)) -> (tempfile::TempDir, Rollout) {
    let home = tempfile::tempdir().unwrap();
    let dirs = Dirs::at(home.path().to_str().unwrap());
    std::fs::create_dir_all(dirs.state()).unwrap();
    Rollout::update(&dirs, change).unwrap();
    let rollout = Rollout::load(&dirs).unwrap().unwrap();
    (home, rollout)
}

fn of(rollout: &Rollout, session: &str) -> Assigned {
    Assigned::for_session(rollout, ("claude", true), session, None)
}

/// Pearson's statistic for a share of the sessions, with one degree of freedom.
fn chi_square(inside: usize, percent: f64) -> f64 {
    let (all, share) = (SESSIONS as f64, percent / 100.0);
    let part = |found: f64, expected: f64| (found - expected).powi(2) / expected;
    part(inside as f64, all * share) + part(all - inside as f64, all * (1.0 - share))
}

/// One chance in ten thousand.
const UNLIKELY: f64 = 15.1;

#[test]
fn a_share_covers_the_sessions_evenly_and_always_the_same_ones() {
    for percent in [1, 10, 37, 50, 90] {
        let (_home, rollout) =
            rollout(|rollout| drop(rollout.agents.insert("claude".into(), at(RolloutStage::Canary, percent))));
        let inside: Vec<bool> = names().map(|name| of(&rollout, &name).mode == Some(Mode::Auto)).collect();
        let again: Vec<bool> = names().map(|name| of(&rollout, &name).mode == Some(Mode::Auto)).collect();
        assert_eq!(inside, again);
        let count = inside.iter().filter(|is_inside| **is_inside).count();
        let statistic = chi_square(count, f64::from(percent));
        assert!(statistic < UNLIKELY, "{percent} %: {count} of {SESSIONS}, chi-square {statistic:.1}");
    }
}

#[test]
fn a_wider_share_keeps_the_sessions_of_the_narrower_one() {
    let (_home, mut rollout) =
        rollout(|rollout| drop(rollout.agents.insert("claude".into(), at(RolloutStage::Canary, 10))));
    let inside = |rollout: &Rollout| -> Vec<bool> {
        names().take(2000).map(|name| of(rollout, &name).mode == Some(Mode::Auto)).collect()
    };
    let narrow = inside(&rollout);
    rollout.agents.insert("claude".into(), at(RolloutStage::Canary, 40));
    let wide = inside(&rollout);
    assert!(narrow.iter().zip(&wide).all(|(narrow, wide)| !narrow || *wide));
}

#[test]
fn being_in_one_share_says_nothing_about_another() {
    let numbers = ThresholdSet::from(Thresholds { confidence: 0.9, ..Thresholds::default() });
    let trial = Trial {
        name: "x".into(),
        numbers,
        track: at(RolloutStage::Canary, 50),
        stopping: Stopping::default(),
        only_asks_more: false,
    };
    let (_home, rollout) = rollout(|rollout| {
        rollout.agents.insert("claude".into(), at(RolloutStage::Canary, 50));
        rollout.rules.insert("own/x".into(), at(RolloutStage::Canary, 50));
        rollout.trial = Some(trial);
    });
    let mut both = [0; 3];
    for name in names() {
        let assigned = of(&rollout, &name);
        let (agent, rule) = (assigned.mode == Some(Mode::Auto), assigned.watched.is_empty());
        let set = assigned.set.is_some();
        for (count, is_both) in both.iter_mut().zip([agent && rule, agent && set, rule && set]) {
            *count += usize::from(is_both);
        }
    }
    for count in both {
        assert!(chi_square(count, 25.0) < UNLIKELY, "{both:?}");
    }
}

#[test]
fn what_is_not_known_is_trusted_with_nothing() {
    let (_home, rollout) = rollout(|rollout| {
        rollout.agents.insert("claude".into(), at(RolloutStage::Canary, 99));
        rollout.agents.insert("codex".into(), at(RolloutStage::Auto, 10));
    });
    let mode = |agent: &str, is_staged: bool, session: &str, began: Option<u64>| {
        Assigned::for_session(&rollout, (agent, is_staged), session, began).mode
    };
    for (agent, is_staged, session, want) in [
        ("pi", true, "s", Some(Mode::ConfirmAll)),
        ("codex", true, "s", Some(Mode::Auto)),
        ("codex", false, "s", None),
        ("claude", true, "", Some(Mode::ConfirmAll)),
    ] {
        assert_eq!(mode(agent, is_staged, session, None), want, "{agent} {session}");
    }
}

#[test]
fn a_watched_rule_of_ones_own_does_not_count_and_a_built_in_one_always_does() {
    let built_in = Policy::built_in().rules.first().unwrap().id.to_string();
    let (_home, rollout) = rollout(|rollout| {
        rollout.rules.insert("own/x".into(), at(RolloutStage::Shadow, 10));
        rollout.rules.insert(built_in.clone(), at(RolloutStage::Shadow, 10));
    });
    let mut policy = Policy::built_in();
    let mut own = policy.rules.first().cloned().unwrap();
    own.id = "own/x".into();
    policy.rules.push(own);
    of(&rollout, "s").apply_to(&mut policy);
    let stage = |id: &str| policy.rules.iter().find(|rule| rule.id == id).unwrap().stage;
    assert_eq!((stage("own/x"), stage(&built_in)), (RuleStage::Shadow, RuleStage::Active));
}

#[test]
fn a_set_on_trial_replaces_what_is_in_force_for_its_half_and_never_goes_below_a_floor() {
    let lax = Thresholds { confidence: 0.1, irreversible: 0.2, denials: 900, ..Thresholds::default() };
    let trial = |track: Track| Trial {
        name: "lax".into(),
        numbers: lax.into(),
        track,
        stopping: Stopping::default(),
        only_asks_more: false,
    };
    let (_home, rollout) = rollout(|rollout| rollout.trial = Some(trial(at(RolloutStage::Auto, 10))));
    let mut policy = Policy::built_in();
    let assigned = of(&rollout, "s");
    assigned.apply_to(&mut policy);
    assert_eq!(policy.thresholds, Thresholds::default());
    assert!(policy.version.contains("+thresholds:lax#"), "{}", policy.version);
    assert!(assigned.words[THRESHOLDS].starts_with("b:lax#"));
}
