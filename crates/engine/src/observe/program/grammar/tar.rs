//! `tar`: what is packed, what is unpacked where.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Scope};

use super::super::Invocation;
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Create,
    Change,
    Extract,
    List,
}

/// Archives are named from where the shell stands, which is `here`, and everything else from `-C`.
pub(super) fn tar(here: Option<&str>, invocation: &mut Invocation) -> Findings {
    let Some(mode) = mode(invocation) else {
        return Findings::doubtful(Degree::Unknown, format!("what `{}` should do", invocation.by.name));
    };
    let mut found = Findings::default();
    let args = &invocation.args;
    let is_loose = |field: &&Field| field.glob && !args.ended && field.text.starts_with(['*', '?', '[']);
    // A wildcard may match a file whose name is a flag, and flags of tar run programs.
    if let Some(glob) = args.operands.iter().find(is_loose) {
        let what = format!("`{}` may match a file named like a flag of `{}`", glob.shown(), invocation.by.name);
        found.doubt(Degree::Opaque, what);
    }
    let here = || here.map(str::to_owned);
    found.within(here(), archive(mode, invocation));
    invocation.does.clear();
    match mode {
        Mode::Create | Mode::Change => {
            for field in &invocation.args.operands {
                found.read(Touch::ReadTree, field.clone());
            }
            found.within(here(), archive_written(invocation));
            if invocation.args.has("--remove-files") {
                invocation.args.operands.iter().for_each(|field| found.role(field.clone(), Role::DeleteTree));
            }
        }
        Mode::Extract if !invocation.args.has_any(&["-O", "--to-stdout", "--to-command"]) => {
            found.extend(unpack(invocation));
        }
        Mode::Extract | Mode::List => {}
    }
    invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
    found
}

/// `-f` is read or written, whatever the table says; host:path is another machine.
fn archive(mode: Mode, invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    for given in invocation.args.given.iter_mut().filter(|given| is_archive(&given.name)) {
        given.role = Role::Text;
    }
    let Some(file) = archive_file(invocation) else { return found };
    let remote = file.prefix().split_once(':').filter(|(host, _)| !host.contains('/') && !host.is_empty());
    match remote {
        Some(_) if !invocation.args.has("--force-local") => {
            let role = if mode == Mode::Create || mode == Mode::Change { Role::RemoteInto } else { Role::RemotePath };
            found.role(file, role);
        }
        Some(_) | None if matches!(mode, Mode::Extract | Mode::List) => found.read(Touch::Read, file),
        Some(_) | None => {}
    }
    found
}

fn archive_written(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    if let Some(file) = archive_file(invocation) {
        let create = invocation.args.has_any(&["-c", "--create"]);
        found.write(if create { Touch::Write } else { Touch::Edit }, file);
    }
    found
}

/// Files appear in the directory, and may replace what is there.
fn unpack(invocation: &Invocation) -> Findings {
    let (mut found, mut written) = (Findings::default(), Findings::default());
    written.write(Touch::Create, Field::literal(".", doorward_shell::Span::default()));
    found.sealed(written, |caused, _| {
        for effect in caused.iter_mut() {
            effect.marks.add(Mark::CountUnknown);
            effect.marks.add(Mark::Recursive);
            effect.marks.remove(Mark::ProjectRoot);
            // Outside scratch it may replace files, and nobody sees by what.
            if effect.scope != Scope::Scratch {
                effect.marks.add(Mark::Unseen);
            }
        }
    });
    if invocation.args.has_any(&["-P", "--absolute-names"]) {
        found.doubt(Degree::Opaque, "an archive that may unpack to any path it names");
        found.unknown(Operation::Write, Marks::default());
    }
    found
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
