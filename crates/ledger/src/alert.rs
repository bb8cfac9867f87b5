//! What wants a person's attention: definitions with their numbers, and the full evaluation over the index.

use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

use crate::columns::Filter;
use crate::event::Kind;
use crate::hash::Hash;
use crate::index::{Index, IndexError, shown, stored};
use crate::metrics::Share;

/// So many blocks …
// One blocked call is a mistake, two or three a stubborn agent. Five in ten minutes is an agent that tries ways
// around.
pub(crate) const SPIKE_BLOCKS: usize = 5;
/// … in so much time in one session are a spike.
pub(crate) const SPIKE_MS: u64 = 10 * 60 * 1000;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Spikes and breakers are looked for so far back.
// An alert that nobody answered in a week is history; the report still has it.
const WEEK_MS: u64 = 7 * DAY_MS;
/// The level that an approval rate is compared with.
// Two weeks average over weekends.
const LEVEL_MS: u64 = 14 * DAY_MS;
/// Fewer decisions have no rate to speak of.
// With 100 decisions a drop of 15 points is beyond chance; with 20 it is not.
const RATE_LEAST: u64 = 100;
/// Fifteen points.
const DROP: f64 = 0.15;
/// Override rates look back so far.
// Overrides are rare, so a shorter time would be noise.
const MONTH_MS: u64 = 30 * DAY_MS;
// Below this two or three overrides already make 15 %.
const OVERRIDE_LEAST: u64 = 50;
// If one question in seven is overridden, people have stopped reading them.
const OVERRIDE_RATE: f64 = 0.15;
/// Denials that hand the next call to a person.
// The defaults of the engine's limits (`denials_in_a_row`, `denials`): the alert and the pause must agree.
const BREAKER_ROW: u32 = 3;
const BREAKER_ALL: u32 = 20;

/// What kind of alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertKind {
    /// Many blocks in a short time.
    Spike,
    /// Fewer approvals than before.
    Drop,
    /// Too much is overridden.
    Overrides,
    /// Denials handed a session to a person.
    Breaker,
    /// The record does not hold.
    Chain,
    /// A notification could not be delivered.
    Notifier,
    /// A file changed between a native question and the end of the call.
    Exchanged,
    /// A call ran without a record.
    Unguarded,
    /// A rollout was taken back by itself.
    Rollback,
    /// A contained run did more than doorward had said it would.
    Promise,
    /// A call that was to be replaced by a contained run ran as it was.
    Unboxed,
    /// The team's hub holds another history of this log.
    Fork,
    /// A policy bundle of the team was refused, or has expired.
    Bundle,
}

/// Whether a person has seen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertState {
    /// Nobody has.
    Open,
    /// Somebody has, and it still stands.
    Acknowledged,
}

/// An alert that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alert {
    /// Names the kind and what it is about.
    pub id: String,
    /// Which alert.
    pub kind: AlertKind,
    /// The session, category, pattern or file it is about.
    pub about: String,
    /// What happened, with figures.
    pub text: String,
    /// When it last went off.
    pub last_ms: u64,
    /// Whether a person has seen it.
    pub state: AlertState,
}

