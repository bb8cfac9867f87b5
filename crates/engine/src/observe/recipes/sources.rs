//! Source files that were written or changed and that a trusted command loads: looked through for what they plainly do.

use doorward_code::Language;
use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation, Scope, Sensitivity};

use super::{arrived, files};
use crate::effect::{Effect, Target};
use crate::knowledge;
use crate::knowledge::packed::Packed;
use crate::knowledge::schema::{Facet, Role};
use crate::observe::code::{self, Source, code_beside};
use crate::observe::program::Invocation;
use crate::observe::program::file_trust::{FileRun, How};
use crate::observe::program::recipe::run_file;
use crate::observe::sheet::observer::By;
use crate::observe::shell::runner::{Manner, Runner};
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;
use crate::world::World;

/// More changed sources than this are a new state of the project, which is for its trust to say.
// As for files that arrived: a few edits are read one by one, more are a new state of the project.
const FILES: usize = 48;

/// Words of a text that cannot be read otherwise, but that names ways to run programs.
// For text with errors, which agents leave behind all the time: these words are how it would start something once it
// runs.
const POWERFUL: &[&str] = &[
    "child_process",
    "execSync",
    "spawnSync",
    "exec(",
    "spawn(",
    "eval(",
    "Function(",
    "process.binding",
    "Bun.spawn",
    "Deno.Command",
    "subprocess",
    "os.system",
    "popen",
    "__import__",
    "exec (",
    "eval (",
    "rmSync",
    "rmdirSync",
    "unlinkSync",
    "rmtree",
    ".ssh",
    ".aws",
    "vm.run",
];

/// The language whose sources a command loads.
pub(crate) fn loaded_by(invocation: &Invocation) -> Option<Language> {
    let args = &invocation.args;
    let first = args.chain.first()?;
    let runs = invocation.does.iter().any(|does| does.marks.has_any(&[Mark::Test, Mark::RunsProject]));
    let has = |facet| args.chain.iter().any(|entry| entry.facets.has(facet));
    let loads = !has(Facet::LoadsOnDemand) || args.given.iter().any(|given| given.role == Role::Script);
    match () {
        () if loads && has(Facet::LoadsPython) => Some(Language::Python),
        () if loads && has(Facet::LoadsJavaScript) => Some(Language::JavaScript),
        () if runs => code::of_program(&first.key),
        () => None,
    }
}

/// The languages whose sources the programs load that a recipe names.
pub(crate) fn tested_in(text: &str, knowledge: &Packed) -> Vec<Language> {
    let (mut python, mut javascript) = (false, false);
    for word in words(text).map(path::name) {
        let loads = |facet| knowledge.facets(word).has(facet) && !knowledge.facets(word).has(Facet::LoadsOnDemand);
        // Runners that are no programs of their own: `python -m unittest`, `node --test`.
        python = python || word == "unittest" || loads(Facet::LoadsPython);
        javascript = javascript || word == "--test" || loads(Facet::LoadsJavaScript);
    }
    let found = [(python, Language::Python), (javascript, Language::JavaScript)];
    found.into_iter().filter(|(is_loaded, _)| *is_loaded).map(|(_, language)| language).collect()
}

/// What could be words of a command in any text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/')))
        .filter(|word| !word.is_empty())
}

/// Files of the project that hold code, or tasks, and that were written or changed.
pub(crate) fn changed_code(world: &dyn World, state: &State<'_>) -> Vec<String> {
    let Some(project) = world.project() else { return Vec::new() };
    let is_code = |file: &str| {
        let name = path::name(file);
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        matches!(
            ending,
            None | Some(
                "sh" | "bash" | "zsh" | "py" | "js" | "mjs" | "cjs" | "ts" | "mts" | "tsx" | "jsx" | "rb" | "pl"
            )
        ) || super::runner::is_task_file(name)
    };
    let mut files = world.changed_files();
    files.extend(state.written.keys().cloned());
    files.retain(|file| path::under(file, project) && is_code(file) && !file.contains("/.git/"));
    files.retain(|file| state.written.contains_key(file) || !world.look(file).is_built);
    files.sort();
    files.dedup();
    files
}

