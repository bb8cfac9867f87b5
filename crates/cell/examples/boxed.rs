//! Runs a command in the box and prints what it did: `boxed STATE PROJECT COMMAND` (`COMMIT=1` puts it in place).
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "an example talks to whoever runs it"
)]

use doorward_cell::{Cell, Command, Output, Plan, Treatment};

fn main() {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let [state, project, text] = words.try_into().expect("three words");
    let cell = Cell::at(state);
    println!("{:?}", cell.probe());
    let mut plan = Plan::new(Command::Shell { shell: "/bin/sh".into(), text }, project);
    plan.env = std::env::vars_os().collect();
    plan.stdout = Output::To(rustix::io::dup(rustix::stdio::stdout()).unwrap());
    plan.stderr = Output::To(rustix::io::dup(rustix::stdio::stderr()).unwrap());
    let run = cell.run(plan).unwrap();
    let deeds = run.deeds().unwrap();
    println!("status {} {:?} {:?}", run.status(), run.spoiled(), run.usage());
    for deed in deeds.list() {
        println!("{:?} {}", deed.kind, deed.path.display());
    }
    println!("meanwhile {:?}", deeds.changed_meanwhile());
    if std::env::var_os("COMMIT").is_some() {
        println!("{:?}", run.commit(&deeds, &|_| Treatment::Commit));
    } else {
        run.discard().unwrap();
    }
}
