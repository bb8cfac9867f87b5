//! Limits: how often an agent may read and be denied, how much one call may lose, how much one read may hand over.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use doorward_vocabulary::{Clearance, Mark, Operation, Reversibility, Scope, Source};

use crate::effect::{Amount, Effect, Target};
use crate::facts::Facts;
use crate::knowledge::rule::When;
use crate::policy::{Policy, Thresholds};
use crate::verdict::Opinion;

/// Files that git has and that one call may delete or edit in place unasked, and those that one session may.
// Git can bring the files back, but a person has to notice first: 20 is about what a review still sees. Decision
// 0028.
const OF_CALL: usize = 20;
// Three times a call: many small steps must not add up to what one may not do.
const OF_SESSION: usize = 60;

/// The tracked files that the call deletes, puts back or edits in place.
pub fn restorable(facts: &Facts) -> usize {
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for effect in &facts.effects {
        let most = counted.entry(effect.target.shown()).or_default();
        *most = restored_by(effect).max(*most);
    }
    usize::try_from(counted.into_values().fold(0, u64::saturating_add)).unwrap_or(usize::MAX)
}

/// Whoever copies the rest of a directory first still deletes what git has of it.
fn restored_by(effect: &Effect) -> u64 {
    let is_touched = match effect.operation {
        Operation::Delete => effect.scope == Scope::File,
        Operation::Write => !effect.by.is_empty() && !effect.marks.has_any(&[Mark::Creates, Mark::Unseen]),
        Operation::Read | Operation::Execute | Operation::Network | Operation::Mutate => false,
    };
    let is_one =
        is_touched && effect.reversibility == Reversibility::Tracked && matches!(effect.target, Target::Path(_));
    effect.restorable.max(u64::from(is_one))
}

/// Git brings each of them back, but so many at once somebody should see first.
fn sweeping(facts: &Facts) -> Option<Opinion> {
    let (here, before) = (restorable(facts), usize::try_from(facts.counts.restorable).unwrap_or(usize::MAX));
    let because = if here == usize::MAX {
        "deletes or edits more tracked files than doorward can count".to_owned()
    } else if here > OF_CALL {
        format!("deletes or edits {here} tracked files at once, more than the limit of {OF_CALL}")
    } else if here > 0 && here.saturating_add(before) > OF_SESSION {
        format!("deletes or edits tracked files, after {before} others in this session")
    } else {
        return None;
    };
    Some(Opinion::confirm(Source::Limit, Clearance::Soft, because))
}

/// What the limits on rates and denials say about this call.
pub(crate) fn opinions(facts: &Facts, policy: &Policy) -> Vec<Opinion> {
    let limits = &policy.thresholds;
    let counts = &facts.counts;
    let mut hit = Vec::new();
    if facts.effects.iter().any(|effect| effect.operation == Operation::Read) {
        if counts.reads_last_minute >= limits.reads_per_minute {
            let (reads, limit) = (counts.reads_last_minute, limits.reads_per_minute);
            hit.push(format!("{reads} reads in the last minute; the limit is {limit} a minute (`reads_per_minute`)"));
        }
        if counts.reads_last_seconds >= limits.read_burst {
            let (reads, limit) = (counts.reads_last_seconds, limits.read_burst);
            hit.push(format!("{reads} reads within seconds; the limit is {limit} at once (`read_burst`)"));
        }
    }
    if counts.denials_in_a_row >= limits.denials_in_a_row {
        let (denials, limit) = (counts.denials_in_a_row, limits.denials_in_a_row);
        hit.push(format!("{denials} calls were denied in a row; from {limit} on, you decide (`denials_in_a_row`)"));
    }
    if counts.denials >= limits.denials {
        let (denials, limit) = (counts.denials, limits.denials);
        hit.push(format!("{denials} calls of this session were denied; from {limit} on, you decide (`denials`)"));
    }
    let firm = |because| Opinion::confirm(Source::Limit, Clearance::Firm, because);
    hit.into_iter().map(firm).chain(sweeping(facts)).collect()
}

