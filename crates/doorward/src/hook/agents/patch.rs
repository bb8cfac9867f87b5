//! The patch format of `apply_patch`: which files it adds, updates, deletes and moves, and with what.
//!
//! Anything the tool itself could take for a file header counts as one, so no touched file is missed; a line that does not
//! belong in a patch makes the whole patch unreadable.

use doorward_engine::{Change, ChangeKind};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// The changes that a patch makes.
pub(super) fn changes(patch: &str) -> Result<Vec<Change>, String> {
    let mut lines = unwrapped(patch.trim())?.lines();
    if lines.next().map(str::trim) != Some(BEGIN) {
        return Err("the patch does not start with `*** Begin Patch`".into());
    }
    let mut files: Vec<Change> = Vec::new();
    for line in lines.by_ref() {
        if line.trim() == END {
            return if lines.all(|line| line.trim().is_empty()) {
                done(files)
            } else {
                Err("text follows the patch".into())
            };
        }
        read_line(line, &mut files)?;
    }
    Err("the patch has no end".into())
}

/// A patch may come in its own here-document.
fn unwrapped(patch: &str) -> Result<&str, String> {
    if !patch.starts_with("<<") {
        return Ok(patch);
    }
    let body = ["<<EOF\n", "<<'EOF'\n", "<<\"EOF\"\n"].iter().find_map(|opening| patch.strip_prefix(opening));
    body.and_then(|body| body.strip_suffix("\nEOF")).ok_or_else(|| "the here-document can't be read".into())
}

fn read_line(line: &str, files: &mut Vec<Change>) -> Result<(), String> {
    if let Some(added) = line.strip_prefix('+') {
        return append(&mut files.last_mut().ok_or("a line comes before any file")?.new, added);
    }
    if let Some(removed) = line.strip_prefix('-') {
        return append(&mut files.last_mut().ok_or("a line comes before any file")?.old, removed);
    }
    let text = line.trim();
    if let Some(new) = text.strip_prefix("*** Move to:") {
        return move_last(path(new)?, files);
    }
    for (header, kind) in [
        ("*** Add File:", ChangeKind::Create),
        ("*** Delete File:", ChangeKind::Delete),
        ("*** Update File:", ChangeKind::Update),
    ] {
        if let Some(name) = text.strip_prefix(header) {
            files.push(Change { path: path(name)?, kind, old: String::new(), new: String::new() });
            return Ok(());
        }
    }
    let is_context = line.is_empty() || line.starts_with(' ') || line.starts_with("@@") || text == "*** End of File";
    if is_context { Ok(()) } else { Err(format!("`{text}` has no known meaning in a patch")) }
}

fn append(text: &mut String, line: &str) -> Result<(), String> {
    text.push_str(line);
    text.push('\n');
    Ok(())
}

fn path(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a file has no name".into()),
        path => Ok(path.to_owned()),
    }
}

/// The old name is removed, and everything that follows is about the new one.
fn move_last(new: String, files: &mut Vec<Change>) -> Result<(), String> {
    let last = files.last_mut().ok_or("a new name comes before any file")?;
    last.kind = ChangeKind::Delete;
    files.push(Change { path: new, kind: ChangeKind::Move, old: String::new(), new: String::new() });
    Ok(())
}

fn done(files: Vec<Change>) -> Result<Vec<Change>, String> {
    if files.is_empty() { Err("the patch changes nothing".into()) } else { Ok(files) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(patch: &str) -> Result<Vec<(String, ChangeKind, String, String)>, String> {
        Ok(changes(patch)?.into_iter().map(|file| (file.path, file.kind, file.old, file.new)).collect())
    }

    fn file(path: &str, kind: ChangeKind, old: &str, new: &str) -> (String, ChangeKind, String, String) {
        (path.into(), kind, old.into(), new.into())
    }

    #[test]
    fn every_file_of_a_patch_is_found() {
        let patch = "*** Begin Patch\n*** Add File: a b.txt\n+one\n+*** Delete File: no\n*** Update File: src/x.rs\n*** Move to: src/y.rs\n@@ fn x\n keep\n-old\n+new\n*** End of File\n*** Delete File: gone\n*** End Patch\n";
        assert_eq!(
            read(patch).unwrap(),
            [
                file("a b.txt", ChangeKind::Create, "", "one\n*** Delete File: no\n"),
                file("src/x.rs", ChangeKind::Delete, "", ""),
                file("src/y.rs", ChangeKind::Move, "old\n", "new\n"),
                file("gone", ChangeKind::Delete, "", ""),
            ]
        );
        assert_eq!(read(&format!("<<'EOF'\n{patch}EOF")).unwrap().len(), 4);
    }

    #[test]
    fn a_header_is_found_behind_spaces() {
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n x\n  *** Delete File: /etc/passwd\n *** End Patch";
        assert!(read(patch).unwrap().contains(&file("/etc/passwd", ChangeKind::Delete, "", "")));
    }

    #[test]
    fn what_is_no_patch_is_an_error() {
        for patch in [
            "",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+x",
            "*** Begin Patch\n+x\n*** End Patch",
            "*** Begin Patch\n*** Add File:\n*** End Patch",
            "*** Begin Patch\n*** Link File: a\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nrm -rf /",
            "*** Begin Patch\n*** Move to: a\n*** End Patch",
            "<<X\n*** Begin Patch\n*** Add File: a\n*** End Patch\nX",
        ] {
            assert!(changes(patch).is_err(), "{patch}");
        }
    }
}
