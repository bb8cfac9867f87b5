//! The reviewer: a language model that may answer soft questions for the user, within tight limits.
//!
//! It is asked only if the user configured one, only about calls layer 2 is unsure of, and only by the hook. Its answer
//! becomes a fact; `judge` alone decides what follows from it. On any failure the question stays.

mod breaker;
mod cache;
pub(crate) mod chosen;
pub(crate) mod client;
mod fault;
mod fence;
pub(crate) mod lists;
#[cfg(test)]
mod llama_tests;
pub(crate) mod prompt;
#[cfg(test)]
mod prompt_tests;
pub(crate) mod provider;
pub(crate) mod reply;
#[cfg(test)]
mod server;
mod targets;
#[cfg(test)]
mod tests;
mod transcript;

use std::path::Path;
use std::time::{Duration, Instant};

use doorward_engine::{Answer, Clearance, Confidence, Degree, Facts, Policy, Review, Source, Verdict, World};
use serde::Serialize;

use crate::hook::agents::InstructionFile;
use crate::hook::agents::ProposedCall;
use crate::machine::checked_read;
use crate::machine::clock::now_ms;
use crate::machine::key;
use crate::machine::paths::Dirs;
use crate::memory::evaluation::{Evaluation, RecordedReview};
use crate::policy::config::Reviewer;
use crate::policy::config::reviewer::{FAST_MS, REASONED_MS, Reasoned};
use cache::Cache;
use chosen::UsableModel;
use fault::Fault;
use prompt::{Prompt, PromptInput};
use provider::{ReviewStage, Usage};
use reply::{ReviewDecision, ReviewReply, Tier};

pub(crate) use lists::Lists;

/// Maximum time for all stages together.
pub(crate) const LONGEST_TIME: Duration = Duration::from_millis(FAST_MS as u64 + REASONED_MS as u64);

/// A project's instruction files for agents.
const INSTRUCTIONS: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];

/// Longer instruction files are not read.
const LONGEST: u64 = 256 << 10;

/// How much of a reason is kept.
const REASON: usize = 500;

/// The origin of a call, for the reviewer.
#[derive(Debug)]
pub(crate) struct ReviewContext<'a> {
    pub dirs: &'a Dirs,
    pub reviewer: &'a Reviewer,
    pub proposed: &'a ProposedCall,
    pub project: Option<&'a str>,
    /// The maximum time available.
    pub time_left: Duration,
}

/// The result of asking, as recorded.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReviewResult {
    pub answer: Answer,
    pub model: String,
    pub because: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<ReviewStage>,
    #[serde(flatten)]
    pub usage: Usage,
    pub requests: u32,
    pub took_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The answer came from the cache.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    #[serde(skip)]
    targets: Vec<reply::NamedTarget>,
}

impl ReviewResult {
    /// What the record keeps of it.
    fn to_record(&self) -> RecordedReview {
        RecordedReview { said: serde_json::value::to_raw_value(self).unwrap_or_default(), took_ms: self.took_ms }
    }
}

/// Asks the reviewer about a call it may decide. INVARIANT: only what `is_for_it` accepts comes here.
pub(crate) fn consult(
    evaluation: Evaluation,
    context: &ReviewContext<'_>,
    policy: &Policy,
    world: &dyn World,
) -> (Evaluation, RecordedReview) {
    let mut reviewed = ask(&evaluation, context);
    if reviewed.answer == Answer::Allows
        && let Some(objection) = targets::objection(&reviewed.targets, &context.proposed.call, world, policy)
    {
        (reviewed.answer, reviewed.because) = (Answer::Declines, objection);
    }
    let facts = Facts { review: Some(reviewed.fact()), ..evaluation.facts.clone() };
    (evaluation.with_facts(facts, policy), reviewed.to_record())
}

