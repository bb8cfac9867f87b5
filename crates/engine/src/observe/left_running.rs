//! Commands that earlier calls left running: what they would do after this call.

use std::rc::Rc;

use doorward_vocabulary::{Degree, Operation};

use super::code;
use super::sheet::lingering::quoted;
use super::sheet::observer::{By, Observer};
use super::shell::runner::Runner;
use super::shell::state::{State, WrittenFile};
use super::stream::{Origin, Stream};
use crate::call::{Change, ChangeKind, Tool};
use crate::effect::{Effect, RECIPE, Target};
use crate::facts::{Facts, LeftRun};
use crate::observe::program::grammar::is_by_git;
use crate::observe::recipes::sources::one_source;
use crate::observe::shell::aftermath::store;
use crate::path;
use crate::world::{Content, Shell, World};

/// Longer files are not put together with an edit.
// Scripts are a few kilobytes; a larger file is data, and putting it together for every edit would cost more than
// asking.
const LIMIT: usize = 256 * 1024;

/// Runs commands again that earlier calls left running, as they would run after this one.
pub(super) fn run_again(runner: &mut Runner<'_, '_>, runs: &[LeftRun], state: &State<'_>) {
    for run in runs {
        let ((), mut caused) = runner.collect(|runner| match run.is_unknown() {
            true => run_scripts(runner, state),
            false => run_file_again(runner, run, state),
        });
        let name = if run.is_unknown() { "a script" } else { path::name(&run.file) };
        for effect in caused.iter_mut() {
            let program = effect.by.rsplit(RECIPE).next().unwrap_or_default();
            effect.by = format!("{name} in the background{RECIPE}{program}");
        }
        runner.out.write(caused);
    }
}

fn run_file_again(runner: &mut Runner<'_, '_>, run: &LeftRun, state: &State<'_>) {
    let is_shown = |file: &WrittenFile| file.content.is_some() || file.origin.download;
    if !state.written.get(&run.file).is_some_and(is_shown) {
        // The call changes it without showing its content, or a link on the way to it.
        return not_shown(runner.out, &run.file);
    }
    let mut inner: State<'_> = State { positional: None, functions: Rc::default(), ..state.clone() };
    if let Some(language) = code::of_file(&run.file).filter(|_| !run.is_reread) {
        // A server has read its program. Should it start again, that is work of the project, like its tests.
        let by = By { name: path::name(&run.file).to_owned(), ..By::default() };
        return one_source(runner, &run.file, language, &by, &mut inner);
    }
    inner.cwd = run.directory.as_deref().map(Rc::from);
    runner.subshell_text(&run.command, &inner, Stream::empty(), Default::default());
}

/// Any script that the call writes may be run.
fn run_scripts(runner: &mut Runner<'_, '_>, state: &State<'_>) {
    let text = |file: &WrittenFile| file.content.clone().unwrap_or_default();
    let shown = state.written.iter().filter(|(path, file)| is_script(path, &text(file)));
    let shown: Vec<String> = shown.map(|(path, _)| path.clone()).collect();
    let is_hidden = |effect: &&Effect| {
        // What git brings is read before it runs, and there is too much of it to ask each time.
        effect.operation == Operation::Write && !is_by_git(&effect.by)
    };
    let written = runner.out.effects().iter().filter(is_hidden).filter_map(|effect| match &effect.target {
        Target::Path(path) if is_script(path, "") && !state.written.contains_key(path) => Some(path.clone()),
        Target::Path(_) | Target::Program(_) | Target::Host(_) | Target::Resource(_) | Target::Unknown => None,
    });
    let hidden: Vec<String> = written.collect();
    hidden.iter().for_each(|path| not_shown(runner.out, path));
    for path in shown {
        let inner: State<'_> = State { positional: None, functions: Rc::default(), ..state.clone() };
        runner.subshell_text(&format!("sh {}", quoted(&path)), &inner, Stream::empty(), Default::default());
    }
}

fn not_shown(out: &mut Observer<'_>, file: &str) {
    let name = path::name(file);
    let what = format!("what `{name}` contains by then, and a command in the background may run it");
    out.lower(Degree::Opaque, what);
}

/// The files that a tool other than a shell leaves behind, as far as it shows their content.
pub(super) fn written<'a>(tool: &Tool, cwd: &str, runner: &mut Runner<'_, '_>) -> State<'a> {
    let world = runner.out.world;
    let mut state = State::new(cwd.starts_with('/').then_some(cwd));
    let real = |path: &str| path::resolve(&path::join(cwd, path), world, path::Follow::Last).real;
    match tool {
        Tool::Write { path, content } => {
            store(runner.out, real(path), Some(content.clone()), Origin::default(), &mut state);
        }
        Tool::Edit { changes } => {
            for change in changes {
                let file = real(&change.path);
                let text = edited(change, &file, &state, world);
                store(runner.out, file, text, Origin::default(), &mut state);
            }
        }
        Tool::Bash { .. }
        | Tool::PowerShell { .. }
        | Tool::Read { .. }
        | Tool::Search { .. }
        | Tool::Fetch { .. }
        | Tool::WebSearch { .. }
        | Tool::Mcp { .. }
        | Tool::Task { .. }
        | Tool::Python { .. }
        | Tool::Other { .. }
        | Tool::Malformed { .. } => {}
    }
    state
}

