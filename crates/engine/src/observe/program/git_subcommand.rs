//! The subcommand of git that is run, and the repository that it is run in.

use std::rc::Rc;

use super::Invocation;
use crate::world::{Git, World};

/// `stash push` for `git stash push`, with the repository around the directory of the command.
#[derive(Clone, Debug)]
pub(crate) struct Subcommand {
    pub name: String,
    git: Option<Rc<Git>>,
}

impl Subcommand {
    pub(crate) fn of(world: &dyn World, invocation: &Invocation) -> Subcommand {
        let key = invocation.args.entry().and_then(|entry| entry.key.split_once(' '));
        Subcommand::named(key.map_or("", |(_, sub)| sub), world, invocation)
    }

    /// A subcommand that another program runs.
    pub(crate) fn named(name: &str, world: &dyn World, invocation: &Invocation) -> Subcommand {
        let git = invocation.cwd.as_deref().and_then(|cwd| world.git(cwd)).map(Rc::new);
        Subcommand { name: name.to_owned(), git }
    }

    pub(crate) fn git(&self) -> Option<&Git> {
        self.git.as_deref()
    }
}
