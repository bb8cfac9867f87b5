//! Words that name a file, an address, a variable or a process, and what happens to what they name. Nothing is run here.

use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::Invocation;
use super::sweeps::sweep;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::{Facet, Role};
use crate::observe::connect::Exchange;
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::aftermath::{hold, store};
use crate::observe::shell::exports::exported;
use crate::observe::shell::simple::file_stream;
use crate::observe::shell::state::State;
use crate::observe::stream::{Shape, Stream};
use crate::path;
use crate::world::{Kind, Tracking};

pub(crate) fn reads(
    out: &mut Observer<'_>,
    touch: Touch,
    field: &Field,
    invocation: &mut Invocation,
    state: &State<'_>,
) {
    if field.text == "-" {
        return;
    }
    if is_address(field.prefix()) {
        return url(out, field, Exchange::Fetch, invocation);
    }
    let touched = out.touch(touch, field, invocation.cwd.as_deref(), &invocation.by);
    let is_sensitive = touched.sensitive | sweep(out, touch, field, touched.path.as_deref(), invocation);
    let stream = file_stream(out.world, touched.path.as_deref(), is_sensitive || field.origin.secret, state);
    invocation.output.origin = invocation.output.origin.and(stream.origin);
    invocation.output.origin.endless |= matches!(field.text.as_str(), "/dev/zero" | "/dev/urandom" | "/dev/random");
    if touch == Touch::Read && super::patches::prints_files(invocation) {
        let earlier = invocation.output.files.take().filter(|_| !invocation.passes_input);
        let earlier = earlier.or_else(|| invocation.passes_input.then(|| [].into()));
        invocation.output.files = earlier.zip(stream.files).map(|(first, then)| [&*first, &*then].concat().into());
    }
    invocation.passes_input = false;
}

/// A file whose whole content is handed over.
pub(super) fn prints(out: &mut Observer<'_>, field: &Field, invocation: &mut Invocation, state: &State<'_>) {
    let ((), mut caused) = out.collect(|out| reads(out, Touch::Read, field, invocation, state));
    caused.read_whole(out.world);
    out.write(caused);
}

pub(crate) fn writes(
    out: &mut Observer<'_>,
    touch: Touch,
    field: &Field,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    if field.text == "-" {
        return;
    }
    let cwd = invocation.cwd.as_deref();
    let (touched, mut caused) = out.collect(|out| out.touch(touch, field, cwd, &invocation.by));
    let is_tool = invocation.does.iter().any(|does| does.marks.has_any(&[Mark::Lint, Mark::Build, Mark::Test]));
    let is_seen = touch == Touch::Write && invocation.input.text.as_deref().is_some_and(|text| !text.trim().is_empty());
    if is_tool || is_seen {
        caused.remove(Mark::Unseen);
    }
    out.write(caused);
    let origin = invocation.input.origin.and(invocation.output.origin);
    if origin.secret {
        out.flow(FlowKind::SecretToFile, invocation.by.part, invocation.by.part);
    }
    // What a formatter leaves means what it meant.
    let is_formatted = touch != Touch::Write && invocation.does.iter().any(|does| does.marks.has(Mark::Lint));
    if let Some(path) = touched.path.filter(|_| !is_formatted) {
        // Others write something else than what comes in.
        let copies_input = touch == Touch::Write && invocation.args.is(Facet::CopiesInput);
        let content = invocation.input.text.clone().filter(|_| copies_input);
        invocation.stored.push(path.clone());
        // `mkdir`: the program reads nothing that it could put there.
        let makes_nothing_else = invocation.roles.iter().all(|role| *role == Role::Create);
        let only_makes = touch == Touch::Create && makes_nothing_else && invocation.does.is_empty();
        let is_new = only_makes && out.world.look(&path).kind == Kind::Missing;
        let store = if only_makes { hold } else { store };
        store(out, path.clone(), content, origin, state);
        if let Some(file) = std::rc::Rc::make_mut(&mut state.written).get_mut(&path).filter(|_| is_new) {
            file.is_new_directory = true;
        }
    }
}

