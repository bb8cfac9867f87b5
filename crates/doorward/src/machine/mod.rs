//! The machine as it is: directories, clock, checked reads, disk and git, and the log file. The lowest floor.

pub(crate) mod agent;
pub(crate) mod agent_home;
pub(crate) mod agent_variables;
pub(crate) mod atomic_file;
pub(crate) mod checked_read;
pub(crate) mod clock;
pub(crate) mod count;
pub(crate) mod desk_ports;
pub(crate) mod file_digests;
pub(crate) mod json;
pub(crate) mod key;
pub(crate) mod paths;
pub(crate) mod presence;
pub(crate) mod private_state;
pub(crate) mod record;
#[cfg(test)]
pub(crate) mod splitmix;
pub(crate) mod team;
#[cfg(test)]
pub(crate) mod test_home;
mod user;
pub(crate) mod world;
pub(crate) use doorward_pages::visible;
pub(crate) use user::{user, user_name};
