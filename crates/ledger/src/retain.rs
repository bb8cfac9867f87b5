//! Retention: bodies that are old and ordinary are dropped behind a tombstone; headers stay, so the chain holds.

use doorward_vocabulary::CallId;
use serde::Deserialize;
use std::collections::HashSet;
use std::io;

use crate::error::{Doing, LogError};
use crate::event::{Header, Keep, Kind};
use crate::frame::without_body;
use crate::hash::hex;
use crate::log::Log;
use crate::read::{SegmentFile, snapshot};
use crate::record::{AnswerBody, DeviceBody, GrantBody, OutcomeBody, TombstoneBody};
use crate::segment::{START, Step, Walk};
use crate::storage::{Blob, Storage, write_all};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
// A rewrite that was interrupted leaves its file behind; the name keeps it from being read as a segment.
const LEFTOVER: &str = ".tmp";

/// How many days an ordinary body stays: ninety or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Days(u32);

impl Days {
    /// The least.
    // Alerts, tuning and the quarterly report look back three months.
    pub const LEAST: Self = Self(90);

    /// `None` if it is fewer than ninety.
    #[must_use]
    pub fn new(days: u32) -> Option<Self> {
        (days >= Self::LEAST.0).then_some(Self(days))
    }
}

/// What retention did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retained {
    /// Bodies dropped now.
    pub dropped: u64,
    /// Segments written anew.
    pub segments: u64,
    /// Bytes that became free.
    pub freed: u64,
}

impl<S: Storage> Log<S> {
    /// Drops old ordinary bodies from full segments. The tombstone is durable before any body goes.
    pub fn retain(&mut self, days: Days, now_ms: u64) -> Result<Retained, LogError> {
        self.sweep()?;
        let parts = snapshot(self)?;
        let survey = self.survey(&parts, now_ms)?;
        let mut retained = Retained::default();
        let mut age = Age::default();
        for part in parts.iter().filter(|part| part.first.is_some()) {
            let bytes = part.load(&self.storage)?;
            let expired = |header: &Header, body: &[u8], clock: u64| {
                survey.end.saturating_sub(clock) > (u64::from(days.0) + 1) * DAY_MS && !survey.keeps(header, body)
            };
            let thin = thin_out(&bytes, &mut age, expired);
            if thin.ranges.is_empty() {
                continue;
            }
            let tombstone = TombstoneBody { dropped: thin.ranges, days: days.0 };
            let _receipt = self.append(&tombstone, now_ms)?;
            self.replace(&part.name, &thin.bytes)?;
            retained.dropped += thin.dropped;
            retained.segments += 1;
            retained.freed += (bytes.len() as u64).saturating_sub(thin.bytes.len() as u64);
        }
        Ok(retained)
    }

    /// Removes what an interrupted run left behind.
    fn sweep(&self) -> Result<(), LogError> {
        for name in self.storage.list().doing("list the log")? {
            if name.ends_with(LEFTOVER) {
                self.storage.remove(&name).doing("remove an unfinished segment")?;
            }
        }
        Ok(())
    }

    fn survey(&self, parts: &[SegmentFile<S::File>], now_ms: u64) -> Result<Survey, LogError> {
        let mut survey = Survey::default();
        let mut age = Age::default();
        for part in parts {
            let bytes = part.load(&self.storage)?;
            for step in Walk::new(&bytes) {
                if let Step::Entry(_, frame) = step {
                    age.advance(frame.header.time_ms);
                    survey.note(frame.header.kind, frame.body.unwrap_or_default());
                }
            }
        }
        age.advance(now_ms);
        survey.end = age.clock;
        Ok(survey)
    }

    /// Puts new bytes in the place of a full segment, as a whole.
    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), LogError> {
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(io::Error::from).doing("get random bytes")?;
        let scratch = format!("{name}.{}{LEFTOVER}", hex(&nonce));
        let file = self.storage.create(&scratch).doing("create a segment")?;
        write_all(&file, bytes, 0).doing("write a segment")?;
        file.sync().doing("make a segment durable")?;
        self.storage.rename(&scratch, name).doing("replace a segment")?;
        self.storage.sync().doing("make the directory durable")
    }
}

