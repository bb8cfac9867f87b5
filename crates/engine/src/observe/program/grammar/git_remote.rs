//! Git and other machines: which remote a command talks to, and what a push does there.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::super::Invocation;
use crate::knowledge::schema::{Does, Role};
use crate::observe::connect::Exchange;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::file_trust::is_changed;
use crate::observe::program::findings::Findings;
use crate::observe::program::git_subcommand::Subcommand;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::observe::stream::Origin;
use crate::path;
use crate::world::{Git, World};

/// `push`, `fetch`, `pull`, `ls-remote`, `clone` and the like.
pub(super) fn git_remote(
    out: &Observer<'_>,
    sub: &Subcommand,
    invocation: &mut Invocation,
    state: &State<'_>,
) -> Findings {
    let mut found = Findings::default();
    let (sub, git) = (sub.name.as_str(), sub.git());
    match sub {
        "push" => found = git_push(git, invocation),
        "fetch" | "pull" | "ls-remote" | "remote show" | "remote update" | "remote prune" => {
            found = git_fetch(out, sub, git, invocation);
        }
        "bundle unbundle" => {
            found.doubt(Degree::Unknown, "commits from a bundle, which is not a remote of this repository");
        }
        "archive" => {
            let Some(remote) = invocation.args.value("--remote").cloned() else { return found };
            invocation.does.push(Does::usual(Operation::Network));
            found = git_contact(Some(&remote), Exchange::Fetch, git, invocation);
        }
        "clone" => found = git_clone(out.world, invocation),
        "submodule add" => found = git_address_at(0, invocation),
        "submodule update" | "submodule sync" | "submodule init" => {
            let list = git.map(|git| path::join(&git.root, ".gitmodules"));
            if list.is_none_or(|list| is_changed(out.world, &list, state)) {
                let what = "where submodules are fetched from, because `.gitmodules` changed";
                found.doubt(Degree::Unknown, what);
            }
        }
        "remote add" | "remote set-url" | "submodule set-url"
            if invocation.args.operands.iter().any(|field| field.text.contains("::")) =>
        {
            found = git_helper(invocation);
        }
        _ => {}
    }
    found
}

/// Commits from the repository's own remotes, or from somewhere else.
fn git_fetch(out: &Observer<'_>, sub: &str, git: Option<&Git>, invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let several = sub.starts_with("remote ") || invocation.args.has("--multiple");
    let operands = invocation.args.operands.clone();
    let (remotes, specs) = operands.split_at(if several { operands.len() } else { operands.len().min(1) });
    if remotes.is_empty() {
        found.extend(git_contact(None, Exchange::Fetch, git, invocation));
    }
    for remote in remotes {
        found.extend(git_contact(Some(remote), Exchange::Fetch, git, invocation));
    }
    let remote = remotes.first().and_then(Field::exact);
    let remote = remote.map(|text| named_by(text, git).unwrap_or(text));
    let is_ours = |text: &str| is_own(text, git) || named_by(text, git).is_some();
    let own = remotes.iter().all(|field| field.exact().is_some_and(is_ours));
    if !matches!(sub, "fetch" | "pull") {
        return found;
    }
    let maps: Vec<Field> =
        specs.iter().chain(["--refmap"].iter().filter_map(|flag| invocation.args.value(flag))).cloned().collect();
    let forced = invocation.args.has_any(&["-f", "--force"]);
    if let Some(spec) = maps.iter().find(|spec| writes_elsewhere(spec, remote, forced)) {
        found.doubt(Degree::Unknown, format!("`{}`, which moves a branch that is not the remote's", spec.shown()));
    }
    if invocation.args.has("--stdin") {
        found.doubt(Degree::Unknown, "which branches are fetched");
    }
    let current = branch_now(out, git);
    if sub == "pull" && own && !specs.iter().all(|spec| is_upstream(spec, remote, current.as_deref(), git)) {
        let what = "commits from a branch that is not this one's upstream, which doorward hasn't seen";
        found.doubt(Degree::Unknown, what);
    }
    // What a pull merges is in the work tree at once, and some of it is loaded without a further call.
    if sub == "pull" && !own {
        let what = "commits from somewhere that is no remote of this repository, which doorward hasn't seen";
        found.doubt(Degree::Unknown, what);
    }
    // The branches of requests are anybody's.
    let of_request = |spec: &Field| {
        let name = spec.text.trim_start_matches('+').trim_start_matches("refs/");
        ["pull/", "merge-requests/", "changes/"].iter().any(|place| name.starts_with(place))
    };
    if !own || specs.iter().any(of_request) {
        found.extend(fetches_foreign(out.world, invocation));
    }
    found
}

