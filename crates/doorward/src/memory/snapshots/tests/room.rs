//! A home with a trusted agent and project, and a way to see everything about a tree.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::super::doors;
use super::super::store::SnapshotStore;
use super::super::undo::{Undo, Undone};
use crate::hook::{Surroundings, answer as hook};
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::policy::snapshot_limits::Snapshots;

pub(crate) struct Room {
    base: tempfile::TempDir,
}

/// One path as a person could tell it from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub kind: char,
    pub mode: u32,
    pub modified: (i64, i64),
    pub content: Vec<u8>,
    pub attributes: BTreeMap<String, String>,
}

pub(crate) type Tree = BTreeMap<PathBuf, Seen>;

impl Room {
    pub(crate) fn new() -> Room {
        let room = Room { base: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(room.project()).unwrap();
        room.shell("git init -q -b main . && git config user.email a@b && git config user.name x");
        record::begin(&room.dirs()).unwrap();
        room.configure("");
        room
    }

    /// The configuration of the user, with something added.
    pub(crate) fn configure(&self, more: &str) {
        let path = self.base().join("home/.config/doorward/config.toml");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let project = self.project();
        let text = format!("[agents.claude]\nmode = \"auto\"\n[projects]\ntrusted = [{project:?}]\n{more}");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        let loaded = crate::policy::load::load(&self.dirs(), None, "claude");
        crate::policy::approved_config::accept(&self.dirs(), &loaded, &mut record::Ledger::open(&self.dirs())).unwrap();
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.base.path().canonicalize().unwrap()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.base().join("project")
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        std::fs::write(self.at(name), text).unwrap();
    }

    pub(crate) fn dirs(&self) -> Dirs {
        Dirs::at(self.base().join("home").to_str().unwrap())
    }

    pub(crate) fn store(&self) -> SnapshotStore {
        SnapshotStore::existing(&self.dirs()).unwrap().unwrap()
    }

    /// Runs a command for real.
    pub(crate) fn shell(&self, command: &str) -> bool {
        let mut shell = Command::new("bash");
        shell.args(["-c", command]).current_dir(self.project()).env("HOME", self.base().join("home"));
        shell.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().unwrap().success()
    }

    /// What the hook says: the word and the reason.
    pub(crate) fn ask(&self, id: &str, tool: &str, input: Value) -> (String, String) {
        let surroundings = Surroundings::new(Agent::Claude, self.dirs());
        let reply = hook(self.payload(id, tool, input, "PreToolUse").to_string().as_bytes(), &surroundings).unwrap();
        let answer: Value = serde_json::from_str(&reply.stdout).unwrap();
        let word = |name: &str| answer["hookSpecificOutput"][name].as_str().unwrap_or_default().to_owned();
        (word("permissionDecision"), word("permissionDecisionReason"))
    }

    pub(crate) fn bash(&self, id: &str, command: &str) -> (String, String) {
        self.ask(id, "Bash", json!({ "command": command }))
    }

    /// Tells the hook that a call has run.
    pub(crate) fn ran(&self, id: &str, command: &str) {
        let payload = self.payload(id, "Bash", json!({ "command": command }), "PostToolUse");
        let surroundings = Surroundings::new(Agent::Claude, self.dirs());
        let _ = hook(payload.to_string().as_bytes(), &surroundings).unwrap();
    }

    pub(crate) fn payload(&self, id: &str, tool: &str, input: Value, event: &str) -> Value {
        json!({
            "session_id": "0c1d", "transcript_path": "/nowhere.jsonl", "cwd": self.project(), "permission_mode": "default",
            "hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": id,
            "tool_response": { "stdout": "", "stderr": "" },
        })
    }

    /// Takes a call back.
    pub(crate) fn undo(&self, id: &str, overwrite: bool) -> anyhow::Result<Undone> {
        let store = self.store();
        let name = store.named_for(id).unwrap_or_else(|| id.to_owned());
        let undo = Undo { overwrite, ..Undo::of(&store, &[name], Snapshots::default().limits())? };
        let steps = undo.preview();
        undo.run(&undo.wanted(&steps))
    }

    /// Everything in the project but git's own files.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        see(&self.project(), &mut tree);
        tree
    }
}

fn see(directory: &Path, tree: &mut Tree) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap() == ".git" {
            continue;
        }
        let found = path.symlink_metadata().unwrap();
        let (kind, content, attributes) = match found.file_type() {
            kind if kind.is_symlink() => {
                let to = std::fs::read_link(&path).unwrap();
                ('l', std::os::unix::ffi::OsStrExt::as_bytes(to.as_os_str()).to_vec(), BTreeMap::new())
            }
            kind if kind.is_dir() => {
                see(&path, tree);
                ('d', Vec::new(), BTreeMap::new())
            }
            _ => {
                let file = std::fs::File::open(&path).unwrap();
                ('f', std::fs::read(&path).unwrap(), doors::attributes(&file).unwrap())
            }
        };
        let modified = (found.mtime(), found.mtime_nsec());
        tree.insert(path, Seen { kind, mode: found.mode(), modified, content, attributes });
    }
}
