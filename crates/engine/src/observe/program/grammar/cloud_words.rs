//! The words of clients of cloud providers: verbs, groups and flags, by what they do.

// Clouds name thousands of operations by a few dozen verbs. What begins with none of the verbs here or below asks.
pub(super) const READING: &[&str] = &[
    "list",
    "ls",
    "describe",
    "get",
    "show",
    "head",
    "search",
    "lookup",
    "query",
    "scan",
    "batch-get",
    "view",
    "read",
    "tail",
    "status",
    "wait",
    "check",
    "exists",
    "validate",
    "preview",
    "history",
    "count",
    "info",
    "filter",
    "estimate",
    "simulate",
    "summarize",
    "get-value",
    "list-keys-metadata",
    "top",
    "help",
    "test-metric-filter",
    "select",
    "logs",
    "version",
    "detect",
];

// Separate from other changes because few cloud services have an undo (cloud-040, cloud-042), and checked first.
pub(super) const DESTROYING: &[&str] = &[
    "delete",
    "terminate",
    "remove",
    "destroy",
    "purge",
    "drop",
    "rb",
    "rm",
    "deregister",
    "detach",
    "revoke",
    "disable",
    "release",
    "cancel",
    "batch-delete",
    "schedule-key-deletion",
    "empty",
    "forget",
    "abandon",
    "unset",
    "clear",
];

// Checked before the reading verbs: a name with both, such as `start-query`, changes something.
pub(super) const CHANGING: &[&str] = &[
    "create",
    "put",
    "update",
    "attach",
    "run",
    "start",
    "stop",
    "modify",
    "add",
    "set",
    "enable",
    "register",
    "deploy",
    "apply",
    "import",
    "copy",
    "cp",
    "mv",
    "sync",
    "tag",
    "untag",
    "reboot",
    "restart",
    "scale",
    "resize",
    "associate",
    "disassociate",
    "authorize",
    "publish",
    "send",
    "invoke",
    "promote",
    "restore",
    "upload",
    "push",
    "submit",
    "change",
    "replace",
    "move",
    "execute",
    "patch",
    "rotate",
    "reset",
    "mb",
    "build",
    "batch-write",
    "transact",
    "begin",
    "complete",
    "accept",
    "reject",
    "allocate",
    "assign",
    "upgrade",
    "rollback",
    "insert",
    "merge",
    "link",
    "unlink",
    "grant",
    "call",
    "transfer",
    "publish-message",
];

// They open a shell or a port on a machine elsewhere, where nothing is judged (cloud-029).
pub(super) const REMOTE: &[&str] = &[
    "ssh",
    "scp",
    "start-session",
    "execute-command",
    "send-command",
    "run-command",
    "exec",
    "console",
    "connect",
    "tunnel",
    "port-forward",
];

// They write credentials or configuration on this machine and change nothing in the cloud.
pub(super) const LOCAL: &[&str] = &[
    "login",
    "logout",
    "configure",
    "init",
    "get-credentials",
    "update-kubeconfig",
    "configure-docker",
    "activate-service-account",
    "config-ssh",
    "application-default",
];

/// Verbs of which the answer is a secret.
// Reading verbs whose answer is a credential: it would end up in the transcript.
pub(super) const SECRET: &[&str] = &[
    "get-secret-value",
    "batch-get-secret-value",
    "get-session-token",
    "assume-role",
    "assume-role-with-saml",
    "assume-role-with-web-identity",
    "get-federation-token",
    "create-access-key",
    "get-login-password",
    "get-login",
    "decrypt",
    "get-password-data",
    "get-access-token",
    "print-access-token",
    "print-identity-token",
    "print-refresh-token",
    "get-authorization-token",
    "export-credentials",
    "get-random-password",
    "create-login-profile",
    "get-keys",
    "list-keys",
    "list-connection-strings",
    "show-connection-string",
    "generate-sas",
    "get-upload-credentials",
    "create-service-specific-credential",
    "get-credentials-for-identity",
    "get-role-credentials",
    "access",
    "generate-data-key",
    "get-token",
    "list-publishing-credentials",
    "list-publishing-profiles",
    "describe-user-pool-client",
    "get-cluster-credentials",
    "get-cluster-credentials-with-iam",
    "get-instance-access-details",
    "list-api-keys",
    "get-connection",
    "get-connections",
    "get-web-identity-token",
];

