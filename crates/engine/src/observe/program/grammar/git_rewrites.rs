//! Commits that are written again: while nobody else has them, the reflog brings the old ones back.

use doorward_vocabulary::Mark;

use super::super::Invocation;
use crate::observe::field::Field;
use crate::observe::shell::git_steps::Named;
use crate::observe::shell::state::State;
use crate::world::World;

/// With these a rebase runs commands, waits for a person, or moves more than the current branch.
// `--exec` runs a command per commit (git-043), an interactive rebase runs whatever its list says.
const MORE: &[&str] =
    &["-i", "--interactive", "-x", "--exec", "--root", "--update-refs", "--edit-todo", "--onto", "--keep-base"];

/// Ends what was begun; the beginning was judged.
// Asking again in the middle of a rebase would leave the work tree half done.
const ENDS: &[&str] = &["--continue", "--skip", "--abort", "--quit"];

/// `commit --amend` and a plain `rebase` of commits that were never sent anywhere change only what is one's own.
pub(super) fn git_rewrites(world: &dyn World, sub: &str, invocation: &mut Invocation, state: &State<'_>) {
    if !is_own_history(world, sub, invocation, state) {
        return;
    }
    for does in invocation.does.iter_mut().filter(|does| does.marks.has(Mark::HistoryRewrite)) {
        does.marks.remove(Mark::HistoryRewrite);
        does.marks.add(Mark::Commit);
    }
}

fn is_own_history(world: &dyn World, sub: &str, invocation: &Invocation, state: &State<'_>) -> bool {
    let args = &invocation.args;
    let since = match sub {
        "commit" if args.has("--amend") => "HEAD^",
        "rebase" if args.has_any(ENDS) && !args.has_any(MORE) => {
            return invocation.cwd.as_deref().is_some_and(|cwd| world.is_rebasing(cwd));
        }
        "rebase" if !args.has_any(MORE) && args.operands.len() < 2 => match args.operands.first() {
            Some(upstream) => upstream.known().unwrap_or_default(),
            None => "@{u}",
        },
        _ => return false,
    };
    let branch = match state.git.name("HEAD", |_| true) {
        Named::Name(name) | Named::Fetched(name) => name,
        Named::Unknown => return false,
    };
    let since = match state.git.name(since, |_| true) {
        Named::Name(name) | Named::Fetched(name) => name,
        Named::Unknown => return false,
    };
    let is_certain = !since.is_empty() && !args.operands.iter().any(|field: &Field| field.dynamic);
    is_certain && invocation.cwd.as_deref().is_some_and(|cwd| world.rewritable(cwd, &branch, &since))
}
