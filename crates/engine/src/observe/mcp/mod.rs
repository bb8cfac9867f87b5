//! Calls to tool servers: what is known of the tool, or what its name claims; what its arguments touch, and what its
//! description tells the model.

mod arguments;
mod descriptions;
mod known;
mod order_words;
mod orders;
mod schema;
mod verbs;

use doorward_vocabulary::{Degree, Mark, Operation, Reach, Reversibility, Scope};
use serde_json::{Map, Value};

use self::arguments::{ARGUMENTS, Given, argument};
pub use self::descriptions::hides_text;
use super::sheet::observer::Observer;
use crate::effect::{Effect, Target};
use crate::world::{McpTrust, ToolDefinition, World};

/// A call to a tool of a server, as the client sent it, with what the server says of the tool.
#[derive(Clone, Copy)]
pub(super) struct ServerCall<'a> {
    pub server: &'a str,
    pub name: &'a str,
    pub args: &'a Value,
    pub annotations: &'a Map<String, Value>,
    pub description: &'a str,
    /// The shape of the arguments; null if nobody said.
    pub schema: &'a Value,
    pub cwd: &'a str,
}

impl ServerCall<'_> {
    fn target(&self) -> Target {
        Target::Resource(format!("{}/{}", self.server, self.name))
    }
}

/// Writes down what the call does, as far as anyone knows.
pub(super) fn mcp_tool(out: &mut Observer<'_>, call: &ServerCall<'_>) {
    descriptions::note(out, call);
    schema::note(out, call);
    let seen = out.world.tool_definition(call.server, call.name);
    let (description, schema) = (&seen.description, &seen.schema);
    let annotations = if call.annotations.is_empty() { &seen.annotations } else { call.annotations };
    let seen_call = ServerCall { description, schema, annotations, ..*call };
    if let Some(doubt) = &seen.doubt {
        out.lower(Degree::Opaque, doubt.clone());
    }
    if !seen.is_accepted {
        descriptions::note(out, &seen_call);
    }
    schema::note(out, &seen_call);
    let call = &seen_call;
    let known = known::find(out, call);
    match known.filter(|tool| !known::reads(tool) || !verbs::contradicts(call.args, call.annotations)) {
        Some(tool) => known::tool(out, call, &tool),
        None => unknown_tool(out, call),
    }
}

/// What a person should read in a definition before a model does; `None` if there is nothing of the kind.
pub fn read_definition(server: &str, name: &str, definition: &ToolDefinition, world: &dyn World) -> Option<String> {
    let mut out = Observer::new(world);
    let ToolDefinition { description, schema, annotations, .. } = definition;
    let call = ServerCall { server, name, args: &Value::Null, annotations, description, schema, cwd: "/" };
    descriptions::note(&mut out, &call);
    out.finish().coverage.because.into_iter().next()
}

/// A tool that nobody has described: the name says what it claims to do, the arguments what it touches.
fn unknown_tool(out: &mut Observer<'_>, call: &ServerCall<'_>) {
    let words = verbs::name_words(call.name);
    let claim = verbs::claim(&words, call.args, call.annotations);
    let operation = if claim.reads { Operation::Network } else { Operation::Mutate };
    let mut effect = Effect::new(operation, call.target());
    effect.scope = Scope::External;
    if claim.reads {
        effect.marks.add(Mark::McpReadOnly);
    } else {
        effect.reach = Reach::Beyond;
        effect.reversibility = if claim.destructive { Reversibility::Irreversible } else { Reversibility::Tracked };
        effect.marks.add(Mark::ExternalWrite);
    }
    if claim.destructive {
        effect.marks.add(Mark::McpDestructive);
    }
    if claim.returns_secrets {
        effect.marks.add(Mark::SecretReturning);
    }
    if let Some(mark) = doubt(out, call) {
        effect.marks.add(mark);
    } else if out.world.mcp(call.server, call.name) == McpTrust::Configured {
        effect.marks.add(Mark::McpUnreviewed);
    }
    out.effect(effect);
    let mut given = Given {
        cwd: call.cwd,
        left: ARGUMENTS,
        touch: verbs::touch_of(call.server, &words),
        asks_database: verbs::asks_database(call.server, &words),
        depth: 3,
    };
    argument(out, "", call.args, &mut given);
}

/// The mark of a server that counts for nothing, whatever is known of servers with its name.
fn doubt(out: &mut Observer<'_>, call: &ServerCall<'_>) -> Option<Mark> {
    match out.world.mcp(call.server, call.name) {
        McpTrust::Trusted | McpTrust::Configured => None,
        McpTrust::Untrusted => Some(Mark::McpUntrusted),
        McpTrust::Changed => {
            out.lower(Degree::Opaque, format!("the definition of `{}` changed since it was trusted", call.name));
            Some(Mark::McpChanged)
        }
    }
}
