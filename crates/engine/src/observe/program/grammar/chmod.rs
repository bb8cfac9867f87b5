//! `chmod`: modes that open a file to everybody or lend its owner's rights.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::super::Invocation;
use crate::observe::field::Field;
use crate::observe::program::findings::Findings;

pub(super) fn chmod(invocation: &mut Invocation) -> Findings {
    invocation.done = true;
    let (mut found, mut words) = (Findings::default(), Findings::default());
    words.flag_values();
    words.operands();
    let mode = invocation.operand(0).filter(|_| !invocation.args.has("--reference")).map(Field::exact);
    let mut marks = Marks::default().with(Mark::PermissionChange);
    let mut keeps = false;
    if let Some(Some(mode)) = mode {
        marks.union(mode_marks(mode));
        keeps = keeps_owner(mode) && !invocation.args.has_any(&["-R", "--recursive"]);
    }
    found.sealed(words, move |caused, _| {
        for effect in caused.iter_mut().filter(|effect| effect.operation != Operation::Read) {
            effect.marks.union(marks);
            if keeps {
                effect.marks.remove(Mark::LocksOut);
            }
        }
    });
    if mode == Some(None) {
        found.doubt(Degree::Opaque, "the mode that is set");
    }
    found
}

/// The owner of a directory can still do everything in it, and nobody else more than look.
fn keeps_owner(mode: &str) -> bool {
    match u32::from_str_radix(mode, 8) {
        Ok(bits) => bits & 0o700 == 0o700 && bits & 0o022 == 0,
        Err(_) => mode.split(',').all(|clause| {
            let (who, rest) = clause.split_at(clause.find(['+', '-', '=']).unwrap_or(0));
            let takes = rest.contains(['-', '=']);
            // Taking from others, or letting somebody look.
            (takes && !who.is_empty() && !who.contains(['u', 'a'])) && !rest.contains('w')
                || (takes
                    && who.chars().all(|letter| matches!(letter, 'g' | 'o'))
                    && !who.is_empty()
                    && rest.starts_with('-'))
                || (!takes && !rest.contains(['w', 's', 't']))
        }),
    }
}

/// What a mode lets others do.
fn mode_marks(mode: &str) -> Marks {
    let mut marks = Marks::default();
    if let Ok(bits) = u32::from_str_radix(mode, 8) {
        if bits & 0o002 != 0 {
            marks.add(Mark::OpenToAll);
        }
        if bits & 0o6000 != 0 {
            marks.add(Mark::SetUid);
        }
        return marks;
    }
    for clause in mode.split(',') {
        let who: String = clause.chars().take_while(|letter| "ugoa".contains(*letter)).collect();
        let Some(rest) = clause.get(who.len()..) else { continue };
        for action in rest.split_inclusive(['+', '-', '=']).zip(rest.split(['+', '-', '=']).skip(1)) {
            let (operator, what) = action;
            if operator.ends_with('-') {
                continue;
            }
            if what.contains('w') && (who.contains('o') || who.contains('a')) {
                marks.add(Mark::OpenToAll);
            }
            if what.contains('s') && (who.is_empty() || who.contains(['u', 'g', 'a'])) {
                marks.add(Mark::SetUid);
            }
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::super::check::check;
    use super::mode_marks;

    const CHMOD: &str = "name = 'chmod'\nwhat = 'x'\ngrammar = 'chmod'\noperands = ['data unless --reference', 'metadata*']\n[flags]\nplain = '-v'\n'-R' = 'operands=metadata-tree'";

    #[test]
    fn modes() {
        for (mode, marks) in [
            ("+x", "[]"),
            ("755", "[]"),
            ("u+x", "[]"),
            ("a-w", "[]"),
            ("go-rwx", "[]"),
            ("777", "[\"open-to-all\"]"),
            ("o+w", "[\"open-to-all\"]"),
            ("a=rw", "[\"open-to-all\"]"),
            ("ug+x,o=rw", "[\"open-to-all\"]"),
            ("4755", "[\"set-uid\"]"),
            ("u+s", "[\"set-uid\"]"),
            ("+s", "[\"set-uid\"]"),
            ("0666", "[\"open-to-all\"]"),
            ("u-s", "[]"),
            ("o-r+w", "[\"open-to-all\"]"),
        ] {
            assert_eq!(format!("{:?}", mode_marks(mode)), marks, "{mode}");
        }
    }

    #[test]
    fn paths() {
        check(
            &[CHMOD],
            &[
                ("chmod +x run.sh", "full", "write run.sh +permission-change"),
                ("chmod -x run.sh", "full", "write run.sh"),
                ("chmod -R 777 out", "full", "write out +open-to-all +recursive"),
                ("chmod $MODE run.sh", "opaque", "write run.sh"),
            ],
        );
    }
}
