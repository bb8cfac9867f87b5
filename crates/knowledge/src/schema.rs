//! What a program file says: flags, operands, subcommands and the effects they have.

use std::borrow::Cow;

use doorward_vocabulary::{Marks, Operation, Reach, Reversibility, Scope, Sensitivity, words};

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

words! {
    /// What else is known about a command, beyond its flags, operands and effects.
    Facet {
        SettingsBesideOperand = "settings-beside-operand" : "loads settings that can run code from the folder of the file it looks at",
        ArgumentFiles = "argument-files" : "reads further arguments from `@FILE`",

        RunsTasks = "runs-tasks" : "its operands are names of tasks that a file of the project defines",
        RunsTask = "runs-task" : "its first operand is the name of a task that a file of the project defines; the others are given to it",
        DatabaseTasks = "database-tasks" : "brings tasks that drop, reset or migrate the database of an application",
        CamelTasks = "camel-tasks" : "writes the words of a task in one: `flywayClean`",
        LoadsPython = "loads-python" : "imports Python sources of the project when it starts",
        LoadsJavaScript = "loads-javascript" : "imports JavaScript or TypeScript sources of the project when it starts",
        LoadsOnDemand = "loads-on-demand" : "imports sources of the project only if a flag names them",
        Toolchain = "toolchain" : "a compiler, assembler, linker, archiver or compiler cache, as variables of a build name it",
        BuildProgram = "build-program" : "a program besides the toolchain that settings of a build name: what builds or generates",
        ForgeClient = "forge-client" : "its subcommands `pr` and `issue` open, close and answer pull requests and issues",
        Erases = "erases" : "deletes so that nothing brings it back, which is why somebody uses it",
        RunsInContainer = "runs-in-container" : "as the command of a container it runs the application that is there, and no shell",
        DoesAnything = "does-anything" : "does whatever its words say: to allow it without a subcommand is to allow everything",
        Searches = "searches" : "looks for a pattern in files and prints the lines or the names that have it",
        SkipsIgnored = "skips-ignored" : "a walk leaves out what `.gitignore` and its like name",
        SkipsHidden = "skips-hidden" : "a walk leaves out hidden files",
        Picks = "picks" : "picks lines, fields or names out of what it reads, as its words say",
        KeepsLines = "keeps-lines" : "prints lines or words of what it reads as they came",
        CopiesInput = "copies-input" : "prints or writes its whole input as it came",
        PrintsNames = "prints-names" : "prints names of files, or text that may be such names, which the interpreter has no list of",
        PrintsNoContent = "prints-no-content" : "says no more of a file than its name, kind, size or sum",
        ListsDirectory = "lists-directory" : "prints the names in a directory, one on a line",
        FindsProcesses = "finds-processes" : "tells which processes there are, or which files and ports they hold",
        StripsDirectory = "strips-directory" : "prints its operands without their directories",
        Translates = "translates" : "puts letters in the place of others, or removes them",
        Archives = "archives" : "packs trees into an archive, or unpacks one",
        Compares = "compares" : "prints where files or trees differ",
        Unpacks = "unpacks" : "unpacks what it names, whatever its flags",
        Packs = "packs" : "packs what it names, whatever its flags",
        Copies = "copies" : "copies files and trees under the names that they have",
        FollowsLinks = "follows-links" : "reads what a link below its operands leads to, unless a flag says otherwise",
        PrintsToken = "prints-token" : "prints numbers or plain words, whatever its operands",
        NamesOperands = "names-operands" : "prints the names of its operands along with what it counts",
        Computes = "computes" : "prints numbers that are made of the numbers in its operands",
        PrintsTime = "prints-time" : "prints a time in the format that its words say",
        PrintsFormat = "prints-format" : "prints its operands by the format in the first one",
        MakesTemporary = "makes-temporary" : "makes a file or directory of a name that nobody can foresee, and prints it",
        PrintsForever = "prints-forever" : "prints without end",
        EndsStreams = "ends-streams" : "its output ends, or is short, although its input does not end",
        ReplacesLast = "replaces-last" : "puts something else in the place of its last operand instead of writing into it",
        ReplacesEach = "replaces-each" : "makes, cuts or takes away each of its operands itself, whatever was there",
        PlainHelper = "plain-helper" : "passes data on, packed or not, and runs nothing: another program may be told to start it",
        OwnLanguage = "own-language" : "reads every file as its own language, whatever the file is called",
        RunsPython = "runs-python" : "the code and the files that it runs are Python",
        RunsJavaScript = "runs-javascript" : "the code and the files that it runs are JavaScript",
        OutlivesCall = "outlives-call" : "what it starts goes on after the call",
        MakesLinks = "makes-links" : "makes links, and nothing is copied",
        RunsVerbatim = "runs-verbatim" : "the words of a command behind a flag are run as they stand",
        SplitsOwn = "splits-own" : "writes many files, but none that comes from elsewhere unseen",
        Waits = "waits" : "waits for a time, a lock or a change, and then ends",
        KeepsTlsSettings = "keeps-tls-settings" : "keeps settings about the certificates that it checks",
        KeepsCredentials = "keeps-credentials" : "keeps credentials among settings that it can print",
        AgentBySettings = "agent-by-settings" : "an agent that takes settings about its checks on the command line",
        DatabaseHosts = "database-hosts" : "its operands and values may name the host of a database",
        ImageForms = "image-forms" : "the part of an operand before a colon may be a form that runs or reads something else",
        PipeNames = "pipe-names" : "an operand that begins with `|` is a command",
        PluginGoals = "plugin-goals" : "an operand with two colons names a plugin, which may be fetched",
        CloneFlags = "clone-flags" : "what stands behind `--` goes to `git clone`",
        LoadsProjectFirst = "loads-project-first" : "runs code of the project before it answers anything, be it only its version",
        ReadsPowerShell = "reads-powershell" : "the code it is given is PowerShell's",
        ReadsLikeShell = "reads-like-shell" : "the code it is given is spelled like a shell's where it matters",
    }
}

