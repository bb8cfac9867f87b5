//! `git`: what its settings make it run, refs told from paths, work that would be lost.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility};

use super::super::Invocation;
use super::super::args::Given;
use super::git_config::{self, Use};
use super::git_hooks::git_hooks;
use super::git_index::git_index;
use super::git_output::git_output;
use super::git_paths::{git_losses, git_operands};
use super::git_plain::git_untrusted;
use super::git_remote::git_remote;
use super::git_rewrites::git_rewrites;
use super::git_writes::{Written, git_writes};
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::observe::program::git_subcommand::Subcommand;
use crate::observe::sheet::lingering::quoted;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::path;
use crate::world::{Git, World};

/// Commands that look at no repository.
// For these the settings of the directory's repository do not matter; for all others they may start programs.
const WITHOUT_REPOSITORY: &[&str] = &["version", "help", "clone", "init", "check-ref-format", "stripspace", ""];

// These use the remote's address and the settings about transport: `core.sshCommand`, `url.insteadOf`, helpers
// (git-073).
const NETWORK: &[&str] = &[
    "push",
    "fetch",
    "pull",
    "ls-remote",
    "clone",
    "remote show",
    "remote update",
    "remote prune",
    "submodule update",
    "submodule add",
    "lfs fetch",
    "lfs pull",
    "lfs push",
    "request-pull",
    "send-email",
    "credential",
];

// Only these start merge drivers from the configuration.
const MERGING: &[&str] = &[
    "merge",
    "pull",
    "rebase",
    "cherry-pick",
    "revert",
    "am",
    "stash",
    "stash pop",
    "stash apply",
    "checkout",
    "switch",
    "merge-tree",
    "merge-file",
];

// Only these start `gpg.program` and its kin.
const SIGNING: &[&str] = &[
    "commit",
    "tag",
    "merge",
    "pull",
    "rebase",
    "cherry-pick",
    "revert",
    "am",
    "verify-commit",
    "verify-tag",
    "commit-tree",
    "push",
];

/// These print what files hold in other commits.
// A commit may hold a secret that was deleted since; printing it shows it all the same.
const PRINTING_FILES: &[&str] = &[
    "show",
    "cat-file",
    "diff",
    "diff-tree",
    "format-patch",
    "archive",
    "stash show",
    "log",
    "whatchanged",
    "range-diff",
];

// These obey `diff.external`, text conversion and the pager, all of which are programs (git-054).
const SHOWING: &[&str] = &[
    "diff",
    "log",
    "show",
    "whatchanged",
    "blame",
    "annotate",
    "stash show",
    "stash list",
    "grep",
    "cat-file",
    "diff-tree",
    "diff-index",
    "diff-files",
    "format-patch",
    "range-diff",
    "reflog",
];

pub(super) fn git(world: &dyn World, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let sub = Subcommand::of(world, invocation);
    let mut found = git_given_settings(invocation);
    if let Some(alias) = git_alias(sub.git(), invocation) {
        found.extend(alias);
        return found;
    }
    git_rewrites(world, &sub.name, invocation, state);
    // What comes in is there before a hook runs it.
    let (written, writes) = git_writes(world, &sub, invocation, state);
    found.extend(writes);
    found.then(move |out, invocation, state| {
        let mut found = git_in_repository(out.world, &sub, invocation, state);
        // A hook may have switched to another branch.
        found.then(move |out, invocation, state| {
            let mut found = git_operands(out.world, &sub.name, sub.git(), invocation);
            found.extend(git_remote(out, &sub, invocation, state));
            // What was done so far decides whether the index is as it was.
            found.then(move |out, invocation, _| git_changes(out, &sub, &written, invocation));
            found
        });
        found
    });
    found
}

/// What the repository makes git run, and the files that it prints.
fn git_in_repository(world: &dyn World, sub: &Subcommand, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let mut found = Findings::default();
    if !WITHOUT_REPOSITORY.contains(&sub.name.as_str()) {
        found = git_repository(world, sub, invocation, state);
    }
    git_listing(&sub.name, invocation);
    for given in invocation.args.given.iter_mut().filter(|given| sub.name == "grep" && given.role == Role::Execute) {
        given.role = Role::CodeSh;
    }
    found.print_contents(sub.clone());
    found
}

/// What a subcommand takes away, stages and sets, and what it prints.
fn git_changes(out: &Observer<'_>, sub: &Subcommand, written: &Written, invocation: &mut Invocation) -> Findings {
    let mut found = git_losses(out, sub, written, invocation);
    let (sub, git) = (sub.name.as_str(), sub.git());
    if sub == "update-index" {
        found.extend(git_index(git, invocation));
    }
    if sub == "config" || sub.starts_with("config ") {
        found.extend(git_config_change(sub, invocation));
    }
    let mut output = git_output(sub, git, invocation, out.world);
    // What a commit holds is as foreign as the commit.
    output.origin.brought |= PRINTING_FILES.contains(&sub);
    found.print(output);
    invocation.passes_input = false;
    found
}

