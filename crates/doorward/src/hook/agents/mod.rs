//! One file per agent: its JSON into events and calls, our judgement into its JSON. Pure: nothing here touches the machine.

pub mod claude;
mod codex;
mod copilot;
mod cursor;
mod dialect;
mod fields;
#[cfg(test)]
mod fixtures;
mod gemini;
mod generic;
mod guidance;
mod likeness;
mod opencode;
mod patch;
mod pi;
mod qwen;
pub mod shells;
#[cfg(test)]
mod tests;
mod unknown;
mod vscode;
mod windsurf;

use doorward_engine::{Tool, ToolCall};
use doorward_ledger::Receipt;
use doorward_vocabulary::SessionId;
use serde_json::Value;

pub use gemini::within as directory_before;
pub use guidance::GUIDANCE;

use crate::machine::agent::Agent;

impl Agent {
    /// Reads one payload. An error means that nobody knows what the agent wants: the call must not run.
    pub fn translate(self, payload: &Value, attended: bool) -> Result<Event, String> {
        match self {
            Agent::Claude => claude::translate(payload, attended),
            Agent::Codex => codex::translate(payload),
            Agent::Pi => pi::translate(payload),
            Agent::Gemini => gemini::translate(payload, attended),
            Agent::Qwen => qwen::translate(payload),
            Agent::Copilot => copilot::translate(payload),
            Agent::Opencode => opencode::translate(payload),
            Agent::Cursor => cursor::translate(payload),
            Agent::Vscode => vscode::translate(payload),
            Agent::Windsurf => windsurf::translate(payload),
            Agent::Generic => generic::translate(payload),
        }
    }

    /// A tool by the agent's own name for it, as its hook would read it; `None` if the agent has none of that name or shape.
    pub fn tool(self, name: &str, input: &Value, cwd: &str) -> Option<Tool> {
        let payload = serde_json::json!({ "cwd": cwd, "tool_name": name, "tool_input": input });
        let fields = fields::Fields::of(&payload).ok()?;
        let read = match self {
            Agent::Claude => claude::tool(name, input, fields),
            Agent::Codex => codex::tool(name, input, fields),
            Agent::Pi => pi::tool(name, input, fields),
            Agent::Gemini | Agent::Qwen => gemini::tool(name, input, fields),
            Agent::Copilot => copilot::tool(name, input, fields),
            Agent::Opencode => opencode::tool(name, input, fields),
            Agent::Cursor => cursor::tool(name, input),
            Agent::Vscode => vscode::tool(name, input, fields),
            Agent::Windsurf | Agent::Generic => return None,
        };
        read.ok().filter(|tool| !matches!(tool, Tool::Other { .. }))
    }

    /// Says the decision in the agent's words.
    pub fn reply(self, proposed: &Proposed, decision: &Decision) -> Reply {
        match self {
            Agent::Claude | Agent::Qwen | Agent::Vscode => dialect::reply(decision),
            Agent::Pi | Agent::Opencode => pi::reply(decision),
            Agent::Gemini => gemini::reply(decision),
            Agent::Copilot => copilot::reply(decision),
            Agent::Cursor => cursor::reply(proposed.asked, decision),
            Agent::Windsurf => windsurf::reply(decision),
            Agent::Codex => codex::reply(proposed.asked, decision),
            Agent::Generic => generic::reply(proposed.id.as_deref(), decision),
        }
    }

    /// A refusal in the agent's words, whatever it wants to know; empty where it has none but the exit code.
    pub fn refusal(self, reason: &str) -> Reply {
        let call = ToolCall::new(Tool::Other { name: String::new(), input: Value::Null }, "/");
        let situation = Situation::default();
        let proposed = Proposed { call, id: None, turn: None, asked: Asked::Call, transcript: None, situation };
        let reply = self.reply(&proposed, &Decision::Deny(reason.to_owned()));
        if reply.code == 0 { reply } else { Reply::default() }
    }

    /// Hands the agent's model a text at the beginning of a session, where it takes one.
    pub fn context(self, text: &str) -> Reply {
        match self {
            Agent::Claude | Agent::Codex | Agent::Pi | Agent::Gemini | Agent::Qwen | Agent::Vscode => {
                dialect::context(text)
            }
            Agent::Copilot | Agent::Opencode | Agent::Cursor | Agent::Windsurf | Agent::Generic => Reply::default(),
        }
    }

    /// A text for the person at the end of a session, where the agent shows one.
    pub fn farewell(self, text: &str) -> Reply {
        match self {
            Agent::Claude | Agent::Gemini | Agent::Qwen => {
                let answer = serde_json::json!({ "systemMessage": text });
                Reply { stdout: format!("{answer}\n"), ..Reply::default() }
            }
            // Codex takes an unknown field for a failure; the others show nothing.
            Agent::Codex | Agent::Pi | Agent::Copilot | Agent::Opencode => Reply::default(),
            Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => Reply::default(),
        }
    }

    /// The agent itself can put this question to a person.
    pub const fn can_ask(self, asked: Asked) -> bool {
        match (self, asked) {
            (_, Asked::Permission) => true,
            (_, Asked::Classified | Asked::Unheard) => false,
            (Agent::Claude | Agent::Pi | Agent::Generic, Asked::Call) => true,
            // Gemini CLI waits for ever where there is no terminal; `attended` tells.
            (Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Vscode, Asked::Call) => true,
            // Codex takes a question before a call for a failure of the hook, and runs the call. OpenCode and Windsurf have
            // no word for one, and nobody has seen Cursor heed it there.
            (Agent::Codex | Agent::Opencode | Agent::Cursor | Agent::Windsurf, Asked::Call) => false,
        }
    }

