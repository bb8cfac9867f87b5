//! The arguments of `doorward rules`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

/// Which rule, or what to do about one.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RulesArguments {
    /// The rule to show
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub what: Option<RulesCommand>,
}

/// What can be done with rules. Every change first shows what it would have done to recorded decisions.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Deny, ask about or allow calls by a pattern such as `bash(git push*)` (not for agents)
    Add {
        #[arg(value_enum)]
        list: List,
        /// The pattern, as in `permissions` of the configuration
        pattern: String,
        #[command(flatten)]
        over: ReplayRange,
    },
    /// Show what activating or retiring a rule would have changed; changes nothing
    Test {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        #[command(flatten)]
        over: ReplayRange,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Activate a shadow or retired rule (not for agents)
    Promote {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        #[command(flatten)]
        over: ReplayRange,
    },
    /// Retire a rule (not for agents)
    ///
    /// Retiring a rule that asks a soft question also stops the matrix and layer 2 from asking it instead; firm questions stay.
    /// Rules that prevent catastrophes are always active and can't be retired.
    Retire {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        #[command(flatten)]
        over: ReplayRange,
    },
    #[command(flatten)]
    Offering(Offering),
}

/// What can be done with the rules doorward offers after you approve something for the third time.
#[derive(Debug, Subcommand)]
pub(crate) enum Offering {
    /// List rules that would stop questions you keep answering with yes, and what each would have done
    Offered {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Accept an offered rule for calls you keep approving, after seeing its effect (not for agents)
    Accept {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
    },
    /// Don't offer this again for 30 days (not for agents)
    Decline {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
    },
    /// List accepted offers and when they expire
    Accepted {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Withdraw an accepted offer (not for agents)
    Withdraw {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
    },
}

/// Selects the decisions to judge again.
#[derive(Debug, Args)]
pub(crate) struct ReplayRange {
    /// Judge decisions from this time on: 2026-11-15, "2026-11-15 09:30" (UTC), or an age such as 12h or 30d
    #[arg(long, default_value = "30d", value_name = "WHEN")]
    pub since: String,
}

/// The permission lists of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum List {
    /// Block calls that match
    Deny,
    /// Ask about calls that match
    Ask,
    /// Skip soft questions about calls in which everything matches
    Allow,
}

impl List {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            List::Deny => "deny",
            List::Ask => "ask",
            List::Allow => "allow",
        }
    }
}
