//! A call waiting for an answer, as the user sees it.

use doorward_engine::{
    Change, ChangeKind, Clearance, Coverage, Effect, Judgement, Opinion, Source, Tool, ToolCall, Verdict, pattern_of,
    redact,
};
use doorward_ledger::State;
use doorward_vocabulary::{CallId, PatternId, SessionId};
use serde::{Deserialize, Serialize};

use super::repeat::CallShape;
use crate::memory::grants::binding::{Binding, GrantSubject};

/// How long a call waits for an answer.
// Someone who comes back the next morning should still find it, and no one cares a week later.
pub(crate) const WAITS_MS: u64 = 24 * 60 * 60 * 1000;

/// Longer calls can't be shown in full, so they can't be approved here.
// Approving what was not shown in full would be approving something else.
const LONGEST: usize = 256 << 10;

/// A call that was asked about or denied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Pending {
    pub id: String,
    /// The decision in the record.
    pub decision: CallId,
    pub agent: String,
    pub session: SessionId,
    /// The subagent of the session that asked; empty for the session itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subagent: String,
    pub cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub tool: String,
    /// The call in words, with secrets replaced.
    pub call: String,
    /// The input of a tool whose name does not say what it does, with secrets replaced.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub input: String,
    /// What an edit or write removes and adds, with secrets replaced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileEdit>,
    pub verdict: Option<Verdict>,
    /// What it takes to let it run.
    pub needs: Option<Clearance>,
    /// The decisive reason as in the agent's message, after "because".
    #[serde(skip_serializing_if = "String::is_empty")]
    pub told: String,
    pub reasons: Vec<String>,
    pub effects: Vec<Effect>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<String>,
    /// What to type to confirm a hard or dual override.
    pub target: String,
    pub pattern: PatternId,
    pub shape: Option<CallShape>,
    pub bound: Binding,
    pub asked_ms: u64,
    /// How often the agent has proposed it.
    pub times: u32,
    /// The agent asks about it in its own prompt.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_prompt: bool,
    /// Until when the call waits for an answer from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_until_ms: Option<u64>,
    /// Its session is over, so no agent is left to retry it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_left: bool,
    pub status: Status,
    /// When the first of two steps was typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_step_ms: Option<u64>,
    /// It has run in a box, and this is the name of that run; a yes puts what it did in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
}

impl State for Pending {
    const NAME: &'static str = "pending";
}

/// The part of a pending call that matters when the same call comes again; the rest of its file is skipped. Never written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EarlierCall {
    pub bound: Binding,
    pub asked_ms: u64,
    pub times: u32,
    pub status: Status,
    pub first_step_ms: Option<u64>,
}

impl State for EarlierCall {
    const NAME: &'static str = Pending::NAME;
}

impl EarlierCall {
    pub(crate) fn is_open(&self, now_ms: u64) -> bool {
        waits(self.status, self.asked_ms, now_ms)
    }
}

/// Its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    #[default]
    Open,
    Approved,
    Used,
    Refused,
    /// Answered in the agent's own prompt.
    Answered,
}

/// One file of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileEdit {
    pub path: String,
    pub what: String,
    pub old: String,
    pub new: String,
}

impl Pending {
    /// The call as the user should see it; `None` if it is too long to show in full.
    pub(crate) fn new(subject: GrantSubject<'_>, bound: Binding, decision: &str, key: &[u8; 16]) -> Option<Pending> {
        let GrantSubject { call, evaluation, .. } = subject;
        let (facts, judgement) = (&evaluation.facts, &evaluation.judgement);
        let changes = edited(call, key);
        let input = input(call, key);
        let length = facts.subject.len()
            + input.len()
            + changes.iter().map(|change| change.old.len() + change.new.len()).sum::<usize>();
        if length > LONGEST {
            return None;
        }
        Some(Pending {
            decision: decision.into(),
            agent: call.agent.clone(),
            session: call.session.clone(),
            subagent: call.subagent.clone(),
            cwd: call.cwd.clone(),
            project: subject.project.map(str::to_owned),
            tool: facts.tool.clone(),
            call: facts.subject.clone(),
            input,
            changes,
            verdict: Some(judgement.verdict),
            needs: Some(needed(judgement)),
            told: crate::memory::wording::explain(judgement, facts).reason,
            reasons: reasons(judgement),
            effects: facts.effects.clone(),
            not_understood: not_understood(&facts.coverage),
            target: target(judgement, &facts.effects, &facts.tool),
            pattern: facts.pattern.clone(),
            shape: CallShape::of(facts, judgement),
            bound,
            ..Pending::default()
        })
    }

    pub(crate) fn needs(&self) -> Clearance {
        self.needs.unwrap_or(Clearance::Dual)
    }

