//! Git as a writer: the files that a command puts into the work tree or the index, judged by what enters and where.

use std::collections::BTreeSet;

use doorward_vocabulary::{Degree, Mark};

use super::super::Invocation;
use super::git_sources::{Wanted, wanted};
use crate::incoming::{Becomes, GitSource, GitWrite, Incoming, Rewrite, Standing};
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::observe::program::git_subcommand::Subcommand;
use crate::observe::shell::git_steps::{GitSteps, Named};
use crate::observe::shell::state::State;
use crate::observe::stream::Origin;
use crate::world::{Git, Kind, Tracking, World};
use crate::{path, place};

/// Settings of agents and of doorward itself: taking them away, or going back to older ones, may loosen as much as new ones.
// Elsewhere going back to an older version is a restore. Here the older version may lack the guard (git-910,
// git-927).
const GUARDING: &[Mark] = &[Mark::AgentSettings, Mark::GuardOwn];

/// Looks up what the command would write. What is staged is as good as written.
pub(super) fn git_writes(
    world: &dyn World,
    sub: &Subcommand,
    invocation: &Invocation,
    state: &State<'_>,
) -> (Written, Findings) {
    let mut found = Findings::default();
    if invocation.args.always(|changes| changes.dry_run) {
        return (Written { others: BTreeSet::new(), is_seen: true }, found);
    }
    let git = sub.git();
    let all = wanted(&sub.name, git, invocation);
    let mut written = Written { others: BTreeSet::new(), is_seen: !all.is_empty() };
    let writer = Writer { world, git, invocation, state };
    for wanted in all {
        let is_of_paths = !wanted.paths.is_empty();
        let (looked, writes) = writer.write(wanted.clone());
        found.extend(writes);
        written.is_seen &= matches!(looked, Looked::Files { is_seen: true, .. });
        if let Looked::Files { paths, .. } = looked {
            written.others.extend(paths.into_iter().filter(|_| is_of_paths));
        } else if looked == Looked::Nameless && !wanted.else_paths.is_empty() {
            // `git checkout a.txt`: no branch has that name, so it is a file.
            let staged = Wanted { source: GitSource::Index, paths: wanted.else_paths, ..Wanted::default() };
            found.extend(writer.write(staged).1);
        } else if looked == Looked::Nameless && !wanted.is_perhaps && !stashes(&wanted, state) {
            // Another call may be about to make that name.
            found.extend(unseen_write(invocation, "git has nothing by that name yet"));
        }
    }
    if sub.name == "pull" && invocation.args.operands.is_empty() && git.is_some_and(|git| !pulls_own(git)) {
        found.extend(unseen_write(invocation, "the branch tracks one with another name"));
    }
    let mut steps = GitSteps::clone(&state.git);
    super::git_sources::note_steps(&sub.name, git, invocation, &mut steps);
    found.step(steps);
    (written, found)
}

/// A command of git that writes files, where it runs.
struct Writer<'a> {
    world: &'a dyn World,
    git: Option<&'a Git>,
    invocation: &'a Invocation,
    state: &'a State<'a>,
}

impl Writer<'_> {
    fn write(&self, wanted: Wanted) -> (Looked, Findings) {
        let mut found = Findings::default();
        let Some(directory) = self.invocation.cwd.clone() else { return (Looked::Done, found) };
        let Some(source) = now_named(wanted.source, self.git, self.state) else { return (Looked::Done, found) };
        let source = fetched_name(source, self.state);
        let write = GitWrite { directory, source, paths: wanted.paths, into: wanted.into };
        match self.world.rewrites(&write) {
            Rewrite::Undescribed => {}
            Rewrite::Nameless if !self.state.git.makes_names() => return (Looked::Nameless, found),
            Rewrite::Nameless => {
                let because = "it names something this call fetches or creates first";
                found.extend(unseen_write(self.invocation, because));
            }
            Rewrite::Unread(because) => found.extend(unseen_write(self.invocation, &because)),
            Rewrite::Files(files) => {
                let elsewhere = write.into.is_some();
                let is_had =
                    |file: &Incoming| file.standing != Standing::New && matches!(file.becomes, Some(Becomes::Text(_)));
                let is_seen = !elsewhere && files.iter().all(is_had);
                if let Some(place) = &write.into {
                    found.arrive(place.clone());
                    found.store(place.clone(), None, Origin { brought: true, ..Origin::default() });
                }
                let paths = files.iter().map(|file| file.path.clone()).filter(|_| !elsewhere).collect();
                files.into_iter().for_each(|file| found.extend(incoming(self.world, file, elsewhere)));
                return (Looked::Files { paths, is_seen }, found);
            }
        }
        (Looked::Done, found)
    }
}