/// One call may not lose so much.
pub(crate) fn is_bulk(lost: Amount, limits: &Thresholds) -> bool {
    lost.at_least || lost.files > u64::from(limits.bulk_files) || lost.bytes > limits.bulk_bytes
}

/// One read may not hand over so much.
pub(crate) fn is_large_read(read: Amount, limits: &Thresholds) -> bool {
    read.bytes > limits.read_bytes
}

/// The facts with the marks that the limits of this policy add: a policy may be stricter than the limits that are built in,
/// and files that are named one by one count together.
pub(crate) fn measured<'f>(facts: &'f Facts, policy: &Policy) -> Cow<'f, Facts> {
    let limits = &policy.thresholds;
    let is_bulk = is_bulk(lost(facts), limits);
    let new = |effect: &Effect| {
        if is_bulk && is_loss(effect) {
            return Some(Mark::Bulk).filter(|mark| !effect.marks.has(*mark));
        }
        let read = effect.amount.filter(|_| effect.operation == Operation::Read)?;
        Some(Mark::LargeRead).filter(|mark| is_large_read(read, limits) && !effect.marks.has(*mark))
    };
    if !facts.effects.iter().any(|effect| new(effect).is_some()) {
        return Cow::Borrowed(facts);
    }
    let mut facts = facts.clone();
    for effect in &mut facts.effects {
        if let Some(mark) = new(effect) {
            effect.marks.add(mark);
        }
    }
    Cow::Owned(facts)
}

/// What the call loses for good, everything together. What two shells would do alike, or a call names twice, is lost once.
fn lost(facts: &Facts) -> Amount {
    let mut seen = BTreeSet::new();
    let losses = facts.effects.iter().filter(|effect| is_loss(effect) && seen.insert(effect.target.shown()));
    losses.filter_map(|effect| effect.amount).fold(Amount::default(), |sum, lost| Amount {
        files: sum.files.saturating_add(lost.files),
        bytes: sum.bytes.saturating_add(lost.bytes),
        at_least: sum.at_least || lost.at_least,
    })
}

/// A counted deletion that nothing restores. What belongs to the agent alone is its own to lose.
fn is_loss(effect: &Effect) -> bool {
    effect.operation == Operation::Delete
        && effect.reversibility == Reversibility::Irreversible
        && effect.scope != Scope::Scratch
        && effect.amount.is_some()
}

/// The limit that a rule is about, with what was counted; `None` if it is about none, or nothing was counted.
pub(crate) fn hit(when: &When, facts: &Facts, effect: &Effect, policy: &Policy) -> Option<String> {
    let limits = &policy.thresholds;
    if when.all.has(Mark::Bulk) && effect.operation == Operation::Delete {
        let lost = lost(facts);
        let files = match (lost.files, lost.at_least) {
            (0, _) => return None,
            (1, false) => "1 file".to_owned(),
            (files, false) => format!("{files} files"),
            (files, true) => format!("{files} files or more"),
        };
        return Some(format!(
            "{files}, {}; the limit for one call is {} files and {} (`bulk_files`, `bulk_bytes`)",
            size(lost.bytes),
            limits.bulk_files,
            size(limits.bulk_bytes)
        ));
    }
    let read = effect.amount.filter(|_| when.all.has(Mark::LargeRead))?;
    Some(format!("{}; the limit for one read is {} (`read_bytes`)", size(read.bytes), size(limits.read_bytes)))
}

/// Bytes as a person reads them.
pub fn size(bytes: u64) -> String {
    // Powers of two, as `ls -h` and `du -h` print them.
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut whole = bytes;
    let mut rest = 0;
    while whole >= 1024 && unit + 1 < UNITS.len() {
        rest = whole % 1024 * 10 / 1024;
        whole /= 1024;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    if rest == 0 { format!("{whole} {name}") } else { format!("{whole}.{rest} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, wanted) in
            [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (10 << 20, "10 MiB"), (3 << 30, "3 GiB")]
        {
            assert_eq!(size(bytes), wanted);
        }
    }
}
