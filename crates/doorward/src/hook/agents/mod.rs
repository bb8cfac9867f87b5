//! One file per agent: translates its JSON to events and calls, and our judgement to its JSON. Pure: nothing here touches the
//! machine.

pub(crate) mod claude;
mod codex;
mod copilot;
mod cursor;
mod dialect;
mod fields;
mod fingerprint;
#[cfg(test)]
mod fixtures;
mod gemini;
mod generic;
mod guidance;
mod opencode;
mod patch;
mod pi;
mod qwen;
pub(crate) mod shells;
#[cfg(test)]
mod tests;
mod unknown;
mod vscode;
mod windsurf;

use doorward_engine::{Tool, ToolCall};
use doorward_ledger::Receipt;
use doorward_vocabulary::SessionId;
use serde_json::Value;

pub(crate) use gemini::within as directory_before;
pub(crate) use guidance::GUIDANCE;

use crate::machine::agent::Agent;

impl Agent {
    /// Reads one payload. An error means it is unknown what the agent wants: the call must not run.
    pub(crate) fn translate(self, payload: &Value, attended: bool) -> Result<Event, String> {
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
    pub(crate) fn tool(self, name: &str, input: &Value, cwd: &str) -> Option<Tool> {
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

    /// Formats the decision for the agent.
    pub(crate) fn reply(self, proposed: &ProposedCall, decision: &Decision) -> Reply {
        match self {
            Agent::Claude => dialect::reply_or_replace(proposed, decision),
            Agent::Qwen | Agent::Vscode => dialect::reply(decision),
            Agent::Pi | Agent::Opencode => pi::reply(proposed, decision),
            Agent::Gemini => gemini::reply(proposed, decision),
            Agent::Copilot => copilot::reply(decision),
            Agent::Cursor => cursor::reply(proposed.asked, decision),
            Agent::Windsurf => windsurf::reply(decision),
            Agent::Codex => codex::reply(proposed, decision),
            Agent::Generic => generic::reply(proposed.id.as_deref(), decision),
        }
    }

    /// What the agent will report as having run if it runs this instead, where it gives calls no ids.
    pub(crate) fn fingerprint_of_replaced(self, proposed: &ProposedCall, command: &str) -> Option<String> {
        let input = dialect::replaced(proposed.input.as_ref()?, command);
        (self == Agent::Gemini).then(|| fingerprint::fingerprint(&proposed.call.session, gemini::SHELL, &input))
    }

    /// A refusal in the agent's format, whatever it asked; empty if only the exit code counts.
    pub(crate) fn refusal(self, reason: &str) -> Reply {
        let call = ToolCall::new(Tool::Other { name: String::new(), input: Value::Null }, "/");
        let reply = self.reply(&ProposedCall::bare(call), &Decision::Deny(reason.to_owned()));
        if reply.code == 0 { reply } else { Reply::default() }
    }

    /// A text for the agent's model at the start of a session, if it accepts one.
    pub(crate) fn context(self, text: &str) -> Reply {
        match self {
            Agent::Claude | Agent::Codex | Agent::Pi | Agent::Gemini | Agent::Qwen | Agent::Vscode => {
                dialect::context(text)
            }
            Agent::Copilot | Agent::Opencode | Agent::Cursor | Agent::Windsurf | Agent::Generic => Reply::default(),
        }
    }

    /// A text for the user at the end of a session, if the agent shows one.
    pub(crate) fn farewell(self, text: &str) -> Reply {
        match self {
            Agent::Claude | Agent::Gemini | Agent::Qwen => {
                let answer = serde_json::json!({ "systemMessage": text });
                Reply { stdout: format!("{answer}\n"), ..Reply::default() }
            }
            // Codex treats an unknown field as a failure; the others show nothing.
            Agent::Codex | Agent::Pi | Agent::Copilot | Agent::Opencode => Reply::default(),
            Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => Reply::default(),
        }
    }

    /// The agent itself can ask the user this question.
    pub(crate) const fn can_ask(self, asked: AgentQuestion) -> bool {
        match (self, asked) {
            (_, AgentQuestion::Permission) => true,
            (_, AgentQuestion::Classified | AgentQuestion::Unheard) => false,
            (Agent::Claude | Agent::Pi | Agent::Generic, AgentQuestion::Call) => true,
            // Gemini CLI waits forever if there is no terminal; `attended` says so.
            (Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Vscode, AgentQuestion::Call) => true,
            // Codex treats a question before a call as a hook failure and runs the call. OpenCode and Windsurf have no such
            // answer, and it is untested whether Cursor respects one there.
            (Agent::Codex | Agent::Opencode | Agent::Cursor | Agent::Windsurf, AgentQuestion::Call) => false,
        }
    }

    /// If no one can answer, the agent itself turns a question into a refusal, in all of its modes.
    pub(crate) const fn refuses_unanswered(self) -> bool {
        match self {
            // It reports a session as unattended even if a program could ask its user.
            Agent::Claude => true,
            Agent::Codex | Agent::Pi | Agent::Gemini | Agent::Opencode => false,
            // They don't say whether the session is attended, so they are always asked.
            Agent::Qwen | Agent::Copilot => false,
            Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => false,
        }
    }

    /// The agent gives each call an id, the same before and after it runs.
    pub(crate) const fn names_calls(self) -> bool {
        match self {
            Agent::Claude | Agent::Codex | Agent::Pi | Agent::Qwen | Agent::Opencode => true,
            Agent::Cursor | Agent::Vscode | Agent::Generic => true,
            Agent::Gemini | Agent::Copilot | Agent::Windsurf => false,
        }
    }

    /// A refusal by exit code alone does not stop this agent.
    pub(crate) const fn wants_words(self) -> bool {
        match self {
            Agent::Codex | Agent::Gemini | Agent::Qwen => true,
            // Untested without a message.
            Agent::Cursor | Agent::Vscode | Agent::Windsurf => true,
            Agent::Claude | Agent::Pi | Agent::Copilot | Agent::Opencode | Agent::Generic => false,
        }
    }

    /// The variable that is `0` if the session is unattended.
    pub(crate) const fn attendance_variable(self) -> Option<&'static str> {
        match self {
            Agent::Claude => Some("CLAUDE_CODE_SESSION_ATTENDED"),
            Agent::Codex | Agent::Pi | Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Opencode => None,
            Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => None,
        }
    }
}

/// What an agent reports.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    /// A call that waits for our answer.
    Proposed(Box<ProposedCall>),
    /// The outcome of a call.
    Outcome(CallReport),
    /// A prompt that reached the agent as the user's.
    Said(UserMessage),
    /// A session started, ended or changed.
    Session(SessionEvent),
    /// The user switched doorward off or on for a session.
    Switched(SessionSwitch),
    /// Nothing that needs an answer or a record.
    Nothing,
}