/// A changed script that a recipe names is run as it is now.
pub(crate) fn changed_script(runner: &mut Runner<'_, '_>, file: &str, state: &mut State<'_>, by: &By) {
    let has_ending = path::name(file).contains('.');
    let how = if has_ending { How::Read } else { How::Itself };
    let outer = state.positional.take();
    let input = Stream::unknown(Default::default());
    run_file(runner, &FileRun { file, input: &input, by, how }, Mark::SessionFile, state);
    state.positional = outer;
}

/// Looks through changed sources of a language. What they do to named things counts; what is not known is the project's.
pub(crate) fn sources(
    runner: &mut Runner<'_, '_>,
    language: Language,
    changed: &[String],
    by: &By,
    state: &mut State<'_>,
) {
    let own = |file: &&String| is_written_in(language, file);
    for file in changed.iter().filter(own).take(FILES) {
        one_source(runner, file, language, by, state);
    }
}

pub(crate) fn one_source(runner: &mut Runner<'_, '_>, file: &str, language: Language, by: &By, state: &mut State<'_>) {
    let name = path::name(file);
    let has_arrived = arrived::has_arrived(runner.out.world, file, state);
    let Some(text) = files::text(file, runner.out.world, state) else {
        let is_of_session = state.written.contains_key(file) || runner.out.world.look(file).created_this_session;
        if is_of_session || has_arrived {
            runner.out.lower(Degree::Opaque, format!("what `{name}`, which was written earlier, does"));
        }
        return;
    };
    let opened = runner.out.open();
    // What somebody else wrote has to be understood; what a judged edit left is the project's own.
    let manner = if has_arrived { Manner::Recipe } else { Manner::Source };
    let outer = std::mem::replace(&mut runner.manner, manner);
    let reading = doorward_code::read(&text, language);
    let is_read = !reading.uses.is_empty() || reading.unclear.is_empty();
    let mut doubtful = match is_read {
        true => code::hides(&reading, language),
        false => names_power(&text) || has_arrived,
    };
    if is_read {
        let source = Source { text: &text, language: Some(language), by };
        code_beside(runner, &source, Some(path::parent(file).to_owned()), state);
    }
    runner.manner = outer;
    let mut found = runner.out.close(opened);
    doubtful |= has_arrived && found.is_doubtful;
    // Only what names the thing that it harms counts.
    found.caused.retain(is_plain_harm);
    found.flows.retain(|flow| flow.kind == FlowKind::DownloadToExecute);
    runner.out.merge(found);
    if doubtful {
        let why = if has_arrived {
            "came from outside and doorward doesn't fully understand"
        } else {
            "changed and runs code it assembles itself"
        };
        runner.out.lower(Degree::Opaque, format!("`{name}`, which {why}"));
        runner.out.unknown(Operation::Execute, by, Marks::default().with(Mark::SessionFile));
    }
}

/// Modules inside modules deeper than this are not looked for.
// Longer chains of imports exist in large projects, but the project's own files were trusted; only changed ones are
// read.
const IMPORTS: usize = 64;

/// A trusted script imports modules beside it: those that changed are looked through.
pub(crate) fn changed_imports(runner: &mut Runner<'_, '_>, file: &str, state: &mut State<'_>) {
    let Some(language) = code::of_file(file) else { return };
    let changed = changed_code(runner.out.world, state);
    if !changed.iter().any(|file| is_written_in(language, file)) {
        return;
    }
    let by = By { name: path::name(file).to_owned(), ..By::default() };
    let top = path::parent(file).to_owned();
    let mut waiting = vec![file.to_owned()];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(file) = waiting.pop() {
        if !seen.insert(file.clone()) || seen.len() > IMPORTS {
            continue;
        }
        if changed.contains(&file) {
            one_source(runner, &file, language, &by, state);
        }
        let Some(text) = files::text(&file, runner.out.world, state) else { continue };
        if !runner.out.spend(4 + u32::try_from(text.len() / 64).unwrap_or(u32::MAX)) {
            return;
        }
        let beside = path::parent(&file).to_owned();
        for module in doorward_code::read(&text, language).imports {
            waiting.extend(module_files(runner.out.world, &module, language, &[&beside, &top], state));
        }
    }
}

