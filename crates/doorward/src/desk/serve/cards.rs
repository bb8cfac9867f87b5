//! Waiting calls as cards: the same view model as `doorward review`, with what an answer is bound to.

use doorward_engine::Clearance;
use doorward_ledger::Hash;
use doorward_pages::{Bound, Card, CardLine, LineKind};

use crate::desk::grants::show::{self, Detail, Tone};
use crate::machine::clock::now_ms;
use crate::memory::grants::store::GrantStore;
use crate::memory::grants::{self, CallState, Pending, QueueRow, Status};
use crate::memory::wording::sentence;

/// Wider than any line: a browser breaks lines itself.
const WIDTH: usize = 1 << 20;

/// The queue in the order of `doorward review`.
pub(super) fn rows(store: &GrantStore) -> Vec<QueueRow> {
    grants::queue(store.open_calls().into_iter().chain(store.approved()).collect(), store.now_ms)
}

/// One line of the queue as a card.
pub(super) fn card(row: &QueueRow) -> Card {
    Card { times: row.times, ..of(&row.pending, row.state) }
}

/// One call by itself.
pub(super) fn one(pending: &Pending) -> Card {
    of(pending, CallState::of(pending, now_ms()))
}

fn of(pending: &Pending, state: CallState) -> Card {
    let needs = pending.needs();
    let is_open = matches!(state, CallState::Waits(_) | CallState::Refused) && pending.is_open(now_ms());
    let is_one_key = needs <= Clearance::Firm;
    Card {
        id: pending.id.clone(),
        state: state.as_str(),
        heading: if is_open || pending.status == Status::Approved || state == CallState::Prompt {
            state.heading()
        } else {
            "answered or expired"
        },
        seconds_left: if let CallState::Waits(seconds) = state { Some(seconds) } else { None },
        agent: pending.agent.clone(),
        place: place(pending),
        tool: pending.tool.clone(),
        times: pending.times.max(1),
        needs: word(needs),
        way: way(pending, is_one_key),
        sentence: why(pending),
        call: pending.call.clone(),
        lines: show::lines(pending, WIDTH, Detail::Explained).into_iter().map(line).collect(),
        can_approve: is_open && is_one_key,
        can_always: is_open && needs == Clearance::Soft && pending.held.is_none(),
        can_trust: is_open && pending.project.is_some() && pending.held.is_none(),
        bound: bound(pending),
    }
}

/// What an answer to this call is bound to.
pub(super) fn bound(pending: &Pending) -> Bound {
    let operands = serde_json::to_vec(&pending.bound.operands).unwrap_or_default();
    Bound {
        decision: pending.decision.to_string(),
        call: pending.bound.call.clone(),
        cwd: pending.cwd.clone(),
        effects: pending.bound.effects.clone(),
        operands: Hash::of(&operands).to_string(),
        policy: pending.bound.policy.clone(),
    }
}

fn place(pending: &Pending) -> String {
    let path = pending.project.as_deref().unwrap_or(&pending.cwd);
    std::path::Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path).to_owned()
}

fn why(pending: &Pending) -> String {
    let told = Some(&pending.told).filter(|told| !told.is_empty());
    told.or(pending.reasons.first())
        .map_or_else(|| "doorward asks about this call.".to_owned(), |told| sentence(told.clone()))
}

fn way(pending: &Pending, is_one_key: bool) -> String {
    match (is_one_key, &pending.held) {
        (true, Some(_)) => "It ran in a box; a yes puts exactly these changes in place.".to_owned(),
        (true, None) => show::way(pending),
        (false, _) => format!(
            "Only `doorward approve {}` in a terminal lets it run: it needs {}.",
            pending.id,
            pending.needs().what()
        ),
    }
}

pub(super) const fn word(needs: Clearance) -> &'static str {
    match needs {
        Clearance::Soft => "soft",
        Clearance::Firm => "firm",
        Clearance::Hard => "hard",
        Clearance::Dual => "dual",
    }
}

fn line(line: show::StyledLine) -> CardLine {
    let kind = match line.tone {
        Tone::Plain => LineKind::Plain,
        Tone::Heading => LineKind::Heading,
        Tone::Faint => LineKind::Faint,
        Tone::Risk(_) => LineKind::Risk,
        Tone::Removed => LineKind::Removed,
        Tone::Added => LineKind::Added,
    };
    CardLine { kind, text: line.text }
}
