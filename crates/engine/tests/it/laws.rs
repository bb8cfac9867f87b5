//! Laws that hold for every call: over our own corpus and over facts by chance.

use doorward_engine::layer2::feature::SETTLING;
use doorward_engine::{
    AcceptedCall, AcceptedHistory, Answer, Clearance, Confidence, Degree, Effect, Facts, Judgement, Mark, Marks, Mode,
    Opinion, Pattern, Policy, Reach, Reversibility, Review, Rule, Scope, Sensitivity, Shell, Source, Stage, Tool,
    Verdict, demanded_by, judge, kind, question, texts_of,
};

use crate::support::chance::Chance;
use crate::support::{corpus, wrap};

/// How many facts each law is tried on.
const TRIES: u64 = 4_000;

/// Marks that many rules ask about.
const TELLING: &[Mark] = &[
    Mark::ListedHost,
    Mark::Loopback,
    Mark::OwnRemote,
    Mark::Temp,
    Mark::AgentNotes,
    Mark::HarnessOnly,
    Mark::Force,
    Mark::Recursive,
    Mark::Creates,
    Mark::SessionFile,
    Mark::McpReadOnly,
];

/// The corpus and a crowd of random facts, each with the chance that made it.
fn every(mut law: impl FnMut(&Facts, &mut Chance)) {
    for (row, seed) in corpus::rows().iter().zip(0..) {
        law(&row.facts(), &mut Chance::new(seed));
    }
    let rules = Policy::built_in().rules;
    for seed in 0..TRIES {
        let mut chance = Chance::new(seed);
        let facts = if seed % 2 == 0 { chance.facts(&rules) } else { chance.calm_facts(&rules) };
        law(&facts, &mut chance);
    }
}

/// Marks that some rule takes as a reason to be silent, or an allow rule or the scorer as a reason to approve.
fn mitigating(policy: &Policy) -> Marks {
    let mut marks: Marks = SETTLING.iter().copied().collect();
    for rule in &policy.rules {
        if rule.verdict == Verdict::AutoApprove {
            marks.union(rule.when.all);
            marks.union(rule.when.any);
        } else {
            marks.union(rule.when.none);
        }
    }
    marks
}

fn next<T: Copy + PartialEq>(all: &[T], now: T) -> Option<T> {
    all.iter().skip_while(|word| **word != now).nth(1).copied()
}

/// Something about the effect gets worse.
fn worse_effect(effect: &mut Effect, chance: &mut Chance, settling: Marks) -> Option<String> {
    let before = effect.clone();
    match chance.below(4) {
        0 => effect.reversibility = next(Reversibility::ALL, effect.reversibility)?,
        // Beyond is farther than identity but not graver: the matrix says so on purpose.
        1 => effect.reach = next(Reach::ALL, effect.reach).filter(|reach| *reach != Reach::Beyond)?,
        2 => effect.sensitivity = next(Sensitivity::ALL, effect.sensitivity)?,
        _ => {
            // Half of the time one that rules ask about.
            let mark = if chance.one_in(2) { chance.pick(Mark::ALL) } else { chance.pick(TELLING) };
            (!settling.has(mark)).then(|| effect.marks.add(mark))?;
        }
    }
    // External is elsewhere rather than wider, so only the scopes of this machine are an order.
    if chance.one_in(4) {
        effect.scope = next(Scope::ALL, effect.scope).filter(|scope| *scope != Scope::External)?;
    }
    Some(format!("{before:?} → {effect:?}"))
}

/// Something about the call gets worse.
fn worse(facts: &mut Facts, chance: &mut Chance, settling: Marks) -> Option<String> {
    match chance.below(6) {
        0 => {
            facts.coverage.degree = next(Degree::ALL, facts.coverage.degree)?;
            Some(format!("coverage {}", facts.coverage.degree))
        }
        1 => {
            let effect = chance.effect();
            facts.effects.push(effect.clone());
            Some(format!("also {effect:?}"))
        }
        2 => {
            let flow = chance.flow();
            facts.flows.push(flow.clone());
            Some(format!("also {flow:?}"))
        }
        3 => {
            facts.counts.denials_in_a_row += 5;
            facts.counts.reads_last_minute += 1000;
            facts.counts.restorable += 100;
            Some("more denials and reads".into())
        }
        4 => {
            facts.taint.push("secret-read".into());
            Some("a secret was read before".into())
        }
        _ => {
            let index = chance.below(facts.effects.len().max(1));
            worse_effect(facts.effects.get_mut(index)?, chance, settling)
        }
    }
}

