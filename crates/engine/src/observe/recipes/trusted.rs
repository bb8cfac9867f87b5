//! Recipes of a trusted project, as they were when it was trusted: what cannot be seen in them is the project's own, what
//! plainly harms still counts.

use doorward_vocabulary::{Mark, Operation, Scope};

use super::{follow_task, runner};
use crate::effect::{Effect, RECIPE, Target};
use crate::facts::Flow;
use crate::knowledge::rule::Rule;
use crate::observe::program::Invocation;
use crate::observe::program::file_trust::FileRun;
use crate::observe::program::recipe::file_text;
use crate::observe::recipes;
use crate::observe::sheet::caused::Caused;
use crate::observe::sheet::observer::Findings;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;
use crate::rules::holds_for_effect;
use crate::world::Content;

/// Longer scripts are not looked through.
// Less than a recipe file may have: scripts are read in addition to it.
const SCRIPT: usize = 64 * 1024;

/// Recipes inside recipes deeper than this are the project's own.
// Enough to see that `make test` calls `npm test` calls a script. Deeper code was trusted with the project.
const NESTING: u32 = 3;

/// The recipe that a command runs, unchanged since the project was trusted.
pub(crate) fn look_through(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &State<'_>) {
    let task = runner::of(invocation);
    let lifecycle = runner::lifecycle(invocation);
    if task.is_none() && lifecycle.is_empty() {
        return;
    }
    let name = recipe_name(invocation);
    aside(runner, &name, |runner| {
        let mut inner: State<'_> = state.clone();
        if task.is_some_and(|task| !follow_task(runner, task, invocation, &mut inner)) {
            runner.out.note_unknown_run();
        }
        for script in lifecycle {
            follow_script(runner, script, invocation, &mut inner);
        }
    });
}

/// A script of the project, unchanged since the project was trusted.
pub(crate) fn look_through_file(runner: &mut Runner<'_, '_>, run: &FileRun<'_>, state: &State<'_>) {
    let file = run.file;
    let is_nested = runner.out.asides > 0;
    // What a script imports is not followed: it would be the whole project.
    if is_nested && crate::observe::code::of_file(file).is_some() {
        return;
    }
    let Content::Text(text) = runner.out.world.content(file, SCRIPT) else { return };
    let name = path::name(file).to_owned();
    aside(runner, &name, |runner| {
        let mut inner: State<'_> = State { positional: None, ..state.clone() };
        file_text(runner, &FileRun { input: &Stream::unknown(Default::default()), ..*run }, &text, &mut inner);
    });
}

/// One script of a manifest by its name.
fn follow_script(runner: &mut Runner<'_, '_>, script: &str, invocation: &Invocation, state: &mut State<'_>) {
    let Some(cwd) = invocation.cwd.clone() else { return };
    let steps = {
        let files = super::Files { world: runner.out.world, state, directory: &cwd };
        files.text("package.json").and_then(|text| super::tasks::scripts(&text, "scripts", script, &[]))
    };
    state.cwd = Some(cwd.as_str().into());
    for step in steps.unwrap_or_default() {
        recipes::step(runner, &step, invocation, state);
    }
}

/// What a block rule says about a command that is only talked about.
pub(crate) fn harm_in(runner: &mut Runner<'_, '_>, text: &str, state: &State<'_>) -> Option<String> {
    let before = runner.out.step_aside();
    runner.subshell_text(text, state, Stream::empty(), Default::default());
    let rules = runner.out.block_rules();
    let found = runner.out.step_back(before);
    let stopping = |effect| rules.iter().find(|rule| stops(rule, effect, &found.flows));
    found.caused.iter().find_map(stopping).map(|rule| rule.what.to_string())
}

/// What a command that is only talked about would do.
pub(crate) fn effects_of(runner: &mut Runner<'_, '_>, text: &str, state: &State<'_>) -> Caused {
    let before = runner.out.step_aside();
    runner.subshell_text(text, state, Stream::empty(), Default::default());
    runner.out.step_back(before).caused
}

/// Judges something of which only what a block rule stops is kept.
fn aside(runner: &mut Runner<'_, '_>, name: &str, judge: impl FnOnce(&mut Runner<'_, '_>)) {
    if runner.out.asides >= NESTING {
        return runner.out.note_unknown_run();
    }
    let before = runner.out.step_aside();
    judge(runner);
    let Findings { mut caused, flows, is_doubtful } = runner.out.step_back(before);
    if caused.is_empty() {
        return;
    }
    let rules = runner.out.block_rules();
    caused.retain(|effect| rules.iter().any(|rule| stops(rule, effect, &flows)));
    if caused.is_empty() {
        return;
    }
    for effect in caused.iter_mut() {
        let program = effect.by.rsplit(RECIPE).next().unwrap_or_default();
        effect.by = format!("{name}{RECIPE}{program}");
    }
    runner.out.merge(Findings { caused, flows, is_doubtful });
}

/// A block rule that says what the effect does. Rules about what is not known say nothing about a recipe that is trusted.
fn stops(rule: &Rule, effect: &Effect, flows: &[Flow]) -> bool {
    let when = &rule.when;
    !when.strict
        && when.tool.is_empty()
        && when.taint.is_empty()
        && when.coverage.0 == 0
        && !when.all.has(Mark::UnlistedBinary)
        && !is_own_work(effect)
        && (when.flow.0 == 0 || flows.iter().any(|flow| when.flow.admits(flow.kind as u8)))
        && holds_for_effect(when, effect)
}

/// A recipe may make keys for its tests, open its directories and clean up, in its own project. What starts by itself or
/// guards the machine is nobody's own work.
fn is_own_work(effect: &Effect) -> bool {
    // Trust in a project is trust in its build, not in code that starts by itself or changes what guards the machine.
    const NEVER: &[Mark] = &[
        Mark::AgentSettings,
        Mark::GuardOwn,
        Mark::GitInternals,
        Mark::GitHook,
        Mark::Persistence,
        Mark::Root,
        Mark::HomeRoot,
    ];
    let changes = matches!(effect.operation, Operation::Write | Operation::Delete | Operation::Mutate);
    let is_path = matches!(effect.target, Target::Path(_));
    changes && is_path && effect.scope <= Scope::Project && !effect.marks.has_any(NEVER)
}

/// `make clean`, as a person would say it.
fn recipe_name(invocation: &Invocation) -> String {
    let first = invocation.args.operands.iter().find_map(|field| field.exact()).unwrap_or_default();
    let name = format!("{} {first}", invocation.by.name);
    name.trim_end().replace(RECIPE, " ")
}
