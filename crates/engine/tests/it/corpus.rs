//! Our own labelled calls: every label holds, and no verdict gets laxer unnoticed.

use std::collections::{BTreeMap, BTreeSet};

use doorward_engine::{Clearance, Description, Policy, Verdict, example};

use crate::support::corpus;

/// One line of `verdicts.snap`: id, verdict, clearance, rule or stage.
fn snapshot() -> String {
    let policy = Policy::built_in();
    let mut text = String::new();
    for row in corpus::rows() {
        let judged = row.judged(&policy);
        let clearance = judged.cleared_by.map_or("-", Clearance::as_str);
        let rule = judged.rule.as_deref().unwrap_or(judged.settled_by.as_str());
        text.push_str(&format!("{} {} {clearance} {rule}\n", row.id, judged.verdict));
    }
    text
}

/// The verdict and clearance of each id.
fn strictness(text: &str) -> BTreeMap<&str, (Verdict, Option<Clearance>)> {
    let line = |line: &'_ str| -> Option<(usize, Verdict, Option<Clearance>)> {
        let mut words = line.split(' ');
        let id = words.next()?;
        Some((id.len(), Verdict::parse(words.next()?)?, Clearance::parse(words.next()?)))
    };
    text.lines()
        .filter_map(|text| line(text).map(|(id, verdict, clearance)| (&text[..id], (verdict, clearance))))
        .collect()
}

#[test]
fn every_expectation_holds() {
    let policy = Policy::built_in();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for row in corpus::rows() {
        count += 1;
        let judged = row.judged(&policy);
        if !row.expect.admits(judged.verdict) {
            let said: Vec<&str> = judged.reasons().map(|opinion| opinion.because.as_str()).collect();
            let call = row.command().map_or_else(|| format!("{} {}", row.tool, row.input), str::to_owned);
            wrong.push(format!(
                "{} is {}, expected {} ({}): {call:?}\n    {}",
                row.id,
                judged.verdict,
                row.expect,
                row.why,
                said.join("; ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} expectations do not hold:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn ids_are_unique_and_every_row_says_why() {
    let mut ids = BTreeSet::new();
    for row in corpus::rows() {
        assert!(ids.insert(row.id.clone()), "`{}` is there twice", row.id);
        assert!(!row.why.is_empty(), "`{}` does not say why", row.id);
        assert!(row.expect.min.is_some() || row.expect.max.is_some(), "`{}` expects nothing", row.id);
    }
    assert!(ids.len() >= 400, "{} rows", ids.len());
}

#[test]
fn no_verdict_changes_unnoticed() {
    let path = corpus::folder().join("verdicts.snap");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let loosened = std::fs::read_to_string(corpus::folder().join("LOOSENED.md")).unwrap();
    let after = snapshot();
    let (old, new) = (strictness(&before), strictness(&after));
    let explained = |id: &str| loosened.split('`').any(|word| word == id);
    let laxer: Vec<&str> =
        old.iter().filter(|(id, was)| new.get(*id).is_some_and(|is| is < *was)).map(|(id, _)| *id).collect();
    let unexplained: Vec<&&str> = laxer.iter().filter(|id| !explained(id)).collect();
    assert!(
        unexplained.is_empty(),
        "laxer than corpus/verdicts.snap and not named in corpus/LOOSENED.md: {unexplained:?}"
    );
    let gone: Vec<&&str> = old.keys().filter(|id| !new.contains_key(*id) && !explained(id)).collect();
    assert!(gone.is_empty(), "gone from the corpus and not named in corpus/LOOSENED.md: {gone:?}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, after).unwrap();
        return;
    }
    let changed: Vec<String> = after
        .lines()
        .filter(|line| !before.lines().any(|known| known == *line))
        .map(|line| format!("  {line}"))
        .collect();
    assert!(
        before == after,
        "verdicts differ from corpus/verdicts.snap (UPDATE=1 rewrites it):\n{}",
        changed.join("\n")
    );
}

#[test]
fn the_described_machine_is_the_example() {
    let text = std::fs::read_to_string(corpus::folder().join("world.json")).unwrap();
    let described: Description = serde_json::from_str(&text).unwrap();
    assert_eq!(format!("{described:?}"), format!("{:?}", example::description()));
}

/// INVARIANT: a call that was ever blocked stays blocked. The list only grows; taking a line out is a decision that shows.
#[test]
fn what_was_ever_blocked_stays_blocked() {
    let path = corpus::folder().join("blocked.snap");
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let policy = Policy::built_in();
    let blocked: BTreeSet<String> = corpus::rows()
        .iter()
        .filter(|row| row.judged(&policy).verdict == Verdict::Block)
        .map(|row| row.id.clone())
        .collect();
    let lost: Vec<&str> = known.lines().filter(|id| !blocked.contains(*id)).collect();
    assert!(lost.is_empty(), "blocked once, and not any more: {lost:?}");
    if std::env::var_os("UPDATE").is_some() {
        let lines: Vec<String> = blocked.iter().map(|id| format!("{id}\n")).collect();
        std::fs::write(path, lines.concat()).unwrap();
        return;
    }
    let fresh: Vec<&String> = blocked.iter().filter(|id| !known.lines().any(|line| line == *id)).collect();
    assert!(fresh.is_empty(), "blocked, and not yet in corpus/blocked.snap (UPDATE=1 adds them): {fresh:?}");
}
