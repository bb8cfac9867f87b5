//! A rule that a person accepted out of history: these very calls, in this project, where nothing but this is asked.

use doorward_vocabulary::{Clearance, Degree, Verdict};

use crate::effect::Effect;
use crate::facts::Facts;
use crate::pattern;
use crate::taint;
use crate::verdict::Opinion;

use super::path_spellings;

/// What a word of a call must not hold to stand in the place of another: no option, nothing that a shell or git reads further.
// A rule learned from `rm a.log` may cover `rm b.log`, but no word that the shell, git or a remote path would expand
// into something else.
const NOT_PLAIN: &[char] = &[
    '*', '?', '[', ']', '{', '}', '$', '`', '\\', '"', '\'', '<', '>', '|', '&', ';', '(', ')', '!', '#', '~', '=',
    ':', '+', '^', '@', '%',
];

/// Calls that a person let run again and again and accepted as a rule. It is bound to everything that was there when it was
/// accepted: another text, another kind of effect, another question, another project, a session that read a secret, and it
/// says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedCall {
    pub tool: String,
    /// The root of the project, which has to be a trusted one.
    pub project: String,
    /// What is asked about, letter for letter; the word `*` stands for one plain word.
    pub texts: Vec<String>,
    /// The patterns of the effects that are asked about.
    pub kinds: Vec<String>,
    /// The questions, as `question` names them.
    pub questions: Vec<String>,
    /// The reason that an approval has by this rule.
    pub because: String,
}

impl AcceptedCall {
    /// The places of the effects that the rule covers, if it covers every question about the call.
    pub fn covers(&self, facts: &Facts, asked: &[&Opinion]) -> Option<Vec<usize>> {
        let is_here = facts.tool == self.tool && facts.project.as_deref() == Some(self.project.as_str());
        let is_plain = !taint::is_void(facts) && facts.flows.is_empty() && facts.coverage.degree != Degree::Opaque;
        let is_known = |opinion: &&Opinion| {
            opinion.verdict == Verdict::Confirm
                && opinion.cleared_by == Some(Clearance::Soft)
                && self.questions.contains(&question(opinion))
        };
        if !(is_here && is_plain && facts.project_trusted && asked.iter().all(is_known)) {
            return None;
        }
        let covered: Vec<usize> = facts
            .effects
            .iter()
            .enumerate()
            .filter(|(_, effect)| self.takes(facts, effect))
            .map(|(at, _)| at)
            .collect();
        // Whatever a question points at has to be covered; what is left is judged by itself.
        let is_covered = |opinion: &&Opinion| match opinion.part {
            Some(part) => covered.iter().filter_map(|at| facts.effects.get(*at)).any(|effect| effect.part == part),
            None => true,
        };
        (!covered.is_empty() && asked.iter().all(is_covered)).then_some(covered)
    }

    fn takes(&self, facts: &Facts, effect: &Effect) -> bool {
        let is_meant = |text: &String| texts_of(facts, effect).iter().any(|spelling| is_like(text, spelling));
        self.kinds.contains(&kind(facts, effect)) && self.texts.iter().any(is_meant)
    }
}

/// What an opinion asks about: its rule, or the stage that it comes from.
pub fn question(opinion: &Opinion) -> String {
    opinion.rule.clone().unwrap_or_else(|| opinion.source.as_str().to_owned())
}

/// What "similar" means for one effect of a call.
pub fn kind(facts: &Facts, effect: &Effect) -> String {
    pattern::of(&facts.tool, std::slice::from_ref(effect))
}

/// What an effect is about, as the rule has it: a file of the project, a part of a command, or the whole call. The first is
/// the narrowest.
pub fn texts_of(facts: &Facts, effect: &Effect) -> Vec<String> {
    match facts.tool.as_str() {
        // A path as it was resolved; where it is relative, it is so to the project.
        "write" | "edit" => path_spellings(&effect.target, facts).and_then(|mut all| all.pop()).into_iter().collect(),
        "bash" => {
            let whole = facts.subject.trim().to_owned();
            let part = facts.subject.get(effect.part.start as usize..effect.part.end as usize).map(str::trim);
            // A command that runs somewhere else than the call itself is another one, and what a variable or a redirect
            // does besides is not in its words.
            let is_by_itself = facts.directories.is_empty() && !effect.by.is_empty();
            // What a word becomes is not in the part that holds it, but in the whole call.
            let part = part.filter(|part| !part.contains(['$', '`', '*', '?', '[', '{', '~', '<', '>']));
            part.filter(|part| is_by_itself && !part.is_empty()).map(str::to_owned).into_iter().chain([whole]).collect()
        }
        "fetch" => vec![facts.subject.clone()],
        _ => Vec::new(),
    }
}

/// The text, or one that differs from it in the words that may be any plain one.
fn is_like(text: &str, spelling: &str) -> bool {
    if text == spelling {
        return true;
    }
    let is_open = text.split(' ').any(|word| word == "*");
    let (mut words, mut spelt) = (text.split(' '), spelling.split(' '));
    is_open
        && loop {
            match (words.next(), spelt.next()) {
                (None, None) => break true,
                (Some("*"), Some(word)) if is_plain_word(word) => {}
                (Some(word), Some(other)) if word == other && word != "*" => {}
                (Some(_) | None, Some(_) | None) => break false,
            }
        }
}

/// A name and nothing else: no option, no pattern, nothing quoted or expanded.
pub fn is_plain_word(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('-')
        && !word.contains(NOT_PLAIN)
        && !word.contains(char::is_whitespace)
        && !word.split('/').any(|part| part == "..")
        && !word.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_may_be_another_is_a_plain_one() {
        for (text, spelling, expected) in [
            ("git push origin main", "git push origin main", true),
            ("git push origin main", "git push origin other", false),
            ("git push origin *", "git push origin feature-x", true),
            ("git push origin *", "git push origin fix/a", true),
            ("git push origin *", "git push origin --force", false),
            ("git push origin *", "git push origin +main", false),
            ("git push origin *", "git push origin :main", false),
            ("git push origin *", "git push origin a b", false),
            ("git push origin *", "git push origin", false),
            ("git push origin *", "git push origin $(x)", false),
            ("git push origin *", "git push origin ../x", false),
            ("ls *.rs", "ls *.rs", true),
            ("ls *.rs", "ls a.rs", false),
        ] {
            assert_eq!(is_like(text, spelling), expected, "{text} {spelling}");
        }
    }
}
