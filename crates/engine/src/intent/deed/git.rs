//! Orders about the current branch: push, commit, amend, rebase, merge. Their object goes without saying.

use doorward_vocabulary::Mark;

use super::{arguments, only, says, split};
use crate::effect::Effect;
use crate::intent::Subject;
use crate::intent::prose::Word;

/// What is on a branch, in everyday words.
const NOUNS: &[&str] = &["branch", "commit", "commits", "change", "changes", "work", "fix", "fixes", "everything"];

/// Adjectives that still mean the current branch.
const WHICH: &[&str] = &["current", "feature", "latest", "local", "last", "previous", "new"];

/// The order asks for this change of the branch, or for it to be sent.
pub(super) fn is_ordered(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Behind a change of directory the current branch is another one than the user sees.
    if subject.leaves_project {
        return false;
    }
    match verb {
        "push" => pushes(words, effect, subject),
        // `publish the branch` pushes it; `publish the package` is something else.
        "publish" => says(words, &["branch", "commits", "changes"]) && pushes(words, effect, subject),
        "commit" => commits(words, effect, subject),
        "amend" => amends(words, effect, subject),
        "rebase" => moves_onto("git rebase", words, effect, subject),
        "merge" => !words.is_empty() && moves_onto("git merge", words, effect, subject),
        _ => false,
    }
}

/// `push`, `push this branch`, `push the commits to origin`, `push main`.
fn pushes(words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Flags of `git push` that change neither what is sent nor where. `--force` and `--no-verify` need an order of
    // their own.
    const QUIET: &[&str] = &["-u", "--set-upstream", "-q", "--quiet", "-v", "--verbose", "--progress", "--no-progress"];
    let fits = effect.marks.has(Mark::Push)
        && effect.marks.has(Mark::OwnRemote)
        && only(effect, &[Mark::Push, Mark::OwnRemote, Mark::DefaultBranch]);
    let Some(tails) = arguments(effect, subject).filter(|_| fits && effect.by == "git push") else { return false };
    tails.iter().all(|tail| {
        let (flags, names) = split(tail);
        let branch = subject.branch.as_deref();
        match names.as_slice() {
            _ if !flags.iter().all(|flag| QUIET.contains(flag)) => false,
            // The branch of the moment is not the one that the user sees if the call itself changes it.
            [] | [_] | [_, "HEAD"] if changes_branch(subject) => false,
            [] => names_push(words, None, branch, effect),
            [remote] => names_push(words, Some(remote), branch, effect),
            [remote, "HEAD"] => names_push(words, Some(remote), branch, effect),
            [remote, pushed] if !pushed.contains([':', '+', '*']) => {
                let is_named = words.iter().any(|word| word.text == pushed.to_lowercase());
                (is_named || branch == Some(pushed)) && names_push(words, Some(remote), Some(pushed), effect)
            }
            _ => false,
        }
    })
}

fn names_push(words: &[&Word], remote: Option<&str>, branch: Option<&str>, effect: &Effect) -> bool {
    // Where it goes. Another name must be a remote of this repository.
    const REMOTES: &[&str] = &["remote", "origin", "upstream", "github", "gitlab"];
    let is_branch = |word: &&Word| branch.is_some_and(|branch| word.text == branch.to_lowercase());
    let is_remote = |word: &&Word| match (word.text.as_str(), remote) {
        (name @ ("origin" | "upstream"), Some(remote)) => name == remote,
        (name, Some(remote)) => REMOTES.contains(&name) || name == remote.to_lowercase(),
        (name, None) => REMOTES.contains(&name),
    };
    let is_understood = |word: &&Word| {
        is_branch(word) || is_remote(word) || NOUNS.contains(&word.text.as_str()) || WHICH.contains(&word.text.as_str())
    };
    // Another remote than the usual one is meant only if it is said.
    let says_remote =
        remote.is_none_or(|remote| remote == "origin" || words.iter().any(|word| word.text == remote.to_lowercase()));
    // Whoever means the branch that everybody builds from says so.
    let is_meant = !effect.marks.has(Mark::DefaultBranch) || words.iter().any(is_branch);
    words.iter().all(is_understood) && says_remote && is_meant
}

/// A command of the call checks something else out, or renames the branch.
fn changes_branch(subject: &Subject<'_>) -> bool {
    const CHANGES: &[&str] =
        &["git switch", "git checkout", "git branch", "git worktree", "git symbolic-ref", "git config"];
    subject.commands.iter().any(|command| CHANGES.iter().any(|start| command.starts_with(start)))
}

/// `commit`, `commit the changes`: a commit, and nothing of the past.
fn commits(words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    let tails = arguments(effect, subject).filter(|_| effect.by == "git commit" && only(effect, &[Mark::Commit]));
    tails.is_some_and(|tails| !tails.iter().flatten().any(|word| word.starts_with("--am")))
        && words.iter().all(|word| NOUNS.contains(&word.text.as_str()) || WHICH.contains(&word.text.as_str()))
}

/// `amend`, `amend the last commit`.
fn amends(words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Flags that change what the commit says or holds. `--no-verify`, `--author` and `--date` need an order of their own.
    const FLAGS: &[&str] = &["--amend", "-m", "--message", "--no-edit", "-a", "--all", "-am", "-q", "--quiet"];
    const SAID: &[&str] = &["commit", "message", "head", "change", "changes"];
    let fits = effect.by == "git commit" && only(effect, &[Mark::Commit, Mark::HistoryRewrite]);
    let Some(tails) = arguments(effect, subject).filter(|_| fits) else { return false };
    let is_amend = |tail: &Vec<&str>| {
        tail.contains(&"--amend") && tail.iter().all(|word| !word.starts_with('-') || FLAGS.contains(word))
    };
    tails.iter().all(is_amend)
        && words.iter().all(|word| SAID.contains(&word.text.as_str()) || WHICH.contains(&word.text.as_str()))
}

/// `rebase onto main`, `rebase`, `merge main into this branch`: the current branch is moved, the named one stays.
fn moves_onto(by: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    const AROUND: &[&str] = &["onto", "top", "branch", "current", "latest", "feature", "it"];
    const QUIET: &[&str] = &["-q", "--quiet", "--no-edit", "--ff-only", "--no-ff", "--autostash"];
    let fits = effect.by == by && only(effect, &[Mark::HistoryRewrite, Mark::Commit]);
    let Some(tails) = arguments(effect, subject).filter(|_| fits && !changes_branch(subject)) else { return false };
    let default = subject.default_branch.as_deref();
    let own = subject.branch.as_deref();
    tails.iter().all(|tail| {
        let (flags, names) = split(tail);
        let target = match names.as_slice() {
            [] => None,
            [target] => Some(*target),
            _ => return false,
        };
        let is_target = |text: &str| {
            let tip = target.map(|target| target.strip_prefix("origin/").unwrap_or(target).to_lowercase());
            tip.as_deref() == Some(text) || target.map(str::to_lowercase).as_deref() == Some(text)
        };
        let said: Vec<&str> = words
            .iter()
            .map(|word| word.text.as_str())
            .filter(|text| !AROUND.contains(text) && own.map(str::to_lowercase).as_deref() != Some(*text))
            .collect();
        // Without a name the branch that everybody builds from is meant, or the one that git knows.
        let goes_without_saying = target.is_none() || default.is_some_and(|default| is_target(&default.to_lowercase()));
        flags.iter().all(|flag| QUIET.contains(flag))
            && if said.is_empty() { goes_without_saying } else { said.iter().all(|text| is_target(text)) }
    })
}
