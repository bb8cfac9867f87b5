//! What `doorward rules` is asked.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

/// Which rule, or what to do about one.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RulesArguments {
    /// The rule to show
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub what: Option<What>,
}

/// What can be done about rules. Every change shows first what it would have done to recorded decisions.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Deny, ask about or allow calls by a pattern such as `bash(git push*)`; only a person may
    Add {
        #[arg(value_enum)]
        list: List,
        /// The pattern, as in `permissions` of the configuration
        pattern: String,
        #[command(flatten)]
        over: Over,
    },
    /// Show what a rule would change if it counted, or did not count any more; changes nothing
    Test {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        #[command(flatten)]
        over: Over,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a rule count that was only recorded, or was retired; only a person may
    Promote {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        #[command(flatten)]
        over: Over,
    },
    /// Let a rule count no longer; only a person may
    ///
    /// A soft question goes with it, so that neither the matrix nor layer 2 asks it instead; what is firm stays. What stops a
    /// catastrophe always counts and cannot be retired.
    Retire {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        #[command(flatten)]
        over: Over,
    },
    #[command(flatten)]
    Offering(Offering),
}

/// What can be done about what doorward offers after a third yes.
#[derive(Debug, Subcommand)]
pub enum Offering {
    /// List the rules that would stop questions you keep answering with yes, and what each would have done
    Offered {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let calls run that you keep letting run, after their effect was shown; only a person may
    Accept {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
    },
    /// Do not offer this again for 30 days; only a person may
    Decline {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
    },
    /// List what was accepted out of history, and until when it counts
    Accepted {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take back what was accepted out of history; only a person may
    Withdraw {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
    },
}

/// Which decisions are judged again.
#[derive(Debug, Args)]
pub struct Over {
    /// Judge decisions again that are not older: 2026-11-15, "2026-11-15 09:30" (UTC), or how long ago: 12h, 30d
    #[arg(long, default_value = "30d", value_name = "WHEN")]
    pub since: String,
}

/// The lists of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum List {
    /// A call that matches is blocked
    Deny,
    /// A call that matches is confirmed
    Ask,
    /// A soft question about a call is not asked if everything in it matches
    Allow,
}

impl List {
    pub const fn name(self) -> &'static str {
        match self {
            List::Deny => "deny",
            List::Ask => "ask",
            List::Allow => "allow",
        }
    }
}
