//! A simulated record: ninety days of several users and agents, with the drifts that a plan plants. The same seed gives the
//! same decisions.

use std::collections::BTreeMap;
use std::path::Path;

use doorward_engine::{Facts, Reversibility, Source, Verdict, example};
use doorward_ledger::{AnswerBody, Became, By, DecisionBody, Disk, Layer1, Layer2, Log, OutcomeBody, Reply};
use doorward_vocabulary::Verdict as Recorded;
use serde_json::value::RawValue;

#[path = "../../../src/machine/splitmix.rs"]
mod splitmix;

use splitmix::SplitMix;

use crate::hasty::Hasty;
use crate::tune::templates::{self, Habit, Template};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Who overrides far more than others, and the session that was attacked, where the plan has them.
pub(super) const ABUSER: &str = "1003";
pub(super) const ATTACKED: &str = "attacked";

const USERS: &[&str] = &["1000", "1001", "1002", ABUSER, "1004", "1005"];
const AGENTS: &[&str] = &["claude", "codex", "gemini", "pi"];
const PROJECTS: &[&str] = &["/home/ada/api", "/home/ada/site", "/home/ben/engine", "/home/cem/tools", "/home/dia/app"];

/// Decisions of one session.
const SESSION: u64 = 40;

/// What is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drifts {
    pub strict: bool,
    pub attack: bool,
    pub abuse: bool,
    /// The threshold was raised, and people let run whatever it asks about.
    pub careful: bool,
    /// Regretted, of a thousand calls of which layer 2 is not very sure.
    pub lax: u64,
    /// Regretted, of a thousand calls that an allow rule approves.
    pub plain: u64,
}

impl Drifts {
    pub(super) const ALL: Drifts = Drifts { strict: true, attack: true, abuse: true, lax: 150, ..Drifts::NONE };
    pub(super) const NONE: Drifts =
        Drifts { strict: false, attack: false, abuse: false, careful: false, lax: CHANCE, plain: CHANCE };
}

/// Regretted, of a thousand calls that nobody has anything against.
const CHANCE: u64 = 1;

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub seed: u64,
    pub days: u64,
    pub decisions: u64,
    /// The last moment.
    pub until_ms: u64,
    pub drifts: Drifts,
}

/// How many decisions of each habit there are.
pub(super) type Written = BTreeMap<&'static str, u64>;

/// Writes the record into a directory where there is none.
pub(super) fn write(directory: &Path, plan: Plan) -> Written {
    std::fs::create_dir_all(directory.parent().unwrap()).unwrap();
    drop(Log::create(directory).unwrap());
    let templates = templates::all(plan.drifts.careful);
    let mut machine = Machine {
        log: Log::on(Hasty(Disk::open(directory).unwrap())),
        chance: Chance(SplitMix(plan.seed)),
        plan,
        templates: &templates,
        number: 0,
        written: Written::new(),
    };
    let sessions = plan.decisions / SESSION;
    for session in 0..sessions {
        machine.session(
            session,
            plan.until_ms - plan.days * DAY_MS + session * (plan.days * DAY_MS - DAY_MS / 8) / sessions,
        );
        // Two days before the end, and so within the last week.
        if plan.drifts.attack && session == sessions - sessions * 2 / plan.days {
            machine.attack(plan.until_ms - 2 * DAY_MS);
        }
    }
    machine.written
}

struct Machine<'t> {
    log: Log<Hasty>,
    chance: Chance,
    plan: Plan,
    templates: &'t [Template],
    number: u64,
    written: Written,
}

/// Where a call is made, and by whom.
pub(super) struct Scene<'s> {
    pub user: &'s str,
    pub agent: &'s str,
    pub project: &'s str,
    pub session: &'s str,
}

