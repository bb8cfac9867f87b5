//! File tools: reads, searches, writes and edits, judged like their shell counterparts, plus what enters a file.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::field::Field;
use super::paths::touch::Touch;
use super::sheet::observer::{By, Observer};
use crate::call::{Change, ChangeKind};
use crate::certificate_checks;
use crate::observe::content;
use crate::observe::hidden::note_hidden;
use crate::world::{Content, World};

/// The read tool.
pub(super) fn read_tool(out: &mut Observer<'_>, path: &str, cwd: &str) {
    let ((), mut caused) = out.collect(|out| tool_path(out, Touch::Read, path, cwd));
    caused.read_whole(out.world);
    out.write(caused);
}

/// The search tool: everything below the path is read.
pub(super) fn search_tool(out: &mut Observer<'_>, path: Option<&str>, files: Option<&str>, cwd: &str) {
    tool_path(out, Touch::ReadTree, path.filter(|path| !path.is_empty()).unwrap_or(cwd), cwd);
    if files.is_some_and(|files| crate::observe::paths::globs::picks_sensitive(files, cwd, out.world)) {
        out.lower(Degree::Opaque, "a search through files named like secrets");
    }
}

/// How much of a file that is replaced is read, to tell what is new in it.
// Sources are smaller; a longer file counts as one that had nothing of the kind, which asks.
const REPLACED: usize = 256 * 1024;

/// The write tool.
pub(super) fn write_tool(out: &mut Observer<'_>, path: &str, text: &str, cwd: &str) {
    let ((), mut caused) = out.collect(|out| tool_path(out, Touch::Write, path, cwd));
    caused.enter(path, text);
    let full = crate::path::join(cwd, path);
    caused.replace(&full, text, out.world, || replaced(out.world, &full));
    out.write(caused);
}

/// What a command puts into a file weakens what the same text weakens in the hands of the write tool.
pub(super) fn note_weakening(out: &mut Observer<'_>, path: &str, text: &str) {
    let found = content::weakens(path, text, out.world, || replaced(out.world, path));
    if found.is_empty() {
        return;
    }
    let (_, mut caused) = out.collect(|out| out.touch_path(Touch::Write, path, &By::default(), found));
    caused.remove(Mark::Unseen);
    out.write(caused);
}

/// The text that is there before the call.
fn replaced(world: &dyn World, path: &str) -> Option<String> {
    match world.content(path, REPLACED) {
        Content::Text(text) => Some(text),
        Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted => None,
    }
}

/// The edit tools.
pub(super) fn edit_tool(out: &mut Observer<'_>, changes: &[Change], cwd: &str) {
    if changes.is_empty() {
        out.lower(Degree::Opaque, "an edit that names no file");
    }
    for change in changes {
        let touch = match change.kind {
            ChangeKind::Create => Touch::Write,
            ChangeKind::Update => Touch::Edit,
            ChangeKind::Delete => Touch::Delete,
            ChangeKind::Move => Touch::Move,
        };
        let ((), mut caused) = out.collect(|out| tool_path(out, touch, &change.path, cwd));
        caused.enter(&change.path, &change.new);
        let full = crate::path::join(cwd, &change.path);
        caused.replace(&full, &change.new, out.world, || Some(change.old.clone()));
        // `true` becomes `false`: what that means is seen in the whole file.
        let before = replaced(out.world, &full).filter(|text| !change.old.is_empty() && text.contains(&change.old));
        let is_unseen = before.is_none() && !matches!(out.world.content(&full, REPLACED), Content::Text(_));
        if is_unseen && certificate_checks::turns_off(&full, &change.old, &change.new) {
            caused.add(Mark::TlsWeakened);
        }
        if let Some(before) = before {
            let after = before.replacen(&change.old, &change.new, 1);
            caused.replace(&full, &after, out.world, || Some(before.clone()));
        }
        out.write(caused);
    }
}

/// A path as file tools give it: a tilde stands for the home directory although no shell expands it.
fn tool_path(out: &mut Observer<'_>, touch: Touch, path: &str, cwd: &str) {
    let by = By::default();
    if path.is_empty() {
        out.lower(Degree::Opaque, "the call names no path");
        out.unknown(Operation::Write, &by, Marks::default());
        return;
    }
    note_hidden(out, path);
    let text = match (path.strip_prefix('~'), out.world.home()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            if touch != Touch::Read && touch != Touch::ReadTree {
                out.lower(Degree::Opaque, "a `~` that the tool may not expand");
            }
            format!("{home}{rest}")
        }
        (Some(_) | None, Some(_) | None) => path.to_owned(),
    };
    let field = Field::literal(text, doorward_shell::Span::default());
    out.touch(touch, &field, cwd.starts_with('/').then_some(cwd), &by);
}
