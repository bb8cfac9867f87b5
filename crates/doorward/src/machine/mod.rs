//! The machine as it is: directories, clock, checked reads, disk and git, and the log file. The lowest floor.

pub mod agent;
pub mod agent_home;
pub mod atomic_file;
pub mod checked_read;
pub mod clock;
pub mod count;
pub mod file_digests;
pub mod json;
pub mod key;
pub mod paths;
pub mod presence;
pub mod private_state;
pub mod record;
mod user;
mod visible;
pub mod world;
pub use user::user;
pub use visible::visible;
