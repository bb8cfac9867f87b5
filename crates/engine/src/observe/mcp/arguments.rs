//! Arguments of a tool: looked at one by one as paths, addresses, commands and statements.

use doorward_vocabulary::{Degree, FlowKind, Mark, Operation, Reach, Reversibility, Scope, Sensitivity};
use serde_json::Value;

use super::super::connect::Exchange;
use super::super::field::Field;
use super::super::paths::touch::Touch;
use super::super::program::grammar;
use super::super::sheet::observer::{By, Observer};
use super::super::shell::reading::every_reading;
use super::super::shell::runner::Runner;
use super::super::shell::state::State;
use super::super::stream::Stream;
use super::verbs::name_words;
use crate::effect::{Effect, Target};
use crate::world::{Shell, World};
use crate::{network, secret};

/// Arguments of a tool server that are looked at one by one.
// A tool call has a few dozen values. One with thousands is data, and is asked about instead of walked.
pub(super) const ARGUMENTS: usize = 500;

/// Names of arguments that hold an address.
// Where a server is told to connect: such a value is judged like the address of a fetch.
const ADDRESSES: &[&str] =
    &["url", "uri", "href", "link", "endpoint", "host", "hostname", "domain", "webhook", "address"];

/// Names of arguments that hold a command line.
// A value under such a name is run somewhere; it is judged as a shell command (tools-017).
const COMMANDS: &[&str] = &["command", "cmd", "shell", "bash", "script", "commands", "cmdline", "commandline", "exec"];

/// What goes with the arguments of one call.
pub(super) struct Given<'a> {
    pub cwd: &'a str,
    /// So many more are looked at.
    pub left: usize,
    /// What the tool does to the files it is given.
    pub touch: Touch,
    /// What it is asked is put to a database.
    pub asks_database: bool,
    /// Values that are JSON in text are opened so many times.
    pub depth: u32,
}

/// Looks at an argument as a path, an address, a command or SQL.
pub(super) fn argument(out: &mut Observer<'_>, key: &str, value: &Value, given: &mut Given<'_>) {
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

pub(super) fn text_argument(out: &mut Observer<'_>, key: &str, text: &str, given: &Given<'_>) {
    let key_words = name_words(key);
    let (key, cwd) = (key.to_ascii_lowercase(), given.cwd);
    let asked = given.asks_database && matches!(key.as_str(), "" | "q" | "query" | "queries" | "text" | "input");
    let is_address = key_words.last().is_some_and(|word| ADDRESSES.contains(&word.as_str()));
    if secret::holds_encoded(text) {
        out.flow(FlowKind::SecretToNetwork, Default::default(), Default::default());
    }
    if key_words.iter().any(|word| COMMANDS.contains(&word.as_str())) {
        command(out, text, cwd);
    } else if matches!(key.as_str(), "code" | "function" | "expression" | "javascript" | "python") {
        out.lower(Degree::Opaque, "code given to a tool server");
    } else if asked || matches!(key.as_str(), "sql" | "statement" | "stmt") || looks_like_sql(text) {
        if !grammar::sql_reads_only(text) {
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
        let writes = ["write", "content", "dest", "target", "output"].iter().any(|word| key.contains(word));
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

/// A command line that the server runs.
pub(super) fn command(out: &mut Observer<'_>, text: &str, cwd: &str) {
    let mut state = State::new(cwd.starts_with('/').then_some(cwd));
    out.outer = Some(Default::default());
    every_reading(&mut Runner::new(out), text, Shell::Unknown, &mut state, &Stream::empty(), "");
    out.outer = None;
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
pub(super) fn inner_json(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    if !trimmed.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(trimmed).ok()
}
