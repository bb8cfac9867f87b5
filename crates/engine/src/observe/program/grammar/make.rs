//! `make`: targets, variables, other recipe files.

use doorward_vocabulary::{Degree, Mark, Operation, Reach, Reversibility, Scope};

use super::super::Invocation;
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::program::findings::Findings;
use crate::observe::program::named_tasks::{deployment, destroys_database};

/// Variables that say how much or for what, not what to run.
// `CC=`, `SHELL=`, `MAKEFLAGS=` and most other variables can name a program, so they ask. These only select or count.
const HARMLESS: &[&str] = &[
    "V",
    "VERBOSE",
    "DEBUG",
    "CI",
    "BUILD",
    "BUILD_TYPE",
    "MODE",
    "PROFILE",
    "JOBS",
    "N",
    "TEST",
    "TESTS",
    "TEST_NAME",
    "PKG",
    "PACKAGE",
    "NAME",
    "FEATURES",
    "TARGET",
    "ARCH",
    "OS",
    "GOOS",
    "GOARCH",
    "VERSION",
    "TAG",
    "RELEASE",
    "COLOR",
    "FILTER",
    "FILE",
    "K",
    "RUN",
    "COVERAGE",
    "COUNT",
    "TIMEOUT",
    "ENV",
    "PORT",
    "LOG_LEVEL",
];

/// With these, recipes are printed; what a Makefile runs while it is read is run all the same.
// `$(shell …)` and included files run even under `-n` (project-work-659), so this lowers nothing for an untrusted
// project.
const SAYING: &[&str] = &["-n", "--just-print", "--dry-run", "--recon", "-q", "--question"];

pub(super) fn make(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let name = invocation.by.name.clone();
    for field in invocation.args.operands.clone() {
        match field.text.split_once('=') {
            Some((variable, value)) => found.extend(make_variable(variable, value, &field, invocation)),
            None if field.dynamic && !matches!(field.shape, crate::observe::stream::Shape::Token) => {
                found.doubt(Degree::Opaque, format!("which target `{name}` makes"));
            }
            None => make_target(&field, invocation),
        }
    }
    let given = invocation.args.given.iter();
    for given in given.filter(|given| matches!(given.name.as_str(), "--eval" | "-E" | "-I" | "--include-dir")) {
        found.doubt(Degree::Opaque, format!("`{}` of `{name}`", given.name));
    }
    invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
    found
}

fn make_variable(variable: &str, value: &str, field: &Field, invocation: &Invocation) -> Findings {
    let variable = variable.trim_end_matches([':', '+', '?', '!']);
    let plain = field.known().is_some() && !value.contains(['$', '`', ';', '|', '&', '<', '>', '(', '\n', '\'', '"']);
    if plain && HARMLESS.contains(&variable) {
        return Findings::default();
    }
    Findings::doubtful(Degree::Opaque, format!("the variable `{variable}` given to `{}`", invocation.by.name))
}

fn make_target(field: &Field, invocation: &mut Invocation) {
    let target = field.text.as_str();
    if let Some(mark) = deployment(target) {
        for does in invocation.does.iter_mut().filter(|does| does.operation == Operation::Execute) {
            does.marks.add(mark);
            does.reach = Reach::Beyond;
            does.scope = Scope::External;
            does.reversibility = Reversibility::Irreversible;
        }
    }
    if destroys_database(target) {
        let executes = invocation.does.iter_mut().filter(|does| does.operation == Operation::Execute);
        executes.for_each(|does| does.marks.add(Mark::Destroys));
    }
    let installs = target == "install" || target == "uninstall" || target.starts_with("install-");
    if installs && !invocation.args.has_any(SAYING) {
        for does in invocation.does.iter_mut().filter(|does| does.operation == Operation::Execute) {
            does.marks.add(Mark::OutsideProject);
            does.scope = Scope::System;
            does.reach = Reach::Machine;
            does.reversibility = Reversibility::Irreversible;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check, check_in};

    const MAKE: &str = "name = 'make'\nwhat = 'x'\ngrammar = 'make'\noperands = ['data*']\ndoes = ['execute +build +runs-project']\ndelegates = ['Makefile']\n[flags]\nplain = '-n -k -s'\n'-j' = '?data'\n'-C' = 'cwd'\n'-f' = 'script'\n'--eval' = 'data'";

    #[test]
    fn targets_and_variables() {
        check(
            &[MAKE],
            &[
                ("make", "delegated", "execute make +build"),
                ("make -j8 test V=1", "delegated", "execute make"),
                ("make -n deploy-prod", "delegated", "execute make +deploy =irreversible"),
                ("make release", "delegated", "execute make +publish"),
                ("make install", "delegated", "execute make =irreversible"),
                ("make -n install", "delegated", "execute make =tracked"),
                ("make -kn install", "delegated", "execute make =tracked"),
                ("make SHELL=./x", "opaque", "execute make"),
                ("make NAME='$(shell id)'", "opaque", "execute make"),
                ("make CC=evil", "opaque", "execute make"),
                ("make --eval 'x:;id'", "opaque", "execute make"),
                ("make -C /srv/other", "opaque", "execute make +outside-project"),
                ("make $T", "opaque", "execute make"),
            ],
        );
        check_in(
            r#"{"files": {"Makefile": {"changed_since_trust": true}}}"#,
            &[MAKE],
            &[("make", "opaque", "execute make +changed-recipe")],
        );
    }
}
