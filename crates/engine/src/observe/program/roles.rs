//! From the role of a value or operand to its effect.

use std::rc::Rc;

use doorward_code::Language;
use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::Invocation;
use super::behind::look_into;
use super::file_roles::{address, empties, mount, plain, prints, process, reads, remote, set_for_command, url, writes};
use super::inner::{inner_command, inner_line, shell_code};
use super::recipe::executes;
use super::scripts::script_file;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::{Facet, Role};
use crate::observe::code::{Source, code};
use crate::observe::connect::Exchange;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::file_roles::network_flows;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;

/// A program that another one is told to start, with arguments and input that cannot be seen.
pub(crate) fn helper_program(
    runner: &mut Runner<'_, '_>,
    field: &Field,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    // `tar -I zstd` and `sort --compress-program=gzip` are normal; any other word there is a command to run
    // (program-flags-002, program-flags-023).
    let is_plain = |text: &str| runner.out.knowledge.facets(text).has(Facet::PlainHelper);
    if field.exact().is_some_and(is_version) {
        return;
    }
    if field.exact().is_some_and(|text| is_plain(text.trim())) {
        return;
    }
    let by = invocation.by.clone();
    runner.out.lower(Degree::Unknown, format!("the program that `{}` runs", by.name));
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
        Role::Data | Role::Text | Role::Name | Role::Resource | Role::Package | Role::Cwd | Role::Into => {}
        Role::Address => address(runner.out, field, invocation),
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
        Role::Code | Role::CodePython | Role::CodeJs => {
            look_into(runner, field, invocation, state);
            other_code(runner, field, role, invocation, state);
        }
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
            let output = code(runner, &Source { text, language, by: &by }, &mut inner);
            state.written = inner.written;
            invocation.output.origin = invocation.output.origin.and(output.origin);
        }
        Some(_) | None => {
            runner.out.lower(Degree::Opaque, format!("code given to `{}` that doorward can't see", by.name));
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
