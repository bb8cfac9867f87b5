//! What code imports: modules of the language, of the project, of installed packages.

use doorward_code::{Language, Reading, Use};
use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::{Code, stdlib};
use crate::effect::{Effect, Target};
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::program::file_trust::{FileRun, How, is_changed, was_there};
use crate::observe::program::recipe::project_program;
use crate::observe::program::roles::role;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Stream};
use crate::path;
use crate::world::{Kind, Tracking, World};

impl Code<'_> {
    /// A member of a module of the project, which was judged when it was imported.
    /// A module of the language may be loaded already and hide a file of its name: its members count by themselves.
    pub(super) fn is_of_project(&self, used: &Use) -> bool {
        let inner = used.name.contains("__") || used.name.ends_with("constructor");
        !inner
            && self.modules.iter().any(|module| match used.name.strip_prefix(module.as_str()) {
                // Only a path cannot be the name of a built-in as well.
                Some("") => module.starts_with(['.', '/']),
                Some(member) => member.starts_with('.'),
                None => false,
            })
    }
}

/// Modules of the language are known by their members; modules of the project run as part of it.
pub(super) fn imports(runner: &mut Runner<'_, '_>, reading: &Reading, code: &mut Code<'_>, state: &mut State<'_>) {
    for module in &reading.imports {
        match code.language {
            Language::Python => python_import(runner, module, code, state),
            Language::JavaScript => javascript_import(runner, module, code, state),
        }
    }
}

fn python_import(runner: &mut Runner<'_, '_>, module: &str, code: &mut Code<'_>, state: &mut State<'_>) {
    if module.split('.').any(|part| part == "__main__") {
        return not_found(runner.out, format!("the program `{module}`, run by importing it"), code);
    }
    let name = module.strip_prefix('.').unwrap_or(module);
    let standard = name.len() == module.len() && stdlib::python(name);
    let (Some(beside), false) = (code.beside.clone(), name.starts_with('.')) else {
        return not_found(runner.out, format!("where `{module}` is imported from"), code);
    };
    let mut files = python_files(runner.out.world, name, &beside, state);
    if standard && files.is_empty() {
        // Modules of the language import each other, so one that a file hides may be run by any of them.
        files = hidden_modules(runner.out.world, &beside, state);
        files.iter().for_each(|file| project_module(runner, file, code, state));
        return;
    }
    if let Some(root) = source_root(runner.out.world, name, state).filter(|_| files.is_empty() && !standard) {
        if let Some(changed) = changed_package(runner.out.world, top(name), state) {
            return not_found(runner.out, format!("`{changed}`, which is part of `{name}` and has changed"), code);
        }
        files = python_files(runner.out.world, name, &root, state);
    }
    for file in &files {
        project_module(runner, file, code, state);
    }
    match (files.is_empty(), standard) {
        (true, false) => package(runner.out, top(name), code, state),
        // `import a.b` makes everything of `a` reachable; `a` itself was run first.
        (false, false) => {
            code.modules.push(module.split('.').next().filter(|top| !top.is_empty()).unwrap_or(module).to_owned())
        }
        (_, true) => {}
    }
}

/// Where a package of the project lies that Python finds by its installation: below `src` of a project that is a package.
///
/// INVARIANT: some file of it was there when the project was trusted. A directory that the session made could have the
/// name of an installed package, and Python would load that one.
pub(crate) fn source_root(world: &dyn World, module: &str, state: &State<'_>) -> Option<String> {
    let project = world.project().filter(|_| world.project_trusted())?;
    let is_old = |file: &str| {
        let is_there =
            matches!(world.tracking(file), Tracking::Clean | Tracking::Modified) || was_there(world, file, state);
        is_there && world.look(file).kind == Kind::File && !is_changed(world, file, state)
    };
    let manifests = ["pyproject.toml", "setup.py", "setup.cfg"].map(|name| path::join(project, name));
    if module.starts_with('.') || !manifests.iter().any(|file| is_old(file)) {
        return None;
    }
    let root = path::join(project, "src");
    let package = path::join(&root, top(module));
    let modules = world.entries(&package).unwrap_or_default();
    let mut files = modules.iter().filter(|name| name.ends_with(".py")).map(|name| path::join(&package, name));
    (is_old(&format!("{package}.py")) || files.any(|file| is_old(&file))).then_some(root)
}

/// Files of the session in this directory that have the name of a module of the language.
pub(crate) fn hidden_modules(world: &dyn World, beside: &str, state: &State<'_>) -> Vec<String> {
    let changed = world.changed_files();
    let all = changed.iter().chain(state.written.keys());
    let beside = beside.trim_end_matches('/');
    let hides = |file: &&String| match path::name(file) {
        // `json/__init__.py` is `json` as well.
        "__init__.py" | "__init__.pyc" => {
            let package = path::parent(file);
            path::parent(package) == beside && stdlib::python(path::name(package))
        }
        name => path::parent(file) == beside && name.strip_suffix(".py").is_some_and(stdlib::python),
    };
    all.filter(hides).cloned().collect()
}

