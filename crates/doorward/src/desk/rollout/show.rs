//! `doorward rollout status`: the stage of every rollout, what is missing, how a trial is doing, and the rules for it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use doorward_engine::Mode;
use doorward_vocabulary::Verdict;
use serde::Serialize;
use serde_json::{Value, json};

use crate::desk::grants::show::prose;
use crate::desk::rollout::criteria;
use crate::desk::rollout::criteria::Criterion;
use crate::hook::rollback;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::memory::ledger_view::LedgerView;
use crate::memory::rollout_evidence;
use crate::memory::rollout_evidence::JudgedCall;
use crate::policy::load;
use crate::policy::load::Loaded;
use crate::policy::rollout::assign::STAGE;
use crate::policy::rollout::stage::{RolloutStage, StageChange, Track};
use crate::policy::rollout::state::{Rollout, Subject};
use crate::policy::rollout::trial::{Arm, Stopping, TrialState};

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const GOOD: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
const BAD: Style = Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));

/// What the record says about one subject since its stage started.
#[derive(Debug)]
pub(crate) struct SubjectFigures {
    pub criteria: Vec<Criterion>,
    /// Decisions by the side their session is on.
    groups: BTreeMap<String, DecisionCounts>,
    pub(super) standing: Option<TrialState>,
}

/// Counts of the decisions of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct DecisionCounts {
    sessions: usize,
    decisions: usize,
    asked: usize,
    blocked: usize,
    overridden: usize,
    regretted: usize,
}

impl SubjectFigures {
    pub(crate) fn of(dirs: &Dirs, rollout: &Rollout, subject: &Subject) -> Result<SubjectFigures> {
        let step = rollout.track(subject).map(Track::now).unwrap_or_default();
        let policy = load::load(dirs, None, "").policy(Mode::Auto).map_err(anyhow::Error::msg)?;
        let view = LedgerView::open(dirs.clone())?;
        let from = match subject {
            // A trial covers its first session to its last: leaving some out later would change the result.
            Subject::Thresholds => step.record,
            Subject::Agent(_) | Subject::Rule(_) => {
                let since = clock::now_ms().saturating_sub(criteria::WINDOW_MS);
                rollout_evidence::first_since(&view, since)?.max(step.record)
            }
        };
        let seen = rollout_evidence::read(&view.log, from, &policy)?;
        let criteria = match (subject, &rollout.trial) {
            (Subject::Agent(name), _) => criteria::of_agent(name, step.stage, &seen),
            (Subject::Rule(id), _) => criteria::of_rule(id, step.stage, &seen),
            (Subject::Thresholds, Some(trial)) => criteria::of_trial(trial, step.stage, &seen),
            (Subject::Thresholds, None) => Vec::new(),
        };
        let standing = match (subject, &rollout.trial) {
            (Subject::Thresholds, Some(trial)) => Some(criteria::standing(trial, &seen)),
            (Subject::Thresholds | Subject::Agent(_) | Subject::Rule(_), _) => None,
        };
        Ok(SubjectFigures { criteria, groups: groups(subject, &seen), standing })
    }
}

fn groups(subject: &Subject, seen: &[JudgedCall]) -> BTreeMap<String, DecisionCounts> {
    let side = |seen: &JudgedCall| match subject {
        Subject::Agent(name) => seen.placed.get(STAGE).filter(|_| seen.agent == *name).cloned(),
        Subject::Rule(id) => seen.placed.get(&rollout_evidence::rule_key(id)).cloned(),
        Subject::Thresholds => seen.arm().map(|arm| match arm {
            Arm::A => "a, current".to_owned(),
            Arm::B => "b, on trial".to_owned(),
        }),
    };
    let mut sides: BTreeMap<String, Vec<&JudgedCall>> = BTreeMap::new();
    for seen in seen {
        if let Some(side) = side(seen) {
            sides.entry(side).or_default().push(seen);
        }
    }
    sides.into_iter().map(|(side, seen)| (side, DecisionCounts::of(&seen))).collect()
}

impl DecisionCounts {
    fn of(seen: &[&JudgedCall]) -> DecisionCounts {
        let count = |is: fn(&JudgedCall) -> bool| seen.iter().filter(|seen| is(seen)).count();
        let sessions: std::collections::BTreeSet<&str> = seen.iter().map(|seen| seen.session.as_str()).collect();
        DecisionCounts {
            sessions: sessions.len(),
            decisions: seen.len(),
            asked: count(|seen| seen.verdict == Verdict::Confirm),
            blocked: count(|seen| seen.verdict == Verdict::Block),
            overridden: count(|seen| seen.overridden_ms.is_some()),
            regretted: count(|seen| seen.regretted_ms.is_some()),
        }
    }
}

