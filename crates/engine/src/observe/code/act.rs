//! What a function of a library does with its arguments.

use crate::knowledge::schema::Role;

/// Which value is acted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// The value whose method it is.
    Receiver,
    /// The argument at a place, or with a name.
    Argument(usize, &'static str),
}

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Computes, prints, looks at names.
    Nothing,
    /// Does something to each of these values.
    Roles(&'static [(At, Role)]),
    /// Opens a file: the path and the mode.
    Open(At, At),
    /// Starts a program: a list of words, or one word, or the text of a shell.
    Run,
    /// Gives the text to a shell.
    Shell,
    /// Starts a program with a list of arguments.
    Spawn,
    /// Asks an address, or sends to it if the options say so.
    Request,
    /// Looks up a variable of the environment.
    Variable,
    /// Hands on the whole environment.
    Environment,
}

pub(super) const FIRST: At = At::Argument(0, "");
pub(super) const SECOND: At = At::Argument(1, "");

pub(super) const READ: Act = Act::Roles(&[(FIRST, Role::Read)]);
pub(super) const LIST: Act = Act::Roles(&[(FIRST, Role::List)]);
pub(super) const WRITE: Act = Act::Roles(&[(FIRST, Role::Write)]);
pub(super) const APPEND: Act = Act::Roles(&[(FIRST, Role::Append)]);
pub(super) const CREATE: Act = Act::Roles(&[(FIRST, Role::Create)]);
pub(super) const DELETE: Act = Act::Roles(&[(FIRST, Role::Delete)]);
pub(super) const DELETE_TREE: Act = Act::Roles(&[(FIRST, Role::DeleteTree)]);
pub(super) const METADATA: Act = Act::Roles(&[(FIRST, Role::Metadata)]);
pub(super) const COPY: Act = Act::Roles(&[(FIRST, Role::Read), (SECOND, Role::Write)]);
pub(super) const COPY_TREE: Act = Act::Roles(&[(FIRST, Role::ReadTree), (SECOND, Role::Create)]);
pub(super) const MOVE: Act = Act::Roles(&[(FIRST, Role::Move), (SECOND, Role::Write)]);
pub(super) const FETCH_TO: Act = Act::Roles(&[(FIRST, Role::Url), (SECOND, Role::Write)]);
pub(super) const SEND: Act = Act::Roles(&[(FIRST, Role::UrlUpload)]);

pub(super) const SELF_READ: Act = Act::Roles(&[(At::Receiver, Role::Read)]);
pub(super) const SELF_LIST: Act = Act::Roles(&[(At::Receiver, Role::List)]);
pub(super) const SELF_WRITE: Act = Act::Roles(&[(At::Receiver, Role::Write)]);
pub(super) const SELF_CREATE: Act = Act::Roles(&[(At::Receiver, Role::Create)]);
pub(super) const SELF_DELETE: Act = Act::Roles(&[(At::Receiver, Role::Delete)]);
pub(super) const SELF_METADATA: Act = Act::Roles(&[(At::Receiver, Role::Metadata)]);
pub(super) const SELF_MOVE: Act = Act::Roles(&[(At::Receiver, Role::Move), (FIRST, Role::Write)]);

/// Finds a name in rows of names separated by spaces.
pub(super) fn listed(name: &str, rows: &[(&str, Act)]) -> Option<Act> {
    rows.iter().find(|(names, _)| names.split_ascii_whitespace().any(|known| known == name)).map(|(_, act)| *act)
}
