//! `awk`: what its program reads, writes and runs beyond the files it is given.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::super::Invocation;
use super::awk_program::{self, Deed};
use crate::knowledge::schema::Role;
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::names::secret_variable;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::world::World;

pub(super) fn awk(world: &dyn World, invocation: &mut Invocation) -> Findings {
    invocation.done = true;
    edits_in_place(invocation);
    for (field, role) in invocation.args.operands.iter().zip(invocation.roles.iter_mut()) {
        if *role == Role::Read && is_assignment(&field.text) {
            *role = Role::Text;
        }
    }
    let mut found = Findings::default();
    found.flag_values();
    found.operands();
    for program in programs(invocation) {
        let Some(text) = program.known() else {
            found.doubt(Degree::Opaque, format!("a program for `{}` that doorward can't see", invocation.by.name));
            found.unknown(Operation::Execute, Marks::default().with(Mark::InlineCode));
            continue;
        };
        match awk_program::read(text) {
            Ok(deeds) => deeds.into_iter().for_each(|deed| find_deed(&mut found, deed, world)),
            Err(because) => {
                found.doubt(Degree::Opaque, format!("the program of `{}`: {because}", invocation.by.name));
                found.unknown(Operation::Execute, Marks::default().with(Mark::InlineCode));
            }
        }
    }
    found
}

fn find_deed(found: &mut Findings, deed: Deed, world: &dyn World) {
    let field = |text: Option<String>| match text {
        Some(text) if !text.contains(UNKNOWN) => Field::literal(text, doorward_shell::Span::default()),
        Some(_) | None => Field { text: UNKNOWN.to_string(), dynamic: true, ..Field::default() },
    };
    match deed {
        Deed::Reads(Some(file)) | Deed::Writes(Some(file))
            if matches!(file.as_str(), "-" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr") => {}
        Deed::Reads(Some(file)) | Deed::Writes(Some(file)) if file.starts_with("/inet") => {
            found.doubt(Degree::Opaque, format!("the connection `{file}`"));
            found.unknown(Operation::Network, Marks::default().with(Mark::UnlistedHost).with(Mark::Upload));
        }
        Deed::Reads(file) => found.read(Touch::Read, field(file)),
        Deed::Writes(file) => found.write(Touch::Write, field(file)),
        Deed::Runs(command) => found.start(field(command)),
        Deed::Environment if world.environment_all().iter().any(|(name, _)| secret_variable(name)) => {
            found.print_secret();
        }
        Deed::Environment => {}
    }
}

/// `-i inplace` changes the files.
fn edits_in_place(invocation: &mut Invocation) {
    let mut edits = false;
    for given in invocation.args.given.iter_mut().filter(|given| matches!(given.name.as_str(), "-i" | "--include")) {
        if given.value.as_ref().is_some_and(|value| value.text == "inplace") {
            given.role = Role::Text;
            edits = true;
        }
    }
    if edits {
        invocation.roles.iter_mut().filter(|role| **role == Role::Read).for_each(|role| *role = Role::Edit);
    }
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn programs(invocation: &Invocation) -> Vec<Field> {
    let sources = invocation.args.given.iter().filter(|given| matches!(given.name.as_str(), "-e" | "--source"));
    let mut programs: Vec<Field> = sources.filter_map(|given| given.value.clone()).collect();
    if programs.is_empty() && !invocation.args.has_any(&["-f", "--file", "-E", "--exec"]) {
        programs.extend(invocation.operand(0).cloned());
    }
    programs
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const AWK: &str = "name = 'awk'\nwhat = 'x'\ngrammar = 'awk'\nstops = true\noperands = ['data unless -f -e', 'read*']\n[flags]\n'-F -v -e' = 'data'\n'-f -i' = 'script'\n'-l' = 'execute'";

    #[test]
    fn programs() {
        check(
            &[AWK],
            &[
                ("awk -F: '{print $1}' users.txt", "full", "read users.txt"),
                ("cat a | awk -v n=3 'NR<=n'", "full", "read a"),
                ("awk '{print > \"out.txt\"}' FS=: a.txt", "full", "read a.txt; write out.txt"),
                (
                    "awk 'BEGIN{system(\"rm -r build\")}'",
                    "unknown",
                    "execute something unknown +inline-code; delete build",
                ),
                (
                    "awk '{system($0)}' a",
                    "opaque",
                    "read a; execute something unknown +inline-code; execute something unknown +shell-code",
                ),
                ("awk '@load \"x\"'", "opaque", "execute something unknown"),
                ("awk \"{print $X}\" a", "opaque", "read a; execute something unknown +inline-code"),
                ("awk -i inplace '{print}' a.txt", "full", "write a.txt"),
                ("awk -f prog.awk a", "delegated", "read a; execute prog.awk"),
                (
                    "awk 'BEGIN{print \"x\" | \"cat > y\"}'",
                    "unknown",
                    "execute something unknown +inline-code; write y",
                ),
            ],
        );
    }
}