/// What lies there is lost, unless it is plainly output of an earlier run.
pub(super) fn empties(out: &mut Observer<'_>, field: &Field, invocation: &mut Invocation, state: &mut State<'_>) {
    let path = field.exact().zip(invocation.cwd.as_deref());
    let path = path.map(|(text, cwd)| path::lexical(&path::join(cwd, text)));
    let is_output = path.is_some_and(|path| {
        let is_there = out.world.look(&path).kind != Kind::Missing;
        let tracking = out.world.tracking(&path);
        let is_own = out.world.scratch().iter().any(|scratch| path::under(&path, scratch));
        let is_named_so = crate::world::REBUILDABLE.contains(&path::name(&path));
        !is_there || is_own || is_named_so || matches!(tracking, Tracking::Rebuildable | Tracking::Ignored)
    });
    if !is_output {
        plain(out, Touch::DeleteTree, field, invocation);
    }
    writes(out, Touch::Create, field, invocation, state);
}

/// `NAME=value` for the command that follows.
pub(super) fn set_for_command(
    out: &mut Observer<'_>,
    field: &Field,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    match field.text.split_once('=') {
        Some((name, value)) => {
            let text = field.known().map(|_| value.to_owned());
            let value = Stream { text, ..Stream::unknown(field.origin) };
            exported(out, name, &value, state, &invocation.by.name);
            invocation.environment.push((name.to_owned(), value));
        }
        None if field.exact().is_none() => {
            out.lower(Degree::Unknown, format!("which variable `{}` sets", invocation.by.name));
        }
        None => {}
    }
}

pub(crate) fn plain(out: &mut Observer<'_>, touch: Touch, field: &Field, invocation: &Invocation) {
    out.touch(touch, field, invocation.cwd.as_deref(), &invocation.by);
}

pub(super) fn url(out: &mut Observer<'_>, field: &Field, exchange: Exchange, invocation: &mut Invocation) {
    let by = invocation.by.clone();
    out.connect(field, exchange, &by);
    network_flows(out, field.origin.secret || (exchange == Exchange::Send && invocation.input.origin.secret), &by);
    invocation.output.origin.download = true;
}

/// `host:path` is on another machine, anything else here.
pub(super) fn remote(
    out: &mut Observer<'_>,
    field: &Field,
    touch: Touch,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    if field.prefix().starts_with(':') {
        // `:backend,option=value:path` describes a connection, down to the program that makes it.
        out.lower(Degree::Opaque, format!("the connection `{}` of `{}`", field.shown(), invocation.by.name));
    }
    let Some((host, _)) = crate::network::remote_path(field.prefix()) else {
        if touch == Touch::Write {
            return writes(out, Touch::Write, field, invocation, state);
        }
        reads(out, Touch::ReadTree, field, invocation, state);
        let leaves = invocation.roles.contains(&Role::RemoteInto) && has_remote(invocation);
        let secret = invocation.output.origin.secret;
        let by = invocation.by.clone();
        return network_flows(out, leaves && secret, &by);
    };
    let host = field.with_text(host);
    let by = invocation.by.clone();
    let exchange = if touch == Touch::Write { Exchange::Send } else { Exchange::Fetch };
    out.connect_host(&host, exchange, &by);
    network_flows(out, exchange == Exchange::Send && invocation.output.origin.secret, &by);
    invocation.output.origin.download |= touch != Touch::Write;
}