impl Machine<'_> {
    fn session(&mut self, number: u64, start_ms: u64) {
        let name = format!("s-{number}");
        let scene = Scene {
            user: self.chance.of(USERS),
            agent: self.chance.of(AGENTS),
            project: self.chance.of(PROJECTS),
            session: &name,
        };
        let (mut time_ms, mut blocks) = (start_ms, 0);
        for _ in 0..SESSION {
            time_ms += 5_000 + self.chance.below(60_000);
            let habit = self.habit(blocks);
            blocks += u32::from(habit == Habit::Blocked);
            self.call(&scene, habit, time_ms);
        }
    }

    /// One session that is blocked again and again within minutes.
    fn attack(&mut self, start_ms: u64) {
        let scene = Scene { user: "1001", agent: "claude", project: "/home/ada/api", session: ATTACKED };
        for at in 0..25 {
            self.call(&scene, Habit::Blocked, start_ms + at * 20_000);
        }
    }

    fn habit(&mut self, blocks: u32) -> Habit {
        match self.chance.below(1000) {
            0 if blocks < 3 => Habit::Blocked,
            0..=849 => Habit::Everyday,
            850..=889 => Habit::Middling,
            890..=934 => Habit::Fussy,
            _ => Habit::Asked,
        }
    }

    fn call(&mut self, scene: &Scene<'_>, habit: Habit, time_ms: u64) {
        let fitting: Vec<&Template> = self.templates.iter().filter(|template| template.habit == habit).collect();
        let template = *fitting.get(self.chance.below(fitting.len() as u64) as usize).unwrap();
        self.number += 1;
        let id = format!("d-{}", self.number);
        let body = decision(&id, scene, template);
        let _receipt = self.log.append(&body, time_ms).unwrap();
        *self.written.entry(word(habit)).or_default() += 1;
        let has_run = match body.verdict {
            Recorded::AutoApprove => true,
            Recorded::Confirm => self.answered(&id, scene, habit, time_ms),
            Recorded::Block => self.lifted(&id, scene, time_ms),
        };
        if has_run {
            let regretted = match habit {
                Habit::Middling => self.plan.drifts.lax,
                Habit::Everyday if template.judgement.rule.is_some() => self.plan.drifts.plain,
                Habit::Everyday | Habit::Fussy | Habit::Asked | Habit::Blocked => CHANCE,
            };
            self.ended(&id, regretted, time_ms);
        }
    }

    /// Nine of ten questions are answered.
    fn answered(&mut self, id: &str, scene: &Scene<'_>, habit: Habit, time_ms: u64) -> bool {
        let yes = match habit {
            _ if self.plan.drifts.abuse && scene.user == ABUSER => 990,
            Habit::Fussy if self.plan.drifts.strict => 980,
            Habit::Middling if self.plan.drifts.careful => 1000,
            Habit::Everyday | Habit::Middling | Habit::Fussy | Habit::Asked | Habit::Blocked => 550,
        };
        if self.chance.below(10) == 0 {
            return false;
        }
        let is_yes = self.chance.below(1000) < yes;
        let reply = if is_yes { Reply::Approved } else { Reply::Declined };
        let answer = AnswerBody { decision: id.to_owned().into(), reply, by: By::Client, why: None };
        let _receipt = self.log.append(&answer, time_ms + 4_000).unwrap();
        is_yes
    }

    /// Hardly any block is lifted, except by whoever lifts everything; nobody lifts those of an attack.
    fn lifted(&mut self, id: &str, scene: &Scene<'_>, time_ms: u64) -> bool {
        let is_lifted = self.plan.drifts.abuse && scene.user == ABUSER && self.chance.below(2) == 0;
        if is_lifted {
            let answer =
                AnswerBody { decision: id.to_owned().into(), reply: Reply::Approved, by: By::Person, why: None };
            let _receipt = self.log.append(&answer, time_ms + 40_000).unwrap();
        }
        is_lifted
    }

    /// What ran has an outcome, and some of it is taken back or flagged.
    fn ended(&mut self, id: &str, regretted: u64, time_ms: u64) {
        let outcome = |became| OutcomeBody::new(id.to_owned().into(), became, None);
        let ran = if self.chance.below(20) == 0 { Became::Failed } else { Became::Ran };
        let _receipt = self.log.append(&outcome(ran), time_ms + 1_000).unwrap();
        if self.chance.below(1000) < regretted {
            let became = if self.chance.below(2) == 0 { Became::Reverted } else { Became::Flagged };
            let _receipt = self.log.append(&outcome(became), time_ms + 300_000).unwrap();
        }
    }
}

pub(super) const fn word(habit: Habit) -> &'static str {
    match habit {
        Habit::Everyday => "everyday",
        Habit::Middling => "middling",
        Habit::Fussy => "fussy",
        Habit::Asked => "asked",
        Habit::Blocked => "blocked",
    }
}

/// The entry that the hook would have written, in another project.
pub(super) fn decision(id: &str, scene: &Scene<'_>, template: &Template) -> DecisionBody {
    let Template { facts, judgement, .. } = template;
    let moved = |text: &str| text.replace(example::CWD, scene.project);
    let lean = Facts {
        tool: String::new(),
        subject: String::new(),
        pattern: String::new().into(),
        agent: String::new(),
        ..facts.clone()
    };
    let rule = judgement.rule.as_deref();
    let is_settled = judgement.settled_by != Source::Score && judgement.confidence.is_none();
    let verdict = match judgement.verdict {
        Verdict::AutoApprove => Recorded::AutoApprove,
        Verdict::Confirm => Recorded::Confirm,
        Verdict::Block => Recorded::Block,
    };
    DecisionBody {
        id: id.to_owned().into(),
        agent: Some(scene.agent.to_owned()),
        session: Some(scene.session.to_owned().into()),
        user: Some(scene.user.to_owned()),
        project: Some(scene.project.to_owned()),
        cwd: Some(scene.project.to_owned()),
        tool: facts.tool.clone(),
        call: moved(&facts.subject),
        facts: RawValue::from_string(moved(&serde_json::to_string(&lean).unwrap())).ok(),
        layer1: Some(Layer1 {
            outcome: if is_settled { judgement.verdict.as_str().to_owned() } else { "unsettled".to_owned() },
            rule: rule.map(str::to_owned),
        }),
        layer2: judgement.confidence.map(|sure| Layer2 { score: Vec::new(), confidence: sure.get() }),
        verdict,
        reasons: judgement.reasons().map(|opinion| moved(&opinion.because)).collect(),
        violation: (verdict == Recorded::Block).then(|| rule.unwrap_or(judgement.settled_by.as_str()).to_owned()),
        category: facts.gravest().map(|effect| effect.operation.as_str().to_owned()),
        pattern: Some(facts.pattern.clone()),
        versions: BTreeMap::from([("policy".to_owned(), judgement.policy.clone())]),
        mode: Some(doorward_vocabulary::Mode::Auto),
        attended: Some(true),
        sensitive: facts.effects.iter().any(|effect| effect.reversibility == Reversibility::Irreversible),
        ..DecisionBody::default()
    }
}

/// Numbers that look like chance and are the same for the same seed.
struct Chance(SplitMix);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0.next()
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn of<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list.get(self.below(list.len() as u64) as usize).copied().unwrap()
    }
}
