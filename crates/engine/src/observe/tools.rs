//! Tools beyond shell and files: fetches, searches, subagents, tool servers, the agent's own.

use serde_json::{Map, Value};

use super::connect::Exchange;
use super::observer::{By, Observer};
use super::shell::field::Field;
use super::shell::run::Runner;
use super::shell::state::State;
use super::stream::Stream;
use super::touch::Touch;
use crate::coverage::Degree;
use crate::effect::{Effect, Operation, Reach, Reversibility, Scope, Target};
use crate::flow::FlowKind;
use crate::knowledge::tool::Risk;
use crate::marks::{Mark, Marks};
use crate::network;
use crate::secret;
use crate::world::McpTrust;

/// Arguments of a tool server that are looked at one by one.
const ARGUMENTS: usize = 500;

/// First words of tool names that read.
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

/// Names of arguments that hold a command line.
const COMMANDS: &[&str] = &[
    "command",
    "cmd",
    "shell",
    "bash",
    "script",
    "commands",
    "command_line",
    "commandline",
    "shell_command",
    "bash_command",
    "exec",
];

/// What goes with the arguments of one call.
struct Given<'a> {
    cwd: &'a str,
    /// So many more are looked at.
    left: usize,
    /// What the tool does to the files it is given.
    touch: Touch,
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

impl Observer<'_> {
    /// The fetch tool.
    pub fn fetch_tool(&mut self, url: &str, method: Option<&str>) {
        let field = Field::literal(url, doorward_shell::Span::default());
        let reads =
            method.is_none_or(|method| matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS"));
        self.connect(&field, if reads { Exchange::Fetch } else { Exchange::Send }, &By::default());
        if secret::holds(url) {
            self.flow(FlowKind::SecretToNetwork, Default::default(), Default::default());
        }
    }

    /// The web search tool: the query leaves this machine.
    pub fn web_search(&mut self, query: &str) {
        let mut effect = Effect::new(Operation::Network, Target::Resource("web search".into()));
        effect.scope = Scope::External;
        effect.marks.add(Mark::ListedHost);
        self.effect(effect);
        if secret::holds(query) {
            self.flow(FlowKind::SecretToNetwork, Default::default(), Default::default());
        }
    }

    /// A task for another agent: its own calls are judged one by one.
    pub fn task_tool(&mut self, agent: &str) {
        let mut effect = Effect::new(Operation::Execute, Target::Resource(format!("subagent {agent}")));
        effect.scope = Scope::Project;
        effect.reach = Reach::Project;
        effect.reversibility = Reversibility::Tracked;
        effect.marks.add(Mark::SubagentTask);
        self.effect(effect);
    }

    /// A tool that only the inventory can tell.
    pub fn other_tool(&mut self, name: &str, input: &Value, cwd: &str) {
        let known = self.knowledge.tools().unwrap_or_default().into_iter().find(|tool| tool.name == name);
        match known {
            Some(tool) if tool.harness => {
                let mut effect = Effect::new(Operation::Read, Target::Resource(name.to_owned()));
                effect.marks.add(Mark::HarnessOnly);
                self.effect(effect);
            }
            Some(tool) if tool.risk == Risk::Low => {
                let path =
                    ["path", "file_path", "filePath"].iter().find_map(|key| input.get(key).and_then(Value::as_str));
                match path {
                    Some(path) => self.read_tool(path, cwd),
                    None => self.search_tool(None, cwd),
                }
            }
            Some(_) | None => {
                self.lower(Degree::Opaque, format!("the tool `{name}`"));
                self.unknown(Operation::Execute, &By::default(), Marks::default().with(Mark::UnknownTool));
            }
        }
    }

    /// A call to a tool server: the name says what it claims, the arguments say what it touches.
    pub fn mcp_tool(&mut self, server: &str, name: &str, args: &Value, annotations: &Map<String, Value>, cwd: &str) {
        let words: Vec<String> = name_words(name);
        let destructive = words.iter().any(|word| DESTRUCTIVE.contains(&word.as_str()))
            || annotations.get("destructiveHint") == Some(&Value::Bool(true));
        let reads = !destructive
            && annotations.get("readOnlyHint") != Some(&Value::Bool(false))
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
        match self.world.mcp(server, name) {
            McpTrust::Trusted => {}
            McpTrust::Configured => effect.marks.add(Mark::McpUnreviewed),
            McpTrust::Untrusted => effect.marks.add(Mark::McpUntrusted),
            McpTrust::Changed => {
                effect.marks.add(Mark::McpChanged);
                self.lower(Degree::Opaque, format!("the definition of `{name}` changed since it was trusted"));
            }
        }
        self.effect(effect);
        let mut given = Given { cwd, left: ARGUMENTS, touch: touch_of(server, &words) };
        self.argument("", args, &mut given);
    }

    /// Looks at an argument as a path, an address, a command or SQL.
    fn argument(&mut self, key: &str, value: &Value, given: &mut Given<'_>) {
        if given.left == 0 {
            self.lower(Degree::Opaque, "more arguments than can be looked at");
            return;
        }
        given.left -= 1;
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| self.argument(key, value, given)),
            Value::Array(items)
                if matches!(key.to_ascii_lowercase().as_str(), "argv" | "args" | "cmd" | "command")
                    && items.iter().all(Value::is_string) =>
            {
                let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                self.text_argument("command", &words.join(" "), given);
            }
            Value::Array(items) => items.iter().for_each(|item| self.argument(key, item, given)),
            Value::String(text) => self.text_argument(key, text, given),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text_argument(&mut self, key: &str, text: &str, given: &Given<'_>) {
        let (key, cwd) = (key.to_ascii_lowercase(), given.cwd);
        if secret::holds(text) {
            self.flow(FlowKind::SecretToNetwork, Default::default(), Default::default());
        }
        if COMMANDS.contains(&key.as_str()) {
            let parsed = doorward_shell::parse(text, doorward_shell::Dialect::Bash);
            if let Some(error) = &parsed.error {
                self.lower(Degree::Opaque, error.to_string());
            }
            let mut state = State::new(cwd.starts_with('/').then_some(cwd));
            self.outer = Some(Default::default());
            Runner::new(self).program(&parsed.script, &mut state, Stream::empty());
            self.outer = None;
        } else if matches!(key.as_str(), "code" | "function" | "expression" | "javascript" | "python") {
            self.lower(Degree::Opaque, "code given to a tool server");
        } else if matches!(key.as_str(), "sql" | "statement" | "stmt") || looks_like_sql(text) {
            if !super::program::grammar::sql_reads_only(text) {
                let mut effect = Effect::new(Operation::Mutate, Target::Resource("database".into()));
                effect.scope = Scope::External;
                effect.reach = Reach::Beyond;
                effect.reversibility = Reversibility::Irreversible;
                effect.marks.add(Mark::Database);
                self.effect(effect);
            }
        } else if text.contains("://") {
            let address = network::url(text, self.world);
            self.contact(&address, Exchange::Fetch, &By::default());
        } else if looks_like_path(&key, text) {
            let text = match (text.strip_prefix('~'), self.world.home()) {
                (Some(rest), Some(home)) => format!("{home}{rest}"),
                (Some(_) | None, Some(_) | None) => text.to_owned(),
            };
            let writes = ["write", "content", "dest", "target", "output"].iter().any(|word| key.contains(word));
            let field = Field::literal(text, doorward_shell::Span::default());
            self.touch(
                if writes { Touch::Write } else { given.touch },
                &field,
                cwd.starts_with('/').then_some(cwd),
                &By::default(),
            );
        }
    }
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
