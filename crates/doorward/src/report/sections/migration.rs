//! Section 8: which stage each agent is in, what leads on, and what leads back. Also the cadence of reviews.

use doorward_engine::Mode;

use super::super::document::{Part, Text};
use super::super::gather::Gathered;
use crate::agents::Agent;

/// How far one agent has come.
pub struct Stage {
    pub agent: Agent,
    pub mode: Mode,
    pub next: Text,
}

/// How far the installation has come.
pub struct Migration {
    pub stages: Vec<Stage>,
}

/// The state of the migration, as the configuration tells it.
pub fn state(gathered: &Gathered) -> Migration {
    let stage = |agent: Agent| {
        let mode = gathered.loaded.mode(agent.name());
        Stage { agent, mode, next: next(mode) }
    };
    Migration { stages: gathered.agents().into_iter().map(stage).collect() }
}

fn next(mode: Mode) -> Text {
    match mode {
        Mode::ConfirmAll => "let it watch: `doorward setup AGENT --mode shadow`",
        Mode::Shadow => "look at `doorward metrics`, then let it judge: `doorward setup AGENT --mode auto`",
        Mode::Auto => "nothing: keep to the cadence of reviews",
        Mode::Off => "nothing is guarded: `doorward setup AGENT --mode confirm-all`",
    }
    .into()
}

pub fn parts(gathered: &Gathered) -> Vec<Part> {
    let migration = state(gathered);
    let rows: Vec<Vec<Text>> = migration
        .stages
        .iter()
        .map(|stage| vec![Text::plain(stage.agent.title()), Text::code(stage.mode.as_str()), stage.next.clone()])
        .collect();
    let mut first = Part::new("How to deploy in \"confirm-all\" mode first").say(
        "An agent that nobody chose a mode for is in `confirm-all`: every call is judged and recorded, none is approved. From there: `shadow` records what would have been decided and leaves the agent's own flow; `auto` lets the judgement count.",
    );
    first = if rows.is_empty() {
        first.say("No agent is set up yet. Next step: `doorward setup`.")
    } else {
        first.table(&["agent", "stage", "next step"], rows).from("doorward status")
    };
    vec![
        first,
        Part::new("Gradual promotion criteria for heuristic rules").say(
            "A rule begins as `shadow`: what it would have said is recorded and changes no verdict. It is promoted when it fired as its examples say and people agreed.",
        ),
        Part::new("A/B testing plan for Layer-2 threshold changes").say(
            "No threshold set is being compared with another.",
        ),
        Part::new("Rollback trigger").say(
            "Taking an agent back counts at once: `doorward setup AGENT --mode confirm-all`. Alerts say when to.",
        ),
    ]
}

/// Who looks at what, how often.
pub fn cadence(_gathered: &Gathered) -> Part {
    let row = |when: &'static str, what: &'static str, command: &'static str| {
        vec![when.into(), what.into(), Text::code(command)]
    };
    Part::new("Review cadence").table(
        &["when", "what", "with"],
        vec![
            row(
                "weekly",
                "regret and friction: approvals that were taken back, questions that are always overridden",
                "doorward metrics --since 7d",
            ),
            row("monthly", "thresholds of layer 2 by category", "doorward metrics --since 30d"),
            row("quarterly", "every rule of layer 1 against the overrides: retire or tighten", "doorward rules"),
        ],
    )
}