/// `git -c key=value`, `--git-dir`: settings and repositories given on the command line.
fn git_given_settings(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let replaces_hooks = |given: &Given| {
        let text = given.value.as_ref().and_then(|value| value.known()).unwrap_or_default();
        given.level == 1 && given.name == "-c" && git_config::is_hooks_path(text.split('=').next().unwrap_or(text))
    };
    if invocation.args.given.iter().any(replaces_hooks) {
        invocation.does.iter_mut().for_each(|does| does.marks.add(Mark::SkipsChecks));
    }
    for given in invocation.args.given.iter().filter(|given| given.level == 1) {
        let Some(value) = &given.value else { continue };
        let harmless = match (given.name.as_str(), value.known()) {
            ("-c", Some(text)) => {
                let (key, value) = text.split_once('=').unwrap_or((text, "true"));
                git_config::is_harmless(key, value)
            }
            ("--git-dir", Some(text)) => matches!(text, ".git" | "./.git"),
            ("-c" | "--git-dir" | "--config-env" | "--exec-path", _) => false,
            (_, _) => true,
        };
        if !harmless {
            let key = value.shown();
            let key = key.split('=').next().unwrap_or_default();
            found.doubt(Degree::Opaque, format!("the setting `{key}` given to git"));
            let mut marks = Marks::default().with(Mark::UnsafeGitConfig);
            let given = value.known().and_then(|text| text.split_once('='));
            if given.is_some_and(|(key, value)| git_config::weakens_tls(key, value)) {
                marks.add(Mark::TlsWeakened);
            }
            found.unknown(Operation::Execute, marks);
        }
    }
    found
}

/// Something that git, or a program that extends it, does.
pub(crate) fn is_by_git(by: &str) -> bool {
    by.starts_with("git")
}

/// An alias that a shell runs; other aliases were written out before the words were read.
fn git_alias(git: Option<&Git>, invocation: &mut Invocation) -> Option<Findings> {
    let name = invocation.args.unknown_sub.clone().filter(|_| invocation.args.chain.len() == 1)?;
    let git = git?;
    let alias = git.config.as_ref().ok()?.get(&format!("alias.{}", name.to_ascii_lowercase()))?;
    let mut code = alias.strip_prefix('!')?.to_owned();
    let mut found = Findings::default();
    for word in invocation.args.operands.get(1..).unwrap_or_default() {
        match word.exact() {
            Some(word) => code.push_str(&format!(" {}", quoted(word))),
            None => found.run_unknown(word.origin),
        }
    }
    invocation.args.unknown_sub = None;
    invocation.done = true;
    let mut run = Findings::default();
    run.run_text(Field::literal(code, doorward_shell::Span::default()));
    found.within(Some(git.root.clone()), run);
    Some(found)
}

/// Whether the repository itself makes this command run something.
pub(super) fn git_repository(
    world: &dyn World,
    sub: &Subcommand,
    invocation: &mut Invocation,
    state: &State<'_>,
) -> Findings {
    let Some(cwd) = invocation.cwd.as_deref() else {
        return Findings::doubtful(Degree::Opaque, "git in a directory doorward doesn't know");
    };
    let mut found = Findings::default();
    let hooks = super::git_hooks::run_by(&sub.name, invocation);
    if !world.project_trusted()
        && let Some(because) = git_untrusted(world, sub, hooks, invocation)
    {
        found.doubt(Degree::Unknown, because);
    }
    let Some(git) = sub.git() else {
        if world.project().is_some_and(|project| !path::under(cwd, project)) {
            found.doubt(Degree::Unknown, format!("the git settings in `{cwd}`"));
        }
        return found;
    };
    let config = match &git.config {
        Ok(config) => config,
        Err(because) => {
            found.doubt(Degree::Opaque, format!("git settings that can't be read: {because}"));
            return found;
        }
    };
    let uses = uses(&sub.name, invocation);
    let obeyed: Vec<Use> = uses.iter().copied().chain(git_config::fetches_late(config)).collect();
    let dangers = git_config::dangers(config, &obeyed);
    let is_foreign = |key: &String| super::git_helpers::is_for_another_host(key, git, invocation);
    if let Some(key) = dangers.iter().find(|key| !git.system.contains(*key) && !is_foreign(key)) {
        found.doubt(Degree::Opaque, format!("the git setting `{key}`, which makes git run another program"));
        found.unknown(Operation::Execute, Marks::default().with(Mark::UnsafeGitConfig));
    }
    if uses.contains(&Use::Network) && config.iter().any(|(key, value)| git_config::weakens_tls(key, value)) {
        invocation.does.iter_mut().for_each(|does| does.marks.add(Mark::TlsWeakened));
    }
    found.extend(git_hooks(world, git, hooks, state));
    found
}

