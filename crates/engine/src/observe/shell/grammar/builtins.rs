//! Builtins that only the shell itself can carry out, by name.

macro_rules! builtins {
    ($($variant:ident = $name:literal,)+) => {
        /// A builtin that changes or asks the shell itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Builtin { $($variant,)+ }

        impl Builtin {
            /// The builtin of this name.
            pub(crate) fn named(name: &str) -> Option<Builtin> {
                match name { $($name => Some(Builtin::$variant),)+ _ => None }
            }

            pub(crate) fn name(self) -> &'static str {
                match self { $(Builtin::$variant => $name,)+ }
            }
        }
    };
}

builtins! {
    Alias = "alias",
    Background = "bg",
    Break = "break",
    WithoutFunctions = "builtin",
    Caller = "caller",
    Cd = "cd",
    Colon = ":",
    Command = "command",
    Compgen = "compgen",
    Complete = "complete",
    Compopt = "compopt",
    Continue = "continue",
    Declare = "declare",
    Dirs = "dirs",
    Disown = "disown",
    Dot = ".",
    Enable = "enable",
    Eval = "eval",
    Exec = "exec",
    Exit = "exit",
    Export = "export",
    False = "false",
    Foreground = "fg",
    Getopts = "getopts",
    Hash = "hash",
    Help = "help",
    Jobs = "jobs",
    Let = "let",
    Local = "local",
    Logout = "logout",
    Mapfile = "mapfile",
    Popd = "popd",
    Printf = "printf",
    Pushd = "pushd",
    Pwd = "pwd",
    Read = "read",
    Readarray = "readarray",
    Readonly = "readonly",
    Return = "return",
    Set = "set",
    Shift = "shift",
    Shopt = "shopt",
    Source = "source",
    Suspend = "suspend",
    Times = "times",
    Trap = "trap",
    True = "true",
    Type = "type",
    Typeset = "typeset",
    Ulimit = "ulimit",
    Umask = "umask",
    Unalias = "unalias",
    Unset = "unset",
    Wait = "wait",
}

impl Builtin {
    /// Declares variables, and arrays behind it.
    pub(crate) fn declares(self) -> bool {
        matches!(self, Builtin::Export | Builtin::Declare | Builtin::Typeset | Builtin::Local | Builtin::Readonly)
    }

    /// Gives new values to the variables that its words name.
    // `readonly` is missing: what it sets stays as it is.
    pub(crate) fn assigns(self) -> bool {
        (self.declares() && self != Builtin::Readonly)
            || self.reads_input()
            || matches!(self, Builtin::Let | Builtin::Printf)
    }

    /// Puts lines or words into variables.
    pub(crate) fn reads_input(self) -> bool {
        matches!(self, Builtin::Read | Builtin::Mapfile | Builtin::Readarray | Builtin::Getopts)
    }

    /// Reads lines into an array.
    pub(crate) fn reads_lines(self) -> bool {
        matches!(self, Builtin::Mapfile | Builtin::Readarray)
    }

    /// A special builtin of POSIX: an assignment before it stays in force.
    pub(crate) fn is_special(self) -> bool {
        matches!(
            self,
            Builtin::Export
                | Builtin::Eval
                | Builtin::Exec
                | Builtin::Source
                | Builtin::Dot
                | Builtin::Readonly
                | Builtin::Set
                | Builtin::Colon
                | Builtin::Trap
                | Builtin::Unset
        )
    }

    /// Ends at once and succeeds, so that a loop with it as condition has no end.
    pub(crate) fn succeeds(self) -> bool {
        matches!(self, Builtin::Colon | Builtin::True)
    }

    /// Runs a file in the shell itself.
    pub(crate) fn sources(self) -> bool {
        matches!(self, Builtin::Source | Builtin::Dot)
    }

    /// Leaves a loop, a function or the shell.
    pub(crate) fn leaves(self) -> bool {
        matches!(self, Builtin::Exit | Builtin::Return | Builtin::Break | Builtin::Continue)
    }

    /// Prints something about the shell.
    pub(crate) fn prints(self) -> bool {
        matches!(
            self,
            Builtin::Type
                | Builtin::Help
                | Builtin::Jobs
                | Builtin::Dirs
                | Builtin::Times
                | Builtin::Ulimit
                | Builtin::Umask
                | Builtin::Compgen
        )
    }

    /// Something else may happen in a round of a loop than what stands behind it.
    pub(crate) fn may_turn(self) -> bool {
        self.sources() || matches!(self, Builtin::Continue | Builtin::Eval | Builtin::Trap)
    }
}
