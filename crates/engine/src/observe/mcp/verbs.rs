//! What the name of a tool and the kind of its arguments claim, for servers that nobody has described.

use serde_json::{Map, Value};

use super::super::paths::touch::Touch;

/// First words of tool names that read.
// First words that tool servers of all vendors use for reading. It lowers nothing by itself: a server that is not
// trusted asks whatever its tools are called (tools-045).
const READING: &[&str] = &[
    "get",
    "list",
    "read",
    "search",
    "find",
    "fetch",
    "describe",
    "view",
    "show",
    "query",
    "lookup",
    "check",
    "count",
    "status",
    "snapshot",
    "screenshot",
    "inspect",
    "explain",
    "resolve",
    "browse",
    "summarize",
    "diff",
    "history",
    "info",
    "help",
    "wait",
    "batch_get",
    "navigate",
    "console",
];

/// Words in tool names that destroy, send, pay or give away.
// These decide wherever they stand in the name: `get_or_delete` deletes. Sending and paying count, as neither has an
// undo.
const DESTRUCTIVE: &[&str] = &[
    "delete",
    "drop",
    "remove",
    "destroy",
    "purge",
    "wipe",
    "truncate",
    "send",
    "pay",
    "transfer",
    "purchase",
    "buy",
    "order",
    "reserve",
    "book",
    "publish",
    "deploy",
    "upload",
    "invite",
    "ban",
    "kick",
    "grant",
    "revoke",
    "merge",
    "push",
    "kill",
    "terminate",
    "execute",
    "exec",
    "run",
    "eval",
    "evaluate",
    "shell",
    "command",
    "password",
    "credential",
    "reset",
    "disable",
    "withdraw",
    "post",
    "email",
    "message",
    "schedule",
    "share",
    "rotate",
    "shutdown",
    "restart",
    "unlock",
    "approve",
    "sign",
];

/// Words in tool names that change something, whatever the name begins with.
// `list_and_close` reads first and changes then; without this list the first word would win.
const CHANGING: &[&str] = &[
    "add", "append", "apply", "archive", "assign", "cancel", "change", "clear", "click", "close", "commit", "copy",
    "create", "edit", "enable", "fill", "fork", "import", "insert", "install", "lock", "mark", "modify", "move",
    "mutate", "patch", "press", "put", "rename", "replace", "save", "set", "start", "stop", "store", "submit",
    "toggle", "type", "update", "upsert", "write",
];

/// Words in tool names and kinds of resources that stand for secrets.
// `get_secret` reads, but what it returns ends up in the transcript.
const SECRETS: &[&str] = &[
    "secret",
    "secrets",
    "credentials",
    "passwords",
    "token",
    "tokens",
    "apikey",
    "apikeys",
    "env",
    "environ",
    "environment",
    "keychain",
];

/// What a tool claims to do.
pub(super) struct Claim {
    pub reads: bool,
    pub destructive: bool,
    pub returns_secrets: bool,
}

/// What name, arguments and the server's own hints claim; hints only ever make it graver.
pub(super) fn claim(words: &[String], args: &Value, annotations: &Map<String, Value>) -> Claim {
    let destructive = words.iter().any(|word| DESTRUCTIVE.contains(&word.as_str()))
        || annotations.get("destructiveHint") == Some(&Value::Bool(true));
    let changes = destructive || words.iter().any(|word| CHANGING.contains(&word.as_str())) || asks_to_change(args);
    let reads = !changes
        && annotations.get("readOnlyHint") != Some(&Value::Bool(false))
        && words.iter().any(|word| READING.contains(&word.as_str()))
        && words.first().is_some_and(|word| READING.contains(&word.as_str()) || word == "browser");
    let returns_secrets = words.iter().any(|word| SECRETS.contains(&word.as_str())) || names_secrets(args);
    Claim { reads, destructive, returns_secrets }
}

