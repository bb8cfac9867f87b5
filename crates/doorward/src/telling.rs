//! A judgement in the words that a person is told: the decisive reason in one sentence, and one way on.

use doorward_engine::{
    Effect, Facts, Judgement, Mark, Operation, Opinion, Reversibility, Scope, Source, Target, Verdict, described,
};

/// Characters of all that an agent shows: its prompts cut longer texts at their end.
const ROOM: usize = 200;

/// Characters of a path, host or name in the sentence.
const NAME: usize = 60;

/// How the risk model begins where it is not sure enough.
const UNSURE: &str = "only ";

/// What is said of a project that is not trusted, where it is the reason for a doubt.
const UNTRUSTED: &str = "nobody has trusted";

/// The way out where trust in the project is all that is missing.
const TRUST: &str = "If you trust this project, run `doorward trust`";

/// What a person is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// What follows "because": no capital, no full stop.
    pub reason: String,
    /// One thing to do instead, or to do about it; a sentence without its full stop.
    pub way: Option<String>,
}

/// The decisive reason of a judgement, and a way on.
pub fn tell(judgement: &Judgement, facts: &Facts) -> Telling {
    let Some(opinion) = judgement.reasons().min_by_key(|opinion| rank(opinion)) else {
        return Telling::default();
    };
    let reason = match opinion.source {
        Source::Rule if judgement.verdict == Verdict::AutoApprove => opinion.because.clone(),
        Source::Rule => of_rule(&opinion.because, facts),
        Source::Coverage => of_coverage(facts),
        Source::Matrix => of_effect(opinion, facts),
        Source::Score => of_score(&opinion.because),
        Source::Mode
        | Source::Cancelled
        | Source::Permission
        | Source::Review
        | Source::Boundary
        | Source::Limit
        | Source::Nothing => opinion.because.clone(),
    };
    let instead = opinion.instead.as_deref().filter(|instead| !instead.is_empty());
    let way = match instead {
        _ if wants_trust(facts) && judgement.verdict == Verdict::Confirm => Some(TRUST.to_owned()),
        Some(instead) => Some(format!("Instead: {instead}")),
        None => None,
    };
    Telling { reason, way }
}

/// The call runs something of a project that nobody has trusted: to trust it is the way out.
pub fn wants_trust(facts: &Facts) -> bool {
    let runs_it = |effect: &Effect| effect.marks.has(Mark::UntrustedProject);
    let is_why = |because: &String| because.contains(UNTRUSTED);
    !facts.project_trusted
        && facts.project.is_some()
        && (facts.effects.iter().any(runs_it) || facts.coverage.because.iter().any(is_why))
}

impl Telling {
    /// All of it after these words, with the way on where there is room for it.
    pub fn after(&self, start: &str) -> String {
        let reason = format!("{start} {}.", self.reason);
        let way = self.way.as_ref().map(|way| format!("{reason} {way}."));
        way.filter(|whole| whole.chars().count() <= ROOM).unwrap_or(reason)
    }
}

/// What people want to hear first: what somebody said about this call, then what it does, then what doorward makes of it.
fn rank(opinion: &Opinion) -> u8 {
    match opinion.source {
        // Without layer 2 nobody weighs anything: that is a fault to be mended, and not about this call.
        Source::Score if !opinion.because.starts_with(UNSURE) => 2,
        Source::Cancelled => 0,
        Source::Review => 1,
        Source::Boundary => 2,
        Source::Permission => 3,
        Source::Rule => 4,
        Source::Coverage => 5,
        Source::Matrix => 6,
        Source::Limit => 7,
        Source::Score => 8,
        Source::Mode => 9,
        Source::Nothing => 10,
    }
}

/// A rule says what a call does, and to what.
fn of_rule(because: &str, facts: &Facts) -> String {
    match because.split_once(": ") {
        // A limit stands behind the target, and is what the person wants to know.
        Some((what, target)) if target.ends_with("`))") => match target.split_once(" (") {
            Some((target, limit)) => format!("this {what} ({}: {}", named(target, facts), limit),
            None => format!("this {what} ({})", named(target, facts)),
        },
        Some((what, target)) if target != Target::Unknown.shown() => {
            format!("this {what} ({})", named(target, facts))
        }
        Some((what, _)) => format!("this {what}"),
        None => format!("this {because}"),
    }
}

