//! `judge` against a second reading of the documents, over the whole space of facts.
//!
//! `reference` decides as DESIGN, the matrix and the rule files say; it shares no line with `judge`. What a score is made of is
//! the scorer's own business: probabilities are taken as given.

mod cases;
mod reference;
mod written;

use std::sync::atomic::{AtomicUsize, Ordering};

use doorward_engine::{
    Degree, Facts, Mark, Marks, Operation, Policy, Reach, Reversibility, Scope, Source, Verdict, floor, judge,
};

use crate::support::chance::Chance;
use cases::{CELLS, Place};
use written::Written;

/// How much of the space is tried.
struct Extent {
    /// Every so many cells of the space of one effect with at most one mark.
    step: usize,
    /// Calls with two marks, and calls with several effects.
    pairs: usize,
    several: u64,
}

// In a build for debugging a case takes a tenth of a millisecond: these are a few seconds.
const QUICK: Extent = Extent { step: 211, pairs: 15_000, several: 15_000 };
const WHOLE: Extent = Extent { step: 1, pairs: 56_000_000, several: 40_000_000 };

/// Facts of a harmless call, to put effects into.
fn calm() -> Facts {
    let mut facts = Chance::new(7).calm_facts(&Policy::built_in().rules);
    facts.tool = "bash".into();
    facts.attended = true;
    facts.project_trusted = true;
    facts.effects.clear();
    facts
}

/// What must hold of every judgement, whatever the facts.
fn complaint(facts: &Facts, policy: &Policy, rules: &[Written]) -> Option<String> {
    let judged = judge(facts, policy);
    let wanted = reference::decide(facts, policy, rules);
    let is_approved = judged.verdict == Verdict::AutoApprove;
    let is_understood = matches!(facts.coverage.degree, Degree::Full | Degree::Delegated);
    let is_settled = is_approved && judged.settled_by == Source::Rule;
    let is_lasting = facts.effects.iter().any(|effect| effect.reversibility == Reversibility::Irreversible);
    let is_cleared = judged.opinions.iter().any(|opinion| {
        opinion.verdict == Verdict::AutoApprove && matches!(opinion.source, Source::Permission | Source::Review)
    });
    let strictest = judged.opinions.iter().map(|opinion| opinion.strictness()).max();
    let what = if (judged.verdict, judged.cleared_by) != wanted.said {
        format!("judge says {:?}, the documents {:?}", (judged.verdict, judged.cleared_by), wanted.said)
    } else if is_approved && !is_understood && !is_cleared {
        "approved without being understood".to_owned()
    } else if is_settled && (is_lasting || !wanted.is_settled) {
        "layer 1 approved what it must not".to_owned()
    } else if strictest != Some((judged.verdict, judged.cleared_by)) {
        "an opinion was loosened".to_owned()
    } else {
        return None;
    };
    Some(format!("{what}: {facts:#?}\n{judged:#?}"))
}

