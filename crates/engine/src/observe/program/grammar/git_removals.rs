//! Tracked files that git takes away or puts back: each by its own path while they are few, otherwise by their number.

use std::collections::BTreeSet;

use doorward_vocabulary::{Operation, Reach, Reversibility, Scope, Sensitivity};

use super::super::Invocation;
use super::git_pathspec::Pathspecs;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::paths::absent;
use crate::observe::paths::touch::Touch;
use crate::observe::paths::tracked::changed;
use crate::observe::program::findings::Findings;
use crate::observe::sheet::observer::Observer;
use crate::world::{Git, World};
use crate::{path, place};

/// More files are not written down one by one.
// As in `find`: the default of `bulk_files`, beyond which only the number matters.
const FEW: usize = 20;

/// `git rm`: a pathspec reaches further than the same word in a shell.
pub(super) fn git_removals(out: &Observer<'_>, git: Option<&Git>, invocation: &mut Invocation) -> Findings {
    let nothing = Findings::default();
    let args = &invocation.args;
    if args.has("--cached") || args.always(|changes| changes.dry_run) {
        return nothing;
    }
    let (Some(git), Some(cwd)) = (git, invocation.cwd.clone()) else { return nothing };
    let is_listed = args.has("--pathspec-from-file");
    let Some(words) = args.operands.iter().map(Field::known).collect::<Option<Vec<_>>>() else { return nothing };
    if words.is_empty() && !is_listed {
        return nothing;
    }
    let words: Vec<String> = if is_listed {
        vec![":/".to_owned()]
    } else {
        args.operands.iter().zip(words).flat_map(|(field, word)| as_pathspecs(out.world, field, word, &cwd)).collect()
    };
    let specs = Pathspecs::read(words.iter().map(String::as_str), &cwd, &git.root);
    let files = out.world.tracked_files(&git.root, &git.root);
    let files = files.map(|files| files.into_iter().filter(|file| specs.mean(file)).collect::<Vec<_>>());
    // What the call itself stages or makes is not in the index yet, and is judged by its words.
    if out.is_still() {
        invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
    }
    take_away(out.world, files, &git.root, invocation)
}

/// The shell replaces a wildcard by what it matches, and leaves it to git if that is nothing.
fn as_pathspecs(world: &dyn World, field: &Field, word: &str, cwd: &str) -> Vec<String> {
    let hits = if field.glob { absent::hits(world, cwd, word) } else { None };
    match hits {
        Some(hits) if !hits.is_empty() => hits.iter().map(|hit| format!(":(literal){hit}")).collect(),
        Some(_) | None => vec![word.to_owned()],
    }
}

fn take_away(world: &dyn World, files: Option<Vec<String>>, root: &str, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let by = &invocation.by;
    let is_few = files.as_ref().is_some_and(|files| files.len() <= FEW);
    let is_told = |file: &&String| {
        let here = place::classify(file, world);
        is_few || here.reach > Reach::Project || here.sensitivity > Sensitivity::None
    };
    for file in files.iter().flatten().filter(is_told).take(FEW) {
        found.touch_path(Touch::Delete, file.clone());
    }
    if is_few {
        return found;
    }
    let mut effect = Effect::new(Operation::Delete, Target::Path(above(files.as_deref().unwrap_or_default(), root)));
    (effect.scope, effect.reach) = (Scope::Directory, Reach::Project);
    effect.reversibility = Reversibility::Tracked;
    effect.restorable = files.map_or(u64::MAX, |files| u64::try_from(files.len()).unwrap_or(u64::MAX));
    effect.by.clone_from(&by.name);
    effect.part = by.part;
    found.effect(effect);
    found
}

/// How many tracked files a checkout of these paths puts back: those that were changed, and those that the other commit has
/// otherwise.
pub(super) fn put_back(world: &dyn World, field: &Field, others: &BTreeSet<String>, invocation: &Invocation) -> u64 {
    let Some((word, cwd)) = field.known().zip(invocation.cwd.as_deref()) else { return 0 };
    let Some(git) = world.git(cwd) else { return 0 };
    let specs = Pathspecs::read(as_pathspecs(world, field, word, cwd).iter().map(String::as_str), cwd, &git.root);
    let Some(files) = world.tracked_files(&git.root, &git.root) else { return u64::MAX };
    let meant: Vec<&String> = files.iter().filter(|file| specs.mean(file)).collect();
    let (other, same): (Vec<&String>, Vec<&String>) = meant.into_iter().partition(|file| others.contains(*file));
    let other = u64::try_from(other.len()).unwrap_or(u64::MAX);
    other.saturating_add(changed(world, same.into_iter()))
}

/// The directory that holds all of them.
fn above(files: &[String], root: &str) -> String {
    let mut above = files.first().map_or(root, |file| path::parent(file));
    while files.iter().any(|file| !path::under(file, above)) && above != root && above != "/" {
        above = path::parent(above);
    }
    above.to_owned()
}
