//! From the role of a value or operand to its effect.

use std::rc::Rc;

use doorward_code::Language;
use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::Invocation;
use super::destination::into;
use super::environments::enter_environment;
use super::inner::{inner_command, inner_line, inner_shell, placed_command};
use super::recipe::executes;
use super::scripts::script_file;
use super::stated::network_flows;
use super::sweeps::sweep;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::Role;
use crate::observe::code::code;
use crate::observe::connect::Exchange;
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::aftermath::store;
use crate::observe::shell::code::runs_data;
use crate::observe::shell::exports::exported;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::simple::file_stream;
use crate::observe::shell::state::State;
use crate::observe::stream::{Shape, Stream};
use crate::path;
use crate::world::{Kind, Tracking};

/// Effects of the values that flags took.
pub(crate) fn flag_values(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let values: Vec<(Field, Role)> =
        invocation.args.given.iter().filter_map(|given| given.value.clone().map(|value| (value, given.role))).collect();
    for (field, role) in values {
        if matches!(role, Role::CodeSh | Role::Execute) {
            helper_program(runner, &field, invocation, state);
            continue;
        }
        if role == Role::Line {
            inner_line(runner, &field, invocation, state);
            continue;
        }
        if role == Role::Command {
            let rest = std::mem::take(&mut invocation.args.rest);
            // The shell of nix runs the words as they stand.
            if invocation.args.chain.first().is_some_and(|entry| entry.key == "nix") {
                inner_command(runner, rest, invocation, state);
            } else {
                placed_command(runner, rest, invocation, state);
            }
            continue;
        }
        if role == Role::Into {
            into(runner.out, &field, None, invocation, state);
            continue;
        }
        self::role(runner, &field, role, invocation, state);
        // `-cp build:/tmp/x`, `--require a,/tmp/x`: the others of a list are loaded as well.
        if matches!(role, Role::Script | Role::Config) {
            for other in field.text.split([':', ',']).skip(1).filter(|piece| piece.starts_with(['/', '~', '.'])) {
                self::role(runner, &field.with_text(other), role, invocation, state);
            }
        }
    }
}

/// Effects of the operands, the ones that start another command last.
pub(crate) fn operands(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let operands = invocation.args.operands.clone();
    let roles = invocation.roles.clone();
    for (index, (field, role)) in operands.iter().zip(&roles).enumerate() {
        match role {
            Role::Command => {
                let mut rest = operands.get(index..).unwrap_or_default().to_vec();
                // `uv run tool.py`: such a file is given to Python, not started.
                if invocation.by.name == "uv run" && field.exact().is_some_and(|text| text.ends_with(".py")) {
                    rest.insert(0, Field::literal("python", field.span));
                }
                let outer = state.venv.clone();
                enter_environment(runner.out.world, &invocation.by.name, state);
                inner_command(runner, rest, invocation, state);
                state.venv = outer;
                return;
            }
            Role::Shell => {
                let rest = operands.get(index..).unwrap_or_default();
                inner_shell(runner, rest, invocation, state);
                return;
            }
            Role::Into => into(runner.out, field, Some(index), invocation, state),
            Role::Env => set_for_command(runner.out, field, invocation, state),
            Role::Data
            | Role::Read
            | Role::Print
            | Role::ReadTree
            | Role::List
            | Role::Write
            | Role::Append
            | Role::Create
            | Role::Empty
            | Role::Edit
            | Role::Delete
            | Role::DeleteTree
            | Role::Move
            | Role::LinkSource
            | Role::Metadata
            | Role::MetadataTree
            | Role::Upload
            | Role::Execute
            | Role::Script
            | Role::ScriptSh
            | Role::Config
            | Role::Code
            | Role::CodeSh
            | Role::CodePython
            | Role::CodeJs
            | Role::CodeSql
            | Role::Line
            | Role::Cwd
            | Role::Url
            | Role::UrlUpload
            | Role::Host
            | Role::RemotePath
            | Role::RemoteInto
            | Role::Mount
            | Role::Resource
            | Role::Package
            | Role::Pid => self::role(runner, field, *role, invocation, state),
        }
    }
}

