//! Tools beyond shell and files: fetches, searches, subagents, the agent's own.

use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation, Reach, Reversibility, Scope};
use serde_json::Value;

use super::connect::Exchange;
use super::field::Field;
use super::sheet::observer::{By, Observer};
use crate::effect::{Effect, Target};
use crate::knowledge::tool::Risk;
use crate::observe::files::{read_tool, search_tool};
use crate::observe::skills::loads_text;
use crate::secret;

/// The fetch tool.
pub(super) fn fetch_tool(out: &mut Observer<'_>, url: &str, method: Option<&str>) {
    let field = Field::literal(url, doorward_shell::Span::default());
    let reads = method.is_none_or(|method| matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS"));
    out.connect(&field, if reads { Exchange::Fetch } else { Exchange::Send }, &By::default());
}

/// The web search tool: the query leaves this machine.
pub(super) fn web_search(out: &mut Observer<'_>, query: &str) {
    let mut effect = Effect::new(Operation::Network, Target::Resource("web search".into()));
    effect.scope = Scope::External;
    effect.marks.add(Mark::ListedHost);
    out.effect(effect);
    if secret::holds_encoded(query) {
        out.flow(FlowKind::SecretToNetwork, Default::default(), Default::default());
    }
}

/// A task for another agent: its own calls are judged one by one.
pub(super) fn task_tool(out: &mut Observer<'_>, agent: &str) {
    let mut effect = Effect::new(Operation::Execute, Target::Resource(format!("subagent {agent}")));
    effect.scope = Scope::Project;
    effect.reach = Reach::Project;
    effect.reversibility = Reversibility::Tracked;
    effect.marks.add(Mark::SubagentTask);
    out.effect(effect);
}

/// A name that a client gives to a tool; one with blanks or signs may pass itself off as another.
fn is_plain_name(name: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-');
    !name.is_empty() && name.bytes().all(is_letter)
}

/// An empty object; a call whose input was not kept has none at all.
fn is_empty(input: &Value) -> bool {
    matches!(input, Value::Object(fields) if fields.is_empty())
}

/// A tool that only the inventory can tell.
pub(super) fn other_tool(out: &mut Observer<'_>, name: &str, input: &Value, cwd: &str) {
    let known = out.knowledge.tools().unwrap_or_default().into_iter().find(|tool| tool.name == name);
    match known {
        Some(tool) if tool.harness => {
            let mut effect = Effect::new(Operation::Read, Target::Resource(name.to_owned()));
            effect.marks.add(Mark::HarnessOnly);
            out.effect(effect);
            if matches!(name, "Skill" | "SlashCommand") {
                loads_text(out, input, cwd);
            }
        }
        Some(tool) if tool.risk == Risk::Low => {
            let named = ["path", "file_path", "filePath"].iter().filter_map(|key| input.get(key)?.as_str());
            let paths: Vec<&str> = named.collect();
            paths.iter().for_each(|path| read_tool(out, path, cwd));
            if paths.is_empty() {
                search_tool(out, None, None, cwd);
            }
        }
        // Nothing is handed to it: at worst it is a switch of the client's own.
        None if is_empty(input) && is_plain_name(name) => {
            out.lower(Degree::Unknown, format!("the tool `{name}`"));
            let mut effect = Effect::new(Operation::Execute, Target::Resource(name.to_owned()));
            effect.scope = Scope::Project;
            effect.reach = Reach::Project;
            effect.reversibility = Reversibility::Tracked;
            effect.marks.add(Mark::UnknownTool);
            out.effect(effect);
        }
        Some(_) | None => {
            out.lower(Degree::Opaque, format!("the tool `{name}`"));
            out.unknown(Operation::Execute, &By::default(), Marks::default().with(Mark::UnknownTool));
        }
    }
}