    pub(crate) fn is_open(&self, now_ms: u64) -> bool {
        waits(self.status, self.asked_ms, now_ms)
    }
}

fn waits(status: Status, asked_ms: u64, now_ms: u64) -> bool {
    status == Status::Open && now_ms.saturating_sub(asked_ms) <= WAITS_MS
}

/// The hardest clearance that any objection to the call needs. Confirm-all and limits object too.
pub(crate) fn needed(judgement: &Judgement) -> Clearance {
    let objections = judgement.opinions.iter().filter(|opinion| opinion.verdict > Verdict::AutoApprove);
    objections.map(|opinion| opinion.cleared_by.unwrap_or(Clearance::Dual)).max().unwrap_or(Clearance::Firm)
}

/// All objections, the hardest first.
fn reasons(judgement: &Judgement) -> Vec<String> {
    let mut objections: Vec<&Opinion> =
        judgement.opinions.iter().filter(|opinion| opinion.verdict > Verdict::AutoApprove).collect();
    // A session limit says nothing about the call and would hide what does.
    let rank = |opinion: &&Opinion| (opinion.source != Source::Limit, opinion.cleared_by, opinion.verdict);
    objections.sort_by_key(|opinion| std::cmp::Reverse(rank(opinion)));
    let line = |opinion: &&Opinion| match &opinion.rule {
        Some(rule) => format!("{} (rule {rule})", opinion.because),
        None => opinion.because.clone(),
    };
    let mut lines: Vec<String> = objections.iter().map(line).collect();
    lines.dedup();
    lines
}

fn not_understood(coverage: &Coverage) -> Vec<String> {
    coverage.because.clone()
}

/// What the hardest objection is about.
fn target(judgement: &Judgement, effects: &[Effect], tool: &str) -> String {
    let hardest = judgement
        .opinions
        .iter()
        .filter(|opinion| opinion.verdict > Verdict::AutoApprove)
        .max_by_key(|opinion| opinion.cleared_by);
    let part = hardest.and_then(|opinion| opinion.part);
    let gravest = |of: Option<doorward_engine::Part>| {
        let about = effects.iter().filter(|effect| of.is_none_or(|part| effect.part == part));
        about.max_by_key(|effect| (effect.reversibility, effect.reach, effect.operation, effect.scope))
    };
    let effect = part.and_then(|part| gravest(Some(part))).or_else(|| gravest(None));
    let shown = effect.map(|effect| match effect.target.shown() {
        "something unknown" | "" => effect.by.clone(),
        shown => shown.to_owned(),
    });
    shown.filter(|shown| !shown.is_empty()).unwrap_or_else(|| tool.to_owned())
}

fn edited(call: &ToolCall, key: &[u8; 16]) -> Vec<FileEdit> {
    let clean = |text: &str| redact(text, key).into_owned();
    let one = |change: &Change| FileEdit {
        path: change.path.clone(),
        what: match change.kind {
            ChangeKind::Create => "creates",
            ChangeKind::Update => "changes",
            ChangeKind::Delete => "deletes",
            ChangeKind::Move => "moves",
        }
        .to_owned(),
        old: clean(&change.old),
        new: clean(&change.new),
    };
    if let Tool::Write { path, content } = &call.tool {
        let old = crate::machine::checked_read::start_of(path, LONGEST as u64).unwrap_or_default();
        let what = "writes".to_owned();
        vec![FileEdit { path: path.clone(), what, old: clean(&old), new: clean(content) }]
    } else {
        changes(&call.tool).iter().map(one).collect()
    }
}

/// What an edit changes; nothing for any other tool.
pub(crate) fn changes(tool: &Tool) -> &[Change] {
    if let Tool::Edit { changes } = tool { changes } else { &[] }
}

fn input(call: &ToolCall, key: &[u8; 16]) -> String {
    let text = match &call.tool {
        Tool::Mcp { args: input, .. } | Tool::Other { input, .. } => {
            serde_json::to_string_pretty(input).unwrap_or_default()
        }
        Tool::Task { description, .. } => description.clone(),
        Tool::Python { code } => code.clone(),
        Tool::Fetch { url, method } => format!("{} {url}", method.as_deref().unwrap_or("GET")),
        Tool::Bash { .. }
        | Tool::PowerShell { .. }
        | Tool::Write { .. }
        | Tool::Edit { .. }
        | Tool::Read { .. }
        | Tool::Search { .. }
        | Tool::WebSearch { .. }
        | Tool::Malformed { .. } => String::new(),
    };
    redact(&text, key).into_owned()
}

/// The class of one effect.
pub(crate) fn class(tool: &str, effect: &Effect) -> String {
    pattern_of(tool, std::slice::from_ref(effect))
}