words! {
    /// Where the tasks that a program runs are written.
    TaskFile {
        Make = "make" : "rules of a `Makefile`",
        Just = "just" : "recipes of a `justfile`",
        Taskfile = "taskfile" : "tasks of a `Taskfile.yml`",
        Mise = "mise" : "tasks of a `mise.toml`",
        Package = "package" : "scripts of a `package.json`",
        Deno = "deno" : "tasks of a `deno.json`",
        Composer = "composer" : "scripts of a `composer.json`",
        Tox = "tox" : "environments of a `tox.ini`",
        Poe = "poe" : "`tool.poe.tasks` of a `pyproject.toml`",
        Pdm = "pdm" : "`tool.pdm.scripts` of a `pyproject.toml`",
        Hatch = "hatch" : "scripts of `tool.hatch.envs` of a `pyproject.toml`",
        Rye = "rye" : "`tool.rye.scripts` of a `pyproject.toml`",
        Compose = "compose" : "services of a `compose.yaml`",
    }
}

words! {
    /// The framework whose command line a program is.
    Console {
        Django = "django" : "`shell -c` is Python code, `migrate APP zero` empties the database",
        Rails = "rails" : "`runner` takes Ruby code, `credentials:show` prints secrets",
        Rake = "rake" : "`-e` takes Ruby code, tasks of Rails",
        Laravel = "laravel" : "`tinker` takes PHP code",
        Symfony = "symfony" : "`dbal:run-sql` takes SQL",
    }
}

words! {
    /// What is looked at in Rust because tables cannot say it, besides the grammar.
    Check {
        ScalaCommands = "scala-commands" : "commands of sbt, some of which are Scala code",
        Flakes = "flakes" : "operands name flakes, which may come from elsewhere",
        ProjectReferences = "project-references" : "with `-b` the operands are projects whose settings decide",
        ExternCrates = "extern-crates" : "`--extern NAME=PATH` loads a library",
        RunModule = "run-module" : "`run -m MODULE` runs a Python module",
        SourceDirectory = "source-directory" : "the first operand is a directory whose settings are code",
        Cmake = "cmake" : "directories, targets that install, and settings that name programs",
        InstallTarget = "install-target" : "the target `install` puts files into the system",
        BuildDirectories = "build-directories" : "`setup` and `configure` run the build files of the directories they are given",
        Msbuild = "msbuild" : "switches that begin with `/` or `@`, and projects",
        JqFlag = "jq-flag" : "`--jq` takes a filter, which can read the environment",
        ContainerSettings = "container-settings" : "`inspect` and `compose config` print environments with passwords",
        TemplateDirectory = "template-directory" : "the operand is a template, below a directory that a flag names",
        CargoRun = "cargo-run" : "`run` starts a program of the project, which may be doorward itself",
    }
}

