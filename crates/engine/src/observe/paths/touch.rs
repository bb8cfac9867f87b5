//! What a program does to a path, and what came of it.

use doorward_vocabulary::Operation;

use crate::path::Follow;

/// More files behind a pattern are not listed one by one.
// The default for how many files one call may lose (`bulk_files`). More are counted, not listed.
pub(crate) const MATCHED: usize = 20;

/// What is done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    ReadTree,
    /// Names and metadata only.
    List,
    Write,
    Append,
    /// Made if it is not there, otherwise kept.
    Create,
    Edit,
    Delete,
    DeleteTree,
    /// Vanishes here and appears elsewhere.
    Move,
    Metadata,
    MetadataTree,
    Upload,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// The resolved path, if it is known.
    pub path: Option<String>,
    pub sensitive: bool,
}

impl Touch {
    pub(crate) fn operation(self) -> Operation {
        match self {
            Touch::Read | Touch::ReadTree | Touch::List | Touch::Upload => Operation::Read,
            Touch::Write
            | Touch::Append
            | Touch::Create
            | Touch::Edit
            | Touch::Metadata
            | Touch::MetadataTree
            | Touch::Move => Operation::Write,
            Touch::Delete | Touch::DeleteTree => Operation::Delete,
        }
    }

    /// Nothing changes.
    pub(crate) fn reads(self) -> bool {
        self.operation() == Operation::Read
    }

    /// The same done to whatever lies in a directory.
    pub(crate) fn of_tree(self) -> Touch {
        match self {
            Touch::Delete | Touch::Move => Touch::DeleteTree,
            Touch::Metadata => Touch::MetadataTree,
            Touch::Read
            | Touch::ReadTree
            | Touch::List
            | Touch::Write
            | Touch::Append
            | Touch::Create
            | Touch::Edit
            | Touch::DeleteTree
            | Touch::MetadataTree
            | Touch::Upload => self,
        }
    }

    pub(crate) fn is_tree(self) -> bool {
        matches!(self, Touch::ReadTree | Touch::DeleteTree | Touch::MetadataTree)
    }

    /// Data goes into the file or comes out of it, and the file itself stays what it is.
    pub(crate) fn passes_data(self) -> bool {
        match self {
            Touch::Read
            | Touch::ReadTree
            | Touch::List
            | Touch::Write
            | Touch::Append
            | Touch::Create
            | Touch::Upload => true,
            // An editor in place puts a new file under the name.
            Touch::Edit | Touch::Delete | Touch::DeleteTree | Touch::Move | Touch::Metadata | Touch::MetadataTree => {
                false
            }
        }
    }

    pub(crate) fn follow(self) -> Follow {
        match self {
            Touch::Delete | Touch::DeleteTree | Touch::Move => Follow::NotLast,
            Touch::Read
            | Touch::ReadTree
            | Touch::List
            | Touch::Write
            | Touch::Append
            | Touch::Create
            | Touch::Edit
            | Touch::Metadata
            | Touch::MetadataTree
            | Touch::Upload => Follow::Last,
        }
    }
}