/// A call before it runs.
#[derive(Debug, PartialEq)]
pub(crate) struct ProposedCall {
    pub call: ToolCall,
    /// The agent's own name for the call.
    pub id: Option<String>,
    pub turn: Option<String>,
    pub asked: AgentQuestion,
    /// The agent's transcript of the session.
    pub transcript: Option<String>,
    pub situation: SessionContext,
    /// The input of a shell call as the agent sent it.
    pub input: Option<Value>,
}

impl ProposedCall {
    /// A call of an agent that says nothing else about it.
    pub(crate) fn bare(call: ToolCall) -> ProposedCall {
        let situation = SessionContext::default();
        ProposedCall {
            call,
            id: None,
            turn: None,
            asked: AgentQuestion::Call,
            transcript: None,
            situation,
            input: None,
        }
    }
}

/// What the agent says about itself, for a reviewer; none of it is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionContext {
    /// The instruction files that it has loaded, by path.
    pub instructions: Option<Vec<InstructionFile>>,
    /// The model of the session, as `provider/model`.
    pub model: Option<String>,
    /// The agent's own key for the reviewer's provider.
    pub handed: Option<LentKey>,
    /// The script that the agent is, where its process no longer says so.
    pub program: Option<String>,
}

/// One file of instructions for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstructionFile {
    pub path: String,
    pub text: String,
}

