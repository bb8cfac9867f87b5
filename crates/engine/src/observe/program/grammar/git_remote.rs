//! Git and other machines: which remote a command talks to, and what a push does there.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::super::Invocation;
use crate::knowledge::schema::{Does, Role};
use crate::observe::connect::Exchange;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::file_roles::{network_flows, reads, writes};
use crate::observe::program::file_trust::is_changed;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::aftermath::store;
use crate::observe::shell::state::State;
use crate::observe::stream::Origin;
use crate::path;
use crate::world::Git;

/// `push`, `fetch`, `pull`, `ls-remote`, `clone` and the like.
pub(crate) fn git_remote(
    out: &mut Observer<'_>,
    sub: &str,
    git: Option<&Git>,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    match sub {
        "push" => git_push(out, git, invocation, state),
        "fetch" | "pull" | "ls-remote" | "remote show" | "remote update" | "remote prune" => {
            git_fetch(out, sub, git, invocation, state);
        }
        "bundle unbundle" => {
            out.lower(Degree::Unknown, "commits out of a bundle, which is no remote of this repository");
        }
        "archive" => {
            let Some(remote) = invocation.args.value("--remote").cloned() else { return };
            invocation.does.push(Does::usual(Operation::Network));
            git_contact(out, Some(&remote), Exchange::Fetch, git, invocation, state);
        }
        "clone" => git_clone(out, invocation, state),
        "submodule add" => git_address_at(out, 0, invocation, state),
        "submodule update" | "submodule sync" | "submodule init" => {
            let list = git.map(|git| path::join(&git.root, ".gitmodules"));
            if list.is_none_or(|list| is_changed(out.world, &list, state)) {
                let what = "where `.gitmodules`, which changed, has submodules fetched from";
                out.lower(Degree::Unknown, what);
            }
        }
        "remote add" | "remote set-url" | "submodule set-url"
            if invocation.args.operands.iter().any(|field| field.text.contains("::")) =>
        {
            git_helper(out, invocation);
        }
        _ => {}
    }
}

/// Commits from the repository's own remotes, or from somewhere else.
fn git_fetch(out: &mut Observer<'_>, sub: &str, git: Option<&Git>, invocation: &mut Invocation, state: &mut State<'_>) {
    let several = sub.starts_with("remote ") || invocation.args.has("--multiple");
    let operands = invocation.args.operands.clone();
    let (remotes, specs) = operands.split_at(if several { operands.len() } else { operands.len().min(1) });
    if remotes.is_empty() {
        git_contact(out, None, Exchange::Fetch, git, invocation, state);
    }
    for remote in remotes {
        git_contact(out, Some(remote), Exchange::Fetch, git, invocation, state);
    }
    let remote = remotes.first().and_then(Field::exact);
    let remote = remote.map(|text| named_by(text, git).unwrap_or(text));
    let is_ours = |text: &str| is_own(text, git) || named_by(text, git).is_some();
    let own = remotes.iter().all(|field| field.exact().is_some_and(is_ours));
    if !matches!(sub, "fetch" | "pull") {
        return;
    }
    let maps: Vec<Field> =
        specs.iter().chain(["--refmap"].iter().filter_map(|flag| invocation.args.value(flag))).cloned().collect();
    let forced = invocation.args.has_any(&["-f", "--force"]);
    if let Some(spec) = maps.iter().find(|spec| writes_elsewhere(spec, remote, forced)) {
        out.lower(Degree::Unknown, format!("`{}`, which moves a branch that is not the remote's", spec.shown()));
    }
    if invocation.args.has("--stdin") {
        out.lower(Degree::Unknown, "which branches are fetched");
    }
    let current = branch_now(out, git);
    if sub == "pull" && own && !specs.iter().all(|spec| is_upstream(spec, remote, current.as_deref(), git)) {
        let what = "commits of a branch that is not the upstream of this one, which nobody here has seen";
        out.lower(Degree::Unknown, what);
    }
    // The branches of requests are anybody's.
    let of_request = |spec: &Field| {
        let name = spec.text.trim_start_matches('+').trim_start_matches("refs/");
        ["pull/", "merge-requests/", "changes/"].iter().any(|place| name.starts_with(place))
    };
    if !own || specs.iter().any(of_request) {
        fetches_foreign(out, invocation, state);
    }
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

fn git_push(out: &mut Observer<'_>, git: Option<&Git>, invocation: &mut Invocation, state: &mut State<'_>) {
    if invocation.does.is_empty() {
        return;
    }
    let remote = invocation.operand(0).cloned().or_else(|| invocation.args.value("--repo").cloned());
    git_contact(out, remote.as_ref(), Exchange::Send, git, invocation, state);
    let mut marks = push_marks(invocation, git);
    let forced = invocation.does.iter().any(|does| does.marks.has(Mark::Force));
    if forced || marks.has(Mark::Force) || invocation.args.has_any(&["-f", "--force", "--force-with-lease", "--mirror"])
    {
        marks.add(Mark::Force);
        marks.add(Mark::HistoryRewrite);
    }
    invocation.does.iter_mut().for_each(|does| does.marks.union(marks));
}

/// A remote by name is the repository's own; an address is judged as one.
fn git_contact(
    out: &mut Observer<'_>,
    remote: Option<&Field>,
    exchange: Exchange,
    git: Option<&Git>,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
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
        return;
    }
    network_marks(invocation, |marks| marks.remove(Mark::OwnRemote));
    if let Some(field) = remote {
        git_address(out, &field.clone(), exchange, invocation, state);
    }
}

