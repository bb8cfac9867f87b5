//! The configuration that fits the answers, added to the user's file without changing what is there.

use anyhow::{Context, Result};
use doorward_engine::Mode;
use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

use crate::machine::agent::Agent;
use crate::policy::config::profile::{AgentType, Choice, Constraint, Profile, RETAIN_DAYS, TrustContext};
use crate::policy::config::{Config, WAIT_SECONDS};

/// What is proposed, and why.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InterviewProposal {
    pub profile: Profile,
    pub settings: Vec<ProposedSetting>,
}

/// One key of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProposedSetting {
    /// The tables it is in.
    pub table: Vec<&'static str>,
    pub key: &'static str,
    pub value: ProposedValue,
    pub why: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ProposedValue {
    Yes,
    Number(i64),
    Share(f64),
    Word(&'static str),
}

/// The configuration with the proposal in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AppliedProposal {
    pub text: String,
    /// What was already there and stays, although something else was proposed.
    pub kept: Vec<String>,
}

impl ProposedSetting {
    fn new(table: &[&'static str], key: &'static str, value: ProposedValue, why: &'static str) -> ProposedSetting {
        ProposedSetting { table: table.to_vec(), key, value, why }
    }

    /// `thresholds.confidence`.
    pub(super) fn name(&self) -> String {
        self.table.iter().chain([&self.key]).copied().collect::<Vec<_>>().join(".")
    }
}

impl ProposedValue {
    pub(super) fn item(self) -> Value {
        match self {
            ProposedValue::Yes => true.into(),
            ProposedValue::Number(number) => number.into(),
            ProposedValue::Share(share) => share.into(),
            ProposedValue::Word(word) => word.into(),
        }
    }
}

/// What fits the answers, for the agents that are on the machine.
pub(super) fn propose(
    kinds: Vec<AgentType>,
    trust: TrustContext,
    compliance: Vec<Constraint>,
    agents: &[Agent],
) -> InterviewProposal {
    let is_ruled = !compliance.is_empty();
    let is_ops = kinds.contains(&AgentType::Ops);
    let mut settings: Vec<ProposedSetting> = Vec::new();
    for agent in agents {
        let why = "every agent starts with `confirm-all`: doorward approves nothing until you say so";
        let mode = ProposedValue::Word(Mode::ConfirmAll.as_str());
        settings.push(ProposedSetting::new(&["agents", agent.name()], "mode", mode, why));
    }
    if let Some(why) = strictly(trust, is_ruled, is_ops) {
        settings.push(ProposedSetting::new(&[], "strict", ProposedValue::Yes, why));
        let why = "a wrong approval costs more here than a question";
        settings.push(ProposedSetting::new(&["thresholds"], "confidence", ProposedValue::Share(0.9), why));
        settings.push(ProposedSetting::new(&["thresholds"], "irreversible", ProposedValue::Share(0.97), why));
    }
    let (wait, why) = match trust {
        TrustContext::Personal => (WAIT_SECONDS, "either you are at your desk or you are not"),
        TrustContext::Team | TrustContext::Enterprise => (120, "the person who can answer may be at another desk"),
    };
    settings.push(ProposedSetting::new(&[], "wait_seconds", ProposedValue::Number(wait.into()), why));
    if compliance.contains(&Constraint::Gdpr) {
        let why = "snapshots may contain personal data, so they are kept for only a week";
        settings.push(ProposedSetting::new(&["snapshots"], "keep_days", ProposedValue::Number(7), why));
    }
    let retain_days = compliance.iter().map(|constraint| years(*constraint)).max().unwrap_or(RETAIN_DAYS);
    InterviewProposal {
        profile: Profile { agents: kinds, trust: Some(trust), compliance, retain_days: Some(retain_days) },
        settings,
    }
}

fn strictly(trust: TrustContext, is_ruled: bool, is_ops: bool) -> Option<&'static str> {
    match (trust, is_ruled, is_ops) {
        (_, true, _) => Some("under external rules, hosts and programs that are not listed are off limits"),
        (TrustContext::Enterprise, false, _) => {
            Some("others are responsible for this machine, so hosts and programs that are not listed are off limits")
        }
        (TrustContext::Personal | TrustContext::Team, false, true) => {
            Some("what an ops agent does can rarely be undone")
        }
        (TrustContext::Personal | TrustContext::Team, false, false) => None,
    }
}

/// How many days the record counts as evidence.
const fn years(constraint: Constraint) -> u32 {
    match constraint {
        Constraint::Gdpr | Constraint::Internal => RETAIN_DAYS,
        Constraint::PciDss | Constraint::Soc2 | Constraint::Iso27001 => 365,
        Constraint::Hipaa => 6 * 365 + 2,
        Constraint::Sox => 7 * 365 + 2,
    }
}

