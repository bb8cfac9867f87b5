//! Which reviews are due: each counts as done when the user ran it at a terminal and that is recorded.

use anyhow::Result;
use doorward_ledger::{Filter, Index, Kind, PolicyBody};
use serde::Serialize;

use super::Review;
use crate::machine::clock;
use crate::machine::record::{LogEntry, Recorder};

/// An overdue review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Overdue {
    pub review: Review,
    /// `None` if the record has no earlier one.
    pub last_ms: Option<u64>,
    pub since_ms: u64,
}

impl Overdue {
    pub(crate) fn sentence(&self) -> String {
        let last = self.last_ms.map_or("never done".to_owned(), |last| format!("last done {}", clock::moment(last)));
        let (word, since) = (self.review.as_str(), clock::moment(self.since_ms));
        format!("the {word} review has been due since {since} ({last}); run `doorward tune {word}`")
    }
}

/// The overdue reviews; none before there is a period to look back on.
pub(crate) fn overdue(index: &Index, now_ms: u64) -> Result<Vec<Overdue>> {
    let first = Filter { kind: Some(Kind::Decision), oldest_first: true, limit: Some(1), ..Filter::default() };
    let Some(began_ms) = index.list(&first)?.first().map(|row| row.time_ms) else { return Ok(Vec::new()) };
    let filter = Filter { kind: Some(Kind::Policy), oldest_first: true, ..Filter::default() };
    let made = index.list(&filter)?;
    let due = |review: Review| {
        let is_it = |text: &str| text == sentence(review);
        let last_ms = made.iter().rev().find(|row| row.text.as_deref().is_some_and(is_it)).map(|row| row.time_ms);
        let since_ms = last_ms.unwrap_or(began_ms).saturating_add(review.period_ms());
        (since_ms < now_ms).then_some(Overdue { review, last_ms, since_ms })
    };
    Ok(Review::ALL.into_iter().filter_map(due).collect())
}

/// Records that a review was done.
pub(super) fn done(ledger: &mut dyn Recorder, review: Review, findings: usize) -> Result<()> {
    let body = PolicyBody {
        what: sentence(review),
        before: None,
        after: Some(format!("{findings} findings")),
        user: crate::machine::user(),
        project: None,
    };
    ledger.append(LogEntry::new(&body)?).map(|_receipt| ())
}

fn sentence(review: Review) -> String {
    format!("{} review made", review.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::paths::Dirs;
    use crate::machine::record::{self, Ledger};
    use doorward_ledger::{DecisionBody, Log};

    #[test]
    fn a_review_is_due_when_its_period_is_over_and_not_once_it_was_made() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        record::begin(&dirs).unwrap();
        let now_ms = clock::now_ms();
        let due = || {
            let log = Log::open(&record::directory(&dirs)).unwrap();
            let (index, _) = Index::rebuild(&home.path().join("index"), &log).unwrap();
            overdue(&index, now_ms + 1000).unwrap().into_iter().map(|one| one.review).collect::<Vec<_>>()
        };
        assert_eq!(due(), [], "an empty record wants no review");
        let mut log = Log::open(&record::directory(&dirs)).unwrap();
        let _receipt = log.append(&DecisionBody::default(), now_ms - 40 * 24 * 60 * 60 * 1000).unwrap();
        assert_eq!(due(), [Review::Weekly, Review::Monthly]);
        done(&mut Ledger::open(&dirs), Review::Weekly, 2).unwrap();
        assert_eq!(due(), [Review::Monthly]);
    }
}
