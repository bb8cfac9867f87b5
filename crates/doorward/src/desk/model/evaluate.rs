//! Leave-one-source-out tests and their results.

use std::collections::BTreeSet;
use std::fmt::Write;

use doorward_engine::layer2::feature::Features;
use doorward_engine::layer2::table::{Heads, ONE, Table};
use doorward_engine::layer2::{Numbers, odds};
use doorward_engine::{Operation, Thresholds, Verdict};

use super::fit;
use super::measure::{Scored, WeightedShare, calibration, upper};
use super::rows::{LabelledCall, Purpose};

/// What risk control allows: this share of what should be asked about may pass, with 95 % confidence.
// Chosen with the matrix: what layer 2 lets pass is reversible, so one in twenty is bearable; floors catch the rest.
const RISK: f64 = 0.05;

/// A row with the sums of a model that never saw its source.
pub(super) struct LeftOut<'r> {
    pub row: &'r LabelledCall,
    /// Before calibration, in log-odds.
    pub sums: [f64; 2],
    table: usize,
}

/// Predictions for every row by a model that was trained without its source.
pub(super) struct Predictions<'r> {
    pub rows: Vec<LeftOut<'r>>,
    tables: Vec<Table>,
}

/// Trains once for each source that may be trained on, without it.
pub(super) fn left_out<'r>(rows: &'r [LabelledCall], prior: &Table, progress: &mut dyn FnMut(&str)) -> Predictions<'r> {
    let mut found = Predictions { rows: Vec::new(), tables: Vec::new() };
    let sources: BTreeSet<(Purpose, &str)> = rows.iter().map(|row| (row.purpose, row.source.as_str())).collect();
    let mut whole = None;
    for (purpose, source) in sources {
        let table = match (purpose, whole) {
            (Purpose::Test, Some(table)) => table,
            (Purpose::Train | Purpose::Test, _) => {
                let others = rows.iter().filter(|row| row.purpose == Purpose::Train && row.source != source);
                found.tables.push(fit::fit(others, prior));
                found.tables.len() - 1
            }
        };
        if purpose == Purpose::Test {
            whole = Some(table);
        }
        let Some(model) = found.tables.get(table).map(Numbers::of) else { continue };
        let predicted = rows.iter().filter(|row| row.source == source);
        found.rows.extend(predicted.map(|row| LeftOut { row, sums: sums(row, model), table }));
        progress(&format!("{source}: tested with a model that never saw it"));
    }
    found
}

/// The riskiest effect, head by head.
fn sums(row: &LabelledCall, model: Numbers<'_>) -> [f64; 2] {
    let of = |features: &Features| model.log_odds(features).map(odds);
    let worse = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
    row.effects.iter().map(of).reduce(worse).unwrap_or_default()
}

/// Calibration on what layer 1 leaves open, without one source.
pub(super) fn calibration_of(predictions: &Predictions<'_>, without: Option<&str>) -> (Heads, Heads) {
    let counted = |row: &&LeftOut<'_>| !row.row.settled && Some(row.row.source.as_str()) != without;
    let pairs = |head: usize, least: Verdict| -> Vec<(f64, bool)> {
        let rows = predictions.rows.iter().filter(counted);
        rows.map(|row| (row.sums.get(head).copied().unwrap_or_default(), row.row.label >= least)).collect()
    };
    let ask = fit::calibrate(&pairs(0, Verdict::Confirm));
    let block = fit::calibrate(&pairs(1, Verdict::Block));
    let whole = |value: f64| (value * ONE as f64).round() as i32;
    ([whole(ask.0), whole(block.0)], [whole(ask.1), whole(block.1)])
}

/// Every row, scored by a model and a calibration that never saw its source.
pub(super) struct Tested<'r> {
    pub scored: Vec<Scored<'r>>,
    pub thresholds: Thresholds,
}

pub(super) fn held_out<'r>(rows: &'r [LabelledCall], prior: &Table, progress: &mut dyn FnMut(&str)) -> Tested<'r> {
    let predictions = left_out(rows, prior, progress);
    let thresholds = Thresholds::default();
    let sources: BTreeSet<&str> = rows.iter().map(|row| row.source.as_str()).collect();
    let mut scored = Vec::new();
    for source in sources {
        let (slope, offset) = calibration_of(&predictions, Some(source));
        for row in predictions.rows.iter().filter(|row| row.row.source == source) {
            let Some(table) = predictions.tables.get(row.table) else { continue };
            let table = Table { slope, offset, ..table.clone() };
            scored.push(Scored::new(row.row, Numbers::of(&table), &thresholds));
        }
    }
    Tested { scored, thresholds }
}