/// A trusted script may run the tasks of a changed file; one that is not a file of tasks is loaded by tools, whoever starts them.
pub(crate) fn may_run(world: &dyn World, script: &str, changed: &str, state: &State<'_>) -> bool {
    let (file, knowledge) = (path::name(changed), knowledge::built_in());
    if !super::runner::is_task_file(file) {
        return true;
    }
    match files::text(script, world, state) {
        Some(text) => words(&text).any(|word| super::runner::is_run_by(file, path::name(word), &knowledge)),
        None => true,
    }
}

/// A trusted script names other scripts: those that changed are run as they are now.
pub(crate) fn changed_mentions(runner: &mut Runner<'_, '_>, script: &str, state: &mut State<'_>) {
    let changed = changed_code(runner.out.world, state);
    if changed.is_empty() {
        return;
    }
    let Some(text) = files::text(script, runner.out.world, state) else { return };
    let named: std::collections::BTreeSet<&str> = words(&text).map(path::name).collect();
    let by = By { name: path::name(script).to_owned(), ..By::default() };
    let is_named = |file: &&String| named.contains(path::name(file)) && !super::runner::is_task_file(path::name(file));
    for file in changed.iter().filter(is_named).take(FILES) {
        changed_script(runner, file, state, &by);
    }
    for language in tested_in(&text, &runner.out.knowledge) {
        sources(runner, language, &changed, &by, state);
    }
}

fn module_files(
    world: &dyn World,
    module: &str,
    language: Language,
    places: &[&str],
    state: &State<'_>,
) -> Vec<String> {
    let (module, endings): (String, &[&str]) = match language {
        Language::Python => (module.trim_start_matches('.').replace('.', "/"), &[".py", "/__init__.py"]),
        Language::JavaScript if module.starts_with('.') => {
            (module.to_owned(), &["", ".js", ".mjs", ".cjs", ".ts", "/index.js", "/index.ts"])
        }
        Language::JavaScript => return Vec::new(),
    };
    let mut found = Vec::new();
    for place in places {
        for ending in endings {
            let file = path::lexical(&path::join(place, &format!("{module}{ending}")));
            let there = state.written.contains_key(&file) || world.look(&file).kind == crate::world::Kind::File;
            if there {
                found.push(file);
            }
        }
        // `import package.part` runs the package as well; `from package import part` may name a file.
        if let (Language::Python, Some((package, _))) = (language, module.split_once('/')) {
            found.push(path::lexical(&path::join(place, &format!("{package}/__init__.py"))));
        }
    }
    found
}

/// Something beyond the project is changed, or something sensitive is read, and it is said which.
fn is_plain_harm(effect: &Effect) -> bool {
    let named = !matches!(effect.target, Target::Unknown | Target::Resource(_));
    let beyond = effect.scope > Scope::Project;
    let leaves = [Mark::Push, Mark::Publish, Mark::Deploy, Mark::Upload].iter().any(|mark| effect.marks.has(*mark));
    match effect.operation {
        Operation::Read => named && effect.sensitivity > Sensitivity::None,
        Operation::Write | Operation::Delete => {
            named && (beyond || effect.sensitivity > Sensitivity::None || effect.marks.has(Mark::RunsOnLoad))
        }
        Operation::Mutate => true,
        Operation::Network => leaves,
        Operation::Execute => effect.marks.has_any(&[Mark::RemoteCode, Mark::Privileged]) && named,
    }
}

pub(crate) fn is_written_in(language: Language, file: &str) -> bool {
    let ending = path::name(file).rsplit_once('.').map(|(_, ending)| ending);
    match language {
        Language::Python => ending == Some("py"),
        Language::JavaScript => matches!(ending, Some("js" | "mjs" | "cjs" | "ts" | "mts" | "tsx" | "jsx")),
    }
}

/// A text that could not be read at all, such as one in TypeScript.
fn names_power(text: &str) -> bool {
    POWERFUL.iter().any(|word| text.contains(word))
}
