//! The closed vocabulary of marks: everything else that a rule may ask about an effect.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::words;

words! {
    /// A property of an effect. Marks only ever raise risk, except the ones whose text says *settles*.
    Mark {
        // Where a path lies.
        Root = "root" : "the root of the file system",
        HomeRoot = "home-root" : "the home directory itself, or a parent of it",
        ProjectRoot = "project-root" : "the top of the project itself",
        SystemDirectory = "system-directory" : "a directory that belongs to the operating system",
        CredentialStore = "credential-store" : "a file or directory that holds credentials",
        SshMaterial = "ssh-material" : "the user's SSH directory: keys, configuration, known hosts",
        AuthorizedKeys = "authorized-keys" : "the list of keys that may log in",
        ShellProfile = "shell-profile" : "a file that a shell runs at start",
        Persistence = "persistence" : "runs something later or at every start: cron, launch agents, services, autostart",
        GuardOwn = "guard-own" : "doorward's own files, state, socket or binary",
        AgentSettings = "agent-settings" : "settings, hooks or permissions of an AI agent",
        InstructionFile = "instruction-file" : "instructions or memory that an agent follows",
        GitInternals = "git-internals" : "inside a .git directory",
        GitHook = "git-hook" : "a script that git runs by itself",
        Manifest = "manifest" : "a package manifest or build recipe",
        Lockfile = "lockfile" : "a lock file of a package manager",
        Ci = "ci" : "a continuous integration definition",
        Infrastructure = "infrastructure" : "an infrastructure or deployment definition",
        Container = "container" : "a container build or compose file",
        EditorConfig = "editor-config" : "editor settings that can run tasks",
        DotEnv = "dot-env" : "an environment file that usually holds secrets",
        Device = "device" : "a device, a socket or another special file",
        ProcAlias = "proc-alias" : "reached through /proc or another alias of the file system",
        LinkedElsewhere = "linked-elsewhere" : "a symbolic link leads somewhere else than the path says",
        HardLinked = "hard-linked" : "the file has more than one name",
        OnProgramPath = "on-program-path" : "a directory where programs are looked up",
        ProtectedPath = "protected-path" : "a path that the configuration protects",
        DeniedPath = "denied-path" : "a path that the configuration denies",
        RemotePath = "remote-path" : "a path on another machine",
        Temp = "temp" : "a directory for everyone's temporary files",
        AgentNotes = "agent-notes" : "plans, tasks, transcripts or logs that an agent keeps for itself",
        OutsideProject = "outside-project" : "outside the project and outside scratch",
        Hidden = "hidden-characters" : "the text contains characters that you can't see",

        // What a program does beyond its operation.
        Recursive = "recursive" : "acts on a whole tree",
        BelowHome = "below-home" : "is in your home directory",
        Cache = "cache" : "is in a cache or build output, which programs refill",
        Force = "force" : "told to ignore warnings",
        Bulk = "bulk" : "more files or bytes than the bulk limit",
        CountUnknown = "count-unknown" : "doorward can't tell how many files are affected",
        Truncates = "truncates" : "the old content is gone",
        Unseen = "unseen-content" : "the new content of an existing file is not seen in the call",
        Wildcard = "wildcard" : "affects whatever matches a pattern",
        Narrowed = "narrowed" : "affects only names that contain a telling piece of text; settles nothing by itself",
        Creates = "creates" : "creates something that was not there",
        Destroys = "destroys" : "destroys a resource that is not a file",
        Test = "test" : "runs the project's tests",
        Build = "build" : "builds the project",
        Lint = "lint" : "lints, formats or type-checks the project",
        RunsProject = "runs-project" : "runs the project or one of its scripts",
        InstallDeclared = "install-declared" : "installs what the manifest declares",
        InstallChosen = "install-chosen" : "installs a package that the agent chose",
        SystemPackages = "system-packages" : "changes packages of the machine",
        RemoteCode = "remote-code" : "runs code fetched for this call",
        Publish = "publish" : "publishes a package, image, release or page",
        Deploy = "deploy" : "deploys to a running system",
        Push = "push" : "pushes commits to a remote",
        DefaultBranch = "default-branch" : "touches the default branch of a remote",
        HistoryRewrite = "history-rewrite" : "rewrites or drops commits",
        DiscardsWork = "discards-work" : "throws away uncommitted changes",
        Commit = "commit" : "records commits, branches, stashes or tags locally",
        GitConfig = "git-config" : "changes git configuration",
        GitRemoteChange = "git-remote-change" : "adds or changes a remote",
        UnsafeGitConfig = "unsafe-git-config" : "the effective git configuration makes git run other programs",
        TlsWeakened = "tls-weakened" : "certificate or transport checks are switched off or weakened",
        SecurityWeakened = "security-weakened" : "a protection of the platform is switched off or weakened",
        PermissionChange = "permission-change" : "changes mode, owner or access list",
        OpenToAll = "open-to-all" : "makes something writable by everyone",
        LocksOut = "locks-out" : "takes rights away from a file's owner, or changes who owns or may open it",
        SetUid = "set-uid" : "sets a set-user-id bit or a capability",
        Privileged = "privileged" : "runs as another user, usually root",
        ServiceChange = "service-change" : "starts, stops or changes a service",
        ProcessSignal = "process-signal" : "sends a signal to processes",
        ForeignProcess = "foreign-process" : "the process does not belong to this session",
        Shutdown = "shutdown" : "stops or restarts the machine",
        DiskFormat = "disk-format" : "formats, partitions or overwrites a disk",
        Remote = "remote" : "runs on another machine or in a container",
        ContainerEscape = "container-escape" : "a container with the rights of this machine",
        Cloud = "cloud" : "acts on a cloud account",
        Database = "database" : "acts on a database",
        SecretReturning = "secret-returning" : "prints or copies secrets",
        EnvironmentDump = "environment-dump" : "prints the environment",
        ExternalMessage = "external-message" : "sends something to people: mail, chat, comment, issue",
        ExternalWrite = "external-write" : "changes something on an external service under the user's name",
        ForkBomb = "fork-bomb" : "starts processes without end",
        Exhaustion = "exhaustion" : "uses up disk, memory or processes",
        AgentStart = "agent-start" : "starts an AI agent",
        UnguardedAgent = "unguarded-agent" : "starts an AI agent with its checks switched off",
        GuardStop = "guard-stop" : "stops, removes or bypasses doorward",
        PersonOnly = "person-only" : "a doorward command that agents can't run",
        Interactive = "interactive" : "waits for input at a terminal",
        SubagentTask = "subagent-task" : "hands a task to another agent",
        HarnessOnly = "harness-only" : "a tool of the agent's own that touches nothing outside it; settles",

        // The network.
        Loopback = "loopback" : "this machine itself",
        ListedHost = "listed-host" : "a host on the allow-list; settles",
        UnlistedHost = "unlisted-host" : "a host that is not on the allow-list",
        DeniedHost = "denied-host" : "a host that the configuration denies",
        OwnRemote = "own-remote" : "the repository's own remote",
        PrivateAddress = "private-address" : "an address of a private network",
        LanAddress = "lan-address" : "an address of a private network, written as one",
        MetadataAddress = "metadata-address" : "a cloud metadata service",
        AddressLiteral = "address-literal" : "an address instead of a name",
        OddAddress = "odd-address" : "an address or URL written in an unusual way",
        OddPort = "odd-port" : "not the usual port",
        RareDomain = "rare-domain" : "a top-level domain that is rare in development",
        DropHost = "drop-host" : "a host where anyone can receive data: webhooks, pastes, tunnels, file drops",
        CarriesData = "carries-data" : "an address long or odd enough to carry data out",
        VariablePart = "variable-part" : "the request has a query, or a name in its address that could stand for data",
        AnsweredHost = "answered-host" : "you let a plain request reach this host since a secret was read; settles",
        ControlPort = "control-port" : "a port of this machine that controls other programs: containers, debuggers, clusters",
        Plaintext = "plaintext" : "not encrypted",
        Upload = "upload" : "data leaves this machine",
        Download = "download" : "data arrives and is stored",
        Registry = "registry" : "a package registry",
        NameQuery = "name-query" : "a DNS or ICMP query that can carry data",
        Listens = "listens" : "opens a port on this machine",

        // Code and identity.
        ShellCode = "shell-code" : "text that a shell runs",
        InlineCode = "inline-code" : "code given on the command line",
        UnlistedBinary = "unlisted-binary" : "a program outside the trusted directories and not on a list",
        ProjectBinary = "project-binary" : "a program built or kept in the project",
        ChangedBinary = "changed-binary" : "a toolchain program other than the one you listed",
        UnknownProgram = "unknown-program" : "a program that doorward does not know",
        ChangedRecipe = "changed-recipe" : "the recipe or script changed since it was trusted",
        SessionFile = "session-file" : "a file written in this session",
        UntrustedProject = "untrusted-project" : "this project isn't trusted yet",
        EnvironmentPoison = "environment-poison" : "sets a variable that can make programs run or load something else",
        HistoryHidden = "history-hidden" : "stops the shell from recording what is typed",
        Obfuscated = "obfuscated" : "decoded, assembled or hidden before it runs",

        // Content.
        SecretInContent = "secret-in-content" : "the content holds something shaped like a secret",
        LifecycleScript = "lifecycle-script" : "adds a script that a tool runs by itself",
        GrantsPermission = "grants-permission" : "text that grants an agent permissions",
        RunsOnLoad = "runs-on-load" : "a file that a tool runs when it starts",

        // Other tools.
        McpUntrusted = "mcp-untrusted" : "a tool server that isn't trusted",
        McpUnreviewed = "mcp-unreviewed" : "a tool server that is configured but not trusted yet",
        McpChanged = "mcp-changed" : "the tool's definition changed since it was trusted",
        McpReadOnly = "mcp-read-only" : "the tool's name and arguments suggest that it only reads",
        McpDestructive = "mcp-destructive" : "the tool's name or arguments suggest that it destroys, sends or pays",
        UnknownTool = "unknown-tool" : "a tool that doorward does not know",
        LargeRead = "large-read" : "more than the limit for one read",
        RateExceeded = "rate-exceeded" : "more calls than the rate limit",

        // Guards that a call goes past. Marks are features of the model by their place, so new ones come last.
        SkipsChecks = "skips-checks" : "skips checks that would run automatically: git hooks, commit checks",
        SandboxOff = "sandbox-off" : "asks the agent's client to run it outside its own sandbox",
        ExchangedBinary = "exchanged-binary" : "a program that changed since you trusted it",
        WidelyImported = "widely-imported" : "5 or more files of the project import it",
        ImportedEverywhere = "imported-everywhere" : "20 or more files of the project import it",
    }
}

