//! Calls to tool servers: the name says what a tool claims to do, the arguments what it touches.

use doorward_vocabulary::{Degree, FlowKind, Mark, Operation, Reach, Reversibility, Scope, Sensitivity};
use serde_json::{Map, Value};

use super::connect::Exchange;
use super::field::Field;
use super::page_scripts::only_looks;
use super::paths::touch::Touch;
use super::sheet::observer::{By, Observer};
use super::shell::runner::Runner;
use super::shell::state::State;
use super::stream::Stream;
use crate::effect::{Effect, Target};
use crate::knowledge::tool::Risk;
use crate::observe::shell::reading::every_reading;
use crate::world::{McpTrust, Shell, World};
use crate::{network, secret};

/// Arguments of a tool server that are looked at one by one.
// A tool call has a few dozen values. One with thousands is data, and is asked about instead of walked.
const ARGUMENTS: usize = 500;

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

/// Names of arguments that hold an address.
// Where a server is told to connect: such a value is judged like the address of a fetch.
const ADDRESSES: &[&str] =
    &["url", "uri", "href", "link", "endpoint", "host", "hostname", "domain", "webhook", "address"];

/// Names of arguments that hold a command line.
// A value under such a name is run somewhere; it is judged as a shell command (tools-017).
const COMMANDS: &[&str] = &["command", "cmd", "shell", "bash", "script", "commands", "cmdline", "commandline", "exec"];

/// What goes with the arguments of one call.
struct Given<'a> {
    cwd: &'a str,
    /// So many more are looked at.
    left: usize,
    /// What the tool does to the files it is given.
    touch: Touch,
    /// What it is asked is put to a database.
    asks_database: bool,
    /// Values that are JSON in text are opened so many times.
    depth: u32,
    /// The code among the arguments only looks at a page.
    looks: bool,
    /// A file that is named is written: a picture, a print, a recording.
    saves: bool,
}

