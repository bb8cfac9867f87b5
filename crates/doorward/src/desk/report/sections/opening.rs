//! The opening: the figures at a glance, and the latest calls one by one.

use doorward_vocabulary::Verdict;

use super::super::document::{Content, Text, Tile, TimelineCall, Tone, Topic};
use super::super::gather::{Gathered, LatestCall, RecordFigures};
use super::METRICS;
use crate::machine::clock;

/// Empty if nothing has been recorded.
pub(super) fn parts(gathered: &Gathered) -> Vec<Topic> {
    let Some(record) = gathered.record.as_ref().filter(|record| record.metrics.all.decisions > 0) else {
        return Vec::new();
    };
    let glance = Topic::new("At a glance").with(Content::Tiles(tiles(record))).from(METRICS);
    let latest = Topic::new("The latest calls").with(Content::Timeline(record.latest.iter().map(moment).collect()));
    vec![glance, latest.from("doorward audit list")]
}

pub(in crate::desk::report) fn tiles(record: &RecordFigures) -> Vec<Tile> {
    let all = &record.metrics.all;
    let share = |count: u64| format!("{:.0} %", 100.0 * count as f64 / all.decisions.max(1) as f64);
    let mut tiles = vec![
        Tile { value: all.decisions.to_string(), label: "calls judged", note: String::new(), tone: Tone::Plain },
        Tile {
            value: share(all.approved),
            label: "ran without a question",
            note: all.approved.to_string(),
            tone: Tone::Approve,
        },
        Tile {
            value: all.confirmed.to_string(),
            label: "asked about",
            note: share(all.confirmed),
            tone: Tone::Confirm,
        },
        Tile { value: all.blocked.to_string(), label: "blocked", note: share(all.blocked), tone: Tone::Block },
    ];
    if let Some(median_us) = record.median_us {
        let value = format!("{:.1} ms", median_us as f64 / 1000.0);
        tiles.push(Tile { value, label: "median time to judge a call", note: String::new(), tone: Tone::Plain });
    }
    let regretted = record.regrets.len().to_string();
    let tone = if record.regrets.is_empty() { Tone::Plain } else { Tone::Block };
    tiles.push(Tile { value: regretted, label: "approved and regretted", note: String::new(), tone });
    tiles
}

fn moment(latest: &LatestCall) -> TimelineCall {
    let (tone, word) = match latest.verdict {
        Verdict::AutoApprove => (Tone::Approve, "approved"),
        Verdict::Confirm => (Tone::Confirm, "asked"),
        Verdict::Block => (Tone::Block, "blocked"),
    };
    TimelineCall {
        time: clock::moment(latest.time_ms),
        tone,
        word,
        agent: latest.agent.clone(),
        tool: latest.tool.clone(),
        call: Text::code(latest.call.clone()),
        why: Text::sentence(&latest.why),
    }
}