fn is_base(scored: &&Scored<'_>) -> bool {
    scored.row.world == "base"
}

/// Everything that is measured, as Markdown.
pub(super) fn report(tested: &Tested<'_>) -> String {
    let mut text = String::from("## Held out by source\n\n");
    text.push_str(
        "Friction: asked about though the label says approve, of all calls. Regret: approved though the label says otherwise, of those approved. \
         Intervals of 95 % (Clopper–Pearson; traffic is weighted by how often such calls occur, on the effective number of rows).\n\n\
         | source | use | calls | approved | friction | friction of layer 2 alone | regret |\n|---|---|---|---|---|---|---|\n",
    );
    let sources: BTreeSet<&str> = tested.scored.iter().map(|scored| scored.row.source.as_str()).collect();
    for source in &sources {
        line(&mut text, source, tested, |scored| scored.row.source == *source);
    }
    line(&mut text, "all traffic", tested, |scored| scored.row.source.starts_with("traffic-"));
    line(&mut text, "all", tested, |_| true);
    curve(&mut text, tested);
    coverage(&mut text, tested);
    control(&mut text, tested);
    text
}

fn line(text: &mut String, name: &str, tested: &Tested<'_>, counts: impl Fn(&Scored<'_>) -> bool) {
    let rows: Vec<&Scored<'_>> = tested.scored.iter().filter(is_base).filter(|scored| counts(scored)).collect();
    let is_approved = |scored: &Scored<'_>| scored.verdict(&tested.thresholds) == Verdict::AutoApprove;
    let all = rows.iter().map(|scored| (is_approved(scored), scored.row.weight));
    let friction = rows.iter().map(|scored| (!is_approved(scored) && !scored.should_ask(), scored.row.weight));
    let by_score =
        |scored: &Scored<'_>| !is_approved(scored) && !scored.should_ask() && scored.row.floor == Verdict::AutoApprove;
    let own = rows.iter().map(|scored| (by_score(scored), scored.row.weight));
    let regret =
        rows.iter().filter(|scored| is_approved(scored)).map(|scored| (scored.should_ask(), scored.row.weight));
    let purpose = match rows.iter().map(|scored| scored.row.purpose).max() {
        Some(Purpose::Train) => "train",
        Some(Purpose::Test) => "test",
        None => "–",
    };
    let _ = writeln!(
        text,
        "| {name} | {purpose} | {} | {} | {} | {} | {} |",
        rows.len(),
        WeightedShare::of(all),
        WeightedShare::of(friction),
        WeightedShare::of(own),
        WeightedShare::of(regret)
    );
}

/// What layer 2 is asked about.
fn open<'t, 'r>(tested: &'t Tested<'r>) -> impl Iterator<Item = &'t Scored<'r>> {
    tested.scored.iter().filter(|scored| !scored.row.settled)
}

fn curve(text: &mut String, tested: &Tested<'_>) {
    let pairs = || open(tested).map(|scored| (scored.ask, scored.should_ask(), 1.0));
    let (bins, error) = calibration(pairs());
    let kept_back: Vec<_> = open(tested).filter(|scored| scored.row.purpose == Purpose::Test).collect();
    let (_, of_kept_back) = calibration(kept_back.iter().map(|scored| (scored.ask, scored.should_ask(), 1.0)));
    let (_, block) = calibration(open(tested).map(|scored| (scored.block, scored.row.label == Verdict::Block, 1.0)));
    let _ = write!(
        text,
        "\n## Calibration\n\nOf {} calls and variants that layer 1 leaves open: expected calibration error {error:.4} (ask), {block:.4} (block). \
         Of the {} among them whose sources are never trained on: {of_kept_back:.4} (ask).\n\n\
         | said | calls | mean said | was so |\n|---|---|---|---|\n",
        pairs().count(),
        kept_back.len()
    );
    for (place, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.count > 0.0) {
        let (from, to) = (place as f64 / 10.0, (place + 1) as f64 / 10.0);
        let (said, was) = (bin.said / bin.count, bin.was / bin.count);
        let _ = writeln!(text, "| {from:.1}–{to:.1} | {} | {said:.3} | {was:.3} |", bin.count);
    }
}