/// What a tool that says it handles files does to them.
fn touch_of(server: &str, words: &[String]) -> Touch {
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

/// A call to a tool server: the name says what it claims, the arguments say what it touches.
pub(super) fn mcp_tool(
    out: &mut Observer<'_>,
    server: &str,
    name: &str,
    args: &Value,
    annotations: &Map<String, Value>,
    cwd: &str,
) {
    let words: Vec<String> = name_words(name);
    let known = out.knowledge.tools().unwrap_or_default();
    let known = known.into_iter().find(|tool| tool.name == name && tool.is_of_server(server));
    let is_known_read = known.as_ref().is_some_and(|tool| tool.risk <= Risk::Low);
    // What a script does to the page stands in the script.
    let looks = known.as_ref().is_some_and(|tool| tool.risk == Risk::Medium) && script_only_looks(args);
    let destructive = words.iter().any(|word| DESTRUCTIVE.contains(&word.as_str()))
        || annotations.get("destructiveHint") == Some(&Value::Bool(true));
    let destructive =
        destructive && !((is_known_read || looks) && annotations.get("destructiveHint") != Some(&Value::Bool(true)));
    let changes = destructive || words.iter().any(|word| CHANGING.contains(&word.as_str())) || asks_to_change(args);
    let is_denied = annotations.get("readOnlyHint") == Some(&Value::Bool(false));
    let reads_as_known = (is_known_read || looks) && !destructive && !is_denied && !asks_to_change(args);
    let reads = reads_as_known
        || !changes
            && !is_denied
            && words.iter().any(|word| READING.contains(&word.as_str()))
            && words.first().is_some_and(|word| READING.contains(&word.as_str()) || word == "browser");
    let operation = if reads { Operation::Network } else { Operation::Mutate };
    let mut effect = Effect::new(operation, Target::Resource(format!("{server}/{name}")));
    effect.scope = Scope::External;
    if reads {
        effect.marks.add(Mark::McpReadOnly);
    } else {
        effect.reach = Reach::Beyond;
        effect.reversibility = if destructive { Reversibility::Irreversible } else { Reversibility::Tracked };
        effect.marks.add(Mark::ExternalWrite);
    }
    if destructive {
        effect.marks.add(Mark::McpDestructive);
    }
    if words.iter().any(|word| SECRETS.contains(&word.as_str())) || names_secrets(args) {
        effect.marks.add(Mark::SecretReturning);
    }
    match out.world.mcp(server, name) {
        McpTrust::Trusted => {}
        // A server of this name that the user configured, asked for what its documentation calls reading.
        McpTrust::Configured if reads_as_known => {}
        McpTrust::Configured | McpTrust::Proposed => effect.marks.add(Mark::McpUnreviewed),
        McpTrust::Untrusted => effect.marks.add(Mark::McpUntrusted),
        McpTrust::Changed => {
            effect.marks.add(Mark::McpChanged);
            out.lower(Degree::Opaque, format!("the definition of `{name}` changed since it was trusted"));
        }
    }
    out.effect(effect);
    let mut given = Given {
        cwd,
        left: ARGUMENTS,
        touch: touch_of(server, &words),
        asks_database: asks_database(server, &words),
        depth: 3,
        looks,
        saves: words.iter().any(|word| matches!(word.as_str(), "screenshot" | "pdf" | "save" | "download" | "trace")),
    };
    argument(out, "", args, &mut given);
}

/// Looks at an argument as a path, an address, a command or SQL.
fn argument(out: &mut Observer<'_>, key: &str, value: &Value, given: &mut Given<'_>) {
    if given.left == 0 {
        out.lower(Degree::Opaque, "there are more arguments than doorward checks");
        return;
    }
    given.left -= 1;
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| argument(out, key, value, given)),
        Value::Array(items)
            if matches!(key.to_ascii_lowercase().as_str(), "argv" | "args" | "cmd" | "command")
                && items.iter().all(Value::is_string) =>
        {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            text_argument(out, "command", &words.join(" "), given);
        }
        Value::Array(items) => items.iter().for_each(|item| argument(out, key, item, given)),
        Value::String(text) => match inner_json(text).filter(|_| given.depth > 0) {
            Some(inner) => {
                given.depth -= 1;
                argument(out, key, &inner, given);
                given.depth += 1;
            }
            None => text_argument(out, key, text, given),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Names of arguments that hold code.
fn is_code(key: &str) -> bool {
    matches!(key, "code" | "function" | "expression" | "javascript" | "python")
}

/// There is code among the arguments, and all of it only looks at a page.
fn script_only_looks(args: &Value) -> bool {
    let Value::Object(fields) = args else { return false };
    let mut scripts = fields.iter().filter(|(key, _)| is_code(&key.to_ascii_lowercase())).peekable();
    scripts.peek().is_some() && scripts.all(|(_, value)| value.as_str().is_some_and(only_looks))
}

fn text_argument(out: &mut Observer<'_>, key: &str, text: &str, given: &Given<'_>) {
    let key_words = name_words(key);
    let (key, cwd) = (key.to_ascii_lowercase(), given.cwd);
    let asked = given.asks_database && matches!(key.as_str(), "" | "q" | "query" | "queries" | "text" | "input");
    let is_address = key_words.last().is_some_and(|word| ADDRESSES.contains(&word.as_str()));
    if secret::holds_encoded(text) {
        out.flow(FlowKind::SecretToNetwork, Default::default(), Default::default());
    }
    if key_words.iter().any(|word| COMMANDS.contains(&word.as_str())) {
        let mut state = State::new(cwd.starts_with('/').then_some(cwd));
        out.outer = Some(Default::default());
        every_reading(&mut Runner::new(out), text, Shell::Unknown, &mut state, &Stream::empty(), "");
        out.outer = None;
    } else if is_code(&key) {
        if given.looks {
            return;
        }
        out.lower(Degree::Opaque, "code given to a tool server");
    } else if asked || matches!(key.as_str(), "sql" | "statement" | "stmt") || looks_like_sql(text) {
        if !super::program::grammar::sql_reads_only(text) {
            let mut effect = Effect::new(Operation::Mutate, Target::Resource("database".into()));
            effect.scope = Scope::External;
            effect.reach = Reach::Beyond;
            effect.reversibility = Reversibility::Irreversible;
            effect.marks.add(Mark::Database);
            out.effect(effect);
        }
    } else if text.contains("://") {
        for word in text.split(|letter: char| letter.is_whitespace() || "\"'<>()".contains(letter)) {
            if word.contains("://") {
                let address = network::url(word, out.world);
                out.contact(&address, Exchange::Fetch, &By::default());
            }
        }
    } else if is_address && !text.is_empty() {
        bare_address(out, text, given);
    } else if looks_like_path(&key, text) || is_secret_name(out.world, text, cwd) {
        let text = match (text.strip_prefix('~'), out.world.home()) {
            (Some(rest), Some(home)) => format!("{home}{rest}"),
            (Some(_) | None, Some(_) | None) => text.to_owned(),
        };
        let writes =
            given.saves || ["write", "content", "dest", "target", "output"].iter().any(|word| key.contains(word));
        let field = Field::literal(text, doorward_shell::Span::default());
        out.touch(
            if writes { Touch::Write } else { given.touch },
            &field,
            cwd.starts_with('/').then_some(cwd),
            &By::default(),
        );
    }
}

/// An address without its scheme, or with one that no server speaks.
fn bare_address(out: &mut Observer<'_>, text: &str, given: &Given<'_>) {
    let lower = text.trim().to_ascii_lowercase();
    if let Some(path) = lower.strip_prefix("file:").and_then(|_| text.trim().get(5..)) {
        return text_argument(out, "path", path, given);
    }
    if ["javascript:", "data:", "view-source:", "blob:"].iter().any(|scheme| lower.starts_with(scheme)) {
        return out.lower(Degree::Opaque, "code in an address given to a tool server");
    }
    let rest = lower.split_once(':').map_or(lower.as_str(), |(scheme, rest)| {
        if matches!(scheme, "http" | "https") { rest } else { lower.as_str() }
    });
    let rest = rest.trim_start_matches(['/', '\\']);
    if rest.contains('.') && !rest.contains(char::is_whitespace) {
        let address = network::url(&format!("https://{rest}"), out.world);
        out.contact(&address, Exchange::Fetch, &By::default());
    }
}

/// A value under whatever name that is the path of something secret.
fn is_secret_name(world: &dyn World, text: &str, cwd: &str) -> bool {
    if text.len() > 512 || text.contains(char::is_whitespace) || !cwd.starts_with('/') {
        return false;
    }
    let text = text.strip_prefix("file:").unwrap_or(text);
    let path = crate::path::lexical(&crate::path::join(cwd, text));
    (text.starts_with('.') || text.contains('/'))
        && crate::place::classify(&path, world).sensitivity > Sensitivity::None
}

/// `sendEmail`, `send_email`, `browser-click`: the words of a name in lower case.
fn name_words(name: &str) -> Vec<String> {
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

/// A statement by its first words, or one that changes data anywhere in the text.
fn looks_like_sql(text: &str) -> bool {
    // With one of the objects below: either word alone occurs in ordinary prose, together they are a statement.
    const VERBS: &[&str] =
        &["select", "insert", "update", "delete", "drop", "alter", "truncate", "create", "grant", "replace", "merge"];
    const OBJECTS: &[&str] =
        &["from", "into", "table", "set", "database", "schema", "view", "index", "on", "user", "role"];
    let lower = text.get(..4096).unwrap_or(text).to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let starts = words.first().is_some_and(|word| VERBS.contains(word) || *word == "with");
    let follows = |at: usize| words.iter().skip(at + 1).any(|word| OBJECTS.contains(word));
    let changes = words.windows(2).any(|pair| {
        matches!(
            pair,
            ["delete", "from"]
                | ["insert", "into"]
                | ["drop", "table" | "database" | "schema" | "view"]
                | ["truncate" | "alter" | "create", "table"]
        )
    });
    changes || starts && follows(0)
}

fn looks_like_path(key: &str, text: &str) -> bool {
    let is_path_key = ["path", "file", "filename", "directory", "dir", "folder", "filepath", "file_path"]
        .iter()
        .any(|word| key == *word || key.ends_with(word));
    !text.contains('\n')
        && text.len() < 4096
        && (text.starts_with('/')
            || text.starts_with("~/")
            || text.starts_with("./")
            || text.starts_with("../")
            || is_path_key)
}

/// An object or a list that is given as text.
fn inner_json(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    if !trimmed.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(trimmed).ok()
}

/// A method or a GraphQL operation that changes something, anywhere at the top of the arguments.
fn asks_to_change(args: &Value) -> bool {
    let Value::Object(fields) = args else { return false };
    fields.iter().any(|(key, value)| {
        let Value::String(text) = value else { return false };
        match key.to_ascii_lowercase().as_str() {
            "method" | "http_method" | "httpmethod" | "verb" => {
                !matches!(text.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
            }
            "query" | "graphql" | "operation" | "document" => {
                let text = text.trim_start();
                text.strip_prefix("mutation")
                    .is_some_and(|rest| rest.contains('{') && !rest.starts_with(char::is_alphanumeric))
                    || (text.contains("mutation") && text.contains('{') && text.starts_with(['#', '{', 'q', 'f']))
            }
            _ => false,
        }
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
fn asks_database(server: &str, words: &[String]) -> bool {
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