/// Things of Azure whose reading is reading a secret: `az … connection-string list`, `az … keys list`.
// Azure has no verb of its own for it: `list` on one of these prints keys.
pub(super) const AZURE_SECRETS: &[&str] = &[
    "keys",
    "key",
    "admin-key",
    "query-key",
    "connection-string",
    "credential",
    "credentials",
    "secret",
    "secrets",
    "appsettings",
    "sas",
];

/// Groups of Azure whose lists of such things hold names and dates only.
// In these groups the same words list names; the values need `secret show`, which is judged by itself.
pub(super) const AZURE_NAMES_ONLY: &[&str] = &["keyvault", "ad"];

/// Flags that put a secret into what would otherwise be a list of names.
// Without the flag the same command lists names only (secrets-031).
pub(super) const REVEALING: &[&str] = &["--with-decryption", "--include-value", "--include-values", "--show-values"];

/// Short flags of Azure's client that name something: location, container, project, server, registry, type and the like.
// Short flags with a value. Without this list the value would be read as part of the command's name.
pub(super) const AZURE_LETTERS: &[&str] = &["-l", "-c", "-p", "-s", "-r", "-t", "-e", "-w", "-a", "-v", "-i", "-d"];

/// Words in the name of a flag whose value is a file or directory here.
// A value that is a path here is a read or a write of that file, whatever the service does with it.
pub(super) const LOCAL_FILES: &[&str] = &[
    "file",
    "files",
    "outfile",
    "script",
    "scripts",
    "output",
    "dest",
    "destination",
    "folder",
    "dir",
    "directory",
    "outdir",
    "localpath",
];

/// Verbs of two words that read, though the first alone would not say so.
// `admin-get-user` reads, `admin-…` alone usually changes; `batch-get` would otherwise be caught by `batch`.
pub(super) const READING_PAIRS: &[&str] =
    &["admin-get", "admin-list", "transact-get", "batch-get", "batch-describe", "test-dns"];

/// Verbs of aws that write what they get to the file named last.
// The last operand is where the answer is written, and an existing file there is overwritten.
pub(super) const STREAMED: &[&str] = &[
    "get-object",
    "get-object-torrent",
    "get-export",
    "get-sdk",
    "export-api",
    "get-job-output",
    "get-package-version-asset",
    "get-thing-shadow",
    "get-media",
    "get-media-for-fragment-list",
    "get-clip",
    "get-configuration",
    "get-hosted-configuration-version",
    "get-latest-configuration",
    "get-chunk",
    "get-snapshot-block",
    "describe-input-device-thumbnail",
    "get-read-set",
    "get-reference",
    "get-raw-message-content",
    "get-profile",
    "get-map-tile",
    "get-map-glyphs",
    "get-map-sprites",
    "get-map-style-descriptor",
    "get-static-map",
    "get-tile",
    "get-glyphs",
    "get-sprites",
    "get-style-descriptor",
    "get-session-output",
    "get-model-template",
];

/// A verb that shows something, and a noun that is a secret: `list-credentials`, `get-auth-string`.
pub(super) fn shows_a_secret(word: &str) -> bool {
    // What a service calls its passwords. `list-secrets` and `list-access-keys` show names only and are not here.
    const NOUNS: &[&str] = &[
        "credential",
        "credentials",
        "auth-string",
        "key-string",
        "password",
        "passwords",
        "master-password",
        "admin-password",
        "connection-string",
        "connection-strings",
        "sas",
        "sas-token",
        "access-token",
        "auth-token",
        "login-token",
        "join-token",
        "registration-token",
        "id-token",
        "api-key",
        "client-secret",
        "account-key",
        "shared-keys",
        "private-key",
        "kubeconfig",
        "publishing-profile",
    ];
    const SHOWING: &[&str] = &[
        "get", "list", "show", "print", "export", "fetch", "describe", "reveal", "view", "read", "generate",
        "retrieve", "issue",
    ];
    let Some((verb, noun)) = word.split_once('-') else { return false };
    SHOWING.contains(&verb) && NOUNS.iter().any(|known| noun == *known || noun.ends_with(&format!("-{known}")))
}
