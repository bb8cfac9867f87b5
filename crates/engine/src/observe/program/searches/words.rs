//! Words of `find`: tests, options, operators and actions, by what follows them.

/// Tests, options and operators without a value.
// GNU and BSD words together. A word that is in no list here may be a new action, so it asks.
pub(crate) const BARE: &[&str] = &[
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-depth",
    "-d",
    "-daystart",
    "-follow",
    "-mount",
    "-xdev",
    "-x",
    "-noleaf",
    "-true",
    "-false",
    "-empty",
    "-executable",
    "-readable",
    "-writable",
    "-nouser",
    "-nogroup",
    "-not",
    "-a",
    "-and",
    "-o",
    "-or",
    "!",
    "(",
    ")",
    ",",
    "-warn",
    "-nowarn",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-help",
    "--help",
    "-version",
    "--version",
];

/// Tests and options with a value that has no effect.
// The value must be skipped: in `-name -delete` the second word is a pattern, not an action.
pub(crate) const VALUED: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-lname",
    "-ilname",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-maxdepth",
    "-mindepth",
    "-fstype",
    "-printf",
    "-regextype",
    "-used",
    "-context",
    "-flags",
    "-newermt",
    "-newerat",
    "-newerct",
    "-newerBt",
    "-Btime",
    "-Bmin",
];

/// Tests against another file.
// The file named here is only looked at, but its name is an operand and must not be taken for a test.
pub(crate) const COMPARED: &[&str] = &["-newer", "-anewer", "-cnewer", "-samefile", "-mnewer"];

// Actions that create or empty a file (program-flags-016).
pub(crate) const WRITERS: &[&str] = &["-fprint", "-fprint0", "-fls", "-fprintf"];

// Actions that start a program for every hit (program-flags-018).
pub(crate) const RUNNERS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// Brackets, as far as one with a `!` before it turns everything in it round.
#[derive(Debug, Default)]
pub(crate) struct Group {
    depth: usize,
    negated_at: Option<usize>,
}

impl Group {
    pub(crate) fn step(&mut self, text: &str, negated: bool) {
        match text {
            "(" => {
                self.depth += 1;
                self.negated_at = self.negated_at.or(negated.then_some(self.depth));
            }
            ")" => {
                self.negated_at = self.negated_at.filter(|at| *at < self.depth);
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
    }

    pub(crate) fn is_negated(&self) -> bool {
        self.negated_at.is_some()
    }
}