/// A soft question that layer 2 could not answer, about a fully understood call.
pub(crate) fn is_for_it(evaluation: &Evaluation, reviewer: &Reviewer, policy: &Policy) -> bool {
    let judgement = &evaluation.judgement;
    let is_unsure =
        judgement.opinions.iter().any(|opinion| opinion.source == Source::Score && opinion.verdict == Verdict::Confirm);
    reviewer.is_on()
        && !policy.strict
        && judgement.verdict == Verdict::Confirm
        && judgement.cleared_by == Some(Clearance::Soft)
        && is_unsure
        && evaluation.facts.coverage.degree != Degree::Opaque
        && !evaluation.facts.cancelled
}

fn ask(evaluation: &Evaluation, context: &ReviewContext<'_>) -> ReviewResult {
    let start = Instant::now();
    let session = context.proposed.situation.model.as_deref();
    let name = chosen::name(context.reviewer, session);
    let shown = name.as_ref().map_or("none", |name| name).to_owned();
    let cache = Cache::open(context.dirs, now_ms());
    let result = name.and_then(|name| {
        if let Some(left) = cache.breaker().rests(now_ms()) {
            return Err(Fault::Resting(left));
        }
        let handed = context.proposed.situation.handed.as_ref();
        let chosen = chosen::reached(context.reviewer, name)?.with_key(context.dirs.home(), handed)?;
        let prompt = prepared(evaluation, context)?;
        let key = cache::key(&chosen.name, &prompt);
        match cache.answer(&key) {
            Some(reply) => Ok(ReviewResult { kept: true, ..ReviewResult::of(&chosen, reply) }),
            None => {
                cache.tries();
                Ok(in_stages(context, &chosen, &prompt, (&cache, &key)))
            }
        }
    });
    let took_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let reviewed = result.unwrap_or_else(|fault| ReviewResult::failed(shown, &fault));
    ReviewResult { took_ms, ..reviewed }
}

/// The fast stage, and if it passes, the slower one if configured.
fn in_stages(
    context: &ReviewContext<'_>,
    chosen: &UsableModel,
    prompt: &Prompt,
    (cache, key): (&Cache, &str),
) -> ReviewResult {
    let (mut last, mut is_tired): (Option<ReviewResult>, bool) = (None, false);
    let start = Instant::now();
    for (stage, time) in stages(context.reviewer, context.proposed.call.attended) {
        let time = time.min(context.time_left.saturating_sub(start.elapsed()));
        if time.is_zero() {
            break;
        }
        let exchange = client::ask(chosen, prompt, stage, time, context.dirs.home());
        let goes_on = match &exchange.result {
            Ok(reply) => reply.decision == ReviewDecision::Block,
            Err(fault) => fault.leaves_hope(),
        };
        is_tired = exchange.result.as_ref().is_err_and(Fault::tires);
        if let Ok(reply) = &exchange.result {
            cache.store(key, reply);
        }
        let now = match exchange.result {
            Ok(reply) => ReviewResult::of(chosen, reply),
            Err(fault) => ReviewResult::failed(chosen.name.clone(), &fault),
        };
        let usage = last.as_ref().map(|before| before.usage).unwrap_or_default().plus(exchange.usage);
        let requests = last.map_or(0, |before| before.requests) + exchange.requests;
        last = Some(ReviewResult { stage: Some(stage), cost_usd: cost(chosen, usage), usage, requests, ..now });
        if !goes_on {
            break;
        }
    }
    if is_tired {
        cache.failed();
    }
    last.unwrap_or_else(|| ReviewResult::failed(chosen.name.clone(), &Fault::NoTime))
}

/// The configured stages, with their time.
fn stages(reviewer: &Reviewer, is_attended: bool) -> impl Iterator<Item = (ReviewStage, Duration)> + use<> {
    let fast = reviewer.fast_ms.unwrap_or(FAST_MS).min(FAST_MS);
    let reasoned = reviewer.reasoned_ms.unwrap_or(REASONED_MS).min(REASONED_MS);
    let is_wanted = match reviewer.reasoned.unwrap_or(Reasoned::Headless) {
        Reasoned::Headless => !is_attended,
        Reasoned::Always => true,
        Reasoned::Never => false,
    };
    let stages = [(ReviewStage::Fast, fast), (ReviewStage::Reasoned, if is_wanted { reasoned } else { 0 })];
    let timed = stages.map(|(stage, time)| (stage, Duration::from_millis(u64::from(time))));
    timed.into_iter().filter(|(_, time)| !time.is_zero())
}

