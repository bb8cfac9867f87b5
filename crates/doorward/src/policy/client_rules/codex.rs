//! The rules of Codex: `prefix_rule(pattern = ["git", "push"], decision = "prompt")` in `rules/*.rules`.

use std::path::Path;

use super::{RuleFile, RuleFormat, Rules, SkippedRule, beginning_with, files_ending_in, offered};
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;

/// More spellings of one rule than anyone intends.
// Alternatives multiply: eight positions with four words each would be 65,536 patterns.
const SPELLINGS: usize = 256;

pub(super) fn files(home: &str, project: Option<&str>) -> Vec<RuleFile> {
    let file = |name: &'static str| move |path| RuleFile::new(name, path, RuleFormat::Codex);
    let user = directory_of(Agent::Codex, home).join("rules");
    let mut found: Vec<RuleFile> = files_ending_in(&user, "rules").into_iter().map(file("Codex, user")).collect();
    if let Some(project) = project.filter(|project| *project != home).map(Path::new) {
        let brought = files_ending_in(&project.join(".codex/rules"), "rules").into_iter();
        found.extend(brought.map(file("Codex, project")).map(RuleFile::of_project));
    }
    found
}

pub(super) fn parse(text: &str) -> Result<Rules, String> {
    let mut rules = Rules::default();
    let mut reader = RuleParser { signs: text.chars().collect(), at: 0 };
    while let Some(name) = reader.next_call()? {
        let arguments = reader.arguments()?;
        if name != "prefix_rule" {
            rules.left.push(SkippedRule::new(&name, "doorward reads `prefix_rule` only"));
            continue;
        }
        let find = |wanted: &str| arguments.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
        let pattern = find("pattern").ok_or("a `prefix_rule` has no `pattern`")?;
        let spellings = spellings(pattern)?;
        let decision = match find("decision") {
            None => "allow",
            Some(Literal::Text(decision)) => decision.as_str(),
            Some(Literal::List(_) | Literal::Other) => return Err("a `decision` is not a string".into()),
        };
        let ours: Vec<String> = spellings.iter().flat_map(|words| beginning_with(words)).collect();
        match decision {
            "forbidden" => rules.deny.extend(ours),
            "prompt" => rules.ask.extend(ours),
            "allow" => rules.allow.push(offered(&spellings.join(", "), Ok(ours))),
            other => return Err(format!("`{other}` is not a decision")),
        }
    }
    Ok(rules)
}

/// Every command that a pattern stands for: a list inside it names alternatives for one word.
fn spellings(pattern: &Literal) -> Result<Vec<String>, String> {
    let wrong = || "a `pattern` is not a list of words".to_owned();
    let Literal::List(parts) = pattern else { return Err(wrong()) };
    let mut found = vec![String::new()];
    for part in parts {
        let words: Vec<&str> = match part {
            Literal::Text(word) => vec![word],
            Literal::List(words) => words.iter().map(Literal::text).collect::<Option<_>>().ok_or_else(wrong)?,
            Literal::Other => return Err(wrong()),
        };
        let longer = |start: &String| {
            let separator = if start.is_empty() { "" } else { " " };
            words.iter().map(|word| format!("{start}{separator}{word}")).collect::<Vec<String>>()
        };
        found = found.iter().flat_map(longer).collect();
        if found.len() > SPELLINGS {
            return Err("a `pattern` stands for too many commands".into());
        }
    }
    found.retain(|words| !words.trim().is_empty());
    if found.is_empty() { Err(wrong()) } else { Ok(found) }
}

/// A value in a rules file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Literal {
    Text(String),
    List(Vec<Literal>),
    /// A number, `True` or another name, which no rule of ours depends on.
    Other,
}

impl Literal {
    fn text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            Literal::List(_) | Literal::Other => None,
        }
    }
}

/// Reads calls with named arguments, which is all a rules file contains. Anything else is an error.
struct RuleParser {
    signs: Vec<char>,
    at: usize,
}

impl RuleParser {
    fn peek(&self) -> Option<char> {
        self.signs.get(self.at).copied()
    }

