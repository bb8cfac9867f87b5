//! What the index knows of an entry: columns taken from the keys that `record.rs` names.

use doorward_vocabulary::Verdict;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::event::{Keep, Kind};
use crate::read::Record;
use crate::record::{
    AlertBody, AlertStep, AnswerBody, Became, By, DecisionBody, DeviceBody, GapBody, GrantBody, GrantStep, ModeBody,
    OutcomeBody, PolicyBody, Reply, SessionBody, SessionStep,
};

/// One entry as lists show it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its place in the log.
    pub sequence: u64,
    /// The writer's clock.
    pub time_ms: u64,
    /// The word for its kind.
    pub kind: String,
    /// A decision's own name.
    pub id: Option<String>,
    /// The decision that an answer, outcome or grant is about.
    pub decision: Option<String>,
    /// Which agent.
    pub agent: Option<String>,
    /// Which session.
    pub session: Option<String>,
    /// Which project.
    pub project: Option<String>,
    /// Which user.
    pub user: Option<String>,
    /// Which tool.
    pub tool: Option<String>,
    /// The word for the verdict.
    pub verdict: Option<String>,
    /// The rule that settled a call or that it violated.
    pub rule: Option<String>,
    /// The operation word.
    pub category: Option<String>,
    /// What "similar" means for it.
    pub pattern: Option<String>,
    /// The rule a BLOCK says was violated.
    pub violation: Option<String>,
    /// What happened: reply, outcome, step.
    pub step: Option<String>,
    /// Who answered.
    pub by: Option<String>,
    /// The call or what else there is to read.
    pub text: Option<String>,
    /// Microseconds of all stages.
    pub latency_us: Option<u64>,
    /// Whether it is kept for good.
    pub sensitive: bool,
    /// How far a call was understood.
    #[serde(skip)]
    pub coverage: Option<String>,
    /// The mode in force.
    #[serde(skip)]
    pub mode: Option<String>,
    /// Who demanded what doorward itself would have let pass.
    #[serde(skip)]
    pub demanded: Option<String>,
    /// Nobody could have answered.
    #[serde(skip)]
    pub unattended: bool,
    /// How a reviewer answered, where one was asked.
    #[serde(skip)]
    pub review: Option<String>,
    /// How a call got to the box, or what became of what a contained run did.
    #[serde(skip)]
    pub run: Option<String>,
    /// Microseconds of each stage.
    #[serde(skip)]
    pub stages: Vec<(String, u64)>,
}

impl Row {
    /// The columns of an entry; of one without a body, or with a body that cannot be read, only the header's.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let body = record.body.as_deref().unwrap_or_default();
        let row = match record.header.kind {
            Kind::Decision => read(body, decision),
            Kind::Answer => read(body, answer),
            Kind::Outcome => read(body, outcome),
            Kind::Grant => read(body, grant),
            Kind::Policy => read(body, policy),
            Kind::Mode => read(body, mode),
            Kind::Alert => read(body, alert),
            Kind::Gap => read(body, gap),
            Kind::Session => read(body, session),
            Kind::Device => read(body, device),
            Kind::Tombstone | Kind::Checkpoint => None,
        };
        Self {
            sequence: record.header.sequence,
            time_ms: record.header.time_ms,
            kind: record.header.kind.word().to_owned(),
            sensitive: record.header.keep == Keep::Forever,
            ..row.unwrap_or_default()
        }
    }
}

fn read<B: DeserializeOwned>(body: &[u8], columns: fn(B) -> Row) -> Option<Row> {
    serde_json::from_slice(body).ok().map(columns)
}

fn decision(body: DecisionBody) -> Row {
    let run = run(&body);
    let rule = body.layer1.and_then(|layer| layer.rule);
    Row {
        run,
        id: Some(body.id.into()),
        agent: body.agent,
        session: body.session.map(Into::into),
        project: body.project,
        user: body.user,
        tool: Some(body.tool),
        verdict: Some(body.verdict.as_str().to_owned()),
        rule: body.violation.clone().or(rule),
        category: body.category,
        pattern: body.pattern.map(Into::into),
        violation: body.violation,
        text: Some(body.call),
        coverage: body.facts.as_deref().and_then(coverage),
        mode: body.mode.map(|mode| mode.as_str().to_owned()),
        demanded: body.demanded,
        unattended: body.attended == Some(false),
        review: body.review.as_deref().and_then(review),
        stages: body.latency_us.clone().into_iter().collect(),
        latency_us: (!body.latency_us.is_empty())
            .then(|| body.latency_us.values().fold(0, |sum: u64, part| sum.saturating_add(*part))),
        ..Row::default()
    }
}

/// The one word of the facts that is counted.
fn coverage(facts: &serde_json::value::RawValue) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Seen {
        coverage: Degree,
    }
    #[derive(serde::Deserialize)]
    struct Degree {
        degree: String,
    }
    serde_json::from_str::<Seen>(facts.get()).ok().map(|seen| seen.coverage.degree)
}