/// Tries the cases on all cores; says how many, and the first complaint.
fn try_all(count: usize, case: impl Fn(usize) -> Option<String> + Sync) -> usize {
    let (next, tried) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            let from = next.fetch_add(256, Ordering::Relaxed);
            if from >= count {
                return;
            }
            for number in from..count.min(from + 256) {
                tried.fetch_add(1, Ordering::Relaxed);
                if let Some(complaint) = case(number) {
                    panic!("case {number}: {complaint}");
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
    tried.into_inner()
}

/// One effect with at most one mark, in every combination of dimensions and both profiles.
fn single_marks(extent: &Extent) -> usize {
    let (rules, calm, auto) = (written::all(), calm(), Policy::built_in());
    let strict = Policy { strict: true, ..auto.clone() };
    let marks: Vec<Marks> =
        std::iter::once(Marks::default()).chain(Mark::ALL.iter().map(|mark| Marks::default().with(*mark))).collect();
    let count = CELLS * marks.len() * 2 / extent.step;
    try_all(count, |number| {
        let number = number * extent.step;
        let facts = Place::of(number % CELLS).facts(marks[number / CELLS % marks.len()], &calm);
        let policy = if number / CELLS / marks.len() == 0 { &auto } else { &strict };
        complaint(&facts, policy, &rules)
    })
}

/// One effect with two marks: every pair, at places by chance.
fn pairs(extent: &Extent) -> usize {
    let (rules, calm, policy) = (written::all(), calm(), Policy::built_in());
    let pairs: Vec<Marks> = cases::pairs().collect();
    try_all(extent.pairs, |number| {
        let place = Chance::new(number as u64).below(CELLS);
        complaint(&Place::of(place).facts(pairs[number % pairs.len()], &calm), &policy, &rules)
    })
}

/// Several effects, flows, words of the user, reviews, counts and modes by chance.
fn several(extent: &Extent) -> usize {
    let (rules, built_in) = (written::all(), Policy::built_in());
    try_all(usize::try_from(extent.several).unwrap(), |seed| {
        let mut chance = Chance::new(seed as u64 ^ 0x5eed_0000);
        let policy = cases::policy(&mut chance, &built_in);
        complaint(&cases::any(&mut chance, &built_in), &policy, &rules)
    })
}

/// More risk in one dimension never gives a laxer verdict, with any one mark.
fn monotone(marks: &[Marks]) -> usize {
    let (calm, policy) = (calm(), Policy::built_in());
    let strictness = |place: usize, marks: Marks| {
        let judged = judge(&Place::of(place).facts(marks, &calm), &policy);
        (judged.verdict, judged.cleared_by)
    };
    try_all(marks.len(), |number| {
        let marks = marks[number];
        let all: Vec<_> = (0..CELLS).map(|place| strictness(place, marks)).collect();
        (0..CELLS).find_map(|here| {
            let worse = Place::of(here).worse().find(|worse| all[worse.number()] < all[here])?;
            Some(format!("{marks:?}: {:?} {:?} → {worse:?} {:?}", Place::of(here), all[here], all[worse.number()]))
        })
    }) * CELLS
}

#[test]
fn the_matrix_is_the_one_of_the_documents() {
    for operation in Operation::ALL {
        for scope in Scope::ALL {
            for loss in Reversibility::ALL {
                for reach in Reach::ALL {
                    let cell = floor(*operation, *scope, *loss, *reach);
                    let wanted = reference::cell(*operation, *scope, *loss, *reach);
                    assert_eq!((cell.verdict, cell.clearance), wanted, "{operation} {scope} {loss} {reach}");
                }
            }
        }
    }
}

#[test]
fn judge_decides_as_the_documents_say() {
    assert!(single_marks(&QUICK) > 30_000);
    assert_eq!(pairs(&QUICK), QUICK.pairs);
    assert_eq!(several(&QUICK) as u64, QUICK.several);
}

#[test]
fn more_risk_is_never_laxer() {
    assert_eq!(monotone(&[Marks::default()]), CELLS);
}

/// `cargo nextest run --release -p doorward-engine --run-ignored only -E 'test(lattice::)' --no-capture`
#[test]
#[ignore = "a hundred million cases, about half an hour in a release build"]
fn judge_decides_as_the_documents_say_over_the_whole_space() {
    let tried = [single_marks(&WHOLE), pairs(&WHOLE), several(&WHOLE)];
    println!(
        "{} cases: {tried:?} with one mark, two marks, several effects; 0 differences",
        tried.iter().sum::<usize>()
    );
    assert!(tried.iter().sum::<usize>() >= 100_000_000);
}

#[test]
#[ignore = "three and a half million judgements, a minute in a release build"]
fn more_risk_is_never_laxer_with_any_mark() {
    let marks: Vec<Marks> = Mark::ALL.iter().map(|mark| Marks::default().with(*mark)).collect();
    println!("{} judgements, none laxer than one with less risk", monotone(&marks));
}