#[test]
fn the_laws_are_tried_on_calls_of_every_verdict() {
    let policy = Policy::built_in();
    let mut counts = [0; 3];
    every(|facts, _| counts[judge(facts, &policy).verdict as usize] += 1);
    assert!(counts.iter().all(|count| *count > 100), "approved, asked, blocked: {counts:?}");
}

/// Nobody tunes into silence what only a person may let pass.
#[test]
fn a_firm_rule_that_is_retired_leaves_a_question() {
    let policy = Policy::built_in();
    let mut without: std::collections::BTreeMap<String, Policy> = std::collections::BTreeMap::new();
    let mut broken = Vec::new();
    let mut tried = 0;
    every(|facts, _| {
        // The user's own words and a reviewer clear soft questions, this one too.
        let facts = &Facts { intent: Default::default(), review: None, ..facts.clone() };
        let judged = judge(facts, &policy);
        let firm = judged.opinions.iter().filter(|opinion| opinion.cleared_by > Some(Clearance::Soft));
        for id in firm.filter_map(|opinion| opinion.rule.clone()) {
            let retired = without.entry(id.clone()).or_insert_with(|| {
                let mut policy = policy.clone();
                policy.rules.iter_mut().filter(|rule| rule.id == id).for_each(|rule| rule.stage = Stage::Retired);
                policy
            });
            tried += 1;
            if judge(facts, retired).verdict == Verdict::AutoApprove {
                broken.push(format!("`{}` passes without `{id}`", facts.subject));
            }
        }
    });
    assert!(tried > 1000, "{tried}");
    assert!(broken.is_empty(), "{} of {tried}: {:?}", broken.len(), broken.first());
}

#[test]
fn riskier_is_never_laxer() {
    let policy = Policy::built_in();
    let settling = mitigating(&policy);
    let mut broken = Vec::new();
    every(|facts, chance| {
        let before = judge(facts, &policy);
        for _ in 0..8 {
            let mut riskier = facts.clone();
            let Some(what) = worse(&mut riskier, chance, settling) else { continue };
            let after = judge(&riskier, &policy);
            if after.verdict < before.verdict {
                broken.push(format!("`{}` was {}, is {}: {what}", facts.subject, before.verdict, after.verdict));
            }
        }
    });
    assert!(broken.is_empty(), "{} cases:\n{}", broken.len(), broken[..broken.len().min(20)].join("\n"));
}

#[test]
fn confirm_all_approves_nothing() {
    let mut policy = Policy { mode: Mode::ConfirmAll, ..Policy::built_in() };
    policy.permissions.allow = vec![Pattern::parse("*").unwrap()];
    every(|facts, _| assert!(judge(facts, &policy).verdict >= Verdict::Confirm, "{}", facts.subject));
}

#[test]
fn one_more_block_or_ask_rule_never_loosens() {
    let policy = Policy::built_in();
    let mut stricter = policy.clone();
    every(|facts, chance| {
        let before = judge(facts, &policy);
        stricter.rules.push(chance.stricter_rule(Stage::Active));
        let after = judge(facts, &stricter);
        let rule = stricter.rules.pop();
        let is_kept = (before.verdict, before.cleared_by) <= (after.verdict, after.cleared_by);
        assert!(is_kept, "{}: {rule:?}", facts.subject);
    });
}

#[test]
fn one_more_deny_or_ask_pattern_never_loosens() {
    let policy = Policy::built_in();
    let (mut deny, mut ask) = (policy.clone(), policy.clone());
    deny.permissions.deny.push(Pattern::parse("*(*)").unwrap());
    ask.permissions.ask.push(Pattern::parse("*(*)").unwrap());
    every(|facts, _| {
        let before = judge(facts, &policy);
        assert_eq!(judge(facts, &deny).verdict, Verdict::Block, "{}", facts.subject);
        let asked = judge(facts, &ask);
        assert!(asked.verdict >= before.verdict.max(Verdict::Confirm), "{}", facts.subject);
    });
}

