//! What is known about data while it moves between commands.

/// Where data may come from. Each flag only ever raises what a consumer is suspected of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// It may hold a secret.
    pub secret: bool,
    /// It came over the network.
    pub download: bool,
    /// It lists the environment.
    pub environment: bool,
    /// It has no end.
    pub endless: bool,
    /// Git, a patch or an archive put it there, and nobody has read it.
    pub brought: bool,
}

impl Origin {
    #[must_use]
    pub(super) fn and(self, other: Origin) -> Origin {
        Origin {
            secret: self.secret || other.secret,
            download: self.download || other.download,
            environment: self.environment || other.environment,
            endless: self.endless || other.endless,
            brought: self.brought || other.brought,
        }
    }
}

/// What an unknown text can look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// Anything, also several words or a flag.
    #[default]
    Any,
    /// Any text, but it begins with a known character, so it is no flag as long as it is not split.
    Begun,
    /// One plain word that is no flag and no path: a number, a hash, a date, a branch.
    Token,
    /// The number of a process that this call started in the background.
    OwnJob,
    /// Names inside the current project, which may look like flags.
    ProjectNames,
    /// Paths inside the current project, never flags.
    ProjectPaths,
    /// One of the paths inside the current project that a pattern of this call stands for, never a flag.
    Matched,
    /// A path below the directory that the text before it names.
    Below,
    /// An absolute path where a tool chain keeps something, or below it.
    Place,
}

/// The output of a command, or the value of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stream {
    /// The exact text, if it is known.
    pub text: Option<String>,
    pub shape: Shape,
    pub origin: Origin,
    /// It is what these files hold, one after the other.
    pub files: Option<std::rc::Rc<[FileText]>>,
}

/// A file whose content is a part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileText {
    pub path: String,
    /// What this call wrote into it before; otherwise the world says what it holds.
    pub written: Option<String>,
}

impl Shape {
    /// An argument of this shape may be a flag.
    pub(super) fn may_be_flag(self) -> bool {
        match self {
            Shape::Any | Shape::ProjectNames => true,
            Shape::Begun
            | Shape::Token
            | Shape::OwnJob
            | Shape::ProjectPaths
            | Shape::Matched
            | Shape::Below
            | Shape::Place => false,
        }
    }

    /// It is one word wherever it stands.
    pub(super) fn is_one_word(self) -> bool {
        match self {
            Shape::Token | Shape::OwnJob => true,
            Shape::Any
            | Shape::Begun
            | Shape::ProjectNames
            | Shape::ProjectPaths
            | Shape::Matched
            | Shape::Below
            | Shape::Place => false,
        }
    }
}

impl Stream {
    /// Nothing at all.
    pub(super) fn empty() -> Stream {
        Stream::known("")
    }

    pub(super) fn known(text: impl Into<String>) -> Stream {
        Stream { text: Some(text.into()), ..Stream::default() }
    }

    pub(super) fn unknown(origin: Origin) -> Stream {
        Stream { origin, ..Stream::default() }
    }

    pub(super) fn shaped(shape: Shape) -> Stream {
        Stream { shape, ..Stream::default() }
    }

    /// A number, or another plain word.
    pub(super) fn is_number(&self) -> bool {
        match &self.text {
            Some(text) => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
            None => self.shape == Shape::Token,
        }
    }

    /// What one or the other prints.
    #[must_use]
    pub(super) fn or(self, other: &Stream) -> Stream {
        if self == *other { self } else { Stream::unknown(self.origin.and(other.origin)) }
    }

    /// What two commands print one after the other.
    #[must_use]
    pub(super) fn then(mut self, next: Stream) -> Stream {
        self.origin = self.origin.and(next.origin);
        let (nothing, nothing_more) = (self.text.as_deref() == Some(""), next.text.as_deref() == Some(""));
        self.shape = match (nothing, nothing_more) {
            (true, _) => next.shape,
            (false, true) => self.shape,
            (false, false) if self.shape == next.shape => self.shape,
            (false, false) => Shape::Any,
        };
        self.files = match (nothing, nothing_more) {
            (true, _) => next.files,
            (false, true) => self.files,
            (false, false) => None,
        };
        self.text = match (self.text.take(), next.text) {
            (Some(mut first), Some(second)) if first.len() + second.len() <= TEXT_LIMIT => {
                first.push_str(&second);
                Some(first)
            }
            (Some(_) | None, Some(_) | None) => None,
        };
        self
    }
}

/// Longer texts are not followed through variables and pipes.
// Text is copied with every state of the shell. A longer one counts as unknown, which only asks more.
pub(super) const TEXT_LIMIT: usize = 256 * 1024;