/// The part of a settings file that a program reads, where others keep theirs in the same file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sections {
    /// `pyproject.toml`, `package.json`, or `*.ini` for all files in sections.
    pub file: Text,
    /// Tables, keys, or words of the names of sections.
    pub parts: Vec<Text>,
}

words! {
    /// What words of a command mean to its program, where more than the words' own effect depends on it.
    Sense {
        FollowLinks = "follow-links" : "with these flags it reads what a link below its operands leads to",
        KeepLinks = "keep-links" : "with these flags a link stays a link",
        HardLink = "hard-link" : "with these flags a copy is another name of the same file",
        KeepPath = "keep-path" : "with these flags a copy has the whole path of what is copied",
        Descend = "descend" : "only with these flags it goes below what it is given",
        LeaveOut = "leave-out" : "flags whose value names what a walk leaves out",
        LeaveOutPaths = "leave-out-paths" : "flags whose value is a pattern for whole paths that a walk leaves out",
        WalkNames = "walk-names" : "with these flags the names of all files of a walk are printed",
        Pick = "pick" : "flags whose value names what a walk looks at; behind `!`, what it leaves out",
        PickType = "pick-type" : "flags whose value is a type of files that a walk looks at",
        KeepIgnored = "keep-ignored" : "with these flags ignored files are looked at as well",
        KeepHidden = "keep-hidden" : "with these flags hidden files are looked at as well",
        LiftNext = "lift-next" : "given once, these flags stand for `keep-ignored`, given twice, for `keep-hidden` as well",
        PrintNames = "print-names" : "with these flags it prints names, numbers or nothing, and no content",
        ListFiles = "list-files" : "with these flags it prints nothing but names of files",
        ListOnly = "list-only" : "the flags beside which `list-files` still prints names and nothing else",
        KeepLines = "keep-lines" : "lines of the input are printed whole as long as no other flags are given",
        AsGiven = "as-given" : "with these flags it prints its operands and not what lies below them",
        PrintToken = "print-token" : "with one of these words it prints a number or a plain word",
        NoToken = "no-token" : "with one of these flags it prints something else than that",
        Format = "format" : "flags whose value is the format of what is printed",
        TokenFormat = "token-format" : "formats that print a number",
        Pack = "pack" : "with these words an archive is made or grows",
        ListArchive = "list-archive" : "with these flags nothing is unpacked into a directory",
        UnpackInto = "unpack-into" : "flags whose value is the directory that is unpacked into",
        WriteInto = "write-into" : "a file that is there already is written into as long as no other flags are given",
        LoadModule = "load-module" : "flags whose value is a module that is loaded",
        LuaForm = "lua-form" : "flags whose value is a form, or a Lua script that describes one",
        Report = "report" : "flags whose value is a form of report and, behind a colon, where it is written",
    }
}

/// Words of a command that mean the same to its program.
#[derive(Clone, Debug, PartialEq)]
pub struct WordSet {
    /// A `Sense`.
    pub name: Text,
    pub words: Vec<Text>,
}

/// A set of facets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facets(pub u128);

// One bit each.
const _: () = assert!(Facet::ALL.len() <= 128);

impl Facets {
    pub fn add(&mut self, facet: Facet) {
        self.0 |= 1 << facet as u128;
    }

    pub fn has(self, facet: Facet) -> bool {
        self.0 >> facet as u128 & 1 == 1
    }

    pub fn has_any(self, facets: &[Facet]) -> bool {
        facets.iter().any(|facet| self.has(*facet))
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