impl AlertKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Spike,
        Self::Drop,
        Self::Overrides,
        Self::Breaker,
        Self::Chain,
        Self::Notifier,
        Self::Exchanged,
        Self::Unguarded,
        Self::Rollback,
        Self::Promise,
        Self::Unboxed,
        Self::Fork,
        Self::Bundle,
    ];

    /// The word on screen and in the record.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Spike => "spike",
            Self::Drop => "drop",
            Self::Overrides => "overrides",
            Self::Breaker => "breaker",
            Self::Chain => "chain",
            Self::Notifier => "notifier",
            Self::Exchanged => "exchanged",
            Self::Unguarded => "unguarded",
            Self::Rollback => "rollback",
            Self::Promise => "promise",
            Self::Unboxed => "unboxed",
            Self::Fork => "fork",
            Self::Bundle => "bundle",
        }
    }

    /// When it goes off, with its numbers.
    #[must_use]
    pub fn definition(self) -> String {
        let percent = |rate: f64| (rate * 100.0).round();
        match self {
            Self::Spike => format!(
                "{SPIKE_BLOCKS} or more calls in one session were blocked within {} minutes, in the last {} days",
                SPIKE_MS / 60_000,
                WEEK_MS / DAY_MS
            ),
            Self::Drop => format!(
                "the approval rate of a category in the last 24 hours is more than {} points below that of the {} days before; \
                 both need {RATE_LEAST} decisions or more; if no single category shows it, all decisions together are checked",
                percent(DROP),
                LEVEL_MS / DAY_MS
            ),
            Self::Overrides => format!(
                "you overrode more than {} % of the decisions in a category within {} days; it needs {OVERRIDE_LEAST} decisions or more",
                percent(OVERRIDE_RATE),
                MONTH_MS / DAY_MS
            ),
            Self::Breaker => format!(
                "{BREAKER_ROW} calls in a row or {BREAKER_ALL} in all were denied in a session, in the last {} days; doorward \
                 asks you about its next call",
                WEEK_MS / DAY_MS
            ),
            Self::Chain => "the record was changed or cut off, or can't be read".to_owned(),
            Self::Notifier => {
                "a notification could not be delivered; reported once, until one is delivered again".to_owned()
            }
            Self::Exchanged => format!(
                "a file that a call names or touches changed after the agent's own prompt and before the call ended, in \
                 the last {} days",
                WEEK_MS / DAY_MS
            ),
            Self::Unguarded => format!(
                "an agent's transcript shows a call that ran without a record, found at the end of a session or by `doorward \
                 reconcile` in the last {} days",
                WEEK_MS / DAY_MS
            ),
            Self::Promise => format!(
                "a contained run changed something that doorward had not expected from the call, in the last {} days: \
                 doorward misunderstood the command",
                WEEK_MS / DAY_MS
            ),
            Self::Unboxed => format!(
                "an agent ran a call that doorward had replaced by a contained run, in the last {} days; from then on it is told \
                 to use the box instead",
                WEEK_MS / DAY_MS
            ),
            Self::Fork => format!(
                "the team's hub holds another history of this log, found in the last {} days: the log was copied, replaced or \
                 cut off",
                WEEK_MS / DAY_MS
            ),
            Self::Bundle => {
                format!("a policy bundle of the team was refused or has expired, in the last {} days", WEEK_MS / DAY_MS)
            }
            Self::Rollback => format!(
                "a staged rollout was rolled back automatically in the last {} days; `doorward rollout status --explain` says why",
                WEEK_MS / DAY_MS
            ),
        }
    }

    /// A rate stays for a while after somebody has dealt with its cause: so long it is not told again.
    const fn rests_ms(self) -> u64 {
        match self {
            Self::Drop => DAY_MS,
            Self::Overrides => WEEK_MS,
            Self::Spike | Self::Breaker | Self::Chain | Self::Notifier => 0,
            Self::Exchanged | Self::Unguarded | Self::Rollback | Self::Promise | Self::Unboxed => 0,
            Self::Fork | Self::Bundle => 0,
        }
    }
}

impl Alert {
    /// An alert that nobody has seen yet.
    #[must_use]
    pub fn new(kind: AlertKind, about: &str, text: String, last_ms: u64) -> Self {
        let name = Hash::of(format!("{}\0{about}", kind.word()).as_bytes()).to_string();
        let id = name.chars().take(8).collect();
        Self { id, kind, about: about.to_owned(), text, last_ms, state: AlertState::Open }
    }
}

impl Index {
    /// Everything that went off and that the index can see, whether or not somebody has dealt with it.
    pub fn tripped(&self, now_ms: u64) -> Result<Vec<Alert>, IndexError> {
        let blocks = self.blocks(now_ms)?;
        let mut found = spikes(&blocks);
        found.extend(self.breakers(&blocks, now_ms)?);
        found.extend(self.drops(now_ms)?);
        found.extend(self.much_overridden(now_ms)?);
        for kind in [
            AlertKind::Notifier,
            AlertKind::Exchanged,
            AlertKind::Unguarded,
            AlertKind::Rollback,
            AlertKind::Promise,
            AlertKind::Unboxed,
            AlertKind::Fork,
            AlertKind::Bundle,
        ] {
            found.extend(self.told(kind, now_ms)?);
        }
        Ok(found)
    }

