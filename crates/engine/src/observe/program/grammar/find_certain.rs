//! Deletions by `find` whose hits are known: nothing, a few files, or what a build makes again.

use doorward_vocabulary::{Mark, Operation, Reach, Reversibility, Scope, Sensitivity};

use super::super::Invocation;
use super::find::Expression;
use crate::effect::{Amount, Effect, Target};
use crate::limits::is_bulk;
use crate::observe::field::Field;
use crate::observe::paths::absent::is_own_ground;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::observe::program::searches::hits::{self, Hits};
use crate::observe::sheet::observer::Observer;
use crate::policy::Thresholds;
use crate::world::{Kind, Tracking, World};
use crate::{path, place};

/// More files are not written down one by one.
// The limit for deleting in one call is 20 files by default (`bulk_files`); beyond it only the count matters.
const FEW: usize = 20;

/// More files are not even looked up.
// Every hit is one more look at the disk while the agent waits.
const MANY: usize = 2_000;

/// What an action of `find` hits.
#[derive(Debug)]
pub(super) enum Found {
    Few(Vec<String>),
    /// Too many to be written down one by one.
    Many(Sum),
}

/// Many files, by what brings them back.
#[derive(Debug, Default)]
pub(super) struct Sum {
    /// Nothing does.
    lost: Amount,
    tracked: u64,
    /// Not fewer either.
    is_exact: bool,
    /// Those whose name or place says more than their number.
    told: Vec<String>,
}

/// What the actions reach, if the disk says so for certain and it lies in a place of one's own.
pub(super) fn certainly_found(out: &Observer<'_>, expression: &Expression, invocation: &Invocation) -> Option<Found> {
    let hits = found_now(out.world, expression, invocation).filter(|_| out.is_still())?;
    if hits.paths.len() > MANY {
        return None;
    }
    if hits.paths.len() <= FEW {
        return Some(Found::Few(hits.paths.into_iter().map(|(hit, _)| hit).collect()));
    }
    summed(out.world, &hits).map(Found::Many)
}

/// What they would reach now; `None` if that is not known, or neither the place nor its repository is left.
pub(super) fn found_now(world: &dyn World, expression: &Expression, invocation: &Invocation) -> Option<Hits> {
    let cwd = invocation.cwd.as_deref()?;
    let roots: Vec<String> = expression
        .starts
        .iter()
        .map(|start| start.exact().map(|text| path::lexical(&path::join(cwd, text))))
        .collect::<Option<_>>()?;
    let is_own = |root: &String| is_own_ground(world, root);
    if expression.follows || !expression.trouble.is_empty() || !roots.iter().all(is_own) {
        return None;
    }
    let hits = hits::hits(&expression.tests, &expression.starts, cwd, world)?;
    // Git can do without its empty directories, and a person sees which they are.
    let may_go = |kind: Kind| kind == Kind::Directory && expression.only_deletes();
    let is_kept = |(hit, kind): &(String, Kind)| roots.contains(hit) || (is_of_git(hit) && !may_go(*kind));
    (!hits.paths.iter().any(is_kept)).then_some(hits)
}

/// Directories go only once they are empty, so that their files are all that counts.
fn summed(world: &dyn World, hits: &Hits) -> Option<Sum> {
    let mut sum = Sum { is_exact: hits.is_exact, ..Sum::default() };
    for (hit, kind) in &hits.paths {
        match kind {
            Kind::Directory if is_of_git(hit) => {
                sum.told.push(hit.clone());
                continue;
            }
            Kind::Directory => continue,
            Kind::File | Kind::Link => {}
            Kind::Missing | Kind::Special | Kind::Unlisted | Kind::Unreadable => return None,
        }
        match world.tracking(hit) {
            Tracking::Rebuildable => continue,
            Tracking::Clean => sum.tracked += 1,
            Tracking::Modified | Tracking::Untracked | Tracking::Ignored | Tracking::Outside | Tracking::Unknown => {
                sum.lost.files += 1;
                sum.lost.bytes = sum.lost.bytes.saturating_add(world.look(hit).size);
            }
        }
        let here = place::classify(hit, world);
        if here.reach > Reach::Project || here.sensitivity > Sensitivity::None {
            sum.told.push(hit.clone());
        }
    }
    (sum.told.len() <= FEW).then_some(sum)
}

