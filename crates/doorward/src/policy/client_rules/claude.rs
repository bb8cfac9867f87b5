//! The rules of Claude Code: `permissions.deny`, `ask` and `allow` in its settings.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{RuleFile, RuleFormat, Rules, SkippedRule, UNCLOSED, beginning_with, offered};
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;

/// The administrator's settings for the whole machine.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

pub(super) fn files(home: &str, project: Option<&str>) -> Vec<RuleFile> {
    // The agent reads the settings of the directory it was started in, not those of the repository around it.
    let started = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|started| started.is_absolute());
    files_from(home, project, started.as_deref())
}

/// Both places count: they can only tighten.
fn files_from(home: &str, project: Option<&str>, started: Option<&Path>) -> Vec<RuleFile> {
    let file = |name, path| RuleFile::new(name, path, RuleFormat::Claude);
    let user = directory_of(Agent::Claude, home).join("settings.json");
    let mut found = vec![file("Claude Code, managed", PathBuf::from(MANAGED)), file("Claude Code, user", user)];
    let project = project.map(Path::new);
    let elsewhere = started.filter(|started| Some(*started) != project);
    for directory in project.into_iter().chain(elsewhere).filter(|directory| *directory != Path::new(home)) {
        found.push(file("Claude Code, project", directory.join(".claude/settings.json")).of_project());
        found.push(file("Claude Code, local", directory.join(".claude/settings.local.json")).of_project());
    }
    found
}

pub(super) fn parse(text: &str) -> Result<Rules, String> {
    if text.trim().is_empty() {
        return Ok(Rules::default());
    }
    // Most settings have no rules, so don't parse them on the way to an answer. Truncated ones may have had some.
    if !text.contains("permissions") && !text.contains("\\u") {
        let whole = serde_json::from_str::<serde::de::IgnoredAny>(text);
        return whole.map(|_| Rules::default()).map_err(|error| format!("not valid JSON: {error}"));
    }
    let settings = crate::machine::json::parse(text.as_bytes())?;
    if !settings.is_object() {
        return Err("the settings are not an object".into());
    }
    let mut rules = Rules::default();
    let Some(permissions) = settings.get("permissions") else { return Ok(rules) };
    if !permissions.is_object() {
        return Err("`permissions` is not an object".into());
    }
    for rule in list(permissions, "deny")? {
        match denied_host(rule) {
            Some(host) => rules.denied_hosts.push(host),
            None => strict(rule, &mut rules.deny, &mut rules.left),
        }
    }
    for rule in list(permissions, "ask")? {
        strict(rule, &mut rules.ask, &mut rules.left);
    }
    rules.allow = list(permissions, "allow")?.into_iter().map(|rule| offered(rule, lax(rule))).collect();
    Ok(rules)
}

fn list<'v>(permissions: &'v Value, name: &str) -> Result<Vec<&'v str>, String> {
    let wrong = || format!("`permissions.{name}` is not a list of strings");
    match permissions.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().ok_or_else(wrong)).collect(),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => Err(wrong()),
    }
}

/// A tool, and what follows it in brackets.
fn split(rule: &str) -> Option<(&str, Option<&str>)> {
    let rule = rule.trim();
    match rule.split_once('(') {
        None => Some((rule, None)),
        Some((tool, rest)) => {
            let argument = rest.strip_suffix(')')?.trim();
            Some((tool.trim(), Some(argument).filter(|argument| !matches!(*argument, "" | "*"))))
        }
    }
}

fn denied_host(rule: &str) -> Option<String> {
    let (tool, argument) = split(rule)?;
    let host = argument?.strip_prefix("domain:")?.trim().trim_start_matches("*.");
    (tool == "WebFetch" && !host.is_empty() && !host.contains('*')).then(|| host.to_ascii_lowercase())
}

/// Adds a rule that denies or asks: if in doubt, wider than written.
fn strict(rule: &str, list: &mut Vec<String>, left: &mut Vec<SkippedRule>) {
    let mut leave = |why: &str| left.push(SkippedRule::new(rule, why));
    let Some((tool, argument)) = split(rule) else { return leave(UNCLOSED) };
    let named = tools(tool);
    match (named, argument) {
        (ToolName::Ours(tools), None) => list.extend(tools.iter().map(|tool| (*tool).to_owned())),
        (ToolName::Ours(["bash"]), Some(argument)) => list.extend(commands(argument)),
        (ToolName::Ours(tools @ (["read", ..] | ["search", ..] | ["edit", ..])), Some(argument)) => {
            let paths = paths(argument);
            let all = tools.iter().flat_map(|tool| paths.iter().map(move |path| format!("{tool}({path})")));
            list.extend(all);
        }
        (ToolName::Ours(["fetch"]), Some(argument)) => {
            list.push(format!("fetch(*{}*)", argument.trim_start_matches("domain:").trim_start_matches("*.")));
        }
        (ToolName::Ours([tool]), Some(argument)) if *tool != "task" => list.push(format!("{tool}({argument})")),
        (ToolName::Ours(_), Some(_)) => leave("subagents are judged by what they do"),
        (ToolName::Server(pattern), _) => list.push(pattern),
        (ToolName::Other(name), None) => list.push(format!("other({name})")),
        (ToolName::Other(_), Some(_)) => leave("doorward does not know what its bracket means"),
    }
}