    /// Leaves out what a person has resolved since it went off, and marks what one has seen.
    pub fn standing(&self, tripped: Vec<Alert>) -> Result<Vec<Alert>, IndexError> {
        let filter = Filter { kind: Some(Kind::Alert), oldest_first: true, ..Filter::default() };
        let mut steps: BTreeMap<(String, String), u64> = BTreeMap::new();
        for row in self.list(&filter)? {
            if let (Some(id), Some(step)) = (row.id, row.step) {
                steps.insert((id, step), row.time_ms);
            }
        }
        let when = |alert: &Alert, step: &str| steps.get(&(alert.id.clone(), step.to_owned())).copied();
        let stands = |alert: &Alert| {
            when(alert, "resolved")
                .is_none_or(|resolved| resolved.saturating_add(alert.kind.rests_ms()) < alert.last_ms)
        };
        let seen = |alert: Alert| {
            let is_seen = when(&alert, "acknowledged").is_some_and(|seen| seen >= alert.last_ms);
            let state = if is_seen { AlertState::Acknowledged } else { AlertState::Open };
            Alert { state, ..alert }
        };
        let mut standing: Vec<Alert> = tripped.into_iter().filter(stands).map(seen).collect();
        standing.sort_by(|a, b| b.last_ms.cmp(&a.last_ms).then_with(|| a.id.cmp(&b.id)));
        Ok(standing)
    }

    /// Session and time of the blocks of the last week, oldest first.
    fn blocks(&self, now_ms: u64) -> rusqlite::Result<Vec<(String, u64)>> {
        // A trial call of `doorward setup` is blocked because that is to be seen.
        // `+` keeps SQLite from using the index on time: the partial index on blocks is far shorter, and the first
        // sequence since the moment bounds it.
        let sql = "SELECT session, time_ms FROM records WHERE verdict = 'block' AND session IS NOT NULL
            AND session NOT GLOB 'doorward-setup*'
            AND sequence >= (SELECT MIN(+sequence) FROM records WHERE time_ms >= ?1) AND +time_ms >= ?1
            ORDER BY sequence";
        let mut statement = self.db.prepare_cached(sql)?;
        let since = stored(now_ms.saturating_sub(WEEK_MS));
        let rows = statement.query_map([since], |row| Ok((row.get(0)?, shown(row.get(1)?))))?;
        rows.collect()
    }

    fn breakers(&self, blocks: &[(String, u64)], now_ms: u64) -> Result<Vec<Alert>, IndexError> {
        let mut blocked: BTreeMap<&str, u32> = BTreeMap::new();
        for (session, _) in blocks {
            *blocked.entry(session).or_default() += 1;
        }
        let mut found = Vec::new();
        for (session, _) in blocked.into_iter().filter(|(_, count)| *count >= BREAKER_ROW) {
            if let Some((at, text)) = self.breaker(session, now_ms.saturating_sub(WEEK_MS))? {
                found.push(Alert::new(AlertKind::Breaker, session, text, at));
            }
        }
        Ok(found)
    }

    /// Goes through a session as the hook did; yields when its denials last reached a limit.
    fn breaker(&self, session: &str, since_ms: u64) -> rusqlite::Result<Option<(u64, String)>> {
        let sql = "SELECT records.time_ms, verdict, step, mode, overridden.sequence IS NOT NULL FROM records
            LEFT JOIN overridden USING (sequence)
            WHERE session = ?1 AND kind IN ('decision', 'session') ORDER BY records.sequence";
        let mut statement = self.db.prepare_cached(sql)?;
        let mut rows = statement.query([session])?;
        let (mut row_of, mut all, mut tripped) = (0, 0, None);
        while let Some(row) = rows.next()? {
            let time_ms = shown(row.get(0)?);
            let verdict: Option<String> = row.get(1)?;
            let (step, mode): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
            let is_let_run: bool = row.get(4)?;
            let is_only_watched = matches!(mode.as_deref(), Some("shadow" | "off"));
            match verdict.as_deref() {
                _ if is_let_run || step.as_deref() == Some("reset") => (row_of, all) = (0, 0),
                Some("approve") => row_of = 0,
                Some("block") if !is_only_watched => {
                    (row_of, all) = (row_of + 1, all + 1);
                    if (row_of == BREAKER_ROW || all == BREAKER_ALL) && time_ms >= since_ms {
                        tripped = Some((time_ms, format!("{row_of} calls in a row and {all} in all were denied")));
                    }
                }
                Some(_) | None => {}
            }
        }
        Ok(tripped)
    }

