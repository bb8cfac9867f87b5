//! What a program file says: flags, operands, subcommands and the effects they have.

use std::borrow::Cow;

use doorward_vocabulary::{Marks, Operation, Reach, Reversibility, Scope, Sensitivity, words};

pub use crate::facets::{Check, Console, Facet, Facets, Sections, Sense, TaskFile, WordSet};

words! {
    /// What a flag's value or an operand is to the program.
    Role {
        Data = "data" : "a plain value without effect: a number, a word, a setting. One that looks like a path elsewhere, an address or code asks",
        Text = "text" : "free text that is matched, printed or kept: a pattern, a message, a format",
        Name = "name" : "the name of something the program keeps: a branch, a label, a task",
        Address = "address" : "a URL, host, image or connection string that the program contacts",
        Read = "read" : "a file or directory that is read",
        ReadTree = "read-tree" : "a directory that is read with everything below it",
        List = "list" : "a path of which only names and metadata are read",
        Write = "write" : "a file whose old content is replaced",
        Append = "append" : "a file that grows",
        Create = "create" : "a file or directory that is made if it is not there, and otherwise kept",
        Empty = "empty" : "a directory for output that is emptied first",
        Edit = "edit" : "a file that is changed in place",
        Delete = "delete" : "a file that is removed",
        DeleteTree = "delete-tree" : "a path that is removed with everything below it",
        Move = "move" : "a path that vanishes here and appears at the destination",
        Into = "into" : "the destination of a copy or move: a file or a directory",
        LinkSource = "link-source" : "what a new link leads to",
        Metadata = "metadata" : "a path whose mode, owner or times change",
        MetadataTree = "metadata-tree" : "a tree whose mode, owner or times change",
        Upload = "upload" : "a file whose content leaves this machine",
        Execute = "execute" : "a program that is run",
        Script = "script" : "a file that is run as code",
        ScriptSh = "script-sh" : "a file that a shell runs",
        Config = "config" : "a configuration file that may name programs to run",
        Code = "code" : "code in a language that is not looked into",
        CodeSh = "code-sh" : "text that a shell runs",
        CodePython = "code-python" : "Python code",
        CodeJs = "code-js" : "JavaScript code",
        CodeSql = "code-sql" : "SQL",
        Line = "line" : "a whole command line that a shell runs, and nothing else is run",
        Command = "command" : "the words from here on are a command",
        Shell = "shell" : "the words from here on are joined and run by a shell",
        Env = "env" : "NAME=VALUE, put into the environment",
        Cwd = "cwd" : "the directory that the program works in",
        Url = "url" : "an address that is fetched",
        UrlUpload = "url-upload" : "an address that data is sent to",
        Host = "host" : "a host that is contacted",
        RemotePath = "remote-path" : "host:path, or a local path that is read",
        RemoteInto = "remote-into" : "host:path, or a local path that is written",
        Mount = "mount" : "host:inside, a path of this machine that a container gets",
        Resource = "resource" : "the name of something that is not a file",
        Package = "package" : "the name of a package",
        Pid = "pid" : "a process id",
        Print = "print" : "a file that is read and printed from beginning to end",
    }
}

impl Role {
    /// A value without an effect of its own.
    pub fn is_plain(self) -> bool {
        matches!(self, Role::Data | Role::Text | Role::Name)
    }

    /// Somebody's words become something that runs.
    pub fn is_run(self) -> bool {
        [
            Role::Execute,
            Role::Script,
            Role::ScriptSh,
            Role::Config,
            Role::Code,
            Role::CodeSh,
            Role::CodePython,
            Role::CodeJs,
            Role::CodeSql,
            Role::Line,
            Role::Command,
            Role::Shell,
        ]
        .contains(&self)
    }
}

words! {
    /// How a program writes its flags.
    Style {
        Gnu = "gnu" : "`-abc`, `-o value`, `-ovalue`, `--long`, `--long=value`, `--` ends",
        SingleDash = "single-dash" : "`-long value`, `-long=value`; no clusters",
        Dashless = "dashless" : "like gnu, and the first word may be a cluster without a dash (`tar xzf`, `ps aux`)",
        None = "none" : "every word is an operand",
    }
}

