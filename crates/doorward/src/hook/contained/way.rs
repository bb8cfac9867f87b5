//! Which way a call takes to the box, if any: the agent is told, the call is tried, or a contained run takes its place.

use doorward_engine::{Identity, Machine, Mode, Tool, Verdict, obstacles, quoted};

use super::rehearse::{self, Rehearsal};
use super::{cell, replace};
use crate::hook::agents::AgentQuestion;
use crate::hook::pipeline::Situation;
use crate::machine::visible;
use crate::memory::contained::BoxMemory;
use crate::memory::evaluation::Evaluation;
use crate::memory::session::TRIAL;
use crate::memory::wording::explain;
use crate::policy::client_rules;
use crate::policy::config::RunMode;

/// Longer commands are not repeated in the refusal: an agent quotes its own words well enough.
const REPEATED: usize = 2_000;

/// The way of one call.
#[derive(Debug)]
pub(crate) enum Way {
    /// It is answered as if there were no box.
    Plain,
    /// It does not run, and the agent is told to run it in the box.
    Steered(String),
    /// It was tried in the box and discarded; the question says what it did.
    Rehearsed(Rehearsal),
    /// A contained run takes its place: the reason, and the command of that run.
    Replaced { reason: String, command: String },
}

impl Way {
    /// The word in the record.
    pub(crate) const fn word(&self) -> Option<&'static str> {
        match self {
            Way::Plain => None,
            Way::Steered(_) => Some("steered"),
            Way::Rehearsed(_) => Some("rehearsed"),
            Way::Replaced { .. } => Some("replaced"),
        }
    }

    /// The box answers the question, so neither the user nor the queue is asked.
    pub(crate) const fn answers(&self) -> bool {
        matches!(self, Way::Steered(_) | Way::Replaced { .. })
    }

    pub(crate) const fn rehearsal(&self) -> Option<&Rehearsal> {
        if let Way::Rehearsed(rehearsal) = self { Some(rehearsal) } else { None }
    }
}

/// The way of a judged call. Only a question that nothing but doubt, files and computation stand behind has one.
pub(crate) fn of(situation: &Situation<'_>, evaluation: &Evaluation, granted: bool) -> Way {
    let chosen = situation.loaded.config.run.mode();
    if chosen == RunMode::Off || granted || !is_eligible(situation, evaluation) {
        return Way::Plain;
    }
    // Looked at last: it costs more than everything before. Without a box the question stays as it was.
    if leaves_rules(situation) || cell(situation.dirs()).probe().is_err() {
        return Way::Plain;
    }
    match chosen {
        RunMode::Off => Way::Plain,
        RunMode::Rehearse => rehearse::rehearse(situation).map_or(Way::Plain, Way::Rehearsed),
        RunMode::Steer => steer(situation, evaluation),
        RunMode::Rewrite => match replace::replace(situation, evaluation) {
            Some(command) => Way::Replaced { reason: REPLACED.to_owned(), command },
            None => steer(situation, evaluation),
        },
    }
}

const REPLACED: &str = "doorward runs it in a box, and what it does there is judged before it counts";

fn is_eligible(situation: &Situation<'_>, evaluation: &Evaluation) -> bool {
    let call = situation.call();
    let is_question = situation.mode == Mode::Auto && evaluation.judgement.verdict == Verdict::Confirm;
    // A text that was cut can't be run again as it was, and a permission is not about running.
    let is_whole = !call.truncated && situation.request.proposed.asked != AgentQuestion::Permission;
    let is_shell = matches!(&call.tool, Tool::Bash { background: false, unsandboxed: false, .. });
    is_question
        && is_whole
        && is_shell
        && situation.loaded.problems.is_empty()
        && !call.session.starts_with(TRIAL)
        && !evaluation.facts.boxed
        && obstacles(&evaluation.facts, &evaluation.judgement, &situation.policy).is_empty()
}

/// The agent has a rule that only it can apply, and it would apply it to the contained run instead of the command.
fn leaves_rules(situation: &Situation<'_>) -> bool {
    let agent = situation.request.surroundings.agent.name();
    client_rules::leave_any(agent, situation.dirs().home(), situation.project())
}

/// Tells the agent once; the same call again is a question.
fn steer(situation: &Situation<'_>, evaluation: &Evaluation) -> Way {
    let call = situation.call();
    let Tool::Bash { command, .. } = &call.tool else { return Way::Plain };
    // What the agent types must be this program, and must be known as such when it comes back.
    let program = program();
    let is_found = || matches!(situation.world.program(&program), Identity::Trusted(_));
    let may = || BoxMemory::open(situation.dirs()).is_ok_and(|memory| memory.may_steer(&call.cwd, command));
    if !is_found() || !may() {
        return Way::Plain;
    }
    let reason = explain(&evaluation.judgement, &evaluation.facts).reason;
    // What to do comes first: clients cut long texts at their end.
    Way::Steered(format!("{}. Not run as it is, because {}", told(&program, command), visible(&reason)))
}

/// The bare name where every shell finds it; its full path elsewhere, since login shells have search paths of their own.
fn program() -> String {
    let path = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
    let is_usual =
        |path: &String| ["/usr/local/bin/doorward", "/usr/bin/doorward", "/bin/doorward"].contains(&path.as_str());
    path.filter(|path| !is_usual(path)).unwrap_or_else(|| "doorward".to_owned())
}

/// What to do instead. A line that hands only a part of itself to the box has to hand over all of it.
fn told(program: &str, command: &str) -> String {
    let program = quoted(program);
    const JUDGED: &str = "what it does there is judged by doorward, and kept unless someone has to look at it";
    if command.contains("doorward run") {
        return format!(
            "Pipes, redirects and commands beside `doorward run` happen outside the box: put the whole line into one pair of \
            quotes, `{program} run -- 'COMMAND > FILE'`; {JUDGED}"
        );
    }
    if command.len() > REPEATED {
        return format!(
            "Run the same command line in a box, quoted as one word: `{program} run -- 'COMMAND'`; {JUDGED}"
        );
    }
    format!("Run it in a box: `{program} run -- {}`; {JUDGED}", quoted(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_gets_a_line_that_every_shell_reads_alike() {
        let said = told("doorward", "./tool --in 'a b' > \"$OUT\"");
        assert!(said.contains("`doorward run -- './tool --in '\\''a b'\\'' > \"$OUT\"'`"), "{said}");
        assert!(
            told("/opt/b in/doorward", &"x".repeat(REPEATED + 1)).contains("'/opt/b in/doorward' run -- 'COMMAND'")
        );
        assert!(told("doorward", "doorward run -- ./tool | tail").contains("'COMMAND > FILE'"));
    }
}