/// A program that another one is told to start, with arguments and input that cannot be seen.
pub(crate) fn helper_program(
    runner: &mut Runner<'_, '_>,
    field: &Field,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    const COMPRESSORS: &[&str] =
        &["gzip", "pigz", "zstd", "zstdmt", "xz", "bzip2", "pbzip2", "lz4", "lzma", "cat", "true", "less"];
    let first = field.exact().and_then(|text| text.split_whitespace().next());
    if field.exact().is_some_and(is_version) {
        return;
    }
    if first.is_some_and(|first| COMPRESSORS.contains(&first)) && field.text.split_whitespace().count() == 1 {
        return;
    }
    let by = invocation.by.clone();
    runner.out.lower(Degree::Unknown, format!("the program that `{}` is told to run", by.name));
    runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::InlineCode));
    let input = std::mem::take(&mut invocation.input);
    shell_code(runner, field, invocation, state);
    invocation.input = input;
}

/// One value or operand with a role of its own.
pub(crate) fn role(
    runner: &mut Runner<'_, '_>,
    field: &Field,
    role: Role,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let by = invocation.by.clone();
    match role {
        Role::Env => set_for_command(runner.out, field, invocation, state),
        Role::Data | Role::Resource | Role::Package | Role::Cwd | Role::Into => {}
        Role::Read => reads(runner.out, Touch::Read, field, invocation, state),
        Role::Print => prints(runner.out, field, invocation, state),
        Role::ReadTree => reads(runner.out, Touch::ReadTree, field, invocation, state),
        Role::List => reads(runner.out, Touch::List, field, invocation, state),
        Role::Write => writes(runner.out, Touch::Write, field, invocation, state),
        Role::Append => writes(runner.out, Touch::Append, field, invocation, state),
        Role::Create => writes(runner.out, Touch::Create, field, invocation, state),
        Role::Empty => empties(runner.out, field, invocation, state),
        Role::Edit => writes(runner.out, Touch::Edit, field, invocation, state),
        Role::Delete => plain(runner.out, Touch::Delete, field, invocation),
        Role::DeleteTree => plain(runner.out, Touch::DeleteTree, field, invocation),
        Role::Move => plain(runner.out, Touch::Move, field, invocation),
        Role::Metadata => plain(runner.out, Touch::Metadata, field, invocation),
        Role::MetadataTree => plain(runner.out, Touch::MetadataTree, field, invocation),
        Role::LinkSource => reads(runner.out, Touch::Read, field, invocation, state),
        Role::Upload => {
            reads(runner.out, Touch::Upload, field, invocation, state);
            let secret = invocation.output.origin.secret;
            network_flows(runner.out, secret, &by);
        }
        Role::Execute => executes(runner, field, invocation, state),
        Role::Script | Role::ScriptSh | Role::Config => script_file(runner, field, role, invocation, state),
        Role::CodeSh => shell_code(runner, field, invocation, state),
        Role::Line => inner_line(runner, field, invocation, state),
        Role::Code | Role::CodePython | Role::CodeJs => other_code(runner, field, role, invocation, state),
        Role::CodeSql => sql(runner.out, field, invocation),
        Role::Command | Role::Shell => inner_command(runner, vec![field.clone()], invocation, state),
        Role::Url => url(runner.out, field, Exchange::Fetch, invocation),
        Role::UrlUpload => url(runner.out, field, Exchange::Send, invocation),
        Role::Host => {
            runner.out.connect_host(field, Exchange::Fetch, &by);
            network_flows(runner.out, field.origin.secret, &by);
        }
        Role::RemotePath => remote(runner.out, field, Touch::Read, invocation, state),
        Role::RemoteInto => remote(runner.out, field, Touch::Write, invocation, state),
        Role::Pid => process(runner.out, field, invocation),
        Role::Mount => mount(runner.out, field, invocation),
    }
}

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
fn prints(out: &mut Observer<'_>, field: &Field, invocation: &mut Invocation, state: &State<'_>) {
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
        let copies_input = touch == Touch::Write
            && invocation.args.chain.first().is_some_and(|entry| matches!(entry.key.as_ref(), "tee" | "sponge"));
        let content = invocation.input.text.clone().filter(|_| copies_input);
        invocation.stored.push(path.clone());
        store(out, path, content, origin, state);
    }
}

