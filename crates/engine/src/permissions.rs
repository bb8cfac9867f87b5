//! Patterns of the configuration that deny, ask or allow: `bash(git push --force*)`, `write(src/**)`.

use crate::facts::Facts;
use crate::verdict::{Clearance, Opinion, Source};

/// The three lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    pub deny: Vec<Pattern>,
    pub ask: Vec<Pattern>,
    /// Only from trusted sources.
    pub allow: Vec<Pattern>,
}

/// A tool and a wildcard for its primary argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub text: String,
    tool: String,
    argument: Option<String>,
}

impl Pattern {
    /// Reads `tool` or `tool(argument)`, where `*` stands for any text.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let trimmed = text.trim();
        let (tool, argument) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => {
                let argument = rest.strip_suffix(')').ok_or_else(|| format!("`{text}` has no closing parenthesis"))?;
                (tool, Some(argument.to_owned()))
            }
        };
        if tool.is_empty() {
            return Err(format!("`{text}` names no tool"));
        }
        Ok(Pattern { text: trimmed.to_owned(), tool: tool.to_ascii_lowercase(), argument })
    }

    fn matches(&self, tool: &str, argument: &str) -> bool {
        (self.tool == "*" || self.tool == tool)
            && self.argument.as_deref().is_none_or(|pattern| wildcard(pattern, argument))
    }
}

/// `*` stands for any text, also none; everything else for itself.
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(first) = pieces.next() else { return text.is_empty() };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for piece in pieces {
        if let Some(piece) = last.replace(piece) {
            match rest.find(piece) {
                Some(at) => rest = rest.get(at + piece.len()..).unwrap_or_default(),
                None => return false,
            }
        }
    }
    match last {
        None => rest.is_empty(),
        Some(piece) => rest.ends_with(piece),
    }
}

impl Permissions {
    /// What the deny and ask lists say: they fire if the raw text or any normalised command matches.
    pub fn opinions(&self, facts: &Facts) -> Vec<Opinion> {
        let hit =
            |list: &[Pattern]| list.iter().find(|pattern| touches(pattern, facts)).map(|pattern| pattern.text.clone());
        let mut opinions = Vec::new();
        if let Some(text) = hit(&self.deny) {
            opinions.push(Opinion::block(
                Source::Permission,
                Clearance::Hard,
                format!("the configuration denies `{text}`"),
            ));
        }
        if let Some(text) = hit(&self.ask) {
            opinions.push(Opinion::confirm(
                Source::Permission,
                Clearance::Firm,
                format!("the configuration asks about `{text}`"),
            ));
        }
        opinions
    }

    /// The allow pattern that covers every command of the call, if there is one for each.
    pub fn allows(&self, facts: &Facts) -> bool {
        let covered = |argument: &str| self.allow.iter().any(|pattern| pattern.matches(&facts.tool, argument));
        !self.allow.is_empty()
            && if facts.commands.is_empty() {
                covered(&facts.subject)
            } else {
                facts.commands.iter().all(|command| covered(command))
            }
    }
}

fn touches(pattern: &Pattern, facts: &Facts) -> bool {
    pattern.matches(&facts.tool, &facts.subject)
        || facts.commands.iter().any(|command| pattern.matches(&facts.tool, command))
}
