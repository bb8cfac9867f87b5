//! Questions that the agent itself cannot put to a person.

use crate::agents::Decision;

/// Who can answer a question, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// The agent asks whoever attends the session.
    Here,
    /// Nobody seems to attend the session; the agent asks whoever does, and refuses by itself what nobody answers.
    Perhaps,
    /// Somebody may be there, but the agent has no way to ask before a call.
    Elsewhere,
    /// Nobody attends the session.
    Nobody,
}

/// The one place where a person's answer from outside the agent comes in.
///
/// As long as there is none, the question ends as a refusal that says how a person can let the call pass.
pub fn wait_for_a_person(why: &str, asking: Asking) -> Decision {
    const HOW: &str = "a person can run it in a terminal of their own, or allow calls like it with a rule in the \
                       configuration (`permissions.allow`) if it may be allowed by rule";
    let refused = |because: &str| {
        Decision::Deny(format!("doorward needs a person's yes: {why}. {because}, so the call did not run; {HOW}"))
    };
    match asking {
        Asking::Here | Asking::Perhaps => {
            Decision::Ask(format!("doorward asks: {why}. if nobody answers, the call does not run; {HOW}"))
        }
        Asking::Elsewhere => refused("this agent cannot ask anybody before a call"),
        Asking::Nobody => refused("nobody can answer in this session"),
    }
}
