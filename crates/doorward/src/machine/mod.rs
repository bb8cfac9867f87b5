//! The machine as it is: directories, clock, checked reads, the disk and git, and the log file. The lowest floor.

pub mod checked_read;
pub mod file_digests;
pub mod json;
pub mod key;
pub mod paths;
pub mod presence;
pub mod private_state;
pub mod record;
pub mod screen;
pub mod world;