/// Time as the log lived through it: a pause counts as one day at most and never backwards, so a clock that is set
/// years ahead ages nothing by more than the one day that is added to every limit.
#[derive(Debug, Default)]
struct Age {
    clock: u64,
    last: Option<u64>,
}

impl Age {
    fn advance(&mut self, time_ms: u64) -> u64 {
        let passed = time_ms.saturating_sub(self.last.unwrap_or(time_ms));
        self.last = Some(time_ms);
        self.clock += passed.min(DAY_MS);
        self.clock
    }
}

/// What the whole log says about which bodies matter.
#[derive(Debug, Default)]
struct Survey {
    end: u64,
    /// Decisions that were overridden, granted or regretted.
    decisions: HashSet<CallId>,
}

/// The one key of a decision that retention looks at.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    id: CallId,
}

impl Survey {
    fn note(&mut self, kind: Kind, body: &[u8]) {
        let decision = match kind {
            Kind::Answer => serde_json::from_slice::<AnswerBody>(body)
                .ok()
                .filter(AnswerBody::is_override)
                .map(|answer| answer.decision),
            Kind::Outcome => serde_json::from_slice::<OutcomeBody>(body)
                .ok()
                .filter(OutcomeBody::is_regret)
                .map(|outcome| outcome.decision),
            Kind::Grant => serde_json::from_slice::<GrantBody>(body).ok().and_then(|grant| grant.decision),
            // The decision that a device answered stays, or nothing would be left to compare its signature with.
            Kind::Device => serde_json::from_slice::<DeviceBody>(body).ok().and_then(|device| device.decision),
            Kind::Decision
            | Kind::Policy
            | Kind::Mode
            | Kind::Alert
            | Kind::Gap
            | Kind::Tombstone
            | Kind::Checkpoint
            | Kind::Session => None,
        };
        self.decisions.extend(decision);
    }

    /// Whether a body stays however old it is. One that cannot be read stays.
    fn keeps(&self, header: &Header, body: &[u8]) -> bool {
        match (header.keep, header.kind) {
            (Keep::Forever, _) => true,
            (Keep::Days, Kind::Decision) => {
                serde_json::from_slice::<Named>(body).map_or(true, |named| self.decisions.contains(&named.id))
            }
            (Keep::Days, Kind::Answer | Kind::Outcome | Kind::Session | Kind::Alert) => false,
            (
                Keep::Days,
                Kind::Grant | Kind::Policy | Kind::Mode | Kind::Gap | Kind::Tombstone | Kind::Checkpoint | Kind::Device,
            ) => true,
        }
    }
}

/// A segment without the bodies that go.
#[derive(Debug, Default)]
struct Thin {
    bytes: Vec<u8>,
    ranges: Vec<(u64, u64)>,
    dropped: u64,
}

fn thin_out(bytes: &[u8], age: &mut Age, expired: impl Fn(&Header, &[u8], u64) -> bool) -> Thin {
    let mut thin = Thin::default();
    let opening = bytes.get(..START).unwrap_or(bytes);
    thin.bytes.extend_from_slice(opening);
    for step in Walk::new(bytes) {
        // Bytes that cannot be read are evidence and stay.
        let (at, length) = match step {
            Step::Bad(at, length, _) => (at, length),
            Step::Entry(at, frame) => {
                let clock = age.advance(frame.header.time_ms);
                let goes = frame.body.is_some_and(|body| expired(&frame.header, body, clock));
                if let Some(bare) = goes.then(|| without_body(&frame.header)).flatten() {
                    thin.bytes.extend_from_slice(&bare.bytes);
                    thin.note(frame.header.sequence);
                    continue;
                }
                (at, frame.size)
            }
        };
        thin.bytes.extend_from_slice(bytes.get(at..at + length).unwrap_or_default());
    }
    thin
}

