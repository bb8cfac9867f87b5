//! Commands that go through whole trees or lists of files: which files they show, read from their flags.

use doorward_vocabulary::Mark;

use super::Invocation;
use super::args::Args;
use super::searches::listed::{note_cut_searches, read_carried_links, told_by_searches};
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::paths::expanded::expanded_names;
use crate::observe::paths::required::Required;
use crate::observe::paths::sweep::Sweep;
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::Shape;
use crate::path;
use crate::world::World;

/// Programs that say no more of a file than its name, kind, size or sum.
// Their output cannot show a line of a secret, so sweeping a whole tree with them is harmless.
const SILENT: &[&str] = &[
    "wc",
    "file",
    "stat",
    "ls",
    "du",
    "tree",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "test",
    "[",
    "echo",
    "printf",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "cksum",
    "sum",
    "md5",
    "shasum",
    "git",
    "touch",
    "cmp",
];

/// Flags under which a search prints names or numbers.
// A search under these prints no content (reading-008).
const NAMES: &[&str] = &[
    "-l",
    "-L",
    "-c",
    "-q",
    "--files-with-matches",
    "--files-without-match",
    "--files-without-matches",
    "--count",
    "--count-matches",
    "--quiet",
    "--silent",
    "--files",
    "--type-list",
    "--list-file-types",
];

/// Reads by their own names the secrets and the files of rules that a command shows along with a tree or a list of files.
pub(crate) fn sweep(
    out: &mut Observer<'_>,
    touch: Touch,
    field: &Field,
    real: Option<&str>,
    invocation: &Invocation,
) -> bool {
    let is_names =
        invocation.args.has("--files") && invocation.args.chain.first().is_some_and(|entry| entry.key == "rg");
    if !matches!(touch, Touch::Read | Touch::ReadTree | Touch::Upload) && !is_names {
        return false;
    }
    let by = &invocation.by;
    if field.dynamic {
        let is_listed = matches!(field.shape, Shape::ProjectPaths | Shape::ProjectNames | Shape::Below);
        let Some(sweep) = of_list(invocation).filter(|_| is_listed) else { return false };
        let mut told = told_by_searches(out);
        told.extend(out.told_listed.iter().cloned());
        note_cut_searches(out, &sweep);
        return read_carried_links(out, by) | out.touch_told(&told, &sweep, by);
    }
    let inner_links = std::mem::take(&mut out.inner_links);
    let Some(sweep) = of_tree(touch, invocation) else { return false };
    let sweep = if sweep.copies() && !copies_within(out.world, invocation) { sweep.shown() } else { sweep };
    let mut roots = match (real, invocation.cwd.as_deref()) {
        (Some(real), _) => vec![real.to_owned()],
        (None, Some(cwd)) if field.glob => expanded_names(out.world, &path::join(cwd, &field.text)),
        (None, _) => Vec::new(),
    };
    if out.follows {
        roots.extend(inner_links.iter().map(|link| path::resolve(link, out.world, path::Follow::Last).real));
    }
    if is_names {
        for root in &roots {
            let told = out.reached_below(root, &sweep);
            out.told_listed.extend(told);
        }
        return false;
    }
    roots.iter().fold(false, |any, root| out.touch_told_below(root, &sweep, by) | any)
}

/// The copy stays in the project, where its names are judged like those of the tree.
fn copies_within(world: &dyn World, invocation: &Invocation) -> bool {
    let is_place = |role: &Role| matches!(role, Role::Into | Role::RemoteInto);
    let operands = invocation.args.operands.iter().zip(&invocation.roles).filter(|(_, role)| is_place(role));
    let given = invocation.args.given.iter().filter(|given| is_place(&given.role));
    let mut places = operands.map(|(field, _)| field).chain(given.filter_map(|given| given.value.as_ref())).peekable();
    let is_within = |field: &Field| {
        let absolute = field.exact().zip(invocation.cwd.as_deref()).map(|(text, cwd)| path::join(cwd, text));
        let real = absolute.map(|absolute| path::resolve(&absolute, world, path::Follow::Last).real);
        real.zip(world.project()).is_some_and(|(real, project)| path::under(&real, project))
    };
    places.peek().is_some() && places.all(is_within)
}

/// What a command shows of a directory that it is given; `None` for those that show nothing of what lies in it.
fn of_tree(touch: Touch, invocation: &Invocation) -> Option<Sweep> {
    let args = &invocation.args;
    let program = args.chain.first()?.key.to_string();
    match program.as_str() {
        "grep" if touch == Touch::ReadTree => Some(grep(args)),
        "rg" => Some(rg(args)),
        "ag" => Some(ag(args)),
        "ack" => Some(Sweep { leaves: plain(args, &["--ignore-dir", "--ignore-directory"]), ..search(args) }),
        "tar" | "bsdtar" => Some(Sweep { leaves: plain(args, &["--exclude"]), ..Sweep::default() }),
        "zip" => {
            // A pattern without a star at its front speaks of the whole path.
            let leaves = plain(args, &["-x", "--exclude"]);
            Some(Sweep {
                leaves: leaves.into_iter().filter(|leaf| leaf.starts_with('*')).collect(),
                ..Sweep::default()
            })
        }
        "diff" if touch == Touch::ReadTree && !args.has_any(&["-q", "--brief"]) => {
            Some(Sweep { leaves: plain(args, &["-x", "--exclude"]), ..Sweep::default() })
        }
        // Beside any repository git compares and searches files like others do.
        "git" if args.has("--no-index") && args.entry().is_some_and(|entry| entry.key == "git diff") => {
            Some(Sweep::default())
        }
        "git" if args.entry().is_some_and(|entry| entry.key == "git grep") => git_grep(args),
        "7z" | "cpio" | "pax" | "jar" => Some(Sweep::default()),
        "rsync" if args.has_any(&["--include", "-f", "--filter"]) => Some(copy(Vec::new())),
        "cp" | "rsync" | "scp" | "rclone" => Some(copy(plain(args, &["--exclude"]))),
        _ => None,
    }
}

