//! Section 5: how to override, what is logged about it, and what prevents abuse.

use doorward_engine::Clearance;
use doorward_ledger::Share;

use super::super::document::{Text, Topic};
use super::super::gather::Gathered;
use super::{METRICS, count, name_text, rest};
use crate::machine::clock;

/// More rows than anyone reads.
const ROWS: usize = 12;

pub(super) fn parts(gathered: &Gathered) -> Vec<Topic> {
    vec![how(gathered), logged(), review(gathered), safeguards()]
}

fn how(gathered: &Gathered) -> Topic {
    let rows =
        Clearance::ALL.iter().map(|clearance| vec![Text::code(clearance.as_str()), Text::plain(clearance.what())]);
    let pending = gathered.record.as_ref().map_or(0, |record| record.pending);
    Topic::new("How users override")
        .with_text("In the agent's own prompt if it has one, with one key in `doorward review`, or by id with `doorward approve`. How much it takes depends on the call:")
        .table(&["a question or block that is", "is cleared by"], rows.collect())
        .from("doorward approve --help")
        .with_text(Text::filled("{} calls are waiting for an answer now.", [count(pending as u64)]))
        .from("doorward pending")
}

fn logged() -> Topic {
    Topic::new("What gets logged")
        .list(vec![
            "the whole decision that was overridden: call, facts, opinions of both layers, verdict, versions".into(),
            "the answer: yes or no, by whom (person, the agent's own prompt, reviewer), and in which words".into(),
            "the grant: stored, used, withdrawn or expired, the hash of the exact call, who and why".into(),
            "the outcome of the call: ran, failed, reverted, flagged".into(),
        ])
        .from("doorward audit list --kind answer")
        .with_text("Overrides are kept forever.")
}

fn review(gathered: &Gathered) -> Topic {
    let mut part = Topic::new("When an override triggers threshold review")
        .with_text("Three overrides of one pattern within seven days open a ticket; three more reopen a closed one. doorward learns nothing from a single override and changes nothing on its own.")
        .from("doorward tickets --help, doorward alerts --explain");
    let Some(record) = &gathered.record else { return part };
    let rows: Vec<Vec<Text>> = record
        .tickets
        .iter()
        .take(ROWS)
        .map(|ticket| {
            vec![
                Text::code(&ticket.id),
                Text::code(ticket.pattern.as_str()),
                count(ticket.overrides as u64),
                Text::figure(clock::moment(ticket.last_ms)),
            ]
        })
        .collect();
    part = part
        .with_text(Text::filled("{} tickets are open.", [count(record.tickets.len() as u64)]))
        .from("doorward tickets");
    part.table(&["ticket", "pattern", "overrides in seven days", "last"], rows)
        .from("doorward tickets")
        .list(rest(record.tickets.len(), ROWS).into_iter().collect())
        .from("doorward tickets")
        .table(&["category", "decisions", "overridden", "rate"], shares(&record.metrics.categories))
        .from(METRICS)
        .table(&["user", "decisions", "overridden", "rate"], shares(&named_users(&record.metrics.users)))
        .from(METRICS)
        .table(&["project", "decisions", "overridden", "rate"], shares(&record.metrics.projects))
        .from(METRICS)
        .list(rest(record.metrics.projects.len(), ROWS).into_iter().collect())
        .from(METRICS)
}

fn named_users(users: &[Share]) -> Vec<Share> {
    users.iter().map(|user| Share { name: crate::desk::screen::user(&user.name), ..user.clone() }).collect()
}

fn shares(list: &[Share]) -> Vec<Vec<Text>> {
    let row = |share: &Share| {
        vec![
            name_text(&share.name),
            count(share.decisions),
            count(share.overridden),
            Text::percent(share.override_rate),
        ]
    };
    list.iter().take(ROWS).map(row).collect()
}

fn safeguards() -> Topic {
    Topic::new("Safeguards against override abuse")
        .list(vec![
            "an approval covers one call for ten minutes, as long as the call, its directory, the files it names and the rules stay the same".into(),
            "there is no “always”: soft questions can be granted for a session, everything else one call at a time".into(),
            "a key counts only once the call has been on screen for 0.3 seconds and was shown to its end; pasted text never counts".into(),
            "to override a rule's block you type its target; for the most dangerous ones twice, at least 30 seconds apart; at most five an hour".into(),
            "agents can't override: it takes a person at their own terminal, and an agent that tries is blocked".into(),
        ])
        .from("doorward approve --help, doorward review --help")
        .with_text("Grants are authenticated files, consumed by the call that uses them. If one is lost or forged, doorward simply asks again.")
}
