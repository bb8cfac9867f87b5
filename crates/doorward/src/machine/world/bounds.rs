//! How much of the machine one call may inspect.

/// Files and directories in one walk: as many as a snapshot may contain.
pub(crate) const WALK: u64 = 2_000;

/// Unrecoverable files in one walk: ten times what counts as very many.
pub(crate) const LOST: u64 = 200;

/// Names in one directory.
pub(crate) const NAMES: usize = 4_096;

/// Names in one directory that a walk for names alone looks at.
pub(crate) const LISTED: usize = 50_000;

/// Bytes of a git index.
pub(crate) const INDEX: u64 = 64 << 20;

/// Bytes of a configuration or ignore file.
pub(crate) const TEXT: u64 = 1 << 20;

/// Git configuration files, including includes.
pub(crate) const CONFIG_FILES: usize = 64;

/// Levels of includes.
pub(crate) const INCLUDES: usize = 10;

/// Steps of matching one pattern.
pub(crate) const MATCHING: u32 = 20_000;

/// Directories on the way up to the root of a project.
pub(crate) const LEVELS: usize = 64;

/// Files of one language whose imports are read to count the dependents of a file.
pub(crate) const SOURCES: usize = 400;

/// Files whose dependents are counted for one call.
pub(crate) const COUNTED: usize = 32;

/// Work trees of other repositories inside one.
pub(crate) const SUBMODULES: usize = 32;

/// Entries a tree search may check by name.
pub(crate) const BELOW: usize = 20_000;

/// Tracked files counted for one command.
pub(crate) const TRACKED: usize = 20_000;
