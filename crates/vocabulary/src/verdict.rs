//! Verdicts, who may clear them, and the stages that they come from.

use crate::words;

words! {
    /// The answer to a tool call, in order of strictness.
    Verdict {
        AutoApprove = "approve" : "run without interruption",
        Confirm = "confirm" : "pause, show the evidence, wait for a person",
        Block = "block" : "do not run, say why, record a violation",
    }
}

words! {
    /// Who may clear an opinion, from the easiest to the hardest.
    Clearance {
        Soft = "soft" : "a trusted allow rule, the user's own words, the reviewer, or one key",
        Firm = "firm" : "one key or a native yes, for this call only",
        Hard = "hard" : "an explicit command with the target typed",
        Dual = "dual" : "the explicit command twice, at least 30 seconds apart",
    }
}

words! {
    /// The stage of judging that an opinion comes from.
    Source {
        Mode = "mode" : "the mode of the agent",
        Cancelled = "cancelled" : "the turn was cancelled",
        Permission = "permission" : "a deny, ask or allow pattern of the configuration",
        Coverage = "coverage" : "how well the call was understood",
        Rule = "layer-1" : "a rule of layer 1",
        Matrix = "matrix" : "the decision matrix",
        Score = "layer-2" : "the risk model",
        Review = "reviewer" : "a language model that the user configured",
        Boundary = "boundary" : "something the user said not to do",
        Limit = "limit" : "a rate limit or the denial limit",
        Nothing = "nothing" : "no stage had an opinion",
    }
}

impl Default for Verdict {
    /// What an absent verdict means: a person is asked.
    fn default() -> Verdict {
        Verdict::Confirm
    }
}
