//! The JSON schema of a described machine. The program is asked whether these are all keys and all types there are.

use serde_json::{Map, Value, json};

use crate::support::Home;

/// What may stand behind a key.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Shell,
    Texts,
    Flag,
    Number,
    Numbers,
    /// Names to texts, or names to numbers.
    TextByName,
    FilesByName,
    NumberByName,
    /// `"all"` or a list of paths.
    AllOrTexts,
    Git,
    Gits,
    Operation,
    ServerByName,
    FileByPath,
}

type Key = (&'static str, Shape, &'static str);

const WORLD: &[Key] = &[
    ("home", Shape::Text, "the user's home directory"),
    ("project", Shape::Text, "root of the work tree"),
    ("temp", Shape::Texts, "directories for temporary files"),
    ("scratch", Shape::Texts, "directories that the agent owns"),
    ("trusted", Shape::Flag, "the project is trusted; true if left out"),
    ("git", Shape::Git, "the repository; none if left out"),
    ("repositories", Shape::Gits, "further repositories, each with its `root`"),
    ("env", Shape::TextByName, "environment variables"),
    ("files", Shape::FileByPath, "what is known about single files"),
    ("symlinks", Shape::TextByName, "symbolic links and their targets"),
    ("hardlinks", Shape::TextByName, "additional names of files, and the names they share them with"),
    ("complete", Shape::Flag, "files that are not described do not exist"),
    ("absent", Shape::Texts, "at and below these paths, files that are not described do not exist"),
    ("made", Shape::Texts, "directories that the session made, with everything below them"),
    ("busy", Shape::Flag, "another call of the session has not ended"),
    ("case_insensitive", Shape::Flag, "the disk treats `A` and `a` as the same name"),
    ("shell", Shape::Shell, "the shell that runs the commands: `bash` (default), `zsh`, `sh` or `unknown`"),
    ("mcp_trusted", Shape::Flag, "the tool server is trusted; merely configured if left out"),
    ("mcp_definition_changed", Shape::Flag, "the definition of the tool is not the one that was trusted"),
    ("mcp_servers", Shape::ServerByName, "the same for single tool servers, by their names"),
    ("snapshots", Shape::Flag, "copies are made of what a call would lose, within the usual limits"),
    ("session_processes", Shape::Numbers, "process ids that belong to the session"),
    ("override_rate", Shape::NumberByName, "share of overrides in the last 30 days, per pattern"),
    ("taint", Shape::Texts, "what happened before in the session: `secret-read`, `code-downloaded`"),
    ("answered", Shape::Texts, "requests approved since a secret was read: `get docs.rs`"),
    ("reads_last_minute", Shape::Number, "reads of the session in the last minute"),
    ("reads_last_seconds", Shape::Number, "reads of the session in the last seconds"),
    ("denials_in_a_row", Shape::Number, "denials in the session without an approval in between"),
    ("denials", Shape::Number, "all denials in the session"),
    ("restorable", Shape::Number, "tracked files that the session deleted or edited in place"),
    ("boundaries", Shape::Texts, "what the user said not to do"),
    ("earlier_messages", Shape::Texts, "earlier messages of the user, the oldest first"),
    ("used_up", Shape::Texts, "orders of the latest message that covered as many calls as one order may"),
    ("allowed_hosts", Shape::Texts, "hosts that the configuration allows"),
    ("denied_hosts", Shape::Texts, "hosts that the configuration denies"),
    ("denied_paths", Shape::Texts, "paths that the configuration denies"),
    ("protected_paths", Shape::Texts, "paths that the configuration protects"),
    ("now", Shape::Number, "milliseconds since 1970"),
];

const GIT: &[Key] = &[
    ("root", Shape::Text, "root of the repository; the project's if left out"),
    ("clean", Shape::Flag, "nothing tracked was changed"),
    ("tracked", Shape::AllOrTexts, "which files are tracked"),
    ("ignored", Shape::Texts, "names of ignored files and directories"),
    ("rebuildable", Shape::Texts, "names of ignored directories that a build recreates"),
    ("remotes", Shape::TextByName, "addresses of remotes"),
    ("branch", Shape::Text, "the branch that is checked out"),
    ("default_branch", Shape::Text, "the branch that others build on"),
    ("config", Shape::TextByName, "what the repository's own files set"),
    ("user_config", Shape::TextByName, "what the user's own git configuration sets"),
    ("system_config", Shape::TextByName, "what the administrator's git configuration sets"),
    (
        "submodules",
        Shape::FilesByName,
        "work trees below the root that git looks into, with what their repositories set",
    ),
    (
        "brings",
        Shape::FilesByName,
        "branches, commits and stashes (`index` for what is staged), with the files that differ there",
    ),
    ("unpublished", Shape::Flag, "the commits of the current branch are on no branch of a remote"),
    ("operation", Shape::Operation, "what git is in the middle of"),
    ("nested", Shape::Texts, "directories below the root that are separate repositories"),
];