/// What a tool name stands for.
enum ToolName {
    Ours(&'static [&'static str]),
    /// A pattern for tools of a server.
    Server(String),
    Other(String),
}

/// Rules about reading apply to searching too, and rules about editing to every way of changing a file.
fn tools(name: &str) -> ToolName {
    ToolName::Ours(match name {
        "Bash" | "Monitor" => &["bash"],
        "PowerShell" => &["powershell"],
        "Read" | "NotebookRead" => &["read", "search"],
        "Grep" | "Glob" | "LS" => &["search"],
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => &["edit", "write"],
        "WebFetch" => &["fetch"],
        "WebSearch" => &["websearch"],
        "Agent" | "Task" => &["task"],
        "*" => &["*"],
        other => {
            return match other.strip_prefix("mcp__") {
                Some(rest) => ToolName::Server(server(rest)),
                None => ToolName::Other(other.to_owned()),
            };
        }
    })
}

fn server(rest: &str) -> String {
    match rest.split_once("__") {
        Some((server, tool)) if !tool.is_empty() => format!("mcp({server}/{tool})"),
        Some((server, _)) => format!("mcp({server}/*)"),
        None => format!("mcp({rest}/*)"),
    }
}

/// `npm run test:*` and `npm run test *` stand for `npm run test` with or without more words.
fn commands(argument: &str) -> Vec<String> {
    match argument.strip_suffix(":*").or_else(|| argument.strip_suffix(" *")) {
        Some(words) => beginning_with(words.trim_end()).to_vec(),
        None => vec![format!("bash({argument})")],
    }
}

/// A path in `.gitignore` syntax, in all the forms we compare: absolute, below the home, below the project.
fn paths(argument: &str) -> Vec<String> {
    let (whole, relative) = match argument {
        rooted if rooted.starts_with("//") => (rooted.get(1..), None),
        home if home.starts_with("~/") => (Some(home), None),
        // From the project's root; `/etc/shadow` most likely means the machine's.
        rooted if rooted.starts_with('/') => (Some(rooted), rooted.get(1..)),
        relative => (None, Some(relative.trim_start_matches("./"))),
    };
    let mut found = Vec::new();
    for path in whole.into_iter().chain(relative) {
        let path = path.trim_start_matches("**/").trim_end_matches('/').replace("**", "*");
        let path = path.replace("**", "*");
        let starts = if path.starts_with(['/', '~']) { &[""][..] } else { &["", "*/"] };
        for start in starts {
            found.push(format!("{start}{path}"));
            // A folder stands for what is in it.
            if !path.ends_with('*') {
                found.push(format!("{start}{path}/*"));
            }
        }
    }
    found
}

/// An allow rule: exactly as narrow as written, or not at all.
fn lax(rule: &str) -> Result<Vec<String>, &'static str> {
    let (tool, argument) = split(rule).ok_or("its bracket does not close")?;
    match (tools(tool), argument) {
        (ToolName::Ours(["bash"]), Some(argument)) => Ok(commands(argument)),
        (ToolName::Ours(["bash"]), None) => Err("it allows every command"),
        (ToolName::Ours(["fetch"]), Some(argument)) => match argument.strip_prefix("domain:") {
            Some(host) if !host.contains(['*', '/']) => Ok(vec![format!("fetch(https://{}/*)", host.trim())]),
            Some(_) | None => Err("it does not name one host"),
        },
        (ToolName::Ours(["websearch"]), None) => Ok(vec!["websearch".to_owned()]),
        (ToolName::Ours(["read", ..]), None) => Ok(vec!["read".to_owned()]),
        (ToolName::Ours(tools @ (["read", ..] | ["edit", ..])), Some(path)) => {
            let path = exact_path(path).ok_or("its path means different files in different folders")?;
            let tools: &[&str] = if matches!(tools, ["read", ..]) { &["read"] } else { tools };
            Ok(tools.iter().map(|tool| format!("{tool}({path})")).collect())
        }
        (ToolName::Server(pattern), None) => Ok(vec![pattern]),
        (ToolName::Ours(_) | ToolName::Server(_) | ToolName::Other(_), _) => Err("doorward has no such rule"),
    }
}

