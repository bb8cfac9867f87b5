//! Orders to delete or change files that are named.

use doorward_vocabulary::{Mark, Operation};

use super::{inside, is_same_noun, only};
use crate::effect::Effect;
use crate::intent::Subject;
use crate::intent::boundary::names_file;
use crate::intent::prose::Word;

/// What a thing is, where its name says which.
// `the file notes.txt`: the noun repeats what the name already says.
const KINDS: &[&str] = &["file", "files", "folder", "folders", "directory", "directories", "dir", "under", "inside"];

/// `delete the old fixtures`: each word is a part of the path, in full or but for a plural.
pub(super) fn is_deleted(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    let allowed = [
        Mark::Recursive,
        Mark::CountUnknown,
        Mark::Force,
        Mark::Manifest,
        Mark::Lockfile,
        Mark::Ci,
        Mark::Container,
        Mark::Infrastructure,
        Mark::SessionFile,
    ];
    if !matches!(verb, "delete" | "remove" | "rm" | "erase") || effect.operation != Operation::Delete {
        return false;
    }
    let Some(inner) = inside(effect, subject).filter(|_| only(effect, &allowed)) else { return false };
    let pieces = pieces(&inner);
    let is_part = |word: &&&Word| {
        let text = word.text.trim_matches('/').trim_start_matches("./");
        inner == text || under(&inner, text) || pieces.iter().any(|piece| is_same_noun(piece, text))
    };
    let is_kind = |word: &&&Word| !word.is_quoted && KINDS.contains(&word.text.as_str());
    words.iter().all(|word| is_part(&word) || is_kind(&word)) && words.iter().any(|word| is_part(&word))
}

/// `update Cargo.toml`, `bump the version in package.json`: the one file is named in full.
pub(super) fn is_changed(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Verbs that ask for a change to a file. `fix` and `refactor` are missing: they do not say which file.
    const VERBS: &[&str] =
        &["edit", "change", "update", "modify", "rewrite", "create", "write", "bump", "adjust", "extend", "overwrite"];
    let allowed = [
        Mark::Manifest,
        Mark::Lockfile,
        Mark::Ci,
        Mark::Container,
        Mark::Infrastructure,
        Mark::InstructionFile,
        Mark::Creates,
        Mark::Truncates,
        Mark::Unseen,
        Mark::SessionFile,
    ];
    if !VERBS.contains(&verb) || effect.operation != Operation::Write || !only(effect, &allowed) {
        return false;
    }
    let Some(inner) = inside(effect, subject) else { return false };
    let looks_like_file = |word: &&&Word| word.is_quoted || names_file(word);
    let mut files = words.iter().filter(looks_like_file);
    let (Some(file), None) = (files.next(), files.next()) else { return false };
    let text = file.text.trim_start_matches("./");
    inner == text || inner.rsplit('/').next() == Some(text)
}

fn under(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// `tests/fixtures/old-user.json` → tests, fixtures, old-user.json, old, user, json.
fn pieces(path: &str) -> Vec<&str> {
    let mut pieces: Vec<&str> = path.split('/').collect();
    pieces.extend(path.split(['/', '-', '_', '.', ' ']).filter(|piece| !piece.is_empty()));
    pieces
}
