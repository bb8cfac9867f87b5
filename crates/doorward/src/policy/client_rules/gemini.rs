//! The rules of Gemini CLI: `tools.exclude` and `tools.allowed` in its settings, and `[[rule]]` in its policies.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{RuleFile, RuleFormat, Rules, SkippedRule, beginning_with, files_ending_in, offered};
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;

/// The administrator's settings for the whole machine.
const MANAGED: &str = "/etc/gemini-cli/settings.json";

pub(super) fn files(home: &str, project: Option<&str>) -> Vec<RuleFile> {
    let folder = directory_of(Agent::Gemini, home);
    let settings = |name, path| RuleFile::new(name, path, RuleFormat::GeminiSettings);
    let mut found = vec![
        settings("Gemini CLI, managed", PathBuf::from(MANAGED)),
        settings("Gemini CLI, user", folder.join("settings.json")),
    ];
    let policy = |path| RuleFile::new("Gemini CLI, policy", path, RuleFormat::GeminiPolicy);
    found.extend(files_ending_in(&folder.join("policies"), "toml").into_iter().map(policy));
    if let Some(project) = project.filter(|project| *project != home).map(Path::new) {
        found.push(settings("Gemini CLI, project", project.join(".gemini/settings.json")).of_project());
    }
    found
}

pub(super) fn settings(text: &str) -> Result<Rules, String> {
    let has_rules = ["tools", "excludeTools", "allowedTools", "\\u"].iter().any(|word| text.contains(word));
    if !has_rules || text.trim().is_empty() {
        return Ok(Rules::default());
    }
    // Gemini CLI accepts comments.
    let settings =
        crate::machine::json::parse(text.as_bytes()).or_else(|_| crate::machine::json::parse(bare(text).as_bytes()))?;
    if !settings.is_object() {
        return Err("the settings are not an object".into());
    }
    let mut rules = Rules::default();
    for place in ["/tools/exclude", "/excludeTools"] {
        for rule in list(&settings, place)? {
            match ours(rule) {
                Some(patterns) => rules.deny.extend(patterns),
                None => rules.left.push(SkippedRule::new(rule, "doorward does not know the tool")),
            }
        }
    }
    for place in ["/tools/allowed", "/allowedTools"] {
        let offer = |rule: &&str| offered(rule, ours(rule).ok_or("doorward does not know the tool"));
        rules.allow.extend(list(&settings, place)?.iter().map(offer));
    }
    Ok(rules)
}

fn list<'v>(settings: &'v Value, place: &str) -> Result<Vec<&'v str>, String> {
    let wrong = || format!("`{}` is not a list of strings", place.trim_start_matches('/').replace('/', "."));
    match settings.pointer(place) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().ok_or_else(wrong)).collect(),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => Err(wrong()),
    }
}

/// `run_shell_command(git push)` stands for the command with or without more words.
fn ours(rule: &str) -> Option<Vec<String>> {
    let (name, argument) = match rule.trim().split_once('(') {
        None => (rule.trim(), None),
        Some((name, rest)) => (name, Some(rest.strip_suffix(')')?.trim()).filter(|words| !words.is_empty())),
    };
    let tool = tool(name)?;
    Some(match (tool.as_str(), argument) {
        ("bash", Some(words)) => beginning_with(words.trim_end_matches(":*")).to_vec(),
        (_, Some(argument)) => vec![format!("{tool}({argument})")],
        (_, None) => vec![tool],
    })
}

/// Our name for a tool, which Gemini CLI knows by the name the model calls and by its class name.
fn tool(name: &str) -> Option<String> {
    let ours = match name {
        "run_shell_command" | "ShellTool" => "bash",
        "write_file" | "WriteFileTool" => "write",
        "replace" | "EditTool" => "edit",
        "read_file" | "read_many_files" | "ReadFileTool" | "ReadManyFilesTool" => "read",
        "grep_search" | "search_file_content" | "glob" | "list_directory" | "GrepTool" | "GlobTool" | "LSTool" => {
            "search"
        }
        "web_fetch" | "WebFetchTool" => "fetch",
        "google_web_search" | "WebSearchTool" => "websearch",
        "invoke_agent" => "task",
        _ => return None,
    };
    Some(ours.to_owned())
}