impl InterviewProposal {
    /// Adds the proposal to a configuration. Only the answers replace existing values; every other key stays.
    pub(super) fn applied_to(&self, text: &str) -> Result<AppliedProposal> {
        let before = Config::parse(text).map_err(anyhow::Error::msg)?;
        let mut document: DocumentMut = text.parse().context("the configuration is not TOML")?;
        let mut kept = Vec::new();
        for setting in &self.settings {
            let table = within(document.as_table_mut(), &setting.table)?;
            let wanted = setting.value.item();
            match table.get(setting.key).and_then(Item::as_value) {
                None => drop(table.insert(setting.key, Item::Value(wanted))),
                Some(there) if bare(there) == bare(&wanted) => {}
                Some(there) => {
                    kept.push(format!("`{}` stays {}; {} was proposed", setting.name(), bare(there), bare(&wanted)))
                }
            }
        }
        self.answers(within(document.as_table_mut(), &["profile"])?, &before.profile);
        let text = document.to_string();
        Config::parse(&text).map_err(anyhow::Error::msg)?;
        Ok(AppliedProposal { text, kept })
    }

    fn answers(&self, table: &mut Table, before: &Profile) {
        table.insert("agents", value(words(&self.profile.agents)));
        if let Some(trust) = self.profile.trust {
            table.insert("trust", value(trust.as_str()));
        }
        table.insert("compliance", value(words(&self.profile.compliance)));
        // A changed answer does not shorten a retention time that was already promised.
        let retain_days = self.profile.retain_days().max(before.retain_days());
        table.insert("retain_days", value(i64::from(retain_days)));
    }
}

fn words<T: Choice>(list: &[T]) -> Array {
    list.iter().map(|choice| choice.as_str()).collect()
}

fn bare(value: &Value) -> String {
    value.clone().decorated("", "").to_string()
}

/// The table at the end of a path, created if missing.
fn within<'a>(root: &'a mut Table, path: &[&str]) -> Result<&'a mut Table> {
    let mut table = root;
    for (depth, name) in path.iter().enumerate() {
        let is_last = depth + 1 == path.len();
        let item = table.entry(name).or_insert_with(|| {
            let mut made = Table::new();
            made.set_implicit(!is_last);
            Item::Table(made)
        });
        table =
            item.as_table_mut().with_context(|| format!("`{name}` is not a separate table in the configuration"))?;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(trust: TrustContext, compliance: Vec<Constraint>) -> InterviewProposal {
        propose(vec![AgentType::Coding], trust, compliance, &[Agent::Claude])
    }

    #[test]
    fn a_machine_without_configuration_gets_one_that_counts() {
        let applied =
            proposed(TrustContext::Enterprise, vec![Constraint::Gdpr, Constraint::Soc2]).applied_to("").unwrap();
        let config = Config::parse(&applied.text).unwrap();
        assert_eq!((config.strict, config.wait_seconds, config.mode("claude")), (true, Some(120), Mode::ConfirmAll));
        assert_eq!((config.thresholds.confidence, config.snapshots.keep_days), (Some(0.9), Some(7)));
        assert_eq!((config.profile.trust, config.profile.retain_days()), (Some(TrustContext::Enterprise), 365));
        assert!(applied.kept.is_empty());
    }

    #[test]
    fn personal_work_without_rules_stays_as_it_is_by_default() {
        let applied = proposed(TrustContext::Personal, Vec::new()).applied_to("").unwrap();
        let config = Config::parse(&applied.text).unwrap();
        assert_eq!((config.strict, config.wait_seconds, config.thresholds.confidence), (false, Some(45), None));
        assert_eq!(config.profile.compliance, []);
    }

    #[test]
    fn what_stands_in_the_file_stays_and_is_named() {
        let text =
            "# mine\nwait_seconds = 10 # short\n\n[agents.claude]\nmode = \"auto\"\n\n[profile]\nretain_days = 400\n";
        let applied = proposed(TrustContext::Team, Vec::new()).applied_to(text).unwrap();
        for line in ["# mine", "wait_seconds = 10 # short", "mode = \"auto\"", "trust = \"team\"", "retain_days = 400"]
        {
            assert!(applied.text.contains(line), "{}", applied.text);
        }
        assert_eq!(applied.kept.len(), 2, "{:?}", applied.kept);
        assert_eq!(applied.kept[0], "`agents.claude.mode` stays \"auto\"; \"confirm-all\" was proposed");
        let again = proposed(TrustContext::Team, Vec::new()).applied_to(&applied.text).unwrap();
        assert_eq!(again.text, applied.text);
    }

    #[test]
    fn a_configuration_that_is_none_is_left_alone() {
        for text in ["strict = ", "strct = true", "agents = 5"] {
            assert!(proposed(TrustContext::Team, Vec::new()).applied_to(text).is_err(), "{text}");
        }
    }
}
