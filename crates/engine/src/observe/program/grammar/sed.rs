//! `sed`: what its script reads, writes and runs beyond the files it edits.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::super::Invocation;
use super::literal_edit::{backups, is_elsewhere, see_edits};
use super::sed_script::{self, Deed, Script};
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;

pub(super) fn sed(invocation: &mut Invocation) -> Findings {
    invocation.done = true;
    empty_suffix(invocation);
    let scripts = scripts(invocation);
    let (mut found, mut edits) = (kept(invocation), Findings::default());
    found.flag_values();
    edits.operands();
    let Some(text) = scripts.iter().map(Field::known).collect::<Option<Vec<_>>>().map(|lines| lines.join("\n")) else {
        found.extend(edits);
        found.doubt(Degree::Opaque, format!("a script for `{}` that doorward can't see", invocation.by.name));
        found.unknown(Operation::Execute, Marks::default().with(Mark::InlineCode));
        return found;
    };
    let read = sed_script::read(&text);
    let only_edits = |script: &Script| (script.deeds.is_empty() && !script.cuts).then(|| script.edits.clone());
    let seen = read.as_ref().ok().and_then(only_edits).filter(|_| {
        // With `-n` only what is printed stays in the file.
        !invocation.args.has_any(&["-f", "--file", "-n", "--quiet", "--silent"])
    });
    match seen {
        Some(seen) => found.sealed(edits, move |caused, world| see_edits(caused, &seen, world)),
        None => found.extend(edits),
    }
    match read {
        Ok(script) => script.deeds.into_iter().for_each(|deed| find_deed(&mut found, deed)),
        Err(because) => found.doubt(Degree::Opaque, format!("the script of `{}`: {because}", invocation.by.name)),
    }
    found
}

/// Where the old text is kept, if a suffix says so.
fn kept(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let suffixes =
        invocation.args.given.iter().filter(|given| matches!(given.name.as_str(), "-i" | "-I" | "--in-place"));
    for suffix in suffixes.filter_map(|given| given.value.as_ref()) {
        let files: Vec<Field> = invocation
            .args
            .operands
            .iter()
            .zip(&invocation.roles)
            .filter(|(_, role)| **role == Role::Edit)
            .map(|(file, _)| file.clone())
            .collect();
        match suffix.exact() {
            Some(text) if !is_elsewhere(text) => found.extend(backups(&files, text)),
            Some(_) | None => {
                let because = format!("where `{}` keeps the old text (`{}`)", invocation.by.name, suffix.shown());
                found.doubt(Degree::Opaque, because);
            }
        }
    }
    found
}

fn find_deed(found: &mut Findings, deed: Deed) {
    let field = |text: String| Field::literal(text, doorward_shell::Span::default());
    match deed {
        Deed::Reads(file) | Deed::Writes(file)
            if matches!(file.as_str(), "/dev/stdin" | "/dev/stdout" | "/dev/stderr") => {}
        Deed::Reads(file) => found.read(Touch::Read, field(file)),
        Deed::Writes(file) => found.write(Touch::Write, field(file)),
        Deed::Runs(command) => found.start(field(command)),
        Deed::RunsInput => found.run_input(),
    }
}

/// `sed -i '' script file`: on some systems the suffix is a word of its own.
fn empty_suffix(invocation: &mut Invocation) {
    let bare =
        invocation.args.given.iter().any(|given| matches!(given.name.as_str(), "-i" | "-I") && given.value.is_none());
    let operands = &mut invocation.args.operands;
    if bare && operands.len() > 1 && operands.first().is_some_and(|first| first.exact() == Some("")) {
        operands.remove(0);
        invocation.roles.pop();
        if has_script_flag(invocation)
            && let Some(first) = invocation.roles.first_mut()
        {
            *first = Role::Edit;
        }
    }
}

fn has_script_flag(invocation: &Invocation) -> bool {
    invocation.args.has_any(&["-e", "--expression", "-f", "--file"])
}

fn scripts(invocation: &Invocation) -> Vec<Field> {
    if has_script_flag(invocation) {
        let given = invocation.args.given.iter().filter(|given| matches!(given.name.as_str(), "-e" | "--expression"));
        return given.filter_map(|given| given.value.clone()).collect();
    }
    invocation.operand(0).cloned().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const SED: &str = "name = 'sed'\nwhat = 'x'\ngrammar = 'sed'\noperands = ['text unless -e -f --expression --file', 'read*']\n[flags]\nplain = '-n -E -r -s -u -z'\n'-e --expression' = 'text'\n'-f --file' = 'script'\n'-i -I --in-place' = '?text operands=edit'";

    #[test]
    fn printing_and_editing() {
        check(
            &[SED],
            &[
                ("sed -n '1,5p' notes.txt", "full", "read notes.txt"),
                ("sed -ne 's/a/b/p' -e '$p' a b", "full", "read a; read b"),
                ("cat a | sed 's|x|y|g; /^#/d'", "full", "read a"),
                ("sed -i.bak 's/a/b/' src/lib.rs", "full", "write src/lib.rs.bak; write src/lib.rs =tracked"),
                ("sed -i'.git/hooks/*' 's/a/b/' src/lib.rs", "opaque", "write src/lib.rs"),
                ("sed -i '' 's/a/b/' src/lib.rs", "full", "write src/lib.rs"),
                ("sed -i '' -e 's/a/b/' src/lib.rs", "full", "write src/lib.rs"),
                ("sed --in-place -E 's/(a)/\\1/' x", "full", "write x"),
            ],
        );
    }

    #[test]
    fn scripts_that_reach_further() {
        check(
            &[SED],
            &[
                ("sed 'w out.txt' notes.txt", "full", "read notes.txt; write out.txt"),
                ("sed 's/a/b/w /etc/x' notes.txt", "full", "read notes.txt; write /etc/x"),
                (
                    "sed '1e rm -r build' notes.txt",
                    "unknown",
                    "read notes.txt; execute something unknown +inline-code; delete build",
                ),
                ("echo id | sed 's/^/x/e'", "opaque", "execute something unknown +shell-code"),
                ("sed -e p -e 's/.*/x/e' notes.txt", "opaque", "read notes.txt; execute something unknown"),
                ("sed \"s/x/$Y/\" notes.txt", "opaque", "read notes.txt; execute something unknown"),
                ("sed -n '1!G;h;$p' -- -i f", "full", "read -i; read f"),
                ("sed 'r .env' notes.txt", "full", "read notes.txt; read .env"),
                ("sed 's/a/b' notes.txt", "opaque", "read notes.txt"),
            ],
        );
    }
}
