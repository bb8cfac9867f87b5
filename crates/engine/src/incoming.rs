//! What a git command would put into the work tree: the question that the engine asks, and the world's answer.

/// Where a git command takes the files from that it writes. Names are those of git: `main`, `HEAD~2`, `stash@{0}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GitSource {
    /// What is staged.
    Index,
    /// What is staged, as far as it is not left out of the work tree.
    Sparse,
    /// The whole tree of a commit; a branch is preferred to a tag of the same name.
    Tree(String),
    /// A whole tree, put somewhere else than where it lies in the repository.
    Subtree(String),
    /// What another line of commits changed since it left the current one.
    Side(String),
    /// What one commit changed, or the commits of a range.
    Change(String),
    /// The same turned round.
    Undo(String),
    /// What was put aside.
    Stash(String),
    /// Any commit between a bad one and the good ones.
    Bisect(Vec<String>),
    /// It cannot be said which.
    Unknown,
}

/// A git command that writes files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitWrite {
    /// Where the command runs.
    pub directory: String,
    pub source: GitSource,
    /// Absolute paths that it is limited to, or what lies above the wildcard of one; none for everything.
    pub paths: Vec<String>,
    /// Another place than the work tree: a new work tree, a prefix.
    pub into: Option<String>,
}

/// What a git command prints the changes of, by git's names for commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Each of these, against all of its parents.
    Commits(Vec<String>),
    /// The first so many commits of a line without merges.
    Line(String, usize),
    /// From one to the other.
    Between(String, String),
    /// From where both parted to the second one.
    Since(String, String),
}

/// How the new content of a file stands to what a person trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The bytes that the file had when the project was trusted, or had in this work tree since.
    Known,
    /// An older version, from the history that the project was trusted with.
    Older,
    /// Nobody has seen it here.
    New,
}

/// A file that a git command would write or take away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// Absolute.
    pub path: String,
    /// `None` if the file would be gone.
    pub becomes: Option<Becomes>,
    pub standing: Standing,
}

/// What is there afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Becomes {
    Text(String),
    /// A link, with where it leads.
    Link(String),
    /// Another repository, at a commit of its own.
    Repository,
    /// Too long, not text, or not looked at.
    Unseen,
}

/// The world's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// Exactly these files would be others than now; files that nothing loads by itself may be left out for
    /// [`GitSource::Index`].
    Files(Vec<Incoming>),
    /// There is no such commit, branch or stash.
    Nameless,
    /// It could not be found out, for this reason.
    Unread(String),
    /// The world does not describe what its branches hold.
    Undescribed,
}

/// Something that came into the project and that nobody has trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A repository of its own below this directory, and no submodule at its recorded commit.
    Repository(String),
    /// Git, a patch, an archive or a download put it there: the file, or the directory above it.
    Brought(String),
}

impl Arrival {
    /// The file or directory that came.
    pub fn place(&self) -> &str {
        match self {
            Arrival::Repository(place) | Arrival::Brought(place) => place,
        }
    }
}
