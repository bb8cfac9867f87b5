//! The scorer of layer 2: the same on every machine, never laxer for more risk, silent where it has no say.

use doorward_engine::layer2::feature::{self, Features, SETTLING};
use doorward_engine::layer2::table::Table;
use doorward_engine::{
    Degree, Effect, Facts, Mark, Operation, Policy, Reach, Reversibility, Scope, Scorer, Sensitivity, Source, Target,
    Verdict, judge,
};

use crate::support::chance::Chance;
use crate::support::corpus;

fn next<T: Copy + PartialEq>(all: &[T], now: T) -> Option<T> {
    all.iter().skip_while(|word| **word != now).nth(1).copied()
}

/// Both heads of a call that no other stage asks about: its riskiest effect.
fn heads(facts: &Facts) -> [f64; 2] {
    heads_beside(facts, Verdict::AutoApprove)
}

fn heads_beside(facts: &Facts, others: Verdict) -> [f64; 2] {
    let scorer = Scorer::BuiltIn;
    let scores = scorer.table().unwrap().scores(facts, others);
    let most = |head: fn(&doorward_engine::layer2::Score) -> f64| scores.iter().map(head).fold(0.0, f64::max);
    [most(|score| score.ask), most(|score| score.block)]
}

/// Makes one fact about the call riskier.
fn worse(facts: &mut Facts, chance: &mut Chance) -> Option<String> {
    let index = chance.below(facts.effects.len().max(1));
    match chance.below(9) {
        0 => facts.coverage.degree = next(Degree::ALL, facts.coverage.degree)?,
        1 => facts.counts.override_rate = facts.counts.override_rate.filter(|rate| *rate >= 0.3).map(|rate| rate - 0.3),
        2 => facts.taint.push("something-new".into()),
        3 => facts.flows.push(chance.flow()),
        4 => facts.effects.push(chance.effect()),
        place => {
            let effect = facts.effects.get_mut(index)?;
            match place {
                5 => effect.reversibility = next(Reversibility::ALL, effect.reversibility)?,
                6 => effect.reach = next(Reach::ALL, effect.reach).filter(|reach| *reach != Reach::Beyond)?,
                7 => effect.sensitivity = next(Sensitivity::ALL, effect.sensitivity)?,
                _ if chance.one_in(3) => {
                    effect.scope = next(Scope::ALL, effect.scope).filter(|scope| *scope != Scope::External)?;
                }
                _ => {
                    let mark = chance.pick(Mark::ALL);
                    (!SETTLING.contains(&mark)).then(|| effect.marks.add(mark))?;
                }
            }
        }
    }
    Some(format!("{facts:?}"))
}

#[test]
fn more_risk_never_lowers_either_head() {
    let rules = Policy::built_in().rules;
    let mut tried = 0;
    for seed in 0..20_000 {
        let mut chance = Chance::new(seed);
        let mut facts = if seed % 2 == 0 { chance.facts(&rules) } else { chance.calm_facts(&rules) };
        let before = heads(&facts);
        // A first effect takes the place of the call without any, which is scored by its coverage alone.
        if facts.effects.is_empty() {
            continue;
        }
        let Some(what) = worse(&mut facts, &mut chance) else { continue };
        let after = heads(&facts);
        assert!(before[0] <= after[0] && before[1] <= after[1], "{before:?} → {after:?}: {what}");
        let asked = heads_beside(&facts, Verdict::Confirm);
        let blocked = heads_beside(&facts, Verdict::Block);
        assert!(after[0] <= asked[0] && asked[0] <= blocked[0] && after[1] <= asked[1] && asked[1] <= blocked[1]);
        tried += 1;
    }
    assert!(tried > 8_000, "{tried}");
}

#[test]
fn no_risk_weighs_less_than_nothing_and_heads_are_ordered() {
    for weight in doorward_engine::weights() {
        assert!(!weight.is_risk || (weight.ask >= 0.0 && weight.block >= 0.0), "{weight:?}");
        assert!(!weight.is_calm || (weight.ask <= 0.0 && weight.block <= 0.0), "{weight:?}");
    }
    for seed in 0..2_000 {
        let [ask, block] = heads(&Chance::new(seed).facts(&Policy::built_in().rules));
        assert!((0.0..=1.0).contains(&ask) && (0.0..=ask).contains(&block));
    }
}

/// One effect of each operation, as mild as it can be but for what is named.
fn one(operation: Operation, reversibility: Reversibility, marks: &[Mark]) -> Facts {
    let mut effect = Effect::new(operation, Target::Unknown);
    effect.scope = Scope::Project;
    effect.reach = Reach::Project;
    effect.reversibility = reversibility;
    marks.iter().for_each(|mark| effect.marks.add(*mark));
    let mut facts = Chance::new(1).calm_facts(&Policy::built_in().rules);
    facts.effects = vec![effect];
    facts.project_trusted = true;
    facts
}