/// Shows every rollout, after rolling back what has to be.
pub(crate) fn status(is_json: bool) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let taken_back = rollback::watch(&dirs)?;
    let loaded = load::load(&dirs, None, "");
    let rollout = Rollout::load(&dirs).map_err(anyhow::Error::msg)?.unwrap_or_default();
    let figures = |subject: Subject| Ok((SubjectFigures::of(&dirs, &rollout, &subject)?, subject));
    let all = rollout.subjects().into_iter().map(figures).collect::<Result<Vec<(SubjectFigures, Subject)>>>()?;
    let mut out = anstream::stdout().lock();
    if is_json {
        let rows: Vec<Value> = all.iter().map(|(figures, subject)| as_json(&rollout, subject, figures)).collect();
        let back = |(subject, why): &(Subject, String)| json!({ "what": subject.display(), "why": why });
        let back: Vec<Value> = taken_back.iter().map(back).collect();
        let shown = json!({ "rollouts": rows, "fixed": fixed(&loaded), "taken_back": back });
        writeln!(out, "{shown:#}")?;
    } else {
        for (subject, why) in &taken_back {
            writeln!(out, "{BAD}rolled back{BAD:#} {}: {}\n", visible(&subject.display()), visible(why))?;
        }
        for (figures, subject) in &all {
            print(&mut out, &rollout, subject, figures)?;
        }
        for (agent, mode) in fixed(&loaded) {
            writeln!(out, "agent `{}` has the fixed mode `{mode}`", visible(&agent))?;
        }
        if all.is_empty() {
            writeln!(out, "nothing is being rolled out; `doorward rollout start AGENT` starts a rollout")?;
        }
        writeln!(
            out,
            "{FAINT}`doorward rollout status --explain` explains what each stage requires and what triggers a rollback{FAINT:#}"
        )?;
    }
    Ok(if taken_back.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Agents with a fixed mode.
fn fixed(loaded: &Loaded) -> BTreeMap<String, String> {
    let agents = loaded.config.agents.keys().filter(|agent| !loaded.config.is_staged(agent));
    agents.map(|agent| (agent.clone(), loaded.mode(agent).to_string())).collect()
}

fn print(out: &mut dyn Write, rollout: &Rollout, subject: &Subject, figures: &SubjectFigures) -> io::Result<()> {
    let Some(track) = rollout.track(subject) else { return Ok(()) };
    let now = track.now();
    writeln!(out, "{STRONG}{}{STRONG:#}: {}", visible(&subject.display()), place(subject, track))?;
    let since = format!("since {} UTC, entry {} of the record", clock::moment(now.since_ms), now.record);
    let how = if now.is_rollback { ", after a rollback" } else { "" };
    writeln!(out, "  {FAINT}{since}{how}{FAINT:#}")?;
    print_groups(out, &figures.groups)?;
    if let (Some(standing), Some(trial)) = (&figures.standing, &rollout.trial) {
        writeln!(out, "  set `{}#{}`", visible(&trial.name), trial.fingerprint())?;
        print_standing(out, standing, &trial.stopping)?;
    }
    let Some(next) = now.stage.next().filter(|_| !figures.criteria.is_empty() && !is_over(subject, &now)) else {
        return writeln!(out);
    };
    writeln!(out, "  for `{next}`:")?;
    for Criterion { what, wanted, found, met } in &figures.criteria {
        let (style, mark) = if *met { (GOOD, "met    ") } else { (BAD, "missing") };
        writeln!(out, "    {style}{mark}{style:#}  {what:<46} {found:<20} {FAINT}needs: {wanted}{FAINT:#}")?;
    }
    if figures.criteria.iter().all(|criterion| criterion.met) {
        writeln!(out, "  all criteria are met: `doorward rollout promote{}`", display_name(subject))?;
    }
    writeln!(out)
}

/// A trial that was rolled back does not continue.
pub(super) fn is_over(subject: &Subject, now: &StageChange) -> bool {
    *subject == Subject::Thresholds && now.stage < RolloutStage::Canary
}

/// Its argument on the command line.
pub(super) fn display_name(subject: &Subject) -> String {
    match subject {
        Subject::Agent(name) => format!(" {name}"),
        Subject::Rule(id) => format!(" --rule {id}"),
        Subject::Thresholds => " --thresholds".to_owned(),
    }
}

/// The stage, and what it means here.
pub(super) fn place(subject: &Subject, track: &Track) -> String {
    let now = track.now();
    match (now.stage, subject) {
        (RolloutStage::Canary, Subject::Thresholds) => format!("`canary`, {} of sessions use it", now.share),
        (RolloutStage::Canary, Subject::Agent(_)) => {
            format!("`canary`, {} of sessions run in `auto`, the others in `{}`", now.share, track.before())
        }
        (RolloutStage::Canary, Subject::Rule(_)) => format!("`canary`, active in {} of sessions", now.share),
        (RolloutStage::ConfirmAll, Subject::Thresholds) => "over; the previous thresholds apply".to_owned(),
        (stage @ (RolloutStage::ConfirmAll | RolloutStage::Shadow | RolloutStage::Auto), _) => format!("`{stage}`"),
    }
}

fn print_groups(out: &mut dyn Write, groups: &BTreeMap<String, DecisionCounts>) -> io::Result<()> {
    if groups.is_empty() {
        return writeln!(out, "  no decisions since then");
    }
    writeln!(
        out,
        "  {FAINT}{:<24}{:>9}{:>10}{:>7}{:>9}{:>12}{:>11}{FAINT:#}",
        "sessions", "number", "decisions", "asked", "blocked", "overridden", "regretted"
    )?;
    for (side, group) in groups {
        let DecisionCounts { sessions, decisions, asked, blocked, overridden, regretted } = group;
        writeln!(
            out,
            "  {:<24}{sessions:>9}{decisions:>10}{asked:>7}{blocked:>9}{overridden:>12}{regretted:>11}",
            visible(side)
        )?;
    }
    Ok(())
}

fn print_standing(out: &mut dyn Write, standing: &TrialState, stopping: &Stopping) -> io::Result<()> {
    let TrialState { verdict, won, lost, alike, better, worse } = standing;
    writeln!(out, "  verdict: {STRONG}{}{STRONG:#}, {}", verdict.as_str(), verdict.meaning())?;
    writeln!(
        out,
        "  session pairs: {won} won, {lost} lost, {alike} tied; evidence for better {better:.2}, for worse {worse:.2}; {:.2} ends the trial",
        stopping.bound()
    )?;
    for line in prose(&format!("stopping rule, fixed at the start of the trial: {}", stopping.sentence()), 100) {
        writeln!(out, "  {FAINT}{line}{FAINT:#}")?;
    }
    Ok(())
}

fn as_json(rollout: &Rollout, subject: &Subject, figures: &SubjectFigures) -> Value {
    let track = rollout.track(subject).cloned().unwrap_or_default();
    let now = track.now();
    let (kind, name) = match subject {
        Subject::Agent(name) => ("agent", name.clone()),
        Subject::Rule(id) => ("rule", id.clone()),
        Subject::Thresholds => {
            ("thresholds", rollout.trial.as_ref().map(|trial| trial.name.clone()).unwrap_or_default())
        }
    };
    let trial = figures.standing.as_ref().zip(rollout.trial.as_ref()).map(|(standing, trial)| {
        json!({
            "set": trial.fingerprint(), "numbers": trial.numbers, "stopping": trial.stopping, "verdict": standing.verdict,
            "won": standing.won, "lost": standing.lost, "alike": standing.alike, "evidence_better": standing.better,
            "evidence_worse": standing.worse, "evidence_ends": trial.stopping.bound(),
        })
    });
    let missing: Vec<String> = figures.criteria.iter().filter(|of| !of.met).map(Criterion::missing).collect();
    let next = now.stage.next().filter(|_| !is_over(subject, &now)).map(RolloutStage::as_str);
    json!({
        "kind": kind, "name": name, "stage": now.stage, "share": (now.stage == RolloutStage::Canary).then(|| now.share.percent()),
        "outside": (now.stage == RolloutStage::Canary).then(|| track.before()), "since_ms": now.since_ms, "record": now.record,
        "taken_back": now.is_rollback, "steps": track.steps(), "sides": figures.groups, "next": next,
        "criteria": figures.criteria, "missing": missing, "trial": trial,
    })
}

/// Prints all rules for rollouts.
pub(crate) fn explain(is_json: bool) -> Result<ExitCode> {
    let mut rows = criteria::sentences();
    rows.push(("trial".to_owned(), Stopping::default().sentence()));
    rows.extend(rollback::sentences().into_iter().map(|(name, text)| (format!("back: {name}"), text)));
    let mut out = anstream::stdout().lock();
    if is_json {
        let rows: serde_json::Map<String, Value> = rows.into_iter().map(|(name, text)| (name, text.into())).collect();
        writeln!(out, "{:#}", Value::Object(rows))?;
        return Ok(ExitCode::SUCCESS);
    }
    for (name, text) in rows {
        for (line, text) in prose(&text, 78).iter().enumerate() {
            let name = if line == 0 { name.as_str() } else { "" };
            writeln!(out, "{name:<28} {text}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
