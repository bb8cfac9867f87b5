//! What git prints of files that no word names: histories, differences, searches and archives, held against the rules for files.

use super::super::Invocation;
use super::super::sweeps::{git_grep, search};
use super::git_paths::{is_ref, path_in_commit};
use super::git_pathspec::Pathspecs;
use super::git_shown::{git_shown, is_among};
use crate::observe::field::Field;
use crate::observe::paths::sweep::Sweep;
use crate::observe::paths::trees::ruled_in_index;
use crate::observe::program::args::Args;
use crate::observe::program::git_subcommand::Subcommand;
use crate::observe::sheet::notes::Told;
use crate::observe::sheet::observer::Observer;
use crate::path;
use crate::world::{Git, Kind, Tracking, World};

/// Flags under which the changes themselves are printed.
// From `git help diff-options`: each prints lines of files, which may be lines of a secret.
const PATCH: &[&str] = &[
    "-p",
    "-u",
    "--patch",
    "-U",
    "--unified",
    "-L",
    "-c",
    "--cc",
    "--dd",
    "--remerge-diff",
    "--patch-with-stat",
    "--patch-with-raw",
    "--word-diff",
    "--color-words",
    "-W",
    "--function-context",
    "--binary",
    "--diff-merges",
    "--output",
];

/// Flags under which only names, numbers or messages are.
// With a flag of both kinds the content counts as printed, whichever git would obey.
const SUMMARY: &[&str] = &[
    "--stat",
    "--shortstat",
    "--numstat",
    "--dirstat",
    "-X",
    "--summary",
    "--name-only",
    "--name-status",
    "--raw",
    "-s",
    "--no-patch",
    "--compact-summary",
    "--quiet",
    "-q",
    "--check",
];

/// Reads by their own names those tracked files of rules that the command prints.
pub(crate) fn git_contents(out: &mut Observer<'_>, sub: &Subcommand, invocation: &Invocation) {
    let (sub, git) = (sub.name.as_str(), sub.git());
    if sub == "grep" {
        git_searches(out, invocation);
    }
    let has_rules = !out.world.settings().file_patterns.is_empty();
    let is_whole = matches!(sub, "archive" | "grep" | "bundle create" | "ls-files");
    let (Some(git), Some(cwd)) = (git.filter(|_| has_rules || is_whole), invocation.cwd.as_deref()) else { return };
    if sub != "ls-files" && !prints_contents(sub, git, &invocation.args) {
        return;
    }
    let from = usize::from(sub == "grep" && !invocation.args.has_any(&["-e", "-f"]));
    let operands = invocation.args.operands.get(from..).unwrap_or_default();
    let ended_at = invocation.args.ended.then_some(invocation.args.ended_at.saturating_sub(from));
    let is_path = |(at, field): &(usize, &Field)| match ended_at {
        Some(end) => *at >= end,
        None => is_plain_pathspec(out.world, field, cwd, git),
    };
    let (paths, revisions): (Vec<_>, Vec<_>) = operands.iter().enumerate().partition(is_path);
    // A path that is not known may be any.
    let texts = paths.iter().map(|(_, field)| field.known().unwrap_or(":/"));
    let specs = Pathspecs::read(texts, cwd, &git.root);
    let mut told = ruled_in_index(out.world, &git.root, cwd);
    if is_whole {
        told.extend(out.secrets_in_index(&git.root, cwd));
    }
    let words: Vec<&Field> = revisions.iter().map(|(_, field)| *field).collect();
    // Looked up only where it decides something.
    let shown = if told.is_empty() { None } else { git_shown(out, sub, &words, invocation) };
    told.retain(|told| shown.as_ref().is_none_or(|shown| is_among(out, shown, told)));
    let is_printed = |told: &Told| {
        specs.mean(&told.path) && self::is_printed(out.world, sub, told, revisions.is_empty(), invocation)
    };
    let told: Vec<Told> = told.into_iter().filter(is_printed).collect();
    if sub == "ls-files" {
        return out.told_listed.extend(told);
    }
    let sweep = match sub {
        "grep" if revisions.is_empty() && !invocation.args.has("--cached") => search(&invocation.args),
        _ => Sweep::default(),
    };
    out.touch_told(&told, &sweep, &invocation.by);
}

/// Without a path `git grep` goes through the current directory; a path is read like that of other searches.
fn git_searches(out: &mut Observer<'_>, invocation: &Invocation) {
    let has_path = invocation.args.operands.len() > usize::from(!invocation.args.has_any(&["-e", "-f"]));
    if let (Some(sweep), Some(cwd), false) = (git_grep(&invocation.args), invocation.cwd.as_deref(), has_path) {
        out.touch_told_below(cwd, &sweep, &invocation.by);
    }
}

/// Before a `--` only what lies there, or cannot be a commit, is a path for certain.
fn is_plain_pathspec(world: &dyn World, field: &Field, cwd: &str, git: &Git) -> bool {
    let Some(text) = field.known().filter(|_| !is_ref(field, Some(git))) else { return false };
    let kind = world.look(&path::lexical(&path::join(cwd, text))).kind;
    matches!(kind, Kind::File | Kind::Directory | Kind::Link)
        || (text.starts_with(':') && path_in_commit(text).is_none())
        || field.glob
}

/// Without a commit only changes that are not committed are shown.
fn is_printed(world: &dyn World, sub: &str, told: &Told, is_now: bool, invocation: &Invocation) -> bool {
    match sub {
        "diff" | "diff-files" if !is_now || told.kind == Kind::Directory => true,
        "diff" if invocation.args.has_any(&["--cached", "--staged"]) => !world.is_committed(&told.path),
        "diff" | "diff-files" => world.tracking(&told.path) != Tracking::Clean,
        _ => true,
    }
}

/// The command prints what files hold, and not only their names.
fn prints_contents(sub: &str, git: &Git, args: &Args) -> bool {
    match sub {
        "log" | "whatchanged" | "stash list" | "stash show" | "diff-tree" | "diff-index" | "diff-files" | "reflog" => {
            args.has_any(PATCH)
        }
        "show" | "diff" => {
            let is_within = |field: &Field| field.known().is_some_and(|text| path_in_commit(text).is_some());
            let names_files = !args.operands.is_empty() && args.operands.iter().all(is_within);
            !names_files && (!args.has_any(SUMMARY) || args.has_any(PATCH))
        }
        "range-diff" | "format-patch" | "fast-export" | "grep" => true,
        "bundle create" => true,
        "archive" => !args.has_any(&["-l", "--list", "--remote"]),
        "cat-file" => {
            let is_listing = |field: &Field| {
                let text = field.known().unwrap_or_default();
                let is_hash = text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
                path_in_commit(text).is_some() || (is_ref(field, Some(git)) && !is_hash)
            };
            let asks = args.has_any(&["-t", "-s", "-e", "--batch-check"]);
            !asks && !args.operands.last().is_some_and(is_listing)
        }
        _ => false,
    }
}