/// A path from the root or the home whose only wildcard is everything below it: elsewhere `*` does not cross folders.
fn exact_path(path: &str) -> Option<String> {
    let path = path.strip_prefix('/').filter(|rest| rest.starts_with('/')).or(path.strip_prefix("~/").map(|_| path))?;
    let (folder, below) = path.strip_suffix("/**").map_or((path, ""), |folder| (folder, "/*"));
    let is_plain = !folder.contains(['*', '?', '[', '!']) && !folder.split('/').any(|part| matches!(part, "." | ".."));
    is_plain.then(|| format!("{folder}{below}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(list: &str, rule: &str) -> Rules {
        parse(&serde_json::json!({ "permissions": { list: [rule] } }).to_string()).unwrap()
    }

    #[test]
    fn a_rule_that_denies_is_at_least_as_wide_in_our_words() {
        for (theirs, ours) in [
            ("Bash", &["bash"][..]),
            ("Bash(*)", &["bash"]),
            ("Bash(git push:*)", &["bash(git push)", "bash(git push *)"]),
            ("Bash(git push *)", &["bash(git push)", "bash(git push *)"]),
            ("Bash(git * main)", &["bash(git * main)"]),
            ("Edit(~/.zshrc)", &["edit(~/.zshrc)", "edit(~/.zshrc/*)", "write(~/.zshrc)", "write(~/.zshrc/*)"]),
            ("LS(//srv/**)", &["search(/srv/*)"]),
            ("Grep(.env)", &["search(.env)", "search(.env/*)", "search(*/.env)", "search(*/.env/*)"]),
            ("mcp__github__delete_repo", &["mcp(github/delete_repo)"]),
            ("mcp__github", &["mcp(github/*)"]),
            ("WebSearch", &["websearch"]),
            ("TodoWrite", &["other(TodoWrite)"]),
        ] {
            assert_eq!(parsed("deny", theirs).deny, ours, "{theirs}");
            assert_eq!(parsed("ask", theirs).ask, ours, "{theirs}");
        }
        assert_eq!(parsed("deny", "WebFetch(domain:Evil.example)").denied_hosts, ["evil.example"]);
        assert_eq!(parsed("ask", "WebFetch(domain:a.example)").ask, ["fetch(*a.example*)"]);
        assert!(parsed("deny", "Read(/etc/shadow)").deny.contains(&"read(/etc/shadow)".to_owned()));
        assert!(parsed("deny", "Read(./secrets/**)").deny.contains(&"read(secrets/*)".to_owned()));
        assert_eq!(parsed("deny", "Agent(Explore)").left.len(), 1);
    }

    #[test]
    fn a_rule_that_allows_is_never_wider_in_our_words() {
        for (theirs, ours) in [
            ("Bash(npm run test:*)", &["bash(npm run test)", "bash(npm run test *)"][..]),
            ("Bash(make lint)", &["bash(make lint)"]),
            ("WebFetch(domain:docs.rs)", &["fetch(https://docs.rs/*)"]),
            ("Read(~/notes/**)", &["read(~/notes/*)"]),
            ("Edit(//srv/a.txt)", &["edit(/srv/a.txt)", "write(/srv/a.txt)"]),
            ("mcp__github__get_issue", &["mcp(github/get_issue)"]),
        ] {
            let offers = parsed("allow", theirs).allow;
            assert_eq!(offers[0].ours.as_deref().unwrap(), ours, "{theirs}");
        }
        for theirs in [
            "Bash",
            "Bash(*)",
            "Bash(git:*)",
            "Bash(python3 *)",
            "Bash(npm*)",
            "Edit",
            "Edit(src/**)",
            "Read(/x)",
            "Read(~/*/x)",
            "Edit(//srv/../etc/**)",
            "WebFetch",
            "WebFetch(domain:*)",
            "Skill(x)",
            "Bash(ls",
        ] {
            let offers = parsed("allow", theirs).allow;
            assert!(offers[0].ours.is_err(), "{theirs}: {offers:?}");
        }
    }

    #[test]
    fn the_directory_that_the_agent_was_started_in_counts_beside_the_project() {
        let paths = |started: Option<&str>| {
            let found = files_from("/home/dev", Some("/home/dev/p"), started.map(Path::new));
            found.into_iter().map(|file| file.path.display().to_string()).collect::<Vec<_>>()
        };
        assert!(paths(None).contains(&"/home/dev/p/.claude/settings.json".to_owned()));
        assert_eq!(paths(None), paths(Some("/home/dev/p")));
        assert_eq!(paths(None), paths(Some("/home/dev")), "the user's own settings are read already");
        let both = paths(Some("/home/dev/p/packages/a"));
        assert!(both.contains(&"/home/dev/p/packages/a/.claude/settings.json".to_owned()), "{both:?}");
        assert!(both.contains(&"/home/dev/p/.claude/settings.local.json".to_owned()), "{both:?}");
    }

    #[test]
    fn settings_that_are_broken_are_an_error_where_rules_might_stand() {
        for text in
            ["{\"permissions\": ", "[\"permissions\"]", "{\"permissions\": []}", "{\"permissions\": {\"ask\": [1]}}"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in ["{\"hooks\": {", "hello", "{\"model\": \"x\",}"] {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in ["", "{}", "{\"permissions\": {}}", "{\"permissions\": {\"defaultMode\": \"plan\"}}"] {
            assert_eq!(parse(text), Ok(Rules::default()), "{text}");
        }
    }
}