fn prepared(evaluation: &Evaluation, context: &ReviewContext<'_>) -> Result<Prompt, Fault> {
    let key = key::redaction(&context.dirs.state());
    let text = context.proposed.transcript.as_deref().and_then(|path| checked_read::end_of(path, transcript::TAIL));
    let instructions = instructions(context);
    let matter = PromptInput {
        call: &context.proposed.call,
        facts: &evaluation.facts,
        judgement: &evaluation.judgement,
        instructions: &instructions,
        transcript: &transcript::entries(&text.unwrap_or_default()),
        key: &key,
    };
    let nonce = nonce().ok_or_else(|| Fault::Unsendable("can't get a random number".to_owned()))?;
    Prompt::new(Lists::of(context.reviewer).policy(), matter, &nonce).map_err(Fault::Unsendable)
}

pub(crate) fn nonce() -> Option<String> {
    key::random().map(|bytes| bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// What the agent loaded, or what is in the project.
fn instructions(context: &ReviewContext<'_>) -> Vec<InstructionFile> {
    if context.reviewer.instructions == Some(false) {
        return Vec::new();
    }
    if let Some(files) = &context.proposed.situation.instructions {
        return files.clone();
    }
    let Some(root) = context.project else { return Vec::new() };
    let file = |name: &&str| {
        let text = checked_read::start_of(Path::new(root).join(name), LONGEST)?;
        Some(InstructionFile { path: (*name).to_owned(), text })
    };
    INSTRUCTIONS.iter().filter_map(file).collect()
}

impl ReviewResult {
    fn of(chosen: &UsableModel, reply: ReviewReply) -> ReviewResult {
        let answer = match reply.decision {
            ReviewDecision::Allow => Answer::Allows,
            ReviewDecision::Block => Answer::Declines,
        };
        let because: String = reply.reason.chars().take(REASON).collect();
        ReviewResult {
            tier: Some(reply.tier),
            confidence: Some(reply.confidence),
            targets: reply.targets,
            ..ReviewResult::empty(answer, chosen.name.clone(), because)
        }
    }

    fn failed(model: String, fault: &Fault) -> ReviewResult {
        ReviewResult {
            fault: Some(fault.as_str()),
            ..ReviewResult::empty(Answer::Unavailable, model, fault.to_string())
        }
    }

    fn empty(answer: Answer, model: String, because: String) -> ReviewResult {
        ReviewResult {
            answer,
            model,
            because,
            tier: None,
            confidence: None,
            fault: None,
            stage: None,
            usage: Usage::default(),
            requests: 0,
            took_ms: 0,
            cost_usd: None,
            kept: false,
            targets: Vec::new(),
        }
    }

    /// The fact for `judge`.
    fn fact(&self) -> Review {
        let ReviewResult { answer, model, because, confidence, .. } = self.clone();
        Review { answer, model, because, confidence }
    }
}

impl Usage {
    fn plus(self, other: Usage) -> Usage {
        Usage {
            tokens_read: self.tokens_read + other.tokens_read,
            tokens_written: self.tokens_written + other.tokens_written,
            tokens_kept: self.tokens_kept + other.tokens_kept,
        }
    }
}

/// In dollars, if the user configured prices.
pub(crate) fn cost(chosen: &UsableModel, usage: Usage) -> Option<f64> {
    let (input, output) = (chosen.provider.price_input?, chosen.provider.price_output?);
    Some((usage.tokens_read as f64 * input + usage.tokens_written as f64 * output) / 1e6)
}