#[test]
fn a_shadow_rule_changes_no_verdict() {
    let policy = Policy::built_in();
    let mut shadowed = policy.clone();
    every(|facts, chance| {
        let before = judge(facts, &policy);
        shadowed.rules.truncate(policy.rules.len());
        shadowed.rules.push(chance.stricter_rule(Stage::Shadow));
        // A rule that somebody added is their own; retired, it leaves the built-in policy as it is.
        shadowed.rules.push(Rule { id: "own/by-chance".into(), ..chance.stricter_rule(Stage::Retired) });
        let mut after = judge(facts, &shadowed);
        after.shadow.retain(|opinion| opinion.rule.as_deref() != Some("by-chance"));
        assert_eq!(after, before, "{}", facts.subject);
    });
}

#[test]
fn judging_twice_gives_the_same() {
    let policy = Policy::built_in();
    every(|facts, _| assert_eq!(judge(facts, &policy), judge(facts, &policy)));
    for row in corpus::rows() {
        assert_eq!(row.facts(), row.facts(), "{}", row.id);
    }
}

#[test]
fn stored_facts_are_judged_like_fresh_ones() {
    let policy = Policy::built_in();
    every(|facts, _| {
        let stored = serde_json::to_vec(facts).unwrap();
        let reloaded: Facts = serde_json::from_slice(&stored).unwrap();
        assert_eq!(judge(&reloaded, &policy), judge(facts, &policy), "{}", facts.subject);
    });
}

#[test]
fn a_yes_changes_no_verdict() {
    // What k yes answers leave behind is the recorded rate: over one session or many, of few decisions or of many.
    let policy = Policy::built_in();
    every(|facts, _| {
        let before = judge(facts, &policy);
        for yes in 0..=20 {
            let decisions = if yes % 2 == 0 { yes } else { 40 };
            let mut after = facts.clone();
            after.counts.observed_overrides = (decisions > 0).then(|| f64::from(yes) / f64::from(decisions));
            assert_eq!(judge(&after, &policy), before, "`{}` after {yes} of {decisions}", facts.subject);
        }
    });
}

#[test]
fn after_any_number_of_yes_answers_nothing_is_stricter_and_no_floor_is_lower() {
    // In one session or many, with or without a person who accepted that the answers count.
    let policy = Policy::built_in();
    let mut calmed = 0;
    let mut check = |facts: &Facts| {
        let before = judge(facts, &policy);
        let stands = |judgement: &Judgement| (judgement.verdict, judgement.cleared_by);
        for yes in 0..=20u32 {
            let past = AcceptedHistory { let_run: yes, decisions: yes + yes % 3, on: "2026-11-18".into() };
            let mut after = facts.clone();
            after.counts.observed_overrides = (yes > 0).then(|| past.rate());
            assert_eq!(stands(&judge(&after, &policy)), stands(&before), "`{}` after {yes}", facts.subject);
            after.counts.override_rate = (yes > 0).then(|| past.rate());
            after.counts.accepted = (yes > 0).then_some(past);
            let judged = judge(&after, &policy);
            assert!(stands(&judged) <= stands(&before), "`{}` after {yes} accepted", facts.subject);
            if judged.verdict < before.verdict {
                calmed += 1;
                assert_eq!(stands(&before), (Verdict::Confirm, Some(Clearance::Soft)), "`{}`", facts.subject);
                let others = before.opinions.iter().filter(|opinion| opinion.source != Source::Score);
                assert!(others.clone().all(|of| of.verdict == Verdict::AutoApprove), "`{}`", facts.subject);
                let because = &judged.opinions.iter().find(|of| of.source == Source::Score).unwrap().because;
                assert!(because.contains(&format!("you let this run {yes} of ")), "{because}");
            }
            if yes % 10 == 0 {
                after.taint.push("secret-read".into());
                let tainted = Facts { taint: after.taint.clone(), ..facts.clone() };
                assert_eq!(stands(&judge(&after, &policy)), stands(&judge(&tainted, &policy)), "`{}`", facts.subject);
            }
        }
    };
    corpus::rows().iter().for_each(|row| check(&row.facts()));
    (0..900).for_each(|seed| check(&Chance::new(seed).calm_facts(&policy.rules)));
    assert!(calmed > 20, "{calmed}");
}