/// `git config key value`.
fn git_config_change(sub: &str, invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    if invocation.does.is_empty() {
        return found;
    }
    let removes = sub.ends_with("unset") || invocation.args.has_any(&["--unset", "--unset-all"]);
    let (key, value) = (invocation.operand(0).cloned(), invocation.operand(1).cloned());
    let known = match (key.as_ref().map(|key| key.exact()), value.as_ref().map(|value| value.exact())) {
        (Some(Some(key)), _) if removes => git_config::is_harmless(key, "") || !git_config::is_dangerous(key),
        (Some(Some(key)), value) => git_config::is_harmless(key, value.flatten().unwrap_or("\u{0}")),
        (Some(None), _) => {
            found.doubt(Degree::Opaque, "which git setting is changed");
            false
        }
        (None, _) => false,
    };
    let dangerous = key.as_ref().is_none_or(|key| git_config::is_dangerous(&key.text));
    let everywhere = invocation.args.has_any(&["--global", "--system"]);
    let weakens = match (key.as_ref().and_then(Field::exact), value.as_ref().and_then(Field::exact)) {
        (Some(key), Some(value)) => !removes && git_config::weakens_tls(key, value),
        (Some(_) | None, Some(_) | None) => false,
    };
    for does in &mut invocation.does {
        does.reach = if everywhere { Reach::Machine } else { does.reach };
        if known {
            does.reversibility = Reversibility::Tracked;
        } else if dangerous {
            does.marks.add(Mark::UnsafeGitConfig);
        }
        if weakens {
            does.marks.add(Mark::TlsWeakened);
        }
        if key.as_ref().is_some_and(|key| git_config::is_hooks_path(&key.text)) {
            does.marks.add(Mark::SkipsChecks);
        }
    }
    // Where branches and remotes lead is understood; the effect itself asks.
    let leads = key.as_ref().and_then(|key| key.exact()).is_some_and(|key| {
        let key = key.to_ascii_lowercase();
        key.starts_with("remote.") || key.starts_with("branch.")
    });
    if !known && !dangerous && !leads {
        found.doubt(Degree::Unknown, "a git setting doorward doesn't know");
    }
    if let Some(file) = invocation.args.value("-f").or(invocation.args.value("--file")) {
        found.write(Touch::Edit, file.clone());
    }
    found
}

/// The settings that this command obeys.
fn uses(sub: &str, invocation: &Invocation) -> Vec<Use> {
    let args = &invocation.args;
    let message = ["-m", "--message", "-F", "--file", "--no-edit", "-C", "--reuse-message", "--fixup", "--dry-run"];
    let edits = args.has_any(&[
        "-e",
        "--edit",
        "-i",
        "--interactive",
        "--edit-todo",
        "-c",
        "--reedit-message",
        "--edit-description",
    ]) || matches!(sub, "commit" | "revert" | "merge") && !args.has_any(&message)
        || (sub == "tag" && args.has_any(&["-a", "-s", "--annotate", "--sign"]) && !args.has_any(&message));
    let ext = (matches!(sub, "diff" | "stash show") || args.has("--ext-diff")) && !args.has("--no-ext-diff");
    let asked =
        args.has_any(&["-p", "-u", "--patch", "-L", "-G", "-S", "--textconv", "-c", "--cc", "-m", "-U", "--unified"]);
    let converts =
        matches!(sub, "diff" | "show" | "blame" | "annotate" | "stash show") || (SHOWING.contains(&sub) && asked);
    let picks = args.has_any(&["-p", "--patch", "-i", "--interactive"])
        && matches!(sub, "add" | "checkout" | "restore" | "reset" | "stash" | "stash push" | "commit");
    let table = [
        (Use::Network, NETWORK.contains(&sub) || sub.starts_with("lfs ") || (sub == "archive" && args.has("--remote"))),
        (Use::ExternalDiff, ext),
        (Use::TextConversion, converts && !args.has("--no-textconv")),
        (Use::Content, !NETWORK.contains(&sub) || sub == "pull"),
        (Use::Editor, edits),
        (Use::Sign, SIGNING.contains(&sub) || args.has("--show-signature")),
        (Use::Merge, MERGING.contains(&sub)),
        (Use::Pick, picks),
        (Use::Submodule, sub.starts_with("submodule") || args.has("--recurse-submodules")),
        (Use::Archive, sub == "archive"),
        (Use::Trailer, matches!(sub, "commit" | "interpret-trailers" | "tag")),
        (Use::Tool, matches!(sub, "difftool" | "mergetool" | "gui" | "citool")),
        (Use::Help, matches!(sub, "help" | "instaweb" | "web--browse")),
        (Use::Mail, sub == "send-email"),
        (Use::Hooks, super::git_hooks::runs_any(sub)),
    ];
    table.into_iter().filter(|(_, applies)| *applies).map(|(used, _)| used).collect()
}

/// Commands that change something only if they are given a name.
fn git_listing(sub: &str, invocation: &mut Invocation) {
    let args = &invocation.args;
    let acts = args.given.iter().any(|given| given.level > 1 && given.changes.has_effect());
    let lists = match sub {
        "branch" | "tag" => args.operands.is_empty() && !acts,
        "config" => args.operands.len() == 1 && !acts,
        _ => false,
    };
    if lists {
        invocation.does.clear();
    }
}