    fn drops(&self, now_ms: u64) -> Result<Vec<Alert>, IndexError> {
        let today = now_ms.saturating_sub(DAY_MS);
        let recent = self.metrics(today, now_ms)?;
        let before = self.metrics(today.saturating_sub(LEVEL_MS), today.saturating_sub(crate::totals::HOUR_MS))?;
        let level = |name: &str| before.categories.iter().find(|share| share.name == name);
        let dropped = |name: &str, now: &Share, then: &Share| {
            let is_enough = now.decisions >= RATE_LEAST && then.decisions >= RATE_LEAST;
            let lost = then.approval_rate - now.approval_rate;
            (is_enough && lost > DROP).then(|| {
                let text = format!(
                    "{:.0} % of {} decisions were approved in the last 24 hours, down from {:.0} % in the {} days before",
                    now.approval_rate * 100.0,
                    now.decisions,
                    then.approval_rate * 100.0,
                    LEVEL_MS / DAY_MS
                );
                Alert::new(AlertKind::Drop, name, text, now_ms)
            })
        };
        let of_category = |share: &Share| dropped(&share.name, share, level(&share.name)?);
        let found: Vec<Alert> = recent.categories.iter().filter_map(of_category).collect();
        if found.is_empty() {
            return Ok(dropped("all decisions", &recent.all, &before.all).into_iter().collect());
        }
        Ok(found)
    }

    fn much_overridden(&self, now_ms: u64) -> Result<Vec<Alert>, IndexError> {
        let month = self.metrics(now_ms.saturating_sub(MONTH_MS), now_ms)?;
        let is_much = |share: &&Share| share.decisions >= OVERRIDE_LEAST && share.override_rate > OVERRIDE_RATE;
        let alert = |share: &Share| {
            let text = format!(
                "you overrode {} of {} decisions in {} days: {:.0} %",
                share.overridden,
                share.decisions,
                MONTH_MS / DAY_MS,
                share.override_rate * 100.0
            );
            Alert::new(AlertKind::Overrides, &share.name, text, now_ms)
        };
        Ok(month.categories.iter().filter(is_much).map(alert).collect())
    }

    /// Only the record knows of these: nothing is left to evaluate again.
    fn told(&self, kind: AlertKind, now_ms: u64) -> Result<Vec<Alert>, IndexError> {
        let since_ms = Some(now_ms.saturating_sub(WEEK_MS));
        let filter =
            Filter { kind: Some(Kind::Alert), category: Some(kind.word().to_owned()), since_ms, ..Filter::default() };
        let raised = |row: &crate::columns::Row| row.step.as_deref() == Some("raised");
        let mut found: BTreeMap<String, Alert> = BTreeMap::new();
        for row in self.list(&filter)?.into_iter().filter(raised) {
            let text = row.text.unwrap_or_default();
            let about = text.split(':').next().unwrap_or_default().to_owned();
            let alert = Alert::new(kind, &about, text, row.time_ms);
            // The newest comes first and counts.
            found.entry(about).or_insert(alert);
        }
        Ok(found.into_values().collect())
    }
}

/// Sessions with many blocks in a short time.
fn spikes(blocks: &[(String, u64)]) -> Vec<Alert> {
    let mut recent: BTreeMap<&str, VecDeque<u64>> = BTreeMap::new();
    let mut last: BTreeMap<&str, (u64, usize)> = BTreeMap::new();
    for (session, time_ms) in blocks {
        let times = recent.entry(session).or_default();
        times.push_back(*time_ms);
        times.retain(|at| time_ms.abs_diff(*at) <= SPIKE_MS);
        if times.len() >= SPIKE_BLOCKS {
            let (at, most) = last.entry(session).or_default();
            (*at, *most) = ((*at).max(*time_ms), (*most).max(times.len()));
        }
    }
    let alert = |(session, (at, most)): (&str, (u64, usize))| {
        let text = format!("{most} calls were blocked within {} minutes", SPIKE_MS / 60_000);
        Alert::new(AlertKind::Spike, session, text, at)
    };
    last.into_iter().map(alert).collect()
}