/// What a file holds after an edit; `None` if that cannot be said.
fn edited(change: &Change, file: &str, state: &State<'_>, world: &dyn World) -> Option<String> {
    let before = || match state.written.get(file) {
        Some(written) => written.content.clone(),
        None => match world.content(file, LIMIT) {
            Content::Text(text) => Some(text),
            Content::Missing => Some(String::new()),
            Content::TooLong | Content::NotText | Content::Unreadable | Content::Unlisted => None,
        },
    };
    match change.kind {
        ChangeKind::Create => Some(change.new.clone()),
        ChangeKind::Update => {
            let before = before()?;
            // An edit whose text is there more than once either changes all of them or fails.
            let is_there = !change.old.is_empty() && before.contains(&change.old);
            is_there.then(|| before.replace(&change.old, &change.new))
        }
        ChangeKind::Delete => Some(String::new()),
        ChangeKind::Move => None,
    }
}

/// A shell script by its name, or by its first line where the name says nothing.
fn is_script(path: &str, text: &str) -> bool {
    match path::name(path).rsplit_once('.') {
        Some((_, ending)) => Shell::reads_ending(ending),
        None => text.starts_with("#!"),
    }
}

impl LeftRun {
    /// What is run is not known.
    pub fn is_unknown(&self) -> bool {
        self.file.is_empty()
    }

    /// The call may change what is run.
    pub fn is_changed_by(&self, facts: &Facts) -> bool {
        facts.effects.iter().any(|effect| match (&effect.target, effect.operation) {
            (Target::Path(written), Operation::Write | Operation::Mutate) => {
                // The first line is looked at where the text is.
                if self.is_unknown() { is_script(written, "#!") } else { path::under(&self.file, written) }
            }
            (Target::Path(_), Operation::Read | Operation::Execute | Operation::Network | Operation::Delete)
            | (Target::Program(_) | Target::Host(_) | Target::Resource(_) | Target::Unknown, _) => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{DescribedWorld, Description, Facts, Tool, ToolCall, observe};

    fn seen(command: &str, background: bool) -> Facts {
        let files = serde_json::json!({
            "/p/a.sh": { "content": "while true; do sh b.sh; sleep 1; done\n" },
            "/p/b.sh": { "content": "ls\n" },
            "/p/start.sh": { "content": "nohup sh a.sh &\n" },
        });
        let world = serde_json::json!({ "project": "/p", "home": "/home/me", "git": {}, "files": files });
        let description: Description = serde_json::from_value(world).unwrap();
        let tool = Tool::Bash { command: command.to_owned(), background, unsandboxed: false };
        observe(&ToolCall::new(tool, "/p"), &DescribedWorld::new(description, "/p"))
    }

    #[test]
    fn what_outlives_its_call_is_known_with_the_files_that_it_runs_in_turn() {
        for (command, files) in [
            ("sh a.sh", None),
            ("sh a.sh & wait", None),
            ("sleep 5 & sh a.sh & wait", None),
            ("nohup sh a.sh", None),
            ("sleep 5 &", Some("")),
            ("sh b.sh & sleep 1; wait", Some("b.sh")),
            ("wait() { :; }; sh b.sh & wait", Some("b.sh")),
            ("(sh b.sh &) & wait", Some("b.sh")),
            ("sh a.sh &", Some("a.sh b.sh")),
            ("nohup sh a.sh > /dev/null 2>&1 &", Some("a.sh b.sh")),
            ("setsid sh a.sh", Some("a.sh b.sh")),
            ("sh b.sh & disown; wait", Some("b.sh")),
            ("coproc sh b.sh", Some("b.sh")),
            ("sh start.sh", Some("a.sh b.sh")),
            ("for f in a b; do sh $f.sh & done", Some("a.sh b.sh")),
            ("sh \"$NAME\" &", Some("?")),
        ] {
            let facts = seen(command, false);
            let name = |run: &crate::LeftRun| if run.is_unknown() { "?".into() } else { run.file.replace("/p/", "") };
            let mut names: Vec<String> = facts.left.iter().map(name).collect();
            names.sort();
            names.dedup();
            assert_eq!(facts.lingers, files.is_some(), "{command}");
            assert_eq!(names.join(" "), files.unwrap_or_default(), "{command}");
        }
        assert!(seen("sh a.sh", true).lingers);
        assert_eq!(seen("sh a.sh", true).left.len(), 2);
    }
}