/// The text without comments.
fn bare(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(sign) = rest.chars().next() {
        let length = if sign == '"' {
            let mut is_escaped = true;
            let is_end = |sign: char| {
                let is_end = sign == '"' && !is_escaped;
                is_escaped = sign == '\\' && !is_escaped;
                is_end
            };
            // Treat the first quote as escaped, so that the search continues after it.
            rest.find(is_end).map_or(rest.len(), |end| end + 1)
        } else if rest.starts_with("//") {
            rest = rest.get(rest.find('\n').unwrap_or(rest.len())..).unwrap_or_default();
            continue;
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").and_then(|end| rest.get(end + 2..)).unwrap_or_default();
            continue;
        } else {
            sign.len_utf8()
        };
        out.push_str(rest.get(..length).unwrap_or_default());
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// A file of policies.
#[derive(Debug, Deserialize)]
struct PolicyFile {
    #[serde(default)]
    rule: Vec<PolicyRule>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PolicyRule {
    tool_name: Option<OneOrMore>,
    command_prefix: Option<OneOrMore>,
    decision: String,
    #[serde(default)]
    priority: f64,
    /// Conditions that our patterns can't express.
    #[serde(flatten)]
    others: std::collections::BTreeMap<String, toml::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn all(&self) -> &[String] {
        match self {
            OneOrMore::One(one) => std::slice::from_ref(one),
            OneOrMore::More(more) => more,
        }
    }
}

impl PolicyRule {
    fn tools(&self) -> &[String] {
        self.tool_name.as_ref().map(OneOrMore::all).unwrap_or_default()
    }

    /// Our patterns; `None` if the rule has a condition they can't express.
    fn ours(&self) -> Option<Vec<String>> {
        // Keys that don't narrow a rule. Any other is a condition our patterns can't express, and Gemini CLI may add
        // more of them, so the list names what is harmless.
        const HARMLESS: &[&str] = &["denyMessage", "allowRedirection", "name", "description"];
        if self.others.keys().any(|key| !HARMLESS.contains(&key.as_str())) {
            return None;
        }
        if let Some(prefixes) = &self.command_prefix {
            return Some(prefixes.all().iter().flat_map(|words| beginning_with(words.trim())).collect());
        }
        self.tools().iter().map(|name| if name == "*" { Some("*".to_owned()) } else { tool(name) }).collect()
    }

    /// What it is about, in words.
    fn display(&self) -> String {
        let prefixes = self.command_prefix.as_ref().map(OneOrMore::all).unwrap_or_default();
        format!("{} {}", self.tools().join(", "), prefixes.join(", ")).trim().to_owned()
    }
}

pub(super) fn policy(text: &str) -> Result<Rules, String> {
    let policies: PolicyFile = toml::from_str(text).map_err(|error| error.to_string().trim_end().replace('\n', " "))?;
    let mut rules = Rules::default();
    for rule in &policies.rule {
        // An exception that takes precedence over the rule, which our patterns can't express.
        let is_exception = |other: &PolicyRule| {
            other.decision == "allow"
                && other.priority > rule.priority
                && (rule.tools().iter().any(|tool| tool == "*" || other.tools().contains(tool)))
        };
        let list = match rule.decision.as_str() {
            "deny" => &mut rules.deny,
            "ask_user" => &mut rules.ask,
            "allow" => {
                let ours = rule.ours().filter(|_| !rule.others.contains_key("modes"));
                rules
                    .allow
                    .push(offered(&rule.display(), ours.ok_or("it has a condition that doorward can't express")));
                continue;
            }
            other => return Err(format!("`{other}` is not a decision")),
        };
        match rule.ours() {
            Some(patterns) if !policies.rule.iter().any(is_exception) => list.extend(patterns),
            Some(_) => rules.left.push(SkippedRule::new(&rule.display(), "another rule makes exceptions from it")),
            None => {
                rules.left.push(SkippedRule::new(&rule.display(), "it has a condition that doorward can't express"))
            }
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excluded_tools_are_denied_and_allowed_ones_are_offered() {
        let text = r#"{
            // mine
            "tools": { "exclude": ["run_shell_command(git push)", "web_fetch", "save_memory"], "allowed": ["run_shell_command(make lint)", "ShellTool(git)"] },
            "excludeTools": ["ShellTool(rm)"] /* "old" */
        }"#;
        let rules = settings(text).unwrap();
        assert_eq!(rules.deny, ["bash(git push)", "bash(git push *)", "fetch", "bash(rm)", "bash(rm *)"]);
        assert_eq!(rules.left[0].rule, "save_memory");
        assert!(rules.allow[0].ours.is_ok() && rules.allow[1].ours.is_err(), "{:?}", rules.allow);
        assert_eq!(settings("{\"ui\": {\"theme\": \"x\"}}"), Ok(Rules::default()));
        for text in ["{\"tools\": ", "{\"tools\": {\"exclude\": \"x\"}}", "[\"tools\"]"] {
            assert!(settings(text).is_err(), "{text}");
        }
    }

    #[test]
    fn policies_deny_and_ask_unless_something_counts_before_them() {
        let text = r#"
            [[rule]]
            toolName = "run_shell_command"
            commandPrefix = ["git push", "npm publish"]
            decision = "ask_user"
            priority = 100
            [[rule]]
            toolName = "write_file"
            decision = "deny"
            priority = 10
            denyMessage = "no"
            [[rule]]
            toolName = "web_fetch"
            decision = "deny"
            priority = 10
            [[rule]]
            toolName = "web_fetch"
            decision = "allow"
            priority = 20
            [[rule]]
            toolName = "run_shell_command"
            commandRegex = "rm .*"
            decision = "deny"
            priority = 1
        "#;
        let rules = policy(text).unwrap();
        assert_eq!(rules.ask, ["bash(git push)", "bash(git push *)", "bash(npm publish)", "bash(npm publish *)"]);
        assert_eq!((rules.deny.as_slice(), rules.left.len()), (&["write".to_owned()][..], 2));
        assert!(rules.allow[0].ours.is_err());
        for text in ["[[rule]]\ntoolName = \"x\"", "[[rule]]\ndecision = \"maybe\"", "x = "] {
            assert!(policy(text).is_err(), "{text}");
        }
    }
}
