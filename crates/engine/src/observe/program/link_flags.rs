//! Whether a command reads what the links on its way lead to, by itself or because a flag says so.

use super::Invocation;
use crate::knowledge::schema::{Facet, Sense};

/// The command reads through the links that it meets below its operands.
// One link in a project then prints a file of the home directory (reading-804).
pub(crate) fn follows(invocation: &Invocation) -> bool {
    let args = &invocation.args;
    let goes_below = || args.words(Sense::Descend).is_empty() || args.gives(Sense::Descend);
    (args.gives(Sense::FollowLinks) && goes_below()) || (args.is(Facet::FollowsLinks) && !args.gives(Sense::KeepLinks))
}
