//! Questions to the index, and what happens to it when the log is not the one it knew.

use doorward_vocabulary::Verdict;

use crate::record::tests::everyday;
use crate::retain::Days;
use crate::{AnswerBody, Body, By, DecisionBody, Filter, Format, Index, Kind, Log, Reply};

struct Room {
    dir: tempfile::TempDir,
    log: Log,
}

impl Room {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::create(&dir.path().join("log")).unwrap().with_segment_bytes(20_000);
        Self { dir, log }
    }

    fn add(&mut self, body: &impl Body, time_ms: u64) {
        let _receipt = self.log.append(body, time_ms).unwrap();
    }

    fn index(&self) -> Index {
        Index::open(&self.dir.path().join("index.sqlite")).unwrap()
    }
}

fn filled() -> Room {
    let mut room = Room::new();
    for number in 1..=100 {
        room.add(&everyday(number), number * 1000);
    }
    room.add(
        &DecisionBody {
            id: "push".into(),
            agent: Some("codex".into()),
            call: "git push --force 100%_done".into(),
            verdict: Verdict::Confirm,
            category: Some("network".into()),
            ..DecisionBody::default()
        },
        200_000,
    );
    let answer = AnswerBody { decision: "push".into(), reply: Reply::Approved, by: By::Person, why: None };
    room.add(&answer, 201_000);
    room
}

#[test]
fn each_filter_leaves_what_it_says() {
    let room = filled();
    let mut index = room.index();
    assert_eq!(index.feed(&room.log).unwrap().records, 102);
    let check = |filter: Filter, want: usize| {
        assert_eq!(index.list(&filter).unwrap().len(), want, "{filter:?}");
    };
    let all = Filter::default();
    check(all.clone(), 102);
    check(Filter { limit: Some(5), ..all.clone() }, 5);
    check(Filter { before: Some(11), ..all.clone() }, 10);
    check(Filter { kind: Some(Kind::Decision), ..all.clone() }, 101);
    check(Filter { kind: Some(Kind::Answer), ..all.clone() }, 1);
    check(Filter { verdict: Some(Verdict::AutoApprove), ..all.clone() }, 98);
    check(Filter { verdict: Some(Verdict::Block), ..all.clone() }, 2);
    check(Filter { verdict: Some(Verdict::Confirm), ..all.clone() }, 1);
    check(Filter { agent: Some("codex".into()), ..all.clone() }, 1);
    check(Filter { session: Some("s-3".into()), ..all.clone() }, 3);
    check(Filter { project: Some("/home/ada/project-0".into()), ..all.clone() }, 14);
    check(Filter { rule: Some("bulk-delete".into()), ..all.clone() }, 2);
    check(Filter { category: Some("network".into()), ..all.clone() }, 1);
    check(Filter { since_ms: Some(99_000), until_ms: Some(200_000), ..all.clone() }, 3);
    check(Filter { text: Some("FORCE 100%_".into()), ..all.clone() }, 1);
    check(Filter { text: Some("100_".into()), ..all.clone() }, 0);
    check(Filter { text: Some("'; DROP TABLE records; --".into()), ..all.clone() }, 0);
    check(Filter { violations: true, ..all.clone() }, 2);
    let newest = index.list(&Filter { limit: Some(1), ..all }).unwrap();
    assert_eq!((newest[0].sequence, newest[0].step.as_deref()), (102, Some("approved")));
}

#[test]
fn the_index_grows_with_the_log_and_begins_anew_with_another_one() {
    let mut room = filled();
    let mut index = room.index();
    index.feed(&room.log).unwrap();
    assert_eq!(index.feed(&room.log).unwrap().records, 0);
    room.add(&everyday(7), 1);
    assert_eq!(index.feed(&room.log).unwrap().records, 1);
    let other = filled();
    let fed = index.feed(&other.log).unwrap();
    assert_eq!((fed.records, fed.anew), (102, true));
    let (index, fed) = Index::rebuild(index.path(), &room.log).unwrap();
    assert_eq!((fed.records, fed.bad), (103, 0));
    assert_eq!(index.list(&Filter::default()).unwrap().len(), 103);
}

