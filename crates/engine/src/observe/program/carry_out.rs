//! Does what a grammar found, in order: the one place where findings touch the sheet and the shell.

use doorward_vocabulary::FlowKind;

use super::Invocation;
use super::file_roles::{reads, writes};
use super::findings::{Finding, Findings};
use super::inner::shell_code;
use super::roles::{flag_values, helper_program, operands, role};
use crate::observe::shell::code::runs_data;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;

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
        Finding::SecretSent => {
            runner.out.flow(FlowKind::SecretToNetwork, invocation.by.part, invocation.by.part);
        }
        Finding::Connect(host, exchange) => runner.out.connect_host(&host, exchange, &invocation.by),
        Finding::Touch(touch, field) => {
            runner.out.touch(touch, &field, invocation.cwd.as_deref(), &invocation.by);
        }
        Finding::Read(touch, field) => reads(runner.out, touch, &field, invocation, state),
        Finding::Write(touch, field) => writes(runner.out, touch, &field, invocation, state),
        Finding::Role(field, part) => role(runner, &field, part, invocation, state),
        Finding::FlagValues => flag_values(runner, invocation, state),
        Finding::Operands => operands(runner, invocation, state),
        Finding::Helper(program) => helper_program(runner, &program, invocation, state),
        Finding::Code(text) => shell_code(runner, &text, invocation, state),
        Finding::Fetched => invocation.output.origin.download = true,
        Finding::InputRun => {
            runs_data(runner.out, invocation.input.origin.and(invocation.output.origin), &invocation.by);
        }
        Finding::SecretPrinted => invocation.output.origin.secret = true,
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
    }
}
