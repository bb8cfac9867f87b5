//! Does what a grammar found, in order: the one place where findings touch the sheet and the shell.

use std::rc::Rc;

use doorward_vocabulary::{FlowKind, Mark, Marks};

use super::Invocation;
use super::console::{console, console_input};
use super::destination::into;
use super::environments::enter_environment;
use super::file_roles::{reads, writes};
use super::file_trust::{FileRun, How};
use super::findings::{Finding, Findings, Run, ShellText, Started};
use super::grammar::git_contents::git_contents;
use super::inner::{inner_command, inner_line, inner_shell, placed_command, shell_code};
use super::invocation::Start;
use super::invoke::invoke;
use super::naming::normalised;
use super::recipe::{project_program, run_file};
use super::roles::{helper_program, role};
use super::scripts::script_file;
use super::searches::listed::note_search;
use super::words::{flag_values, operands};
use crate::observe::code::imports::python_files;
use crate::observe::code::{Source, code, of_program};
use crate::observe::field::positional;
use crate::observe::sheet::observer::By;
use crate::observe::shell::aftermath::store;
use crate::observe::shell::code::runs_data;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;
use crate::world::Kind;

/// Does what was found, in order.
pub(super) fn carry_out(
    runner: &mut Runner<'_, '_>,
    findings: Findings,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    for finding in findings.0 {
        carry_out_one(runner, finding, invocation, state);
    }
}

fn carry_out_one(runner: &mut Runner<'_, '_>, finding: Finding, invocation: &mut Invocation, state: &mut State<'_>) {
    match finding {
        Finding::Doubt(degree, because) => runner.out.lower(degree, because),
        Finding::Effect(effect, marks) => runner.out.marked_effect(effect, marks),
        Finding::Unknown(operation, marks) => runner.out.unknown(operation, &invocation.by, marks),
        Finding::SecretSent => flow(runner, FlowKind::SecretToNetwork, invocation),
        Finding::DownloadRun => flow(runner, FlowKind::DownloadToExecute, invocation),
        Finding::Connect(host, exchange) => runner.out.connect_host(&host, exchange, &invocation.by),
        Finding::Touch(touch, field) => {
            runner.out.touch(touch, &field, invocation.cwd.as_deref(), &invocation.by);
        }
        Finding::ConnectTo(address, exchange) => runner.out.connect(&address, exchange, &invocation.by),
        Finding::TouchPath(touch, path) => {
            runner.out.touch_path(touch, &path, &invocation.by, Marks::default());
        }
        Finding::Store(path, content, origin) => store(runner.out, path, content, origin, state),
        Finding::Arrival(path) => runner.out.arrivals.push(path),
        Finding::Link(path) => runner.out.links.push(path),
        Finding::GitSteps(steps) => state.git = Rc::new(steps),
        Finding::GitContents(sub) => git_contents(runner.out, &sub, invocation),
        Finding::CallMark(mark) => runner.out.call_mark(mark),
        Finding::TouchNothing { directory, pattern } => {
            runner.out.touch_nothing(&directory, &pattern, &invocation.by);
        }
        Finding::Read(touch, field) => reads(runner.out, touch, &field, invocation, state),
        Finding::Write(touch, field) => writes(runner.out, touch, &field, invocation, state),
        Finding::Search { starts, tests } => note_search(runner.out, &starts, &tests, invocation.cwd.as_deref()),
        Finding::Role(field, part) => role(runner, &field, part, invocation, state),
        Finding::FlagValues => {
            let findings = flag_values(invocation);
            carry_out(runner, findings, invocation, state);
        }
        Finding::Operands => {
            let findings = operands(invocation);
            carry_out(runner, findings, invocation, state);
        }
        Finding::Into(field, at) => into(runner.out, &field, at, invocation, state),
        Finding::Named(words) => runner.out.command(normalised(&words), state.cwd.as_ref()),
        Finding::Fetched => invocation.output.origin.download = true,
        Finding::SecretPrinted => invocation.output.origin.secret = true,
        Finding::Printed(output) => invocation.output = output,
        Finding::InputTaken => invocation.input = Stream::empty(),
        Finding::In(directory, findings) => {
            let outer = std::mem::replace(&mut invocation.cwd, directory);
            carry_out(runner, findings, invocation, state);
            invocation.cwd = outer;
        }
        Finding::Sealed(findings, seal) => {
            let ((), mut caused) = runner.collect(|runner| carry_out(runner, findings, invocation, state));
            seal(&mut caused, runner.out.world);
            runner.out.write(caused);
        }
        Finding::Then(reader) => {
            let findings = reader(runner.out, invocation, state);
            carry_out(runner, findings, invocation, state);
        }
        Finding::Run(what) => run(runner, *what, invocation, state),
    }
}

