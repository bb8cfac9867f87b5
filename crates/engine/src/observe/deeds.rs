//! The deeds of a contained run as facts: what happened is judged like what a call says it will do.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::files::write_tool;
use super::paths::touch::Touch;
use super::sheet::observer::{By, Observer};
use crate::call::ToolCall;
use crate::contained::{Contained, Deed, DeedKind};
use crate::facts::Facts;
use crate::path::{join, parent, under};
use crate::world::World;

/// Bits of a mode that give whoever runs the file the rights of its owner or group.
const SET_ID: u32 = 0o6000;
const WRITABLE_BY_ALL: u32 = 0o002;

/// The facts of a call once it has run in a box. Its words stay those of the call, so permission patterns and the user's
/// words count as before; its effects are what happened.
pub fn observe_deeds(call: &ToolCall, said: &Facts, (deeds, run): (&[Deed], Contained), world: &dyn World) -> Facts {
    let mut out = Observer::new(world);
    for deed in deeds {
        note(&mut out, deed);
    }
    let mut found = out.finish();
    found.commands.clone_from(&said.commands);
    found.directories.clone_from(&said.directories);
    Facts { contained: Some(run), ..super::facts(call, said.subject.clone(), found, world) }
}

fn note(out: &mut Observer<'_>, deed: &Deed) {
    let (path, by) = (deed.path.as_str(), By::default());
    match &deed.kind {
        DeedKind::Written(Some(text)) => write_tool(out, path, text, "/"),
        DeedKind::Written(None) => {
            out.touch_path(Touch::Write, path, &by, Marks::default());
            out.arrivals.push(path.to_owned());
        }
        DeedKind::Deleted => {
            out.touch_path(Touch::Delete, path, &by, Marks::default());
        }
        DeedKind::DirectoryMade => {
            out.touch_path(Touch::Create, path, &by, Marks::default());
        }
        // Its files are deeds of their own; an empty directory is no loss.
        DeedKind::DirectoryRemoved => {
            out.touch_path(Touch::Create, path, &by, Marks::default());
        }
        DeedKind::DirectoryReplaced => {
            out.touch_path(Touch::DeleteTree, path, &by, Marks::default());
        }
        DeedKind::Mode(mode) => {
            out.touch_path(Touch::Metadata, path, &by, of_mode(*mode));
        }
        DeedKind::Linked(to) => link(out, path, to),
        DeedKind::HardLinked => {
            out.touch_path(Touch::Write, path, &by, Marks::default().with(Mark::HardLinked));
            out.lower(Degree::Opaque, format!("a second name for another file, `{path}`"));
        }
        DeedKind::Attribute => {
            out.touch_path(Touch::Metadata, path, &by, Marks::default());
            out.lower(Degree::Opaque, format!("extended attributes of `{path}`"));
        }
        DeedKind::Special => {
            out.unknown(Operation::Write, &by, Marks::default().with(Mark::Device));
            out.lower(Degree::Opaque, format!("a device, pipe or socket, `{path}`"));
        }
    }
}

fn of_mode(mode: u32) -> Marks {
    let mut marks = Marks::default().with(Mark::PermissionChange);
    if mode & SET_ID != 0 {
        marks.add(Mark::SetUid);
    }
    if mode & WRITABLE_BY_ALL != 0 {
        marks.add(Mark::OpenToAll);
    }
    marks
}

/// A link counts as a file; one that leads out of the project could carry later calls somewhere else.
fn link(out: &mut Observer<'_>, path: &str, to: &str) {
    out.touch_path(Touch::Create, path, &By::default(), Marks::default());
    let leads = join(parent(path), to);
    if !out.world.project().is_some_and(|project| under(&crate::path::lexical(&leads), project)) {
        out.lower(Degree::Opaque, format!("a link that leads out of the project, `{path}`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DescribedWorld, Description, Policy, Verdict, judge, observe};

    /// The verdict about a command that did this, and the text of its reasons.
    fn check(deeds: &[Deed], run: Contained) -> (Verdict, String) {
        let description: Description =
            serde_json::from_str(include_str!("../../../../corpus/world.json")).unwrap_or_default();
        let world = DescribedWorld::new(description, "/home/dev/project");
        let call = ToolCall::bash("./tool-nobody-knows", "/home/dev/project");
        let said = observe(&call, &world);
        let judgement = judge(&observe_deeds(&call, &said, (deeds, run), &world), &Policy::built_in());
        let reasons: Vec<_> = judgement.reasons().map(|opinion| opinion.because.clone()).collect();
        (judgement.verdict, reasons.join("; "))
    }

    fn written(path: &str, text: &str) -> Deed {
        Deed { path: path.to_owned(), kind: DeedKind::Written(Some(text.to_owned())) }
    }

    fn deed(path: &str, kind: DeedKind) -> Deed {
        Deed { path: path.to_owned(), kind }
    }

    #[test]
    fn a_run_without_deeds_and_plain_edits_are_approved() {
        for deeds in [
            vec![],
            vec![written("/home/dev/project/src/a.rs", "fn main() {}\n")],
            vec![written("/home/dev/project/notes.md", "done\n"), written("/home/dev/project/docs/b.md", "x\n")],
        ] {
            let (verdict, because) = check(&deeds, Contained::default());
            assert_eq!(verdict, Verdict::AutoApprove, "{deeds:?}: {because}");
        }
    }

    #[test]
    fn deeds_are_judged_like_calls() {
        let key = "AKIAQ7XBN2M4PLKTR8VZ";
        for deeds in [
            vec![written("/home/dev/.bashrc", "alias ls=x\n")],
            vec![written("/home/dev/project/.git/hooks/pre-commit", "#!/bin/sh\n")],
            vec![written("/home/dev/project/.claude/settings.json", "{}")],
            vec![written("/home/dev/project/.github/workflows/ci.yml", "on: push\n")],
            vec![written("/home/dev/project/src/a.rs", &format!("const KEY: &str = \"{key}\";\n"))],
            vec![deed("/home/dev/project/x", DeedKind::Linked("/home/dev/.aws".into()))],
            vec![deed("/home/dev/project/x", DeedKind::Special)],
            vec![deed("/home/dev/project/x", DeedKind::Mode(0o4755))],
            vec![deed("/home/dev/project/x", DeedKind::HardLinked)],
            vec![deed("/home/dev/other/notes.txt", DeedKind::Deleted)],
            (0..40).map(|n| deed(&format!("/home/dev/project/src/f{n}.rs"), DeedKind::Deleted)).collect(),
        ] {
            let (verdict, because) = check(&deeds, Contained::default());
            assert_ne!(verdict, Verdict::AutoApprove, "{deeds:?}: {because}");
        }
    }

    #[test]
    fn a_run_that_went_differently_in_the_box_is_no_answer() {
        for run in [
            Contained { wanted_network: true, ..Contained::default() },
            Contained { cut_off: Some("more than 60 seconds".into()), ..Contained::default() },
        ] {
            assert_eq!(check(&[], run).0, Verdict::Confirm);
        }
    }
}