/// The branch that is checked out when this command runs.
fn branch_now(out: &Observer<'_>, git: Option<&Git>) -> Option<String> {
    let switched = out
        .commands()
        .iter()
        .rev()
        .find_map(|command| ["git switch ", "git checkout "].iter().find_map(|start| command.strip_prefix(start)));
    match switched.map(|rest| rest.split_whitespace().collect::<Vec<_>>()) {
        Some(words) => match words.as_slice() {
            [branch] | ["-q" | "--quiet", branch] if !branch.starts_with('-') => Some((*branch).to_owned()),
            _ => None,
        },
        None => git.and_then(|git| git.branch.clone()),
    }
}

fn git_push(git: Option<&Git>, invocation: &mut Invocation) -> Findings {
    if invocation.does.is_empty() {
        return Findings::default();
    }
    let remote = invocation.operand(0).cloned().or_else(|| invocation.args.value("--repo").cloned());
    let found = git_contact(remote.as_ref(), Exchange::Send, git, invocation);
    let mut marks = push_marks(invocation, git);
    let forced = invocation.does.iter().any(|does| does.marks.has(Mark::Force));
    if forced || marks.has(Mark::Force) || invocation.args.has_any(&["-f", "--force", "--force-with-lease", "--mirror"])
    {
        marks.add(Mark::Force);
        marks.add(Mark::HistoryRewrite);
    }
    invocation.does.iter_mut().for_each(|does| does.marks.union(marks));
    found
}

/// A remote by name is the repository's own; an address is judged as one.
fn git_contact(remote: Option<&Field>, exchange: Exchange, git: Option<&Git>, invocation: &mut Invocation) -> Findings {
    let own = match remote {
        None => true,
        Some(field) => field.exact().is_some_and(|name| is_own(name, git)),
    };
    // The address of a remote is that remote.
    let fetches_own =
        exchange == Exchange::Fetch && remote.and_then(Field::exact).is_some_and(|text| named_by(text, git).is_some());
    if own || fetches_own {
        if exchange == Exchange::Send {
            network_marks(invocation, |marks| marks.add(Mark::OwnRemote));
        }
        return Findings::default();
    }
    network_marks(invocation, |marks| marks.remove(Mark::OwnRemote));
    remote.map(|field| git_address(field, exchange, invocation)).unwrap_or_default()
}

/// Every way in which git writes an address.
fn git_address(field: &Field, exchange: Exchange, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let text = field.prefix().to_owned();
    if text.split('/').next().is_some_and(|start| start.contains("::")) {
        return git_helper(invocation);
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        if scheme == "file" {
            found.extend(foreign_source(field, exchange));
            found.read(Touch::ReadTree, field.with_text(rest));
            return found;
        }
        found.connect_to(field.clone(), exchange);
        if field.origin.secret {
            found.send_secret();
        }
        return found;
    }
    let scp_like = text.split_once(':').filter(|(host, _)| !host.contains('/') && !host.is_empty());
    match scp_like {
        Some((host, _)) => {
            let host = host.rsplit('@').next().unwrap_or(host).to_owned();
            found.connect(Field { text: host, dynamic: false, ..field.clone() }, exchange);
        }
        None if text.contains('/') || text.starts_with('.') || field.dynamic => match exchange {
            Exchange::Send => found.write(Touch::Edit, field.clone()),
            Exchange::Fetch => {
                found.extend(foreign_source(field, exchange));
                found.read(Touch::ReadTree, field.clone());
            }
        },
        None => {
            found.doubt(Degree::Unknown, format!("the remote `{text}`"));
            found.unknown(Operation::Network, Marks::default().with(Mark::UnlistedHost));
        }
    }
    found
}

