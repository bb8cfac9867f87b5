//! A contained run in the place of a call: only for an agent that was tested with it, and where nobody else rewrites calls.

use doorward_engine::{Tool, quoted};
use doorward_ledger::AlertKind;

use super::{above, alone};
use crate::hook::agents::CallReport;
use crate::hook::pipeline::Situation;
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::record::{LogEntry, Recorder};
use crate::memory::contained::{self, BoxMemory, Proof, ReplacedCall, Ticket};
use crate::memory::evaluation::Evaluation;
use crate::memory::grants::binding;

/// Fields of a shell call that mean the same for the contained run. Any other could change where or how it runs.
const KEPT: &[&str] = &["command", "description", "timeout"];

/// The agents whose calls can be replaced at all.
pub(crate) const REWRITTEN: &[Agent] = &[Agent::Claude, Agent::Codex, Agent::Gemini, Agent::Opencode, Agent::Pi];

/// The command of the contained run that stands for this call; `None` if the agent has to be told instead.
pub(super) fn replace(situation: &Situation<'_>, evaluation: &Evaluation) -> Option<String> {
    let (request, call) = (situation.request, situation.call());
    let agent = request.surroundings.agent;
    let Tool::Bash { command, .. } = &call.tool else { return None };
    // Without the agent's own name for the call nothing tells afterwards what ran.
    let id = request.proposed.id.as_ref()?;
    if !REWRITTEN.contains(&agent) || !has_only_known(request.proposed.input.as_ref()?) {
        return None;
    }
    let memory = BoxMemory::open(situation.dirs()).ok()?;
    let proof = memory.proof(agent)?;
    let named = request.proposed.situation.program.as_deref();
    if !is_proved(agent, &above::agent_above(agent, named)?, (proof, &memory))
        || alone::another(agent, situation.dirs().home(), Some(&call.cwd)).is_some()
    {
        return None;
    }
    let ticket = Ticket {
        call: id.clone(),
        agent: call.agent.clone(),
        session: call.session.to_string(),
        subagent: call.subagent.clone(),
        cwd: call.cwd.clone(),
        command: command.clone(),
        policy: binding::policy(situation.grants().subject(evaluation))?,
        stored_ms: 0,
    };
    let program = program()?;
    let line = memory.issue(ticket, |token| format!("{program} run {token}")).ok()?;
    if let Some(fingerprint) = agent.fingerprint_of_replaced(&request.proposed, &line) {
        situation.session.also_called(&fingerprint, id);
    }
    Some(line)
}

/// This agent, in this version, ran a token in a test, and has not run anything else since.
fn is_proved(agent: Agent, program: &std::path::Path, (proof, memory): (Proof, &BoxMemory)) -> bool {
    if proof.is_open() {
        // This is the test, in a home of its own: what runs the hook is what is tested.
        let seen = Proof::of(program, proof.version);
        return seen.is_ok_and(|seen| memory.note_proof(agent, Some(seen)).is_ok());
    }
    proof.broken.is_none() && proof.is_current() && program == std::path::Path::new(&proof.program)
}

/// By its full path: the agent's shell may have another search path, or an alias.
fn program() -> Option<String> {
    let path = std::env::current_exe().ok()?;
    path.to_str().map(quoted)
}

fn has_only_known(input: &serde_json::Value) -> bool {
    let is_off = |value: &serde_json::Value| value.is_null() || *value == serde_json::Value::Bool(false);
    let is_known = |(name, value): (&String, &serde_json::Value)| KEPT.contains(&name.as_str()) || is_off(value);
    input.as_object().is_some_and(|fields| fields.iter().all(is_known))
}

/// After a call: whether the contained run took its place. Anything else is an alert, and from then on the agent is told.
pub(crate) fn check(dirs: &Dirs, outcome: &CallReport, has_run: bool, ledger: &mut dyn Recorder) -> anyhow::Result<()> {
    if contained::is_unused(dirs) {
        return Ok(());
    }
    let memory = BoxMemory::open(dirs)?;
    let ended = memory.ended(&outcome.session, &outcome.id, outcome.shown.as_deref());
    let Some(ReplacedCall::Mismatched(why)) = ended.filter(|_| has_run) else { return Ok(()) };
    memory.break_proof(outcome.agent.name(), &why);
    let text = format!("{} ran a call that was to be replaced by a contained run: {why}", outcome.agent.title());
    let alert = crate::memory::alerts::new_alert(AlertKind::Unboxed, outcome.agent.name(), &text);
    let alert = doorward_ledger::AlertBody { session: Some(outcome.session.clone()), ..alert };
    ledger.append(LogEntry::new(&alert)?).map(|_receipt| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_that_may_change_how_it_runs_is_not_carried_over() {
        for (input, is_known) in [
            (json!({"command": "x", "description": "d", "timeout": 5}), true),
            (json!({"command": "x", "run_in_background": false, "dir_path": null}), true),
            (json!({"command": "x", "run_in_background": true}), false),
            (json!({"command": "x", "workdir": "/elsewhere"}), false),
            (json!("x"), false),
        ] {
            assert_eq!(has_only_known(&input), is_known, "{input}");
        }
    }
}
