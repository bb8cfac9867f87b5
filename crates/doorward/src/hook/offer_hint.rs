//! The sentence at the end of a reason that tells a person of an offer; it costs one small file, and only where doorward asks.

use doorward_engine::{Clearance, Judgement, Mode, Source, Verdict, question};

use crate::machine::clock::now_ms;
use crate::machine::paths::Places;
use crate::memory::evaluation::{Decided, Evaluation};
use crate::memory::session::Session;
use crate::policy::from_history::id_of;
use crate::policy::load::Loaded;

/// So many overrides of one pattern in a project …
pub const OVERRIDES: usize = 3;

/// … within so many days make an offer.
pub const DAYS: u64 = 7;

/// The questions that a rule out of history may answer. The others are about something that is new each time though the words
/// are the same (what a file brings that is loaded or run elsewhere, what a manifest has come to declare), or about a guard that
/// is switched off. A rule that is added later is not offered until somebody thinks about it.
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

/// What would stop the question, once a person has said yes to such calls three times in a week.
pub fn hint(places: &Places, loaded: &Loaded, decided: &Decided, project: Option<&str>) -> Option<String> {
    let Evaluation { facts, judgement, .. } = &decided.evaluation;
    // What no rule may answer is not promised an end; in a project that nobody trusts, trust is what helps.
    let helps = !facts.project_trusted || may_be_offered(judgement);
    let is_own = decided.mode == Mode::Auto && judgement.verdict == Verdict::Confirm && decided.demanded.is_none();
    let project = project.filter(|_| is_own && helps && judgement.cleared_by == Some(Clearance::Soft))?;
    let (id, now_ms) = (id_of(&facts.pattern, Some(project)), now_ms());
    let history = &loaded.accepted.history;
    if history.is_declined(&id, now_ms) {
        return None;
    }
    // Counts are kept by day: what came before a person last said something about it does not count again.
    let since = history.last_ms(&id).map(|last| (now_ms / DAY_MS).saturating_sub(last / DAY_MS));
    let days = since.unwrap_or(DAYS + 1).checked_sub(1)?.min(DAYS);
    let session = Session::of(places, "");
    if session.overrides(&facts.pattern, days) < OVERRIDES as u64 {
        return None;
    }
    let (let_run, decisions) = session.month(&facts.pattern)?;
    let so_often = format!("You let {let_run} of {} such calls run in 30 days", decisions.max(let_run));
    Some(if facts.project_trusted {
        format!("{so_often}: `doorward rules accept {id}` in a terminal stops asking")
    } else {
        format!("{so_often}: `doorward trust` here would stop most of these questions")
    })
}

/// Everything that is asked about the call is soft, and may be answered by a rule out of history.
pub fn may_be_offered(judgement: &Judgement) -> bool {
    let mut asking = judgement.opinions.iter().filter(|opinion| opinion.verdict != Verdict::AutoApprove);
    judgement.verdict == Verdict::Confirm
        && asking
            .all(|opinion| opinion.cleared_by == Some(Clearance::Soft) && OFFERED.contains(&question(opinion).as_str()))
}