/// A directory or bundle of this machine is no remote of the repository: whoever made it wrote its commits.
fn foreign_source(field: &Field, exchange: Exchange) -> Findings {
    match exchange {
        Exchange::Fetch => {
            let what = format!("commits from `{}`, which is not a remote of this repository", field.shown());
            Findings::doubtful(Degree::Unknown, what)
        }
        Exchange::Send => Findings::default(),
    }
}

fn git_address_at(at: usize, invocation: &mut Invocation) -> Findings {
    let Some(field) = invocation.operand(at).cloned() else { return Findings::default() };
    let found = git_address(&field, Exchange::Fetch, invocation);
    if let Some(role) = invocation.roles.get_mut(at) {
        *role = Role::Text;
    }
    found
}

fn git_clone(world: &dyn World, invocation: &mut Invocation) -> Findings {
    let mut found = git_address_at(0, invocation);
    let source = invocation.operand(0).map(|field| field.text.clone()).unwrap_or_default();
    let name = path::name(source.rsplit(':').next().unwrap_or(&source)).trim_end_matches(".git").to_owned();
    let into = match invocation.operand(1).cloned() {
        Some(field) => Some(field),
        None if name.is_empty() || name.contains(crate::observe::field::UNKNOWN) => None,
        None => Some(Field::literal(name, doorward_shell::Span::default())),
    };
    let place = into.as_ref().and_then(Field::exact).unwrap_or(".").to_owned();
    if let Some(into) = into {
        let mut made = Findings::default();
        made.write(Touch::Create, into);
        found.sealed(made, |caused, _| caused.add(Mark::CountUnknown));
    }
    invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
    found.extend(fetched_into(world, &place, invocation));
    found
}

/// What lies in the directory from here on is what was fetched.
fn fetched_into(world: &dyn World, place: &str, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    if let Some(cwd) = invocation.cwd.as_deref() {
        let place = path::lexical(&path::join(cwd, place));
        let real = path::resolve(&place, world, path::Follow::Last).real;
        found.store(real, None, Origin { download: true, ..Origin::default() });
    }
    found
}

/// `gh pr checkout`, `gh repo clone`: git is run for these with an address of their own.
pub(crate) fn gh_fetches(world: &dyn World, invocation: &Invocation) -> Findings {
    let operands = &invocation.args.operands;
    match invocation.args.entry().map(|entry| entry.key.to_string()).as_deref() {
        Some("gh pr checkout" | "gh pr co") => fetches_foreign(world, invocation),
        Some("gh repo clone") => {
            let before = if invocation.args.ended { invocation.args.ended_at } else { operands.len() };
            let source = operands.first().and_then(Field::exact);
            let place = match operands.iter().take(before).nth(1) {
                Some(into) => into.exact(),
                None => source.map(|text| path::name(text).trim_end_matches(".git")),
            };
            fetched_into(world, place.unwrap_or("."), invocation)
        }
        Some(_) | None => Findings::default(),
    }
}

/// From here on the files of the repository may be somebody else's.
fn fetches_foreign(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    if let Some(place) = world.project().map(str::to_owned).or_else(|| invocation.cwd.clone()) {
        found.store(place, None, Origin { download: true, ..Origin::default() });
    }
    found
}

/// `ext::sh -c …`: the address itself is a command.
fn git_helper(invocation: &Invocation) -> Findings {
    let what = format!("an address given to `{}` that names a helper program", invocation.by.name);
    let mut found = Findings::doubtful(Degree::Opaque, what);
    found.unknown(Operation::Execute, Marks::default().with(Mark::ShellCode));
    found
}