/// A container that gets the root, the home or the socket of the engine has the rights of the machine.
pub(super) fn mount(out: &mut Observer<'_>, field: &Field, invocation: &mut Invocation) {
    let source = if field.text.contains("type=") || field.text.contains("src=") || field.text.contains("source=") {
        field
            .text
            .split(',')
            .find_map(|part| part.strip_prefix("src=").or_else(|| part.strip_prefix("source=")))
            .unwrap_or_default()
    } else {
        field.text.split(':').next().unwrap_or_default()
    };
    let is_path = source.starts_with(['/', '.', '~']) || source.contains(crate::observe::field::UNKNOWN);
    if !is_path {
        return;
    }
    let (source_field, cwd) = (field.with_text(source), invocation.cwd.as_deref());
    let (_, mut caused) = out.collect(|out| out.touch(Touch::ReadTree, &source_field, cwd, &invocation.by));
    let grave = [
        Mark::Root,
        Mark::HomeRoot,
        Mark::SystemDirectory,
        Mark::CredentialStore,
        Mark::SshMaterial,
        Mark::Device,
        Mark::ProcAlias,
    ];
    let socket =
        source.ends_with("docker.sock") || source.ends_with("containerd.sock") || source.ends_with("podman.sock");
    for effect in caused.iter_mut().filter(|effect| socket || effect.marks.has_any(&grave)) {
        effect.marks.add(Mark::ContainerEscape);
        effect.reach = effect.reach.max(Reach::Machine);
    }
    out.write(caused);
}

pub(super) fn process(out: &mut Observer<'_>, field: &Field, invocation: &Invocation) {
    let own = field.exact().and_then(|text| text.parse().ok()).is_some_and(|pid| out.world.session_process(pid))
        || field.text.starts_with('%')
        || (field.shape == Shape::OwnJob && field.text == UNKNOWN.to_string());
    let mut effect = Effect::new(Operation::Mutate, Target::Resource(format!("process {}", field.shown())));
    effect.scope = if own { Scope::Scratch } else { Scope::System };
    effect.reach = if own { Reach::Workspace } else { Reach::Machine };
    effect.reversibility = Reversibility::Irreversible;
    effect.marks = Marks::default().with(Mark::ProcessSignal);
    if !own {
        effect.marks.add(Mark::ForeignProcess);
    }
    effect.by.clone_from(&invocation.by.name);
    effect.part = invocation.by.part;
    out.effect(effect);
}

/// Secret data reaches a program that talks to the network.
pub(crate) fn network_flows(out: &mut Observer<'_>, secret: bool, by: &By) {
    if secret {
        out.flow(FlowKind::SecretToNetwork, by.part, by.part);
    }
}

fn has_remote(invocation: &Invocation) -> bool {
    invocation.args.operands.iter().any(|field| crate::network::remote_path(field.prefix()).is_some())
}

/// A URL, a host, an image or a connection string: contacted, and judged by what is known about the host.
pub(super) fn address(out: &mut Observer<'_>, field: &Field, invocation: &mut Invocation) {
    if field.prefix().contains("://") {
        return url(out, field, Exchange::Fetch, invocation);
    }
    let Some(host) = host_of(field) else { return };
    let by = invocation.by.clone();
    out.connect_host(&host, Exchange::Fetch, &by);
    network_flows(out, field.origin.secret, &by);
}

/// The host in `HOST/OWNER/REPO`, `user@HOST:path`, `HOST:PORT`; `None`: a name that the program's own service knows.
fn host_of(field: &Field) -> Option<Field> {
    let Some(text) = field.exact() else { return Some(field.clone()) };
    // A path on this machine.
    if text.starts_with(['.', '/', '~']) {
        return None;
    }
    let behind_user = text.split_once('@').map_or(text, |(_, rest)| rest);
    let is_user = behind_user.len() != text.len();
    let first = behind_user.split('/').next().unwrap_or_default();
    // `alpine:3`, `library/app`: a registry is named only by a name with a dot before the first slash.
    let (host, port) = first.split_once(':').unwrap_or((first, ""));
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let shown = if is_port { first } else { host };
    (is_user || host.contains('.') || host == "localhost").then(|| field.with_text(shown))
}

/// Where a file is expected, many programs take an address as well.
fn is_address(text: &str) -> bool {
    // Schemes that common programs accept in place of a path, so "reads a file" must become "fetches".
    const SCHEMES: &[&str] = &["http", "https", "ftp", "ftps", "oci", "sftp", "s3", "gs", "rtmp", "rtsp"];
    text.split_once("://").is_some_and(|(scheme, _)| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}
