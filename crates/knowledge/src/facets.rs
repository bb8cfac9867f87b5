//! What is known of a program beyond its flags, operands and effects: facets, senses of words, tasks, consoles, settings.

use doorward_vocabulary::words;

use crate::schema::Text;

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
        ResolvesLinks = "resolves-links" : "prints its operand as a path without links",
        HandsEnvironment = "hands-environment" : "runs code of the project, which may read variables that the program itself does not know",
        ReachesOut = "reaches-out" : "some of its subcommands change things on other machines or services, or on the whole machine",
        TestsTakeFlags = "tests-take-flags" : "flags that it does not know itself, behind what it tests, are for the tests",
        TidiesImports = "tidies-imports" : "declares what the sources import: what this session imports is the agent's choice",
        AsksForHunks = "asks-for-hunks" : "asks which pieces of a change are staged, and reads the answers from its input",
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
        JudgedClient = "judged-client" : "an agent that doorward can be installed in, so stopping it leaves calls unjudged",
        ChangesSystems = "changes-systems" : "a task that is named after it changes running systems",
        MigratesDatabases = "migrates-databases" : "a task that is named after it is about the schema or the data of a database",
        AddsDependencies = "adds-dependencies" : "a package manager that people name when they want a dependency added",
        PlainRequests = "plain-requests" : "sends nothing but the address it is given, unless a flag says otherwise",
        LiesInProject = "lies-in-project" : "a wrapper that a project brings along under this name",
        RunsPythonFiles = "runs-python-files" : "a command that ends in `.py` is given to Python instead of being started",
        ExecAddresses = "exec-addresses" : "an operand that begins with `EXEC:`, `SYSTEM:` or `SHELL:` is a command",
        AttachedValues = "attached-values" : "takes the value of a flag of one letter without a space as well: `-Iinclude`, `-lm`",
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
        ContainedRun = "contained-run" : "`run TOKEN` is what a hook puts in place of a call, and nobody types it",
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
        PrintPlace = "print-place" : "questions that it answers with the place where a tool chain keeps something: subcommands, operands and flags, joined by commas (`env,GOROOT`, `--print=sysroot`); `*` stands for any names",
        NoToken = "no-token" : "with one of these flags it prints something else than that",
        Format = "format" : "flags whose value is the format of what is printed",
        TokenFormat = "token-format" : "formats that print a number",
        Pack = "pack" : "with these words an archive is made or grows",
        ListArchive = "list-archive" : "with these flags nothing is unpacked into a directory",
        UnpackInto = "unpack-into" : "flags whose value is the directory that is unpacked into",
        WriteInto = "write-into" : "a file that is there already is written into as long as no other flags are given",
        LoadModule = "load-module" : "flags whose value is a module that is loaded",
        LuaForm = "lua-form" : "flags whose value is a form, or a Lua script that describes one",
        Password = "password" : "flags whose value is a password",
        UserPassword = "user-password" : "flags whose value is a user and, behind a colon, a password",
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
