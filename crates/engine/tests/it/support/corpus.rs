//! Reads `corpus/*.jsonl`: labelled tool calls in the form of `doorward check --jsonl`, with `expect` and `why`.

use std::path::{Path, PathBuf};

use doorward_engine::{
    DescribedWorld, Description, Facts, Judgement, Mode, Policy, Tool, ToolCall, Verdict, example, judge, observe,
    tool_from_json,
};
use serde::Deserialize;
use serde_json::Value;

/// One labelled call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub id: String,
    pub tool: String,
    pub input: Value,
    #[serde(default)]
    pub cwd: Option<String>,
    /// The example machine if it is left out.
    #[serde(default)]
    pub world: Option<Description>,
    #[serde(default)]
    pub mode: Option<Mode>,
    /// The user's latest message.
    #[serde(default)]
    pub user_message: Option<String>,
    pub expect: Expect,
    pub why: String,
}

/// The least and the most strict verdict that are right.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    #[serde(default)]
    pub min: Option<Verdict>,
    #[serde(default)]
    pub max: Option<Verdict>,
}

impl Expect {
    pub(crate) fn admits(self, verdict: Verdict) -> bool {
        self.min.is_none_or(|min| min <= verdict) && self.max.is_none_or(|max| verdict <= max)
    }
}

impl std::fmt::Display for Expect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => write!(f, "{min}"),
            (Some(min), Some(max)) => write!(f, "{min} to {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (None, None) => f.write_str("anything"),
        }
    }
}

impl Row {
    pub(crate) fn call(&self) -> ToolCall {
        self.call_of(tool_from_json(&self.tool, &self.input))
    }

    /// The same call with another tool input.
    pub(crate) fn call_of(&self, tool: Tool) -> ToolCall {
        let project = self.world.as_ref().and_then(|world| world.project.clone());
        let cwd = self.cwd.clone().or(project).unwrap_or_else(|| example::CWD.to_owned());
        ToolCall { user_message: self.user_message.clone(), ..ToolCall::new(tool, cwd) }
    }

    pub(crate) fn facts(&self) -> Facts {
        self.facts_of(&self.call())
    }

    pub(crate) fn facts_of(&self, call: &ToolCall) -> Facts {
        let description = self.world.clone().unwrap_or_else(example::description);
        observe(call, &DescribedWorld::new(description, &call.cwd))
    }

    pub(crate) fn judged(&self, policy: &Policy) -> Judgement {
        judge(&self.facts(), policy)
    }

    /// The shell command, if it is one.
    pub(crate) fn command(&self) -> Option<&str> {
        (self.tool == "bash").then(|| self.input.get("command").and_then(Value::as_str)).flatten()
    }
}

/// Where the corpus lies.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// All rows of all files, in the order of their names.
pub(crate) fn rows() -> Vec<Row> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    let mut rows = Vec::new();
    for path in paths {
        for (line, number) in std::fs::read_to_string(&path).unwrap().lines().zip(1..) {
            let row: Row =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{}:{number}: {error}", path.display()));
            rows.push(row);
        }
    }
    rows
}
