//! Whether a call the agent itself asked about was still the same when it ran.

use std::path::Path;

use doorward_engine::{Effect, Mark, Operation, Target};

use crate::memory::grants::operands;
use crate::memory::grants::operands::Depth;
use crate::memory::grants::pending::Pending;
use crate::memory::grants::store::GrantStore;

/// Files that a call names or runs, does not change itself, and that changed after the question. The agent ran the call on
/// an approval of something else.
pub(crate) fn changed_since(store: &GrantStore, decision: &str) -> Vec<String> {
    let Some(pending) = store.open_calls().into_iter().find(|pending| pending.decision == decision) else {
        return Vec::new();
    };
    let mut known = pending.bound.operands.clone();
    known.retain(|path, print| print.depth == Depth::Itself || is_run(&pending, path));
    known.retain(|path, _| !is_changed_by_it(&pending, path));
    operands::changed(&known)
}

fn is_run(pending: &Pending, path: &str) -> bool {
    Path::new(path).is_file() && touches(pending, path, |operation| operation == Operation::Execute)
}

fn is_changed_by_it(pending: &Pending, path: &str) -> bool {
    let changes = |operation| matches!(operation, Operation::Write | Operation::Delete | Operation::Mutate);
    // The checked-out commit is part of what an approval is bound to, and git moves it.
    path.contains("/.git/") || touches(pending, path, changes) || is_kept_by_manager(pending, path)
}

/// A package manager writes its own manifest and lock file without being told their paths, but not those of other managers.
fn is_kept_by_manager(pending: &Pending, path: &str) -> bool {
    let Some(name) = Path::new(path).file_name().and_then(|name| name.to_str()) else { return false };
    let keeps = |effect: &Effect| {
        let manager = effect.by.split_whitespace().next().unwrap_or_default();
        KEPT.iter().any(|(managers, files)| managers.contains(&manager) && files.contains(&name))
    };
    let installs = |effect: &&Effect| {
        effect.operation == Operation::Write
            && matches!(effect.target, Target::Resource(_))
            && effect.marks.has_any(&[Mark::Manifest, Mark::Lockfile])
    };
    pending.effects.iter().filter(installs).any(keeps)
}

/// Package managers and the files they maintain themselves.
// These files change on every install; a person who approved `npm install` has approved exactly that.
const KEPT: &[(&[&str], &[&str])] = &[
    (
        &["npm", "pnpm", "yarn", "bun", "corepack"],
        &[
            "package.json",
            "package-lock.json",
            "npm-shrinkwrap.json",
            "pnpm-lock.yaml",
            "yarn.lock",
            "bun.lock",
            "bun.lockb",
        ],
    ),
    (&["deno"], &["deno.json", "deno.jsonc", "deno.lock", "package.json"]),
    (&["cargo"], &["Cargo.toml", "Cargo.lock"]),
    (&["go"], &["go.mod", "go.sum", "go.work.sum"]),
    (
        &["uv", "poetry", "pdm", "pipenv", "rye", "hatch", "pixi"],
        &[
            "pyproject.toml",
            "uv.lock",
            "poetry.lock",
            "pdm.lock",
            "Pipfile",
            "Pipfile.lock",
            "requirements.lock",
            "pixi.lock",
        ],
    ),
    (&["bundle", "bundler"], &["Gemfile", "Gemfile.lock"]),
    (&["composer"], &["composer.json", "composer.lock"]),
    (&["mix"], &["mix.lock"]),
    (&["dotnet"], &["packages.lock.json"]),
];

fn touches(pending: &Pending, path: &str, wanted: impl Fn(Operation) -> bool) -> bool {
    pending.effects.iter().filter(|effect| wanted(effect.operation)).any(|effect| match &effect.target {
        Target::Path(target) | Target::Program(target) => Path::new(path).starts_with(target),
        Target::Host(_) | Target::Resource(_) | Target::Unknown => false,
    })
}
