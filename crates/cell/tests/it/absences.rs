//! Where a box can't be had, the reason is named.

use std::process::Command as Process;

use doorward_cell::{Cell, Missing, Plan, RunError};

use crate::support::{Place, as_user, skip};

/// What a probe says in another process, which is put where there may be no box.
#[test]
fn probe_says_what_is_missing() {
    if let Ok(state) = std::env::var("DOORWARD_CELL_PROBE") {
        println!("PROBED {:?}", Cell::at(state).probe());
    }
}

fn probed(mut command: Process) -> String {
    let said = command
        .arg(std::env::current_exe().unwrap())
        .args(["absences::probe_says_what_is_missing", "--exact", "--nocapture"])
        .output()
        .unwrap();
    String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr)
}

#[test]
fn a_machine_without_user_namespaces_is_named() {
    if !as_user("absences::a_machine_without_user_namespaces_is_named") {
        return;
    }
    let place = Place::new();
    let mut command = Process::new("bwrap");
    command.args([
        "--bind",
        "/",
        "/",
        "--dev-bind",
        "/dev",
        "/dev",
        "--unshare-user",
        "--uid",
        "65534",
        "--disable-userns",
    ]);
    command.env("DOORWARD_CELL_PROBE", place.path("state"));
    if Process::new("bwrap").arg("--version").output().is_err() {
        skip("a machine without user namespaces is played by bubblewrap, which isn't there");
        return;
    }
    let said = probed(command);
    assert!(said.contains("PROBED Err(UserNamespaceLimit)"), "{said}");
}

#[test]
fn a_box_has_no_box() {
    if !as_user("absences::a_box_has_no_box") {
        return;
    }
    let place = Place::new();
    let program = place.path("home/test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut plan =
        place.plan(&format!("{} absences::probe_says_what_is_missing --exact --nocapture", program.display()));
    plan.env.push(("DOORWARD_CELL_PROBE".into(), "/tmp/state".into()));
    let ran = place.run_plan(plan);
    assert!(ran.out.contains("PROBED Err(UserNamespaces)"), "{}", ran.out);
}

#[test]
fn root_gets_no_box() {
    if rustix::process::geteuid().is_root() {
        let state = tempfile::TempDir::new().unwrap();
        let cell = Cell::at(state.path());
        assert_eq!(cell.probe(), Err(Missing::Root));
        let project = tempfile::TempDir::new().unwrap();
        let command = doorward_cell::Command::Argv(vec!["true".into()]);
        assert!(matches!(cell.run(Plan::new(command, project.path())), Err(RunError::Missing(Missing::Root))));
    }
}

#[test]
fn every_reason_is_one_plain_sentence() {
    let reasons = [
        Missing::Root,
        Missing::UserNamespaces,
        Missing::UserNamespaceLimit,
        Missing::AppArmor,
        Missing::OldKernel,
        Missing::Overlay(22),
        Missing::InsideContainer,
        Missing::Seccomp,
        Missing::Mount(1),
        Missing::State(13),
    ];
    for reason in reasons {
        let sentence = reason.sentence();
        assert!(sentence.len() > 20 && !sentence.ends_with('.') && !sentence.contains('\n'), "{sentence}");
    }
}