/// What lies there is lost, unless it is plainly output of an earlier run.
fn empties(out: &mut Observer<'_>, field: &Field, invocation: &mut Invocation, state: &mut State<'_>) {
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
fn set_for_command(out: &mut Observer<'_>, field: &Field, invocation: &mut Invocation, state: &mut State<'_>) {
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

fn url(out: &mut Observer<'_>, field: &Field, exchange: Exchange, invocation: &mut Invocation) {
    let by = invocation.by.clone();
    out.connect(field, exchange, &by);
    network_flows(out, field.origin.secret || (exchange == Exchange::Send && invocation.input.origin.secret), &by);
    invocation.output.origin.download = true;
}

/// `host:path` is on another machine, anything else here.
fn remote(out: &mut Observer<'_>, field: &Field, touch: Touch, invocation: &mut Invocation, state: &mut State<'_>) {
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
fn mount(out: &mut Observer<'_>, field: &Field, invocation: &mut Invocation) {
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

fn process(out: &mut Observer<'_>, field: &Field, invocation: &Invocation) {
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

pub(crate) fn shell_code(
    runner: &mut Runner<'_, '_>,
    field: &Field,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    match field.known() {
        Some(text) if !field.origin.download => {
            let mut inner: State<'_> = state.clone();
            inner.cwd = invocation.cwd.as_deref().map(Rc::from);
            let output = runner.subshell_text(text, &inner, invocation.input.clone(), invocation.by.part);
            invocation.output = output;
        }
        Some(_) | None => {
            let by = invocation.by.clone();
            runs_data(runner.out, field.origin, &by);
        }
    }
}

fn other_code(
    runner: &mut Runner<'_, '_>,
    field: &Field,
    role: Role,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let by = invocation.by.clone();
    let language = [(Role::CodePython, Language::Python), (Role::CodeJs, Language::JavaScript)]
        .into_iter()
        .find(|(known, _)| *known == role)
        .map(|(_, language)| language);
    if field.origin.download {
        runner.out.flow(FlowKind::DownloadToExecute, by.part, by.part);
    }
    match field.known() {
        Some(text) if !field.origin.download => {
            let mut inner: State<'_> = state.clone();
            inner.cwd = invocation.cwd.as_deref().map(Rc::from);
            let output = code(runner, text, language, &mut inner, &by);
            state.written = inner.written;
            invocation.output.origin = invocation.output.origin.and(output.origin);
        }
        Some(_) | None => {
            runner.out.lower(Degree::Opaque, format!("code given to `{}` that is not known", by.name));
            runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::InlineCode));
        }
    }
}

fn sql(out: &mut Observer<'_>, field: &Field, invocation: &Invocation) {
    let reads = field.known().is_some_and(super::grammar::sql_reads_only);
    if !reads {
        let mut effect = Effect::new(Operation::Mutate, Target::Resource(format!("{} database", invocation.by.name)));
        effect.scope = Scope::External;
        effect.reach = Reach::Beyond;
        effect.reversibility = Reversibility::Irreversible;
        effect.marks = Marks::default().with(Mark::Database);
        effect.by.clone_from(&invocation.by.name);
        effect.part = invocation.by.part;
        out.effect(effect);
    }
}

/// `3.12`, `python3.12`, `pypy@3.10`: which interpreter is wanted, not where a program lies.
fn is_version(text: &str) -> bool {
    let rest = ["cpython", "python", "pypy"].iter().find_map(|name| text.strip_prefix(name)).unwrap_or(text);
    let rest = rest.strip_prefix(['@', '-']).unwrap_or(rest);
    rest.bytes().any(|byte| byte.is_ascii_digit())
        && rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'>' | b'<' | b'=' | b',' | b'~'))
}

fn has_remote(invocation: &Invocation) -> bool {
    invocation.args.operands.iter().any(|field| crate::network::remote_path(field.prefix()).is_some())
}

/// Where a file is expected, many programs take an address as well.
fn is_address(text: &str) -> bool {
    const SCHEMES: &[&str] = &["http", "https", "ftp", "ftps", "oci", "sftp", "s3", "gs", "rtmp", "rtsp"];
    text.split_once("://").is_some_and(|(scheme, _)| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}