words! {
    /// Languages that TOML cannot say.
    Grammar {
        Find = "find" : "expressions of find",
        Sed = "sed" : "scripts of sed",
        Awk = "awk" : "programs of awk",
        Test = "test" : "the test command: operands are never run",
        Dd = "dd" : "if= and of= operands",
        Tar = "tar" : "archive members and checkpoint actions",
        Ssh = "ssh" : "a host, then a remote command",
        Git = "git" : "refs and pathspecs told apart",
        Curl = "curl" : "URLs, data and output files",
        Xargs = "xargs" : "a command whose operands come from standard input",
        Echo = "echo" : "prints its operands",
        Cd = "cd" : "changes the directory of the shell",
        Interpreter = "interpreter" : "a language interpreter: code, module or file, then its arguments",
        Shell = "shell" : "a POSIX shell: -c text or a script file",
        Chmod = "chmod" : "a mode, then paths",
        Kill = "kill" : "a signal, then processes",
        Make = "make" : "targets and variables",
        PackageScript = "package-script" : "the name of a script in the manifest",
        Sql = "sql" : "SQL on the command line",
        CloudCli = "cloud-cli" : "service, then a verb that says whether it reads",
        Kubectl = "kubectl" : "verb, then resource kind and name",
        Ps = "ps" : "the letters of ps, where `e` without a dash prints environments",
        Jq = "jq" : "filters of jq and yq, which can read the environment and files",
        GhApi = "gh-api" : "requests to GitHub: the method, the fields and the query say whether they write",
        Env = "env" : "`-` and `-S` of env, which put words before the command",
        Flock = "flock" : "a lock, then a command or `-c` with a command line",
        GitExtra = "git-extra" : "programs that extend git and call it in their turn",
        Fzf = "fzf" : "keys bound to actions, some of which run commands",
        Tmux = "tmux" : "formats, in which `#(…)` runs a command",
        Builtin = "builtin" : "a builtin that the interpreter of the shell handles itself",
    }
}

/// Text that is borrowed from the pack, or owned while a file is read.
pub type Text = Cow<'static, str>;

/// One program: its own command and its subcommands are separate entries, keyed by their words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// `git`, `git stash`, `git stash push`.
    pub key: Text,
    pub what: Text,
    pub style: Option<Style>,
    pub grammar: Option<Grammar>,
    /// Flags end at the first operand.
    pub stops: bool,
    /// `-5` is a flag.
    pub numbers: bool,
    /// Flags of the parent command are accepted as well.
    pub inherits: bool,
    /// A flag for help is answered with help behind every subcommand, also one that is not described.
    pub helps: bool,
    pub flags: Named<Flag>,
    pub operands: Vec<Operand>,
    /// What is done to the current directory if no operand names a path.
    pub default: Option<Operand>,
    pub does: Vec<Does>,
    /// Named effects that flags add.
    pub extras: Vec<(Text, Does)>,
    /// Files of the project whose change since trust makes the recipe unknown.
    pub delegates: Vec<Text>,
    /// Environment variables that may be set for it without effect.
    pub env: Vec<Text>,
    /// Names of subcommands.
    pub subs: Named<Text>,
    pub facets: Facets,
    /// Where the tasks that it runs are written.
    pub tasks: Option<TaskFile>,
    pub console: Option<Console>,
    pub check: Option<Check>,
    /// What it reads of settings files that it shares with others.
    pub sections: Vec<Sections>,
    /// What some of its words mean, by `Sense`.
    pub senses: Named<WordSet>,
}

/// Things with names, in the order of their names.
#[derive(Clone, Debug, PartialEq)]
pub enum Named<T> {
    /// As a program file lists them.
    Listed(Vec<T>),
    /// Left in the pack until one of them is asked for.
    Packed(Rows),
}

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named::Listed(Vec::new())
    }
}