/// What this call put aside itself comes back.
fn stashes(wanted: &Wanted, state: &State<'_>) -> bool {
    matches!(wanted.source, GitSource::Stash(_)) && state.git.has_stashed()
}

fn unseen_write(invocation: &Invocation, because: &str) -> Findings {
    Findings::doubtful(Degree::Opaque, format!("which files `{}` writes: {because}", invocation.by.name))
}

/// One file: judged now if something loads it by itself, otherwise when something runs it.
fn incoming(world: &dyn World, file: Incoming, elsewhere: bool) -> Findings {
    let mut found = Findings::default();
    let is_there = file.becomes.is_some() && world.look(&file.path).kind == Kind::File;
    if is_there && world.tracking(&file.path) == Tracking::Ignored {
        // Git writes over ignored files without a word.
        found.touch_path(Touch::Write, file.path.clone());
    }
    if file.standing == Standing::Known {
        return found;
    }
    let marks = place::classify(&file.path, world).marks;
    let guards = marks.has_any(GUARDING);
    // Instructions in a work tree outside the project are orders for nobody yet; inside, agents find them.
    let is_inside = world.project().is_some_and(|project| path::under(&file.path, project));
    let counts = is_inside || !marks.has(Mark::InstructionFile);
    let loads = guards || (counts && place::loads_by_itself(&file.path, world));
    let is_judged = loads && (guards || file.standing == Standing::New);
    match file.becomes {
        None if guards => found.touch_path(Touch::Delete, file.path),
        None => {}
        Some(becomes) if is_judged => found.extend(enters_by_git(file.path, becomes)),
        Some(_) if elsewhere => {}
        Some(becomes) => found.extend(brought(file.path, becomes, file.standing)),
    }
    found
}

/// As if it were written by hand.
fn enters_by_git(path: String, becomes: Becomes) -> Findings {
    let mut found = Findings::default();
    let mut write = Findings::default();
    write.touch_path(Touch::Write, path.clone());
    match becomes {
        Becomes::Text(text) => found.sealed(write, move |caused, _| caused.enter(&path, &text)),
        Becomes::Link(_) => {
            found.extend(write);
            found.link(path);
        }
        Becomes::Repository | Becomes::Unseen => found.extend(write),
    }
    found
}

/// Later commands find it there; whoever runs it has to read it first.
fn brought(path: String, becomes: Becomes, standing: Standing) -> Findings {
    let mut found = Findings::default();
    let content = match becomes {
        Becomes::Text(text) => Some(text),
        Becomes::Link(_) => {
            found.link(path.clone());
            None
        }
        Becomes::Repository | Becomes::Unseen => None,
    };
    let is_new = standing == Standing::New;
    found.store(path.clone(), content, Origin { brought: is_new, ..Origin::default() });
    if is_new {
        found.arrive(path);
    }
    found
}

/// What git was asked about the files that a command writes.
#[derive(Debug)]
pub(super) struct Written {
    /// Files that paths name and that another commit has otherwise.
    pub others: BTreeSet<String>,
    /// Every file that it writes is text that this project has had.
    pub is_seen: bool,
}

/// Whether the world knew the name, and the files that would be others.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Looked {
    Done,
    Files { paths: Vec<String>, is_seen: bool },
    Nameless,
}