/// A copy of a tree has the names of the tree, by which a later read of it is judged.
fn copy(leaves: Vec<String>) -> Sweep {
    Sweep { leaves, is_copy: true, ..Sweep::default() }
}

/// What a command shows of files that were listed for it.
fn of_list(invocation: &Invocation) -> Option<Sweep> {
    let args = &invocation.args;
    let program = args.chain.first()?.key.to_string();
    let is_tool = invocation.does.iter().any(|does| does.marks.has_any(&[Mark::Lint, Mark::Build, Mark::Test]));
    match program.as_str() {
        program if is_tool || SILENT.contains(&program) => None,
        "grep" | "rg" | "ag" | "ack" => Some(search(args)),
        _ => Some(Sweep::default()),
    }
}

/// A search, whatever files it goes through.
pub(crate) fn search(args: &Args) -> Sweep {
    let is_inverted = args.has_any(&["-v", "--invert-match", "--passthru", "--passthrough", "-f", "--file"]);
    let given = args.given.iter().filter(|given| matches!(given.name.as_str(), "-e" | "--regexp" | "--match"));
    let named: Vec<Option<&str>> = given.map(|given| given.value.as_ref().and_then(Field::known)).collect();
    let patterns = match named.as_slice() {
        [] => vec![args.operands.first().and_then(Field::known)],
        _ => named,
    };
    let known: Option<Vec<&str>> = patterns.into_iter().collect();
    Sweep {
        required: known.filter(|_| !is_inverted).and_then(|known| Required::read(known.into_iter())),
        keeps_secrets: args.has_any(NAMES),
        is_binary: args.has_any(&["-a", "--text", "--binary-files", "--binary", "--all-text", "--search-binary", "-z"]),
        ..Sweep::default()
    }
}

fn grep(args: &Args) -> Sweep {
    let picks = values(args, &["--include"]).map(|text| text.map_or("*".to_owned(), str::to_ascii_lowercase)).collect();
    Sweep { picks, leaves: plain(args, &["--exclude", "--exclude-dir"]), ..search(args) }
}

fn rg(args: &Args) -> Sweep {
    let unrestricted = args.given.iter().filter(|given| matches!(given.name.as_str(), "-u" | "--unrestricted")).count();
    // Ignored files are where secrets live: `.env`, keys, local settings.
    const UNIGNORED: &[&str] =
        &["--no-ignore", "--no-ignore-vcs", "--no-ignore-dot", "--no-ignore-files", "--no-ignore-exclude"];
    let mut sweep = search(args);
    sweep.is_ignoring = unrestricted == 0 && !args.has_any(UNIGNORED);
    sweep.is_shy = unrestricted < 2 && !args.has_any(&["--hidden", "-."]);
    for text in values(args, &["-g", "--glob", "--iglob"]) {
        match text.map(|text| (text, text.strip_prefix('!'))) {
            Some((_, Some(left))) => sweep.leaves.extend(certain(left.trim_end_matches("/**").trim_end_matches('/'))),
            Some((picked, None)) => sweep.pick(picked),
            None => sweep.pick("*"),
        }
    }
    // Types of source text have no secrets among them.
    const DATA: &[&str] = &["all", "json", "yaml", "toml", "config", "xml", "txt", "crypto", "log"];
    let mut types = values(args, &["-t", "--type"]).peekable();
    sweep.keeps_secrets |= types.peek().is_some() && types.all(|text| text.is_some_and(|text| !DATA.contains(&text)));
    sweep
}

/// Files that are not tracked are searched only if a flag says so.
pub(crate) fn git_grep(args: &Args) -> Option<Sweep> {
    let is_plain = args.has("--no-index");
    let is_ignoring = if is_plain { args.has("--exclude-standard") } else { !args.has("--no-exclude-standard") };
    (is_plain || args.has("--untracked")).then(|| Sweep { is_ignoring, ..search(args) })
}

fn ag(args: &Args) -> Sweep {
    let is_open = args.has_any(&["-u", "--unrestricted"]);
    let mut sweep = search(args);
    sweep.is_ignoring =
        !is_open && !args.has_any(&["-U", "--skip-vcs-ignores", "-a", "--all-types", "-t", "--all-text"]);
    sweep.is_shy = !is_open && !args.has("--hidden");
    sweep.leaves = plain(args, &["--ignore", "--ignore-dir"]);
    sweep.keeps_secrets |= args.has_any(&["-g", "--filename-pattern"]);
    sweep
}

/// The values of some flags; one that is not known is `None`.
fn values<'a>(args: &'a Args, names: &'a [&'a str]) -> impl Iterator<Item = Option<&'a str>> {
    let given = args.given.iter().filter(|given| names.contains(&given.name.as_str()));
    given.filter_map(|given| given.value.as_ref()).map(Field::known)
}

/// Those that plainly name files or directories.
fn plain(args: &Args, names: &[&str]) -> Vec<String> {
    values(args, names).flatten().filter_map(certain).collect()
}

/// A pattern of which it is certain what it leaves out, wherever in the tree.
fn certain(pattern: &str) -> Option<String> {
    // The same bound as for other patterns: matching backtracks once per star.
    const STARS: usize = 6;
    let is_plain = !pattern.is_empty() && !pattern.contains(['/', '[', '\\', '{', '!']);
    (is_plain && pattern.matches('*').count() <= STARS).then(|| pattern.to_owned())
}