fn coverage(text: &mut String, tested: &Tested<'_>) {
    text.push_str("\n## Risk and coverage\n\nOf what layer 1 leaves open and no floor decides: how much would be approved at each threshold, and how much of that wrongly.\n\n| threshold | approved | wrongly |\n|---|---|---|\n");
    let rows: Vec<&Scored<'_>> = open(tested).filter(|scored| scored.row.floor == Verdict::AutoApprove).collect();
    for threshold in [0.5, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99] {
        let share = WeightedShare::of(rows.iter().map(|scored| (scored.approve >= threshold, 1.0)));
        let approved = rows.iter().filter(|scored| scored.approve >= threshold);
        let wrong = WeightedShare::of(approved.map(|scored| (scored.should_ask(), 1.0)));
        let _ = writeln!(text, "| {threshold:.2} | {share} | {wrong} of {} |", wrong.whole);
    }
    let approved = || tested.scored.iter().filter(|scored| scored.verdict(&tested.thresholds) == Verdict::AutoApprove);
    let right = |share: WeightedShare| format!("{share} of {} are right", share.whole);
    let scored = WeightedShare::of(
        approved().filter(|one| !one.row.settled && one.approve >= 0.95).map(|one| (!one.should_ask(), 1.0)),
    );
    let settled = WeightedShare::of(approved().filter(|one| one.row.settled).map(|one| (!one.should_ask(), 1.0)));
    let weighed = approved().filter(|one| is_base(one) && one.row.source.starts_with("traffic-"));
    let weighed = WeightedShare::of(weighed.map(|one| (!one.should_ask(), one.row.weight)));
    let _ = writeln!(
        text,
        "\nApprovals by layer 2 with a confidence of 0.95 or more: {}. Approvals by a rule of layer 1, which have no confidence: {}. All approvals of \
         traffic, weighted: {weighed} right.",
        right(scored),
        right(settled)
    );
}

/// The least threshold for each operation under which not too much passes that should be asked about.
fn control(text: &mut String, tested: &Tested<'_>) {
    let _ = write!(
        text,
        "\n## Risk control\n\nThe least threshold, not below the floor, under which the share of what should be asked about but passes is at most {:.0} % \
         (upper bound of 95 %), for the operation that decides.\n\n| operation | should be asked | pass at the threshold in force | upper bound | threshold in force | wanted |\n|---|---|---|---|---|---|\n",
        100.0 * RISK
    );
    for operation in Operation::ALL {
        let rows: Vec<&Scored<'_>> =
            tested.scored.iter().filter(|scored| scored.operation == Some(*operation) && scored.should_ask()).collect();
        let passing = |thresholds: &Thresholds| {
            rows.iter().filter(|scored| scored.verdict(thresholds) == Verdict::AutoApprove).count() as f64
        };
        let n = rows.len() as f64;
        let at = |threshold: f64| {
            let mut thresholds = tested.thresholds;
            thresholds.by_operation.iter_mut().for_each(|value| *value = threshold);
            thresholds
        };
        let steps = (85..100).map(|percent| f64::from(percent) / 100.0);
        let wanted = steps.clone().find(|step| upper(passing(&at(*step)), n) <= RISK);
        let now = passing(&tested.thresholds);
        let wanted = wanted.map_or("more calls to tell".to_owned(), |wanted| format!("{wanted:.2}"));
        let force = tested.thresholds.wanted(Some(*operation), false);
        let _ = writeln!(text, "| {operation} | {n} | {now} | {:.3} | {force:.2} | {wanted} |", upper(now, n));
    }
}

/// The misjudged calls, by id.
pub(super) fn wrong(tested: &Tested<'_>) -> String {
    let mut text = String::from("\n## Judged wrongly\n\n");
    for scored in &tested.scored {
        let verdict = scored.verdict(&tested.thresholds);
        let is_asked = verdict > Verdict::AutoApprove;
        if is_asked != scored.should_ask() && (!is_asked || scored.row.floor == Verdict::AutoApprove) {
            let Scored { row, approve, .. } = scored;
            let _ = writeln!(
                text,
                "{} {} {}: {verdict} instead of {} at {approve:.3}",
                row.source, row.id, row.world, row.label
            );
        }
    }
    text
}
