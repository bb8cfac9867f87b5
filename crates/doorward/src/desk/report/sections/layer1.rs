//! Section 2: every rule of layer 1, the patterns of the configuration, the limits.

use doorward_engine::{Rule, Stage, Verdict};

use super::super::document::{Text, Topic};
use super::super::gather::Gathered;
use super::super::matrix::{tone, verdict_word};
use super::count;

const HEADER: [&str; 6] = ["rule", "version", "stage", "audited", "cleared by", "a call that"];

pub(super) fn parts(gathered: &Gathered) -> Vec<Topic> {
    vec![allowed(gathered), blocked(gathered), limits(gathered), version(gathered)]
}

fn rules(gathered: &Gathered, verdict: Verdict) -> Vec<Vec<Text>> {
    let row = |rule: &Rule| {
        vec![
            Text::code(rule.id.clone()),
            Text::figure(rule.version),
            Text::plain(rule.stage.as_str()),
            Text::figure(&rule.audited),
            Text::plain(rule.clears.map_or("–", |clearance| clearance.as_str())),
            Text::plain(rule.what.clone()),
        ]
    };
    gathered.policy.rules.iter().filter(|rule| rule.verdict == verdict).map(row).collect()
}

fn patterns(list: &[String]) -> Vec<Text> {
    list.iter().map(Text::code).collect()
}

fn allowed(gathered: &Gathered) -> Topic {
    let permissions = &gathered.loaded.config.permissions;
    let mut part = Topic::new("Explicit allowlist (what always auto-approves)")
        .with_text("doorward asks about everything that no rule, score or pattern approves. These rules approve only what doorward fully understands and what loses nothing for good.")
        .table(&HEADER, rules(gathered, Verdict::AutoApprove))
        .from("doorward rules");
    if !permissions.allow.is_empty() {
        part = part
            .with_text("Your patterns that clear soft questions:")
            .list(patterns(&permissions.allow))
            .from("doorward config");
    }
    part
}

fn blocked(gathered: &Gathered) -> Topic {
    let permissions = &gathered.loaded.config.permissions;
    let mut part = Topic::new("Explicit blocklist (what always blocks)")
        .table(&HEADER, rules(gathered, Verdict::Block))
        .from("doorward rules");
    if !permissions.deny.is_empty() {
        part = part.with_text("Your patterns that block:").list(patterns(&permissions.deny)).from("doorward config");
    }
    part = part
        .with_text("What doorward always asks about:")
        .table(&HEADER, rules(gathered, Verdict::Confirm))
        .from("doorward rules");
    if !permissions.ask.is_empty() {
        part = part.with_text("Your patterns that ask:").list(patterns(&permissions.ask)).from("doorward config");
    }
    part
}

fn limits(gathered: &Gathered) -> Topic {
    let thresholds = &gathered.policy.thresholds;
    let copies = gathered.loaded.config.snapshots.limits();
    let row = |what: &'static str, value: u64, then: &'static str| vec![what.into(), count(value), then.into()];
    let limit = |what: &'static str, key: &str, value: String, then: &'static str| {
        let from = crate::policy::config::source_of_limit(&gathered.loaded, key, thresholds);
        vec![what.into(), Text::figure(value), then.into(), Text::code(key), Text::plain(from)]
    };
    let person = "doorward asks about the next call";
    let number = |value: u32| value.to_string();
    let size = doorward_engine::size;
    let limits = vec![
        limit("reads in a minute", "reads_per_minute", number(thresholds.reads_per_minute), "the next read asks"),
        limit("reads in a few seconds", "read_burst", number(thresholds.read_burst), "the next read asks"),
        limit("size of one read", "read_bytes", size(thresholds.read_bytes), "asks (`large-read`)"),
        limit(
            "files one call would permanently lose",
            "bulk_files",
            number(thresholds.bulk_files),
            "blocks (`bulk-deletion`)",
        ),
        limit("size of these files", "bulk_bytes", size(thresholds.bulk_bytes), "blocks (`bulk-deletion`)"),
        limit("denials in a row", "denials_in_a_row", number(thresholds.denials_in_a_row), person),
        limit("denials in a session", "denials", number(thresholds.denials), person),
    ];
    let of_copies = vec![
        row("files of one call to snapshot first", copies.files, "more ask"),
        row("megabytes of them", copies.bytes / 1_000_000, "more ask"),
        row("megabytes of all snapshots together", copies.store_bytes / 1_000_000, "then calls ask"),
    ];
    Topic::new("Rate limits and burst thresholds")
        .with_text("You can lower each of these limits, but not raise it above the built-in value.")
        .table(&["limit", "at most", "beyond it", "key", "from"], limits)
        .from("doorward config")
        .table(&["snapshots before a call", "at most", "beyond it"], of_copies)
        .from("doorward config --schema")
}

fn version(gathered: &Gathered) -> Topic {
    let rules = &gathered.policy.rules;
    let row = |verdict: &Verdict| {
        let of = rules.iter().filter(|rule| rule.verdict == *verdict);
        let at = |stage: Stage| count(of.clone().filter(|rule| rule.stage == stage).count() as u64);
        let oldest = of.clone().map(|rule| rule.audited.as_ref()).min().unwrap_or("never");
        vec![
            Text::word(tone(*verdict), verdict_word(*verdict)),
            count(of.clone().count() as u64),
            at(Stage::Active),
            at(Stage::Shadow),
            at(Stage::Retired),
            Text::figure(oldest),
        ]
    };
    let mut part = Topic::new("Version and last-audit date")
        .with_text(Text::filled("Policy `{}`.", [Text::figure(&gathered.policy.version)]))
        .from("doorward rules")
        .table(
            &["verdict", "rules", "active", "shadow", "retired", "oldest audit"],
            Verdict::ALL.iter().map(row).collect(),
        )
        .from("doorward rules");
    let own = &gathered.loaded.own.rules;
    if !own.is_empty() {
        part = part
            .with_text(Text::filled("{} of them are your own, which can only tighten:", [count(own.len() as u64)]))
            .list(own.iter().map(|rule| Text::code(rule.id.clone())).collect())
            .from("doorward rules");
    }
    part
}