/// A call to a tool that is known to read says otherwise: its server calls it a change, or its arguments ask for one.
pub(super) fn contradicts(args: &Value, annotations: &Map<String, Value>) -> bool {
    let hint = |name: &str, value: bool| annotations.get(name) == Some(&Value::Bool(value));
    // Many tools call the kind of reading `method`, so here only the verbs of HTTP count.
    let is_verb = |text: &str| matches!(text.to_ascii_uppercase().as_str(), "DELETE" | "PUT" | "PATCH" | "POST");
    let asks = args.as_object().is_some_and(|fields| {
        let mut methods = fields.iter().filter(|(key, _)| is_method(&key.to_ascii_lowercase()));
        methods.any(|(_, value)| value.as_str().is_some_and(is_verb))
    });
    hint("destructiveHint", true) || hint("readOnlyHint", false) || asks || asks_for_mutation(args)
}

/// What a tool that says it handles files does to them.
pub(super) fn touch_of(server: &str, words: &[String]) -> Touch {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let server = server.to_ascii_lowercase();
    let of_files = has(&["file", "files", "directory", "directories", "dir", "folder", "path", "tree"])
        || ["file", "fs", "disk"].iter().any(|part| server.contains(part));
    match of_files {
        true if has(&["delete", "remove", "unlink", "rm", "rmdir", "purge", "wipe"]) => Touch::DeleteTree,
        true if has(&[
            "write", "edit", "create", "save", "append", "update", "replace", "move", "rename", "copy", "put", "patch",
            "insert", "chmod",
        ]) =>
        {
            Touch::Write
        }
        true | false => Touch::Read,
    }
}

/// `sendEmail`, `send_email`, `browser-click`: the words of a name in lower case.
pub(super) fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_lower = false;
    for character in name.chars() {
        let starts = character.is_ascii_uppercase() && before_lower;
        before_lower = character.is_ascii_lowercase();
        if !character.is_ascii_alphanumeric() || starts {
            words.push(String::new());
        }
        if character.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(character.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A method or a GraphQL operation that changes something, anywhere at the top of the arguments.
fn asks_to_change(args: &Value) -> bool {
    let Value::Object(fields) = args else { return false };
    let reads = |text: &str| matches!(text.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS");
    let mut methods = fields.iter().filter(|(key, _)| is_method(&key.to_ascii_lowercase()));
    methods.any(|(_, value)| value.as_str().is_some_and(|text| !reads(text))) || asks_for_mutation(args)
}

fn is_method(key: &str) -> bool {
    matches!(key, "method" | "http_method" | "httpmethod" | "verb")
}

/// GraphQL says so in its first word, or behind comments and other operations.
fn asks_for_mutation(args: &Value) -> bool {
    let Value::Object(fields) = args else { return false };
    fields.iter().any(|(key, value)| {
        let is_document = matches!(key.to_ascii_lowercase().as_str(), "query" | "graphql" | "operation" | "document");
        let Some(text) = value.as_str().filter(|_| is_document) else { return false };
        let text = text.trim_start();
        text.strip_prefix("mutation").is_some_and(|rest| rest.contains('{') && !rest.starts_with(char::is_alphanumeric))
            || (text.contains("mutation") && text.contains('{') && text.starts_with(['#', '{', 'q', 'f']))
    })
}

/// The kind of resource that is asked for is one of secrets.
fn names_secrets(args: &Value) -> bool {
    let Value::Object(fields) = args else { return false };
    fields.iter().any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        (key.contains("kind") || key.contains("type") || key.contains("resource"))
            && value.as_str().is_some_and(|text| SECRETS.contains(&text.to_ascii_lowercase().as_str()))
    })
}

/// The tool puts what it is asked to a database.
pub(super) fn asks_database(server: &str, words: &[String]) -> bool {
    // Parts of server names. Text for such a server is SQL even where it does not look like it (tools-069).
    const BASES: &[&str] = &[
        "sql",
        "postgres",
        "pg",
        "mysql",
        "maria",
        "sqlite",
        "duckdb",
        "database",
        "db",
        "clickhouse",
        "snowflake",
        "bigquery",
    ];
    let server = name_words(server);
    words.iter().any(|word| word == "query" || word == "sql")
        && server
            .iter()
            .chain(words)
            .any(|word| BASES.iter().any(|base| word == base || (base.len() > 2 && word.contains(base))))
}
