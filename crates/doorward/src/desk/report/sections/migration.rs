//! Section 8: the stage of everything, promotion and rollback criteria. Also the cadence of reviews.

use doorward_engine::Mode;

use super::super::document::{Text, Tone, Topic};
use super::super::gather::Gathered;
use crate::desk::rollout::view::{RolloutView, rules};
use crate::machine::agent::Agent;
use crate::machine::clock;

const STATUS: &str = "doorward rollout status";
const EXPLAIN: &str = "doorward rollout status --explain";

pub(super) fn parts(gathered: &Gathered) -> Vec<Topic> {
    let views = gathered.rollout.as_deref().unwrap_or_default();
    vec![agents(gathered, views), rule_criteria(views), trial(views), back(views)]
}

fn agents(gathered: &Gathered, views: &[RolloutView]) -> Topic {
    let mut part = Topic::new("How to deploy in \"confirm-all\" mode first").with_text(
        "An agent without a chosen mode is in `confirm-all`: every call is judged and recorded, none is approved. From there `doorward rollout` moves on in stages: `shadow` records what would have been decided and leaves decisions to the agent; `canary` applies the judgement in a share of sessions; `auto` in all of them.",
    );
    if let Err(problem) = &gathered.rollout {
        part = part.warn(Text::sentence(problem)).from(STATUS);
    }
    let rows: Vec<Vec<Text>> = gathered.agents().into_iter().map(|agent| agent_row(gathered, views, agent)).collect();
    if rows.is_empty() {
        return part.with_text("No agent is set up yet. Next step: `doorward setup`.");
    }
    part = part.table(&["agent", "stage", "since", "next step"], rows).from("doorward rollout status, doorward status");
    views.iter().filter(|view| view.agent.is_some()).fold(part, add_criteria)
}

fn agent_row(gathered: &Gathered, views: &[RolloutView], agent: Agent) -> Vec<Text> {
    let title = Text::plain(agent.title());
    match views.iter().find(|view| view.agent.as_deref() == Some(agent.name())) {
        Some(view) => vec![title, Text::sentence(&view.place), since(view), next(view)],
        None => {
            let mode = gathered.loaded.mode(agent.name());
            vec![title, Text::code(mode.as_str()).and(", fixed"), Text::plain("–"), next_of(mode)]
        }
    }
}

fn since(view: &RolloutView) -> Text {
    let how = if view.is_rollback { ", after a rollback" } else { "" };
    Text::figure(clock::moment(view.since_ms)).and(how)
}

fn next(view: &RolloutView) -> Text {
    let missing = view.criteria.iter().filter(|criterion| !criterion.met).count();
    match (view.next, missing) {
        (None, _) => "nothing: keep up the regular reviews".into(),
        (Some(stage), 0) => Text::code(stage.as_str()).and(": all criteria are met, ").and(Text::code(&view.promote)),
        (Some(stage), missing) => {
            let missing = Text::filled(": {} criteria are not met yet", [super::count(missing as u64)]);
            Text::code(stage.as_str()).and(missing)
        }
    }
}

/// For an agent with a fixed mode.
fn next_of(mode: Mode) -> Text {
    match mode {
        Mode::ConfirmAll | Mode::Shadow => "roll it out in stages: `doorward rollout start AGENT`",
        Mode::Auto => "nothing: keep up the regular reviews",
        Mode::Off => "doorward is off: `doorward rollout start AGENT`",
    }
    .into()
}

/// The criteria for the next stage, with their current values.
fn add_criteria(part: Topic, view: &RolloutView) -> Topic {
    let Some(next) = view.next.filter(|_| !view.criteria.is_empty()) else { return part };
    let rows = view.criteria.iter().map(|criterion| {
        let (tone, met) = if criterion.met { (Tone::Approve, "met") } else { (Tone::Confirm, "missing") };
        vec![
            Text::sentence(&criterion.what),
            Text::figure(&criterion.found),
            Text::figure(&criterion.wanted),
            Text::word(tone, met),
        ]
    });
    part.with_text(Text::sentence(&view.what).and(", for ").and(Text::code(next.as_str())).and(":"))
        .table(&["criterion", "now", "wanted", "state"], rows.collect())
        .from(STATUS)
}

