//! What doorward would ask about, grouped by kind, each with the narrowest rule that would silence it.

use std::collections::BTreeMap;

use doorward_engine::{Target, Verdict};
use doorward_vocabulary::PatternId;

use super::{Judge, PreviewedCall, TranscriptSummary};

/// How many groups get a rule: start with these.
// Trying a rule judges its calls again. A dozen covers nearly all questions of a normal month.
const RULES: usize = 12;

/// How many calls of a group a rule is tried on.
const TRIED: usize = 40;

/// Calls of a kind that would be asked about for the same reason.
#[derive(Debug)]
pub(super) struct Group {
    /// What kind of call it is.
    pub pattern: PatternId,
    pub reason: String,
    pub example: String,
    pub calls: u64,
    pub rule: Option<SuggestedRule>,
}

/// A line of configuration, and what it would do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SuggestedRule {
    /// The key and the value, as written in the configuration.
    pub text: String,
    /// Calls of the group that would then be silent.
    pub silences: u64,
    /// Calls of other groups that would be silent as well.
    pub others: u64,
}

/// What a rule says.
enum Candidate {
    Allow(String),
    Host(String),
    Project(String),
}

/// The groups of what would be asked, the largest first.
pub(super) fn of(seen: &TranscriptSummary, judge: &mut Judge<'_>) -> Vec<Group> {
    let asked: Vec<&PreviewedCall> =
        seen.judged.iter().filter(|judged| judged.judgement.verdict == Verdict::Confirm).collect();
    let mut kinds: BTreeMap<(PatternId, String), Vec<&PreviewedCall>> = BTreeMap::new();
    for judged in &asked {
        let settled = judged.judgement.settled_by.as_str();
        let why = judged.judgement.rule.clone().unwrap_or_else(|| settled.to_owned());
        kinds.entry((judged.facts.pattern.clone(), why)).or_default().push(judged);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    let sum = |group: &[&PreviewedCall]| group.iter().map(|judged| judged.times).sum::<u64>();
    kinds.sort_by(|(a, one), (b, other)| sum(other).cmp(&sum(one)).then_with(|| a.cmp(b)));
    let describe = |(at, ((pattern, _), group)): (usize, ((PatternId, String), Vec<&PreviewedCall>))| {
        let reason = group.first().and_then(|first| Some(first.judgement.reasons_to_read().next()?.because.clone()));
        let example = group.first().map(|first| first.facts.subject.clone()).unwrap_or_default();
        let rule = if at < RULES { narrowest(&group, &asked, judge) } else { None };
        Group { pattern, reason: reason.unwrap_or_default(), example, calls: sum(&group), rule }
    };
    kinds.into_iter().enumerate().map(describe).collect()
}

/// The first rule, from narrow to wide, that silences any call of the group.
fn narrowest(group: &[&PreviewedCall], asked: &[&PreviewedCall], judge: &mut Judge<'_>) -> Option<SuggestedRule> {
    for candidate in candidates(group) {
        let mut silenced = |calls: &mut dyn Iterator<Item = &&PreviewedCall>| -> u64 {
            let mut count = 0;
            for judged in calls.take(TRIED) {
                let verdict = judge.would_be(judged, |loaded| candidate.add_to(&mut loaded.config));
                count += if verdict == Verdict::AutoApprove { judged.times } else { 0 };
            }
            count
        };
        let silences = silenced(&mut group.iter());
        if silences > 0 {
            let is_other = |judged: &&&PreviewedCall| !group.iter().any(|own| std::ptr::eq(*own, **judged));
            let others = silenced(&mut asked.iter().filter(is_other).filter(|judged| candidate.concerns(judged)));
            return Some(SuggestedRule { text: candidate.text(), silences, others });
        }
    }
    None
}

/// What might silence a group: exactly its call, calls that start the same, its host, its project.
fn candidates(group: &[&PreviewedCall]) -> Vec<Candidate> {
    let mut found = Vec::new();
    let Some(first) = group.first() else { return found };
    let facts = &first.facts;
    let subjects: Vec<&str> = group.iter().map(|judged| judged.facts.subject.as_str()).collect();
    if subjects.iter().all(|subject| *subject == facts.subject) {
        found.push(Candidate::Allow(format!("{}({})", facts.tool, facts.subject)));
    }
    if let Some(start) = common_start(&subjects) {
        found.push(Candidate::Allow(format!("{}({start} *)", facts.tool)));
    }
    let hosts: Vec<&str> = group.iter().filter_map(|judged| host(judged)).collect();
    if let Some(host) = hosts.first().filter(|host| hosts.iter().all(|other| other == *host)) {
        found.push(Candidate::Host((*host).to_owned()));
    }
    if let Some(project) = first.project.as_ref().filter(|_| group.iter().all(|judged| judged.project == first.project))
    {
        found.push(Candidate::Project(project.clone()));
    }
    found
}

/// The words that all commands start with; at least a program and its subcommand.
pub(crate) fn common_start(subjects: &[&str]) -> Option<String> {
    let mut words: Vec<&str> = subjects.first()?.split(' ').collect();
    for subject in subjects {
        let same = words.iter().zip(subject.split(' ')).take_while(|(one, other)| *one == other).count();
        words.truncate(same);
    }
    (words.len() >= 2).then(|| words.join(" "))
}

fn host(judged: &PreviewedCall) -> Option<&str> {
    judged.facts.effects.iter().find_map(|effect| match &effect.target {
        Target::Host(host) => Some(host.as_str()),
        Target::Path(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => None,
    })
}

impl Candidate {
    fn add_to(&self, config: &mut crate::policy::config::Config) {
        match self {
            Candidate::Allow(pattern) => config.permissions.allow.push(pattern.clone()),
            Candidate::Host(host) => {
                if config.hosts.allowed.is_empty() {
                    config.hosts.allowed.push("$defaults".to_owned());
                }
                config.hosts.allowed.push(host.clone());
            }
            Candidate::Project(root) => config.projects.trusted.push(root.clone()),
        }
    }

    fn text(&self) -> String {
        let quoted = |text: &str| toml_edit::Value::from(text).to_string();
        match self {
            Candidate::Allow(pattern) => format!("permissions.allow = [{}]", quoted(pattern).trim()),
            Candidate::Host(host) => format!("hosts.allowed = [\"$defaults\", {}]", quoted(host).trim()),
            Candidate::Project(root) => format!("projects.trusted = [{}]", quoted(root).trim()),
        }
    }

    /// It can say something about this call.
    fn concerns(&self, judged: &PreviewedCall) -> bool {
        match self {
            Candidate::Allow(pattern) => pattern.starts_with(&judged.facts.tool),
            Candidate::Host(name) => host(judged) == Some(name),
            Candidate::Project(root) => judged.project.as_ref() == Some(root),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_has_a_program_and_what_it_does() {
        assert_eq!(common_start(&["git push origin a", "git push origin b"]).as_deref(), Some("git push origin"));
        assert_eq!(common_start(&["git push", "git pull"]), None);
        assert_eq!(common_start(&[]), None);
    }
}
