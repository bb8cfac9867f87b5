//! A judgement as a message: the decisive reason in one sentence, and one way out.

mod cases;
mod doubts;
mod fit;
mod limits;
mod problems;
mod shorten;
#[cfg(test)]
mod tests;

pub(crate) use fit::{MessageParts, PROMPT, REFUSAL};
pub(crate) use problems::of_problem;
use shorten::{short_name, shortened};

use cases::{Case, UNPACK_APART, UNPACKS};
use doorward_engine::{
    Effect, Facts, Judgement, Mark, Operation, Opinion, Reversibility, Scope, Source, Target, Verdict, described,
};

/// Maximum characters of the reason, so that the words before it fit too.
const REASON: usize = 165;

/// Maximum characters of a path, host or name in the sentence.
const NAME: usize = 60;

/// What the risk model's text says when it is not confident enough.
const UNSURE: &str = "doorward is only ";

/// How the engine's text describes an untrusted project.
const UNTRUSTED: &str = "isn't trusted yet";

/// The way out if only trust in the project is missing.
const TRUST: &str = "If you trust it, run `doorward trust`";

/// The parts of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Explanation {
    /// What follows "because": no capital, no full stop.
    pub reason: String,
    /// One alternative or remedy; a sentence without its full stop.
    pub way: Option<String>,
}

/// The decisive reason of a judgement, and a way out.
pub(crate) fn explain(judgement: &Judgement, facts: &Facts) -> Explanation {
    let Some(opinion) = judgement.reasons().min_by_key(|opinion| rank(opinion, facts)) else {
        return Explanation::default();
    };
    let reason = match opinion.source {
        Source::Rule if judgement.verdict == Verdict::AutoApprove => opinion.because.clone(),
        Source::Rule => shortened(&of_rule(opinion, facts), REASON),
        // The deeds are understood; how the run went is what stands against them.
        Source::Coverage if facts.contained.is_some() && facts.coverage.because.is_empty() => opinion.because.clone(),
        Source::Coverage => shortened(&doubts::of_coverage(facts), REASON),
        Source::Matrix => shortened(&of_effect(opinion, facts), REASON),
        Source::Score => of_score(&opinion.because, facts),
        // How it is counted matters only to the record, and the fault that follows needs the room.
        Source::Review => opinion.because.replacen(", which doesn't count as a denial:", ":", 1),
        Source::Limit => limits::explain_limit(&opinion.because),
        Source::Mode
        | Source::Cancelled
        | Source::Permission
        | Source::Boundary
        | Source::Contained
        | Source::Nothing => opinion.because.clone(),
    };
    let instead = way_of(opinion, facts).filter(|instead| !instead.is_empty());
    let way = match instead {
        // A rule asks in a trusted project too, so trust would not help.
        _ if opinion.source != Source::Rule && wants_trust(facts) && judgement.verdict == Verdict::Confirm => {
            Some(TRUST.to_owned())
        }
        Some(instead) => Some(format!("Instead: {instead}")),
        None => limits::counts_denials(opinion).then(|| limits::RESET.to_owned()),
    };
    Explanation { reason, way }
}

/// The call runs something of an untrusted project: trusting it is the way out.
pub(crate) fn wants_trust(facts: &Facts) -> bool {
    let runs_it = |effect: &Effect| effect.marks.has(Mark::UntrustedProject);
    let is_why = |because: &String| because.contains(UNTRUSTED);
    !facts.project_trusted
        && facts.project.is_some()
        && (facts.effects.iter().any(runs_it) || facts.coverage.because.iter().any(is_why))
}

impl Explanation {
    /// The reason after these words.
    pub(crate) fn after(&self, start: &str) -> String {
        // "This" is said once: "blocks this because it deletes".
        match self.reason.strip_prefix("this ").filter(|_| start.contains(" this ")) {
            Some(rest) => format!("{start} it {rest}"),
            None => format!("{start} {}", self.reason),
        }
    }
}

/// The order of reasons: first what someone said about this call, then what it does, then what doorward thinks of it.
fn rank(opinion: &Opinion, facts: &Facts) -> u8 {
    match opinion.source {
        // Without layer 2 nothing is weighed: that is a fault to fix, not something about this call.
        Source::Score if !opinion.because.contains(UNSURE) => 2,
        Source::Cancelled => 0,
        Source::Review => 1,
        Source::Boundary => 2,
        Source::Permission => 3,
        Source::Coverage if doubts::is_first(facts) => 4,
        Source::Rule if names_nothing(opinion) => 8,
        Source::Rule if is_about_address(opinion) => 6,
        Source::Rule => 5,
        Source::Coverage => 7,
        Source::Matrix => 9,
        Source::Limit if !limits::counts_denials(opinion) => 10,
        Source::Score if !opinion.asks_along() || remarkable(facts).is_some() => 11,
        // How often other calls were denied says nothing about this one, unless nothing else does either.
        Source::Limit => 12,
        Source::Score => 13,
        Source::Mode => 14,
        Source::Contained => 15,
        Source::Nothing => 16,
    }
}

