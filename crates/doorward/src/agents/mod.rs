//! One file per agent: its JSON into events and calls, our judgement into its JSON. Pure: nothing here touches the machine.

pub mod claude;

use doorward_engine::ToolCall;

/// What an agent tells us.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// A call that waits for our answer.
    Proposed(Box<Proposed>),
    /// What became of a call.
    Outcome(Outcome),
    /// A session began or ended.
    Session { session: String, step: Step },
    /// Nothing that needs an answer or a record.
    Nothing,
}

/// A call before it runs.
#[derive(Debug, PartialEq)]
pub struct Proposed {
    pub call: ToolCall,
    /// The agent's own name for the call.
    pub id: Option<String>,
    pub turn: Option<String>,
}

/// A call after it ran or did not.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The agent's own name for the call.
    pub id: String,
    pub session: String,
    pub result: Result,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    Ran,
    Failed,
    /// The agent's own classifier refused it.
    Declined,
}

/// What happened to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Began,
    Ended,
}

/// What we say to the agent: two streams and an exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub stdout: String,
    pub stderr: String,
    pub code: u8,
}

/// What the agent should do with the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Allow(String),
    /// Let a person decide.
    Ask(String),
    /// Do not run it.
    Deny(String),
    /// Whatever it would do without us.
    Silent,
}