/// One effect for each place that is searched, with what all of them lose.
fn delete_many(world: &dyn World, sum: &Sum, expression: &Expression, invocation: &Invocation) -> Findings {
    let mut all = Findings::default();
    let cwd = invocation.cwd.as_deref().unwrap_or("/");
    for hit in &sum.told {
        all.touch(Touch::Delete, Field::literal(hit.clone(), doorward_shell::Span::default()));
    }
    let reversibility = match (sum.lost.files, sum.tracked) {
        (0, 0) => Reversibility::Rebuildable,
        (0, _) => Reversibility::Tracked,
        (_, _) => Reversibility::Irreversible,
    };
    for (at, start) in expression.starts.iter().enumerate() {
        let root = path::lexical(&path::join(cwd, &start.text));
        let here = place::classify(&path::join(&root, "x"), world);
        let mut effect = Effect::new(Operation::Delete, Target::Path(root));
        (effect.scope, effect.reach) = (Scope::Directory.max(here.scope), here.reach);
        effect.reversibility = reversibility;
        effect.marks.add(Mark::Recursive);
        if at == 0 {
            effect.restorable = sum.tracked;
            effect.amount = Some(sum.lost).filter(|lost| lost.files > 0 && sum.is_exact);
        }
        // What may be many and may be few is put to a person.
        if !sum.is_exact {
            effect.marks.add(Mark::CountUnknown);
        }
        if effect.amount.is_some_and(|lost| is_bulk(lost, &Thresholds::default())) {
            effect.marks.add(Mark::Bulk);
        }
        effect.by.clone_from(&invocation.by.name);
        effect.part = invocation.by.part;
        all.effect(effect);
    }
    all
}

/// `-delete`: files, and directories only once they are empty.
pub(super) fn delete_certain(
    world: &dyn World,
    found: &Found,
    expression: &Expression,
    invocation: &Invocation,
) -> Findings {
    let mut all = Findings::default();
    match found {
        Found::Few(hits) if hits.is_empty() => {
            // What is found later on may match any of the names.
            let patterns = expression.patterns();
            let patterns = if patterns.is_empty() { vec!["*"] } else { patterns };
            for start in &expression.starts {
                let root = path::lexical(&path::join(invocation.cwd.as_deref().unwrap_or("/"), &start.text));
                for pattern in &patterns {
                    all.touch_nothing(root.clone(), *pattern);
                }
            }
        }
        Found::Few(hits) => {
            for hit in hits {
                all.touch(Touch::Delete, Field::literal(hit.clone(), doorward_shell::Span::default()));
            }
        }
        Found::Many(sum) => all = delete_many(world, sum, expression, invocation),
    }
    all
}

/// `-exec rm {} +` with known hits: the command as it will run, or not at all.
pub(super) fn deletes_certain(
    out: &Observer<'_>,
    words: &[Field],
    expression: &Expression,
    invocation: &Invocation,
) -> Option<Findings> {
    let is_plain = |word: &Field| word.exact().is_some_and(|text| text == "{}" || !text.contains("{}"));
    let deletes = words.first().and_then(Field::exact).is_some_and(|name| matches!(name, "rm" | "unlink" | "rmdir"));
    if !deletes || !words.iter().all(is_plain) {
        return None;
    }
    let found = certainly_found(out, expression, invocation)?;
    let Found::Few(hits) = &found else { return None };
    let mut all = Findings::default();
    if hits.is_empty() {
        // It is named, though nothing is found for it to work on.
        all.name(words);
        all.extend(delete_certain(out.world, &found, expression, invocation));
    } else {
        let fields = |word: &Field| match word.text.as_str() {
            "{}" => hits.iter().map(|hit| Field::literal(hit.clone(), word.span)).collect(),
            _ => vec![word.clone()],
        };
        all.run(words.iter().flat_map(fields).collect());
    }
    Some(all)
}

fn is_of_git(path: &str) -> bool {
    path.split('/').any(|part| part == ".git")
}
