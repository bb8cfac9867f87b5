//! `kill`, `pkill`, `killall`: which signal, which processes.

use doorward_vocabulary::{Mark, Marks, Operation, Reach, Scope};

use super::super::Invocation;
use crate::knowledge::schema::{Does, Role};
use crate::observe::guard::{aims_at_guard, is_every_process};
use crate::observe::program::findings::Findings;

pub(super) fn kill(invocation: &mut Invocation) -> Findings {
    let by_number = invocation.by.name == "kill" || invocation.by.name == "gkill";
    let signal = ["--signal", "-s", "-n"]
        .iter()
        .find_map(|name| invocation.args.value(name))
        .and_then(|value| value.exact().map(str::to_owned));
    let asks = signal.as_deref() == Some("0") && (by_number || !invocation.args.has("-s"));
    let marks = invocation.does.iter().fold(Marks::default(), |mut all, does| {
        all.union(does.marks);
        all
    });
    invocation.done = true;
    let mut found = Findings::default();
    found.flag_values();
    if !asks && !invocation.args.given.iter().any(|given| given.changes.info) {
        found.sealed(signals(by_number, invocation), move |caused, _| caused.mark(marks));
    }
    found
}

fn signals(by_number: bool, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    if !by_number
        && invocation.args.operands.is_empty()
        && invocation.args.given.iter().any(|given| given.value.is_some())
    {
        let mut does = Does::usual(Operation::Mutate);
        does.scope = Scope::System;
        does.reach = Reach::Machine;
        does.marks = Marks::default().with(Mark::ProcessSignal).with(Mark::ForeignProcess);
        // All processes of a user: the session's own, and the guard's, among them.
        if invocation.args.has_any(&["-u", "--euid", "--user", "-U", "--uid"]) {
            does.marks.add(Mark::Bulk);
        }
        found.resource(&does, "processes of a user or group", invocation);
    }
    for field in &invocation.args.operands {
        if by_number && field.text == "-1" {
            let mut all = Does::usual(Operation::Mutate);
            all.scope = Scope::System;
            all.reach = Reach::Machine;
            all.marks = Marks::default().with(Mark::ProcessSignal).with(Mark::ForeignProcess).with(Mark::Bulk);
            found.resource(&all, "every process", invocation);
            continue;
        }
        if by_number && !matches!(field.text.as_str(), "-1" | "0" | "1") && !field.text.starts_with('-') {
            found.role(field.clone(), Role::Pid);
            continue;
        }
        let mut does = Does::usual(Operation::Mutate);
        does.scope = Scope::System;
        does.reach = Reach::Machine;
        does.marks = Marks::default().with(Mark::ProcessSignal).with(Mark::ForeignProcess);
        let pattern = field.exact().filter(|_| !by_number);
        if pattern.is_some_and(is_every_process) {
            does.marks.add(Mark::Bulk);
        }
        if pattern.is_some_and(aims_at_guard) {
            does.marks.add(Mark::GuardStop);
        }
        let name =
            if by_number { format!("process {}", field.shown()) } else { format!("processes named {}", field.shown()) };
        found.resource(&does, name, invocation);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::check::check_in;

    const KILL: &str = "name = 'kill'\nwhat = 'x'\ngrammar = 'kill'\noperands = ['pid*']\ndoes = ['mutate +process-signal']\n[flags]\n'-s --signal -n' = 'data'\n'-l -L' = 'info'";
    const PKILL: &str = "name = 'pkill'\naliases = ['killall']\nwhat = 'x'\ngrammar = 'kill'\noperands = ['resource*']\ndoes = ['mutate +process-signal']\n[flags]\nplain = '-f -H -I'\n'--signal' = 'data'";

    #[test]
    fn processes() {
        check_in(
            r#"{"session_processes": [4242]}"#,
            &[KILL, PKILL],
            &[
                ("kill -0 99", "full", ""),
                ("kill -l", "full", ""),
                ("kill 4242", "full", "mutate process 4242 +process-signal"),
                ("kill -9 99", "full", "mutate process 99 +foreign-process"),
                ("kill -SIGTERM %1", "full", "mutate process %1 +process-signal"),
                ("kill -s KILL -- -1", "full", "mutate every process +foreign-process +bulk"),
                ("kill -9 -- -4242", "full", "mutate process -4242 +foreign-process"),
                ("pkill -HUP -f 'node server'", "full", "mutate processes named node server +foreign-process"),
                ("killall -9 node", "full", "mutate processes named node +foreign-process"),
            ],
        );
    }
}