/// Every file that is run on the way to a module: the packages around it, then the module.
pub(crate) fn python_files(world: &dyn World, module: &str, beside: &str, state: &State<'_>) -> Vec<String> {
    let mut files = Vec::new();
    let mut at = beside.to_owned();
    for part in module.split('.').filter(|part| !part.is_empty()) {
        let stem = path::join(&at, part);
        let endings = ["/__init__.py", ".py", ".pyc", ".so", ".abi3.so", ".pyd"];
        let found = endings.iter().map(|ending| path::lexical(&format!("{stem}{ending}")));
        files.extend(found.filter(|file| is_there(world, file, state)));
        at = stem;
    }
    if files.is_empty() && is_there(world, &path::lexical(&path::join(beside, module)), state) {
        files.push(path::lexical(&path::join(beside, module)));
    }
    files
}

fn javascript_import(runner: &mut Runner<'_, '_>, module: &str, code: &mut Code<'_>, state: &mut State<'_>) {
    if stdlib::node(module) {
        return;
    }
    if module.contains(':') || module.starts_with('#') {
        return not_found(runner.out, format!("where `{module}` is imported from"), code);
    }
    if !module.starts_with(['.', '/']) {
        let mut parts = module.splitn(3, '/');
        let scope = parts.next().unwrap_or(module);
        let name = match (scope.starts_with('@'), parts.next()) {
            (true, Some(name)) => format!("{scope}/{name}"),
            (true, None) | (false, _) => scope.to_owned(),
        };
        return package(runner.out, &name, code, state);
    }
    let Some(beside) = code.beside.clone() else {
        return not_found(runner.out, format!("where `{module}` is imported from"), code);
    };
    let endings = ["", ".js", ".mjs", ".cjs", ".json", "/index.js"];
    let files = endings.iter().map(|ending| path::lexical(&path::join(&beside, &format!("{module}{ending}"))));
    // A path can be nothing else than a file here, listed or not.
    let found = files.clone().find(|file| is_there(runner.out.world, file, state)).or_else(|| files.clone().next());
    let Some(file) = found else { return };
    if file.ends_with(".json") {
        return role(runner, &Field::literal(file, Default::default()), Role::Read, code.invocation, state);
    }
    project_module(runner, &file, code, state);
    code.modules.push(module.to_owned());
}

fn is_there(world: &dyn World, file: &str, state: &State<'_>) -> bool {
    state.written.contains_key(file) || matches!(world.look(file).kind, Kind::File | Kind::Directory)
}

fn project_module(runner: &mut Runner<'_, '_>, file: &str, code: &mut Code<'_>, state: &mut State<'_>) {
    let by = code.invocation.by.clone();
    let inside = runner.out.world.project().is_some_and(|project| path::under(file, project));
    if inside {
        let input = Stream::unknown(Origin::default());
        return project_program(runner, &FileRun { file, input: &input, by: &by, how: How::Read }, &[], state);
    }
    runner.out.lower(Degree::Opaque, format!("the module `{}` outside the project", path::name(file)));
    runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::OutsideProject));
}

/// An installed package runs its own code when it is imported: part of a project that is trusted.
fn package(out: &mut Observer<'_>, name: &str, code: &Code<'_>, state: &State<'_>) {
    if let Some(changed) = changed_package(out.world, name, state) {
        return not_found(out, format!("`{changed}`, which is part of `{name}` and has changed"), code);
    }
    let mut effect = Effect::new(Operation::Execute, Target::Program(name.to_owned()));
    effect.scope = Scope::Project;
    effect.reach = Reach::Project;
    effect.reversibility = Reversibility::Tracked;
    effect.marks = Marks::default().with(Mark::RunsProject);
    effect.by.clone_from(&code.invocation.by.name);
    effect.part = code.invocation.by.part;
    // Packages of Python that belong to no project are those of the machine.
    let of_machine = code.language == Language::Python && out.world.project().is_none();
    if out.world.project_trusted() || of_machine {
        out.lower(Degree::Delegated, format!("the package `{name}`"));
    } else {
        effect.marks.add(Mark::UntrustedProject);
        out.lower(Degree::Opaque, format!("the package `{name}` of a project that isn't trusted yet"));
    }
    out.effect(effect);
}

/// A file of an installed package that was written or changed.
pub(crate) fn changed_package(world: &dyn World, name: &str, state: &State<'_>) -> Option<String> {
    let changed = world.changed_files();
    let inside = |file: &&str| {
        let below = |directory: &str| file.contains(&format!("/{directory}/{name}/"));
        ["node_modules", "site-packages", "dist-packages"].iter().any(|directory| below(directory))
            || file.ends_with(&format!("-packages/{name}.py"))
    };
    changed.iter().chain(state.written.keys()).map(String::as_str).find(inside).map(|file| path::name(file).to_owned())
}

fn not_found(out: &mut Observer<'_>, what: String, code: &Code<'_>) {
    out.lower(Degree::Opaque, what);
    out.unknown(Operation::Execute, &code.invocation.by, Marks::default().with(Mark::InlineCode));
}

/// The package that a module lies in.
fn top(module: &str) -> &str {
    module.split('.').next().unwrap_or(module)
}