const FILE: &[Key] = &[
    ("exists", Shape::Flag, "true if left out"),
    ("tracked", Shape::Flag, "git knows the file"),
    ("modified", Shape::Flag, "it has changes that are not committed"),
    ("executable", Shape::Flag, "it may be run"),
    ("content", Shape::Text, "what is in it"),
    ("cut", Shape::Flag, "the content is only a part of it"),
    ("size", Shape::Number, "bytes"),
    ("sha256", Shape::Text, "hash of its content, in hex"),
    ("changed_since_trust", Shape::Flag, "it changed since the project was trusted"),
    ("created_this_session", Shape::Flag, "the agent made it in this session"),
    ("built", Shape::Flag, "a build of this session made it from sources of the trusted project, unchanged since"),
    ("dependents", Shape::Number, "how many files of the project import it"),
    ("arrived", Shape::Flag, "git, a patch, an archive or a download put it there; for a directory, all that is below"),
];

const SERVER: &[Key] = &[
    ("trusted", Shape::Flag, "a person trusted it; merely configured if left out"),
    ("definition_changed", Shape::Flag, "the definition of the tool is not the one that was trusted"),
];

impl Shape {
    fn schema(self) -> Value {
        match self {
            Shape::Text => json!({ "type": "string" }),
            Shape::Shell => json!({ "enum": ["bash", "zsh", "sh", "unknown"] }),
            Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Shape::Flag => json!({ "type": "boolean" }),
            Shape::Number => json!({ "type": "integer", "minimum": 0 }),
            Shape::Numbers => json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
            Shape::TextByName => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            Shape::FilesByName => json!({ "type": "object", "additionalProperties": Shape::TextByName.schema() }),
            Shape::NumberByName => json!({ "type": "object", "additionalProperties": { "type": "number" } }),
            Shape::AllOrTexts => json!({ "oneOf": [{ "const": "all" }, Shape::Texts.schema()] }),
            Shape::Git => object(GIT),
            Shape::Gits => json!({ "type": "array", "items": object(GIT) }),
            Shape::Operation => json!({ "enum": ["rebase", "merge", "cherry-pick", "revert", "am", "bisect"] }),
            Shape::ServerByName => json!({ "type": "object", "additionalProperties": object(SERVER) }),
            Shape::FileByPath => json!({ "type": "object", "additionalProperties": object(FILE) }),
        }
    }

    /// One value that fits and one that does not.
    fn samples(self) -> (Value, Value) {
        match self {
            Shape::Text => (json!("/a"), json!(1)),
            Shape::Shell => (json!("zsh"), json!("fish")),
            Shape::Texts => (json!(["/a"]), json!([1])),
            Shape::Flag => (json!(true), json!("true")),
            Shape::Number => (json!(1), json!(-1)),
            Shape::Numbers => (json!([1]), json!(["1"])),
            Shape::TextByName => (json!({ "a": "b" }), json!({ "a": 1 })),
            Shape::FilesByName => (json!({ "a": { "b": "c" } }), json!({ "a": "b" })),
            Shape::NumberByName => (json!({ "a": 0.5 }), json!({ "a": "b" })),
            Shape::AllOrTexts => (json!(["a"]), json!(1)),
            Shape::Git => (json!({}), json!("all")),
            Shape::Gits => (json!([{}]), json!({})),
            Shape::Operation => (json!("cherry-pick"), json!("push")),
            Shape::ServerByName => (json!({ "a": {} }), json!({ "a": true })),
            Shape::FileByPath => (json!({ "a": {} }), json!({ "a": 1 })),
        }
    }
}

fn object(keys: &[Key]) -> Value {
    let described = |(name, shape, what): &Key| {
        let mut schema = shape.schema();
        schema["description"] = json!(what);
        ((*name).to_owned(), schema)
    };
    let properties: Map<String, Value> = keys.iter().map(described).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// What the program says to a world: `None` if it can be read.
fn complaint(home: &Home, world: &Value) -> Option<String> {
    let line = json!({ "id": 1, "tool": "bash", "input": { "command": "ls" }, "cwd": "/p", "world": world });
    let answer = home.run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json();
    (answer["settled_by"] == "malformed").then(|| answer["reasons"][0].as_str().unwrap().to_owned())
}

fn compare(home: &Home, keys: &[Key], wrap: fn(Value) -> Value) {
    let unknown = complaint(home, &wrap(json!({ "no-such-key": 1 }))).unwrap();
    let (_, expected) = unknown.split_once("expected").unwrap_or_else(|| panic!("{unknown}"));
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    assert_eq!(known, keys.iter().map(|(name, _, _)| *name).collect::<Vec<_>>(), "keys of the description");
    for (name, shape, _) in keys {
        let (fits, does_not) = shape.samples();
        assert_eq!(complaint(home, &wrap(json!({ *name: fits }))), None, "{name}");
        assert!(complaint(home, &wrap(json!({ *name: does_not }))).is_some(), "{name}");
    }
}

pub(super) fn schema() -> String {
    let home = Home::new();
    compare(&home, WORLD, |world| world);
    compare(&home, GIT, |git| json!({ "git": git }));
    compare(&home, FILE, |file| json!({ "files": { "a": file } }));
    compare(&home, SERVER, |server| json!({ "mcp_servers": { "a": server } }));
    let mut schema = object(WORLD);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("A machine described for doorward check");
    serde_json::to_string_pretty(&schema).unwrap()
}
