//! A replay as text and as JSON.

use std::io::Write;

use doorward_engine::{Ruling, Shift};
use serde_json::{Value, json};

use super::compare::{ChangedVerdict, ReplaySums, Replayed, Verdicts};
use crate::desk::screen::verdict_style;
use crate::machine::clock;
use crate::machine::visible;

/// Prints the changes, laxer first, and the totals.
pub(crate) fn print(out: &mut dyn Write, replayed: &Replayed, limit: usize) -> std::io::Result<()> {
    let limit = if limit == 0 { usize::MAX } else { limit };
    let lists = [
        (Shift::Laxer, &replayed.laxer, replayed.all.laxer),
        (Shift::Stricter, &replayed.stricter, replayed.all.stricter),
    ];
    for (shift, list, count) in lists {
        list.iter().take(limit).try_for_each(|change| line(out, change))?;
        let left = count.saturating_sub(list.len().min(limit) as u64);
        if left > 0 {
            writeln!(out, "{shift}: and {left} more; `--limit 0` lists all")?;
        }
    }
    sums(out, replayed)
}

/// The totals without the list.
pub(crate) fn sums(out: &mut dyn Write, replayed: &Replayed) -> std::io::Result<()> {
    let Replayed { all, passed, worth, recorded, .. } = replayed;
    for (category, sums) in &replayed.categories {
        writeln!(out, "{category:<9} {}", row(sums))?;
    }
    writeln!(out, "{:<9} {}", "all", row(all))?;
    let (before, after) = replayed.confirms_per_day();
    writeln!(out, "questions per day: {before:.1} before, {after:.1} after, over {:.0} days", replayed.days())?;
    writeln!(
        out,
        "regret: {} avoided, {} added; friction: {} avoided, {} added",
        worth.regret_avoided, worth.regret_added, worth.friction_avoided, worth.friction_added
    )?;
    if passed.dropped + passed.unreadable > 0 {
        writeln!(
            out,
            "not replayable: {} with bodies dropped by retention, {} without facts this build can read",
            passed.dropped, passed.unreadable
        )?;
    }
    if passed.bad > 0 {
        writeln!(out, "{} parts of the log can't be read; see `doorward audit verify`", passed.bad)?;
    }
    if recorded.differing > 0 {
        writeln!(
            out,
            "{} of {} decisions made under exactly this policy now come out differently: {}",
            recorded.differing,
            recorded.same_policy,
            recorded.first.join(", ")
        )?;
    }
    match all.judged {
        0 => writeln!(out, "no decisions to judge again"),
        judged => writeln!(
            out,
            "{judged} decisions judged again: {} get laxer, {} stricter; a {} change of the ruleset",
            all.laxer,
            all.stricter,
            replayed.bump()
        ),
    }
}

fn line(out: &mut dyn Write, change: &ChangedVerdict) -> std::io::Result<()> {
    let style = verdict_style(change.after.verdict);
    let rule = change.rule().map(|rule| format!(" (rule {rule})")).unwrap_or_default();
    let said = match (change.is_regret, change.is_refused, change.is_overridden) {
        (true, _, _) => ", regretted",
        (false, true, _) => ", refused by you",
        (false, false, true) => ", overridden by you",
        (false, false, false) => "",
    };
    writeln!(
        out,
        "{:<8} {} → {style}{}{style:#}  {}  {}: {}{rule}{said}",
        change.shift.as_str(),
        standing(&change.before),
        standing(&change.after),
        visible(&change.id),
        change.category,
        visible(&change.call.replace('\n', " ")),
    )
}

fn standing(stand: &Ruling) -> String {
    match stand.cleared_by {
        Some(clearance) => format!("{} ({clearance})", stand.verdict),
        None => stand.verdict.to_string(),
    }
}

fn row(sums: &ReplaySums) -> String {
    let ReplaySums { judged, before, after, laxer, stricter } = sums;
    let of = |verdicts: &Verdicts| format!("{}/{}/{}", verdicts.approve, verdicts.confirm, verdicts.block);
    format!(
        "{judged} judged; approve/confirm/block {} before, {} after; {laxer} laxer, {stricter} stricter",
        of(before),
        of(after)
    )
}

/// Everything, for programs.
pub(crate) fn to_json(replayed: &Replayed, limit: usize) -> Value {
    let limit = if limit == 0 { usize::MAX } else { limit };
    let Replayed { all, passed, worth, recorded, .. } = replayed;
    let (before, after) = replayed.confirms_per_day();
    let list = |changes: &[ChangedVerdict]| changes.iter().take(limit).map(change_json).collect::<Vec<Value>>();
    let categories: serde_json::Map<String, Value> =
        replayed.categories.iter().map(|(name, sums)| (name.clone(), sums_json(sums))).collect();
    json!({
        "judged": all.judged, "laxer": all.laxer, "stricter": all.stricter, "bump": replayed.bump(),
        "dropped": passed.dropped, "unreadable": passed.unreadable, "bad": passed.bad,
        "changes": { "laxer": list(&replayed.laxer), "stricter": list(&replayed.stricter) },
        "all": sums_json(all), "categories": categories,
        "confirms_per_day": { "before": before, "after": after }, "days": replayed.days(),
        "regret": { "avoided": worth.regret_avoided, "added": worth.regret_added },
        "friction": { "avoided": worth.friction_avoided, "added": worth.friction_added },
        "recorded": { "same_policy": recorded.same_policy, "differing": recorded.differing, "first": recorded.first },
    })
}

fn sums_json(sums: &ReplaySums) -> Value {
    let of = |verdicts: &Verdicts| json!({ "approve": verdicts.approve, "confirm": verdicts.confirm, "block": verdicts.block });
    json!({ "judged": sums.judged, "before": of(&sums.before), "after": of(&sums.after), "laxer": sums.laxer,
        "stricter": sums.stricter })
}

fn change_json(change: &ChangedVerdict) -> Value {
    let stand = |stand: &Ruling| {
        json!({ "verdict": stand.verdict, "cleared_by": stand.cleared_by, "settled_by": stand.settled_by,
            "rule": stand.rule })
    };
    json!({
        "id": change.id, "sequence": change.sequence, "time": clock::moment(change.time_ms), "agent": change.agent,
        "project": change.project, "tool": change.tool, "call": change.call, "category": change.category,
        "pattern": change.pattern, "rule": change.rule(), "before": stand(&change.before), "after": stand(&change.after),
        "shift": change.shift, "regret": change.is_regret, "overridden": change.is_overridden,
        "refused": change.is_refused,
    })
}