/// What was not understood, in the order in which it was met: the first is what the rest follows from.
fn of_coverage(facts: &Facts) -> String {
    let Some(first) = facts.coverage.because.first() else { return "it does not understand this call".to_owned() };
    if first.contains(UNTRUSTED) {
        return "nobody has trusted this project yet".to_owned();
    }
    if let Some(rest) = first.strip_prefix("a fault of doorward's own") {
        return format!("of a fault of its own{rest}");
    }
    if let Some((program, _)) = first.split_once(" runs data that is not known") {
        return format!("it cannot see what {program} would run");
    }
    if let Some(rest) = first.strip_prefix("so many operands of ") {
        return format!("it does not understand these arguments of {rest}");
    }
    let asks = ["which ", "what ", "where ", "who ", "how ", "whether "];
    let names = ["the program ", "the flag ", "the command ", "the subcommand "];
    if asks.iter().any(|word| first.starts_with(word)) {
        format!("it cannot tell {first}")
    } else if names.iter().any(|word| first.starts_with(word)) {
        format!("it does not know {first}")
    } else {
        format!("it does not understand {first}")
    }
}

/// The effect that the matrix speaks of, in a sentence.
fn of_effect(opinion: &Opinion, facts: &Facts) -> String {
    match facts.effects.iter().find(|effect| described(effect) == opinion.because) {
        Some(effect) => effect_sentence(effect, facts),
        None => format!("of this effect: {}", opinion.because),
    }
}

fn effect_sentence(effect: &Effect, facts: &Facts) -> String {
    let target = match &effect.target {
        Target::Unknown => "something that it cannot name".to_owned(),
        Target::Path(_) | Target::Host(_) | Target::Program(_) | Target::Resource(_) => {
            named(effect.target.shown(), facts)
        }
    };
    let verb = match effect.operation {
        Operation::Read => "reads",
        Operation::Write => "writes",
        Operation::Delete => "deletes",
        Operation::Mutate => "changes",
        Operation::Network => "reaches out to",
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
        (_, Reversibility::Irreversible) => ", and nothing undoes that",
        (Operation::Delete, _) => ", and only git has it then",
        _ => "",
    };
    format!("{what}{place}{loss}")
}

/// The risk model speaks in shares of one; people think in percent.
fn of_score(because: &str) -> String {
    let number = |word: &str| word.trim_end_matches(',').parse::<f64>().ok().map(|share| share * 100.0);
    let words: Vec<&str> = because.split(' ').collect();
    let shares: Vec<f64> = words.iter().filter_map(|word| number(word)).collect();
    match shares.as_slice() {
        [sure, wanted, ..] if because.starts_with(UNSURE) => {
            format!("it is only {sure:.0} % sure that this is safe, and {wanted:.0} % is needed")
        }
        _ => because.to_owned(),
    }
}

/// A path as one would write it here: from the project, or from the home directory; long ones without their middle.
fn named(target: &str, facts: &Facts) -> String {
    let below = |root: &str| target.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let project = facts.project.as_deref().filter(|root| !root.is_empty());
    let short = match (project.and_then(below), facts.home.as_deref().and_then(below)) {
        (Some(rest), _) => rest.to_owned(),
        (None, Some(rest)) => format!("~/{rest}"),
        (None, None) if project == Some(target) => "this project".to_owned(),
        (None, None) if facts.home.as_deref() == Some(target) => "~".to_owned(),
        (None, None) => target.to_owned(),
    };
    let count = short.chars().count();
    if count <= NAME {
        return short;
    }
    let (start, end) = (NAME / 2, count - (NAME / 2 - 1));
    let middle: String = short.chars().take(start).chain(['…']).chain(short.chars().skip(end)).collect();
    middle
}

/// Begins with a capital letter and ends with a full stop.
pub fn sentence(text: String) -> String {
    let mut letters = text.chars();
    // The name of the program stays as it is written.
    let start = match letters.next() {
        Some(first) if !text.starts_with("doorward") => first.to_uppercase().collect::<String>() + letters.as_str(),
        Some(_) | None => text,
    };
    if start.ends_with(['.', '!', '?']) { start } else { start + "." }
}