/// A table of records in a pack; each record begins with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    pub bytes: &'static [u8],
    /// Where the offsets of the records stand.
    pub table: usize,
    pub count: usize,
    /// Where the offsets count from.
    pub pool: usize,
}

/// One spelling of a flag.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// With its dashes: `-o`, `--output`.
    pub name: Text,
    pub takes: Takes,
    /// Roles of further values, each a word of its own.
    pub more: Vec<Role>,
    pub changes: Changes,
}

/// Whether a flag takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// In the same word or the next.
    Value(Role),
    /// Only in the same word.
    Glued(Role),
}

/// What a flag changes in the effects of its command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    pub marks: Marks,
    /// The command only says what it would do.
    pub dry_run: bool,
    /// The command prints help or its version and does nothing else.
    pub info: bool,
    /// The command only reads, unless another flag has effects.
    pub read_only: bool,
    /// The meaning is known to be beyond this file.
    pub opaque: bool,
    /// Known to exist, meaning not described.
    pub unknown: bool,
    /// Words from here on are operands.
    pub ends: bool,
    /// The value is the name of a task, or several.
    pub task: bool,
    /// Operands that have an effect get this role instead.
    pub operands: Option<Role>,
    /// Name of an extra effect.
    pub extra: Option<Text>,
    /// The change counts for these values only.
    pub only: Vec<Text>,
    /// The change does not count for these values.
    pub unless: Vec<Text>,
}

impl Changes {
    /// The flag has an effect of its own, so a read-only flag beside it does not settle the command.
    pub fn has_effect(&self) -> bool {
        !self.marks.is_empty() || self.opaque || self.unknown || self.operands.is_some() || self.extra.is_some()
    }

    /// What is left of the change when the flag has this value; `None`: the value cannot be read.
    ///
    /// INVARIANT: of a value that cannot be read, only what tightens is kept.
    pub fn with_value(&self, value: Option<&str>) -> Changes {
        if self.only.is_empty() && self.unless.is_empty() {
            return self.clone();
        }
        let is_in = |list: &[Text], value: &str| list.iter().any(|word| word == value);
        match value {
            Some(value) if is_in(&self.unless, value) => Changes::default(),
            Some(value) if !self.only.is_empty() && !is_in(&self.only, value) => Changes::default(),
            Some(_) => self.clone(),
            None => Changes { dry_run: false, info: false, read_only: false, ..self.clone() },
        }
    }
}

/// One position in the list of operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub role: Role,
    pub count: Count,
    /// Flags that must be there for the position to exist.
    pub given: Vec<Text>,
    /// Flags that remove the position.
    pub unless: Vec<Text>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    One,
    Optional,
    Any,
}

/// An effect as a program file writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Does {
    pub operation: Operation,
    pub scope: Scope,
    pub reversibility: Reversibility,
    pub reach: Reach,
    pub sensitivity: Sensitivity,
    pub marks: Marks,
    pub condition: Condition,
}

/// When an effect of a command happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    #[default]
    Always,
    /// Only if the command has operands.
    WithOperands,
    /// Only if it has none.
    Alone,
    /// Only if no command is named, in a flag or an operand.
    Bare,
    /// Only if an operand is `NAME=VALUE`, or cannot be read.
    Assigning,
    /// Unless the operand at this place, counted from one, is one of these words.
    Unless(u8, Vec<Text>),
}

impl Does {
    /// The effect with the values that the operation usually has.
    pub fn usual(operation: Operation) -> Does {
        let (scope, reversibility, reach) = match operation {
            Operation::Read => (Scope::Project, Reversibility::NothingChanges, Reach::Workspace),
            Operation::Network => (Scope::External, Reversibility::NothingChanges, Reach::Workspace),
            Operation::Execute => (Scope::Project, Reversibility::Tracked, Reach::Project),
            Operation::Write | Operation::Delete | Operation::Mutate => {
                (Scope::Project, Reversibility::Irreversible, Reach::Project)
            }
        };
        Does {
            operation,
            scope,
            reversibility,
            reach,
            sensitivity: Sensitivity::None,
            marks: Marks::default(),
            condition: Condition::Always,
        }
    }
}
