//! `[run]`: how calls get to the box of a contained run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a call that only doubt stands against gets to the box. A repository can't set this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Runs {
    /// `doorward setup` chooses it after testing the box; default: `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<RunMode>,
}

/// The ways to the box. The order is how much happens without you.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RunMode {
    /// Calls are asked about as if there were no box.
    #[default]
    Off,
    /// The call is tried in the box and discarded, and you are asked with what it did.
    Rehearse,
    /// The call is refused, and the agent is told to run it with `doorward run`.
    Steer,
    /// The call itself is replaced by a contained run where that was tested with the agent's version; elsewhere as `steer`.
    Rewrite,
}

impl RunMode {
    /// The word in the configuration.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            RunMode::Off => "off",
            RunMode::Rehearse => "rehearse",
            RunMode::Steer => "steer",
            RunMode::Rewrite => "rewrite",
        }
    }

    /// What it means, for `status` and `setup`.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            RunMode::Off => "unknown code is asked about",
            RunMode::Rehearse => "unknown code is tried in a box, and you are asked with what it did",
            RunMode::Steer => "agents are told to run unknown code in a box, which judges what it did",
            RunMode::Rewrite => {
                "unknown code runs in a box, which judges what it did; agents that were not tested are told to run it there"
            }
        }
    }
}

impl Runs {
    pub(crate) fn mode(self) -> RunMode {
        self.mode.unwrap_or_default()
    }

    /// These, falling back to the others.
    #[must_use]
    pub(crate) fn or(self, other: Runs) -> Runs {
        Runs { mode: self.mode.or(other.mode) }
    }

    /// The mode in which less happens without the user.
    #[must_use]
    pub(crate) fn no_laxer_than(self, held: Runs) -> Runs {
        if self.mode() <= held.mode() { self } else { held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::config::Config;

    #[test]
    fn nothing_goes_to_the_box_by_itself_unless_the_user_chose_it() {
        assert_eq!(Config::default().run.mode(), RunMode::Off);
        let chosen = Config::parse("[run]\nmode = \"rewrite\"").unwrap();
        assert_eq!(chosen.run.mode(), RunMode::Rewrite);
        assert!(Config::parse("[run]\nmode = \"allow\"").is_err());
        // An agent may have written it into a repository, or into the user's file.
        assert_eq!(Config::default().tightened_by(chosen.clone()).run.mode(), RunMode::Off);
        assert_eq!(chosen.clone().no_laxer_than(&Config::default()).run.mode(), RunMode::Off);
        assert_eq!(Config::default().no_laxer_than(&chosen).run.mode(), RunMode::Off);
        assert_eq!(chosen.clone().no_laxer_than(&chosen).run.mode(), RunMode::Rewrite);
    }
}