#[test]
fn a_damaged_index_is_an_error_and_can_be_made_again() {
    let room = filled();
    let path = room.dir.path().join("index.sqlite");
    std::fs::write(&path, vec![7; 9000]).unwrap();
    let error = Index::open(&path).unwrap_err();
    assert!(error.to_string().contains("audit reindex"), "{error}");
    assert_eq!(Index::rebuild(&path, &room.log).unwrap().1.records, 102);
}

#[test]
fn counts_say_how_often_each_category_was_approved_and_overridden() {
    let room = filled();
    let mut index = room.index();
    index.feed(&room.log).unwrap();
    let stats = index.stats(&Filter::default()).unwrap();
    assert_eq!(stats.records, 102);
    let counts: Vec<_> = stats
        .categories
        .iter()
        .map(|c| (c.category.as_str(), c.decisions, c.approved, c.confirmed, c.blocked, c.overridden))
        .collect();
    assert_eq!(counts, [("execute", 100, 98, 0, 2, 0), ("network", 1, 0, 1, 0, 1)]);
    assert_eq!(stats.violations, [("bulk-delete".to_owned(), 2)]);
    assert_eq!((stats.latency_p50_us, stats.latency_p99_us), (Some(13), Some(13)));
    let none = Filter { agent: Some("nobody".into()), ..Filter::default() };
    assert_eq!(index.stats(&none).unwrap(), crate::Stats::default());
}

#[test]
fn what_retention_dropped_is_forgotten_by_the_index_too() {
    let day = 24 * 60 * 60 * 1000;
    let mut room = Room::new();
    for number in 1..=150 {
        room.add(&everyday(number), number * day);
    }
    let mut index = room.index();
    index.feed(&room.log).unwrap();
    let dropped = room.log.retain(Days::LEAST, 150 * day).unwrap().dropped;
    assert!(dropped > 20);
    index.feed(&room.log).unwrap();
    let rows = index.list(&Filter { kind: Some(Kind::Decision), ..Filter::default() }).unwrap();
    let forgotten = rows.iter().filter(|row| row.text.is_none()).count();
    assert_eq!(forgotten as u64, dropped);
    // Counts by verdict and category stay possible.
    assert!(rows.iter().all(|row| row.verdict.is_some() && row.category.is_some()));
    let (again, _) = Index::rebuild(index.path(), &room.log).unwrap();
    let rows = again.list(&Filter { kind: Some(Kind::Decision), ..Filter::default() }).unwrap();
    assert_eq!(rows.iter().filter(|row| row.text.is_none()).count() as u64, dropped);
}

#[test]
fn an_export_holds_every_entry_that_matches() {
    let room = filled();
    let mut index = room.index();
    index.feed(&room.log).unwrap();
    let export = |filter: Filter, format| {
        let mut out = Vec::new();
        let count = index.export(&room.log, &filter, format, &mut out).unwrap();
        (count, String::from_utf8(out).unwrap())
    };
    let blocks = Filter { verdict: Some(Verdict::Block), ..Filter::default() };
    let (count, text) = export(blocks.clone(), Format::Jsonl);
    assert_eq!((count, text.lines().count()), (2, 2));
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&first["sequence"], &first["body"]["verdict"]), (&50.into(), &"block".into()));
    let (count, text) = export(blocks, Format::Csv);
    assert_eq!((count, text.lines().count()), (2, 3));
    let columns = |line: &str| line.split(',').count();
    assert!(text.lines().all(|line| columns(line) == 20), "{text}");
    assert_eq!(export(Filter { before: Some(1), ..Filter::default() }, Format::Jsonl).0, 0);
}