#[test]
fn a_rule_that_a_person_accepted_clears_these_very_calls_and_nothing_firm() {
    let plain = Policy::built_in();
    let mut cleared = 0;
    let rows = corpus::rows();
    let others: Vec<Facts> = rows.iter().step_by(7).map(|row| row.facts()).collect();
    for (at, row) in rows.iter().enumerate() {
        let facts = row.facts();
        let before = judge(&facts, &plain);
        let asked: Vec<&Opinion> = before.opinions.iter().filter(|of| of.verdict != Verdict::AutoApprove).collect();
        if before.verdict != Verdict::Confirm {
            continue;
        }
        let rule = AcceptedCall {
            tool: facts.tool.clone(),
            project: facts.project.clone().unwrap_or_default(),
            texts: facts.effects.iter().flat_map(|effect| texts_of(&facts, effect)).collect(),
            kinds: facts.effects.iter().map(|effect| kind(&facts, effect)).collect(),
            questions: asked.iter().map(|opinion| question(opinion)).collect(),
            because: "you accepted it".into(),
        };
        let mut policy = plain.clone();
        policy.permissions.accepted = vec![rule];
        let after = judge(&facts, &policy);
        if after.verdict == Verdict::AutoApprove {
            cleared += 1;
            assert_eq!(before.cleared_by, Some(Clearance::Soft), "{}", row.id);
            let tainted = Facts { taint: vec!["secret-read".into()], ..facts.clone() };
            assert_eq!(judge(&tainted, &policy).verdict, judge(&tainted, &plain).verdict, "{}", row.id);
            let elsewhere = Facts { project: Some("/another".into()), ..facts.clone() };
            assert!(judge(&elsewhere, &policy).verdict >= judge(&elsewhere, &plain).verdict, "{}", row.id);
        }
        for other in others.iter().cycle().skip(at).take(4).filter(|other| other.subject != facts.subject) {
            let (was, is) = (judge(other, &plain), judge(other, &policy));
            let is_part = other.subject.contains(facts.subject.trim()) || facts.subject.contains(other.subject.trim());
            assert!(is.verdict == was.verdict || is_part, "{}: `{}` clears `{}`", row.id, facts.subject, other.subject);
        }
    }
    assert!(cleared > 100, "{cleared}");
}

#[test]
fn what_is_demanded_from_outside_is_told_from_what_doorward_stops_by_itself() {
    let auto = Policy::built_in();
    let all = Policy { mode: Mode::ConfirmAll, ..Policy::built_in() };
    every(|facts, _| {
        let (alone, confirmed) = (judge(facts, &auto), judge(facts, &all));
        let mut bound = facts.clone();
        bound.intent.boundary = Some("don't".into());
        let by = |facts: &Facts, policy: &Policy| demanded_by(facts, policy, &judge(facts, policy));
        if alone.verdict == Verdict::AutoApprove {
            assert_eq!(demanded_by(facts, &auto, &alone), None, "`{}`", facts.subject);
            // An allow pattern or the user's words clear nothing where everything is confirmed.
            let is_plain = alone.opinions.iter().all(|opinion| opinion.source != Source::Permission);
            let is_by_mode = demanded_by(facts, &all, &confirmed) == Some(Source::Mode);
            assert!(is_by_mode || !is_plain, "`{}`", facts.subject);
            assert_eq!(by(&bound, &auto), Some(Source::Boundary), "`{}`", facts.subject);
        } else if alone
            .opinions
            .iter()
            .all(|opinion| !matches!(opinion.source, Source::Limit | Source::Boundary | Source::Cancelled))
        {
            assert_eq!(by(&bound, &auto), None, "`{}` is stopped in any case", facts.subject);
        }
    });
}

#[test]
fn what_is_not_understood_is_never_approved() {
    let plain = Policy::built_in();
    let mut lenient = plain.clone();
    lenient.permissions.allow = vec![Pattern::parse("*").unwrap()];
    every(|facts, _| {
        let mut facts = facts.clone();
        facts.coverage.degree = Degree::Opaque;
        assert!(judge(&facts, &lenient).verdict >= Verdict::Confirm, "opaque: {}", facts.subject);
        facts.coverage.degree = Degree::Unknown;
        facts.intent.consent = None;
        assert!(judge(&facts, &plain).verdict >= Verdict::Confirm, "unknown: {}", facts.subject);
    });
}

