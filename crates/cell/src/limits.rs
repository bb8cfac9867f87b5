//! What a run may use before it is ended.

use std::time::Duration;

/// The limits of one run; reaching one ends all of its processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time on the wall.
    pub time: Duration,
    /// Memory of all processes together, and of each one's data.
    pub memory: u64,
    /// Processes and threads at one time.
    pub processes: u64,
    /// Bytes in the upper layers; looked at several times a second, so a fast writer gets somewhat further.
    pub written: u64,
    /// The largest single file.
    pub file: u64,
    /// Bytes of output on both streams together.
    pub output: u64,
    /// What stays free on the disk of the upper layers, whatever the others allow.
    pub reserve: u64,
}

/// Which limit ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoiled {
    Time,
    Memory,
    Written,
    Output,
    Disk,
    /// The caller asked for the end (`Plan::stop`).
    Stopped,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(120),
            memory: 4 << 30,
            processes: 512,
            written: 512 << 20,
            file: 256 << 20,
            output: 64 << 20,
            reserve: 256 << 20,
        }
    }
}

impl Spoiled {
    /// One sentence for a person.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Spoiled::Time => "it ran longer than the box allows",
            Spoiled::Memory => "it used more memory than the box allows",
            Spoiled::Written => "it wrote more than the box holds",
            Spoiled::Output => "it printed more than the box passes on",
            Spoiled::Disk => "the disk is nearly full",
            Spoiled::Stopped => "it was stopped",
        }
    }
}