fn rule_criteria(views: &[RolloutView]) -> Topic {
    let rows = rules().criteria.into_iter().map(|(step, wanted)| vec![Text::plain(step), Text::sentence(&wanted)]);
    let mut part = Topic::new("Gradual promotion criteria for heuristic rules")
        .with_text("Your own rules start as `shadow`: their opinion is recorded and changes no verdict. Built-in rules are active from the start. What each step requires:")
        .table(&["step", "wanted"], rows.collect())
        .from(EXPLAIN);
    let others = views.iter().filter(|view| view.agent.is_none() && view.trial.is_none());
    for view in others {
        part = part
            .with_text(
                Text::sentence(&view.what).and(": ").and(Text::sentence(&view.place)).and(", since ").and(since(view)),
            )
            .from(STATUS);
        part = add_criteria(part, view);
    }
    part
}

fn trial(views: &[RolloutView]) -> Topic {
    let part = Topic::new("A/B testing plan for Layer-2 threshold changes")
        .with_text(Text::sentence(&rules().stopping))
        .from(EXPLAIN);
    let Some((view, trial)) = views.iter().find_map(|view| Some((view, view.trial.as_ref()?))) else {
        return part
            .with_text("No thresholds are on trial; `doorward rollout start --thresholds FILE` starts a trial.");
    };
    let [better, worse, ends] = trial.evidence.map(|evidence| Text::figure(format!("{evidence:.2}")));
    let row = |what: &'static str, value: Text| vec![what.into(), value];
    let rows = vec![
        row("set on trial", Text::code(&trial.name)),
        row("stage", Text::sentence(&view.place)),
        row("since", since(view)),
        row("verdict", Text::plain(format!("{}: {}", trial.verdict, trial.what))),
        row("session pairs won", Text::figure(&trial.won)),
        row("pairs lost", Text::figure(&trial.lost)),
        row("pairs tied", Text::figure(&trial.alike)),
        row("evidence for better", better),
        row("evidence for worse", worse),
        row("evidence that ends the trial", ends),
    ];
    add_criteria(part.table(&["trial", "now"], rows).from(STATUS), view)
}

fn back(views: &[RolloutView]) -> Topic {
    let rows = rules().triggers.into_iter().map(|(name, text)| vec![Text::plain(name), Text::sentence(&text)]);
    let part = Topic::new("Rollback trigger").table(&["trigger", "when"], rows.collect()).from(EXPLAIN);
    let taken: Vec<Text> = views
        .iter()
        .filter(|view| view.is_rollback)
        .map(|view| Text::sentence(&view.what).and(" was rolled back: ").and(since(view)))
        .collect();
    part.list(taken)
        .from(STATUS)
        .with_text("You can roll back immediately with `doorward rollout rollback`, in running sessions too.")
}

/// Which reviews are due how often, and which are overdue.
pub(super) fn cadence(gathered: &Gathered) -> Topic {
    let row = |when: &'static str, what: &'static str, command: &'static str| {
        vec![when.into(), what.into(), Text::code(command)]
    };
    let part = Topic::new("Review cadence").table(
        &["when", "what", "with"],
        vec![
            row(
                "weekly",
                "regret and friction: approvals that were undone, questions that are always overridden",
                "doorward tune weekly",
            ),
            row("monthly", "layer 2 thresholds by category", "doorward tune monthly"),
            row("quarterly", "overrides of every layer 1 rule: retire or tighten", "doorward tune quarterly"),
        ],
    );
    let overdue = gathered.record.iter().flat_map(|record| &record.overdue);
    overdue.fold(part, |part, sentence| part.warn(Text::sentence(sentence)).from("doorward status"))
}
