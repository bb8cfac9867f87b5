//! Orders that a tool server carries out: its noun, its verb, and the number that the user said.

use doorward_vocabulary::Mark;
use serde_json::Value;

use super::forge::number;
use super::only;
use crate::call::Tool;
use crate::effect::{Effect, Target};
use crate::intent::Subject;
use crate::intent::prose::Word;
use crate::secret;

/// So many values of a call are looked at.
// A call to a tracker has a dozen.
const VALUES: usize = 200;

/// Verbs of people, and the verbs of tools that do the same.
// Deleting, merging, publishing, paying and inviting are missing: their tools get their own question.
const VERBS: &[(&[&str], &[&str])] = &[
    (
        &["create", "open", "file", "raise", "add", "make", "submit", "write"],
        &["create", "add", "new", "open", "file", "save"],
    ),
    (&["update", "edit", "change", "set"], &["update", "edit", "set", "save"]),
    (&["close", "resolve"], &["close", "resolve", "update", "transition"]),
    (&["assign"], &["assign", "update"]),
    (&["comment", "reply", "answer", "respond"], &["comment", "add", "create", "reply"]),
];

/// Nouns of people, and the words of tools for the same thing.
const NOUNS: &[(&[&str], &[&str])] = &[
    (&["issue", "ticket", "bug", "story", "task"], &["issue", "ticket", "bug", "story", "task"]),
    (&["comment", "comments", "reply", "note"], &["comment", "reply", "note"]),
    (&["page"], &["page"]),
    (&["event"], &["event"]),
    (&["pr", "request"], &["pr", "pull", "request"]),
];

/// The order asks for what this tool of a server does.
pub(super) fn is_ordered(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    let Tool::Mcp { server, name, args, .. } = subject.tool else { return false };
    let allowed = [Mark::ExternalWrite, Mark::ExternalMessage, Mark::McpUnreviewed, Mark::Creates];
    let is_tool = matches!(&effect.target, Target::Resource(shown) if *shown == format!("{server}/{name}"));
    if !is_tool || !only(effect, &allowed) {
        return false;
    }
    let parts = parts(name);
    let Some(said) = NOUNS.iter().find(|(said, _)| words.iter().any(|word| said.contains(&word.text.as_str()))) else {
        // `comment on 12`: the verb is the noun.
        return is_reply(verb, words, &parts, args, server);
    };
    does(verb, &parts) && is_tool_for(&parts, said.1, server, verb) && fits(verb, words, args, server)
}

fn is_reply(verb: &str, words: &[&Word], parts: &[String], args: &Value, server: &str) -> bool {
    does(verb, parts) && parts.iter().any(|part| part == "comment") && fits(verb, words, args, server)
}

fn does(verb: &str, parts: &[String]) -> bool {
    VERBS.iter().any(|(said, tools)| said.contains(&verb) && parts.iter().any(|part| tools.contains(&part.as_str())))
}

/// All words of the tool's name are about this noun, so that it does nothing else beside.
fn is_tool_for(parts: &[String], noun: &[&str], server: &str, verb: &str) -> bool {
    let is_verb = |part: &str| VERBS.iter().any(|(_, tools)| tools.contains(&part));
    // A comment belongs to an issue; that the tool says so changes nothing.
    let is_comment = matches!(verb, "comment" | "reply" | "answer" | "respond") || noun.contains(&"comment");
    let is_around = |part: &str| {
        is_comment && NOUNS.iter().any(|(_, tools)| tools.contains(&part))
            || matches!(part, "to" | "on" | "jira" | "linear")
    };
    let is_known = |part: &String| {
        noun.contains(&part.as_str())
            || is_verb(part)
            || is_around(part)
            || server.to_lowercase().contains(part.as_str())
    };
    parts.iter().any(|part| noun.contains(&part.as_str()) || is_comment && part == "comment")
        && (is_comment || !parts.iter().any(|part| part == "comment"))
        && parts.iter().all(is_known)
}

/// Every other word is the server's name or stands in what the tool is given, and every number in both.
fn fits(verb: &str, words: &[&Word], args: &Value, server: &str) -> bool {
    let mut values = Vec::new();
    collect(args, &mut values);
    // Nobody orders a secret to be sent by ordering a ticket.
    if secret::holds(&args.to_string()) {
        return false;
    }
    let numbers: Vec<&str> = words.iter().filter_map(|word| number(&word.text)).collect();
    let is_given = |text: &str| {
        values.iter().any(|value| value.split(|letter: char| !letter.is_alphanumeric()).any(|piece| piece == text))
    };
    let is_known = |word: &&&Word| {
        let text = word.text.as_str();
        NOUNS.iter().any(|(said, _)| said.contains(&text))
            || matches!(text, "pull" | "new" | "about" | "status")
            || server.to_lowercase() == text
            || number(text).is_some_and(|number| values.iter().any(|value| value == number))
            || number(text).is_none() && (is_given(text) || values.iter().any(|value| value == text))
    };
    // What is changed has to be said; what is made has no number yet.
    let is_new = matches!(verb, "create" | "open" | "file" | "raise" | "add" | "make" | "submit" | "write")
        && !words.iter().any(|word| word.text.starts_with("comment"));
    let names_one =
        !numbers.is_empty() || words.iter().any(|word| word.text.contains('-') && values.contains(&word.text));
    (is_new || names_one) && words.iter().all(|word| is_known(&word))
}

/// `add_issue_comment`, `createJiraIssue` → their words.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in name.chars() {
        let is_start = letter.is_uppercase() || !letter.is_alphanumeric();
        if is_start && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| letter.is_alphanumeric()) {
            part.extend(letter.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Texts and numbers of the arguments, in lower case.
fn collect(value: &Value, found: &mut Vec<String>) {
    if found.len() >= VALUES {
        return;
    }
    match value {
        Value::String(text) => found.push(text.to_lowercase()),
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, found)),
        Value::Null | Value::Bool(_) => {}
    }
}
