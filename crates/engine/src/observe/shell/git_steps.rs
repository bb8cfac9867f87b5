//! What earlier git commands of a call did to the names that later ones use: the world answers for the time before the call.

use std::collections::BTreeMap;

/// Names as they stand after some commands of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitSteps {
    /// Where `HEAD` is now, if it was moved there by name.
    head: Option<String>,
    /// What `-` stands for now.
    previous: Option<String>,
    /// Branches and tags that the call made, and where they begin.
    made: BTreeMap<String, String>,
    /// Where `HEAD` is depends on what happened.
    is_head_lost: bool,
    /// Commits were added on top of `HEAD`.
    has_commits: bool,
    /// Changes were put aside.
    has_stashed: bool,
    /// Refs of remotes are others than the world knows.
    has_fetched: bool,
    /// Refs, `HEAD` or the index were changed in a way that is not followed.
    is_lost: bool,
}

/// What a name means to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Name(String),
    /// A branch of the remote as it will be once it was fetched.
    Fetched(String),
    Unknown,
}

impl GitSteps {
    /// The name as the world has to be asked for it.
    pub(crate) fn name(&self, text: &str, is_of_remote: impl Fn(&str) -> bool) -> Named {
        if self.is_lost {
            return Named::Unknown;
        }
        let end = text.find(['~', '^', ':']).or_else(|| text.find("@{")).unwrap_or(text.len());
        let (base, suffix) = text.split_at_checked(end).unwrap_or((text, ""));
        if text == "-" || suffix == "@{-1}" {
            return match (&self.head, &self.previous) {
                _ if self.is_head_lost => Named::Unknown,
                (None, _) => Named::Name("-".to_owned()),
                (Some(_), Some(previous)) => Named::Name(previous.clone()),
                (Some(_), None) => Named::Unknown,
            };
        }
        if matches!(base, "HEAD" | "@" | "") {
            return match &self.head {
                // A commit more, and every step back from it leads elsewhere.
                _ if self.is_head_lost || (self.has_commits && !suffix.is_empty()) => Named::Unknown,
                Some(head) => Named::Name(format!("{head}{suffix}")),
                None => Named::Name(text.to_owned()),
            };
        }
        if let Some(start) = self.made.get(base) {
            return if self.has_commits { Named::Unknown } else { Named::Name(format!("{start}{suffix}")) };
        }
        if self.has_fetched && is_of_remote(base) {
            return if suffix.is_empty() { Named::Fetched(base.to_owned()) } else { Named::Unknown };
        }
        Named::Name(text.to_owned())
    }

    /// There may be names that the world does not know yet.
    pub(crate) fn makes_names(&self) -> bool {
        self.has_fetched || self.is_lost
    }

    /// Nothing that the world says about names is out of date.
    pub(crate) fn is_start(&self) -> bool {
        *self == GitSteps::default()
    }

    pub(crate) fn switched(&mut self, from: Option<&str>, to: String) {
        self.previous = self.head.take().or_else(|| from.map(str::to_owned)).filter(|_| !self.is_head_lost);
        self.head = Some(to);
        self.is_head_lost = false;
    }

    pub(crate) fn made(&mut self, name: String, start: String) {
        self.made.insert(name, start);
    }

    pub(crate) fn committed(&mut self) {
        self.has_commits = true;
    }

    pub(crate) fn stashed(&mut self) {
        self.has_stashed = true;
    }

    pub(crate) fn has_stashed(&self) -> bool {
        self.has_stashed
    }

    pub(crate) fn fetched(&mut self) {
        self.has_fetched = true;
    }

    pub(crate) fn lost(&mut self) {
        self.is_lost = true;
    }

    /// What may hold after either of two ways.
    pub(crate) fn join(&mut self, other: &GitSteps) {
        self.is_lost |= other.is_lost || self.made != other.made;
        self.is_head_lost |= other.is_head_lost || (&self.head, &self.previous) != (&other.head, &other.previous);
        self.has_commits |= other.has_commits;
        self.has_fetched |= other.has_fetched;
        self.has_stashed |= other.has_stashed;
    }
}