    /// Skips whitespace and comments.
    fn skip(&mut self) {
        while let Some(sign) = self.peek() {
            if sign == '#' {
                while self.peek().is_some_and(|sign| sign != '\n') {
                    self.at += 1;
                }
            } else if sign.is_whitespace() || sign == ';' {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip();
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn name(&mut self) -> String {
        self.skip();
        let start = self.at;
        while self.peek().is_some_and(|sign| sign.is_alphanumeric() || matches!(sign, '_' | '.' | '-' | '+')) {
            self.at += 1;
        }
        self.signs.get(start..self.at).unwrap_or_default().iter().collect()
    }

    /// The name of the next call; `None` at the end.
    fn next_call(&mut self) -> Result<Option<String>, String> {
        self.skip();
        if self.peek().is_none() {
            return Ok(None);
        }
        let name = self.name();
        if name.is_empty() || !self.take('(') {
            return Err(format!("expected a rule at `{}`", self.rest()));
        }
        Ok(Some(name))
    }

    fn rest(&self) -> String {
        self.signs.get(self.at..).unwrap_or_default().iter().take(20).collect()
    }

    /// The arguments up to the closing bracket.
    fn arguments(&mut self) -> Result<Vec<(String, Literal)>, String> {
        let mut found = Vec::new();
        while !self.take(')') {
            let name = self.name();
            if name.is_empty() || !self.take('=') {
                return Err(format!("expected a named value at `{}`", self.rest()));
            }
            found.push((name, self.literal(0)?));
            if !self.take(',') && self.peek() != Some(')') {
                return Err(format!("expected `,` or `)` at `{}`", self.rest()));
            }
        }
        Ok(found)
    }

    fn literal(&mut self, depth: usize) -> Result<Literal, String> {
        self.skip();
        match self.peek() {
            Some(quote @ ('"' | '\'')) => self.text(quote).map(Literal::Text),
            Some('[') if depth < 4 => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.take(']') {
                    items.push(self.literal(depth + 1)?);
                    if !self.take(',') && self.peek() != Some(']') {
                        return Err(format!("expected `,` or `]` at `{}`", self.rest()));
                    }
                }
                Ok(Literal::List(items))
            }
            Some(_) if !self.name().is_empty() => Ok(Literal::Other),
            Some(_) | None => Err(format!("expected a value at `{}`", self.rest())),
        }
    }

    fn text(&mut self, quote: char) -> Result<String, String> {
        self.at += 1;
        let mut text = String::new();
        while let Some(sign) = self.peek() {
            self.at += 1;
            match sign {
                sign if sign == quote => return Ok(text),
                '\\' => {
                    let escaped = self.peek().ok_or("a string does not end")?;
                    self.at += 1;
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        plain @ ('\\' | '"' | '\'') => plain,
                        other => return Err(format!("unknown escape `\\{other}` in a string")),
                    });
                }
                '\n' => return Err("a string does not end on its line".into()),
                other => text.push(other),
            }
        }
        Err("a string does not end".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_decision_finds_its_list() {
        let text = r#"
            # never from here
            prefix_rule(pattern=["git", "push"], decision="forbidden", justification="ask \"me\"")
            prefix_rule(
                pattern = ["gh", "pr", ["merge", 'close']],
                decision = "prompt",
                match = [["gh", "pr", "merge"]],
            )
            prefix_rule(pattern=["make", "lint"])
            prefix_rule(pattern=["git"], decision="allow")
            host_executable(name = "git", paths = ["/usr/bin/git"])
        "#;
        let rules = parse(text).unwrap();
        assert_eq!(rules.deny, ["bash(git push)", "bash(git push *)"]);
        let asked = ["bash(gh pr merge)", "bash(gh pr merge *)", "bash(gh pr close)", "bash(gh pr close *)"];
        assert_eq!(rules.ask, asked);
        let [narrow, broad] = rules.allow.as_slice() else { panic!("{rules:?}") };
        assert_eq!(narrow.ours.as_deref().unwrap(), ["bash(make lint)", "bash(make lint *)"]);
        assert!(broad.ours.is_err(), "{broad:?}");
        assert_eq!(rules.left.len(), 1);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for text in [
            "prefix_rule(",
            "prefix_rule(pattern=)",
            "prefix_rule(decision=\"prompt\")",
            "prefix_rule(pattern=[\"git\"], decision=\"perhaps\")",
            "prefix_rule(pattern=[\"git\"], decision=X)",
            "prefix_rule(pattern=\"git\")",
            "prefix_rule(pattern=[])",
            "prefix_rule(pattern=[\"git)",
            "for x in y: prefix_rule()",
            "x = 1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse("# nothing\n"), Ok(Rules::default()));
    }
}