#[test]
fn thresholds_hold_for_every_operation() {
    let mut policy = Policy::built_in();
    for operation in Operation::ALL {
        for reversibility in Reversibility::ALL {
            let facts = one(*operation, *reversibility, &[]);
            let others = judge(&facts, &policy).opinions.into_iter().filter(|opinion| opinion.source != Source::Score);
            let others = others.map(|opinion| opinion.verdict).max().unwrap_or(Verdict::AutoApprove);
            let safe = 1.0 - heads_beside(&facts, others)[0];
            // Nothing says what is run for, so it counts as final.
            let is_final = *reversibility == Reversibility::Irreversible || *operation == Operation::Execute;
            let floor = if is_final { 0.95 } else { 0.85 };
            for raised in [0.85, 0.9, 0.95, 0.99, 1.0] {
                policy.thresholds.by_operation = [0.85; 6];
                policy.thresholds.by_operation[*operation as usize] = raised;
                let says = judge(&facts, &policy).opinions.into_iter().find(|opinion| opinion.source == Source::Score);
                let Some(says) = says else { continue };
                let is_sure = safe >= raised.max(floor);
                assert_eq!(
                    says.verdict == Verdict::AutoApprove,
                    is_sure,
                    "{operation} {reversibility} {safe} {raised}"
                );
            }
        }
    }
    let bare = judge(&one(Operation::Execute, Reversibility::Tracked, &[]), &Policy::built_in());
    assert!(bare.verdict > Verdict::AutoApprove, "something that runs for no known purpose is asked about");
    let built_in = Policy::built_in().thresholds;
    assert!(built_in.confidence >= 0.85 && built_in.irreversible >= 0.95);
    assert!(built_in.by_operation.iter().all(|wanted| *wanted >= built_in.confidence));
}

#[test]
fn without_a_scorer_what_layer_1_settles_goes_on_and_the_rest_is_asked() {
    let policy = Policy { scorer: Scorer::Unavailable("`x`: its checksum is wrong".into()), ..Policy::built_in() };
    let (mut settled, mut asked) = (0, 0);
    for row in corpus::rows() {
        let facts = row.facts();
        let (with, without) = (judge(&facts, &Policy::built_in()), judge(&facts, &policy));
        assert!(without.verdict >= with.verdict, "{}", row.id);
        if with.confidence.is_none() {
            assert_eq!(without.verdict, with.verdict, "{}", row.id);
            settled += usize::from(with.verdict == Verdict::AutoApprove);
        } else {
            assert!(without.verdict > Verdict::AutoApprove, "{}", row.id);
            asked +=
                usize::from(without.opinions.iter().any(|opinion| opinion.because.contains("its checksum is wrong")));
        }
    }
    assert!(settled > 100 && asked > 100, "{settled} {asked}");
}

#[test]
fn a_model_file_that_is_damaged_old_or_wrong_is_refused() {
    let names = feature::names();
    let weight = |name: &String| if name.starts_with("overridden") { [-100, 0] } else { [100, 10] };
    let weights: Vec<[i32; 2]> = names.iter().map(weight).collect();
    let table = Table { base: [-4000, -7000], slope: [1000; 2], offset: [0; 2], weights };
    let good = table.print(&names);
    assert!(Scorer::parse(&good).is_ok());
    let lowering = Table { weights: vec![[-100, 0]; names.len()], ..table.clone() }.print(&names);
    let raising = Table { weights: vec![[100, 10]; names.len()], ..table.clone() }.print(&names);
    for (text, why) in [
        (good.replace("100", "101"), "damaged"),
        (good.replace("scorer 2", "scorer 1"), "older"),
        (good[..good.len() / 2].to_owned(), "cut off"),
        (String::new(), "cut off"),
        (lowering, "lets `operation read` lower a risk"),
        (good.replace("-100", "100"), "damaged"),
        (raising, "lets `overridden 1%+` raise a risk"),
    ] {
        let problem = Scorer::parse(&text).unwrap_err();
        assert!(problem.contains(why), "{problem}");
    }
}

#[test]
fn an_own_model_asks_more_and_never_less() {
    let names = feature::names();
    let table =
        |base: i32| Table { base: [base, base], slope: [1000; 2], offset: [0; 2], weights: vec![[0, 0]; names.len()] };
    for row in corpus::rows() {
        let facts = row.facts();
        let built_in = judge(&facts, &Policy::built_in()).verdict;
        let lax = Policy { scorer: Scorer::parse(&table(-9000).print(&names)).unwrap(), ..Policy::built_in() };
        let wary = Policy { scorer: Scorer::parse(&table(3000).print(&names)).unwrap(), ..Policy::built_in() };
        assert_eq!(judge(&facts, &lax).verdict, built_in, "{}", row.id);
        assert!(judge(&facts, &wary).verdict >= built_in, "{}", row.id);
    }
}

#[test]
fn features_have_names_of_their_own() {
    let names = feature::names();
    assert_eq!(names.len(), feature::COUNT);
    let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    let mut set = Features::default();
    set.add_reach(Reach::Machine);
    let told: Vec<&str> = set.iter().map(|number| names[number].as_str()).collect();
    assert_eq!(told, ["reach project+", "reach shared+", "reach machine+"]);
}

/// Scores that must be the same on every machine, bit for bit.
#[test]
fn golden_scores() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/model/golden.tsv");
    let mut text = String::new();
    // By the number in the id and not by place, so that a row that is added moves no other.
    let number = |id: &str| id.rsplit('-').next().and_then(|number| number.parse::<u32>().ok());
    for row in corpus::rows().iter().filter(|row| number(&row.id).is_some_and(|number| number % 9 == 1)) {
        let [ask, block] = heads(&row.facts());
        text.push_str(&format!("{}\t{:016x}\t{:016x}\t{ask:.4}\t{block:.4}\n", row.id, ask.to_bits(), block.to_bits()));
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap(), "UPDATE=1 rewrites it");
}
