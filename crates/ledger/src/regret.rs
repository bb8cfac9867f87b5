//! What turned out wrong: approvals that were taken back or flagged, and questions of rules that people overrode.

use serde::Serialize;

use crate::index::{Index, IndexError, shown, stored};
use crate::totals::HOUR_MS;

/// An approval that a person took back, or said should not have run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Regret {
    /// When that was said.
    pub time_ms: u64,
    /// `reverted` or `flagged`.
    pub became: String,
    /// The place of the decision in the log.
    pub sequence: u64,
    /// The rule that settled it; layer 2 did if there is none.
    pub rule: Option<String>,
    /// The call in words.
    pub call: String,
}

/// How often a rule was in a person's way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleOverrides {
    /// Which rule.
    pub rule: String,
    /// So many of its questions and blocks people let run.
    pub overridden: u64,
}

impl Index {
    /// Approvals that were regretted since a moment, oldest first; each once.
    pub fn regretted(&self, since_ms: u64) -> Result<Vec<Regret>, IndexError> {
        // `kind <> 'decision'` repeats the condition of the partial index on other kinds, without which SQLite would
        // not use it.
        let sql = "SELECT MIN(outcome.time_ms), outcome.step, judged.sequence, judged.rule, judged.text
            FROM records AS outcome JOIN records AS judged ON judged.id = outcome.decision AND judged.kind = 'decision'
            WHERE outcome.kind = 'outcome' AND outcome.kind <> 'decision' AND outcome.step IN ('reverted', 'flagged')
                AND outcome.time_ms >= ?1 AND judged.verdict = 'approve'
            GROUP BY judged.sequence ORDER BY 1, 3";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map([stored(since_ms)], |row| {
            Ok(Regret {
                time_ms: shown(row.get(0)?),
                became: row.get(1)?,
                sequence: shown(row.get(2)?),
                rule: row.get(3)?,
                call: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<Vec<Regret>>>()?)
    }

    /// Rules whose questions and blocks people let run since the hour of a moment, the most overridden first.
    pub fn overridden_rules(&self, since_ms: u64) -> Result<Vec<RuleOverrides>, IndexError> {
        let sql = "SELECT rule, COUNT(*) FROM overridden JOIN records USING (sequence)
            WHERE own AND hour >= ?1 AND rule IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map([stored(since_ms / HOUR_MS)], |row| {
            Ok(RuleOverrides { rule: row.get(0)?, overridden: shown(row.get(1)?) })
        })?;
        Ok(rows.collect::<rusqlite::Result<Vec<RuleOverrides>>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Log;
    use crate::record::{AnswerBody, Became, By, DecisionBody, Layer1, OutcomeBody, Reply};
    use doorward_vocabulary::Verdict;

    #[test]
    fn only_an_approval_that_was_taken_back_is_regretted_and_a_rule_is_named_with_its_overrides() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::create(&dir.path().join("log")).unwrap();
        let cases = [
            (Verdict::AutoApprove, Some("plain"), Became::Reverted),
            (Verdict::AutoApprove, None, Became::Flagged),
            (Verdict::AutoApprove, None, Became::Failed),
            (Verdict::Confirm, Some("push"), Became::Reverted),
        ];
        for (at, (verdict, rule, became)) in cases.into_iter().enumerate() {
            let id = format!("d{at}");
            let layer1 = Some(Layer1 { outcome: "x".into(), rule: rule.map(Into::into) });
            let judged = DecisionBody { id: id.clone().into(), verdict, layer1, ..DecisionBody::default() };
            let _receipt = log.append(&judged, 1_000).unwrap();
            let outcome = OutcomeBody::new(id.clone().into(), became, None);
            let _receipt = log.append(&outcome, 2_000).unwrap();
            let _receipt = log.append(&outcome, 3_000).unwrap();
            let yes = AnswerBody { decision: id.into(), reply: Reply::Approved, by: By::Person, why: None };
            let _receipt = log.append(&yes, 4_000).unwrap();
        }
        let (index, _) = Index::rebuild(&dir.path().join("index"), &log).unwrap();
        let regretted: Vec<(String, Option<String>)> =
            index.regretted(0).unwrap().into_iter().map(|regret| (regret.became, regret.rule)).collect();
        assert_eq!(regretted, [("reverted".into(), Some("plain".into())), ("flagged".into(), None)]);
        assert_eq!(index.regretted(2_500).unwrap().len(), 2, "said again later");
        assert_eq!(index.regretted(3_500).unwrap(), []);
        let overridden = index.overridden_rules(0).unwrap();
        assert_eq!(overridden, [RuleOverrides { rule: "push".into(), overridden: 1 }]);
    }
}