/// After a fetch only a branch of one's own is what it was: any other name may be a branch of the remote.
fn fetched_name(source: GitSource, state: &State<'_>) -> GitSource {
    if let GitSource::Tree(name) = &source
        && state.git.makes_names()
        && is_plain(name)
    {
        return GitSource::Tree(format!("refs/heads/{name}"));
    }
    source
}

fn is_plain(name: &str) -> bool {
    !name.contains(['~', '^', '@', ':']) && !name.starts_with("refs/") && !matches!(name, "-" | "HEAD" | "ORIG_HEAD")
}

/// The source by the names that hold before the call; `None` if it is what the person's own remote brings.
fn now_named(source: GitSource, git: Option<&Git>, state: &State<'_>) -> Option<GitSource> {
    let (name, make): (String, fn(String) -> GitSource) = match source {
        GitSource::Tree(name) => (name, GitSource::Tree),
        GitSource::Subtree(name) => (name, GitSource::Subtree),
        GitSource::Side(name) => (name, GitSource::Side),
        GitSource::Change(name) => (name, GitSource::Change),
        GitSource::Undo(name) => (name, GitSource::Undo),
        GitSource::Stash(_) | GitSource::Index | GitSource::Sparse | GitSource::Unknown => return Some(source),
        GitSource::Bisect(_) if state.git.is_start() => return Some(source),
        GitSource::Bisect(_) => return Some(GitSource::Unknown),
    };
    match state.git.name(&name, |base| is_of_remote(base, git)) {
        Named::Name(name) => Some(make(name)),
        // What was fetched before is looked at; what comes now is what the person's own pull would bring.
        Named::Fetched(name) if is_upstream(&name, git) => Some(make(name)),
        Named::Fetched(_) | Named::Unknown => Some(GitSource::Unknown),
    }
}

fn is_of_remote(name: &str, git: Option<&Git>) -> bool {
    let name = name.strip_prefix("refs/remotes/").or_else(|| name.strip_prefix("remotes/")).unwrap_or(name);
    name == "FETCH_HEAD"
        || git.is_some_and(|git| {
            git.remotes.contains_key(name)
                || name.split_once('/').is_some_and(|(remote, _)| git.remotes.contains_key(remote))
        })
}

/// The branch of the remote that the current one follows, or its default branch: what `git pull` would bring.
fn is_upstream(name: &str, git: Option<&Git>) -> bool {
    let Some(git) = git else { return false };
    let name = name.strip_prefix("refs/remotes/").or_else(|| name.strip_prefix("remotes/")).unwrap_or(name);
    let default = git.default_branch.as_deref().map(|branch| format!("origin/{branch}"));
    default.as_deref() == Some(name)
        || upstream(git).is_some_and(|upstream| upstream == name && is_namesake(&upstream, git))
}

/// What a bare `git pull` brings is the branch's own, or nothing.
fn pulls_own(git: &Git) -> bool {
    upstream(git).is_none_or(|upstream| {
        let default = git.default_branch.as_deref().map(|branch| format!("origin/{branch}"));
        is_namesake(&upstream, git) || default.as_deref() == Some(upstream.as_str())
    })
}

/// The branch follows one of its own name: no call had it follow another.
fn is_namesake(upstream: &str, git: &Git) -> bool {
    git.branch.as_deref().is_some_and(|branch| upstream.split_once('/').is_some_and(|(_, name)| name == branch))
}

/// `origin/main` for a branch that follows it.
pub(super) fn upstream(git: &Git) -> Option<String> {
    let branch = git.branch.as_deref()?;
    let config = git.config.as_ref().ok()?;
    let value =
        |key: &str| config.iter().find(|(known, _)| known.eq_ignore_ascii_case(&format!("branch.{branch}.{key}")));
    let (_, remote) = value("remote")?;
    let (_, merge) = value("merge")?;
    let name = merge.strip_prefix("refs/heads/")?;
    Some(if remote == "." { name.to_owned() } else { format!("{remote}/{name}") })
}
