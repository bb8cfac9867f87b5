//! Patterns of the configuration that deny, ask or allow: `bash(git push --force*)`, `write(src/**)`.

mod accepted;

use doorward_vocabulary::{Clearance, Mark, Operation, Scope, Source};

pub(crate) use crate::permission_pattern::{Pattern, wildcard};
pub use accepted::{AcceptedCall, is_plain_word, kind, question, texts_of};

use crate::effect::{Effect, Target};
use crate::facts::Facts;
use crate::permission_pattern::FILE_TOOLS;
use crate::verdict::Opinion;

/// The three lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    pub deny: Vec<Pattern>,
    pub ask: Vec<Pattern>,
    /// Only from trusted sources.
    pub allow: Vec<Pattern>,
    /// What a person accepted out of history, in the project at hand.
    pub accepted: Vec<AcceptedCall>,
}

impl Permissions {
    /// What the deny and ask lists say: they fire if the raw text or any normalised form matches, and a pattern for a file
    /// fires however the call reads or changes that file.
    pub fn opinions(&self, facts: &Facts) -> Vec<Opinion> {
        if self.deny.is_empty() && self.ask.is_empty() {
            return Vec::new();
        }
        let arguments = Arguments::of(facts);
        let hit = |list: &[Pattern]| {
            list.iter().find(|pattern| arguments.touched_by(pattern, &facts.tool)).map(|pattern| pattern.text.clone())
        };
        let mut opinions = Vec::new();
        if let Some(text) = hit(&self.deny) {
            opinions.push(Opinion::block(
                Source::Permission,
                Clearance::Hard,
                format!("the configuration denies `{text}` (permissions.deny)"),
            ));
        }
        if let Some(text) = hit(&self.ask) {
            opinions.push(Opinion::confirm(
                Source::Permission,
                Clearance::Firm,
                format!("the configuration asks about `{text}` (permissions.ask)"),
            ));
        }
        opinions
    }

    /// Every command or file of the call is covered by some allow pattern.
    ///
    /// A pattern speaks of a program and its words. What a redirect or a variable does besides is covered only by a
    /// pattern that is the whole command, letter for letter.
    pub fn allows(&self, facts: &Facts) -> bool {
        if facts.tool == "bash" && facts.effects.iter().any(is_beside_the_words) {
            return self.allow.iter().any(|pattern| pattern.is_exactly(&facts.tool, &facts.subject));
        }
        !self.allow.is_empty()
            && Arguments::of(facts)
                .all_covered(|argument| self.allow.iter().any(|pattern| pattern.matches(&facts.tool, argument)))
    }
}

/// The effect comes from the shell itself: a redirect, an assignment.
fn is_beside_the_words(effect: &crate::effect::Effect) -> bool {
    effect.by.is_empty() && effect.operation != Operation::Read
}

/// What patterns are compared with.
struct Arguments<'f> {
    /// As the agent wrote it.
    raw: &'f str,
    /// One entry for each command or file, with all spellings of it that mean the same.
    normalised: Vec<Vec<String>>,
    /// The same commands by the bare name of their program, and without the options before a subcommand. Only what denies or
    /// asks is compared with them.
    plainer: Vec<String>,
    /// Files that a call reads or changes besides, with the tools that would do the same.
    files: Vec<Touched>,
}

impl Arguments<'_> {
    fn of(facts: &Facts) -> Arguments<'_> {
        let normalised = if FILE_TOOLS.contains(&facts.tool.as_str()) {
            facts.effects.iter().filter_map(|effect| path_spellings(&effect.target, facts)).collect()
        } else {
            facts.commands.iter().map(|command| vec![command.clone()]).collect()
        };
        // What a search goes through it reads; the other tools for files have their own name for what they do.
        let is_named = FILE_TOOLS.contains(&facts.tool.as_str()) && facts.tool != "search";
        let files = if is_named { Vec::new() } else { touched_files(facts) };
        let plainer = if facts.tool == "bash" {
            facts.commands.iter().flat_map(|text| plainer(text)).collect()
        } else {
            Vec::new()
        };
        Arguments { raw: &facts.subject, normalised, plainer, files }
    }

    fn touched_by(&self, pattern: &Pattern, tool: &str) -> bool {
        pattern.matches(tool, self.raw)
            || self.normalised.iter().flatten().any(|spelling| pattern.matches(tool, spelling))
            || self.plainer.iter().any(|spelling| pattern.matches(tool, spelling))
            || (pattern.names_files() && self.files.iter().any(|touched| touched.is_meant_by(pattern)))
    }

    /// INVARIANT: an allow pattern never sees a path as the agent spelt it, only as it was resolved.
    fn all_covered(&self, covered: impl Fn(&str) -> bool) -> bool {
        match self.normalised.as_slice() {
            [] => covered(self.raw),
            all => all.iter().all(|spellings| spellings.iter().any(|spelling| covered(spelling))),
        }
    }
}

