//! Which shell a program is.

use crate::world::Shell;

impl Shell {
    /// The shell that a program is, by its name or path.
    pub fn named(program: &str) -> Option<Shell> {
        match crate::lexical::name(program) {
            "bash" | "rbash" => Some(Shell::Bash),
            "zsh" | "rzsh" => Some(Shell::Zsh),
            "sh" | "dash" | "ash" => Some(Shell::Sh),
            "ksh" | "mksh" | "ksh93" | "oksh" | "lksh" | "yash" | "posh" => Some(Shell::Unknown),
            _ => None,
        }
    }

    /// A file with this ending is a script of a shell. macOS opens a `.command` in one.
    pub(crate) fn reads_ending(ending: &str) -> bool {
        matches!(ending, "sh" | "bash" | "zsh" | "ksh" | "command")
    }
}
