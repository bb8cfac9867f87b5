//! How much of the machine one call may inspect.

/// Files and directories in one walk: as many as a snapshot may contain.
// What no snapshot could hold needs no exact count either.
pub(crate) const WALK: u64 = 2_000;

/// Unrecoverable files in one walk: ten times what counts as very many.
// Beyond this the verdict is the same, so counting on would only cost time.
pub(crate) const LOST: u64 = 200;

/// Names in one directory.
// `node_modules` of a large project has a few thousand names; a directory beyond that is data.
pub(crate) const NAMES: usize = 4_096;

/// Names in one directory that a walk for names alone looks at.
pub(crate) const LISTED: usize = 50_000;

/// Bytes of a git index.
// About half a million tracked files: larger than any repository an agent edits.
pub(crate) const INDEX: u64 = 64 << 20;

/// Bytes of a configuration or ignore file.
pub(crate) const TEXT: u64 = 1 << 20;

/// Git configuration files, including includes.
// Includes can branch; levels alone would still allow thousands of files.
pub(crate) const CONFIG_FILES: usize = 64;

/// Levels of includes.
// Git itself stops at ten, so a deeper chain is an error there too.
pub(crate) const INCLUDES: usize = 10;

/// Steps of matching one pattern.
// Patterns with many stars backtrack exponentially, and ignore files come with a clone.
pub(crate) const MATCHING: u32 = 20_000;

/// Directories on the way up to the root of a project.
// A path that is deeper is made to be slow.
pub(crate) const LEVELS: usize = 64;

/// Files of one language whose imports are read to count the dependents of a file.
// Decision 0026: reading more would show in the time of an answer, and enough dependents are found before.
pub(crate) const SOURCES: usize = 400;

/// Files whose dependents are counted for one call.
pub(crate) const COUNTED: usize = 32;

/// Work trees of other repositories inside one.
// Each one is a repository to open and an index to parse.
pub(crate) const SUBMODULES: usize = 32;

/// Entries a tree search may check by name.
pub(crate) const BELOW: usize = 20_000;

/// Tracked files counted for one command.
pub(crate) const TRACKED: usize = 20_000;