/// A set of marks.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks([u64; 3]);

// Marks are stored as three 64-bit words, in facts and in the packed rules.
const _: () = assert!(Mark::ALL.len() <= 192);

impl Marks {
    pub const fn is_empty(&self) -> bool {
        let [a, b, c] = self.0;
        a | b | c == 0
    }

    /// The set as three words of bits, for packing.
    pub const fn words(&self) -> [u64; 3] {
        self.0
    }

    pub const fn from_words(words: [u64; 3]) -> Marks {
        Marks(words)
    }

    fn slot(mark: Mark) -> (usize, u64) {
        (mark as usize / 64, 1 << (mark as usize % 64))
    }

    pub fn add(&mut self, mark: Mark) {
        let (index, bit) = Self::slot(mark);
        if let Some(word) = self.0.get_mut(index) {
            *word |= bit;
        }
    }

    pub fn remove(&mut self, mark: Mark) {
        let (index, bit) = Self::slot(mark);
        if let Some(word) = self.0.get_mut(index) {
            *word &= !bit;
        }
    }

    #[must_use]
    pub fn with(mut self, mark: Mark) -> Marks {
        self.add(mark);
        self
    }

    pub fn has(&self, mark: Mark) -> bool {
        let (index, bit) = Self::slot(mark);
        self.0.get(index).is_some_and(|word| word & bit != 0)
    }

    pub fn has_any(&self, marks: &[Mark]) -> bool {
        marks.iter().any(|mark| self.has(*mark))
    }

    /// Every mark of the other set is in this one.
    pub fn contains(&self, other: Marks) -> bool {
        self.0.iter().zip(other.0).all(|(word, wanted)| word & wanted == wanted)
    }

    pub fn intersects(&self, other: Marks) -> bool {
        self.0.iter().zip(other.0).any(|(word, wanted)| word & wanted != 0)
    }

    pub fn union(&mut self, other: Marks) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Mark> + '_ {
        Mark::ALL.iter().copied().filter(|mark| self.has(*mark))
    }
}

impl std::fmt::Debug for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(Mark::as_str)).finish()
    }
}

impl FromIterator<Mark> for Marks {
    fn from_iter<I: IntoIterator<Item = Mark>>(marks: I) -> Marks {
        let mut all = Marks::default();
        marks.into_iter().for_each(|mark| all.add(mark));
        all
    }
}

impl Serialize for Marks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Marks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Marks, D::Error> {
        Ok(Vec::<Mark>::deserialize(deserializer)?.into_iter().collect())
    }
}
