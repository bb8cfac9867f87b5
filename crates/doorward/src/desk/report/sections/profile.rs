//! Section 1: agents, tools, trust context, and external rules.

use std::collections::BTreeMap;

use doorward_engine::knowledge::{self, tool::Risk};

use super::super::document::{Text, Tone, Topic};
use super::super::gather::Gathered;
use super::count;
use crate::machine::agent::Agent;
use crate::policy::config::WAIT_SECONDS;
use crate::policy::config::profile::Choice;
use crate::policy::load::MANAGED;

pub(super) fn parts(gathered: &Gathered) -> Vec<Topic> {
    vec![agents(gathered), tools(gathered), trust(gathered), compliance(gathered)]
}

fn agents(gathered: &Gathered) -> Topic {
    let said = &gathered.loaded.config.profile.agents;
    let mut part = Topic::new("Agent type");
    part = if said.is_empty() {
        part.with_text(
            "You have not said what the agents are for; doorward assumes coding. `doorward report --new` asks you.",
        )
    } else {
        part.list(described(said)).from("doorward config")
    };
    let rows: Vec<Vec<Text>> = gathered.agents().into_iter().map(|agent| agent_row(gathered, agent)).collect();
    if rows.is_empty() {
        return part
            .with_text("No agent is set up yet, and none has made a call. Run `doorward setup` to install the hooks.");
    }
    part.table(&["agent", "mode", "what the mode does", "decisions", "approved", "asked", "blocked"], rows)
        .from("doorward status, doorward audit stats --agent NAME --since 30d")
        .with_text("An agent without its own mode is in `confirm-all`: nothing is approved.")
}

fn agent_row(gathered: &Gathered, agent: Agent) -> Vec<Text> {
    let mode = gathered.loaded.mode(agent.name());
    let is_staged = gathered.loaded.config.is_staged(agent.name());
    let figures = gathered.record.iter().flat_map(|record| &record.agents).find(|of| of.agent == agent);
    let sums = figures.map(|of| of.sums).unwrap_or_default();
    vec![
        Text::plain(agent.title()),
        if is_staged { Text::plain("in stages") } else { Text::code(mode.as_str()) },
        if is_staged {
            Text::from("as `doorward rollout status` says; see the last section")
        } else {
            Text::plain(mode.what())
        },
        count(sums.decisions),
        count(sums.approved),
        count(sums.confirmed),
        count(sums.blocked),
    ]
}

/// The words that were chosen, with their meaning.
fn described<T: Choice>(chosen: &[T]) -> Vec<Text> {
    chosen
        .iter()
        .map(|choice| Text::code(choice.as_str()).and(Text::plain(format!(": {}", choice.meaning()))))
        .collect()
}

fn tools(gathered: &Gathered) -> Topic {
    let agents = gathered.agents();
    let is_here = |name: &str| agents.is_empty() || agents.iter().any(|agent| inventory(*agent) == name);
    let mut rows: BTreeMap<(String, std::cmp::Reverse<Risk>, String), Vec<String>> = BTreeMap::new();
    for tool in knowledge::built_in().tools().unwrap_or_default().into_iter().filter(|tool| is_here(&tool.agent)) {
        let key = (tool.agent.to_string(), std::cmp::Reverse(tool.risk), tool.what.to_string());
        rows.entry(key).or_default().push(tool.name.to_string());
    }
    let row = |((agent, risk, what), names): ((String, std::cmp::Reverse<Risk>, String), Vec<String>)| {
        vec![
            Text::plain(Agent::parse(&agent).map_or("other agents", Agent::title)),
            Text::word(tone(risk.0), risk.0.as_str()),
            Text::plain(what),
            Text::joined(names.into_iter().map(Text::code)),
        ]
    };
    let levels = Risk::ALL
        .iter()
        .map(|risk| Text::word(tone(*risk), risk.as_str()).and(Text::plain(format!(": {}", risk.what()))));
    Topic::new("Tool inventory and inherent risk levels")
        .with_text("The inherent risk of a tool is what it could do, whatever its input. doorward asks about tools that are not listed.")
        .list(levels.collect())
        .table(&["agents", "inherent risk", "what they do", "tools"], rows.into_iter().map(row).collect())
        .from("doorward report --json")
        .with_text("doorward asks about tools of MCP servers until you trust the server, and again when its configuration changes.")
}

