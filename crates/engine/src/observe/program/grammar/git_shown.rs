//! Which commits a git command prints the changes of, as far as its words say that plainly.

use doorward_vocabulary::{Degree, Operation};

use super::super::Invocation;
use crate::incoming::Shown;
use crate::observe::field::Field;
use crate::observe::program::args::Args;
use crate::observe::sheet::notes::Told;
use crate::observe::sheet::observer::Observer;
use crate::path;
use crate::world::{Kind, Tracking};

/// Flags that change how something is printed, and not what.
// With any other flag the printed text is not known, and what was printed may be run or written next.
const PLAIN: &[&str] = &[
    "-p",
    "-u",
    "--patch",
    "--stat",
    "--numstat",
    "--shortstat",
    "--summary",
    "--patch-with-stat",
    "-U",
    "--unified",
    "--oneline",
    "--format",
    "--pretty",
    "--abbrev-commit",
    "--color",
    "--no-color",
    "--no-pager",
    "--no-ext-diff",
    "--no-textconv",
    "--minimal",
    "--patience",
    "--histogram",
    "-w",
    "-b",
    "--ignore-all-space",
    "--ignore-space-change",
    "--ignore-blank-lines",
    "--word-diff",
    "--color-words",
    "-W",
    "--function-context",
    "--decorate",
    "--no-decorate",
    "--date",
    "-n",
    "--max-count",
    "--cached",
    "--staged",
    "-C",
];

/// More commits than somebody reads.
// Each is looked up in the object store. A log of more is read by skimming, and its content counts as unknown.
const COMMITS: usize = 50;

/// What differs, and whether what is not committed comes on top.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    paths: Vec<String>,
    with_work: bool,
}

/// What the command prints the changes of; `None` if that may be anything.
pub(super) fn git_shown(
    out: &Observer<'_>,
    sub: &str,
    revisions: &[&Field],
    invocation: &Invocation,
) -> Option<Changes> {
    let is_first = out.effects().iter().all(|effect| effect.operation == Operation::Read);
    let is_plain = invocation
        .args
        .given
        .iter()
        .all(|given| PLAIN.contains(&given.name.as_str()) && is_known(given.value.as_ref()));
    // The same letter means copies behind the subcommand.
    let finds_copies = invocation.args.given.iter().any(|given| given.name == "-C" && given.level > 1);
    if !is_first || !is_plain || finds_copies || out.degree() > Degree::Full || out.world.is_busy() {
        return None;
    }
    let names: Vec<&str> = revisions.iter().map(|field| field.exact()).collect::<Option<_>>()?;
    let (shown, with_work) = shown(sub, &names, &invocation.args)?;
    let paths = out.world.changed_paths(invocation.cwd.as_deref()?, &shown)?;
    Some(Changes { paths, with_work })
}

/// The file, or something in the directory, is among what differs.
pub(super) fn is_among(out: &Observer<'_>, changes: &Changes, told: &Told) -> bool {
    let world = out.world;
    let is_meant = |path: &String| path::under(path, &told.path);
    let is_uncommitted = || {
        told.kind == Kind::Directory || world.tracking(&told.path) != Tracking::Clean || !world.is_committed(&told.path)
    };
    changes.paths.iter().any(is_meant) || (changes.with_work && is_uncommitted())
}

fn is_known(value: Option<&Field>) -> bool {
    value.is_none_or(|value| value.exact().is_some())
}

fn shown(sub: &str, names: &[&str], args: &Args) -> Option<(Shown, bool)> {
    let commit = |name: &&str| is_commit(name).then(|| (*name).to_owned());
    let head = || "HEAD".to_owned();
    match sub {
        "show" => {
            let names = if names.is_empty() { &["HEAD"] } else { names };
            Some((Shown::Commits(names.iter().map(commit).collect::<Option<_>>()?), false))
        }
        "log" | "whatchanged" => {
            let given = args.given.iter().find(|given| matches!(given.name.as_str(), "-n" | "--max-count"));
            let given = given.and_then(|given| given.value.as_ref()?.exact()?.parse().ok());
            let count = [given, args.count].into_iter().flatten().max().filter(|count| *count <= COMMITS)?;
            match names {
                [] => Some((Shown::Line(head(), count), false)),
                [name] => Some((Shown::Line(commit(name)?, count), false)),
                [_, _, ..] => None,
            }
        }
        "diff" => {
            let side = |name: &str| if name.is_empty() { Some(head()) } else { commit(&name) };
            match names {
                [range] if range.contains("...") => {
                    let (one, other) = range.split_once("...")?;
                    Some((Shown::Since(side(one)?, side(other)?), false))
                }
                [range] if range.contains("..") => {
                    let (one, other) = range.split_once("..")?;
                    Some((Shown::Between(side(one)?, side(other)?), false))
                }
                [name] => Some((Shown::Between(commit(name)?, head()), true)),
                [one, other] => Some((Shown::Between(commit(one)?, commit(other)?), false)),
                [] | [_, _, _, ..] => None,
            }
        }
        _ => None,
    }
}

/// The plain name of one commit.
fn is_commit(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(['-', '^']) && !name.contains("..") && !name.contains([':', '{', '!', '@'])
        || name == "@"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_say_what_is_shown() {
        let args = Args { count: Some(2), ..Args::default() };
        let between = |one: &str, other: &str| Shown::Between(one.into(), other.into());
        for (sub, names, wanted) in [
            ("show", &[][..], Some((Shown::Commits(vec!["HEAD".into()]), false))),
            ("show", &["a1b2c3d"], Some((Shown::Commits(vec!["a1b2c3d".into()]), false))),
            ("show", &["main..x"], None),
            ("show", &["HEAD^{tree}"], None),
            ("show", &["HEAD^!"], None),
            ("log", &[], Some((Shown::Line("HEAD".into(), 2), false))),
            ("log", &["main..HEAD"], None),
            ("diff", &["HEAD~1"], Some((between("HEAD~1", "HEAD"), true))),
            ("diff", &["main", "x"], Some((between("main", "x"), false))),
            ("diff", &["main..x"], Some((between("main", "x"), false))),
            ("diff", &["main...HEAD"], Some((Shown::Since("main".into(), "HEAD".into()), false))),
            ("diff", &["main..."], Some((Shown::Since("main".into(), "HEAD".into()), false))),
            ("diff", &[], None),
            ("diff", &["a", "b", "c"], None),
            ("stash show", &[], None),
        ] {
            assert_eq!(shown(sub, names, &args), wanted, "{sub} {names:?}");
        }
        assert_eq!(shown("log", &[], &Args::default()), None);
    }
}
