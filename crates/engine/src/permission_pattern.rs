//! One pattern: what it matches, and whether it says what its author meant.

use crate::knowledge::built_in;
use crate::knowledge::schema::Facet;

/// A tool and a wildcard for its primary argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub text: String,
    tool: String,
    argument: Option<String>,
}

/// Names that other agents have for the same tools.
// Patterns are copied from other agents' settings; an unknown tool name there would silently allow or deny nothing.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("shell", "bash"),
    ("grep", "search"),
    ("find", "search"),
    ("ls", "search"),
    ("glob", "search"),
    ("multiedit", "edit"),
    ("apply_patch", "edit"),
    ("webfetch", "fetch"),
    ("agent", "task"),
];

/// Tools whose primary argument is a path.
// Their argument is resolved before it is compared, so `src/../.env` does not match `src/*`.
pub(crate) const FILE_TOOLS: &[&str] = &["read", "write", "edit", "search"];

/// Tools that a pattern may name.
// A misspelt tool must be an error: a deny pattern that never matches looks like protection.
const TOOLS: &[&str] = &[
    "bash",
    "powershell",
    "write",
    "edit",
    "read",
    "search",
    "fetch",
    "websearch",
    "mcp",
    "task",
    "python",
    "other",
    "*",
];

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
        let tool = tool.to_ascii_lowercase();
        let same = OTHER_NAMES.iter().find(|(other, _)| *other == tool).map(|(_, ours)| (*ours).to_owned());
        Ok(Pattern { text: trimmed.to_owned(), tool: same.unwrap_or(tool), argument })
    }

    /// Why an allow pattern allows too much to be taken.
    pub fn too_broad(&self) -> Option<&'static str> {
        if self.tool == "*" {
            return Some("it allows every tool");
        }
        let argument = self.argument.as_deref().unwrap_or("*");
        if argument.chars().all(|character| matches!(character, '*' | ' ')) {
            let reads = matches!(self.tool.as_str(), "read" | "search" | "websearch");
            return (!reads).then_some("it allows everything the tool can do");
        }
        let (fixed, _) = argument.split_once('*')?;
        if self.tool != "bash" {
            return None;
        }
        let mut words = fixed.split_whitespace();
        let program = words.next().unwrap_or_default();
        if !fixed.trim_start().contains(char::is_whitespace) {
            return Some("it doesn't name a single program: put a space before the `*`");
        }
        // `bash(env *)` looks like one program and allows every program.
        let does_anything = built_in().facets(crate::lexical::name(program)).has(Facet::DoesAnything);
        let says_more = words.any(|word| !word.starts_with('-') && !word.contains('='));
        (does_anything && !says_more)
            .then_some("this program can do anything, depending on its arguments: name the subcommand")
    }

    /// Why the pattern can match nothing.
    pub fn never_matches(&self) -> Option<&'static str> {
        let argument = self.argument.as_deref().unwrap_or_default();
        if !TOOLS.contains(&self.tool.as_str()) {
            return Some("there is no such tool");
        }
        if FILE_TOOLS.contains(&self.tool.as_str()) {
            let is_user = argument.starts_with('~') && !argument.starts_with("~/") && argument != "~";
            let is_dotted = argument.split('/').any(|part| matches!(part, "." | ".."));
            return (is_user || is_dotted).then_some("paths are compared after dots and links are resolved");
        }
        let is_spaced = argument.starts_with(' ') || argument.ends_with(' ') || argument.contains("  ");
        (self.tool == "bash" && is_spaced).then_some("commands are compared with single spaces between their words")
    }

    /// The pattern names files, and not just a tool for them.
    pub fn names_files(&self) -> bool {
        let is_named = |argument: &str| argument.chars().any(|sign| !matches!(sign, '*' | ' '));
        FILE_TOOLS.contains(&self.tool.as_str()) && self.argument.as_deref().is_some_and(is_named)
    }

    /// The pattern is about this path, or about something below it, whatever is done to it.
    pub(crate) fn is_about(&self, spelling: &str) -> bool {
        let is_meant = |argument: &str| wildcard(argument.trim_start_matches("./"), spelling);
        self.argument.as_deref().is_some_and(is_meant) || self.names_below(&self.tool, spelling)
    }

    /// The pattern is about reading exactly this path.
    pub(crate) fn forbids_reading(&self, spelling: &str) -> bool {
        ["read", "search"].iter().any(|tool| self.tool == "*" || self.tool == *tool)
            && self.argument.as_deref().is_some_and(|argument| wildcard(argument.trim_start_matches("./"), spelling))
    }

    /// The directory or file below which everything lies that the pattern is about.
    pub(crate) fn start(&self, home: Option<&str>, project: Option<&str>) -> Option<String> {
        let argument = self.argument.as_deref()?.trim_start_matches("./");
        let fixed = match argument.split_once('*') {
            Some((fixed, _)) => {
                fixed.rsplit_once('/').map_or("", |(fixed, _)| if fixed.is_empty() { "/" } else { fixed })
            }
            None => argument,
        };
        let whole = match fixed.strip_prefix('~') {
            Some(rest) => crate::lexical::join(home?, rest.trim_start_matches('/')),
            None if argument.starts_with('/') => fixed.to_owned(),
            None => crate::lexical::join(project?, fixed),
        };
        Some(crate::lexical::lexical(&whole))
    }

    /// The pattern leaves open what exactly it is about.
    pub(crate) fn is_open(&self) -> bool {
        self.argument.as_deref().is_none_or(|argument| argument.contains('*'))
    }

    /// The pattern has no wildcard and is this call.
    pub(crate) fn is_exactly(&self, tool: &str, argument: &str) -> bool {
        self.tool == tool && self.argument.as_deref() == Some(argument) && !argument.contains('*')
    }

    /// The pattern is about something below this directory.
    pub(crate) fn names_below(&self, tool: &str, directory: &str) -> bool {
        let below = |argument: &str| {
            let argument = argument.trim_start_matches("./");
            argument.strip_prefix(directory.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
        };
        (self.tool == "*" || self.tool == tool) && self.argument.as_deref().is_some_and(below)
    }

    pub(crate) fn matches(&self, tool: &str, argument: &str) -> bool {
        (self.tool == "*" || self.tool == tool)
            && self.argument.as_deref().is_none_or(|pattern| wildcard(pattern, argument))
    }
}

/// `*` stands for any text, also none; everything else for itself.
pub(crate) fn wildcard(pattern: &str, text: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    #[test]
    fn an_allow_pattern_names_what_it_allows() {
        for text in
            ["*", "bash", "bash(*)", "bash(git *)", "bash(git -C *)", "bash(python3 *)", "bash(g*)", "write", "mcp"]
        {
            assert!(pattern(text).too_broad().is_some(), "{text}");
        }
        for text in
            ["bash(git status*)", "bash(npm run lint *)", "bash(make)", "read", "write(docs/*)", "mcp(github/get_*)"]
        {
            assert_eq!(pattern(text).too_broad(), None, "{text}");
        }
    }

    #[test]
    fn a_pattern_that_can_match_nothing_is_noticed() {
        for text in ["bsh(ls)", "read(~other/x)", "write(../x)", "bash( ls)"] {
            assert!(pattern(text).never_matches().is_some(), "{text}");
        }
        for text in ["Bash(ls)", "read(~/x)", "grep(src/*)", "*(x)", "edit(src/a.rs)"] {
            assert_eq!(pattern(text).never_matches(), None, "{text}");
        }
    }
}