/// Where a call goes matters less than what it does there.
fn is_about_address(opinion: &Opinion) -> bool {
    let rules = ["address-literal", "odd-address", "odd-port", "plaintext", "rare-domain", "unlisted-host"];
    opinion.rule.as_deref().is_some_and(|rule| rules.contains(&rule))
}

/// What to do instead.
fn way_of<'o>(opinion: &'o Opinion, facts: &Facts) -> Option<&'o str> {
    match (opinion.source, case(opinion, facts)) {
        (Source::Coverage, _) => doubts::way(facts),
        (Source::Matrix, _) => weighed(opinion, facts).filter(|effect| cases::unpacks(effect)).map(|_| UNPACK_APART),
        (_, Some(case)) => Some(case.instead),
        (_, None) => opinion.instead.as_deref(),
    }
}

/// The effects a rule may be about: it names the target and its position.
fn subjects<'f>(opinion: &Opinion, facts: &'f Facts) -> impl Iterator<Item = &'f Effect> {
    let target = opinion.because.split_once(": ").map(|(_, target)| target.to_owned());
    let part = opinion.part;
    facts.effects.iter().filter(move |effect| {
        let is_named = target.as_ref().is_some_and(|target| target.starts_with(effect.target.shown()));
        is_named && part.is_none_or(|part| part == effect.part)
    })
}

/// A sharper sentence than the rule's own, if there is one for what the call does.
fn case(opinion: &Opinion, facts: &Facts) -> Option<&'static Case> {
    let rule = opinion.rule.as_deref()?;
    subjects(opinion, facts).find_map(|effect| cases::case_of(rule, effect))
}

/// A rule says what a call does, and to what.
fn of_rule(opinion: &Opinion, facts: &Facts) -> String {
    let because = opinion.because.as_str();
    let (own, target) = because.split_once(": ").unwrap_or((because, ""));
    let what = case(opinion, facts).map_or(own, |case| case.what);
    let host = subjects(opinion, facts).find(|effect| cases::logs_in(effect)).and_then(|effect| host_of(effect, facts));
    let name = host.map_or_else(|| flattened(target, facts), str::to_owned);
    if name.is_empty() || names_nothing(opinion) || is_said(what, &name) {
        format!("this {what}")
    } else {
        format!("this {what} ({name})")
    }
}

/// A rule that can't say what the call acts on.
fn names_nothing(opinion: &Opinion) -> bool {
    opinion.because.split_once(": ").is_some_and(|(_, target)| target.starts_with(Target::Unknown.shown()))
}

/// The sentence already contains the name: "changes a database (database)".
fn is_said(what: &str, name: &str) -> bool {
    name.len() > 3 && format!(" {what} ").contains(&format!(" {name} "))
}

/// The machine that the same command contacts.
fn host_of<'f>(effect: &Effect, facts: &'f Facts) -> Option<&'f str> {
    facts.effects.iter().filter(|other| other.by == effect.by).find_map(|other| match &other.target {
        Target::Host(host) => Some(host.as_str()),
        Target::Path(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => None,
    })
}

/// The target of a rule's sentence and what follows it, a limit or the recipe, without brackets of their own.
fn flattened(target: &str, facts: &Facts) -> String {
    let target = without_settings(target);
    let target = target.as_str();
    let (target, notes) = match target.split_once(" (") {
        Some((target, notes)) => (target, format!(": {}", notes.replace(") (", ", ").trim_end_matches(')'))),
        None => (target, String::new()),
    };
    format!("{}{notes}", name_target(target, facts))
}

/// A limit without the names of its settings, which `--explain` shows: `12 files, 3 KiB, limit 10 files, 20 MiB`.
fn without_settings(target: &str) -> String {
    let names = [" (`bulk_files`, `bulk_bytes`)", " (`read_bytes`)"];
    let short = names.iter().fold(target.to_owned(), |text, name| text.replace(name, ""));
    match short.split_once("; the limit for one call is ") {
        Some((lost, limit)) => format!("{lost}, limit {}", limit.replacen(" files and ", " files, ", 1)),
        None => short.replace("; the limit for one read is ", ", limit "),
    }
}

