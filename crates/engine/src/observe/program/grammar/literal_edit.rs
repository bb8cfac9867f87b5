//! Edits in place whose old and new text stand in the call: they are judged like those of the edit tool.

use doorward_vocabulary::{Mark, Operation};

use crate::effect::Target;
use crate::observe::content;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::observe::sheet::caused::Caused;
use crate::world::{Content, Kind, Tracking, World};
use crate::{certificate_checks, switched_off_tests};

/// How much of an edited file is read.
const EDITED: usize = 256 * 1024;

/// Words that a pattern may hit without naming them: what switches something on.
// A pattern such as `Tr.e` is not matched here, so the file is looked at as if it hit each of these.
const SWITCHES: &[&str] = &["True", "true", "TRUE", "yes", "on", "1", "CERT_REQUIRED"];

/// Text that takes the place of other text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Substitution {
    /// What is taken out; `None` if it is a pattern, or lines that are not named.
    old: Option<String>,
    new: String,
}

impl Substitution {
    /// As it stands in a script, with its backslashes.
    pub(super) fn new(old: &str, new: &str) -> Substitution {
        const SPECIAL: &[char] = &['.', '*', '[', ']', '^', '$', '(', ')', '+', '?', '{', '}', '|'];
        let is_plain = !unescaped_has(old, SPECIAL) && !has_class(old);
        Substitution { old: is_plain.then(|| unescape(old)), new: unescape(new) }
    }

    /// Texts as they are, without signs that mean something else.
    pub(crate) fn literal(old: Option<String>, new: String) -> Substitution {
        Substitution { old, new }
    }

    /// Text that is put in beside the rest.
    pub(super) fn insertion(text: &str) -> Substitution {
        Substitution { old: None, new: unescape(text) }
    }

    fn applied(&self, text: &str) -> String {
        match self.old.as_deref().filter(|old| !old.is_empty()) {
            Some(old) => text.replace(old, &self.new),
            None => text.to_owned(),
        }
    }
}

/// The copies of the old text that a suffix of `-i` makes beside the files.
pub(super) fn backups(files: &[Field], suffix: &str) -> Findings {
    let mut found = Findings::default();
    for file in files.iter().filter(|file| !suffix.is_empty() && file.exact().is_some()) {
        found.touch(Touch::Create, file.with_text(format!("{}{suffix}", file.text)));
    }
    found
}

/// The suffix names a place instead: `*` stands for the name of the file, `/` leads to another folder.
pub(super) fn is_elsewhere(suffix: &str) -> bool {
    suffix.contains(['/', '*'])
}

/// All that an edit puts into a file stands in the call. What was there comes back from git, if it is as committed.
pub(crate) fn see_edits(caused: &mut Caused, edits: &[Substitution], world: &dyn World) {
    let text = edits.iter().map(|edit| edit.new.as_str()).collect::<Vec<_>>().join("\n");
    for effect in caused.iter_mut() {
        let Target::Path(path) = &effect.target else { continue };
        let is_single = !effect.marks.has_any(&[Mark::CountUnknown, Mark::Wildcard, Mark::Recursive]);
        let is_file = || matches!(world.look(path).kind, Kind::File | Kind::Unlisted);
        let is_kept = || is_file() && world.tracking(path) == Tracking::Clean && world.is_committed(path);
        if effect.operation == Operation::Write && is_single && is_kept() {
            let found = content::marks(path, &text);
            let weakened = weakened(path, edits, world);
            effect.marks.remove(Mark::Unseen);
            effect.marks.union(found);
            effect.marks.union(weakened);
        }
    }
}

/// What the edits weaken in the file as a whole, and by themselves.
fn weakened(path: &str, edits: &[Substitution], world: &dyn World) -> doorward_vocabulary::Marks {
    let before = match world.content(path, EDITED) {
        Content::Text(text) => Some(text),
        Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted => None,
    };
    let mut marks = doorward_vocabulary::Marks::default();
    for edit in edits {
        marks.union(content::weakens(path, &edit.new, world, || edit.old.clone()));
        let old = edit.old.as_deref().unwrap_or_default();
        if before.is_none() && certificate_checks::turns_off(path, old, &edit.new) {
            marks.add(Mark::TlsWeakened);
        }
        // A pattern may put the mark of a test that is not run in front of one that is.
        if edit.old.is_none() && switched_off_tests::are_marked(path, &edit.new) {
            marks.add(Mark::SkipsChecks);
        }
    }
    let Some(before) = before else { return marks };
    let after = edits.iter().fold(before.clone(), |text, edit| edit.applied(&text));
    let patterns = edits.iter().filter(|edit| edit.old.is_none() && !edit.new.is_empty());
    let hit = patterns.flat_map(|edit| SWITCHES.iter().map(|word| before.replace(word, &edit.new)));
    for after in std::iter::once(after).chain(hit) {
        marks.union(content::weakens(path, &after, world, || Some(before.clone())));
    }
    marks
}

/// The text has one of these signs without a backslash before it.
fn unescaped_has(text: &str, signs: &[char]) -> bool {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            _ if signs.contains(&letter) => return true,
            _ => {}
        }
    }
    false
}

/// `\w`, `\1`, `\(`: a backslash that makes a pattern instead of hiding one.
fn has_class(text: &str) -> bool {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\'
            && letters.next().is_some_and(|next| next.is_ascii_alphanumeric() || "(){}|+?<>".contains(next))
        {
            return true;
        }
    }
    false
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(next) => plain.push(next),
                None => {}
            },
            _ => plain.push(letter),
        }
    }
    plain
}
