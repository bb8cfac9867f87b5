//! What people let run although doorward itself, in mode `auto`, had not approved it.

use doorward_vocabulary::{CallId, PatternId};
use serde::Serialize;

use crate::index::{Index, IndexError, shown, stored};

/// One call that a person let run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Override {
    /// When.
    pub time_ms: u64,
    /// The decision.
    pub decision: CallId,
    /// Its place in the log.
    pub sequence: u64,
    /// What "similar" means for it.
    pub pattern: PatternId,
    /// The call in words.
    pub call: String,
    /// Whose call.
    pub user: Option<String>,
    /// In which project.
    pub project: Option<String>,
    /// Why, in the person's words.
    pub why: Option<String>,
}

impl Index {
    /// Overrides since a moment, oldest first. A decision that was answered twice counts once.
    pub fn overrides(&self, since_ms: u64) -> Result<Vec<Override>, IndexError> {
        // A person who answers twice decided once. What a mode or a deny pattern demanded is not doorward's own
        // question, and a yes to it says nothing about the rules.
        let sql = "SELECT MIN(answer.time_ms), answer.decision, asked.pattern, asked.text, asked.user, asked.project,
                MAX(answer.text), asked.sequence
            FROM records AS answer JOIN records AS asked ON asked.id = answer.decision AND asked.kind = 'decision'
            WHERE answer.kind = 'answer' AND answer.kind <> 'decision' AND answer.step = 'approved'
                AND answer.by_whom IN ('person', 'client') AND answer.time_ms >= ?1 AND asked.verdict <> 'approve'
                AND asked.pattern IS NOT NULL AND (asked.mode IS NULL OR asked.mode = 'auto') AND asked.demanded IS NULL
            GROUP BY answer.decision, asked.sequence ORDER BY 1, 2";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map([stored(since_ms)], |row| {
            Ok(Override {
                time_ms: shown(row.get(0)?),
                decision: row.get::<_, String>(1)?.into(),
                pattern: row.get::<_, String>(2)?.into(),
                call: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
                user: row.get(4)?,
                project: row.get(5)?,
                why: row.get(6)?,
                sequence: shown(row.get(7)?),
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<Vec<Override>>>()?)
    }

    /// The places in the log of the newest decisions of a pattern in a project since a moment, newest first.
    pub fn decisions_like(
        &self,
        pattern: &str,
        project: &str,
        since_ms: u64,
        most: u32,
    ) -> Result<Vec<u64>, IndexError> {
        let sql = "SELECT sequence FROM records WHERE kind = 'decision' AND pattern = ?1 AND project = ?2
                AND time_ms >= ?3 AND (mode IS NULL OR mode = 'auto') ORDER BY sequence DESC LIMIT ?4";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows =
            statement.query_map((pattern, project, stored(since_ms), most), |row| Ok(shown(row.get::<_, i64>(0)?)))?;
        Ok(rows.collect::<rusqlite::Result<Vec<u64>>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Log;
    use crate::record::{AnswerBody, By, DecisionBody, Reply};
    use doorward_vocabulary::Mode;
    use doorward_vocabulary::Verdict;

    #[test]
    fn only_a_persons_yes_to_what_was_not_approved_is_an_override() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::create(&dir.path().join("log")).unwrap();
        for (at, (verdict, reply, by)) in [
            (Verdict::Confirm, Reply::Approved, By::Client),
            (Verdict::Block, Reply::Approved, By::Person),
            (Verdict::AutoApprove, Reply::Approved, By::Client),
            (Verdict::Confirm, Reply::Declined, By::Person),
            (Verdict::Confirm, Reply::Approved, By::Classifier),
        ]
        .into_iter()
        .enumerate()
        {
            let (id, time) = (format!("d{at}"), at as u64 * 10);
            let decision =
                DecisionBody { id: id.clone().into(), pattern: Some("p".into()), verdict, ..Default::default() };
            let _receipt = log.append(&decision, time).unwrap();
            let _receipt = log.append(&AnswerBody { decision: id.into(), reply, by, why: None }, time).unwrap();
        }
        for (id, mode, demanded) in [
            ("auto", "auto", None),
            ("all", "confirm-all", None),
            ("watched", "shadow", None),
            ("own", "auto", Some("permission")),
        ] {
            let (mode, demanded) = (Mode::parse(mode), demanded.map(str::to_owned));
            let decision =
                DecisionBody { id: id.into(), pattern: Some("p".into()), mode, demanded, ..Default::default() };
            let _receipt = log.append(&decision, 1).unwrap();
            let (reply, by) = (Reply::Approved, By::Client);
            let _receipt = log.append(&AnswerBody { decision: id.into(), reply, by, why: None }, 1).unwrap();
        }
        let (index, _) = Index::rebuild(&dir.path().join("index"), &log).unwrap();
        let found = |since| index.overrides(since).unwrap().into_iter().map(|one| one.decision).collect::<Vec<_>>();
        assert_eq!(found(0), ["d0", "auto", "d1"]);
        assert_eq!(index.metrics(0, 100).unwrap().all.overridden, 3);
        assert_eq!(index.stats(&crate::columns::Filter::default()).unwrap().categories[0].overridden, 3);
        assert_eq!(found(5), ["d1"]);
    }
}