/// A key the agent lends for one request. It is never stored, shown or recorded.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LentKey {
    pub provider: String,
    /// Where the agent itself sends it.
    pub url: String,
    pub key: String,
}

impl std::fmt::Debug for LentKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Handed").field("provider", &self.provider).field("url", &self.url).finish_non_exhaustive()
    }
}

/// What the agent asks about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentQuestion {
    /// Whether it may run.
    Call,
    /// The same, but the agent's own classifier answers questions instead of the user.
    Classified,
    /// The same, but it is unknown who answers questions.
    Unheard,
    /// Whether it may have a permission that the agent would otherwise ask the user for.
    Permission,
}

/// A call after it ran or did not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallReport {
    /// The agent's own name for the call.
    pub id: String,
    pub session: SessionId,
    pub agent: Agent,
    pub result: CallResult,
    /// The shell command that the agent says it ran.
    pub shown: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallResult {
    Ran,
    Failed,
    /// The agent's own classifier refused it.
    Declined,
    /// The user refused it in the agent's own prompt.
    Refused,
}

/// The user's words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UserMessage {
    pub session: SessionId,
    pub words: String,
    pub turn: Option<String>,
    pub proof: Proof,
}

/// How we know that the user said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The event exists only for the user's words.
    Event,
    /// The agent's own transcript must confirm it.
    Transcript,
}

/// A session, where it works, and what happened to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SessionEvent {
    pub session: SessionId,
    pub cwd: Option<String>,
    pub step: Lifecycle,
}

/// A switch for one session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SessionSwitch {
    pub session: SessionId,
    pub is_on: bool,
}

/// What happened to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lifecycle {
    Began,
    Ended,
    /// Its history was replaced by a summary.
    Compacted,
    /// It started a subagent with this name.
    SubagentBegan(String),
    SubagentEnded(String),
}

/// Our answer to the agent: two streams and an exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub stdout: String,
    pub stderr: String,
    pub code: u8,
}

/// What the agent should do with the call.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Run it.
    Allow(Approval),
    /// Run this command instead.
    Replace(Approval, String),
    /// Let the user decide.
    Ask(String),
    /// Do not run it.
    Deny(String),
    /// Do whatever it would do without us.
    Silent,
}

/// A yes with its reason. INVARIANT: it is made of the receipt of a durable decision, and of nothing else.
#[derive(Debug)]
pub(crate) struct Approval(String);

impl Approval {
    pub(crate) fn recorded(_receipt: Receipt, reason: String) -> Approval {
        Approval(reason)
    }

    pub(crate) fn reason(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    fn pretended(reason: &str) -> Approval {
        Approval(reason.to_owned())
    }
}

impl Decision {
    /// The word and the reason in the answers of most agents; `None` if nothing is said.
    pub(crate) fn in_words(&self) -> Option<(&'static str, &str)> {
        match self {
            Decision::Allow(approval) => Some(("allow", approval.reason())),
            // Only agents that were tested with it can replace a call; any other is told no.
            Decision::Replace(..) => Some(("deny", "doorward can't replace a call of this agent")),
            Decision::Ask(reason) => Some(("ask", reason)),
            Decision::Deny(reason) => Some(("deny", reason)),
            Decision::Silent => None,
        }
    }

    /// A person who was asked elsewhere said no.
    pub(crate) fn refused_by_person() -> Decision {
        Decision::Deny("doorward blocks this because a person refused exactly this call".to_owned())
    }
}