    /// Where nobody can answer, the agent itself turns a question into a refusal, in every mode of its own.
    pub const fn refuses_what_nobody_answers(self) -> bool {
        match self {
            // It calls a session unattended although a program may be there to ask its user.
            Agent::Claude => true,
            Agent::Codex | Agent::Pi | Agent::Gemini | Agent::Opencode => false,
            // They do not say whether anybody attends, so they are always asked.
            Agent::Qwen | Agent::Copilot => false,
            Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => false,
        }
    }

    /// The agent gives each call a name, the same before and after it ran.
    pub const fn names_calls(self) -> bool {
        match self {
            Agent::Claude | Agent::Codex | Agent::Pi | Agent::Qwen | Agent::Opencode => true,
            Agent::Cursor | Agent::Vscode | Agent::Generic => true,
            Agent::Gemini | Agent::Copilot | Agent::Windsurf => false,
        }
    }

    /// A refusal by exit code alone, without a word, does not stop this agent.
    pub const fn wants_words(self) -> bool {
        match self {
            Agent::Codex | Agent::Gemini | Agent::Qwen => true,
            // Nobody has tried these without words.
            Agent::Cursor | Agent::Vscode | Agent::Windsurf => true,
            Agent::Claude | Agent::Pi | Agent::Copilot | Agent::Opencode | Agent::Generic => false,
        }
    }

    /// The variable that says `0` where nobody attends the session.
    pub const fn attendance_variable(self) -> Option<&'static str> {
        match self {
            Agent::Claude => Some("CLAUDE_CODE_SESSION_ATTENDED"),
            Agent::Codex | Agent::Pi | Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Opencode => None,
            Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => None,
        }
    }
}

/// What an agent tells us.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// A call that waits for our answer.
    Proposed(Box<Proposed>),
    /// What became of a call.
    Outcome(Outcome),
    /// Words that reached the agent as a person's.
    Said(Said),
    /// A session began, ended or went on in another way.
    Session(SessionEvent),
    /// A person switched the guard off or on for a session.
    Switched(Switched),
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
    pub asked: Asked,
    /// The file in which the agent writes down the session.
    pub transcript: Option<String>,
    pub situation: Situation,
}

/// What the agent says about itself, for a reviewer; nothing of it is taken for true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Situation {
    /// The instruction files that it has loaded, by path.
    pub instructions: Option<Vec<(String, String)>>,
    /// The model of the session, as `provider/model`.
    pub model: Option<String>,
    /// The agent's own key for the reviewer's provider.
    pub handed: Option<Handed>,
}

/// A key that an agent lends for one request. It is never stored, shown or recorded.
#[derive(Clone, PartialEq, Eq)]
pub struct Handed {
    pub provider: String,
    /// Where the agent itself sends it.
    pub url: String,
    pub key: String,
}

impl std::fmt::Debug for Handed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Handed").field("provider", &self.provider).field("url", &self.url).finish_non_exhaustive()
    }
}

/// What the agent wants to know about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Whether it may run.
    Call,
    /// The same, where a classifier of the agent's own answers questions instead of a person.
    Classified,
    /// The same, where nobody knows who answers a question.
    Unheard,
    /// Whether it may have a permission that the agent would otherwise ask a person for.
    Permission,
}

/// A call after it ran or did not.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The agent's own name for the call.
    pub id: String,
    pub session: SessionId,
    pub result: Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Ran,
    Failed,
    /// The agent's own classifier refused it.
    Declined,
    /// A person refused it in the agent's own prompt.
    Refused,
}

/// A person's words.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    pub session: SessionId,
    pub words: String,
    pub turn: Option<String>,
    pub proof: Proof,
}

/// How we know that a person said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The event exists for a person's words only.
    Event,
    /// The agent's own transcript must say so as well.
    Transcript,
}

/// A session, where it works, and what happened to it.
#[derive(Debug, PartialEq, Eq)]
pub struct SessionEvent {
    pub session: SessionId,
    pub cwd: Option<String>,
    pub step: Step,
}

/// A switch for one session.
#[derive(Debug, PartialEq, Eq)]
pub struct Switched {
    pub session: SessionId,
    pub is_on: bool,
}

/// What happened to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Began,
    Ended,
    /// Its history was replaced by a summary.
    Compacted,
    /// It started an agent of its own, known by this name.
    SubagentBegan(String),
    SubagentEnded(String),
}

/// What we say to the agent: two streams and an exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub stdout: String,
    pub stderr: String,
    pub code: u8,
}

/// What the agent should do with the call.
#[derive(Debug)]
pub enum Decision {
    /// Run it.
    Allow(Approval),
    /// Let a person decide.
    Ask(String),
    /// Do not run it.
    Deny(String),
    /// Whatever it would do without us.
    Silent,
}

/// A yes with its reason. INVARIANT: it is made of the receipt of a durable decision, and of nothing else.
#[derive(Debug)]
pub struct Approval(String);

impl Approval {
    pub fn on(_receipt: Receipt, reason: String) -> Approval {
        Approval(reason)
    }

    pub fn reason(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    fn pretended(reason: &str) -> Approval {
        Approval(reason.to_owned())
    }
}

impl Decision {
    /// A person who was asked elsewhere said no.
    pub fn refused_by_person() -> Decision {
        Decision::Deny("doorward blocks this because a person refused exactly this call".to_owned())
    }
}