impl Thin {
    fn note(&mut self, sequence: u64) {
        self.dropped += 1;
        match self.ranges.last_mut().filter(|(_, to)| to.checked_add(1) == Some(sequence)) {
            Some((_, to)) => *to = sequence,
            None => self.ranges.push((sequence, sequence)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::everyday;
    use crate::sim::{Plan, Sim, Survives};
    use crate::{Anchors, Became, By, Receipt, Reply};

    /// Sixty decisions a day apart, one overridden, one regretted, every fiftieth a block.
    fn history() -> (Sim, Log<Sim>, Vec<Receipt>) {
        let sim = Sim::new(1);
        let mut log = Log::on(sim.clone()).with_segment_bytes(6000);
        log.begin().unwrap();
        let mut receipts = Vec::new();
        for day in 1..=60 {
            receipts.push(log.append(&everyday(day), day * DAY_MS).unwrap());
        }
        let (decision, why) = (everyday(7).id, None);
        let answer = AnswerBody { decision, reply: Reply::Approved, by: By::Person, why };
        receipts.push(log.append(&answer, 60 * DAY_MS).unwrap());
        let outcome = OutcomeBody::new(everyday(9).id, Became::Reverted, None);
        receipts.push(log.append(&outcome, 60 * DAY_MS).unwrap());
        (sim, log, receipts)
    }

    fn bodies(log: &Log<Sim>, sequences: &[u64]) -> Vec<bool> {
        let has = |sequence: &u64| log.record(*sequence).unwrap().unwrap().body.is_some();
        sequences.iter().map(has).collect()
    }

    #[test]
    fn fewer_than_ninety_days_cannot_be_said() {
        let check = |days, want| assert_eq!(Days::new(days).is_some(), want, "{days}");
        check(0, false);
        check(89, false);
        check(90, true);
        check(3650, true);
    }

    #[test]
    fn old_ordinary_bodies_go_and_what_matters_stays_and_the_chain_holds() {
        let (_sim, mut log, _) = history();
        // One entry a day carries the log's own time on.
        for day in 61..=110 {
            let _receipt = log.append(&everyday(day), day * DAY_MS).unwrap();
        }
        let before = log.verify(Anchors::default(), |_| {}).unwrap();
        let retained = log.retain(Days::LEAST, 110 * DAY_MS).unwrap();
        assert!(retained.dropped > 10 && retained.freed > 0, "{retained:?}");
        // Overridden, regretted, recent stay.
        assert_eq!(bodies(&log, &[1, 7, 9, 10, 40]), [false, true, true, false, true]);
        let report = log.verify(Anchors::default(), |_| {}).unwrap();
        assert!(report.holds(), "{:?}", report.findings);
        assert_eq!(report.dropped, retained.dropped);
        let head = log.record(before.head.unwrap().0).unwrap().unwrap();
        assert_eq!(Some((head.header.sequence, head.hash)), before.head);
        assert_eq!(log.retain(Days::LEAST, 110 * DAY_MS).unwrap().dropped, 0);
    }

    #[test]
    fn a_clock_set_years_ahead_drops_nothing() {
        let (_sim, mut log, _) = history();
        let later = 100 * 365 * DAY_MS;
        assert_eq!(log.retain(Days::LEAST, later).unwrap().dropped, 0);
        let _receipt = log.append(&everyday(61), later).unwrap();
        assert_eq!(log.retain(Days::LEAST, 60 * DAY_MS).unwrap().dropped, 0);
    }

    #[test]
    fn a_power_cut_at_any_point_of_retention_loses_no_record() {
        for at in 1..150 {
            let (sim, mut log, receipts) = history();
            for day in 61..=110 {
                let _receipt = log.append(&everyday(day), day * DAY_MS).unwrap();
            }
            sim.restart(Plan::DieAt(at));
            let _died = log.retain(Days::LEAST, 110 * DAY_MS);
            sim.power_cut([Survives::Nothing, Survives::Some][at as usize % 2]);
            sim.restart(Plan::Calm);
            let _receipt = log.append(&everyday(111), 111 * DAY_MS).unwrap();
            let report = log.verify(Anchors::default(), |_| {}).unwrap();
            assert!(report.holds(), "{at}: {:?}", report.findings);
            let records: Vec<_> = log.records().unwrap().map(Result::unwrap).collect();
            for receipt in &receipts {
                let found = records.iter().any(|record| record.hash == receipt.hash);
                assert!(found, "{at}: {receipt:?}");
            }
        }
    }
}
