//! What the user said about the agents, their context and the rules they work under; `report --new` asks for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Your answers for the report. Only `retain_days` changes what doorward does. A repository can't set this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Profile {
    /// What the agents are for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentType>,
    /// Whose work it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustContext>,
    /// External rules that apply to the work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compliance: Vec<Constraint>,
    /// Minimum number of days `doorward audit retain` keeps bodies; at least 90.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retain_days: Option<u32>,
}

/// What an agent is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AgentType {
    Coding,
    Research,
    Browsing,
    Ops,
}

/// Whose work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrustContext {
    Personal,
    Team,
    Enterprise,
}

/// An external rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Constraint {
    Gdpr,
    Hipaa,
    PciDss,
    Sox,
    Soc2,
    Iso27001,
    Internal,
}

/// A word with its meaning.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    const ALL: &'static [Self];
    fn as_str(self) -> &'static str;
    fn meaning(self) -> &'static str;
}

impl Choice for AgentType {
    const ALL: &'static [AgentType] = &[AgentType::Coding, AgentType::Research, AgentType::Browsing, AgentType::Ops];

    fn as_str(self) -> &'static str {
        match self {
            AgentType::Coding => "coding",
            AgentType::Research => "research",
            AgentType::Browsing => "browsing",
            AgentType::Ops => "ops",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            AgentType::Coding => "reads and changes project files, runs their tests and builds",
            AgentType::Research => "reads a lot, from files and the network, and writes little",
            AgentType::Browsing => "fetches from hosts that are not known in advance",
            AgentType::Ops => "acts on machines, services and clouds; what it does can rarely be undone",
        }
    }
}

impl Choice for TrustContext {
    const ALL: &'static [TrustContext] = &[TrustContext::Personal, TrustContext::Team, TrustContext::Enterprise];

    fn as_str(self) -> &'static str {
        match self {
            TrustContext::Personal => "personal",
            TrustContext::Team => "team",
            TrustContext::Enterprise => "enterprise",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            TrustContext::Personal => "one person, who sees the questions and bears the damage",
            TrustContext::Team => {
                "several people share what the agents change; the person asked may not be at their desk"
            }
            TrustContext::Enterprise => {
                "others are responsible for the rules; an administrator may set them for the machine"
            }
        }
    }
}

impl Choice for Constraint {
    const ALL: &'static [Constraint] = &[
        Constraint::Gdpr,
        Constraint::Hipaa,
        Constraint::PciDss,
        Constraint::Sox,
        Constraint::Soc2,
        Constraint::Iso27001,
        Constraint::Internal,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Constraint::Gdpr => "gdpr",
            Constraint::Hipaa => "hipaa",
            Constraint::PciDss => "pci-dss",
            Constraint::Sox => "sox",
            Constraint::Soc2 => "soc2",
            Constraint::Iso27001 => "iso27001",
            Constraint::Internal => "internal",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Constraint::Gdpr => "personal data of people in the EU: copies are kept no longer than needed",
            Constraint::Hipaa => "health data in the US: records of access are kept for years",
            Constraint::PciDss => "card data: the audit trail is kept for a year",
            Constraint::Sox => "financial reporting: records are kept for years",
            Constraint::Soc2 => "an auditor reviews a year of evidence",
            Constraint::Iso27001 => "certified security management: a year of evidence",
            Constraint::Internal => "your own organization's rules",
        }
    }
}

/// The minimum that `audit retain` always keeps.
// A quarterly review needs its quarter.
pub(crate) const RETAIN_DAYS: u32 = 90;

impl Profile {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Profile::default()
    }

    /// The minimum number of days bodies are kept.
    pub(crate) fn retain_days(&self) -> u32 {
        self.retain_days.unwrap_or(RETAIN_DAYS).max(RETAIN_DAYS)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        match self.retain_days {
            Some(days) if days < RETAIN_DAYS => Err(format!("`profile.retain_days` must be at least {RETAIN_DAYS}")),
            Some(_) | None => Ok(()),
        }
    }

    /// These answers, but without a shorter retention than the other's.
    pub(super) fn no_laxer_than(mut self, held: &Profile) -> Profile {
        self.retain_days = self.retain_days.max(held.retain_days);
        self
    }
}