/// So many options before a subcommand are looked past.
// `git -C a --no-pager -c x=y log` has three. Every option adds two readings that are compared with each deny
// pattern.
const OPTIONS: usize = 8;

/// `/bin/rm x` as `rm x`, `git -C a --no-pager log` as `git log`. An option may take the next word along or not: both count.
fn plainer(command: &str) -> Vec<String> {
    let (program, words) = command.split_once(' ').unwrap_or((command, ""));
    let name = crate::path::name(program);
    let whole = |words: &str| if words.is_empty() { name.to_owned() } else { format!("{name} {words}") };
    let mut found = if name == program { Vec::new() } else { vec![whole(words)] };
    let mut rest = words;
    for _ in 0..OPTIONS {
        let Some((_, after)) = rest.split_once(' ').filter(|(word, _)| word.starts_with('-')) else { break };
        found.push(whole(after));
        // The value of the option, unless the next word is an option itself.
        rest = match after.split_once(' ') {
            Some((value, behind)) if !value.starts_with('-') => {
                found.push(whole(behind));
                behind
            }
            Some(_) | None => after,
        };
    }
    found
}

/// A file or directory that a call touches.
struct Touched {
    /// The tools that would do the same.
    tools: &'static [&'static str],
    spellings: Vec<String>,
    /// Whatever lies below is touched as well.
    is_tree: bool,
}

impl Touched {
    /// The pattern names the file, or something below a directory that is touched as a whole.
    fn is_meant_by(&self, pattern: &Pattern) -> bool {
        let is_meant = |tool: &str, spelling: &str| {
            pattern.matches(tool, spelling) || (self.is_tree && pattern.names_below(tool, spelling))
        };
        self.tools.iter().any(|tool| self.spellings.iter().any(|spelling| is_meant(tool, spelling)))
    }
}

/// Every file that the call touches, under the names of the tools that would touch it in the same way.
fn touched_files(facts: &Facts) -> Vec<Touched> {
    let tools = |operation: Operation| -> &'static [&'static str] {
        match operation {
            Operation::Read => &["read", "search"],
            Operation::Write | Operation::Delete | Operation::Mutate => &["edit", "write"],
            Operation::Execute | Operation::Network => &[],
        }
    };
    let touched = |effect: &Effect| {
        let (tools, spellings) = (tools(effect.operation), path_spellings(&effect.target, facts)?);
        // To look through the whole project says nothing about one denied place in it; each file that is named does.
        let is_whole = [&facts.project, &facts.home].iter().any(|root| root.as_deref() == Some(effect.target.shown()));
        let is_tree = !is_whole
            && (matches!(effect.scope, Scope::Directory | Scope::Project)
                || effect.marks.has_any(&[Mark::Recursive, Mark::Wildcard]));
        (!tools.is_empty()).then_some(Touched { tools, spellings, is_tree })
    };
    facts.effects.iter().filter_map(touched).collect()
}

/// A resolved path: absolute, below the home directory, relative to the project.
fn path_spellings(target: &Target, facts: &Facts) -> Option<Vec<String>> {
    let Target::Path(path) = target else { return None };
    let below = |root: &Option<String>| {
        let root = root.as_deref()?.trim_end_matches('/');
        path.strip_prefix(root)?.strip_prefix('/').map(str::to_owned)
    };
    let mut spellings = vec![path.clone()];
    spellings.extend(below(&facts.home).map(|rest| format!("~/{rest}")));
    spellings.extend(below(&facts.project));
    Some(spellings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_also_known_by_its_bare_name_and_without_options_before_its_subcommand() {
        for (command, wanted) in [
            ("/bin/rm x", "rm x"),
            ("git -C . log", "git log"),
            ("git --no-pager log -p", "git log -p"),
            ("git -c a=b --no-pager log", "git log"),
            ("/usr/bin/git -C a -c b=c log x", "git log x"),
            ("npm --prefix a run build", "npm run build"),
        ] {
            assert!(plainer(command).iter().any(|found| found == wanted), "{command}: {:?}", plainer(command));
        }
        for command in ["rm x", "git log", "make", "git status -s", ""] {
            assert!(plainer(command).is_empty(), "{command}: {:?}", plainer(command));
        }
        assert!(plainer(&"git -C a ".repeat(1000)).len() <= 2 * OPTIONS + 1);
    }
}