/// Runs what a finding says is run.
fn run(runner: &mut Runner<'_, '_>, what: Run, invocation: &mut Invocation, state: &mut State<'_>) {
    match what {
        Run::Helper(program) => helper_program(runner, &program, invocation, state),
        Run::Command(words) => inner_command(runner, words, invocation, state),
        Run::Placed(words) => placed_command(runner, words, invocation, state),
        Run::InEnvironment(words) => {
            let outer = state.venv.clone();
            enter_environment(runner.out.world, &invocation.by.name, state);
            inner_command(runner, words, invocation, state);
            state.venv = outer;
        }
        Run::Joined(words) => inner_shell(runner, &words, invocation, state),
        Run::Line(line) => inner_line(runner, &line, invocation, state),
        Run::Program(started) => start(runner, started, invocation, state),
        Run::Code(text) => shell_code(runner, &text, invocation, state),
        Run::ShellText(text) => shell_text(runner, text, invocation, state),
        Run::Stream(stream, words) => {
            let positional = words.map_or_else(|| state.positional.clone(), |words| positional(&words));
            let inner: State<'_> = State { positional, ..state.clone() };
            invocation.output = runner.run_stream(&stream, &inner, &invocation.by);
        }
        Run::OwnCode(stream) => own_code(runner, &stream, invocation, state),
        Run::Script { file, role, operands } => {
            let given = operands.map(|operands| std::mem::replace(&mut invocation.args.operands, operands));
            script_file(runner, &file, role, invocation, state);
            if let Some(given) = given {
                invocation.args.operands = given;
            }
        }
        Run::Module { name, root } => own_module(runner, &name, root.as_deref(), invocation, state),
        Run::Console(framework, words) => {
            console(runner, Some(framework), &words, state, &invocation.by);
            console_input(runner.out, Some(framework), &words, &invocation.input, &invocation.by);
        }
        Run::Subscript(text) => runner.evaluated_subscript(&text, state),
        Run::Hook { file, root } => {
            let by = By { name: path::name(&file).to_owned(), ..By::default() };
            let cwd = Some(root.as_str().into());
            let mut inner: State<'_> = State { cwd, positional: None, ..state.clone() };
            let input = Stream::unknown(Default::default());
            let run = FileRun { file: &file, input: &input, by: &by, how: How::Itself };
            run_file(runner, &run, Mark::SessionFile, &mut inner);
        }
        Run::Unknown(origin) => runs_data(runner.out, origin, &invocation.by),
        Run::Input => {
            runs_data(runner.out, invocation.input.origin.and(invocation.output.origin), &invocation.by);
        }
    }
}

fn flow(runner: &mut Runner<'_, '_>, kind: FlowKind, invocation: &Invocation) {
    runner.out.flow(kind, invocation.by.part, invocation.by.part);
}

fn start(runner: &mut Runner<'_, '_>, started: Started, invocation: &mut Invocation, state: &mut State<'_>) {
    let start = Start { words: &started.words, input: invocation.input.clone(), part: invocation.by.part };
    let output = invoke(runner, started.program, start, state);
    if started.prints {
        invocation.output = output;
    }
}

fn shell_text(runner: &mut Runner<'_, '_>, given: ShellText, invocation: &mut Invocation, state: &State<'_>) {
    let mut inner: State<'_> = state.clone();
    inner.positional = positional(&given.words);
    if let Some(zero) = given.zero {
        let value = Stream { text: zero.exact().map(str::to_owned), ..Stream::unknown(zero.origin) };
        inner.set("0", value);
        inner.export("0");
    }
    match given.text.known() {
        Some(code) if !given.text.origin.download => {
            invocation.output = runner.text_of(given.shell, code, &inner, invocation.input.clone(), invocation.by.part);
        }
        Some(_) | None => runs_data(runner.out, given.text.origin, &invocation.by),
    }
}

fn own_code(runner: &mut Runner<'_, '_>, stream: &Stream, invocation: &mut Invocation, state: &mut State<'_>) {
    match &stream.text {
        Some(text) if !stream.origin.download => {
            let by = invocation.by.clone();
            let output = code(runner, &Source { text, language: of_program(&by.name), by: &by }, state);
            invocation.output.origin = invocation.output.origin.and(output.origin);
        }
        Some(_) | None => runs_data(runner.out, stream.origin, &invocation.by),
    }
}

/// A module of the project: the files that are run for it, each as it is now.
fn own_module(
    runner: &mut Runner<'_, '_>,
    name: &str,
    root: Option<&str>,
    invocation: &Invocation,
    state: &mut State<'_>,
) {
    let Some(cwd) = root.or(invocation.cwd.as_deref()) else { return };
    let base = path::join(cwd, &name.replace('.', "/"));
    let mut files = python_files(runner.out.world, name, cwd, state);
    files.push(path::lexical(&format!("{base}/__main__.py")));
    for file in files {
        let is_there = state.written.contains_key(&file) || runner.out.world.look(&file).kind == Kind::File;
        if is_there {
            let input = Stream::unknown(Default::default());
            let run = FileRun { file: &file, input: &input, by: &invocation.by, how: How::Read };
            project_program(runner, &run, &invocation.args.operands, state);
        }
    }
}
