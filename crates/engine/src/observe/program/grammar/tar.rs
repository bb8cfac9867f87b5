//! `tar`: what is packed, what is unpacked where.

use doorward_vocabulary::{Degree, Mark};

use super::super::Invocation;
use crate::knowledge::schema::Role;
use crate::observe::observer::Observer;
use crate::observe::program::roles;
use crate::observe::program::roles::{reads, role, writes};
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::observe::touch::Touch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Create,
    Change,
    Extract,
    List,
}

pub fn tar(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let Some(mode) = mode(invocation) else {
        return runner.out.lower(Degree::Unknown, format!("what `{}` is to do", invocation.by.name));
    };
    // A wildcard may match a file whose name is a flag, and flags of tar run programs.
    if let Some(glob) = invocation
        .args
        .operands
        .iter()
        .find(|field| field.glob && !invocation.args.ended && field.text.starts_with(['*', '?', '[']))
    {
        runner.out.lower(
            Degree::Opaque,
            format!("`{}` may match a name that is a flag of `{}`", glob.shown(), invocation.by.name),
        );
    }
    let inner = std::mem::replace(&mut invocation.cwd, state.cwd.as_deref().map(str::to_owned));
    archive(runner, mode, invocation, state);
    invocation.cwd = inner;
    invocation.does.clear();
    match mode {
        Mode::Create | Mode::Change => {
            for field in invocation.args.operands.clone() {
                reads(runner.out, Touch::ReadTree, &field, invocation, state);
            }
            let inner = std::mem::replace(&mut invocation.cwd, state.cwd.as_deref().map(str::to_owned));
            archive_written(runner.out, invocation, state);
            invocation.cwd = inner;
            removed_files(runner, invocation, state);
        }
        Mode::Extract if !invocation.args.has_any(&["-O", "--to-stdout", "--to-command"]) => {
            unpack(runner.out, invocation, state)
        }
        Mode::Extract | Mode::List => {}
    }
    invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
}

/// Archives are named from where the shell stands, not from `-C`. `-f` is read or written, whatever the table says; host:path is another machine.
fn archive(runner: &mut Runner<'_, '_>, mode: Mode, invocation: &mut Invocation, state: &mut State<'_>) {
    for given in invocation.args.given.iter_mut().filter(|given| is_archive(&given.name)) {
        given.role = Role::Data;
    }
    let Some(file) = archive_file(invocation) else { return };
    let remote = file.prefix().split_once(':').filter(|(host, _)| !host.contains('/') && !host.is_empty());
    match remote {
        Some(_) if !invocation.args.has("--force-local") => {
            let role = if mode == Mode::Create || mode == Mode::Change { Role::RemoteInto } else { Role::RemotePath };
            roles::role(runner, &file, role, invocation, state);
        }
        Some(_) | None if matches!(mode, Mode::Extract | Mode::List) => {
            reads(runner.out, Touch::Read, &file, invocation, state)
        }
        Some(_) | None => {}
    }
}

fn archive_written(out: &mut Observer<'_>, invocation: &mut Invocation, state: &mut State<'_>) {
    if let Some(file) = archive_file(invocation) {
        let create = invocation.args.has_any(&["-c", "--create"]);
        writes(out, if create { Touch::Write } else { Touch::Edit }, &file, invocation, state);
    }
}

fn removed_files(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    if invocation.args.has("--remove-files") {
        for field in invocation.args.operands.clone() {
            role(runner, &field, Role::DeleteTree, invocation, state);
        }
    }
}

/// Files appear in the directory, and may replace what is there.
fn unpack(out: &mut Observer<'_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let here = Field::literal(".", doorward_shell::Span::default());
    let ((), mut caused) = out.collect(|out| writes(out, Touch::Create, &here, invocation, state));
    let anywhere = invocation.args.has_any(&["-P", "--absolute-names"]);
    for effect in caused.iter_mut() {
        effect.marks.add(Mark::CountUnknown);
        effect.marks.add(Mark::Recursive);
        effect.marks.remove(Mark::ProjectRoot);
        // Outside scratch it may replace files, and nobody sees by what.
        if effect.scope != doorward_vocabulary::Scope::Scratch {
            effect.marks.add(Mark::Unseen);
        }
    }
    out.write(caused);
    if anywhere {
        out.lower(Degree::Opaque, "an archive that is unpacked to any path it names");
        out.unknown(doorward_vocabulary::Operation::Write, &invocation.by, Default::default());
    }
}

fn is_archive(name: &str) -> bool {
    matches!(name, "-f" | "--file")
}

fn archive_file(invocation: &Invocation) -> Option<Field> {
    let given = invocation.args.given.iter().find(|given| is_archive(&given.name))?;
    given.value.clone().filter(|value| value.text != "-")
}

fn mode(invocation: &Invocation) -> Option<Mode> {
    let args = &invocation.args;
    let modes = [
        (Mode::Create, args.has_any(&["-c", "--create"])),
        (
            Mode::Change,
            args.has_any(&["-r", "--append", "-u", "--update", "-A", "--catenate", "--concatenate", "--delete"]),
        ),
        (Mode::Extract, args.has_any(&["-x", "--extract", "--get"])),
        (Mode::List, args.has_any(&["-t", "--list", "-d", "--diff", "--compare"])),
    ];
    let mut chosen = modes.into_iter().filter(|(_, given)| *given).map(|(mode, _)| mode);
    chosen.next().filter(|_| chosen.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const TAR: &str = "name = 'tar'\nwhat = 'x'\ngrammar = 'tar'\nstyle = 'dashless'\noperands = ['data*']\n[flags]\nplain = '-c -x -t -z -v -r -P'\n'-f --file' = 'read'\n'-C' = 'cwd'\n'--to-command -I' = 'code-sh'\n'--strip-components' = 'data'";

    #[test]
    fn archives() {
        check(
            &[TAR],
            &[
                ("tar tzf a.tgz", "full", "read a.tgz"),
                ("tar cfz out.tgz src docs", "full", "read src; read docs; write out.tgz"),
                ("tar -czf out.tgz src/*.rs", "full", "read src; write out.tgz"),
                ("tar xf a.tar -C /tmp/x --strip-components=1", "full", "read a.tar; write /tmp/x +count-unknown"),
                ("tar -xzf a.tgz", "full", "read a.tgz; write . +recursive"),
                ("tar xPf a.tar", "opaque", "read a.tar; write .; write something unknown"),
                ("tar cf x.tar *", "opaque", "read .; write x.tar"),
                (
                    "tar xf a.tar --to-command 'rm -r build'",
                    "unknown",
                    "read a.tar; execute something unknown +inline-code; delete build",
                ),
                ("tar cf - src | tar xf - -C /tmp/y", "full", "read src; write /tmp/y"),
                ("tar -z f", "unknown", ""),
            ],
        );
    }
}