fn network_marks(invocation: &mut Invocation, change: impl Fn(&mut Marks)) {
    invocation
        .does
        .iter_mut()
        .filter(|does| does.operation == Operation::Network)
        .for_each(|does| change(&mut does.marks));
}

/// `main:main`, `main:refs/remotes/other/main`: what is fetched is put where this remote's branches are not kept.
fn writes_elsewhere(spec: &Field, remote: Option<&str>, forced: bool) -> bool {
    let Some(text) = spec.exact() else { return true };
    let Some((_, into)) = text.split_once(':').filter(|(_, into)| !into.is_empty()) else { return false };
    let is_forced = forced || text.starts_with('+');
    let keeps = format!("refs/remotes/{}/", remote.unwrap_or("origin"));
    let is_tag = into.starts_with("refs/tags/") && !is_forced;
    !into.starts_with(&keeps) && !is_tag
}

/// The branch is what the current one follows, as far as that is known.
fn is_upstream(spec: &Field, remote: Option<&str>, current: Option<&str>, git: Option<&Git>) -> bool {
    let (Some(text), Some(git), Some(current)) = (spec.exact(), git, current) else { return false };
    let config = git.config.as_ref().ok();
    let setting = |name: &str| {
        config.and_then(|config| config.get(&format!("branch.{}.{name}", current.to_lowercase()))).map(String::as_str)
    };
    let merges = setting("merge").unwrap_or(current);
    let short = |name: &str| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    // What everybody works on was looked at by more people than any branch.
    if git.default_branch.as_deref() == Some(short(text).as_str()) && remote == Some("origin") {
        return true;
    }
    short(text) == short(merges) && setting("remote").is_none_or(|own| remote == Some(own))
}

/// The remote whose address this is.
fn named_by<'g>(text: &str, git: Option<&'g Git>) -> Option<&'g str> {
    let plain = |address: &str| address.trim_end_matches('/').trim_end_matches(".git").to_owned();
    let is_it = |(_, address): &(&String, &String)| plain(address) == plain(text);
    git.and_then(|git| git.remotes.iter().find(is_it)).map(|(name, _)| name.as_str())
}

/// A name among the remotes; where the remotes are not known, the usual names.
fn is_own(name: &str, git: Option<&Git>) -> bool {
    match git {
        Some(git) if !git.remotes.is_empty() => git.remotes.contains_key(name),
        Some(_) | None => matches!(name, "origin" | "upstream" | "."),
    }
}

/// What the refs of a push say.
fn push_marks(invocation: &Invocation, git: Option<&Git>) -> Marks {
    let mut marks = Marks::default();
    let refs = invocation.args.operands.get(1..).unwrap_or_default();
    let current = git.and_then(|git| git.branch.as_deref());
    if refs.is_empty() && is_default(current.unwrap_or_default(), git)
        || invocation.args.has_any(&["--all", "--branches", "--mirror"])
    {
        marks.add(Mark::DefaultBranch);
    }
    for spec in refs {
        let text = spec.text.as_str();
        if text.starts_with('+') {
            marks.add(Mark::Force);
        }
        let text = text.trim_start_matches('+');
        if text.starts_with(':') && text.len() > 1 {
            marks.add(Mark::Destroys);
        }
        let destination = text.rsplit(':').next().unwrap_or(text);
        let destination = destination.strip_prefix("refs/heads/").unwrap_or(destination);
        let destination = if matches!(destination, "HEAD" | "@") { current.unwrap_or_default() } else { destination };
        if is_default(destination, git) {
            marks.add(Mark::DefaultBranch);
        }
    }
    marks
}

fn is_default(branch: &str, git: Option<&Git>) -> bool {
    match git.and_then(|git| git.default_branch.as_deref()) {
        Some(default) => branch == default,
        None => matches!(branch, "main" | "master" | "trunk"),
    }
}