/// A contained run by its verdict, or the way of a call to one.
fn run(body: &DecisionBody) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Ran {
        #[serde(default)]
        contained: Option<serde::de::IgnoredAny>,
    }
    let facts = body.facts.as_deref().map(serde_json::value::RawValue::get).unwrap_or_default();
    // Most facts don't hold the word, and reading them costs more than looking for it.
    let has_run = || serde_json::from_str::<Ran>(facts).is_ok_and(|ran| ran.contained.is_some());
    if !facts.contains("\"contained\"") || !has_run() {
        return body.contained.clone();
    }
    let word = match (body.verdict, &body.left_to) {
        (Verdict::AutoApprove, _) => "committed",
        (Verdict::Confirm, Some(_)) => "held",
        (Verdict::Confirm, None) | (Verdict::Block, _) => "discarded",
    };
    Some(word.to_owned())
}

/// The one word of a review that is counted.
fn review(review: &serde_json::value::RawValue) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Answered {
        answer: String,
    }
    serde_json::from_str::<Answered>(review.get()).ok().map(|answered| answered.answer)
}

fn answer(body: AnswerBody) -> Row {
    let step = match body.reply {
        Reply::Approved => "approved",
        Reply::Declined => "declined",
    };
    let by = match body.by {
        By::Person => "person",
        By::Client => "client",
        By::Classifier => "classifier",
    };
    Row {
        decision: Some(body.decision.into()),
        step: Some(step.to_owned()),
        by: Some(by.to_owned()),
        text: body.why,
        ..Row::default()
    }
}

fn outcome(body: OutcomeBody) -> Row {
    let step = match body.became {
        Became::Ran => "ran",
        Became::Failed => "failed",
        Became::Reverted => "reverted",
        Became::Flagged => "flagged",
        Became::Friction => "friction",
        Became::Fine => "fine",
    };
    let step = Some(step.to_owned());
    Row { decision: Some(body.decision.into()), step, text: body.detail, ..Row::default() }
}

fn grant(body: GrantBody) -> Row {
    let step = match body.step {
        GrantStep::Stored => "stored",
        GrantStep::Used => "used",
        GrantStep::Withdrawn => "withdrawn",
        GrantStep::Expired => "expired",
    };
    Row {
        decision: body.decision.map(Into::into),
        session: body.session.map(Into::into),
        user: body.user,
        step: Some(step.to_owned()),
        text: Some(body.of),
        ..Row::default()
    }
}

fn policy(body: PolicyBody) -> Row {
    Row { user: body.user, project: body.project, text: Some(body.what), ..Row::default() }
}

fn mode(body: ModeBody) -> Row {
    Row { user: body.user, session: body.session.map(Into::into), step: Some(body.mode), ..Row::default() }
}

fn alert(body: AlertBody) -> Row {
    let step = match body.step {
        AlertStep::Raised => "raised",
        AlertStep::Acknowledged => "acknowledged",
        AlertStep::Resolved => "resolved",
    };
    Row {
        id: body.id,
        session: body.session.map(Into::into),
        user: body.user,
        category: Some(body.name),
        step: Some(step.to_owned()),
        text: Some(body.text),
        ..Row::default()
    }
}

fn gap(body: GapBody) -> Row {
    Row { text: Some(body.reason), ..Row::default() }
}

fn session(body: SessionBody) -> Row {
    let (step, text) = match body.step {
        SessionStep::Began => ("began", None),
        SessionStep::Ended => ("ended", None),
        SessionStep::Taint(what) => ("taint", Some(what)),
        SessionStep::Boundary(what) => ("boundary", Some(what)),
        SessionStep::Reset => ("reset", None),
        SessionStep::Compacted => ("compacted", None),
        SessionStep::SubagentBegan(name) => ("subagent-began", Some(name)),
        SessionStep::SubagentEnded(name) => ("subagent-ended", Some(name)),
    };
    let (session, step) = (Some(body.session), Some(step.to_owned()));
    Row { session: session.map(Into::into), agent: body.agent, step, text, ..Row::default() }
}

fn device(body: DeviceBody) -> Row {
    Row {
        decision: body.decision.map(Into::into),
        user: body.user,
        step: Some(body.step.word().to_owned()),
        by: Some(body.device),
        text: Some(body.name),
        ..Row::default()
    }
}

/// Which entries are wanted; what is `None` does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this kind.
    pub kind: Option<Kind>,
    /// With this verdict.
    pub verdict: Option<Verdict>,
    /// From this agent.
    pub agent: Option<String>,
    /// In this session.
    pub session: Option<String>,
    /// In this project.
    pub project: Option<String>,
    /// Settled by or in violation of this rule.
    pub rule: Option<String>,
    /// With this operation word.
    pub category: Option<String>,
    /// Not before.
    pub since_ms: Option<u64>,
    /// Not after.
    pub until_ms: Option<u64>,
    /// With this in the call, in any case.
    pub text: Option<String>,
    /// Only violations.
    pub violations: bool,
    /// The decision with this name, and what became of it.
    pub about: Option<String>,
    /// Only before this sequence: the next page.
    pub before: Option<u64>,
    /// Only behind this sequence.
    pub after: Option<u64>,
    /// The oldest come first.
    pub oldest_first: bool,
    /// At most so many.
    pub limit: Option<u32>,
}
