//! The files around a recipe: their text as it will be when the command runs.

use crate::observe::shell::state::State;
use crate::path;
use crate::permissions::wildcard;
use crate::world::{Content, Kind, World};

/// Longer files are not looked through.
// One limit for all recipe files. Makefiles of large projects stay well below it.
const LIMIT: usize = 256 * 1024;

/// The directory of a recipe, with what earlier commands of the call wrote there.
pub(crate) struct Files<'f> {
    pub world: &'f dyn World,
    pub state: &'f State<'f>,
    pub directory: &'f str,
}

impl Files<'_> {
    pub(crate) fn path(&self, name: &str) -> String {
        path::lexical(&path::join(self.directory, name))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        text(&self.path(name), self.world, self.state)
    }

    pub(crate) fn is_absent(&self, name: &str) -> bool {
        let file = self.path(name);
        !self.state.written.contains_key(&file) && self.world.look(&file).kind == Kind::Missing
    }

    /// A variable of the environment.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.state.variables.contains_key(name) || self.world.environment(name).is_some()
    }

    /// The first of these names at which there is a file.
    pub(crate) fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| {
            let file = self.path(name);
            self.state.written.contains_key(&file) || self.world.look(&file).kind == Kind::File
        })
    }

    /// Some file that a pattern could stand for was written or changed.
    pub(crate) fn changed_like(&self, pattern: &str) -> bool {
        let pattern = self.path(pattern);
        let changed = self.world.changed_files();
        changed.iter().chain(self.state.written.keys()).any(|file| wildcard(&pattern, file))
    }
}

/// The text of a file, if it is known.
pub(crate) fn text(file: &str, world: &dyn World, state: &State<'_>) -> Option<String> {
    if let Some(written) = state.written.get(file) {
        return written.content.clone().filter(|_| !written.origin.download);
    }
    match world.content(file, LIMIT) {
        Content::Text(text) => Some(text),
        Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted => None,
    }
}