#[test]
fn an_unknown_tool_is_never_approved() {
    let mut lenient = Policy::built_in();
    lenient.permissions.allow = vec![Pattern::parse("*").unwrap()];
    let template = corpus::rows().remove(0);
    for seed in 0..TRIES / 10 {
        let mut chance = Chance::new(seed);
        let length = 1 + chance.below(12);
        let name: String = (0..length).map(|_| char::from(b'a' + u8::try_from(chance.below(26)).unwrap())).collect();
        let name = format!("x-{name}");
        let tool =
            Tool::Other { name: name.clone(), input: serde_json::json!({"path": "src/lib.rs", "command": "ls"}) };
        let facts = template.facts_of(&template.call_of(tool));
        assert!(judge(&facts, &lenient).verdict >= Verdict::Confirm, "{name}");
    }
}

#[test]
fn a_call_that_was_cut_is_never_approved() {
    let policy = Policy::built_in();
    for row in corpus::rows() {
        let mut call = row.call();
        call.truncated = true;
        assert!(judge(&row.facts_of(&call), &policy).verdict >= Verdict::Confirm, "{}", row.id);
    }
}

#[test]
fn writing_a_command_differently_never_loosens() {
    let policy = Policy::built_in();
    let mut broken = Vec::new();
    for row in corpus::rows() {
        let Some(command) = row.command() else { continue };
        let before = row.judged(&policy).verdict;
        let shell = row.world.as_ref().map(|world| world.shell).unwrap_or_default();
        for (name, wrapping) in wrap::ALL {
            // The same text is another program to another shell.
            if shell != Shell::Bash && name.contains("sh -") {
                continue;
            }
            let Some(wrapped) = wrapping(command) else { continue };
            // A call that cannot be read is no shorter for being written differently.
            let Tool::Bash { unsandboxed, .. } = row.call().tool else { continue };
            let call = row.call_of(Tool::Bash { command: wrapped.clone(), background: false, unsandboxed });
            let after = judge(&row.facts_of(&call), &policy).verdict;
            if after < before {
                broken.push(format!("{} by {name}: {before} → {after}: {wrapped:?}", row.id));
            }
        }
    }
    assert!(broken.is_empty(), "{} cases:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn advice_is_never_denied() {
    let policy = Policy::built_in();
    let template = corpus::rows().remove(0);
    for rule in &policy.rules {
        for command in rule.instead.split('`').skip(1).step_by(2) {
            let call =
                template.call_of(Tool::Bash { command: command.to_owned(), background: false, unsandboxed: false });
            let verdict = judge(&template.facts_of(&call), &policy).verdict;
            assert!(verdict < Verdict::Block, "{} advises `{command}`, which is denied", rule.id);
        }
    }
}

#[test]
fn a_reviewer_clears_soft_questions_and_nothing_else() {
    let policy = Policy::built_in();
    let strict = Policy { strict: true, ..policy.clone() };
    let shut = Policy { mode: Mode::ConfirmAll, ..policy.clone() };
    let (mut cleared, mut stayed) = (0, 0);
    every(|facts, _| {
        let before = judge(facts, &policy);
        for (answer, sure) in
            [(Answer::Allows, 1.0), (Answer::Allows, 0.5), (Answer::Declines, 1.0), (Answer::Unavailable, 1.0)]
        {
            let confidence = Confidence::new(sure);
            let review = Some(Review { answer, model: "a/b".into(), because: "so".into(), confidence });
            let reviewed = Facts { review, ..facts.clone() };
            let after = judge(&reviewed, &policy);
            let may = answer == Answer::Allows
                && sure > 0.9
                && before.verdict == Verdict::Confirm
                && before.cleared_by == Some(Clearance::Soft);
            if may && after.verdict == Verdict::AutoApprove {
                cleared += 1;
            } else {
                stayed += 1;
                assert_eq!(
                    (after.verdict, after.cleared_by),
                    (before.verdict, before.cleared_by),
                    "{answer} {facts:?}"
                );
            }
            assert!(judge(&reviewed, &shut).verdict > Verdict::AutoApprove);
            assert_eq!(judge(&reviewed, &strict).verdict, judge(facts, &strict).verdict, "strict asks no model");
        }
    });
    assert!(cleared > 100 && stayed > 1000, "{cleared} {stayed}");
}
