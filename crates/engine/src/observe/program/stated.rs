//! The effects that a program file states for a whole command.

use doorward_vocabulary::{Degree, FlowKind, Mark, Operation};

use super::carry_out::carry_out;
use super::conditions::happens;
use super::containers::containers;
use super::destination::place_effect;
use super::extra_checks::{asks_listed_only, asks_loopback_only, environment_dump, host_marks};
use super::file_roles::network_flows;
use super::findings::stated_effect;
use super::forwarded_args::handed_on;
use super::naming::target;
use super::recipe::recipe;
use super::tasks::tasks;
use super::{Invocation, named_tasks};
use crate::knowledge::schema::{Does, Role};
use crate::observe::field::Field;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;

/// The effects that the entry states for the whole command.
pub(crate) fn effects_of(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    note_packages(invocation);
    named_tasks::note_named_tasks(invocation);
    let found = tasks(runner.out, invocation, state);
    carry_out(runner, found, invocation, state);
    let found = handed_on(runner.out.world, invocation);
    carry_out(runner, found, invocation, state);
    if invocation.does.iter().any(|does| does.operation == Operation::Execute) {
        recipe(runner, invocation, state);
    }
    containers(runner.out, invocation, state);
    let secret = invocation
        .args
        .operands
        .iter()
        .chain(invocation.args.given.iter().filter_map(|given| given.value.as_ref()))
        .any(|field| field.origin.secret);
    let alone = invocation.roles.iter().all(|role| *role == Role::Env);
    for mut does in std::mem::take(&mut invocation.does) {
        if !happens(&does.condition, alone, invocation) {
            continue;
        }
        if does.marks.has(Mark::NameQuery) && asks_loopback_only(runner.out.world, invocation) {
            continue;
        }
        if does.marks.has(Mark::NameQuery) && asks_listed_only(runner.out.world, invocation) {
            does.marks.remove(Mark::NameQuery);
            does.marks.add(Mark::ListedHost);
        }
        if does.operation == Operation::Execute && does.marks.has(Mark::ShellCode) {
            runner.out.lower(Degree::Opaque, format!("the code given to `{}`", invocation.by.name));
        }
        if does.marks.has(Mark::EnvironmentDump) {
            environment_dump(runner.out.world, &mut does, invocation);
        }
        let mut effect = stated_effect(&does, target(&does, invocation), invocation);
        place_effect(runner.out.world, &mut effect, invocation);
        if does.operation == Operation::Network && does.marks.has(Mark::Upload) {
            effect.marks.union(host_marks(runner.out.world, invocation));
        }
        if does.operation == Operation::Network {
            network_flows(runner.out, secret || invocation.input.origin.secret, &invocation.by);
            invocation.output.origin.download = true;
        }
        if does.sensitivity > doorward_vocabulary::Sensitivity::None || does.marks.has(Mark::SecretReturning) {
            invocation.output.origin.secret = true;
        }
        runner.out.effect(effect);
    }
}

/// Whatever a program stores while it talks to the network came from there, in whatever order its words stand.
pub(crate) fn note_downloads(out: &mut Observer<'_>, invocation: &Invocation, state: &mut State<'_>) {
    let is_kept = invocation.stored.iter().any(|path| path != "/dev/null");
    if !invocation.output.origin.download || !is_kept {
        return;
    }
    out.flow(FlowKind::DownloadToFile, invocation.by.part, invocation.by.part);
    let written = std::rc::Rc::make_mut(&mut state.written);
    for path in &invocation.stored {
        if let Some(file) = written.get_mut(path) {
            file.origin.download = true;
        }
    }
}

/// A package that is named on the command line was chosen by the agent.
fn note_packages(invocation: &mut Invocation) {
    let is_project = |field: &Field| field.text == "." || field.text.starts_with(".[");
    let roles = invocation.args.operands.iter().zip(&invocation.roles);
    let operands = roles.filter(|(_, role)| **role == Role::Package).map(|(field, _)| field);
    let given = invocation.args.given.iter().filter(|given| given.role == Role::Package);
    let values = given.filter_map(|given| given.value.as_ref());
    let named: Vec<&Field> = operands.chain(values).collect();
    let builds_project = named.iter().any(|field| is_project(field));
    let is_all = named.iter().all(|field| is_project(field));
    // The project itself is built by its own recipe.
    if builds_project && !invocation.does.iter().any(|does| does.operation == Operation::Execute) {
        let mut does = Does::usual(Operation::Execute);
        does.marks.add(Mark::InstallDeclared);
        invocation.does.push(does);
    }
    if is_all || invocation.does.iter().any(|does| does.marks.has(Mark::InstallChosen)) {
        return;
    }
    let mut converted = false;
    for does in invocation.does.iter_mut().filter(|does| does.marks.has(Mark::InstallDeclared)) {
        does.marks.remove(Mark::InstallDeclared);
        does.marks.add(Mark::InstallChosen);
        converted = true;
    }
    if !converted {
        let mut does = Does::usual(Operation::Execute);
        does.marks.add(Mark::InstallChosen);
        invocation.does.push(does);
    }
}
