//! The sentence at the end of a reason that mentions an offer; it costs reading one small file, and only when doorward asks.

use doorward_engine::{Clearance, Judgement, Mode, Source, Verdict, question};

use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::memory::evaluation::{Decided, Evaluation};
use crate::memory::session::Session;
use crate::policy::from_history::id_of;
use crate::policy::load::Loaded;

/// This many overrides of one pattern in a project …
// The same numbers as those that open a ticket: an offer and a ticket are about one thing.
pub(crate) const OVERRIDES: usize = 3;

/// … within this many days lead to an offer.
pub(crate) const DAYS: u64 = 7;

/// The questions that an accepted offer may answer. The others are about something that differs each time although the text
/// is the same (the content of a file that is loaded or run elsewhere, what a manifest now declares), or about a guard being
/// switched off. New rules are not offered until someone adds them here.
// A list of what may be offered, not of what may not: a new rule is unsafe to silence until someone has thought about
// it.
const OFFERED: &[&str] = &[
    "push",
    "manifest",
    "unlisted-host",
    "external-write",
    "unseen-change",
    Source::Matrix.as_str(),
    Source::Score.as_str(),
    Source::Coverage.as_str(),
];

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What would stop the question, once the user has approved such calls three times in a week.
pub(crate) fn hint(dirs: &Dirs, loaded: &Loaded, decided: &Decided, project: Option<&str>) -> Option<String> {
    let Evaluation { facts, judgement, .. } = &decided.evaluation;
    // Don't promise an end to questions no rule may answer; in an untrusted project, trust is what helps.
    let helps = !facts.project_trusted || may_be_offered(judgement);
    let is_own = decided.mode == Mode::Auto && judgement.verdict == Verdict::Confirm && decided.demanded.is_none();
    let project = project.filter(|_| is_own && helps && judgement.cleared_by == Some(Clearance::Soft))?;
    let (id, now_ms) = (id_of(&facts.pattern, Some(project)), now_ms());
    let history = &loaded.accepted.history;
    if history.is_declined(&id, now_ms) {
        return None;
    }
    // Counts are per day: what came before the user's last answer does not count again.
    let since = history.last_ms(&id).map(|last| (now_ms / DAY_MS).saturating_sub(last / DAY_MS));
    let days = since.unwrap_or(DAYS + 1).checked_sub(1)?.min(DAYS);
    let session = Session::open(dirs, "");
    if session.overrides(&facts.pattern, days) < OVERRIDES as u64 {
        return None;
    }
    let (let_run, decisions) = session.month(&facts.pattern)?;
    let so_often = format!("You approved {let_run} of {} such calls in 30 days", decisions.max(let_run));
    Some(if facts.project_trusted {
        format!("{so_often}: run `doorward rules accept {id}` to stop asking")
    } else {
        format!("{so_often}: `doorward trust` here would stop most of these questions")
    })
}

/// Every question about the call is soft and may be answered by an accepted offer.
pub(crate) fn may_be_offered(judgement: &Judgement) -> bool {
    let mut asking = judgement.opinions.iter().filter(|opinion| opinion.verdict != Verdict::AutoApprove);
    judgement.verdict == Verdict::Confirm
        && asking
            .all(|opinion| opinion.cleared_by == Some(Clearance::Soft) && OFFERED.contains(&question(opinion).as_str()))
}