/// The effect that the matrix is about, in a sentence.
fn of_effect(opinion: &Opinion, facts: &Facts) -> String {
    match weighed(opinion, facts) {
        Some(effect) if cases::unpacks(effect) => format!("this {UNPACKS}"),
        Some(effect) => effect_sentence(effect, facts),
        None => format!("of this effect: {}", opinion.because),
    }
}

fn weighed<'f>(opinion: &Opinion, facts: &'f Facts) -> Option<&'f Effect> {
    facts.effects.iter().find(|effect| described(effect) == opinion.because)
}

fn effect_sentence(effect: &Effect, facts: &Facts) -> String {
    let target = match &effect.target {
        Target::Unknown => "something it cannot name".to_owned(),
        Target::Path(_) | Target::Host(_) | Target::Program(_) | Target::Resource(_) => {
            name_target(effect.target.shown(), facts)
        }
    };
    let verb = match effect.operation {
        Operation::Read => "reads",
        Operation::Write => "writes",
        Operation::Delete => "deletes",
        Operation::Mutate => "changes",
        Operation::Network => "contacts",
        Operation::Execute => "runs",
    };
    let is_command = matches!(effect.target, Target::Program(_) | Target::Resource(_));
    let what = match (effect.operation, is_command) {
        (Operation::Mutate | Operation::Network | Operation::Write, true) => format!("`{target}` makes a change"),
        _ => format!("this {verb} {target}"),
    };
    let place = match effect.scope {
        Scope::System => " on this machine",
        Scope::External => " outside this machine",
        Scope::OtherRepo => " outside the project",
        Scope::Scratch | Scope::File | Scope::Directory | Scope::Project => "",
    };
    let loss = match (effect.operation, effect.reversibility) {
        (Operation::Read, _) => "",
        (_, Reversibility::Irreversible) => ", and that cannot be undone",
        (Operation::Delete, _) => ", and only git can bring it back",
        _ => "",
    };
    format!("{what}{place}{loss}")
}

/// The risk model's text without what it weighed.
fn of_score(because: &str, facts: &Facts) -> String {
    if let Some(told) = because.contains(UNSURE).then(|| remarkable(facts)).flatten() {
        return told;
    }
    let number = |before: &str| before.rsplit(' ').next().and_then(|word| word.parse::<f64>().ok());
    // What it weighed follows, and may have percentages of its own.
    let said = because.split(": ").next().unwrap_or(because);
    let shares: Vec<f64> = said.split(" %").filter_map(number).collect();
    match shares.as_slice() {
        [sure, wanted] if said.contains(UNSURE) => {
            format!("it is only {sure:.0} % sure that this is safe (it approves at {wanted:.0} %)")
        }
        _ if said.contains(UNSURE) => "it cannot be sure enough that this is safe".to_owned(),
        _ => because.to_owned(),
    }
}

/// What stands out about a call that only the risk model is unsure of.
fn remarkable(facts: &Facts) -> Option<String> {
    let marked = |mark: Mark| facts.effects.iter().find(|effect| effect.marks.has(mark));
    if marked(Mark::Listens).is_some() {
        return Some("this opens a port that other machines may connect to".to_owned());
    }
    marked(Mark::Interactive).map(|effect| match cases::browses(effect) {
        true => format!("`{}` opens something in another program", cases::program(effect)),
        false => format!("`{}` waits for input at a terminal", cases::program(effect)),
    })
}

/// A path as you would write it here: relative to the project or the home directory; long ones without their middle.
fn name_target(target: &str, facts: &Facts) -> String {
    let below = |root: &str| target.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let project = facts.project.as_deref().filter(|root| !root.is_empty());
    let short = match (project.and_then(below), facts.home.as_deref().and_then(below)) {
        (Some(rest), _) => rest.to_owned(),
        (None, _) if project == Some(target) => "this project".to_owned(),
        (None, Some(rest)) => format!("~/{rest}"),
        (None, None) if facts.home.as_deref() == Some(target) => "~".to_owned(),
        (None, None) => target.to_owned(),
    };
    short_name(&short, NAME)
}

/// Adds a capital letter at the start and a full stop at the end.
pub(crate) fn sentence(text: String) -> String {
    let mut letters = text.chars();
    // The program's own name stays lowercase.
    let start = match letters.next() {
        Some(first) if !text.starts_with("doorward") => first.to_uppercase().collect::<String>() + letters.as_str(),
        Some(_) | None => text,
    };
    if start.ends_with(['.', '!', '?']) { start } else { start + "." }
}
