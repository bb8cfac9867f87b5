//! How much of the machine one call may inspect.

/// Files and directories in one walk: as many as a snapshot may contain.
pub const WALK: u64 = 2_000;

/// Unrecoverable files in one walk: ten times what counts as very many.
pub const LOST: u64 = 200;

/// Names in one directory.
pub const NAMES: usize = 4_096;

/// Names in one directory that a walk for names alone looks at.
pub const LISTED: usize = 50_000;

/// Bytes of a git index.
pub const INDEX: u64 = 64 << 20;

/// Bytes of a configuration or ignore file.
pub const TEXT: u64 = 1 << 20;

/// Git configuration files, including includes.
pub const CONFIG_FILES: usize = 64;

/// Levels of includes.
pub const INCLUDES: usize = 10;

/// Steps of matching one pattern.
pub const MATCHING: u32 = 20_000;

/// Directories on the way up to the root of a project.
pub const LEVELS: usize = 64;

/// Files of one language whose imports are read to count the dependents of a file.
pub const SOURCES: usize = 400;

/// Files whose dependents are counted for one call.
pub const COUNTED: usize = 32;

/// Work trees of other repositories inside one.
pub const SUBMODULES: usize = 32;

/// Entries a tree search may check by name.
pub const BELOW: usize = 20_000;

/// Tracked files counted for one command.
pub const TRACKED: usize = 20_000;
