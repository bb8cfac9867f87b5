//! The policy in force: rules, thresholds, tickets and proposals, the matrix. Changes are made in a terminal.

use doorward_engine::{Mode, Policy, Rule};
use doorward_pages::{Content, Table, Text, Tone};
use doorward_vocabulary::Verdict;
use serde_json::{Value, json};

use super::super::exchange::{Answer, Refusal};
use super::super::room::Room;
use super::{html, page};
use crate::desk::{report, rules, status, tune};
use crate::policy::load;

pub(in super::super) fn policy(room: &Room) -> Result<Answer, Refusal> {
    let policy = in_force(room)?;
    let rule = |rule: &Rule| {
        vec![
            Text::word(tone(rule.verdict), rule.verdict.as_str()),
            Text::code(rule.id.clone()),
            Text::plain(rule.what.to_string()),
            Text::plain(rule.why.to_string()),
            Text::plain(format!("{} v{}, audited {}", rule.stage, rule.version, rule.audited)),
        ]
    };
    let rows: Vec<Vec<Text>> = policy.rules.iter().map(rule).collect();
    let about =
        format!("{} rules, policy `{}`. Change them in a terminal: `doorward rules`.", rows.len(), policy.version);
    let header = vec!["verdict", "rule", "what", "why", "stage"];
    let mut blocks = vec![("", Content::Paragraph(Text::sentence(&about)))];
    blocks.extend(open_reviews(room)?);
    blocks.push(("Rules", Content::Table(Table { header, rows, folded: None })));
    Ok(html(page("Policy", &blocks) + "<h2>Matrix</h2>\n" + &report::matrix_html()))
}

const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::AutoApprove => Tone::Approve,
        Verdict::Confirm => Tone::Confirm,
        Verdict::Block => Tone::Block,
    }
}

fn open_reviews(room: &Room) -> Result<Vec<(&'static str, Content)>, Refusal> {
    let mut blocks = Vec::new();
    let tickets: Vec<Text> = tickets(room)?
        .iter()
        .map(|ticket| {
            Text::code(ticket.pattern.to_string())
                .and(Text::plain(format!(" was overridden {} times in seven days: ", ticket.overrides)))
                .and(Text::code(format!("doorward tickets show {}", ticket.id)))
        })
        .collect();
    let proposals: Vec<Text> = tune::waiting(&room.dirs)
        .into_iter()
        .map(|name| {
            Text::code(format!("doorward tune show {name}"))
                .and(" shows what it would have changed; ")
                .and(Text::code(format!("doorward tune accept {name}")))
                .and(" accepts it.")
        })
        .collect();
    for (title, items) in [("Tickets", tickets), ("Proposals", proposals)] {
        if !items.is_empty() {
            blocks.push((title, Content::List(items)));
        }
    }
    Ok(blocks)
}

pub(in super::super) fn policy_json(room: &Room) -> Result<Answer, Refusal> {
    let policy = in_force(room)?;
    let rules: Vec<Value> = policy.rules.iter().map(rules::as_json).collect();
    let proposals = tune::waiting(&room.dirs);
    Answer::json(
        &json!({ "version": policy.version, "rules": rules, "tickets": tickets(room)?, "proposals": proposals }),
    )
}

fn tickets(room: &Room) -> Result<Vec<status::Ticket>, Refusal> {
    match room.record() {
        Ok((_, index)) => Ok(status::open_tickets(&index)?),
        // Nothing was recorded yet.
        Err(_) => Ok(Vec::new()),
    }
}

fn in_force(room: &Room) -> Result<Policy, Refusal> {
    let loaded = load::load(&room.dirs, None, "");
    loaded.policy(Mode::Auto).map_err(|error| Refusal::new(503, error))
}