/// Every way in which git writes an address.
fn git_address(
    out: &mut Observer<'_>,
    field: &Field,
    exchange: Exchange,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let by = invocation.by.clone();
    let text = field.prefix().to_owned();
    if text.split('/').next().is_some_and(|start| start.contains("::")) {
        return git_helper(out, invocation);
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        if scheme == "file" {
            foreign_source(out, field, exchange);
            return reads(out, Touch::ReadTree, &field.with_text(rest), invocation, state);
        }
        out.connect(field, exchange, &by);
        return network_flows(out, field.origin.secret, &by);
    }
    let scp_like = text.split_once(':').filter(|(host, _)| !host.contains('/') && !host.is_empty());
    match scp_like {
        Some((host, _)) => {
            let host = host.rsplit('@').next().unwrap_or(host).to_owned();
            let field = Field { text: host, dynamic: false, ..field.clone() };
            out.connect_host(&field, exchange, &by);
        }
        None if text.contains('/') || text.starts_with('.') || field.dynamic => match exchange {
            Exchange::Send => writes(out, Touch::Edit, field, invocation, state),
            Exchange::Fetch => {
                foreign_source(out, field, exchange);
                reads(out, Touch::ReadTree, field, invocation, state);
            }
        },
        None => {
            out.lower(Degree::Unknown, format!("the remote `{text}`"));
            out.unknown(Operation::Network, &by, Marks::default().with(Mark::UnlistedHost));
        }
    }
}

/// A directory or bundle of this machine is no remote of the repository: whoever made it wrote its commits.
fn foreign_source(out: &mut Observer<'_>, field: &Field, exchange: Exchange) {
    if exchange == Exchange::Fetch {
        let what = format!("commits from `{}`, which is no remote of this repository", field.shown());
        out.lower(Degree::Unknown, what);
    }
}

fn git_address_at(out: &mut Observer<'_>, at: usize, invocation: &mut Invocation, state: &mut State<'_>) {
    let Some(field) = invocation.operand(at).cloned() else { return };
    git_address(out, &field, Exchange::Fetch, invocation, state);
    if let Some(role) = invocation.roles.get_mut(at) {
        *role = Role::Data;
    }
}

fn git_clone(out: &mut Observer<'_>, invocation: &mut Invocation, state: &mut State<'_>) {
    git_address_at(out, 0, invocation, state);
    let source = invocation.operand(0).map(|field| field.text.clone()).unwrap_or_default();
    let name = crate::path::name(source.rsplit(':').next().unwrap_or(&source)).trim_end_matches(".git").to_owned();
    let into = match invocation.operand(1).cloned() {
        Some(field) => Some(field),
        None if name.is_empty() || name.contains(crate::observe::field::UNKNOWN) => None,
        None => Some(Field::literal(name, doorward_shell::Span::default())),
    };
    let place = into.as_ref().and_then(Field::exact).unwrap_or(".").to_owned();
    if let Some(into) = into {
        let ((), mut caused) = out.collect(|out| writes(out, Touch::Create, &into, invocation, state));
        caused.add(Mark::CountUnknown);
        out.write(caused);
    }
    invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
    fetched_into(out, &place, invocation, state);
}

/// What lies in the directory from here on is what was fetched.
fn fetched_into(out: &mut Observer<'_>, place: &str, invocation: &Invocation, state: &mut State<'_>) {
    let Some(cwd) = invocation.cwd.as_deref() else { return };
    let place = crate::path::lexical(&crate::path::join(cwd, place));
    let real = crate::path::resolve(&place, out.world, crate::path::Follow::Last).real;
    store(out, real, None, Origin { download: true, ..Origin::default() }, state);
}

/// `gh pr checkout`, `gh repo clone`: git is run for these with an address of their own.
pub(crate) fn gh_fetches(out: &mut Observer<'_>, invocation: &Invocation, state: &mut State<'_>) {
    let operands = &invocation.args.operands;
    match invocation.args.entry().map(|entry| entry.key.to_string()).as_deref() {
        Some("gh pr checkout" | "gh pr co") => fetches_foreign(out, invocation, state),
        Some("gh repo clone") => {
            let before = if invocation.args.ended { invocation.args.ended_at } else { operands.len() };
            let source = operands.first().and_then(Field::exact);
            let place = match operands.iter().take(before).nth(1) {
                Some(into) => into.exact(),
                None => source.map(|text| crate::path::name(text).trim_end_matches(".git")),
            };
            let place = place.unwrap_or(".").to_owned();
            fetched_into(out, &place, invocation, state);
        }
        Some(_) | None => {}
    }
}

/// From here on the files of the repository may be somebody else's.
fn fetches_foreign(out: &mut Observer<'_>, invocation: &Invocation, state: &mut State<'_>) {
    let Some(place) = out.world.project().map(str::to_owned).or_else(|| invocation.cwd.clone()) else {
        return;
    };
    store(out, place, None, Origin { download: true, ..Origin::default() }, state);
}

/// `ext::sh -c …`: the address itself is a command.
fn git_helper(out: &mut Observer<'_>, invocation: &Invocation) {
    out.lower(Degree::Opaque, format!("an address given to `{}` that names a helper program", invocation.by.name));
    out.unknown(Operation::Execute, &invocation.by, Marks::default().with(Mark::ShellCode));
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