/// The inventory that an agent's tools are listed in.
const fn inventory(agent: Agent) -> &'static str {
    match agent {
        Agent::Claude => "claude",
        Agent::Codex => "codex",
        Agent::Gemini | Agent::Qwen => "gemini",
        Agent::Pi | Agent::Copilot | Agent::Opencode => "others",
        Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => "others",
    }
}

const fn tone(risk: Risk) -> Tone {
    match risk {
        Risk::None | Risk::Low => Tone::Approve,
        Risk::Medium => Tone::Confirm,
        Risk::High => Tone::Block,
    }
}

fn trust(gathered: &Gathered) -> Topic {
    let (config, trust) = (&gathered.loaded.config, &gathered.loaded.trust);
    let mut part = Topic::new("User trust context");
    part = match config.profile.trust {
        Some(context) => part.list(described(&[context])).from("doorward config"),
        None => part.with_text(
            "You have not said whose work it is; doorward assumes personal. `doorward report --new` asks you.",
        ),
    };
    let is_managed = gathered.loaded.sources.iter().any(|source| source.name == "managed" && source.is_there);
    let yes = |is: bool| Text::plain(if is { "yes" } else { "no" });
    let rows = vec![
        vec![Text::plain("projects whose recipes may run"), count(config.projects.trusted.len() as u64)],
        vec![Text::plain("programs trusted by content"), count(trust.binaries.len() as u64)],
        vec![Text::plain("hosts trusted by name"), count(trust.domains.len() as u64)],
        vec![Text::plain("tool servers trusted as configured"), count(trust.servers.len() as u64)],
    ];
    let settings = vec![
        vec![Text::code("strict"), Text::plain("the strict profile"), yes(config.strict)],
        vec![
            Text::code("wait_seconds"),
            Text::plain("seconds a call waits for an answer where the agent can't ask"),
            Text::figure(config.wait_seconds.unwrap_or(WAIT_SECONDS)),
        ],
        vec![Text::code(MANAGED), Text::plain("an administrator decides for the machine"), yes(is_managed)],
    ];
    part.table(&["what is trusted", "how many"], rows)
        .from("doorward status")
        .table(&["setting", "meaning", "value"], settings)
        .from("doorward config")
}

fn compliance(gathered: &Gathered) -> Topic {
    let profile = &gathered.loaded.config.profile;
    let mut part = Topic::new("Regulatory or compliance constraints");
    part = match (profile.compliance.is_empty(), profile.is_empty()) {
        (true, true) => part.with_text("You have not named any. `doorward report --new` asks you."),
        (true, false) => part.with_text("None were named."),
        (false, _) => part.list(described(&profile.compliance)).from("doorward config"),
    };
    let keep_days = gathered.loaded.config.snapshots.limits().keep_ms / super::super::gather::DAY_MS;
    part.table(
        &["what is kept", "for at least"],
        vec![
            vec![Text::plain("bodies of routine records"), Text::filled("{} days", [Text::figure(profile.retain_days())])],
            vec![
                Text::plain("blocks, overrides, identity, secrets, irreversible effects, policy changes"),
                Text::plain("ever"),
            ],
            vec![Text::from("snapshots for `doorward undo`"), Text::filled("{} days", [count(keep_days)])],
        ],
    )
    .from("doorward config, doorward audit retain --help")
    .with_text("Secrets and sensitive arguments are replaced by keyed hashes before anything is judged or recorded. Headers of dropped records stay, so the chain can always be verified.")
}
