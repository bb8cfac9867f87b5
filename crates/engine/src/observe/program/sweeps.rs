//! Commands that go through whole trees or lists of files: which files they show, read from their flags.

use doorward_vocabulary::Mark;

use super::Invocation;
use super::args::Args;
use super::searches::listed::{note_cut_searches, read_carried_links, told_by_searches};
use crate::knowledge::schema::{Facet, Grammar, Role, Sense};
use crate::observe::field::Field;
use crate::observe::paths::expanded::expanded_names;
use crate::observe::paths::required::Required;
use crate::observe::paths::sweep::Sweep;
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::Shape;
use crate::path;
use crate::world::World;

/// Reads by their own names the secrets and the files of rules that a command shows along with a tree or a list of files.
pub(crate) fn sweep(
    out: &mut Observer<'_>,
    touch: Touch,
    field: &Field,
    real: Option<&str>,
    invocation: &Invocation,
) -> bool {
    let is_names = invocation.args.gives(Sense::WalkNames);
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
    if args.chain.first().is_some_and(|entry| entry.grammar == Some(Grammar::Git)) {
        return git_tree(args);
    }
    let is_tree = touch == Touch::ReadTree;
    if args.is(Facet::Searches) {
        return (is_tree || args.gives(Sense::WalkNames)).then(|| walk(args));
    }
    if args.is(Facet::Compares) {
        return (is_tree && !args.gives(Sense::PrintNames)).then(|| all_but_left_out(args));
    }
    if args.is(Facet::Copies) {
        // A copy of a tree has the names of the tree, by which a later read of it is judged. What a filter picks may be
        // something that another one leaves out.
        let sweep = if args.gives(Sense::Pick) { Sweep::default() } else { all_but_left_out(args) };
        return Some(Sweep { is_copy: true, ..sweep });
    }
    (args.is(Facet::Archives) && !args.is(Facet::Unpacks)).then(|| all_but_left_out(args))
}

/// Outside any repository git compares and searches files as others do.
fn git_tree(args: &Args) -> Option<Sweep> {
    let key = &*args.entry()?.key;
    if key == "git grep" {
        return git_grep(args);
    }
    (key == "git diff" && args.has("--no-index")).then(Sweep::default)
}

fn all_but_left_out(args: &Args) -> Sweep {
    // A pattern without a star at its front speaks of the whole path.
    let whole = plain(args, Sense::LeaveOutPaths).into_iter().filter(|leaf| leaf.starts_with('*'));
    Sweep { leaves: plain(args, Sense::LeaveOut).into_iter().chain(whole).collect(), ..Sweep::default() }
}

/// What a command shows of files that were listed for it.
fn of_list(invocation: &Invocation) -> Option<Sweep> {
    let args = &invocation.args;
    let program = args.chain.first()?;
    let is_tool = invocation.does.iter().any(|does| does.marks.has_any(&[Mark::Lint, Mark::Build, Mark::Test]));
    // What git shows is said by its grammar.
    let is_silent = program.facets.has(Facet::PrintsNoContent) || program.grammar == Some(Grammar::Git);
    match is_tool || is_silent {
        true => None,
        false if args.is(Facet::Searches) => Some(search(args)),
        false => Some(Sweep::default()),
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
        keeps_secrets: args.gives(Sense::PrintNames),
        is_binary: args.has_any(&["-a", "--text", "--binary-files", "--binary", "--all-text", "--search-binary", "-z"]),
        ..Sweep::default()
    }
}

/// A search that goes through a tree.
fn walk(args: &Args) -> Sweep {
    let lifts = args.words(Sense::LiftNext);
    let lifted = args.given.iter().filter(|given| lifts.iter().any(|word| *word == given.name)).count();
    let mut sweep = search(args);
    // Ignored files are where secrets live: `.env`, keys, local settings.
    sweep.is_ignoring = args.is(Facet::SkipsIgnored) && lifted == 0 && !args.gives(Sense::KeepIgnored);
    sweep.is_shy = args.is(Facet::SkipsHidden) && lifted < 2 && !args.gives(Sense::KeepHidden);
    sweep.leaves = plain(args, Sense::LeaveOut);
    for text in args.values(Sense::Pick) {
        match text.map(|text| (text, text.strip_prefix('!'))) {
            Some((_, Some(left))) => sweep.leaves.extend(certain(left.trim_end_matches("/**").trim_end_matches('/'))),
            Some((picked, None)) => sweep.pick(picked),
            None => sweep.pick("*"),
        }
    }
    // Types of source text have no secrets among them.
    const DATA: &[&str] = &["all", "json", "yaml", "toml", "config", "xml", "txt", "crypto", "log"];
    let types = args.values(Sense::PickType);
    let is_source = |text: &Option<&str>| text.is_some_and(|text| !DATA.contains(&text));
    sweep.keeps_secrets |= !types.is_empty() && types.iter().all(is_source);
    sweep
}

/// Files that are not tracked are searched only if a flag says so.
pub(crate) fn git_grep(args: &Args) -> Option<Sweep> {
    let is_plain = args.has("--no-index");
    let is_ignoring = if is_plain { args.has("--exclude-standard") } else { !args.has("--no-exclude-standard") };
    (is_plain || args.has("--untracked")).then(|| Sweep { is_ignoring, ..search(args) })
}

/// The values that plainly name files or directories.
fn plain(args: &Args, sense: Sense) -> Vec<String> {
    args.values(sense).into_iter().flatten().filter_map(certain).collect()
}

/// A pattern of which it is certain what it leaves out, wherever in the tree.
fn certain(pattern: &str) -> Option<String> {
    // The same bound as for other patterns: matching backtracks once per star.
    const STARS: usize = 6;
    let is_plain = !pattern.is_empty() && !pattern.contains(['/', '[', '\\', '{', '!']);
    (is_plain && pattern.matches('*').count() <= STARS).then(|| pattern.to_owned())
}
