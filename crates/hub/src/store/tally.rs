//! Counts decisions by day while they arrive, so that no chart has to read them again.

use std::collections::BTreeMap;

use doorward_ledger::{Kind, Record, Row};
use tokio_postgres::{Error, Transaction};

use super::copy::{code, signed};
use crate::clock::{DAY_MS, day_of};

/// An answer is looked for among so many records before it.
// A question is answered within its session; looking through a whole history would let one edge keep the database busy.
const NEAR: i64 = 20_000;

/// No word of a count is longer; six of them are one index row.
const LONGEST_WORD: usize = 100;

/// What is counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    day: i32,
    agent: String,
    project: String,
    user: String,
    category: String,
    verdict: String,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    decisions: i64,
    overridden: i64,
    latency_us: i64,
}

/// A person's yes to something that was stopped.
#[derive(Debug)]
struct Override {
    decision: String,
    rule: String,
    user: String,
    at_ms: i64,
}

/// The counts of one shipment.
#[derive(Debug, Default)]
pub(super) struct Tally {
    groups: BTreeMap<Group, Counts>,
    /// Decisions of this shipment that were stopped, for the answers to them.
    stopped: BTreeMap<String, (Group, Option<String>)>,
    /// Answers to decisions that came before this shipment.
    earlier: Vec<(String, u64)>,
    overrides: Vec<Override>,
}

impl Tally {
    pub(super) fn add(&mut self, record: &Record, row: &Row, received_ms: u64) {
        match record.header.kind {
            Kind::Decision => {
                let group = Group::of(row, record.header.time_ms, received_ms);
                let counts = self.groups.entry(group.clone()).or_default();
                counts.decisions += 1;
                counts.latency_us = counts.latency_us.saturating_add(signed(row.latency_us.unwrap_or_default()));
                if let Some(id) = row.id.as_deref().map(short).filter(|_| row.verdict.as_deref() != Some("approve")) {
                    self.stopped.insert(id, (group, row.rule.clone()));
                }
            }
            Kind::Answer if is_override(row) => {
                let Some(decision) = row.decision.as_deref().map(short) else { return };
                match self.stopped.remove(&decision) {
                    Some(stopped) => self.overridden(decision, stopped, record.header.time_ms),
                    None => self.earlier.push((decision, record.header.time_ms)),
                }
            }
            Kind::Answer
            | Kind::Outcome
            | Kind::Grant
            | Kind::Policy
            | Kind::Mode
            | Kind::Alert
            | Kind::Gap
            | Kind::Tombstone
            | Kind::Checkpoint
            | Kind::Session
            | Kind::Device => {}
        }
    }

    fn overridden(&mut self, decision: String, (group, rule): (Group, Option<String>), time_ms: u64) {
        self.groups.entry(group.clone()).or_default().overridden += 1;
        let rule = short(&rule.unwrap_or_default());
        self.overrides.push(Override { decision, rule, user: group.user, at_ms: signed(time_ms) });
    }

    /// Adds the counts to what is stored.
    pub(super) async fn store(mut self, step: &Transaction<'_>, edge: i32, received_ms: u64) -> Result<(), Error> {
        for (decision, time_ms) in std::mem::take(&mut self.earlier) {
            let found = step
                .query_opt(
                    "select agent, project, user_name, category, verdict, rule, time_ms from record where edge = $1 and kind = $2 \
                     and subject = $3 and sequence > (select head_sequence - $4 from edge where id = $1) limit 1",
                    &[&edge, &code(Kind::Decision), &decision, &NEAR],
                )
                .await?;
            if let Some(found) = found {
                let decided: i64 = found.get(6);
                let text = |column| found.get::<usize, Option<String>>(column);
                let row = Row {
                    agent: text(0),
                    project: text(1),
                    user: text(2),
                    category: text(3),
                    verdict: text(4),
                    ..Row::default()
                };
                let group = Group::of(&row, u64::try_from(decided).unwrap_or_default(), received_ms);
                self.overridden(decision, (group, text(5)), time_ms);
            }
        }
        self.store_groups(step, edge).await?;
        for seen in &self.overrides {
            step.execute(
                "insert into override_seen values ($1, $2, $3, $4, $5) on conflict do nothing",
                &[&edge, &seen.decision, &seen.rule, &seen.user, &seen.at_ms],
            )
            .await?;
        }
        Ok(())
    }

    async fn store_groups(&self, step: &Transaction<'_>, edge: i32) -> Result<(), Error> {
        let column = |of: fn(&Group) -> &String| self.groups.keys().map(of).collect::<Vec<_>>();
        let number = |of: fn(&Counts) -> i64| self.groups.values().map(of).collect::<Vec<_>>();
        let days: Vec<i32> = self.groups.keys().map(|group| group.day).collect();
        step.execute(
            "insert into tally (edge, day, agent, project, user_name, category, verdict, decisions, overridden, latency_us) \
             select $1, * from unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], \
             $9::bigint[], $10::bigint[]) \
             on conflict (day, edge, agent, project, user_name, category, verdict) do update set \
             decisions = tally.decisions + excluded.decisions, overridden = tally.overridden + excluded.overridden, \
             latency_us = tally.latency_us + excluded.latency_us",
            &[
                &edge,
                &days,
                &column(|group| &group.agent),
                &column(|group| &group.project),
                &column(|group| &group.user),
                &column(|group| &group.category),
                &column(|group| &group.verdict),
                &number(|counts| counts.decisions),
                &number(|counts| counts.overridden),
                &number(|counts| counts.latency_us),
            ],
        )
        .await
        .map(|_rows| ())
    }
}

/// A person let run what was stopped.
fn is_override(row: &Row) -> bool {
    row.step.as_deref() == Some("approved") && matches!(row.by.as_deref(), Some("person" | "client"))
}

/// A word as an index can hold it.
// PostgreSQL refuses index rows of more than 2,700 bytes, and an agent chooses the path it works in: one record with a longer
// word would keep all records behind it from ever arriving.
fn short(text: &str) -> String {
    text.chars().take(LONGEST_WORD).map(|c| if c == '\0' { '\u{fffd}' } else { c }).collect()
}

impl Group {
    fn of(row: &Row, time_ms: u64, received_ms: u64) -> Self {
        // An edge's clock may be years off: it counts for days that can be true, so no chart gets a day in the year 292 million.
        let time_ms = time_ms.clamp(received_ms.saturating_sub(400 * DAY_MS), received_ms + DAY_MS);
        let word = |text: &Option<String>| short(text.as_deref().unwrap_or_default());
        Self {
            day: i32::try_from(day_of(time_ms)).unwrap_or(i32::MAX),
            agent: word(&row.agent),
            project: word(&row.project),
            user: word(&row.user),
            category: word(&row.category),
            verdict: word(&row.verdict),
        }
    }
}
