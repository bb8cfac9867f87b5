//! Which files of a tree a command goes through, and what of them it shows.

use super::globs::matches_any;
use super::required::Required;
use crate::path;
use crate::world::{Content, Tracking};

/// Which files come out of a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweep {
    /// Only files with such a name; all of them if there is none.
    pub picks: Vec<String>,
    /// Files and directories of such names are left out.
    pub leaves: Vec<String>,
    /// Hidden names are left out.
    pub is_shy: bool,
    /// What git ignores is left out.
    pub is_ignoring: bool,
    /// Text that a file must hold.
    pub required: Option<Required>,
    /// Nothing but names or numbers comes out.
    pub keeps_secrets: bool,
    /// Each file arrives elsewhere under a name that still says what it is.
    pub is_copy: bool,
    /// Binary files are shown as well.
    pub is_binary: bool,
}

impl Sweep {
    /// The file is one of those that the command goes through when it begins at `root`.
    pub(crate) fn reaches(&self, root: &str, file: &str) -> bool {
        let inner = file.strip_prefix(root).unwrap_or(file).trim_start_matches('/');
        let mut names = inner.split('/');
        let is_left = |name: &str| {
            (self.is_shy && name.starts_with('.')) || self.leaves.iter().any(|pattern| matches_any(pattern, name))
        };
        let last = path::name(inner).to_ascii_lowercase();
        let is_picked = self.picks.is_empty() || self.picks.iter().any(|pattern| matches_any(pattern, &last));
        is_picked && !names.any(is_left)
    }

    pub(crate) fn shows_secrets(&self) -> bool {
        !self.keeps_secrets && !self.is_copy
    }

    /// The same files, of which each is shown.
    pub(crate) fn shown(self) -> Sweep {
        Sweep { is_copy: false, ..self }
    }

    pub(crate) fn copies(&self) -> bool {
        self.is_copy
    }

    pub(crate) fn is_ignoring(&self) -> bool {
        self.is_ignoring
    }

    pub(crate) fn is_ignored(&self, tracking: Tracking) -> bool {
        match tracking {
            Tracking::Ignored | Tracking::Rebuildable => true,
            Tracking::Clean | Tracking::Modified | Tracking::Untracked | Tracking::Outside | Tracking::Unknown => false,
        }
    }

    /// Some line of a file with this content may come out.
    pub(crate) fn finds(&self, content: &Content) -> bool {
        match (content, &self.required) {
            (_, None) => true,
            (Content::Text(text), Some(required)) => required.may_match(text),
            (Content::NotText, Some(_)) => self.is_binary,
            (Content::Missing, Some(_)) => false,
            (Content::TooLong | Content::Unreadable | Content::Unlisted, Some(_)) => true,
        }
    }

    /// A pattern for paths picks at least what its last part picks.
    pub(crate) fn pick(&mut self, pattern: &str) {
        let last = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let is_open = last.contains(['{', '\\']) || pattern.ends_with('/');
        self.picks.push(if is_open { "*".to_owned() } else { last.to_ascii_lowercase() });
    }
}
