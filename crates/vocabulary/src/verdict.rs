//! Verdicts, who may clear them, and the stages that they come from.

use crate::words;

words! {
    /// The answer to a tool call, in order of strictness.
    Verdict {
        AutoApprove = "approve" : "run without interruption",
        Confirm = "confirm" : "pause, show the evidence, wait for your answer",
        Block = "block" : "do not run, say why, record a violation",
    }
}

words! {
    /// Who may clear an opinion, from the easiest to the hardest.
    Clearance {
        Soft = "soft" : "a trusted allow rule, your own words, the reviewer, or one keypress",
        Firm = "firm" : "one keypress or a yes in the agent's prompt, for this call only",
        Hard = "hard" : "`doorward approve`, typing the target",
        Dual = "dual" : "`doorward approve` twice, at least 30 seconds apart",
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
        Review = "reviewer" : "the language model that you configured as reviewer",
        Boundary = "boundary" : "something you said not to do",
        Limit = "limit" : "a rate limit or the denial limit",
        Contained = "contained" : "a contained run, whose deeds are judged",
        Nothing = "nothing" : "nothing judged the call",
    }
}

impl Default for Verdict {
    /// What an absent verdict means: a person is asked.
    fn default() -> Verdict {
        Verdict::Confirm
    }
}
